"""How much miscalibration matters: what recalibration saves, and what these rows could show."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.numeric.logistic import binary_objective, newton_by_decrement
from veridical._core.resampling.hypothesis import independent_rows
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import UniformBins
from veridical.exceptions import InvalidInputError
from veridical.inference.core import Design, Plan, detectable_core, required_core
from veridical.results import SampleSize

MATTERS = 0.01  # share of the log loss
_MUCH = 0.1  # of it, from which on a saving is called large
POWER = 0.8
_CLIP = 1e-9
_CELLS = 2048  # of equal mass, that stand for all rows
_KNOTS = (0.2, 0.5, 0.8)  # quantiles of the log-odds at which the curve may bend
_LARGE = 1000.0
_ROWS_A_BEND = 500  # below, the curve is a straight line
_ROWS = 20_000  # predictions that stand for all in a question of power


class Saving(NamedTuple):
    """Share of the mean log loss that the best recalibration curve saves, with limits."""

    share: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """Large, clear or small, or open whether it matters or not."""
        if self.low >= MATTERS:
            return "large" if self.share >= _MUCH else "clear"
        return "clear but small" if self.high < MATTERS else ""


def saving_of(sample: BinarySample, confidence_level: float) -> Saving | None:
    r"""Estimate what recalibration saves of the log loss, None where that is infinite or zero.

    The curve is a logistic regression of the outcome on the log-odds of the prediction with the
    prediction itself as offset: intercept, slope and, from 500 rows on, three bends (a linear
    spline with knots at quantiles). Fitted to the rows it is judged on it saves k / (2 n) too much
    on average for k parameters (Wilks 1938, doi 10.1214/aoms/1177732360: twice the log likelihood
    gained has a chi-square on top of what is true), which is taken off. The variance is that of the
    gains of single rows plus that of the chi-square, 2 k / (2 n)^2. Time O(n log n) for sorting,
    then O(cells).
    """
    p, positive, negative = _cells(sample)
    if positive[p == 0].any() or negative[p == 1].any():
        return None
    n = float(positive.sum() + negative.sum())
    clipped = np.clip(p, _CLIP, 1 - _CLIP)
    odds = np.log(clipped) - np.log1p(-clipped)
    columns = _columns(odds, positive + negative, n)
    objective = binary_objective(columns, positive, negative, offset=odds)
    before, _, _ = objective(np.zeros(len(columns)))
    if before <= 0:
        return None
    fit = newton_by_decrement(objective, np.zeros(len(columns)), tolerance=1e-4)
    moved = odds + fit.parameters @ columns
    gain_1 = np.logaddexp(0, -odds) - np.logaddexp(0, -moved)
    gain_0 = np.logaddexp(0, odds) - np.logaddexp(0, moved)
    mean = (before - fit.value) / n
    spread = (positive @ gain_1**2 + negative @ gain_0**2) / n - mean**2
    k = int(np.linalg.matrix_rank(columns[:, positive + negative > 0]))
    # Near calibration the variance of the gain of a row is twice its mean; the ratio counts beyond.
    ratio = max(spread / (2 * mean), 1.0) if mean > 0 else 1.0
    gained = 2 * n * mean / ratio
    tail = (1 - confidence_level) / 2
    found = (max(gained - k, 0.0), *(_non_centrality(gained, k, q) for q in (1 - tail, tail)))
    share, low, high = (min(value * ratio / (2 * before), 1.0) for value in found)
    return Saving(share, low, high)


def _non_centrality(gained: float, k: int, q: float) -> float:
    """Non-centrality, not below 0, at which `gained` is the quantile `q` of a chi-square of k.

    Beyond 1,000 the root of the chi-square is taken as normal with variance 1.
    """
    from scipy.special import chdtr, chndtrinc, ndtri

    if gained <= 0 or chdtr(k, gained) <= q:
        return 0.0
    if gained > _LARGE:
        return max(math.sqrt(gained - k + 1) - float(ndtri(q)), 0.0) ** 2
    return float(chndtrinc(gained, k, q))


def _cells(sample: BinarySample) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Predictions and sums of outcomes, in units of rows; many rows in cells of equal mass."""
    pooled = sample.pooled
    scale = independent_rows(sample) / float(pooled.weight.sum())
    if len(pooled.value) <= 2 * _CELLS:
        p, weight = pooled.value.astype(np.float64), pooled.weight
        positive = pooled.positive * scale
    else:
        starts = _starts(pooled)
        weight = np.add.reduceat(pooled.weight, starts)
        each = pooled.value if pooled.alone else pooled.weight * pooled.value
        p = np.add.reduceat(each, starts, dtype=np.float64) / weight
        positive = np.add.reduceat(pooled.positive, starts) * scale
    return p, positive, np.maximum(weight * scale - positive, 0.0)


def _starts(pooled: PooledScores) -> IntArray:
    """First score of each cell, found few scores at a time; certain predictions have their own."""
    found, last = [], -1
    for block in row_blocks(len(pooled.value)):
        p = pooled.value[block]
        share = pooled.cum_w[block.start + 1 : block.stop + 1] / pooled.cum_w[-1]
        cell = np.minimum((share * _CELLS).astype(np.intp), _CELLS - 1)
        cell += (p > 0).astype(np.intp) + (p == 1)
        found.append(block.start + np.flatnonzero(np.diff(cell, prepend=last)))
        last = int(cell[-1])
    return np.concatenate(found)


def _columns(odds: FloatArray, weight: FloatArray, n: float) -> FloatArray:
    """Intercept, slope and bends, each of about unit size."""
    scale = max(float(np.abs(odds).max()), 1.0)
    columns = [np.ones(len(odds)), odds / scale]
    if n >= _ROWS_A_BEND:
        share = np.cumsum(weight) / weight.sum()
        knots = np.unique(odds[np.searchsorted(share, _KNOTS)])
        columns += [np.maximum(odds - knot, 0.0) / scale for knot in knots]
    return np.array(columns)


class Reach(NamedTuple):
    """What these rows could have shown, and how many would show what matters.

    Attributes
    ----------
    found : the error that would have been found with 80 % power; None if none would
    needed : rows that find an error of `matters` with that power; None if that is not known
    matters : root-mean-square gap that costs one hundredth of the log loss
    """

    found: SampleSize | None
    needed: SampleSize | None
    matters: float


def reach_of(sample: BinarySample, n_bins: Any, level: float) -> Reach | None:
    r"""What rows like these can show; None where every prediction is certain.

    The log loss is that of calibrated predictions, their mean entropy. Gaps that are a fixed part
    c of the standard deviation sqrt(p (1 - p)) of an outcome cost c^2 / 2 of log loss a row, to
    second order, and have the root mean square c sqrt(mean p (1 - p)).
    """
    rows = round(independent_rows(sample))
    p, spread, entropy = _as_drawn(sample)
    if spread == 0 or rows < 2:
        return None
    matters = math.sqrt(2 * MATTERS * entropy * spread)
    bins = UniformBins(n_bins).fit(sample).n_cells
    plan = Plan(power=POWER, level=level, n_bins=bins)
    design = Design(p, bins)
    wider = plan._replace(design_effect=max(sample.n / rows, 1.0))
    found = needed = None
    try:
        found = detectable_core(rows, design, plan)
    except InvalidInputError:  # too few rows to find any error there can be
        found = None
    try:
        needed = required_core(matters, design, wider)
    except InvalidInputError:  # no gap of this kind is that large
        needed = None
    return Reach(found, needed, matters)


def _as_drawn(sample: BinarySample) -> tuple[FloatArray, float, float]:
    """Predictions as a draw by weight would have them, their mean variance and entropy."""
    if sample.weight is None and sample.n > _ROWS:
        scores = sample.pooled
        sums = [_spread_and_entropy(p, weight) for p, weight, _ in scores.blocks()]
        spread, entropy = (sum(each) / sample.n for each in zip(*sums, strict=True))
        place = ((np.arange(_ROWS) + 0.5) / _ROWS * sample.n).astype(np.intp)
        at = place if scores.alone else np.searchsorted(scores.cum_w[1:], place, side="right")
        return scores.value[at].astype(np.float64), spread, entropy
    given = sample.p if sample.weight is None else _drawn_by_weight(sample)
    p = given.astype(np.float64)
    spread, entropy = _spread_and_entropy(p, None)
    return p, spread / len(p), entropy / len(p)


def _spread_and_entropy(p: FloatArray, weight: FloatArray | None) -> tuple[float, float]:
    """Sums of p (1 - p), and of the entropies."""
    inside = (p > 0) & (p < 1)
    if not inside.all():
        p, weight = p[inside], None if weight is None else weight[inside]
    spread, entropy = p * (1 - p), p * np.log(p) + (1 - p) * np.log1p(-p)
    if weight is None:
        return float(spread.sum()), -float(entropy.sum())
    return float((weight * spread).sum()), -float((weight * entropy).sum())


def _drawn_by_weight(sample: BinarySample) -> FloatArray:
    scores = sample.pooled
    count = min(max(round(sample.size), 1), _ROWS)
    at = np.searchsorted(scores.cum_w[1:] / scores.cum_w[-1], (np.arange(count) + 0.5) / count)
    return scores.value[at]
