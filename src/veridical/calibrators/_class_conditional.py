"""One map for each predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, WeightType
from veridical._core.validation import is_number
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._wrapping import (
    CheckedRows,
    WrappingCalibrator,
    fitted_part,
    top_class,
    two_columns,
)
from veridical.exceptions import invalid


class ClassConditionalCalibrator(WrappingCalibrator):
    """One map for each predicted class, fitted to the rows with that prediction.

    A model may be over-confident where it says "cat" and too modest where it says "dog"; one map
    for all averages the two. Any calibrator can be wrapped, of the whole vector
    (`TemperatureCalibrator`) or of the top class only (`ConfidenceReducedCalibrator`).

    Parameters
    ----------
    calibrator : Calibrator
        What is fitted, in one copy for each class.
    min_rows : float, default 50
        Classes predicted in fewer rows (effective size) use the map fitted to all rows.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; the predicted class has the largest of them, the first if several.
        One score of two classes predicts the larger label if it is above 0.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    pooled_ : Calibrator
        Map fitted to all rows.
    parts_ : list of K calibrators or None
        Map of each predicted class; None where the pooled one is used: too few rows, or rows that
        cannot be fitted alone.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    "Class-wise calibration" of [1]_; around `ConfidenceReducedCalibrator` it is top-label
    calibration [2]_. The map jumps where the predicted class changes. Each map has
    only a share of the rows, so its error is larger: worth it if classes differ and there are
    some hundred rows of each. Time: two fits of the map in all, on average.

    References
    ----------
    .. [1] Panchenko, Benmerzoug & de Benito Delgado (2022), Class-wise and reduced calibration
       methods, ICMLA, arXiv 2210.03702.
    .. [2] Gupta & Ramdas (2022), Top-label calibration and multiclass-to-binary reductions, ICLR,
       arXiv 2107.08353.

    Examples
    --------
    Of four rows that say "1" with 0.9 three are right, of four that say "0" two: T is such that
    0.9 becomes 3/4 for the one and 1/2 for the other.

    >>> from veridical.calibrators._temperature import TemperatureCalibrator
    >>> calibrator = ClassConditionalCalibrator(TemperatureCalibrator(pseudo_rows=0), min_rows=4)
    >>> calibrator = calibrator.fit([0.9] * 4 + [0.1] * 4, [1, 1, 1, 0, 1, 1, 0, 0])
    >>> calibrator.predict_proba([0.9, 0.1])[:, 1].round(6).tolist()
    [0.75, 0.5]
    """

    def __init__(
        self,
        calibrator: Calibrator,
        *,
        min_rows: float = 50,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.calibrator = calibrator
        self.min_rows = min_rows
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    def _check_parameters(self) -> None:
        self._part()
        if not is_number(self.min_rows) or self.min_rows < 1:
            caller, hint = type(self).__name__, "50 is the default."
            expected = "a number of 1 or more"
            raise invalid(caller, "min_rows", expected, repr(self.min_rows), hint=hint)

    def _fit_checked(self, rows: CheckedRows) -> None:
        self.pooled_ = self._part().fit(rows.values, rows.y, rows.weight)
        top = top_class(two_columns(rows.values, self.input), rows.classes)
        self.parts_: list[Calibrator | None] = []
        for k in range(len(rows.classes)):
            chosen = rows.take(top == k)
            enough = len(chosen.y) > 0 and chosen.size * (1 + 1e-12) >= self.min_rows
            self.parts_.append(fitted_part(self._part(), chosen) if enough else None)

    def _combine(self, values: FloatArray) -> FloatArray:
        matrix = two_columns(values, self.input)
        top = top_class(matrix, tuple(self.classes_))
        result = np.empty(matrix.shape)
        for k, part in enumerate(self.parts_):
            chosen = top == k
            if chosen.any():
                result[chosen] = (part or self.pooled_).predict_proba(values[chosen])
        return result
