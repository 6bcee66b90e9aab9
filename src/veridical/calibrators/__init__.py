"""Calibrators: maps from scores to probabilities, as scikit-learn estimators."""

from veridical.calibrators._base import Calibrator, NotFittedError
from veridical.calibrators._identity import IdentityCalibrator

__all__ = ["Calibrator", "IdentityCalibrator", "NotFittedError"]
