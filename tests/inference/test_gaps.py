"""Limits of mean absolute gaps against all choices of signs, by brute force."""

import itertools

import numpy as np
import pytest

from veridical import BinnedError, SimplexBins, UniformBins, VarianceSplitBins, bootstrap_interval
from veridical.inference._intervals.gaps import gap_upper_limit, variation_limits
from veridical.lenses.reading import RawData, as_multiclass
from veridical.summaries import summarise


def upper_by_drawing(values, copies, highest, draws=20_000):
    """Quantile of a Bayesian bootstrap with one more row at the largest value."""
    rng = np.random.default_rng(0)
    random = rng.standard_gamma(copies, (draws, len(values)))
    more = rng.exponential(size=draws)
    return np.quantile((random @ values + more * highest) / (random.sum(axis=1) + more), 0.975)


@pytest.mark.parametrize(("n", "seed"), [(12, 0), (30, 1), (30, 2), (200, 3)])
def test_upper_limit_is_the_largest_over_all_signs(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 2, n)
    y = (rng.random(n) < p).astype(int)
    bins = np.clip(np.ceil(p * 3).astype(int) - 1, 0, 2)
    held = np.unique(bins)
    mean = np.array([p[bins == b].mean() for b in held])
    hits = np.array([y[bins == b].sum() for b in held])
    size = np.array([(bins == b).sum() for b in held])
    most = np.maximum(mean, 1 - mean).max()
    expected = max(
        upper_by_drawing(
            np.concatenate([s * (1 - mean), -s * mean]), np.concatenate([hits, size - hits]), most
        )
        for s in map(np.array, itertools.product((-1.0, 1.0), repeat=len(held)))
    )
    interval = bootstrap_interval(BinnedError(UniformBins(3)), y, p)
    assert interval.high == pytest.approx(expected, rel=0.02)


def test_two_classes_are_the_binary_problem(binary):
    sample = RawData(binary.y, binary.p).through(None, caller="test").sample
    one = gap_upper_limit(summarise(sample, UniformBins(8)), 0.95)
    two = variation_limits(summarise(as_multiclass(sample), SimplexBins(8)), 0.95)
    assert two[1] == pytest.approx(one, rel=1e-9)
    assert 0 < two[0] < two[1]


@pytest.mark.parametrize("seed", range(3))
def test_upper_limit_of_vectors_is_the_largest_over_all_sets(seed):
    """One cell of three classes: the six sets that are not empty and not everything."""
    rng = np.random.default_rng(seed)
    p = np.tile([0.2, 0.3, 0.5], (25, 1))
    y = rng.integers(0, 3, 25)
    found = bootstrap_interval(BinnedError(VarianceSplitBins(20)), y, p, lens="canonical")
    sets = [s for size in (1, 2) for s in itertools.combinations(range(3), size)]
    expected = max(
        upper_by_drawing(np.isin(y, s) - p[0, list(s)].sum(), np.ones(25), 0.8) for s in sets
    )
    assert found.high == pytest.approx(expected, rel=0.02)
    assert found.low >= 0


def test_classes_have_no_order(multiclass):
    estimator = BinnedError(VarianceSplitBins(50))
    y, p = multiclass.y, multiclass.p
    order = np.array([2, 0, 1])
    plain = bootstrap_interval(estimator, y, p, lens="canonical")
    moved = bootstrap_interval(estimator, np.argsort(order)[y], p[:, order], lens="canonical")
    assert (moved.low, moved.high) == pytest.approx((plain.low, plain.high), rel=1e-9)


def test_limits_hold_the_total_variation_of_the_population():
    """Example of known truth: class 0 is said 0.1 too seldom, in every row."""
    rng = np.random.default_rng(5)
    missed = np.zeros(2)
    for _ in range(120):
        p = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])[rng.integers(0, 2, 200)]
        truth = p + np.array([0.1, -0.05, -0.05])
        y = (rng.random((200, 1)) > truth.cumsum(axis=1)).sum(axis=1)
        found = bootstrap_interval(BinnedError(VarianceSplitBins(20)), y, p, lens="canonical")
        missed += (found.low > 0.1, found.high < 0.1)
    # Twelve of 120 are five standard errors above 2.5 %.
    assert (missed <= 12).all()
