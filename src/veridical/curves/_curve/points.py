"""Points of a curve and their binomial limits, of a summary or of rows that can be drawn anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.numeric import poisson_binomial
from veridical._core.numeric.pava import isotonic_fit
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.binning import Binning, IntervalPartition
from veridical.results import ReliabilityCurve
from veridical.summaries import Summary, summarise

# Frequencies at the points of a curve for other weights and outcomes of the same scores, some of
# which may have weight zero; NaN where nothing is left to average.
Refit = Callable[[PooledScores], FloatArray]


@dataclass(frozen=True, kw_only=True)
class Points:
    """A curve without limits: fields as in `ReliabilityCurve`."""

    lower: FloatArray
    upper: FloatArray
    count: FloatArray
    weight: FloatArray
    predicted: FloatArray
    observed: FloatArray
    definition: str
    refit: Refit


def isotonic_points(sample: BinarySample) -> Points:
    """One point per block of the isotonic fit."""
    scores = sample.pooled
    fitted = isotonic_fit(scores).fitted
    starts = run_starts(fitted)
    weight = np.add.reduceat(scores.weight, starts)

    def refit(drawn: PooledScores) -> FloatArray:
        """Mean over the scores of each block; linear between scores that were drawn."""
        held = drawn.weight > 0
        kept = PooledScores(drawn.value[held], drawn.weight[held], drawn.positive[held])
        again = np.interp(drawn.value, kept.value, isotonic_fit(kept).fitted)
        return np.add.reduceat(again * scores.weight, starts) / weight

    return run_points(sample, fitted, starts, definition="isotonic fit (CORP)", refit=refit)


def run_points(
    sample: BinarySample, fitted: FloatArray, starts: IntArray, *, definition: str, refit: Refit
) -> Points:
    """One point per run of distinct scores; runs begin at `starts` and share a fitted value."""
    scores = sample.pooled
    value = scores.value.astype(np.float64)
    weight = np.add.reduceat(scores.weight, starts)
    count = weight
    if sample.weight is not None:
        run = np.searchsorted(scores.value[starts], sample.p, side="right") - 1
        count = np.bincount(run, minlength=len(starts)).astype(np.float64)
    lower, upper = value[starts], value[np.append(starts[1:], len(value)) - 1]
    predicted = np.add.reduceat(scores.weight * value, starts) / weight
    return Points(
        lower=lower,
        upper=upper,
        count=count,
        weight=weight,
        predicted=np.clip(predicted, lower, upper),  # a mean of equal scores is that score
        observed=fitted[starts],
        definition=definition,
        refit=refit,
    )


def run_starts(*values: FloatArray) -> IntArray:
    """Where runs of equal entries, equal in all the arrays, begin."""
    changes = np.zeros(len(values[0]), dtype=bool)
    changes[0] = True
    for array in values:
        changes[1:] |= array[1:] != array[:-1]
    return np.flatnonzero(changes)


def bin_refit(partition: IntervalPartition, occupied: BoolArray) -> Refit:
    """Frequencies of occupied bins, which stay where they are."""

    def refit(drawn: PooledScores) -> FloatArray:
        bins = partition.assign(drawn.value)
        weight, positive = (
            np.bincount(bins, sums, minlength=partition.n_cells)[occupied]
            for sums in (drawn.weight, drawn.positive)
        )
        ratio = np.full(weight.shape, np.nan)
        return np.divide(positive, weight, out=ratio, where=weight > 0)

    return refit


METHODS = ("wilson", "clopper-pearson")


def binomial_interval(
    frequency: FloatArray, size: FloatArray, *, method: str, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    r"""Limits of a frequency observed in `size` trials (which may be fractional).

    Parameters
    ----------
    frequency, size : arrays of equal shape
        Observed share, and number of rows (effective number for weighted data).
    method : {"wilson", "clopper-pearson"}
        Wilson's score interval covers the level on average; Clopper and Pearson's never covers
        less, and is wider.
    confidence_level : float
        Nominal two-sided coverage.

    Notes
    -----
    Wilson (1927), doi 10.1080/01621459.1927.10502953:
    :math:`\left(\hat p + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat p (1-\hat p)}{n}
    + \frac{z^2}{4 n^2}}\right) / (1 + z^2 / n)`.
    Clopper & Pearson (1934), doi 10.1093/biomet/26.4.404: quantiles of Beta(x, n - x + 1) and
    Beta(x + 1, n - x).

    Examples
    --------
    >>> low, high = binomial_interval(np.array([0.5]), np.array([4.0]), method="wilson",
    ...                               confidence_level=0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.15], [0.85])
    """
    from scipy import special

    check_option("binomial_interval", "method", method, METHODS)
    tail = (1 - confidence_level) / 2
    if method == "wilson":
        z = float(special.ndtri(1 - tail))
        centre = frequency + z * z / (2 * size)
        spread = z * np.sqrt(frequency * (1 - frequency) / size + (z / (2 * size)) ** 2)
        scale = 1 + z * z / size
        low, high = (centre - spread) / scale, (centre + spread) / scale
        # At 0 and 1 the formula gives the exact end up to rounding.
        return np.where(frequency <= 0, 0.0, low), np.where(frequency >= 1, 1.0, high)
    hits = frequency * size
    misses = size - hits
    some, all_hit = hits > 1e-12 * size, misses <= 1e-12 * size
    low = np.where(some, special.betaincinv(np.where(some, hits, 1.0), misses + 1, tail), 0.0)
    high = special.betaincinv(hits + 1, np.where(all_hit, 1.0, misses), 1 - tail)
    return low, np.where(all_hit, 1.0, high)


def curve_from_summary(
    summary: Summary,
    *,
    lens: str,
    definition: str,
    interval: str | None,
    confidence_level: float,
    event: str = "",
) -> ReliabilityCurve:
    """Turn the first (usually only) problem of a summary into a reliability curve."""
    held = summary.occupied[0]
    edges = summary.partitions[0].edges
    padded = summary.sum_w.shape[1] - (len(edges) - 1)  # classes with fewer bins than others
    inner = held[: len(held) - padded] if padded else held
    predicted, observed = summary.mean_p[0, held], summary.mean_y[0, held]
    low = high = None
    if interval is not None:
        low, high = binomial_interval(
            observed, summary.size[0, held], method=interval, confidence_level=confidence_level
        )
    return ReliabilityCurve(
        lower=edges[:-1][inner],
        upper=edges[1:][inner],
        count=summary.count[0, held],
        weight=summary.sum_w[0, held],
        predicted=predicted,
        observed=observed,
        gap=observed - predicted,
        low=low,
        high=high,
        lens=lens,
        method="bins",
        definition=definition,
        interval=interval,
        confidence_level=None if interval is None else confidence_level,
        closed=summary.partitions[0].closed,
        event=event,
        n_samples=round(float(summary.count[0].sum())),
    )


NORMAL_FROM = 400.0  # variance of a count from which it is taken as normal
LONGEST = 1 << 22  # rows beyond which a count is taken as normal too


def count_chances(scores: PooledScores, bins: IntArray, cell: int) -> FloatArray:
    """Probabilities of each number of outcomes in one cell, if predictions are right."""
    rows = slice(*np.searchsorted(bins, [cell, cell + 1]))
    times = np.maximum(np.rint(scores.weight[rows]), 1).astype(np.int64)
    return poisson_binomial.pmf(np.repeat(scores.value[rows].astype(np.float64), times))


def levels_of_rows(sample: BinarySample, binning: Binning) -> FloatArray:
    """Normal scores of the outcomes of each occupied bin, given its predictions.

    The score z has Phi(z) = P(S < s) + P(S = s) / 2, with s the outcomes of the bin and S their
    number if every one has the probability predicted: Poisson-binomial, or normal from a variance
    of 400 on and for importance weights.

    Examples
    --------
    >>> from veridical.binning import UniformBins
    >>> sample = BinarySample(y=np.array([1, 0]), p=np.array([0.6, 0.9]))
    >>> z = levels_of_rows(sample, UniformBins(2))  # P(S < 1) + P(S = 1)/2 = 0.04 + 0.21
    >>> z.round(4).tolist()  # the 25 % quantile
    [-0.6745]
    """
    summary = summarise(sample, binning)
    held = np.flatnonzero(summary.occupied[0])
    observed, mean = summary.sum_wy[0, held], summary.sum_wp[0, held]
    scores = sample.pooled
    counted = sample.weight is None or sample.weight_type == "frequency"
    if counted:
        variance = summary.sum_wpq[0, held]
    else:
        assert sample.weight is not None
        p = sample.p.astype(np.float64)
        spread = sample.weight**2 * p * (1 - p)
        cells = summary.partitions[0].assign(sample.p)
        variance = np.bincount(cells, weights=spread, minlength=summary.count.shape[1])[held]
    certain = variance <= 0
    z = (observed - mean) / np.sqrt(np.where(certain, 1.0, variance))
    # Nothing could vary: either all went as it had to, or the impossible happened.
    z[certain] = np.where(np.isclose(observed, mean), 0.0, np.copysign(np.inf, observed - mean))[
        certain
    ]
    if not counted:
        return z
    bins = summary.partitions[0].assign(scores.value)  # increasing, as scores are
    exact = ~certain & (variance < NORMAL_FROM) & (summary.sum_w[0, held] <= LONGEST)
    for i in np.flatnonzero(exact):
        z[i] = _score(count_chances(scores, bins, held[i]), round(float(observed[i])))
    return z


def levels_of_curve(curve: ReliabilityCurve) -> FloatArray:
    """Return the same from a curve alone: every row of a bin has its mean prediction.

    The variance of a sum of unequal chances is smaller than that, so bins look less unusual than
    they are.
    """
    from scipy.stats import binom

    hits = np.rint(curve.observed * curve.count)
    half = binom.pmf(hits, curve.count, curve.predicted) / 2
    below = binom.cdf(hits - 1, curve.count, curve.predicted) + half
    above = binom.sf(hits, curve.count, curve.predicted) + half
    # The smaller tail is the more accurate one.
    return np.where(below <= above, _quantile(below), -_quantile(above))


def _score(chances: FloatArray, hits: int) -> float:
    below, above = chances[:hits].sum(), chances[hits + 1 :].sum()
    z = float(_quantile(np.array(min(below, above) + chances[hits] / 2)))
    return z if below <= above else -z


def _quantile(level: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(level, 0.0, 1.0)))
