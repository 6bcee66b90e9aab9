"""Calibrators by name and held-out predictions, for rooms above."""

from veridical.selection._auto.auto import ALIASES, calibrator_named, calibrator_names, for_classes
from veridical.selection._auto.weighing import CrossFit, Fold, cross_fit, make_folds

__all__ = [
    "ALIASES",
    "CrossFit",
    "Fold",
    "calibrator_named",
    "calibrator_names",
    "cross_fit",
    "for_classes",
    "make_folds",
]
