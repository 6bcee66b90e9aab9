"""What every task with a known truth hands out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from veridical._core.data.validation import check_probabilities, float_array, is_integer
from veridical._core.typing import Array, FloatArray
from veridical.exceptions import invalid

# Features (n, d) in, probabilities (n, K) in class order out: `predict_proba` of any model.
Classifier: TypeAlias = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class TaskSample:
    """Rows of a task together with what nobody knows of real data.

    Attributes
    ----------
    x : (n, d) features
    y : (n,) labels
    posterior : (n, K) true probabilities of the classes given the features, in class order
    """

    x: FloatArray
    y: Array
    posterior: FloatArray

    def __len__(self) -> int:
        return len(self.y)


def check_rows(n: Any, *, caller: str, param: str = "n") -> int:
    """Return a positive number of rows."""
    if not (is_integer(n) and n >= 1):
        hint = "pass the number of rows to draw."
        raise invalid(caller, param, "a positive integer", repr(n), hint=hint)
    return int(n)


def check_prior(prior: Any, n_classes: int, *, caller: str) -> FloatArray:
    """Return positive numbers that sum to one within 1e-9, one for each class."""
    share = float_array(prior, caller=caller, param="prior").astype(np.float64)
    if share.shape != (n_classes,):
        expected, hint = f"a list of {n_classes} probabilities", "give one number a class."
        raise invalid(caller, "prior", expected, f"shape {share.shape}", hint=hint)
    if not (share > 0).all() or abs(float(share.sum()) - 1) > 1e-9:
        hint = "divide by the sum, and leave out classes that never occur."
        raise invalid(caller, "prior", "positive with sum 1", f"{share.tolist()}", hint=hint)
    return share


def predict(classifier: Any, x: FloatArray, n_classes: int, *, caller: str) -> FloatArray:
    """Probabilities (n, K) of a classifier; one column means the second of two classes."""
    if not callable(classifier):
        hint = "pass a function of the features, such as `model.predict_proba`."
        raise invalid(caller, "classifier", "callable", type(classifier).__name__, hint=hint)
    p = float_array(classifier(x), caller=caller, param="classifier")
    if n_classes == 2 and p.shape in ((len(x),), (len(x), 1)):
        p = np.column_stack([1 - p.reshape(-1), p.reshape(-1)])
    if p.shape != (len(x), n_classes):
        expected = f"a function that answers shape (n, {n_classes})"
        got = f"shape {p.shape} for {len(x)} rows"
        hint = "answer one probability for each class of the task, in class order."
        raise invalid(caller, "classifier", expected, got, hint=hint)
    return check_probabilities(p, caller=caller, param="classifier").astype(np.float64)
