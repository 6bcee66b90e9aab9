"""A weighted average of other calibrators: the linear pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from veridical._core.typing import FloatArray, WeightType
from veridical._core.validation import is_number
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._wrapping import CheckedRows, WrappingCalibrator
from veridical.exceptions import invalid


class AveragedCalibrator(WrappingCalibrator):
    r"""Weighted average of the probabilities of several maps (linear opinion pool).

    .. math:: c(p) = \sum_m w_m g_m(p), \quad w_m \ge 0, \; \sum_m w_m = 1

    The log loss of an average is at most the average of the log losses [1]_, and less the more the
    maps differ. A weighted sum of maps is as easy to ship as the maps are.

    Parameters
    ----------
    calibrators : sequence of Calibrator
        What is fitted and averaged.
    weights : sequence of float, optional
        Their weights, which are divided by their sum; default all alike.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as the averaged calibrators take them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    parts_ : list of calibrators
        Fitted maps.
    weights_ : array of shape (number of maps,)
        Weights, of sum 1.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    The weights are given, not fitted: `AutoCalibrator` finds them on held-out rows. An average of
    calibrated maps that differ is itself slightly under-confident [2]_, by about the variance of
    the maps around their mean.

    References
    ----------
    .. [1] Jensen's inequality: -log is convex.
    .. [2] Ranjan & Gneiting (2010), Combining probability forecasts, JRSS B 72, 71-91,
       doi 10.1111/j.1467-9868.2009.00726.x.

    Examples
    --------
    Temperature 2 turns odds of 9 into 3, so 0.9 into 0.75; half of it and half of the identity:

    >>> from veridical.calibrators import IdentityCalibrator, TemperatureCalibrator
    >>> parts = [IdentityCalibrator(), TemperatureCalibrator(pseudo_rows=0)]
    >>> pool = AveragedCalibrator(parts).fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> pool.predict_proba([0.9]).round(6).tolist()
    [[0.175, 0.825]]
    """

    def __init__(
        self,
        calibrators: Sequence[Calibrator],
        *,
        weights: Sequence[float] | None = None,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.calibrators = calibrators
        self.weights = weights
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    @classmethod
    def of_fitted(cls, parts: Iterable[Calibrator], weights: FloatArray, classes: Any) -> Self:
        """Average maps that were fitted elsewhere, all to the same classes in the same order.

        They must know the classes as 0..K-1, of two classes the positive one last.
        """
        fitted = list(parts)
        made = cls([clone(part) for part in fitted], input=fitted[0].input)
        made.parts_ = fitted
        made.weights_ = weights / weights.sum()
        made.classes_ = np.asarray(classes)
        return made

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        parts = self.calibrators
        if isinstance(parts, Calibrator) or not len(parts):
            hint = f"e.g. `{caller}([PlattCalibrator(), IsotonicCalibrator()])`."
            got = repr(parts)
            raise invalid(caller, "calibrators", "a list of calibrators", got, hint=hint)
        for part in parts:
            self._part(part)
        self._checked_weights()

    def _checked_weights(self) -> FloatArray:
        weights = [1.0] * len(self.calibrators) if self.weights is None else list(self.weights)
        good = all(is_number(w) and 0 <= w < np.inf for w in weights) and sum(weights) > 0
        if not good or len(weights) != len(self.calibrators):
            hint = "leave them out to weight all maps alike."
            expected = f"{len(self.calibrators)} non-negative numbers, not all zero"
            raise invalid("AveragedCalibrator", "weights", expected, repr(weights), hint=hint)
        return np.asarray(weights, dtype=np.float64) / sum(weights)

    def _fit_checked(self, rows: CheckedRows) -> None:
        self.parts_ = [
            self._part(part).fit(rows.values, rows.y, rows.weight) for part in self.calibrators
        ]
        self.weights_ = self._checked_weights()

    def _combine(self, values: FloatArray) -> FloatArray:
        total = np.zeros((len(values), len(self.classes_)))
        for weight, part in zip(self.weights_.tolist(), self.parts_, strict=True):
            total += weight * part.predict_proba(values)
        return total
