"""Parts of scores by isotonic fits of checked data."""

from veridical.decomposition._parts.decompose import decompose_isotonic, isotonic_parts

__all__ = ["decompose_isotonic", "isotonic_parts"]
