"""Intervals of a mean: of a bounded variable, by the central limit theorem, or by resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import check_draws
from veridical._core.data.validation import check_level, check_option
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._intervals.bounded import (
    Masses,
    Support,
    masses_of_rows,
    mean_limits,
    mean_pvalue,
)
from veridical.inference._intervals.rows import design_effect

METHODS = ("analytic", "percentile", "basic", "bca")
_BLOCK_DRAWS = 1 << 22
_DRAWN_ONE_BY_ONE = 1 << 14  # units; of more, those that are alike are drawn together
_ENDS, _CELLS = 256, 512
# Mean scores of the same softmax, computed in five orders of operations for 2 to 1,000 classes (120
# seeds), differed by at most 6 units of rounding. 1 - (1 - p) moved mean log scores by up to 1,300,
# which this does not cover. Twice as many would still tell 1e-14 from zero.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class IntervalOptions:
    """How an interval of a mean is made.

    Attributes
    ----------
    method : "analytic", which draws nothing, or a kind of bootstrap
    level : confidence level
    n_resamples, rng : of a bootstrap
    """

    method: str
    level: float
    n_resamples: int | None = None
    rng: np.random.Generator | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What a result keeps of them."""
        return {
            "method": self.method,
            "confidence_level": self.level,
            "n_resamples": None if self.method == "analytic" else self.n_resamples,
        }


def check_interval_options(
    method: str,
    confidence_level: float,
    n_resamples: int,
    rng: object,
    *,
    caller: str,
    methods: Sequence[str] = METHODS,
) -> IntervalOptions:
    """Check the options of an interval on behalf of `caller`; "auto" is analytic."""
    check_option(caller, "method", method, methods)
    level = check_level(caller, confidence_level)
    draws = check_draws(n_resamples, rng, caller=caller)
    return IntervalOptions("analytic" if method == "auto" else method, level, *draws)


class MeanInterval(NamedTuple):
    """A mean, its limits, and the p-value of its being zero."""

    estimate: float
    low: float
    high: float
    pvalue: float

    @property
    def limits(self) -> dict[str, Any]:
        """Estimate and limits as an interval keeps them."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}

    def drop_rounding(self, first: float, second: float, *, least: float = 1.0) -> MeanInterval:
        """Return the interval of a difference of two figures: zero if within their rounding.

        Predictions are rounded relative to one, so figures of at most one are not known any
        better; `least` is another bound below which figures count as that large.
        """
        if abs(self.estimate) > _ROUNDING * max(least, abs(first), abs(second)):
            return self
        return MeanInterval(0.0, min(self.low, 0.0), max(self.high, 0.0), 1.0)


@dataclass(frozen=True)
class Units:
    """What varies independently: rows, or clusters of rows.

    Attributes
    ----------
    total, weight : arrays of shape (n_units,)
        Sums of weight times score, and of weights; their ratio is the mean score.
    copies : array of shape (n_units,) or None
        How often each unit was seen (frequency weights); None means once.
    strata : array of shape (n_units,)
        Stratum of each unit, numbered from 0.
    rows : Masses or None
        Where units are clusters, the rows they are made of.
    clusters : array of shape (n_rows,) or None
        And the unit of each.
    plain : bool
        Whether units are rows of weight one in one stratum, which many passes can be spared.
    """

    total: FloatArray
    weight: FloatArray
    copies: FloatArray | None
    strata: IntArray
    rows: Masses | None = None
    clusters: IntArray | None = None
    plain: bool = False

    @property
    def estimate(self) -> float:
        """Mean score."""
        if self.plain:
            return float(self.total.mean())
        copies = np.ones(len(self.total)) if self.copies is None else self.copies
        return float(copies @ self.total / (copies @ self.weight))

    @property
    def count(self) -> float:
        """Number of independent units."""
        return float(len(self.total) if self.copies is None else self.copies.sum())

    def ordered(self) -> Units:
        """The same by strata, in an order that only their values decide."""
        if self.plain:
            return replace(self, total=np.sort(self.total))
        keys = (self.weight, self.total, self.strata)
        order = np.lexsort(keys if self.copies is None else (self.copies, *keys[1:]))
        kept = None if self.copies is None else self.copies[order]
        strata = self.strata[order]
        return replace(
            self, total=self.total[order], weight=self.weight[order], copies=kept, strata=strata
        )

    def masses(self, level: float) -> Masses:
        """Values with the weights of a Bayesian bootstrap, for limits of this level.

        Rows of clusters count as fewer, see `design_effect`. In strata a value is moved by what
        the mean of its stratum is off, which adds nothing to the variance of a mean whose strata
        have fixed sizes.
        """
        if self.plain:
            return masses_of_rows(self.total)
        if self.rows is not None and self.clusters is not None:
            rows = self.rows
            away = rows.value - rows.mean
            by_weight = rows.shape * rows.scale * away
            own = float(rows.shape @ (rows.scale * away) ** 2)
            size = float(rows.shape.sum())
            effect = design_effect(by_weight, own, size, self.clusters, level)
            return rows.thinned(effect)
        copies = np.ones(len(self.total)) if self.copies is None else self.copies
        value = self.total / self.weight
        if self.strata.any():
            middle = self.estimate
            influence = _centred(self.total - middle * self.weight, copies, self.strata)
            value = middle + influence / self.weight
        return Masses(value, copies, self.weight)


def make_units(
    scores: FloatArray,
    weight: FloatArray | None = None,
    *,
    by_frequency: bool = False,
    groups: IntArray | None = None,
    strata: IntArray | None = None,
) -> Units:
    """Gather rows into the units that are independent."""
    n = len(scores)
    if weight is None and groups is None and strata is None:
        none: IntArray = np.zeros(1, dtype=np.intp)
        same, layer = np.broadcast_to(np.ones(1), n), np.broadcast_to(none, n)  # no memory
        return Units(scores, same, None, layer, plain=True)
    weights: FloatArray = np.ones(n) if weight is None else weight
    total: FloatArray = scores * weights
    copies = rows = None
    if groups is not None:
        ones = np.ones(n)
        rows = Masses(scores, *((weights, ones) if by_frequency else (ones, weights)))
        total = np.bincount(groups, total).astype(np.float64)
        weights = np.bincount(groups, weights).astype(np.float64)
    elif weight is not None and by_frequency:
        total, weights, copies = scores, np.ones(n), weight
    layers = np.zeros(len(total), dtype=np.intp) if strata is None else strata
    return Units(total, weights, copies, layers, rows, groups)


def mean_interval(
    units: Units,
    options: IntervalOptions,
    *,
    estimate: float | None = None,
    support: Support | None = None,
) -> MeanInterval:
    """Interval and p-value of the mean of independent units.

    `estimate` stands for a mean that is known more exactly than that of the units, such as a
    figure whose value by row is a linearisation. With the `support` of a row an analytic interval
    is that of a bounded variable, which holds for any number of rows; else it is normal.
    """
    centre = units.estimate if estimate is None else estimate
    if options.method == "analytic" and support is not None:
        masses = units.masses(options.level).pooled()
        low, high = mean_limits(masses, support, options.level)
        pvalue = mean_pvalue(masses, support)
        return MeanInterval(centre, min(low, centre), max(high, centre), pvalue)
    found = normal_interval(centre, standard_error(units), options.level)
    if options.method == "analytic":
        return found
    low, high = bootstrap_limits(units, options)
    return found._replace(low=low, high=high)


def normal_interval(estimate: float, spread: float, level: float) -> MeanInterval:
    """Interval and p-value of an estimate with this standard error."""
    from scipy.special import ndtr, ndtri

    half = float(ndtri((1 + level) / 2)) * spread
    surely = math.inf if estimate != 0 else 0.0
    deviation = abs(estimate) / spread if spread > 0 else surely
    return MeanInterval(estimate, estimate - half, estimate + half, float(2 * ndtr(-deviation)))


def standard_error(units: Units) -> float:
    """Root of the linearised variance of the mean."""
    if units.plain:
        away = units.total - units.estimate
        return math.sqrt(float(np.einsum("i,i->", away, away))) / len(away)
    copies = np.ones(len(units.total)) if units.copies is None else units.copies
    influence = _centred(units.total - units.estimate * units.weight, copies, units.strata)
    return math.sqrt(float(copies @ influence**2)) / float(copies @ units.weight)


def bootstrap_limits(units: Units, options: IntervalOptions) -> tuple[float, float]:
    """Limits by the percentile, basic or bias-corrected and accelerated bootstrap."""
    assert options.n_resamples is not None
    assert options.rng is not None
    units = units.ordered()
    means = np.sort(_resampled_means(units, options.n_resamples, options.rng))
    estimate, level = units.estimate, options.level
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if options.method == "bca":
        tails = _bca_tails(units, means, estimate, tails)
    low, high = (float(limit) for limit in np.quantile(means, tails))
    if options.method == "basic":
        return 2 * estimate - high, 2 * estimate - low
    return low, high


def _resampled_means(units: Units, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    starts = np.flatnonzero(np.diff(units.strata, prepend=-1))
    parts = [slice(a, b) for a, b in zip(starts, [*starts[1:], len(units.total)], strict=True)]
    cells = {
        part.start: _UnitCells(units.total[part], units.weight[part])
        for part in parts
        if units.copies is None and part.stop - part.start > _DRAWN_ONE_BY_ONE
    }
    widest = max(_DRAWN_ONE_BY_ONE if p.start in cells else p.stop - p.start for p in parts)
    step = max(1, _BLOCK_DRAWS // widest)
    n_blocks = -(-n_resamples // step)
    totals, weights = np.zeros(n_resamples), np.zeros(n_resamples)
    for block in track(n_blocks, "bootstrap"):
        rows = slice(block * step, min((block + 1) * step, n_resamples))
        size = rows.stop - rows.start
        for part in parts:
            total, weight = units.total[part], units.weight[part]
            if units.copies is None and len(total) > _DRAWN_ONE_BY_ONE:
                sums = cells[part.start].draw(size, rng)
                totals[rows] += sums[0]
                weights[rows] += sums[1]
            elif units.copies is None:
                drawn = rng.integers(0, len(total), (size, len(total)), dtype=np.int32)
                totals[rows] += total[drawn].sum(axis=1)
                equal = weight.min() == weight.max()
                weights[rows] += weight.sum() if equal else weight[drawn].sum(axis=1)
            else:
                copies = units.copies[part]
                number = max(1, round(float(copies.sum())))
                counts = rng.multinomial(number, copies / copies.sum(), size)
                totals[rows] += counts @ total
                weights[rows] += counts @ weight
    return totals / weights


class _UnitCells:
    """Very many units of one stratum, of which so many are drawn with replacement at once.

    By what they add to the mean, the 256 units at either end are themselves and the others are in
    512 cells of as many units. Numbers drawn of each are multinomial; what a cell adds beside its
    mean is normal, with the covariance of its units, so means and variances are those of units
    drawn one by one, and the time does not depend on their number.
    """

    def __init__(self, total: FloatArray, weight: FloatArray) -> None:
        mean = float(total.sum() / weight.sum())
        pair = np.stack([total, weight])  # by total: in order already, if all weigh the same
        if weight.min() != weight.max():
            pair = pair[:, np.argsort(total - mean * weight, kind="stable")]
        n = len(total)
        inner = np.linspace(_ENDS, n - _ENDS, _CELLS + 1).astype(np.intp)[:-1]
        starts = np.concatenate([np.arange(_ENDS), inner, np.arange(n - _ENDS, n)])
        self._number = np.diff(starts, append=n)
        self._mean = np.add.reduceat(pair, starts, axis=1) / self._number
        away = pair - np.repeat(self._mean, self._number, axis=1)
        self._root = _root(np.einsum("in,jn->ij", away, away))

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Sums of totals and of weights, (2, size)."""
        n = int(self._number.sum())
        counts = rng.multinomial(n, self._number / n, size)
        noise = self._root @ rng.standard_normal((2, size))
        return np.asarray(np.einsum("rc,ic->ir", counts, self._mean) + noise)


def _root(covariance: FloatArray) -> FloatArray:
    """Factor of a covariance matrix of two, which may be singular."""
    value, vector = np.linalg.eigh(covariance)
    return np.asarray(vector * np.sqrt(np.maximum(value, 0.0)))


def _bca_tails(units: Units, means: FloatArray, estimate: float, tails: FloatArray) -> FloatArray:
    """Shares of the resamples between which the interval lies (Efron 1987)."""
    from scipy.special import ndtr, ndtri

    below = np.searchsorted(means, estimate, "left") + np.searchsorted(means, estimate, "right")
    least = 0.5 / len(means)
    bias = float(ndtri(np.clip(below / (2 * len(means)), least, 1 - least)))
    copies = np.ones(len(units.total)) if units.copies is None else units.copies
    total, weight = float(copies @ units.total), float(copies @ units.weight)
    without = (total - units.total) / (weight - units.weight)  # the jackknife in closed form
    apart = -_centred(without, copies, units.strata)
    square = float(copies @ apart**2)
    acceleration = float(copies @ apart**3) / (6 * square**1.5) if square > 0 else 0.0
    moved = bias + ndtri(tails)
    return np.asarray(ndtr(bias + moved / (1 - acceleration * moved)))


def _centred(values: FloatArray, copies: FloatArray, strata: IntArray) -> FloatArray:
    """Deviations from the mean of each stratum."""
    means = np.bincount(strata, copies * values) / np.bincount(strata, copies)
    return values - means[strata]
