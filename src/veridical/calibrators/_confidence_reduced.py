"""A binary map of the largest probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray, WeightType
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._rest_odds import odds_of_class
from veridical.calibrators._softmax import softmax_in_place
from veridical.calibrators._wrapping import (
    CheckedRows,
    WrappingCalibrator,
    top_class,
    two_columns,
)


class ConfidenceReducedCalibrator(WrappingCalibrator):
    r"""Calibrates the largest probability as that of being right; the others share what is left.

    With t the predicted class and m a binary map fitted to "the prediction was right",

    .. math:: c_t(p) = m(p_t), \qquad c_j(p) = (1 - m(p_t)) \frac{p_j}{\sum_{k \ne t} p_k}

    All rows fit one binary map, however many classes there are, and what it repairs is what most
    decisions use: the confidence. Errors among the other classes stay.

    Parameters
    ----------
    calibrator : Calibrator
        Map of two classes.
    input : {"probability", "logit"}, default "probability"
        What predictions are. Logits become the log odds of the top class under a softmax.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    part_ : Calibrator
        Fitted map of the confidence.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    "Reduced calibration" of [1]_, whose library gives equal shares to the other classes; here they
    keep their proportions, so their order, and rows sum to one. If the other classes have
    probability 0 they get equal shares. With many classes the reduction is what makes binary maps
    usable at all [2]_.

    The predicted class may change: where the map says 0.3 and another class is left with 0.5, the
    data said that the prediction is mostly wrong there. That class is then not calibrated as a
    top class; a second reduction on new rows would do that.

    Time: one fit of the binary map.

    References
    ----------
    .. [1] Panchenko, Benmerzoug & de Benito Delgado (2022), Class-wise and reduced calibration
       methods, ICMLA, arXiv 2210.03702.
    .. [2] Le Coz, Herbin & Adjed (2024), Confidence calibration of classifiers with many classes,
       NeurIPS, arXiv 2411.02988.

    Examples
    --------
    Rows that say 0.6 are right in 1 of 2 cases; the rest is shared out as 3 : 1.

    >>> from veridical.calibrators._isotonic import IsotonicCalibrator
    >>> calibrator = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0))
    >>> calibrator = calibrator.fit([[0.6, 0.3, 0.1], [0.3, 0.1, 0.6]], [0, 1])
    >>> calibrator.predict_proba([[0.1, 0.6, 0.3]]).round(6).tolist()
    [[0.125, 0.5, 0.375]]
    """

    _inputs = ("probability", "logit")

    def __init__(
        self,
        calibrator: Calibrator,
        *,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.calibrator = calibrator
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    def _check_parameters(self) -> None:
        self._part()

    def _fit_checked(self, rows: CheckedRows) -> None:
        matrix = two_columns(rows.values, self.input)
        top = top_class(matrix, rows.classes)
        confidence = self._confidence(matrix, top)
        self.part_ = self._part().fit(confidence, top == rows.y, rows.weight)

    def _confidence(self, matrix: FloatArray, top: IntArray) -> FloatArray:
        if self.input == "logit":
            return odds_of_class(matrix, top)
        return matrix[np.arange(len(top)), top]

    def _combine(self, values: FloatArray) -> FloatArray:
        matrix = two_columns(values, self.input)
        top = top_class(matrix, tuple(self.classes_))
        wrong, right = self.part_.predict_proba(self._confidence(matrix, top)).T
        result = self._shares_of_others(matrix, top) * wrong[:, None]
        result[np.arange(len(top)), top] = right
        return result

    def _shares_of_others(self, matrix: FloatArray, top: IntArray) -> FloatArray:
        """Rows that sum to one, with zero for the top class."""
        shares, rows = matrix.astype(np.float64), np.arange(len(top))
        if self.input == "logit":
            shares[rows, top] = -np.inf
            return softmax_in_place(shares)
        shares[rows, top] = 0.0
        total = shares.sum(axis=1)
        empty = total == 0
        shares[empty], total[empty] = 1.0, matrix.shape[1] - 1
        shares[rows, top] = 0.0
        shares /= total[:, None]
        return shares
