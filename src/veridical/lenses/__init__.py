"""Lenses: which question is asked of a prediction (Vaicenavicius et al. 2019, section 3.1)."""

from veridical.lenses._kinds.base import ClasswiseProblem, CustomLens, Lens, Problem, as_multiclass
from veridical.lenses._kinds.choice import default_lens, named_lens, resolve_lens
from veridical.lenses._kinds.one import Binary, ClassSpecific, Confidence, Pooled
from veridical.lenses._kinds.reading import CheckedData, Induced, induce_problem, read_data
from veridical.lenses._kinds.several import Canonical, Classwise, Grouped, TopK

__all__ = [
    "Binary",
    "Canonical",
    "CheckedData",
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
    "named_lens",
    "read_data",
    "resolve_lens",
]
