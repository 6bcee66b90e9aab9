"""Axes of probabilities: all of [0, 1], what is needed of it, or log-odds; ticks at any zoom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, Locator, NullLocator

from veridical._core.drawing.scales import Kind, Scale
from veridical._core.drawing.words import SIZE, number_text
from veridical._core.typing import FloatArray
from veridical.curves.display import display_of_curve, shared_axes
from veridical.results import ReliabilityCurve, ReliabilityDisplay

AxisChoice = Literal["auto", "unit", "linear", "logit"]
AXES = ("auto", "unit", "linear", "logit")
_MARGIN = 0.02  # room around the ends, so that markers there are whole
_EDGE = 1e-9


class Frame(NamedTuple):
    """Both axes of a reliability diagram.

    Attributes
    ----------
    kind : "linear" or "logit"
    low, high : their ends
    """

    kind: Kind = "linear"
    low: float = 0.0
    high: float = 1.0

    @property
    def scale(self) -> Scale:
        """From probabilities to places from 0 to 1."""
        return Scale(self.low, self.high, self.kind)

    def inside(self, values: FloatArray) -> FloatArray:
        """Values beyond the axes come to their edge."""
        return np.clip(values, self.low, self.high)

    @property
    def ends(self) -> tuple[float, float]:
        """Limits of an axis, with a little room."""
        places = np.array([-_MARGIN, 1 + _MARGIN])
        low, high = self.scale.value(places).tolist()
        return low, high


UNIT = Frame()


def frame_of(
    curves: Sequence[tuple[ReliabilityCurve, ReliabilityDisplay | None]],
    axis: AxisChoice,
    *,
    from_zero: bool = False,
) -> Frame:
    """Axes that hold all curves: as their displays chose them, or as asked."""
    if axis == "unit":
        return UNIT
    every = {str(i): d or display_of_curve(curve) for i, (curve, d) in enumerate(curves)}
    shared = next(iter(shared_axes(every).values()))
    if axis != "logit" and (from_zero or (axis == "linear" and shared.axis == "logit")):
        return Frame("linear", 0.0, 1.0 if shared.high > 0.6 else shared.high)
    if axis == "logit" and shared.axis != "logit":
        low = min(float(curve.predicted.min()) for curve, _ in curves)
        high = max(float(curve.predicted.max()) for curve, _ in curves)
        return Frame("logit", max(low / 2, 1e-4), min(1 - (1 - high) / 2, 1 - 1e-4))
    return Frame("logit" if shared.axis == "logit" else "linear", shared.low, shared.high)


class RoundTicks(Locator):
    """Round numbers wherever the axis ends, as many as find room."""

    def __init__(self, kind: Kind, *, across: bool, most: int = 7) -> None:
        self._kind, self._across, self._most = kind, across, most

    def __call__(self) -> Any:
        """Ticks of the axis as it is now."""
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Ticks between two ends."""
        low, high = sorted((float(vmin), float(vmax)))
        if self._kind == "logit":
            low, high = max(low, _EDGE), min(high, 1 - _EDGE)
        if not high > low:
            return np.array([low])
        ticks = Scale(low, high, self._kind).ticks(
            self._length(), across=self._across, most=self._most
        )
        return np.array([value for value, _ in ticks])

    def _length(self) -> float:
        """Pixels at which numbers have the size that a scale supposes."""
        axis: Any = self.axis
        ax = getattr(axis, "axes", None)
        if ax is None:
            return 300.0
        box, dpi = ax.get_window_extent(), ax.figure.figure.dpi
        points = 72 / dpi * (box.width if self._across else box.height)
        label = axis.get_major_ticks(1)[0].label1.get_size() if axis.majorTicks else 10.0
        return float(points * SIZE / label)


def set_frame(
    ax: Axes, which: Literal["x", "y", "both"] = "both", frame: Frame = UNIT, *, most: int = 7
) -> None:
    """Scale axes for probabilities, with ticks that follow whatever is zoomed to."""
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        if which not in (name, "both"):
            continue
        if frame.kind == "logit":
            getattr(ax, f"set_{name}scale")("logit", nonpositive="clip")
        getattr(ax, f"set_{name}lim")(*frame.ends)
        axis.set_major_locator(RoundTicks(frame.kind, across=name == "x", most=most))
        axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(float(value))))
        axis.set_minor_locator(NullLocator())
    if which == "both":
        ax.set_box_aspect(1)


def diagonal_of(frame: Frame) -> tuple[list[float], list[float]]:
    """Corners of the diagonal, beyond the ends of the axes."""
    ends = [_EDGE, 0.5, 1 - _EDGE] if frame.kind == "logit" else [0.0, 1.0]
    return ends, ends
