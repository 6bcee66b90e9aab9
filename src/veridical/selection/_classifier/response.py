"""What a fitted classifier says of rows: probabilities, log odds or margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import Array, FloatArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.selection._classifier.target import label_columns

_COMPARED = 200  # rows on which decision values are compared with probabilities
_EQUAL = 1e-5  # single precision is enough: other links differ in the first digits


@dataclass(frozen=True)
class Reading:
    """How a model is read.

    Attributes
    ----------
    method : "predict_proba" or "decision_function"
    kind : what a calibrator is told: "probability", "logit" or "score"
    """

    method: str
    kind: str

    def __str__(self) -> str:
        names = {"probability": "probabilities", "logit": "log odds", "score": "margins"}
        return f"{self.method} ({names[self.kind]})"


@dataclass(frozen=True)
class Wish:
    """What is to be read, as far as the user or the map says.

    Attributes
    ----------
    response : "auto", "probability" or "decision"
    own_input : `input` of a calibrator that was given as an object, None of one given by name
    inputs : kinds the map takes
    """

    response: str
    own_input: str | None
    inputs: tuple[str, ...]


def choose_reading(estimator: Any, X: Any, classes: Array, wish: Wish, *, caller: str) -> Reading:
    """Decide how to read a fitted model, looking at some rows it was not trained on.

    Decision values are taken for log odds where they are: where their logistic function (or
    softmax) gives the probabilities the model itself reports.
    """
    has_decision = _has_usable_decision(estimator)
    has_probability = hasattr(estimator, "predict_proba")
    wants_decision = wish.response == "decision" or wish.own_input in ("logit", "score")
    if wants_decision and not has_decision:
        raise _cannot_read(estimator, "decision_function", caller)
    if wish.response == "probability" and not has_probability:
        raise _cannot_read(estimator, "predict_proba", caller)
    if not (has_probability or has_decision):
        raise _cannot_read(estimator, "predict_proba", caller)
    if wish.own_input in ("logit", "score"):
        return Reading("decision_function", str(wish.own_input))
    takes_probability = wish.response == "probability" or wish.own_input == "probability"
    if has_probability and not wants_decision and (takes_probability or not has_decision):
        return Reading("predict_proba", "probability")
    if has_probability and _are_log_odds(estimator, X, classes):
        return Reading("decision_function", "logit")
    if has_probability and not wants_decision:
        return Reading("predict_proba", "probability")
    margins = "score" if "score" in wish.inputs else "logit"
    return Reading("decision_function", margins)


def read(estimator: Any, X: Any, reading: Reading, classes: Array, *, multilabel: bool) -> Array:
    """Values of rows: (n,) for the larger of two classes, or one column a class or label."""
    values = getattr(estimator, reading.method)(X)
    own = getattr(estimator, "classes_", None)
    if multilabel:
        return label_columns(values, own, len(classes))
    matrix = np.asarray(values)
    own = classes if own is None else np.asarray(own)
    if reading.kind == "probability":
        return _aligned(matrix, own, classes, rest=None)
    if len(classes) == 2 and (matrix.ndim == 1 or matrix.shape[1] == 1):
        positive = own[-1] == classes[1]
        column = matrix.reshape(-1)
        return column if positive else -column
    if matrix.ndim == 1:
        matrix = np.column_stack([-matrix, matrix]) if len(own) == 2 else matrix[:, None]
    # A class the model has not seen is no more likely to it than the least likely one.
    return _aligned(matrix, own, classes, rest=matrix.min(axis=1))


def to_probabilities(values: FloatArray, *, multilabel: bool) -> FloatArray:
    """Probabilities of log odds."""
    from scipy.special import expit, softmax

    if values.ndim == 1:
        p = expit(values)
        return np.column_stack([1 - p, p])
    return np.asarray(expit(values) if multilabel else softmax(values, axis=1))


def _aligned(matrix: Array, own: Array, classes: Array, *, rest: Array | None) -> Array:
    """Columns in the order of `classes`; those of unknown classes are zero, or `rest`."""
    if len(own) == len(classes) and np.array_equal(own, classes):
        return matrix
    result = np.zeros((len(matrix), len(classes)), dtype=matrix.dtype)
    if rest is not None:
        result[:] = rest[:, None]
    result[:, np.searchsorted(classes, own)] = matrix
    return result


def _are_log_odds(estimator: Any, X: Any, classes: Array) -> bool:
    """Whether decision values and probabilities say the same on a few rows."""
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import _num_samples

    own = getattr(estimator, "classes_", None)
    if own is not None and not isinstance(own, list) and len(own) != len(classes):
        return False  # unknown classes have a probability, zero, but no log odds
    some = _safe_indexing(X, np.arange(min(_num_samples(X), _COMPARED)))
    p = estimator.predict_proba(some)
    if isinstance(p, list):
        return False
    p = np.asarray(p)
    z = np.asarray(estimator.decision_function(some))
    if not np.isfinite(z).all():
        return False
    for multilabel in (False, True):
        found = to_probabilities(z, multilabel=multilabel)
        if found.shape == p.shape and np.abs(found - p).max(initial=0.0) < _EQUAL:
            return True
    return False


def _has_usable_decision(estimator: Any) -> bool:
    if not hasattr(estimator, "decision_function"):
        return False
    inner = innermost(estimator)
    pairwise = getattr(inner, "decision_function_shape", None) == "ovo"
    return not (pairwise and len(getattr(inner, "classes_", ())) > 2)


def is_frozen(estimator: Any) -> bool:
    """Whether a model is wrapped so as not to be fitted again (scikit-learn 1.6 and later)."""
    return type(estimator).__name__ == "FrozenEstimator"


def innermost(estimator: Any) -> Any:
    """The classifier itself, inside pipelines, searches and frozen models."""
    while True:
        steps = getattr(estimator, "steps", None)
        if steps is not None:
            estimator = steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif is_frozen(estimator):
            estimator = estimator.estimator
        else:
            return estimator


def _cannot_read(estimator: Any, method: str, caller: str) -> InvalidInputError:
    name = type(innermost(estimator)).__name__
    hint = f"{name} must offer `{method}` for this `response` and this calibrator's `input`."
    if getattr(innermost(estimator), "decision_function_shape", None) == "ovo":
        hint = f'use `{name}(decision_function_shape="ovr")`: pairs of classes are not read.'
    return invalid(caller, "estimator", f"one with a `{method}` to read", name, hint=hint)
