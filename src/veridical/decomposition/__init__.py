"""Decompositions of proper scores (survey section 3.1)."""

from veridical.decomposition._decompose import decompose, decompose_isotonic

__all__ = ["decompose", "decompose_isotonic"]
