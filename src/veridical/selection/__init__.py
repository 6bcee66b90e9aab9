"""Choosing a calibrator with evidence, and calibrating a classifier as a whole."""

from veridical.selection._auto import AutoCalibrator
from veridical.selection._classifier import CalibratedClassifier

__all__ = [
    "AutoCalibrator",
    "CalibratedClassifier",
]
