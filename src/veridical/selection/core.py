"""Calibrators by name and held-out predictions, for rooms above."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.selection._auto.auto import (
        ALIASES,
        calibrator_named,
        calibrator_names,
        for_classes,
    )
    from veridical.selection._auto.held_out import auto_fit
    from veridical.selection._auto.weighing import CrossFit, Fold, cross_fit, make_folds

__all__ = [
    "ALIASES",
    "CrossFit",
    "Fold",
    "auto_fit",
    "calibrator_named",
    "calibrator_names",
    "cross_fit",
    "for_classes",
    "make_folds",
]

__getattr__, __dir__ = late_names(__name__)
