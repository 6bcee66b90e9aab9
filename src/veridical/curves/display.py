"""The choice of bins, curve and axes of reliability diagrams, for all who draw them."""

from veridical.curves._curve.display import display_of_curve, display_of_sample, shared_axes

__all__ = ["display_of_curve", "display_of_sample", "shared_axes"]
