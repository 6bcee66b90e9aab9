"""How many trees rows are worth: all folds are boosted side by side while held-out rows gain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from veridical._core.numeric.order import class_order
from veridical._core.sample import effective_size
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.folds import held_out_masses, row_masses, rows_of_mass
from veridical.calibrators._base.rows import CheckedRows, WeightedOutcomes
from veridical.calibrators._softmax.softmax import softmax_and_losses
from veridical.calibrators._trees.oblivious import Boosting, Tree
from veridical.calibrators._trees.splits import ALONE, Scale, candidate_features, codes_of, cuts_of
from veridical.calibrators._wrappers.wrapping import fit_part_if_possible, fresh_part, predict_part

_PATIENCE = 20  # rounds without a gain after which no more are tried
_ENOUGH = 2_500.0  # held-out rows tell the number of rounds well enough
LEAST = 1e-300


@dataclass(frozen=True)
class HeldOut:
    """Number of trees of the largest gain on held-out rows, that gain and its standard error."""

    n_trees: int = 0
    gain: float = 0.0
    error: float = 0.0

    @property
    def shrinkage(self) -> float:
        """1 - 1/t^2 of a gain of t standard errors, and 0 from one on: noise is not shipped.

        The share of a squared effect that is not noise, as in estimates of James and Stein.
        """
        return 1 - (self.error / self.gain) ** 2 if self.gain > self.error else 0.0


@dataclass(frozen=True)
class Questions:
    """Rows as trees see them.

    Attributes
    ----------
    rows : checked rows
    first, second : classes of each feature
    cuts : of each feature
    codes : (features, n) part of each feature a row is in
    depth, rate : of the trees
    """

    rows: CheckedRows
    first: IntArray
    second: IntArray
    cuts: list[FloatArray]
    codes: IntArray
    depth: int
    rate: float

    @classmethod
    def of(
        cls, rows: CheckedRows, values: FloatArray, scale: Scale, *, depth: int, rate: float
    ) -> Self:
        """Features of (n, K) predictions, which the labels do not decide but for their order.

        Codes of other features come after them: the first class of one is K and its number.
        """
        order = class_order(values, rows.y, row_masses(rows), len(rows.classes))
        first, second = candidate_features(order, scale.input)
        features = scale.features(values, first, second)
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        cuts = [cuts_of(each, weight) for each in features]
        codes = codes_of(features, cuts)
        if rows.codes is not None:
            others = rows.codes.T
            first = np.append(first, len(rows.classes) + np.arange(len(others)))
            second = np.append(second, np.full(len(others), ALONE))
            cuts += [np.arange(int(each.max())) + 0.5 for each in others]
            codes = np.concatenate([codes, others])
        return cls(rows, first, second, cuts, codes, depth, rate)

    def trees(self, base: Calibrator) -> Iterator[Tree]:
        """Trees for all rows on top of a fitted map, one after the other."""
        every = np.ones(len(self.rows.y), dtype=bool)
        boosting = self._boosting(self.rows, every, base)
        while (tree := boosting.grow()) is not None:
            yield tree

    def held_out(self, base: Calibrator, max_rounds: int, n_folds: int) -> HeldOut:
        """Number of trees by cross-validation, g being fitted anew in every fold."""
        folds = [] if max_rounds == 0 else list(self._folds(base, n_folds))
        best = HeldOut()
        if not folds:
            return best
        weight = np.concatenate([fold.weight for fold in folds])
        size = effective_size(weight, len(weight), self.rows.weight_type)
        groups = None
        if self.rows.groups is not None:
            groups = np.concatenate([fold.groups for fold in folds])
        for count in range(1, max_rounds + 1):
            gains = np.concatenate([fold.grow() for fold in folds])
            gain = float(np.average(gains, weights=weight))
            if gain > best.gain:
                error = _error_of(gains - gain, weight, size, groups)
                best = HeldOut(count, gain, error)
            if count - best.n_trees >= _PATIENCE:
                break
        return best

    def _folds(self, base: Calibrator, n_folds: int) -> Iterator[_Fold]:
        """Folds until enough rows were held out; without those whose rest allows no map."""
        rows, masses = self.rows, row_masses(self.rows)
        seen = 0.0
        for held in held_out_masses(rows, n_folds):
            part = fresh_part(base)
            kept, rest = masses - held, rows_of_mass(rows, held)
            if fit_part_if_possible(part, rows_of_mass(rows, kept)) is None:
                continue
            boosting = self._boosting(rows_of_mass(rows, kept), kept > 0, part)
            yield _Fold(boosting, self.codes[:, held > 0], rest, part)
            seen += rest.size
            if seen >= _ENOUGH:
                break

    def _boosting(self, rows: CheckedRows, places: BoolArray, base: Calibrator) -> Boosting:
        codes = self.codes if places.all() else self.codes[:, places]
        outcomes = WeightedOutcomes(rows.y, rows.weight, rows.size, len(rows.classes))
        scores, weight = _scores(base, rows), outcomes.weights
        return Boosting(codes, scores, rows.y, weight, depth=self.depth, rate=self.rate)


def _error_of(
    deviations: FloatArray, weight: FloatArray, size: float, groups: IntArray | None
) -> float:
    """Standard error of a mean of rows, or of groups of rows."""
    if groups is not None:
        total = np.bincount(groups, deviations * weight)
        return math.sqrt(float(total @ total)) / float(weight.sum())
    return math.sqrt(float(np.average(deviations**2, weights=weight)) / size)


class _Fold:
    """Rows held out and the trees of the others."""

    def __init__(
        self, boosting: Boosting, codes: IntArray, rows: CheckedRows, base: Calibrator
    ) -> None:
        self._boosting, self._codes, self._y = boosting, codes, rows.y
        self._scores = _scores(base, rows)
        self._before = softmax_and_losses(self._scores.copy(), rows.y)
        self._gains = np.zeros(len(rows.y))
        self.weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        self.groups = np.arange(len(rows.y)) if rows.groups is None else rows.groups

    def grow(self) -> FloatArray:
        """Add a tree; returns what all of them took from the log loss of each row."""
        tree = self._boosting.grow()
        if tree is not None:
            self._scores += tree.leaves[tree.leaf_of(self._codes)]
            self._gains = self._before - softmax_and_losses(self._scores.copy(), self._y)
        return self._gains


def _scores(base: Calibrator, rows: CheckedRows) -> FloatArray:
    return log_of(predict_part(base, rows.values))


def log_of(p: FloatArray) -> FloatArray:
    """Logarithms of probabilities of a map, which may say zero if it was asked to."""
    return np.log(np.maximum(p, LEAST))
