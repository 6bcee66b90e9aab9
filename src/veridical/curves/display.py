"""The choice of bins, curve and axes of reliability diagrams, for all who draw them."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.curves._curve.display import display_of_curve, display_of_sample, shared_axes

__all__ = ["display_of_curve", "display_of_sample", "shared_axes"]

__getattr__, __dir__ = late_names(__name__)
