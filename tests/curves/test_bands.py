"""Bootstrap, consistency and simultaneous bands against brute force."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from scipy.stats import beta, binom

from veridical import InvalidInputError, reliability_curve

METHODS = ("bins", "isotonic", "density", "smooth")


def curve_of(y, p, method, **options):
    extra = {"n_bins": 4} if method == "bins" else {}
    if method in ("density", "smooth"):
        extra["bandwidth"] = 0.15
    return reliability_curve(y, p, method=method, **extra, **options)


def block_means(fit_at, p, curve, w):
    """Mean of a fit over the rows of each block."""
    inside = (p[:, None] >= curve.lower) & (p[:, None] <= curve.upper)
    return (fit_at(p) * w) @ inside / (w @ inside)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["plain", "tied"])
def test_one_resample_is_the_curve_of_the_rows_drawn(method, kind):
    """The draw is reproduced from the seed; with one resample both limits are its curve."""
    y, p, _ = oracles.random_rows(kind, 120)
    curve = curve_of(y, p, method, interval="bootstrap", n_resamples=1, rng=3)
    if method == "bins":
        bins = np.array(oracles.bins_by_edges(p, oracles.uniform_edges(4)))
        value, index = np.unique(bins, return_inverse=True)
        value = value / 4 + 0.1
    else:
        value, index = np.unique(p, return_inverse=True)
    hits = np.bincount(index, y, len(value))
    cells = np.concatenate([np.bincount(index) - hits, hits])
    rng = np.random.default_rng(3)
    if method == "bins":
        drawn = rng.multinomial(len(y), cells / len(y))
    else:
        rows = np.repeat(np.arange(len(cells)), cells.astype(int))
        drawn = np.bincount(rows[rng.integers(0, len(y), len(y))], minlength=len(cells))
    assert drawn.sum() == len(y)
    rows = (
        np.repeat(np.tile(value, 2), drawn),
        np.repeat([0] * len(value) + [1] * len(value), drawn),
    )
    again = curve_of(rows[1], rows[0], method, interval=None, labels=[0, 1])
    if method == "isotonic":
        fit = oracles.isotonic(rows[1], rows[0])
        order = np.argsort(rows[0])
        expected = block_means(
            lambda at: np.interp(at, rows[0][order], np.array(fit)[order]), p, curve, np.ones(120)
        )
    else:
        expected = again.at(curve.predicted).observed
        # Limits of smooth curves hold the curve, and the curve freed of what smoothing moves it by.
        assert (curve.low <= expected + 3e-4).all()
        assert (curve.high >= expected - 3e-4).all()
        return
    np.testing.assert_allclose(curve.low, expected, atol=3e-4)
    np.testing.assert_array_equal(curve.low, curve.high)


@pytest.mark.parametrize("method", ["density", "smooth"])
def test_limits_of_smooth_curves_cover_ties(method):
    """Calibrated predictions on a grid: 95 % limits at the scores, weighted by rows, 12 samples."""
    held = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = rng.integers(1, 10, 400) / 10
        y = (rng.random(400) < p).astype(int)
        curve = reliability_curve(y, p, method=method, interval="bootstrap", n_resamples=99, rng=0)
        low, high = (np.interp(p, curve.predicted, limit) for limit in (curve.low, curve.high))
        held.append(np.mean((low - 1e-3 <= p) & (p <= high + 1e-3)))
    assert np.mean(held) > 0.88


@pytest.mark.parametrize("kind", ["plain", "weighted"])
def test_bootstrapped_bins_agree_with_drawing_rows(kind):
    """Both by Monte Carlo, 4,000 draws each: quantiles have a standard error below 0.01."""
    y, p, w = oracles.random_rows(kind, 200)
    curve = curve_of(y, p, "bins", sample_weight=w, interval="bootstrap", n_resamples=4000, rng=1)
    bins = np.array(oracles.bins_by_edges(p, oracles.uniform_edges(4)))
    w = np.ones(200) if w is None else w
    rng = np.random.default_rng(2)
    means = np.empty((4000, 4))
    for r in range(4000):
        rows = rng.integers(0, 200, 200)
        mass = np.bincount(bins[rows], w[rows], 4)
        means[r] = np.bincount(bins[rows], (w * y)[rows], 4) / mass
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(curve.low, low, atol=0.03)
    np.testing.assert_allclose(curve.high, high, atol=0.03)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["bootstrap", "consistency", "consistency-bootstrap"])
@pytest.mark.parametrize("kind", ["plain", "tied weighted"])
def test_the_seed_decides_and_the_order_of_rows_does_not(method, interval, kind):
    y, p, w = oracles.random_rows(kind)
    order = np.random.default_rng(0).permutation(len(y))
    options = {"interval": interval, "n_resamples": 30, "rng": 7}
    one = curve_of(y, p, method, sample_weight=w, **options)
    same = curve_of(y, p, method, sample_weight=w, **options)
    w = None if w is None else w[order]
    shuffled = curve_of(y[order], p[order], method, sample_weight=w, **options)
    assert one == same
    np.testing.assert_allclose(shuffled.low, one.low, atol=1e-9)
    np.testing.assert_allclose(shuffled.high, one.high, atol=1e-9)
    assert (one.low <= one.high).all()
    assert ((one.low >= 0) & (one.high <= 1)).all()
    assert (one.interval, one.confidence_level) == (interval, 0.95)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["bootstrap", "consistency", "consistency-bootstrap"])
def test_frequency_weights_are_repetition(method, interval):
    y, p, _ = oracles.random_rows("tied", 60)
    w = np.random.default_rng(0).integers(0, 5, 60)
    options = {"interval": interval, "n_resamples": 30, "rng": 7}
    weighted = curve_of(y, p, method, sample_weight=w, weight_type="frequency", **options)
    repeated = curve_of(np.repeat(y, w), np.repeat(p, w), method, **options)
    np.testing.assert_allclose(weighted.low, repeated.low, atol=1e-9)
    np.testing.assert_allclose(weighted.high, repeated.high, atol=1e-9)


@pytest.mark.parametrize("interval", ["bootstrap", "consistency", "consistency-bootstrap"])
def test_many_rows_a_score_are_drawn_like_few(interval):
    """Counts are drawn as multinomials or binomials then; 2,000 draws, 80 % limits."""
    value = np.array([0.1, 0.4, 0.5, 0.9])
    size, hits = np.array([60, 40, 80, 50]), np.array([10, 20, 30, 40])
    y = np.concatenate([np.arange(n) < k for n, k in zip(size, hits, strict=True)]).astype(int)
    options = {"interval": interval, "confidence_level": 0.8, "n_resamples": 2000, "rng": 0}
    p = np.repeat(value, size)
    spread = p + np.arange(len(p)) * 1e-9  # all distinct, so drawn one by one
    many, few = (curve_of(y, scores, "smooth", **options) for scores in (p, spread))
    np.testing.assert_allclose(many.low, few.low, atol=0.015)
    np.testing.assert_allclose(many.high, few.high, atol=0.015)


def test_a_bin_no_resample_reaches_keeps_its_frequency():
    y, p = [0] * 99 + [1], [0.1] * 99 + [0.9]
    curves = [curve_of(y, p, "bins", interval="bootstrap", n_resamples=1, rng=s) for s in range(9)]
    assert {curve.low[1] for curve in curves} == {1.0}  # some of the nine have no such row


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_consistency_limits_of_equal_predictions_are_binomial_quantiles(level):
    for n, p in [(1, 0.5), (7, 0.3), (40, 0.05), (200, 0.9), (30, 0.0), (30, 1.0)]:
        curve = reliability_curve(
            [0] * n, np.full(n, p), labels=[0, 1], interval="consistency", confidence_level=level
        )
        tails = (1 - level) / 2, (1 + level) / 2
        expected = np.clip(binom.ppf(tails, n, p), 0, n) / n
        np.testing.assert_allclose([curve.low[0], curve.high[0]], expected, atol=1e-12)
        assert curve.low[0] <= p <= curve.high[0]


def test_consistency_limits_of_large_bins_are_within_a_row_of_binomial_quantiles():
    n, p = 20_000, 0.3
    curve = reliability_curve([0] * n, np.full(n, p), labels=[0, 1], interval="consistency")
    expected = binom.ppf([0.025, 0.975], n, p)
    assert np.abs(n * np.array([curve.low[0], curve.high[0]]) - expected).max() <= 1 + 1e-6


def test_consistency_limits_of_weights_that_stand_for_very_many_rows_are_drawn():
    n, p = 10_000_000, 3e-6
    curve = reliability_curve(
        [0, 1],
        [p, p],
        sample_weight=[n - 30, 30],
        weight_type="frequency",
        interval="consistency",
        n_resamples=4000,
        rng=0,
    )
    expected = binom.ppf([0.025, 0.975], n, p)
    assert np.abs(n * np.array([curve.low[0], curve.high[0]]) - expected).max() <= 1 + 1e-6


def test_consistency_limits_of_a_bin_are_quantiles_of_the_convolved_outcomes():
    y, p, _ = oracles.random_rows("single", 90)
    curve = curve_of(y, p, "bins", interval="consistency", confidence_level=0.9)
    bins = np.array(oracles.bins_by_edges(p, oracles.uniform_edges(4, np.float32)))
    for b in range(4):
        pmf = np.ones(1)
        for q in p[bins == b].astype(float):
            pmf = np.convolve(pmf, [1 - q, q])
        size = len(pmf) - 1
        limits = [int(np.argmax(np.cumsum(pmf) >= tail)) / size for tail in (0.05, 0.95)]
        assert [curve.low[b], curve.high[b]] == pytest.approx(limits, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["tied", "tied weighted"])
def test_consistency_limits_agree_with_drawing_outcomes(method, kind):
    """Both by Monte Carlo, 300 draws each; 80 % limits have a standard error below 0.02."""
    y, p, w = oracles.random_rows(kind, 150)
    options = {"interval": "consistency", "confidence_level": 0.8}
    curve = curve_of(y, p, method, sample_weight=w, n_resamples=300, rng=1, **options)
    rng = np.random.default_rng(2)
    draws = []
    for _ in range(300):
        z = (rng.random(150) < p).astype(int)
        again = curve_of(z, p, method, sample_weight=w, interval=None, labels=[0, 1])
        if method == "isotonic":
            mass = np.ones(150) if w is None else w
            draws.append(block_means(lambda at, c=again: c.at(at).observed, p, curve, mass))
        else:
            draws.append(again.observed)
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(curve.low, low, atol=0.08)
    np.testing.assert_allclose(curve.high, high, atol=0.08)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["tied", "tied weighted"])
def test_consistency_limits_of_drawn_predictions_agree_with_drawing_rows(method, kind):
    """Bröcker and Smith: surrogate forecasts, and observations drawn from them."""
    y, p, w = oracles.random_rows(kind, 150)
    options = {"interval": "consistency-bootstrap", "confidence_level": 0.8}
    curve = curve_of(y, p, method, sample_weight=w, n_resamples=300, rng=1, **options)
    assert curve.around_prediction
    rng = np.random.default_rng(2)
    draws = []
    for _ in range(300):
        rows = rng.integers(0, 150, 150)
        z = (rng.random(150) < p[rows]).astype(int)
        drawn = {"sample_weight": None if w is None else w[rows], "labels": [0, 1]}
        again = curve_of(z, p[rows], method, interval=None, **drawn)
        if method == "isotonic":
            mass = np.ones(150) if w is None else w
            draws.append(block_means(lambda at, c=again: at_or_between(c, at), p, curve, mass))
        else:
            draws.append(again.at(curve.predicted).observed)
    low, high = np.quantile(draws, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(curve.low, low, atol=0.08)
    np.testing.assert_allclose(curve.high, high, atol=0.08)


def at_or_between(curve, at):
    """An isotonic fit, linear between the scores it was fitted to."""
    ends = np.concatenate([curve.lower, curve.upper])
    order = np.argsort(ends, kind="stable")
    return np.interp(at, ends[order], np.tile(curve.observed, 2)[order])


def test_drawn_predictions_widen_limits_where_a_bin_mixes_predictions():
    """Half 0.05 and half 0.45 in a bin: the drawn mean prediction varies, the fixed one not."""
    p = np.repeat([0.05, 0.45], 50)
    y = np.tile([0, 1], 50)
    options = {"n_bins": 2, "confidence_level": 0.9, "n_resamples": 4000, "rng": 0}
    fixed = reliability_curve(y, p, interval="consistency", **options)
    drawn = reliability_curve(y, p, interval="consistency-bootstrap", **options)
    # Variance of the frequency of 100 rows: mean p(1-p), and with drawn rows m (1 - m), m = 1/4.
    spread = (np.mean(p * (1 - p)) / 100) ** 0.5, (0.25 * 0.75 / 100) ** 0.5
    for curve, sd in zip((fixed, drawn), spread, strict=True):
        assert curve.high - curve.low == pytest.approx(2 * 1.6449 * sd, abs=0.015)
    assert drawn.high - drawn.low > fixed.high - fixed.low


@pytest.mark.parametrize("method", ["density", "smooth"])
def test_percentile_limits_are_those_of_curves_of_drawn_rows_and_their_median_the_curve(method):
    """001 section 4.4; rows and the seed's draws are repeated one by one."""
    y, p, _ = oracles.random_rows("plain", 120)
    options = {"n_resamples": 25, "confidence_level": 0.8}
    curve = curve_of(y, p, method, interval="percentile", rng=3, **options)
    rng = np.random.default_rng(3)
    value, index = np.unique(p, return_inverse=True)
    owner = np.concatenate([index[y == 0], index[y == 1]])  # by outcome, then by score
    outcome = np.repeat([0, 1], [(y == 0).sum(), (y == 1).sum()])
    order = np.lexsort((owner, outcome))
    owner, outcome = owner[order], outcome[order]
    draws = []
    for _ in range(25):
        rows = rng.integers(0, 120, 120)
        again = curve_of(outcome[rows], value[owner[rows]], method, interval=None, labels=[0, 1])
        draws.append(again.at(curve.predicted).observed)
    low, middle, high = np.quantile(draws, [0.1, 0.5, 0.9], axis=0)
    core = slice(5, -5)  # at the ends a curve of drawn rows may stop earlier
    np.testing.assert_allclose(curve.low[core], low[core], atol=2e-3)
    np.testing.assert_allclose(curve.observed[core], middle[core], atol=2e-3)
    np.testing.assert_allclose(curve.high[core], high[core], atol=2e-3)
    np.testing.assert_allclose(curve.gap, curve.observed - curve.predicted)
    assert "median of 25 bootstrapped curves" in curve.definition
    assert not curve.around_prediction


def test_percentile_limits_are_of_smooth_curves():
    y, p, _ = oracles.random_rows("plain", 60)
    with pytest.raises(InvalidInputError, match="smooth curves"):
        reliability_curve(y, p, interval="percentile")


def simultaneous_by_loops(size, hits, alpha):
    """Bounds at each group: all runs to the left, and all runs to the right."""
    m = len(size)
    tail = alpha / (m * m + m)
    low, high = [0.0] * m, [1.0] * m
    for a in range(m):
        for b in range(a, m):
            k, n = sum(hits[a : b + 1]), sum(size[a : b + 1])
            lower = beta.ppf(tail, k, n - k + 1) if k else 0.0
            upper = beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
            for i in range(m):
                low[i] = max(low[i], lower) if b <= i else low[i]
                high[i] = min(high[i], upper) if a >= i else high[i]
    return low, high


def test_a_simultaneous_band_of_one_score_is_clopper_pearson():
    curve = reliability_curve(
        [0, 0, 0, 1], [0.4] * 4, method="isotonic", interval="simultaneous", confidence_level=0.9
    )
    # One success of four: P(at least one) = 0.05 and P(at most one) = 0.05 at the limits.
    assert curve.low.tolist() == pytest.approx([1 - 0.95**0.25])
    assert binom.cdf(1, 4, curve.high[0]) == pytest.approx(0.05)


def test_a_simultaneous_band_of_two_scores_by_hand():
    """Each of three runs has two bounds, so each bound has a tail of 0.06 / 6 = 0.01."""
    curve = reliability_curve(
        [0] * 3 + [1] * 3,
        [0.2] * 3 + [0.8] * 3,
        method="isotonic",
        interval="simultaneous",
        confidence_level=0.94,
    )
    # No success of three: upper limit 1 - 0.01^(1/3); the run of all six bounds nothing better.
    assert curve.high.tolist() == pytest.approx([1 - 0.01 ** (1 / 3), 1.0])
    assert curve.low.tolist() == pytest.approx([0.0, 0.01 ** (1 / 3)])
    assert curve.observed.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("kind", ["tied", "plain"])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_simultaneous_band_is_that_of_loops_over_runs(kind, level):
    y, p, _ = oracles.random_rows(kind, 30 if kind == "plain" else 300)
    curve = reliability_curve(
        y, p, method="isotonic", interval="simultaneous", confidence_level=level
    )
    value, index = np.unique(p, return_inverse=True)
    low, high = simultaneous_by_loops(
        np.bincount(index).tolist(), np.bincount(index, y).tolist(), 1 - level
    )
    reading = curve.at(value)
    fit = reliability_curve(y, p, method="isotonic").at(value).observed
    np.testing.assert_allclose(reading.observed, fit)
    np.testing.assert_allclose(reading.low, np.minimum(low, fit), atol=1e-9)
    np.testing.assert_allclose(reading.high, np.maximum(high, fit), atol=1e-9)


def test_more_than_200_scores_are_grouped_and_bound_what_lies_outside_their_group():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(400))  # 200 groups of two
    y = (rng.random(400) < p).astype(int)
    curve = reliability_curve(y, p, method="isotonic", interval="simultaneous")
    reading = curve.at(p)
    pairs = reliability_curve(
        y, np.repeat(p[1::2], 2), method="isotonic", interval="simultaneous"
    ).at(p[1::2])
    fit = reading.observed
    low = np.append(0.0, pairs.low)  # at the first of a pair the pairs before count
    expected = np.ravel(np.column_stack([low[:-1], low[1:]]))
    np.testing.assert_allclose(reading.low, np.minimum(expected, fit), atol=1e-9)
    high = np.append(pairs.high, 1.0)
    expected = np.ravel(np.column_stack([high[:-1], high[1:]]))
    np.testing.assert_allclose(reading.high, np.maximum(expected, fit), atol=1e-9)


def test_a_simultaneous_band_takes_counts_as_weights():
    y, p, _ = oracles.random_rows("tied", 60)
    w = np.random.default_rng(0).integers(0, 5, 60)
    options = {"method": "isotonic", "interval": "simultaneous"}
    weighted = reliability_curve(y, p, sample_weight=w, weight_type="frequency", **options)
    repeated = reliability_curve(np.repeat(y, w), np.repeat(p, w), **options)
    np.testing.assert_allclose(weighted.low, repeated.low)
    np.testing.assert_allclose(weighted.high, repeated.high)


def test_a_simultaneous_band_holds_the_fit_also_where_the_truth_falls():
    p = np.linspace(0, 1, 300)
    y = (np.random.default_rng(0).random(300) < 1 - p).astype(int)
    curve = reliability_curve(y, p, method="isotonic", interval="simultaneous")
    assert (curve.low <= curve.observed).all()
    assert (curve.observed <= curve.high).all()
    assert (np.diff(curve.low) >= 0).all()
    assert (np.diff(curve.high) >= 0).all()
