"""Any function of labels and probabilities as an estimator, so that tests and intervals take it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, Sample
from veridical.exceptions import invalid
from veridical.miscalibration._errors.base import SampleEstimator

_OFFERED = ("sample_weight", "labels", "pos_label")


@dataclass(frozen=True)
class FunctionMeasure(SampleEstimator):
    """A function ``(y_true, y_prob) -> float`` as an estimator.

    Tests, null levels, intervals and comparisons take functions as they are and wrap them in this.

    Parameters
    ----------
    function : callable
        Gets the labels as they were given and the probabilities in the shape they were given in,
        (n,) of two classes or (n, K); with a lens, what the lens makes of both. `sample_weight`,
        `labels` (in column order) and, of two classes, `pos_label` are passed to it if it has
        parameters of these names, so the metrics of scikit-learn can be used as they are.
    name : str, optional
        What figures call it; default the name of the function.

    Notes
    -----
    Without a lens the whole prediction is meant. Larger is taken for worse, as for an error or a
    loss; for a function whose small values are bad, `consistency_test` has `alternative="less"`.
    What the function raises is raised with a note on who called it.

    Examples
    --------
    >>> def largest_error(y_true, y_prob):
    ...     return max(abs(y - p) for y, p in zip(y_true, y_prob))
    >>> measure = FunctionMeasure(largest_error)
    >>> measure([0, 1, 1], [0.25, 0.5, 0.75]), measure.name
    (0.5, 'largest_error')
    """

    function: Callable[..., Any]
    name: str = ""

    whole = True

    def __post_init__(self) -> None:
        caller = type(self).__name__
        if not callable(self.function) or isinstance(self.function, type):
            hint = "pass a function of labels and probabilities, not a class or a value."
            raise invalid(caller, "function", "callable", repr(self.function), hint=hint)
        if not self.name:
            object.__setattr__(self, "name", _name_of(self.function))

    @property
    def definition(self) -> str:
        """That it is the user's."""
        return "a given function"

    @cached_property
    def takes(self) -> frozenset[str]:
        """Which of the weights, labels and positive class the function wants to know."""
        try:
            parameters = inspect.signature(self.function).parameters
        except (TypeError, ValueError):  # of compiled functions nothing may be known
            return frozenset()
        bound = self.function.keywords if isinstance(self.function, partial) else {}
        return frozenset(name for name in _OFFERED if name in parameters and name not in bound)

    def measure_sample(self, sample: Sample) -> float:
        """Call the function with labels and probabilities as the user knows them."""
        one_column = isinstance(sample, BinarySample) and sample.pair is None
        y_prob = sample.p if one_column else sample.matrix
        options: dict[str, Any] = {}
        if sample.weight is not None:
            options["sample_weight"] = sample.weight
            if "sample_weight" not in self.takes:
                hint = "give it a parameter `sample_weight`, or leave the weights out."
                expected, got = "one that takes `sample_weight`", f"{self.name}, which does not"
                raise invalid(type(self).__name__, "function", expected, got, hint=hint)
        if "labels" in self.takes:
            options["labels"] = list(sample.columns)
        if "pos_label" in self.takes and isinstance(sample, BinarySample):
            options["pos_label"] = sample.classes[1]
        y_true = _labels(sample)
        try:
            value = self.function(y_true, y_prob, **options)
        except Exception as error:
            error.add_note(f"raised by the measure {self.name!r}, given {sample.n:,} rows")
            raise
        return self._checked(value)

    def _checked(self, value: Any) -> float:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        real = isinstance(value, (int, float, np.integer, np.floating))
        if not real or isinstance(value, bool) or math.isnan(value):
            hint = "return one number, e.g. a mean over the rows."
            got = f"{value!r}" if np.ndim(value) == 0 else f"shape {np.shape(value)}"
            expected = "a function that returns a number"
            raise invalid(type(self).__name__, "function", expected, got, hint=hint)
        return float(value)


def _labels(sample: Sample) -> Any:
    """The label of each row, as the user gave it."""
    labels = np.empty(len(sample.columns), dtype=object)
    labels[:] = sample.columns
    if len({type(label) for label in sample.columns}) == 1:
        labels = np.array(sample.columns)
    return labels[sample.index]


def _name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else str(name)
