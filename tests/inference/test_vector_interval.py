"""Intervals of the Euclidean error of whole vectors."""

import numpy as np
import pytest

from veridical import (
    BinnedError,
    InvalidInputError,
    SimplexBins,
    UniformBins,
    VarianceSplitBins,
    bootstrap_interval,
)
from veridical.inference._intervals.binned import _traces
from veridical.lenses.reading import RawData, as_multiclass


def euclidean(n=4, **options):
    return BinnedError(SimplexBins(n), norm=2, distance="l2", **options)


@pytest.mark.parametrize("seed", range(3))
def test_traces_are_those_of_the_covariance_matrix(seed):
    r = np.random.default_rng(seed).dirichlet(np.ones(4), 1)
    s = np.diag(r[0]) - np.outer(r[0], r[0])
    found = np.array(_traces(r))[:, 0]
    expected = [np.trace(s), np.trace(s @ s), np.trace(s @ s @ s)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_two_classes_are_the_binary_problem(binary):
    """The Euclidean distance of (1 - p, p) is the root of two times the gap."""
    from veridical.inference._intervals.binned import l2_limits, l2_vector_limits
    from veridical.summaries import summarise

    sample = RawData(binary.y, binary.p).through(None, caller="test").sample
    one = l2_limits(summarise(sample, UniformBins(8)), 0.95)
    two = l2_vector_limits(summarise(as_multiclass(sample), SimplexBins(8)), 0.95)
    # They differ in how a cell without hits is moved off the edge, and in nothing else.
    np.testing.assert_allclose(two, np.sqrt(2) * np.array(one), rtol=2e-3)


def test_interval_holds_the_debiased_estimate(multiclass):
    interval = bootstrap_interval(
        euclidean(debias=True), multiclass.y, multiclass.p, lens="canonical"
    )
    assert interval.low <= interval.estimate <= interval.high
    assert interval.low > 0  # clearly miscalibrated
    plain = bootstrap_interval(euclidean(), multiclass.y, multiclass.p, lens="canonical")
    assert (plain.low, plain.high) == (interval.low, interval.high)


def test_a_higher_level_is_wider(multiclass):
    at = [
        bootstrap_interval(
            euclidean(), multiclass.y, multiclass.p, lens="canonical", confidence_level=level
        )
        for level in (0.5, 0.9, 0.99)
    ]
    assert at[0].low > at[1].low > at[2].low
    assert at[0].high < at[1].high < at[2].high


def test_no_gap_at_all_gives_an_interval_from_zero():
    p = np.tile([0.5, 0.25, 0.25], (100, 1))
    y = np.repeat([0, 1, 2], [50, 25, 25])
    interval = bootstrap_interval(euclidean(), y, p, lens="canonical")
    assert interval.estimate == 0
    assert interval.low == 0
    # Of 100 rows a typical reading is tr S / n = 0.625 / 100; the limit is beyond its root.
    assert 0.079 < interval.high < 0.3


def test_weights_obey_the_laws(multiclass):
    y, p = multiclass.y, multiclass.p
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    frequency = bootstrap_interval(
        euclidean(), y, p, lens="canonical", sample_weight=weight, weight_type="frequency"
    )
    repeated = bootstrap_interval(euclidean(), y[rows], p[rows], lens="canonical")
    assert frequency.high == pytest.approx(repeated.high, rel=1e-9)
    importance = bootstrap_interval(euclidean(), y, p, lens="canonical", sample_weight=multiclass.w)
    scaled = bootstrap_interval(euclidean(), y, p, lens="canonical", sample_weight=3 * multiclass.w)
    assert importance.high == pytest.approx(scaled.high, rel=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [BinnedError(SimplexBins(4), norm="max"), BinnedError(SimplexBins(4), norm=2),
     BinnedError(VarianceSplitBins(50), norm=2, distance="l1")],
)  # fmt: skip
def test_other_distances_have_no_interval(estimator, multiclass):
    with pytest.raises(InvalidInputError, match="norm 1, or 2 with distance l2"):
        bootstrap_interval(estimator, multiclass.y, multiclass.p, lens="canonical")


@pytest.mark.parametrize(
    ("shift", "n"),
    [(0.0, 500), (0.05, 500), (0.15, 500), (0.05, 2000)],
)
def test_covers_the_binned_error_of_the_population(shift, n):
    """Outcomes from (1 - shift) p + shift e_m, m the least probable class; 3 x 3 grid."""
    rng = np.random.default_rng([int(100 * shift), n])

    def draw(count):
        p = rng.dirichlet(np.ones(3), count)
        return p, (1 - shift) * p + shift * np.eye(3)[p.argmin(axis=1)]

    p, q = draw(200_000)
    truth = _binned_error(p, q)
    repeats, hits = 120, 0
    for _ in range(repeats):
        p, q = draw(n)
        y = (rng.random(n)[:, None] >= q.cumsum(axis=1)[:, :-1]).sum(axis=1)
        interval = bootstrap_interval(euclidean(3), y, p, lens="canonical")
        hits += interval.low - 1e-12 <= truth <= interval.high
    assert hits / repeats >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats)


def _binned_error(p, q):
    """Naive oracle: cells by the bins of the last two coordinates."""
    bins = np.clip(np.ceil(p[:, 1:] * 3).astype(int) - 1, 0, 2)
    total = 0.0
    for cell in {tuple(row) for row in bins.tolist()}:
        inside = (bins == cell).all(axis=1)
        total += inside.mean() * ((q[inside] - p[inside]).mean(axis=0) ** 2).sum()
    return np.sqrt(total)
