"""Decompositions of proper scores (survey section 3.1)."""

from veridical.decomposition._parts.decompose import decompose

__all__ = ["decompose"]
