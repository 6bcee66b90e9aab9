"""Smaller pools: what is left out, what may not be, and what the shipped map becomes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from veridical.calibrators import AveragedCalibrator, CompactCalibrator
from veridical.export import to_python
from veridical.selection import AutoCalibrator
from veridical.selection._auto.pruning import (
    Neighbours,
    hardly_changes,
    without_jumps,
    without_needless,
)

RNG = np.random.default_rng(0)
GIVEN = RNG.uniform(0.1, 0.9, (300, 4))
WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])
ROWS = RNG.uniform(0.5, 2.0, 300)


def test_nearest_weights_are_those_of_a_general_optimiser():
    near = Neighbours(GIVEN, WEIGHTS, ROWS)
    found = near.nearest([0, 1, 3])
    options = {"bounds": [(0, 1)] * 3, "constraints": {"type": "eq", "fun": lambda v: v.sum() - 1}}
    best = minimize(
        lambda v: near.distance(np.array([v[0], v[1], 0.0, v[2]])), np.full(3, 1 / 3), **options
    )
    np.testing.assert_allclose(found[[0, 1, 3]], best.x, atol=2e-3)
    assert near.distance(found) <= best.fun + 1e-9


def test_distance_is_the_divergence_of_near_pools():
    """Second order: with ratios r close to 1, (r - 1)^2 / 2 is r - 1 - log r."""
    given = 0.5 + 0.02 * RNG.normal(size=(5000, 2))
    near = Neighbours(given, np.array([0.5, 0.5]), np.ones(5000))
    r = given[:, 0] / given.mean(axis=1)
    assert near.distance(np.array([1.0, 0.0])) == pytest.approx((r - 1 - np.log(r)).mean(), rel=0.1)
    assert near.distance(np.array([0.5, 0.5])) == pytest.approx(0, abs=1e-15)


def test_only_needless_maps_go():
    assert (without_needless(GIVEN, WEIGHTS, ROWS) > 0).all()  # all four differ by far
    twins = np.column_stack([GIVEN[:, 0], GIVEN[:, 0] * 1.0001, GIVEN[:, 1]])
    found = without_needless(twins, np.array([0.3, 0.3, 0.4]), ROWS)
    assert (found > 0).sum() == 2
    assert found[2] == pytest.approx(0.4, abs=1e-3)


def test_of_maps_that_say_the_same_the_last_goes_whatever_rounding_says():
    """All columns are one map, so that only rounding tells them apart: the first is kept."""
    same = np.column_stack([GIVEN[:, 0]] * 3)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(ROWS))
        found = without_needless(same[order], np.array([0.2, 0.3, 0.5]), ROWS[order])
        assert found.tolist() == [1.0, 0.0, 0.0]


def test_a_pool_takes_no_more_time_than_three_matrices():
    """Of maps that all differ the one that is missed least goes: here by trying each."""
    times = np.array([1.0, 1.0, 0.6, 0.0])  # what takes no time need not go
    near = Neighbours(GIVEN, WEIGHTS, ROWS)
    pools = [near.nearest([i for i in range(4) if i != gone]) for gone in range(3)]
    least = min(pools, key=near.distance)
    np.testing.assert_array_equal(without_needless(GIVEN, WEIGHTS, ROWS, times), least)
    slow = without_needless(GIVEN, WEIGHTS, ROWS, 2 * times)
    assert 2 * times[slow > 0].sum() <= 2.55
    np.testing.assert_array_equal(without_needless(GIVEN, WEIGHTS, ROWS, times / 2), WEIGHTS)


def test_a_jumping_map_stays_where_it_is_worth_its_place():
    worth = np.column_stack([np.full(200, 0.5), np.full(200, 0.8)])
    jumps = np.array([False, True])
    half = np.array([0.5, 0.5])
    np.testing.assert_array_equal(without_jumps(worth, half, np.ones(200), jumps), half)
    useless = np.column_stack([np.full(200, 0.8), np.full(200, 0.8)])
    found = without_jumps(useless, half, np.ones(200), jumps)
    np.testing.assert_allclose(found, [1.0, 0.0])


def test_hardly_changes():
    near = np.column_stack([np.full(9, 0.5), np.full(9, 0.501)])
    assert hardly_changes(near, np.array([0.5, 0.5]), np.ones(9))
    assert not hardly_changes(GIVEN, WEIGHTS, ROWS)


def rounded(n, seed):
    """More than half of the scores are 0 or 1, and 1 in 500 of these is wrong."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(n) < 0.6, np.round(rng.random(n)), rng.random(n))
    sure = (p == 0) | (p == 1)
    y = rng.random(n) < np.where(sure, np.where(p == 0, 0.002, 0.998), p)
    return p, y.astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_impossible(seed):
    p, y = rounded(200, seed)
    auto = AutoCalibrator().fit(p, y)
    new = np.array([0.0, 1.0, 1e-300, 1e-17, 0.5, 1 - 2**-53])
    after = auto.predict_proba(new)
    assert (after >= 2.0**-52).all()
    assert (after <= 1 - 2.0**-52).all()
    np.testing.assert_allclose(after.sum(axis=1), 1, rtol=1e-15)
    source: dict = {}
    exec(to_python(auto), source)
    told = [source["calibrate"]([1 - v, v]) for v in new.tolist()]
    np.testing.assert_allclose(np.array(told).reshape(after.shape), after, rtol=1e-9)


def test_of_several_classes_nothing_is_impossible_and_few_maps_are_shipped():
    rng = np.random.default_rng(1)
    z = rng.normal(0, 3, (800, 5))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (rng.random((800, 1)) > (p**0.5 / (p**0.5).sum(1, keepdims=True)).cumsum(1)).sum(axis=1)
    auto = AutoCalibrator().fit(p, y)
    sure = np.eye(5)[[0, 3]]
    assert (auto.predict_proba(sure) >= 2.0**-52).all()
    assert (auto.predict_proba(sure) <= 1 - 2.0**-52).all()
    assert isinstance(auto.calibrator_, AveragedCalibrator)
    assert len(auto.calibrator_.parts_) <= 5


def test_predictions_given_are_not_changed_by_the_bounds():
    p = np.array([[0.0, 1.0], [0.4, 0.6]])
    auto = AutoCalibrator().fit(np.repeat([0.2, 0.8], 50), np.repeat([0, 1], 50))
    auto.predict_proba(p)
    assert p.tolist() == [[0.0, 1.0], [0.4, 0.6]]


def test_a_smooth_truth_gives_a_map_that_never_falls():
    rng = np.random.default_rng(2)
    z = rng.normal(0, 2, 1500)
    p, y = expit(z), (rng.random(1500) < expit(0.6 * z - 0.2)).astype(int)
    auto = AutoCalibrator().fit(p, y)
    assert isinstance(auto.calibrator_, CompactCalibrator)
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    assert np.diff(auto.predict_proba(grid)[:, 1]).min() >= -1e-9
    assert len(auto.calibrator_.starts_) < 200
