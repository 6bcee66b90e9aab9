"""Parts of scores by isotonic fits of checked data."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.decomposition._parts.decompose import decompose_isotonic, isotonic_parts

__all__ = ["decompose_isotonic", "isotonic_parts"]

__getattr__, __dir__ = late_names(__name__)
