"""Choosing a calibrator with evidence, and calibrating a classifier as a whole."""

from veridical.selection._auto.auto import AutoCalibrator
from veridical.selection._classifier.classifier import CalibratedClassifier

__all__ = [
    "AutoCalibrator",
    "CalibratedClassifier",
]
