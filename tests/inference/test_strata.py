"""Weights that are one a label within strata, and groups that differ in slope."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from veridical import evaluate
from veridical._core.data.randomness import Draws
from veridical._core.resampling.groups import shared_by_two
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import Redraw, Sharing
from veridical._core.resampling.strata import _shown, _stretches
from veridical._core.sample import BinarySample, MulticlassSample

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


def two_sides(n=400, seed=0):
    """Below 0.5 negatives weigh 10, above positives do."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    held = rng.random(n) < np.where((p < 0.5) == (y == 1), 1.0, 0.1)
    return y[held], p[held], np.where((p < 0.5) == (y == 1), 1.0, 10.0)[held]


def test_stretches_of_predictions_tell_what_another_label_would_weigh():
    y, p, w = two_sides()
    made = redraw_of(BinarySample(y=y, p=p, weight=w))
    below = made.p[:, 1] < 0.5
    np.testing.assert_array_equal(made.weight[below], [[10.0, 1.0]] * below.sum())
    np.testing.assert_array_equal(made.weight[~below], [[1.0, 10.0]] * (~below).sum())
    odds = made.p[:, 1] / made.p[:, 0] * np.where(below, 10.0, 0.1)  # p/(1-p) w0/w1
    np.testing.assert_allclose(made.chance[:, 1], odds / (1 + odds))
    assert made.said.endswith("one weight a label and stretch of predictions")


def test_stretches_are_the_fewest_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(30):
        n = 40
        y = rng.integers(0, 2, n)
        cuts = np.sort(rng.choice(np.arange(5, 36), 2, replace=False))
        part = np.searchsorted(cuts, np.arange(n), side="right")
        weight = rng.integers(1, 4, (3, 2))[part, y].astype(float)
        p = np.arange(n) / n

        def alone(starts, y=y, weight=weight):
            code = np.searchsorted(starts, np.arange(40), side="right")
            pairs = set(zip(code.tolist(), y.tolist(), weight.tolist(), strict=True))
            return len(pairs) == len({(c, label) for c, label, _ in pairs})

        fewest = next(
            k for k in range(4) if any(map(alone, itertools.combinations(range(1, n), k)))
        )
        found = _stretches(p, y, weight)
        if found is not None:  # few enough to be believed
            assert found.max() == fewest
            assert alone(np.flatnonzero(np.diff(found)) + 1)


@pytest.mark.parametrize("label", [0, 1])
def test_a_heavy_row_weighs_the_same_had_its_label_been_another(label):
    rng = np.random.default_rng(9)
    p = np.sort(rng.random(200))
    y = (rng.random(200) < p).astype(int)
    weight = np.ones(200)
    heavy = np.flatnonzero(y == label)[40]
    y[heavy + 1] = 1 - label  # a neighbour between it and the next of its own label
    weight[heavy] = 1e6
    made = redraw_of(BinarySample(y=y, p=p, weight=weight))
    np.testing.assert_allclose(made.weight, np.column_stack([weight[made.rows]] * 2))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n", [60, 400])
def test_a_heavy_row_of_a_rare_label_is_one_row(n, n_classes):
    rng = np.random.default_rng(10)
    p = rng.random(n)
    y = np.where(np.arange(n) < 6, 1, 0)
    weight = np.ones(n)
    weight[:2] = 1e6, 100.0
    weight[[10, 20, 30]] = 3.0  # no weight is one a label
    sample = BinarySample(y=y, p=p, weight=weight)
    if n_classes == 3:
        y[40:50] = 2
        p = np.column_stack([1 - p, p / 2, p / 2])
        sample = MulticlassSample(y=y, p=p, weight=weight, classes=(0, 1, 2))
    made = redraw_of(sample)
    heavy = np.flatnonzero(made.rows == 0)[0]
    np.testing.assert_allclose(made.weight[heavy], 1e6, rtol=0.3)


def test_strata_that_show_too_little_are_filled_from_those_near():
    y, p, w = two_sides(2000)
    heavy = np.flatnonzero((p < 0.3) & (y == 0))[0]
    w[heavy] *= 1000
    made = redraw_of(BinarySample(y=y, p=p, weight=w))
    at = np.flatnonzero(made.rows == heavy)[0]
    np.testing.assert_allclose(made.weight[at], [10_000, 1000])
    low = made.p[:, 1] < 0.4
    low[at] = False
    np.testing.assert_allclose(made.weight[low], [[10.0, 1.0]] * low.sum())


def test_ways_of_dealing_weights_are_counted_by_weight_not_by_label():
    table = np.array([[1.0, 2, 2], [1, 2, np.nan], [3, 3, 3], [1, 5, np.nan]])
    differ, shown = _shown(table, np.array([3, 5, 5, 1, 100, 0, 9, 9, 9, 2, 30, 0]))
    np.testing.assert_array_equal(differ, [True, True, False, True])
    # 13! / (3! 10!) = 286, 101, none, 32! / (2! 30!) = 496.
    np.testing.assert_array_equal(shown, [True, False, False, True])


def test_equal_predictions_of_two_weights_are_no_stretch():
    p, y = np.full(60, 0.4), np.array([0, 1] * 30)
    assert _stretches(p, y, np.where(np.arange(60) < 30, 1.0, 2.0)) is None


def test_strata_given_tell_it_too_and_lack_of_a_label_does_not():
    rng = np.random.default_rng(1)
    n = 300
    stratum, p = rng.integers(0, 2, n), rng.random(n)
    y = (rng.random(n) < p).astype(int)
    table = np.array([[1.0, 4.0], [6.0, 2.0]])
    sample = BinarySample(y=y, p=p, weight=table[stratum, y], strata=stratum)
    made = redraw_of(sample)
    np.testing.assert_array_equal(made.weight, table[stratum[made.rows]])
    assert made.said.endswith("one weight a label and group")
    lacking = sample.take(~((stratum == 1) & (y == 1)))
    made = redraw_of(lacking)
    np.testing.assert_array_equal(
        made.weight[np.arange(made.n), lacking.y[made.rows]], lacking.weight[made.rows]
    )
    assert np.isfinite(made.weight).all()


def test_subgroups_of_weighted_rows_are_strata_of_evaluate():
    """The same rows with and without `by`: only their null level differs."""
    rng = np.random.default_rng(2)
    n = 800
    p = rng.random(n)
    y = (rng.random(n) < p).astype(int)
    region = (rng.random(n) < 0.15 + 0.6 * p).astype(int)
    rate = np.where(region == 1, np.where(y == 1, 1.0, 0.1), np.where(y == 1, 0.3, 1.0))
    held = rng.random(n) < rate
    y, p, w, region = y[held], p[held], 1 / rate[held], region[held]
    told = evaluate(y, p, sample_weight=w, by=region, n_resamples=2000, rng=0).error("ECE")
    plain = evaluate(y, p, sample_weight=w, n_resamples=400, rng=0).error("ECE")
    assert told.value == plain.value
    assert plain.null_mean < 0.9 * told.null_mean  # without regions weights tell too little
    # Oracle: outcomes drawn with the odds of each region and the weights they would have.
    table = np.array([[1.0, 1 / 0.3], [10.0, 1.0]])[region]
    chance = (p / table[:, 1]) / (p / table[:, 1] + (1 - p) / table[:, 0])
    bins = np.clip(np.ceil(p * 15).astype(int) - 1, 0, 14)
    null = []
    for _ in range(2000):
        z = (rng.random(len(p)) < chance).astype(int)
        weight = np.where(z, table[:, 1], table[:, 0])
        null.append(np.abs(np.bincount(bins, weight * (z - p))).sum() / w.sum())
    assert told.null_mean == pytest.approx(np.mean(null), rel=0.03)


def test_random_weights_are_not_taken_for_strata():
    rng = np.random.default_rng(4)
    n = 200
    p = rng.random(n)
    sample = BinarySample(
        y=(rng.random(n) < p).astype(int), p=p, weight=rng.exponential(size=n),
        strata=np.arange(n) // 2,
    )  # fmt: skip
    assert redraw_of(sample).said.endswith("weights like those of the label")


def test_classes_may_be_kept_by_what_was_predicted():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(3), 400)
    y = (rng.random(400)[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    table = np.array([[5.0, 1, 2], [1, 5, 2], [1, 1, 1]])
    weight = table[p.argmax(axis=1), y]
    made = redraw_of(MulticlassSample(y=y, p=p, weight=weight, classes=(0, 1, 2)))
    np.testing.assert_array_equal(made.weight, table[made.p.argmax(axis=1)])


def slopes(n_groups, m, rng, size=0.3):
    """Calibrated; what a group has in common moves its halves apart."""
    from scipy.special import ndtr

    group = np.repeat(np.arange(n_groups), m)
    p = rng.random(n_groups * m)
    common = rng.standard_normal(n_groups)[group] * np.sign(p - 0.5)
    own = rng.standard_normal(len(p))
    return (ndtr(np.sqrt(size) * common + np.sqrt(1 - size) * own) < p).astype(int), p, group


def test_pairs_of_a_slope_have_the_covariance_they_are_said_to_have():
    """By numbers drawn: u for some rows, 1 - u for those that are turned."""
    rng = np.random.default_rng(6)
    p = rng.random(6)
    chance = np.column_stack([1 - p, p])
    made = Redraw(chance, chance, np.ones((6, 2)), None, "", np.arange(6))
    turned, times = p < 0.5, rng.normal(size=6)
    u = rng.random((400_000, 1))
    z = np.where(turned, 1 - u, u) < p
    sums = ((z - p) * times).sum(axis=1)
    alone = (times**2 * p * (1 - p)).sum()
    found = shared_by_two(made, np.zeros(6, dtype=int), 1, times, turned)[0]
    assert found == pytest.approx(sums.var() - alone, abs=0.02)


def test_slopes_are_seen_and_drawn():
    y, p, group = slopes(60, 40, np.random.default_rng(7))
    made = redraw_of(BinarySample(y=y, p=p, clusters=group))
    together = made.sharing
    # A Gaussian copula of 0.3 gives outcomes of one half at most 2/pi asin(0.3) = 0.19.
    assert 0.1 < together.slope < 0.3
    assert together.correlation < 0.05
    draws = np.vstack(list(made.outcomes(Draws(4000, np.random.default_rng(0)))))
    residual = draws - made.p[:, 1]
    first = together.group == 0
    low = first & together.low
    high = first & ~together.low
    sums = [residual[:, rows].sum(axis=1) for rows in (low, high)]
    assert np.corrcoef(*sums)[0, 1] < -0.5


def test_a_level_alone_has_no_slope():
    rng = np.random.default_rng(8)
    p, group = rng.random(1000), np.repeat(np.arange(50), 20)
    share = rng.random(50)[group]
    y = np.where(rng.random(1000) < 0.6, share < p, rng.random(1000) < p).astype(int)
    together = redraw_of(BinarySample(y=y, p=p, clusters=group)).sharing
    assert isinstance(together, Sharing)
    assert together.correlation == pytest.approx(0.36, abs=0.12)
    assert together.slope < 0.08
