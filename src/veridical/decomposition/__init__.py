"""Decompositions of proper scores (survey section 3.1)."""

from veridical.decomposition._decompose import decompose, decompose_isotonic
from veridical.decomposition._parts import isotonic_parts

__all__ = ["decompose", "decompose_isotonic", "isotonic_parts"]
