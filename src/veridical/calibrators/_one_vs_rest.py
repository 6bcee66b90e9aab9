"""Binary maps for several classes: each class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, WeightType
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._rest_odds import odds_against_rest
from veridical.calibrators._softmax import softmax_in_place
from veridical.calibrators._wrapping import CheckedRows, WrappingCalibrator


class OneVsRestCalibrator(WrappingCalibrator):
    r"""One binary map a class, fitted to that class against the rest; rows are normalised.

    .. math:: c_k(p) = \frac{m_k(p_k)}{\sum_j m_j(p_j)}

    Makes any binary map usable for K classes. Each class is calibrated before the division, not
    after it, and the K maps do not know of each other. On two classes it is the binary map.

    Parameters
    ----------
    calibrator : Calibrator
        What is fitted, in K copies.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Logits become log odds of a class against the rest under a softmax;
        scores, such as those of K separate machines, are taken class by class as they are.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    parts_ : list of K calibrators
        Fitted maps in the order of `classes_`; one map for two classes.
    shares_ : array of shape (K,)
        Share of each class in the fitted rows.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    If every map says 0 there is nothing to normalise. The row then stays as it was predicted; with
    scores, which are no probabilities, it becomes `shares_`. Maps with a guard never say 0.

    Time: K fits of the binary map.

    References
    ----------
    .. [1] Zadrozny & Elkan (2002), KDD, doi 10.1145/775047.775151.

    Examples
    --------
    Class 0 happens in 1 of 2 rows where 0.8 is said, class 1 in 1 of 2 where 0.2 is said, class 2
    never: 1/2, 1/2 and 0.

    >>> from veridical.calibrators._isotonic import IsotonicCalibrator
    >>> p, y = [[0.8, 0.2, 0.0], [0.8, 0.2, 0.0]], [0, 1]
    >>> calibrator = OneVsRestCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y)
    >>> calibrator.predict_proba([[0.8, 0.2, 0.0]]).tolist()
    [[0.5, 0.5, 0.0]]
    """

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
        n_classes = len(rows.classes)
        counts = np.bincount(rows.y, rows.weight, minlength=n_classes)
        if n_classes == 2:
            self.parts_ = [self._part().fit(rows.values, rows.y, rows.weight)]
        else:
            columns = self._columns(rows.values).T
            self.parts_ = [
                self._part().fit(column, rows.y == k, rows.weight)
                for k, column in enumerate(columns)
            ]
        self.shares_ = counts / counts.sum()

    def _columns(self, values: FloatArray) -> FloatArray:
        return odds_against_rest(values) if self.input == "logit" else values

    def _combine(self, values: FloatArray) -> FloatArray:
        if len(self.parts_) == 1:
            return self.parts_[0].predict_proba(values)
        columns = zip(self.parts_, self._columns(values).T, strict=True)
        result = np.column_stack([part.predict_proba(column)[:, 1] for part, column in columns])
        total = result.sum(axis=1)
        empty = total == 0
        total[empty] = 1.0
        result /= total[:, None]
        if empty.any():
            result[empty] = self._as_predicted(values[empty])
        return result

    def _as_predicted(self, values: FloatArray) -> FloatArray:
        if self.input == "score":
            return self.shares_
        if self.input == "logit":
            return softmax_in_place(values.copy())
        p = values.astype(np.float64)
        return np.asarray(p / p.sum(axis=1, keepdims=True))
