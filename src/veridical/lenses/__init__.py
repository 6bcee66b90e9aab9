"""Lenses: which question is asked of a prediction (Vaicenavicius et al. 2019, section 3.1)."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.lenses._kinds.base import ClasswiseProblem, CustomLens, Lens, Problem
    from veridical.lenses._kinds.one import Binary, ClassSpecific, Confidence, Pooled
    from veridical.lenses._kinds.several import Canonical, Classwise, Grouped, TopK

__all__ = [
    "Binary",
    "Canonical",
    "ClassSpecific",
    "Classwise",
    "ClasswiseProblem",
    "Confidence",
    "CustomLens",
    "Grouped",
    "Lens",
    "Pooled",
    "Problem",
    "TopK",
]

__getattr__, __dir__ = late_names(__name__)
