"""Calibration error in units of cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from veridical._core.data.validation import check_option, float_array
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import IntervalBinning, QuantileBins, SweepBins
from veridical.exceptions import invalid
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration._errors.base import NormedEstimator
from veridical.miscalibration._errors.binned import aggregate_classes, powered_gaps

_KINDS = ("every", "chosen", "chosen-by-action")


@dataclass(frozen=True)
class CostWeightedError(NormedEstimator):
    r"""Distance between the cost a model promises and the cost that comes.

    Parameters
    ----------
    costs : array-like of shape (K, A), or (false_positive, false_negative)
        Cost of each action (columns) if each class (rows, in the order of `labels`) is the true
        one, in any unit; negative costs are gains. Two numbers stand for two classes and the
        actions "say negative" and "say positive": ``[[0, false_positive], [false_negative, 0]]``.
    kind : {"every", "chosen", "chosen-by-action"}, default "every"
        Whose cost: that of every action as if it were always taken, averaged over the actions; that
        of the action a user of the model would take, the one that promises to be the cheapest (the
        first of equals); or the same, judged separately for each action.
    binning : Binning, default QuantileBins(15)
        How promised costs are grouped: bins of [0, 1], on which 1 is the cheapest an action can be
        ("chosen": any action) and 0 the dearest. Not one that looks at outcomes.
    norm : float >= 1 or "max", default 1
        1 averages absolute gaps over the rows, 2 squared ones (and takes the root), "max" is the
        largest gap of a bin.

    Notes
    -----
    For a prediction p action a promises the cost :math:`\sum_k p_k C_{ka}`; the cost that comes is
    :math:`C_{ya}`, on average :math:`\sum_k P(y = k \mid p)\, C_{ka}`. Over bins b of rows whose
    promise is similar,

    .. math:: \frac1A \sum_a \sum_b \frac{W_b}{W}\,
        \Bigl|\overline{C_{ya}} - \overline{\textstyle\sum_k p_k C_{ka}}\Bigr|_b

    for "every"; for "chosen" one sum over b, where a is the action chosen for the row. The number
    is in the unit of the costs: by how much is the bill misjudged, per decision? Lower is better; 0
    for a calibrated model; multiplying all costs by a factor multiplies it by that factor. Like
    ECE it says nothing on how good the decisions are: it asks whether expected costs can be
    trusted.

    001 section 4.1 asks for an error that takes a cost matrix into account and is the ECE for
    homogeneous costs, without a formula; this is one. With 0 on the diagonal and 1 elsewhere
    "every" is the classwise ECE with the same bins (for two classes the ECE, up to predictions on
    edges of bins), "chosen" the confidence ECE, and "chosen-by-action" the ECE of each predicted
    class by itself, weighted by their shares. For two classes "every" is the ECE times the mean of
    the two costs (of actions that cost nothing if right), whatever their ratio; in "chosen" a gap
    counts by the cost of the error a row is at risk of.

    Gaps of opposite sign within a bin cancel: "chosen" mixes rows with different actions that
    promise the same, "chosen-by-action" does not, for A times as many bins. The estimate is biased
    upwards, the more so the fewer rows a bin holds; compare with a null level.

    Equal-mass bins are the default since the promised costs of sensible actions lie close together
    if costs are unequal. Promises that agree to 9 digits of the range of costs (6 in single
    precision) are equal, also when an action is chosen.

    Takes the whole prediction: use ``lens="canonical"`` for three classes or more. An integer
    weight equals repetition. Time O(n (K A + A log n)), memory O(n A).

    References
    ----------
    .. [1] Posocco & Bonnefoy (2021), Estimating expected calibration errors, arXiv 2109.03480,
       section 4.1 (document 001).

    Examples
    --------
    Missing a case costs 10, a false alarm 1; one bin. "Say negative" promises 10 p, 3 on average,
    and costs 5; "say positive" promises 0.7 and costs 0.5: (2 + 0.2) / 2.

    >>> y, p, bins = [0, 1, 0, 1], [0.2, 0.2, 0.4, 0.4], QuantileBins(1)
    >>> round(CostWeightedError((1, 10), binning=bins)(y, p), 12)
    1.1

    All four are called positive, since even 0.2 is a risk of 2:

    >>> round(CostWeightedError((1, 10), kind="chosen", binning=bins)(y, p), 12)
    0.2
    """

    costs: Any
    kind: Literal["every", "chosen", "chosen-by-action"] = "every"
    binning: Any = field(default_factory=QuantileBins)
    norm: Any = 1

    def __post_init__(self) -> None:
        caller = "CostWeightedError"
        check_option(caller, "kind", self.kind, _KINDS)
        object.__setattr__(self, "costs", _check_costs(self.costs, caller))
        by_outcome = isinstance(self.binning, SweepBins) or getattr(self.binning, "n", 0) == "cv"
        if not isinstance(self.binning, IntervalBinning) or by_outcome:
            hint = "e.g. `binning=QuantileBins(10)` or `binning=UniformBins(15)`."
            expected = "bins of an interval that depend on predictions only"
            raise invalid(caller, "binning", expected, repr(self.binning), hint=hint)
        self._check_norm('1 averages absolute gaps, 2 squared ones, "max" is the largest gap.')

    @property
    def name(self) -> str:
        """Short name."""
        known = {1.0: "cost error", 2.0: "cost RMS error", math.inf: "largest cost error"}
        return known.get(self.power, f"cost L{self.power:g} error")

    @property
    def definition(self) -> str:
        """Costs, whose they are, and binning in words."""
        whose = {
            "every": "of every action",
            "chosen": "of the action chosen",
            "chosen-by-action": "of the action chosen, by action",
        }
        if self._by_error:
            positive, negative = self.costs
            given = f"costs {positive:g} (false positive) and {negative:g} (false negative)"
        else:
            given = f"costs of {len(self.costs)} classes x {len(self.costs[0])} actions"
        return f"{given} {whose[self.kind]}, {self.binning.name}"

    def measure(self, problem: Problem) -> float:
        """Bin promised costs and compare with those that came."""
        return self.measure_with_doubts(problem)[0]

    def measure_with_doubts(self, problem: Problem) -> tuple[float, list[str]]:
        """Also say if bins are fewer than asked for, or hold hardly a row each."""
        sample, p, y, costs = self._decisions(problem)
        if self.kind == "every":
            saving = costs.max(axis=0) - costs  # of this action, against its own worst case
            promised = p @ saving
            parts = [
                [self._gaps(sample, promised[:, a], saving[y, a], float(saving[:, a].max()))]
                for a in range(saving.shape[1])
            ]
        else:
            saving = costs.max() - costs
            scale = float(saving.max())
            promised = p @ saving
            action = _digits(promised, scale, p.dtype).argmax(axis=1)
            row = np.arange(len(y))
            promise, came = promised[row, action], saving[y, action]
            groups = [np.arange(len(y))]
            if self.kind == "chosen-by-action":
                groups = [np.flatnonzero(action == a) for a in np.unique(action)]
            parts = [
                [self._gaps(sample.take(rows), promise[rows], came[rows], scale) for rows in groups]
            ]
        powered = np.concatenate([self._powered(part) for part in parts])
        doubts = sorted({doubt for part in parts for bins in part for doubt in bins.doubts})
        return float(aggregate_classes(powered, self.power, "norm")), doubts

    def _decisions(self, problem: Problem) -> tuple[Sample, FloatArray, IntArray, FloatArray]:
        """Rows, their (n, K) predictions and classes, and the matrix that goes with the columns."""
        if isinstance(problem, ClasswiseProblem):
            got, hint = "one problem a class", 'use lens="canonical", the whole prediction.'
            raise invalid("CostWeightedError", "lens", "one for all classes", got, hint=hint)
        n_classes = 2 if self._by_error else len(self.costs)
        if len(problem.classes) != n_classes:
            got = f"{len(problem.classes)} classes, costs of {n_classes}"
            hint = 'three classes or more need one row of costs each, and lens="canonical".'
            raise invalid("CostWeightedError", "costs", "of these classes", got, hint=hint)
        if not self._by_error:
            return problem, problem.matrix, problem.index, np.asarray(self.costs)
        alarm, miss = self.costs
        costs = np.array([[0.0, alarm], [miss, 0.0]])  # rows (negative, positive)
        if isinstance(problem, BinarySample) and problem.positive_first:
            costs = costs[::-1]
        return problem, problem.matrix, problem.index, costs

    @property
    def _by_error(self) -> bool:
        return not isinstance(self.costs[0], tuple)

    def _gaps(self, sample: Sample, promise: FloatArray, came: FloatArray, scale: float) -> _Bins:
        """Bin rows by what they promise to save, and average what they save less than that."""
        score = _digits(promise, scale, sample.p.dtype)
        none = np.zeros(sample.n, dtype=np.uint8)
        weighted: Any = {"weight": sample.weight, "weight_type": sample.weight_type}
        partition = self.binning.fit(BinarySample(y=none, p=score, **weighted))
        cell = partition.assign(score)
        weight = np.ones(sample.n) if sample.weight is None else sample.weight
        mass, lost = np.zeros(partition.n_cells), np.zeros(partition.n_cells)
        np.add.at(mass, cell, weight)
        np.add.at(lost, cell, weight * (promise - came))
        held = mass > 0
        # An action that always costs the same needs no bins.
        doubts = [] if partition.doubt is None or scale == 0 else [partition.doubt]
        counted = sample.weight is not None and sample.weight_type == "frequency"
        a_bin = (float(weight.sum()) if counted else sample.n) / int(held.sum())
        if a_bin < 2:
            doubts.append(f"{a_bin:.1f} rows a bin on average: the figure is mostly noise")
        return _Bins(np.abs(lost[held] / mass[held]), mass[held], doubts)

    def _powered(self, parts: list[_Bins]) -> FloatArray:
        """Error to the power of the norm over the bins of one or more groups of rows."""
        gap = np.concatenate([bins.gap for bins in parts])
        mass = np.concatenate([bins.mass for bins in parts])
        share = (mass / mass.sum())[None, :]
        return powered_gaps(gap[None, :], share, mass[None, :], self.power, None)


class _Bins(NamedTuple):
    gap: FloatArray
    mass: FloatArray
    doubts: list[str]


def _digits(promise: FloatArray, scale: float, dtype: Any) -> FloatArray:
    """Promised savings as shares of the largest one, without digits that are rounding errors."""
    share = promise / scale if scale > 0 else np.zeros_like(promise)
    digits = 6 if dtype == np.float32 else 9
    return np.clip(np.round(share, digits), 0.0, 1.0).astype(dtype)


def _check_costs(costs: Any, caller: str) -> tuple[Any, ...]:
    """Return costs as numbers in (nested) tuples, so that they cannot change."""
    given = float_array(costs, caller=caller, param="costs").astype(np.float64)
    pair = given.shape == (2,)
    matrix = given.ndim == 2 and given.shape[0] >= 2 and given.shape[1] >= 1
    if not ((pair or matrix) and np.isfinite(given).all()):
        hint = "one row for each class, one column for each action."
        expected = "finite numbers, (K, A) or (false_positive, false_negative)"
        raise invalid(caller, "costs", expected, f"{given.tolist()}", hint=hint)
    rows = given.tolist()
    return tuple(rows) if pair else tuple(tuple(row) for row in rows)
