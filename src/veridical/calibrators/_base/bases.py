"""Bases of calibrators of two classes and of any number of classes.

Leaving the model alone.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.validation import ScoredRows, check_sample, check_scored_rows
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.calibrators._base.calibrator import Calibrator, NotFittedError, Rows
from veridical.calibrators._base.direction import doubt_direction, doubt_sample
from veridical.calibrators._base.scales import (
    BinaryScores,
    difference,
    log_probabilities,
    oriented,
    positive_column,
    smallest_share,
)
from veridical.exceptions import InvalidInputError, invalid

__all__ = [
    "BinaryCalibrator",
    "Calibrator",
    "LogisticCalibrator",
    "MulticlassCalibrator",
    "NotFittedError",
    "Rows",
]

_NEARLY_ONE = 15.0  # log odds beyond which 1 - p would lose digits


class BinaryCalibrator(Calibrator):
    """A calibrator of two classes: subclasses map the score of the positive class.

    The positive class is the larger label, wherever its column is.
    """

    @abstractmethod
    def _fit_map(self, scores: BinaryScores, rows: Rows) -> None:
        """Fit the map; `rows.y` is 1 where the positive class occurred."""

    @abstractmethod
    def _map(self, scores: BinaryScores) -> FloatArray:
        """Return calibrated probabilities of the positive class."""

    def _fit_probabilities(self, y_prob: Any, y: Any, sample_weight: Any) -> None:
        sample = check_sample(y, y_prob, **self._border(sample_weight))
        if not isinstance(sample, BinarySample):
            raise self._too_many(len(sample.classes))
        self._fit_sample(sample)
        self._remember(sample.p, sample.y)

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        if n_columns > 2:
            raise self._too_many(n_columns)
        return getattr(self, "cv", None) is None  # folds are made of rows, not of cells

    def _fit_sample(self, sample: Sample) -> None:
        assert isinstance(sample, BinarySample)
        doubt_sample(sample)
        p = sample.p.astype(np.float64, copy=False)
        rest = None if sample.pair is None else sample.pair[:, 0].astype(np.float64, copy=False)
        floors = (smallest_share(p), smallest_share(1 - p if rest is None else rest))
        rows = Rows(sample.y, sample.weight, sample.size, 2)
        self._fit_map(BinaryScores(p, rest, "probability", floors), rows)
        self.floors_ = floors
        self._keep_classes(sample.columns, positive=0 if sample.positive_first else 1)

    def _fit_scores(self, y_prob: Any, y: Any, sample_weight: Any) -> None:
        rows = check_scored_rows(y, y_prob, **self._border(sample_weight))
        if len(rows.classes) > 2:
            raise self._too_many(len(rows.classes))
        values, y01 = oriented(rows)
        _doubt_scores(rows)
        self.floors_ = (0.0, 0.0)
        fitted = Rows(y01, rows.weight, rows.size, 2)
        self._fit_map(BinaryScores(values, None, self.input, self.floors_), fitted)
        self._remember(values, y01)
        self._keep_classes(rows.classes, positive=positive_column(rows.classes))

    def _keep_classes(self, classes: tuple[Any, ...], *, positive: int) -> None:
        self.positive_index_ = positive
        self.classes_ = np.asarray(classes)

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
        from scipy.special import expit

        odds = self._log_odds(scores)
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

    @abstractmethod
    def _fit_map(self, logits: FloatArray, rows: Rows) -> None:
        """Fit the map to (n, K) logits."""

    @abstractmethod
    def _map(self, logits: FloatArray) -> FloatArray:
        """Return calibrated probabilities, (n, K)."""

    def _fit_probabilities(self, y_prob: Any, y: Any, sample_weight: Any) -> None:
        sample = check_sample(y, y_prob, **self._border(sample_weight))
        self._fit_sample(sample)
        self._remember(sample.p, sample.y)

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        return n_columns <= 2

    def _fit_sample(self, sample: Sample) -> None:
        doubt_sample(sample)
        matrix = _double_matrix(sample)
        self.positive_index_ = positive_column(sample.columns)
        self.floor_ = smallest_share(matrix)
        rows = Rows(sample.index, sample.weight, sample.size, matrix.shape[1])
        self._fit_map(log_probabilities(matrix, self.floor_), rows)
        self.classes_ = np.asarray(sample.columns)

    def _fit_scores(self, y_prob: Any, y: Any, sample_weight: Any) -> None:
        rows = check_scored_rows(y, y_prob, **self._border(sample_weight))
        _doubt_scores(rows)
        self.positive_index_ = positive_column(rows.classes)
        self.floor_ = 0.0
        fitted = Rows(rows.y, rows.weight, rows.size, len(rows.classes))
        self._fit_map(self._two_columns(rows.scores), fitted)
        self._remember(*oriented(rows))
        self.classes_ = np.asarray(rows.classes)

    def _predict(self, values: FloatArray) -> FloatArray:
        values = values.astype(np.float64, copy=False)
        if self.input != "probability":
            return self._map(self._two_columns(values))
        if values.ndim == 1:
            values = np.column_stack([1 - values, values])[:, :: 1 if self.positive_index_ else -1]
        return self._map(log_probabilities(values, self.floor_))

    def _two_columns(self, scores: FloatArray) -> FloatArray:
        if scores.ndim == 2:
            return scores
        logits = np.zeros((len(scores), 2))
        logits[:, self.positive_index_] = scores
        return logits


def _doubt_scores(rows: ScoredRows) -> None:
    if rows.scores.ndim == 1:
        values, y = oriented(rows)
        doubt_direction(values, y, rows.weight, rows.weight_type, rows.classes)


def _double_matrix(sample: Sample) -> FloatArray:
    """Probabilities (n, K) in column order; 1 - p is formed in double precision."""
    if isinstance(sample, BinarySample) and sample.pair is None:
        sample = replace(sample, p=sample.p.astype(np.float64, copy=False))
    return sample.matrix.astype(np.float64, copy=False)


class IdentityCalibrator(MulticlassCalibrator):
    """Returns the predictions unchanged: the baseline every calibrator has to beat.

    Parameters
    ----------
    input : {"probability", "logit"}, default "probability"
        What predictions are; logits become probabilities by a softmax.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
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

    def __init__(
        self,
        *,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    def _fit_map(self, logits: FloatArray, rows: Rows) -> None:
        pass

    def _map(self, logits: FloatArray) -> FloatArray:
        from scipy.special import softmax

        return np.asarray(softmax(logits, axis=1))

    def _predict(self, values: FloatArray) -> FloatArray:
        if self.input != "probability":
            return super()._predict(values)
        values = values.astype(np.float64)  # a copy: the user's array stays the user's
        if values.ndim == 2:
            return values
        p = np.column_stack([1 - values, values])
        return p if self.positive_index_ else p[:, ::-1]
