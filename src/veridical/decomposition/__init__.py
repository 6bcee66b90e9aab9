"""Decompositions of proper scores (survey section 3.1)."""

from veridical.decomposition._parts.decompose import decompose, decompose_isotonic, isotonic_parts

__all__ = ["decompose", "decompose_isotonic", "isotonic_parts"]
