"""Rows of a binary problem as limits see them: outcomes, predictions, weights and clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._intervals.bounded import Masses

AnyArray = TypeVar("AnyArray", bound=FloatArray | BoolArray)
_CLIP = 1e-12
_WIDEST = 28.0  # log-odds of the clip, rounded up
_N_CELLS = 1 << 12
_EXACT_UP_TO = 1 << 12
_PAIRS = 2  # of rows that are supposed to go together beside those seen


@dataclass(frozen=True)
class Rows:
    """Outcomes and predictions of rows, or of cells that stand for many of them.

    Attributes
    ----------
    y, p : outcome and prediction of each
    shape, scale : each stands for `shape` rows of weight `scale`
    weight : weight of every row of the sample, None if all are one
    cell : which of the above each row of the sample is in, None if it is one of them itself
    clusters : cluster of every row of the sample, None if rows are independent
    kept : what was found about these rows and is asked for again
    """

    y: FloatArray
    p: FloatArray
    shape: FloatArray
    scale: FloatArray
    weight: FloatArray | None
    cell: IntArray | None
    clusters: IntArray | None
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def total(self) -> FloatArray:
        """Weight of all the rows that each stands for."""
        return self.shape * self.scale

    @cached_property
    def whole(self) -> float:
        """Weight of all rows."""
        return float(self.total.sum())

    def mean(self, value: FloatArray) -> float:
        """Weighted mean."""
        return float(self.total @ value) / self.whole

    def each(self, value: AnyArray) -> AnyArray:
        """The value of every row of the sample."""
        return value if self.cell is None else value[self.cell]  # type: ignore[return-value]

    def masses(self, value: FloatArray, effect: float = 1.0) -> Masses:
        """Values with the weights of a Bayesian bootstrap; `effect`: see `design_effect`."""
        return Masses(value, self.shape, self.scale).thinned(effect).pooled()

    def design_effect(self, value: FloatArray, level: float) -> float:
        """How many rows count as one for the mean of this value; 1 without clusters."""
        if self.clusters is None:
            return 1.0
        away = self.each(value - self.mean(value))
        away = away if self.weight is None else away * self.weight
        own = float(self.shape @ (self.scale * (value - self.mean(value))) ** 2)
        return design_effect(away, own, float(self.shape.sum()), self.clusters, level)


def design_effect(
    away: FloatArray, own: float, n: float, clusters: IntArray, level: float
) -> float:
    r"""How many rows count as one because those of a cluster go together.

    The variance of the mean over clusters, :math:`\sum_c (\sum_{i \in c} w_i (v_i - \bar v))^2`,
    over that of independent rows (never less than 1), times what is added because it is known only
    from the clusters there are: squares of quantiles of Student's t for so many clusters, and for
    the rows that are left. Bounded values with so many fewer rows are those of Korn & Graubard
    (1998), Survey Methodology 24, 193-201. Rows that are their own clusters count in full, copies
    of a row in one cluster as one.

    Few events in few clusters tell little of how they go together: as limits suppose one more row,
    the variance has two more pairs of rows in one cluster, and where few clusters make most of the
    variance there are so many fewer of them, by the fourth power of their sums.

    Parameters
    ----------
    away : weighted deviation of every row from the mean
    own : sum of their squares, as of independent rows
    n : number of rows
    clusters : cluster of every row
    level : confidence level of the limits
    """
    from scipy.special import stdtrit

    # Sorted, so that rounding does not depend on the names of clusters.
    sums, sizes = np.sort(np.bincount(clusters, away)), np.sort(np.bincount(clusters) * 1.0)
    sizes = sizes[sizes > 0]
    if len(sizes) < 2 or n <= 1:
        return np.inf
    square = np.square(away)
    most = float(np.bincount(clusters)[clusters] @ square)  # if rows of a cluster were alike
    seen = float(sums @ sums)
    ratio = min(1.0 + 2 * _PAIRS, float(sizes @ sizes) / float(sizes.sum()))
    if own > 0:
        ratio = max(1.0, min(seen + 2 * _PAIRS * float(square.max()), max(most, seen)) / own)
    number = _as_many_equal(sizes, ratio)
    if seen > 0 and most > own:
        told = 3 * seen**2 / float(np.square(sums) @ np.square(sums))  # as many if they are normal
        alike = min((ratio - 1) / (most / own - 1), 1.0)  # rows of a cluster are one: known exactly
        number *= min(max(told, 2.0) / number, 1.0) ** (1 - alike)
    left = max(n / ratio, number)
    few, many = (stdtrit(k - 1, (1 + level) / 2) ** 2 * k / (k - 1) for k in (number, left))
    return ratio * float(few / many)


def _as_many_equal(sizes: FloatArray, ratio: float) -> float:
    """As many clusters of equal size as tell a variance as well as these, at least two.

    Of clusters with variances m (1 + (m - 1) r), r the correlation that gives this design effect
    (Satterthwaite 1946, Biometrics Bulletin 2, 110-114).
    """
    pairs = sizes * (sizes - 1)
    most = float(pairs.sum() / sizes.sum())
    share = min((ratio - 1) / most, 1.0) if most > 0 else 0.0
    spread = sizes + share * pairs
    return max(float(spread.sum()) ** 2 / float(spread @ spread), 2.0)


def rows_of(sample: BinarySample) -> Rows:
    """Rows of a checked sample.

    Beyond 4,096 of them those with log-odds within 0.014 of each other are taken together, which
    moves limits by far less than their width.
    """
    counted = sample.weight is None or sample.weight_type == "frequency"
    if sample.n <= _EXACT_UP_TO:
        y, p = sample.y.astype(np.float64), sample.p.astype(np.float64)
        ones = np.ones(sample.n)
        weight = ones if sample.weight is None else sample.weight
        shape, scale = (weight, ones) if counted else (ones, weight)
        return Rows(y, p, shape, scale, sample.weight, None, sample.clusters)
    cell: IntArray = np.empty(sample.n, dtype=np.uint16)
    total, inside, square = np.zeros((3, 2 * _N_CELLS))
    for block in row_blocks(sample.n):
        p = sample.p[block].astype(np.float64, copy=False)
        key = _places(p)
        key += sample.y[block].astype(key.dtype, copy=False)
        cell[block] = key
        w = None if sample.weight is None else sample.weight[block]
        total += np.bincount(key, w, 2 * _N_CELLS)
        inside += np.bincount(key, p if w is None else w * p, 2 * _N_CELLS)
        if w is not None and not counted:
            square += np.bincount(key, w**2, 2 * _N_CELLS)
    # Both outcomes of a cell are at its mean: apart, they would seem to be told apart.
    both = total.reshape(-1, 2).sum(axis=1)
    mean = np.divide(
        inside.reshape(-1, 2).sum(axis=1), both, out=np.zeros_like(both), where=both > 0
    )
    held = total > 0
    shape, scale = total[held], np.ones(int(held.sum()))
    if not counted:
        shape, scale = total[held] ** 2 / square[held], square[held] / total[held]
    outcome, p = np.tile([0.0, 1.0], _N_CELLS)[held], np.repeat(mean, 2)[held]
    number = (np.cumsum(held) - 1).astype(np.uint16)
    for block in row_blocks(sample.n):
        cell[block] = number[cell[block]]
    return Rows(outcome, p, shape, scale, sample.weight, cell, sample.clusters)


def _places(p: FloatArray) -> IntArray:
    """Twice the number of the cell of log-odds of each prediction."""
    inside = p.clip(_CLIP, 1 - _CLIP)
    inside /= 1 - inside
    odds = np.log(inside, out=inside)
    odds += _WIDEST
    odds *= _N_CELLS / (2 * _WIDEST)
    place = odds.astype(np.intp)
    place *= 2
    return place
