"""What figures return: the axes they used, the artists they added, and the numbers drawn."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from veridical.results import ReliabilityCurve

_LONGEST = 120  # letters of a repr


class Artists:
    """Base of what figures return: as the last line of a cell it is one short line."""

    def __repr__(self) -> str:
        record: Any = self
        held = [f.name for f in fields(record) if getattr(self, f.name) not in (None, ())]
        text = f"<{type(self).__name__}: {', '.join(held)}>"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...>"


@dataclass(frozen=True, repr=False)
class Drawn(Artists):
    """Base of the artists a figure returns.

    Attributes
    ----------
    ax : the axes drawn on
    """

    ax: Axes

    @property
    def figure(self) -> Figure:
        """The figure the axes are in."""
        return self.ax.figure.figure


@dataclass(frozen=True, repr=False)
class CurveArtists(Artists):
    """Artists of one curve; None for what was not asked for.

    Attributes
    ----------
    name : name of the model, empty if there is only one
    curve : the curve drawn, with every number
    line : line through the points
    markers : points, sized by count
    bars : bars of style "bars"
    limits : bars of confidence or consistency limits
    band : the same as an area
    gaps, arrows : from points to the diagonal
    counts : texts beside the points
    rug : ticks at single predictions
    histogram : bars, steps or stems of the histogram
    """

    name: str
    curve: ReliabilityCurve
    line: Any = None
    markers: Any = None
    bars: Any = None
    limits: Any = None
    band: Any = None
    gaps: Any = None
    arrows: Any = None
    counts: tuple[Any, ...] = ()
    rug: Any = None
    histogram: Any = None


@dataclass(frozen=True, repr=False)
class DiagramArtists(Drawn):
    """Artists of one diagram.

    Attributes
    ----------
    ax : the axes drawn on
    histogram_ax : axes of the histogram, or None
    curves : artists of every curve, in order
    reference : line of perfect calibration
    truth : line of the true curve, or None
    legend : the legend, or None
    """

    curves: tuple[CurveArtists, ...]
    reference: Any
    histogram_ax: Axes | None = None
    truth: Any = None
    legend: Any = None
