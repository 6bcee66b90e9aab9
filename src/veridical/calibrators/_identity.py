"""Leaving the model alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, WeightType
from veridical.calibrators._base import MulticlassCalibrator, Rows


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
