"""What recalibration would gain, on rows the map has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from veridical._core.data.options import check_folds
from veridical._core.data.validation import check_option
from veridical._core.numeric.optimism import corrected_gain
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid, warn_of
from veridical.miscalibration._errors.base import SampleEstimator
from veridical.scores import RULES, get_rule

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

# Beyond so many classes a full matrix has more parameters than most samples can bear.
_MOST_CLASSES_OF_A_MATRIX = 50


@dataclass(frozen=True)
class RecalibrationError(SampleEstimator):
    r"""Score minus score after cross-fitted recalibration: the variational estimate.

    Parameters
    ----------
    calibrator : Calibrator, optional
        The map; default `BetaCalibrator` for one binary problem, `StructuredMatrixCalibrator` for
        vectors of up to 50 classes and `StructuredVectorCalibrator` beyond.
    rule : {"log", "brier", "spherical", "zero-one"}, default "log"
        The proper score.
    cv : int, default 5
        Folds: each row is recalibrated by a map fitted on the others.

    Notes
    -----
    .. math:: \bar S(p, y) - \bar S(c^{(-i)}(p), y) + \frac{1}{2 k - 1}
        \bigl(\bar S(c^{(-i)}(p), y) - \bar S(c(p), y)\bigr)

    with maps :math:`c^{(-i)}` fitted on the other of k folds and c fitted on all rows. The last
    term corrects the gain of maps of (k - 1) / k of the rows to that of all, which is what would be
    shipped; for maps of few parameters and a smooth score it is unbiased to first order.

    The calibration error under a proper score is the largest gain any map can bring [1]_; a map
    of a family, fitted elsewhere, brings at most that much on average. So the figure is a lower
    bound that needs no bins, works for whole vectors and is in units of the score: "recalibrating
    cuts log loss by 0.03". It errs downwards by what the family cannot express and by the cost of
    fitting, about parameters / (2 n) for the log score, and is negative where recalibration does
    harm: on a calibrated model slightly so, which is the null level to compare it with. Refinement
    is what is left: the score minus this.

    With an infinite log score (an outcome of probability 0) it is infinite. Over a classwise lens
    it is the mean over classes. Folds are random: folds even in their classes would hide the cost
    of fitting the level. They follow from the data and do not depend on the order of rows.
    :func:`bootstrap_interval` gives limits of the gain, on new rows, of the map fitted to all rows.
    Time: `cv` + 1 fits.

    References
    ----------
    .. [1] Berta, Holzmüller, Jordan & Bach (2025), Rethinking early stopping: refine, then
       calibrate, arXiv 2501.19195, section 3; Kull & Flach (2015), doi
       10.1007/978-3-319-23528-8_5.

    Examples
    --------
    Predictions of 0.9 and 0.1 that are right three times out of four: recalibrated to 0.75 and
    0.25, the log loss falls from 0.658 to 0.562 in a large sample.

    >>> y = [1, 1, 1, 0, 0, 0, 0, 1] * 500
    >>> error = RecalibrationError()(y, [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1] * 500)
    >>> round(error, 2)
    0.09
    """

    calibrator: Calibrator | None = None
    rule: Literal["log", "brier", "spherical", "zero-one"] = "log"
    cv: int = 5

    def __post_init__(self) -> None:
        caller = type(self).__name__
        check_option(caller, "rule", self.rule, RULES)
        check_folds(caller, self.cv)
        if self.calibrator is not None and not hasattr(self.calibrator, "predict_proba"):
            hint = "pass a calibrator such as `TemperatureCalibrator()`."
            raise invalid(caller, "calibrator", "a calibrator", repr(self.calibrator), hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        return f"recalibration gain {self.rule}"

    @property
    def definition(self) -> str:
        """Score, map and folds in words."""
        chosen = "a default map" if self.calibrator is None else type(self.calibrator).__name__
        return f"mean {self.rule} score minus that after {chosen}, {self.cv}-fold cross-fitted"

    def measure_sample(self, sample: Sample) -> float:
        """Fit in folds and to all rows, and compare the scores."""
        rule = get_rule(self.rule, caller=type(self).__name__)
        found = self.recalibrated(sample)
        warn_of(found.notes)
        after, own = rule.mean(found.after), rule.mean(found.own)
        optimism = max(after - own, 0.0) if math.isfinite(own) else 0.0
        return corrected_gain(rule.mean(sample) - after, optimism, self.cv)

    def recalibrated(self, sample: Sample) -> Recalibrated:
        """Fit in folds and to all rows."""
        from veridical.calibrators.core import cross_fitted, fitted_to_itself

        if sample.n < 2 * self.cv:
            hint = "use fewer folds, or more rows."
            expected = f"of {2 * self.cv} rows or more for {self.cv} folds"
            raise invalid(type(self).__name__, "y_true", expected, f"{sample.n}", hint=hint)
        map = _default(sample) if self.calibrator is None else self.calibrator
        found = cross_fitted(sample, map, self.cv)
        before = replace(sample.take(found.rows), weight=found.weight)
        own = fitted_to_itself(sample, map)[found.rows]
        after, seen = (_with_predictions(before, p) for p in (found.p, own))
        return Recalibrated(before, after, seen, found.notes)


class Recalibrated(NamedTuple):
    """The same rows as they were, recalibrated by maps of other rows, and by one of all rows."""

    before: Sample
    after: Sample
    own: Sample
    notes: tuple[str, ...]


def _with_predictions(sample: Sample, p: FloatArray) -> Sample:
    """The same rows with other predictions (n, K)."""
    if isinstance(sample, BinarySample):
        return replace(sample, p=p[:, 1], pair=None)
    return replace(sample, p=p, confidence=None, right=None)


def _default(sample: Sample) -> Calibrator:
    from veridical.calibrators import (
        BetaCalibrator,
        StructuredMatrixCalibrator,
        StructuredVectorCalibrator,
    )

    if isinstance(sample, BinarySample):
        return BetaCalibrator()
    if len(sample.classes) <= _MOST_CLASSES_OF_A_MATRIX:
        return StructuredMatrixCalibrator()
    return StructuredVectorCalibrator()
