"""What a reliability diagram shows: the curve and the axes that were chosen for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from veridical._core.typing import FloatArray
from veridical.results.base import ArrayResult
from veridical.results.curves import ReliabilityCurve


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReliabilityDisplay(ArrayResult):
    """A reliability diagram as it is drawn everywhere: in figures, reports, notebooks, the studio.

    Both axes have the same scale and the same ends, so that the diagonal goes from corner to
    corner.

    Attributes
    ----------
    curve : points with limits; of bins, or of an isotonic or smooth fit where rows are few
    axis : "linear", or "logit" (log-odds) where nearly all predictions are close to 0 or to 1
    low, high : ends of both axes
    line_x, line_y : corners of the line through the curve; NaN where it breaks
    band_x, band_low, band_high : corners of the band around it; none for bins, whose limits are
        those of the curve
    bar_edges, bar_counts : histogram of the predictions; those beyond the axes are in its ends
    says, happens : words of the axes, which name the class
    reason : why this kind of curve and axis
    """

    curve: ReliabilityCurve
    axis: str
    low: float
    high: float
    line_x: FloatArray
    line_y: FloatArray
    band_x: FloatArray
    band_low: FloatArray
    band_high: FloatArray
    bar_edges: FloatArray
    bar_counts: FloatArray
    says: str
    happens: str
    reason: str

    @property
    def binned(self) -> bool:
        """Whether points of bins are drawn, with their limits, and not a band."""
        return self.curve.method == "bins"

    def on_axis(self, axis: str, low: float, high: float) -> ReliabilityDisplay:
        """The same on another axis, such as one shared with other diagrams."""
        return replace(self, axis=axis, low=low, high=high)

    def _headline(self) -> str:
        return f"{self.says}: {self.reason}"

    def _text(self) -> str:
        return f"{self.says}: {self.reason}\n{self.curve}"
