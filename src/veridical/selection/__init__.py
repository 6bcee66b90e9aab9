"""Choosing calibrators with evidence and models by calibration; calibrating whole classifiers."""

from veridical.selection._auto.auto import AutoCalibrator
from veridical.selection._classifier.classifier import CalibratedClassifier
from veridical.selection._classifier.scorer import CalibrationScorer, scorer

__all__ = [
    "AutoCalibrator",
    "CalibratedClassifier",
    "CalibrationScorer",
    "scorer",
]
