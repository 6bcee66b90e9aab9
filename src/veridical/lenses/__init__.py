"""Lenses: which question is asked of a prediction (Vaicenavicius et al. 2019, section 3.1)."""

from veridical.lenses._base import ClasswiseProblem, CustomLens, Lens, Problem, as_multiclass
from veridical.lenses._choice import default_lens, resolve_lens
from veridical.lenses._one import Binary, ClassSpecific, Confidence, Pooled
from veridical.lenses._problem import Induced, induce_problem
from veridical.lenses._several import Canonical, Classwise, Grouped, TopK

__all__ = [
    "Binary",
    "Canonical",
    "ClassSpecific",
    "Classwise",
    "ClasswiseProblem",
    "Confidence",
    "CustomLens",
    "Grouped",
    "Induced",
    "Lens",
    "Pooled",
    "Problem",
    "TopK",
    "as_multiclass",
    "default_lens",
    "induce_problem",
    "resolve_lens",
]
