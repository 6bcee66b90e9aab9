"""Bases of calibrators of two classes and of any number of classes, and the identity."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from veridical._core.data.schema import Fields, Number, Relations, Together
from veridical._core.formula import Nodes
from veridical._core.typing import ArrayLike, FloatArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.nodes import softmax_of
from veridical.calibrators._base.rows import (
    CheckedRows,
    WeightedOutcomes,
    positive_last,
    two_columns,
)
from veridical.calibrators._base.scales import (
    SMALLEST,
    BinaryScores,
    Shared,
    difference,
    log_probabilities,
    smallest_share,
)
from veridical.exceptions import InvalidInputError, invalid

__all__ = [
    "BinaryCalibrator",
    "Calibrator",
    "LogisticCalibrator",
    "MulticlassCalibrator",
    "Notes",
    "Shared",
    "WeightedOutcomes",
    "tails_of",
]

_NEARLY_ONE = 15.0  # log odds beyond which 1 - p would lose digits


class BinaryCalibrator(Calibrator):
    """A calibrator of two classes: subclasses map the score of the positive class.

    The positive class is `pos_label`, by default the larger label, wherever its column is.
    """

    _fitted = Fields(floors_=Together((Number(low=0, high=1), Number(low=0, high=1))))

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "classes_", len(self.classes_) == 2, "two classes"
        floored = self.input != "probability" or min(self.floors_) >= SMALLEST
        yield "floors_", floored, f"at least {SMALLEST:g}, so that log odds are finite"

    @abstractmethod
    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> Notes | None:
        """Fit the map and say what is in doubt; `rows.y` is 1 where the positive class occurred."""

    @abstractmethod
    def _map(self, scores: BinaryScores) -> FloatArray:
        """Return calibrated probabilities of the positive class."""

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        if n_columns > 2:
            raise self._too_many(n_columns)
        return getattr(self, "cv", None) is None  # folds are made of rows, not of cells

    def _fit_checked(self, rows: CheckedRows) -> Notes | None:
        if len(rows.classes) > 2:
            raise self._too_many(len(rows.classes))
        value, rest = rows.oriented(self.input).astype(np.float64, copy=False), None
        floors = (0.0, 0.0)
        if self.input == "probability":
            if rows.values.ndim == 2:
                rest = rows.values[:, 0].astype(np.float64, copy=False)
            floors = (smallest_share(value), smallest_share(1 - value if rest is None else rest))
        outcomes = WeightedOutcomes(rows.y, rows.weight, rows.size, 2)
        notes = self._fit_map(BinaryScores(value, rest, self.input, floors), outcomes)
        self.floors_ = floors
        return notes

    def _predict(self, values: FloatArray) -> FloatArray:
        positive = self.positive_index_
        p, other = self._tails(self._scores(values))
        result = np.empty((len(p), 2))
        result[:, positive], result[:, 1 - positive] = p, other
        return result

    def _scores(self, values: FloatArray) -> BinaryScores:
        """Scores of the positive class from checked predictions."""
        positive, rest = self.positive_index_, None
        if self.input != "probability":
            values = difference(values, positive)
        elif values.ndim == 2:
            values, rest = values[:, positive], values[:, 1 - positive].astype(np.float64)
        value = values.astype(np.float64, copy=False)
        return BinaryScores(value, rest, self.input, self.floors_)

    def _checked_scores(self, y_prob: ArrayLike) -> BinaryScores:
        """Scores of raw predictions, for methods beside `predict_proba`."""
        return self._scores(self._checked_values(y_prob, caller=type(self).__name__))

    def _tails(self, scores: BinaryScores) -> tuple[FloatArray, FloatArray]:
        """Return calibrated probabilities of the positive and of the negative class."""
        p = self._map(scores)
        return p, 1 - p

    def _too_many(self, n_classes: int) -> InvalidInputError:
        name = type(self).__name__
        hint = f"wrap it: `OneVsRestCalibrator({name}())`, or use a multiclass map."
        return invalid(name, "y_prob", "of two classes", f"{n_classes} classes", hint=hint)


class LogisticCalibrator(BinaryCalibrator):
    """A binary calibrator whose map is one of log odds, which has both tails."""

    @abstractmethod
    def _log_odds(self, scores: BinaryScores) -> FloatArray:
        """Return calibrated log odds of the positive class, in an array of their own."""

    def _map(self, scores: BinaryScores) -> FloatArray:
        from scipy.special import expit

        odds = self._log_odds(scores)
        return np.asarray(expit(odds, out=odds))

    def _tails(self, scores: BinaryScores) -> tuple[FloatArray, FloatArray]:
        return tails_of(self._log_odds(scores))


def tails_of(odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both probabilities from log odds of the positive class, whose array is used up."""
    from scipy.special import expit

    sure = np.flatnonzero(odds > _NEARLY_ONE)
    small = expit(-odds[sure])
    p = expit(odds, out=odds)
    rest = 1 - p
    rest[sure] = small
    return p, rest


class MulticlassCalibrator(Calibrator):
    """A calibrator of any number of classes: subclasses map rows of logits.

    Probabilities become their logarithms, which are logits up to a constant a row; one column z
    of binary logits becomes (0, z).
    """

    _fitted = Fields(floor_=Number(low=0, high=1))

    @abstractmethod
    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> Notes | None:
        """Fit the map to (n, K) logits and say what is in doubt."""

    @abstractmethod
    def _map(self, logits: FloatArray) -> FloatArray:
        """Return calibrated probabilities, (n, K)."""

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        return n_columns <= 2

    def _fit_checked(self, rows: CheckedRows) -> Notes | None:
        return self._fit_map(*self._logits_to_fit(rows))

    def _logits_to_fit(self, rows: CheckedRows) -> tuple[FloatArray, WeightedOutcomes]:
        """Logits, (n, K), and outcomes of rows; what zeros are taken for is decided by them."""
        matrix = two_columns(rows.values.astype(np.float64, copy=False), self.input)
        matrix = positive_last(matrix, rows.positive)  # into the order of the columns
        self.floor_ = 0.0
        if self.input == "probability":
            self.floor_ = smallest_share(matrix)
            matrix = log_probabilities(matrix, self.floor_)
        return matrix, WeightedOutcomes(rows.index, rows.weight, rows.size, len(rows.classes))

    def _predict(self, values: FloatArray) -> FloatArray:
        matrix = self._columns(values.astype(np.float64, copy=False))
        if self.input == "probability":
            matrix = log_probabilities(matrix, self.floor_)
        return self._map(matrix)

    def _predict_sharing(self, values: FloatArray, shared: Shared) -> FloatArray:
        return self._map(self._shared_logits(values, shared).copy())  # maps may use theirs up

    def _shared_logits(self, values: FloatArray, shared: Shared) -> FloatArray:
        key = ("logits", self.input, self.floor_)
        if key not in shared:
            matrix = self._columns(values.astype(np.float64, copy=False))
            if self.input == "probability":
                matrix = log_probabilities(matrix, self.floor_)
            shared[key] = matrix
        return shared[key]

    def _columns(self, values: FloatArray) -> FloatArray:
        """Predictions with a column for each class, in the order of `classes_`."""
        if values.ndim == 2:
            return values
        return positive_last(two_columns(values, self.input), self.positive_index_)


class IdentityCalibrator(MulticlassCalibrator):
    """Returns the predictions unchanged: the baseline every calibrator has to beat.

    Parameters
    ----------
    input : {"probability", "logit"}, default "probability"
        What predictions are; logits become probabilities by a softmax.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        Accepted like everywhere; nothing here depends on it.

    Attributes
    ----------
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> IdentityCalibrator().fit([0.2, 0.7], [0, 1]).predict_proba([0.25]).tolist()
    [[0.75, 0.25]]
    """

    _inputs = ("probability", "logit")

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> None:
        pass

    def _map(self, logits: FloatArray) -> FloatArray:
        from scipy.special import softmax

        return np.asarray(softmax(logits, axis=1))

    def _predict(self, values: FloatArray) -> FloatArray:
        if self.input != "probability":
            return super()._predict(values)
        return self._columns(values.astype(np.float64))  # a copy: the user's array stays the user's

    def _predict_sharing(self, values: FloatArray, shared: Shared) -> FloatArray:
        return self._predict(values)

    def _formula(self, inputs: Nodes) -> Nodes:
        return inputs if self.input == "probability" else softmax_of(inputs)

    def _in_words(self) -> str:
        if self.input == "probability":
            return "Leaves predictions as they are."
        return "Turns logits into probabilities by a softmax, and leaves them as they are."
