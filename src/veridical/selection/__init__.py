"""Choosing calibrators with evidence and models by calibration; calibrating whole classifiers."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.selection._auto.auto import AutoCalibrator
    from veridical.selection._classifier.classifier import CalibratedClassifier
    from veridical.selection._classifier.scorer import CalibrationScorer, scorer

__all__ = [
    "AutoCalibrator",
    "CalibratedClassifier",
    "CalibrationScorer",
    "scorer",
]

__getattr__, __dir__ = late_names(__name__)
