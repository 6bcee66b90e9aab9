"""Decompositions of proper scores (survey section 3.1)."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.decomposition._parts.decompose import decompose

__all__ = ["decompose"]

__getattr__, __dir__ = late_names(__name__)
