"""What a calibrator is: a scikit-learn estimator from scores to probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from veridical._core.score_border import check_scores
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray, WeightType
from veridical._core.validation import (
    check_column_order,
    check_option,
    check_probabilities,
    float_array,
)
from veridical.calibrators._fingerprint import Fingerprint, take_fingerprint
from veridical.calibrators._memory import overlap_of
from veridical.calibrators._persistence import decode, encode, register
from veridical.exceptions import InvalidInputError, invalid


class NotFittedError(InvalidInputError, SklearnNotFittedError):  # type: ignore[misc]
    """A calibrator was used before `fit`."""


@dataclass(frozen=True)
class Rows:
    """Outcomes and weights a map is fitted to.

    Attributes
    ----------
    y : index of each row's class; for binary maps 1 where the positive class occurred
    weight : float64 array or None
    size : sample size for whatever depends on n (ridge/n, smoothing)
    n_classes : number of classes, including absent ones
    """

    y: IntArray
    weight: FloatArray | None
    size: float
    n_classes: int

    @property
    def weights(self) -> FloatArray:
        """Weights that sum to `size`: ones without weights."""
        if self.weight is None:
            return np.ones(len(self.y))
        return self.weight * (self.size / float(self.weight.sum()))


class Calibrator(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of every calibrator; subclasses fit a map and apply it.

    Constructors only store their parameters; `fit` checks them. Fitted attributes end in an
    underscore and are all that persistence needs.

    A fitted calibrator keeps a fingerprint of its rows, so that an evaluation on the same rows can
    be noticed (`seen`). `forget` drops it; with `keeps_fingerprint = False`, set before `fit`, none
    is taken.
    """

    keeps_fingerprint: bool = True

    _inputs: ClassVar[tuple[str, ...]] = ("probability", "logit", "score")

    input: str
    labels: Any
    weight_type: WeightType
    fingerprint_: Fingerprint

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls)

    def fit(self, y_prob: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map to predictions and the outcomes that followed.

        Parameters
        ----------
        y_prob : array-like of shape (n,), (n, 1) or (n, K)
            Predictions on rows the model was not trained on: probabilities, logits or scores as
            `input` says.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.

        Returns
        -------
        self
        """
        self._start_fit()
        if self.input == "probability":
            self._fit_probabilities(y_prob, y, sample_weight)
        else:
            self._fit_scores(y_prob, y, sample_weight)
        names = _column_names(y_prob)
        if names is not None:
            self.feature_names_in_ = np.asarray(names)
        return self

    def predict_proba(self, y_prob: ArrayLike) -> FloatArray:
        """Return calibrated probabilities, (n, K) in the order of `classes_`."""
        return self._predict(self._checked_values(y_prob, caller=type(self).__name__))

    def predict(self, y_prob: ArrayLike) -> Array:
        """Return the most probable label of each row; ties go to the first class."""
        return np.asarray(self.classes_)[self.predict_proba(y_prob).argmax(axis=1)]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary; :meth:`from_dict` reads it back unchanged."""
        return encode(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read back what `to_dict` wrote; on a subclass, that class only."""
        found = decode(data)
        if not isinstance(found, cls):
            hint = "use `Calibrator.from_dict` or the class it was written by."
            got = type(found).__name__
            raise invalid("from_dict", "data", f"a {cls.__name__}", got, hint=hint)
        return found

    def seen(self, y_prob: ArrayLike, y: ArrayLike) -> float:
        """Estimate which share of these rows the calibrator was fitted on.

        Parameters
        ----------
        y_prob : array-like
            Predictions as `fit` takes them, before calibration. Copies in single precision are
            known again; rounded ones are not.
        y : array-like of shape (n,)
            Labels.

        Returns
        -------
        float
            Between 0 and 1, corrected for rows that coincide by chance: predictions of few
            different values say little, and if every row has a double the answer is NaN. For more
            than 1,024 fitted rows it rests on about 1,024 n / (number of fitted rows) of the n
            rows shown, and is NaN if that is none.
        """
        return overlap_of(self, y_prob, y, caller="seen").share

    def forget(self) -> None:
        """Drop the fingerprint of the fitted rows; predictions stay as they are."""
        self.__dict__.pop("fingerprint_", None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _start_fit(self) -> None:
        check_option(type(self).__name__, "input", self.input, self._inputs)
        self._check_parameters()
        self.forget()
        self.__dict__.pop("feature_names_in_", None)

    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    def _border(self, sample_weight: Any) -> dict[str, Any]:
        """What the border needs to know beside scores and labels."""
        return {
            "caller": type(self).__name__,
            "labels": self.labels,
            "sample_weight": sample_weight,
            "weight_type": self.weight_type,
        }

    def _checked_values(self, y_prob: ArrayLike, *, caller: str) -> FloatArray:
        """Predictions of as many classes as were fitted, of shape (n,) or (n, K)."""
        if not self.__sklearn_is_fitted__():
            hint = f"call `{type(self).__name__}.fit(y_prob, y)` first."
            error = invalid(caller, "self", "fitted", "a calibrator that is not", hint=hint)
            raise NotFittedError(str(error))
        if self.input == "probability":
            values = float_array(y_prob, caller=caller, param="y_prob")
            values = check_probabilities(values, caller=caller)
        else:
            values = check_scores(y_prob, caller=caller)
        columns = 2 if values.ndim == 1 else values.shape[1]
        if columns != len(self.classes_):
            hint = f"it was fitted on {len(self.classes_)} classes: {self.classes_.tolist()[:6]}."
            got, expected = f"{columns}", f"of {len(self.classes_)} classes"
            raise invalid(caller, "y_prob", expected, got, hint=hint)
        check_column_order(y_prob, self.classes_.tolist(), caller=caller)
        names, fitted = _column_names(y_prob), getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and names != fitted.tolist():
            hint = f"pass the columns it was fitted on, in that order: {fitted.tolist()[:6]}."
            raise invalid(caller, "y_prob", "of the same columns", f"{names[:6]}", hint=hint)
        return values

    def _remember(self, values: FloatArray, y: IntArray) -> None:
        if self.keeps_fingerprint:
            self.fingerprint_ = take_fingerprint(values, y)

    @abstractmethod
    def _fit_probabilities(self, y_prob: Any, y: Any, sample_weight: Any) -> None: ...

    @abstractmethod
    def _fit_scores(self, y_prob: Any, y: Any, sample_weight: Any) -> None: ...

    @abstractmethod
    def _predict(self, values: FloatArray) -> FloatArray: ...


def _column_names(y_prob: Any) -> list[str] | None:
    """Names of the columns of a frame, if they are text; None otherwise."""
    columns = getattr(y_prob, "columns", None)
    if columns is None or isinstance(y_prob, np.ndarray):
        return None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None
