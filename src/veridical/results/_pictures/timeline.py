"""Figures over time: estimates with their bands, evidence, and alarms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veridical._core.drawing.picture import Panel, Picture, room_left
from veridical._core.drawing.scales import Scale, rounded_ends
from veridical._core.drawing.words import LINE, wrap
from veridical._core.typing import FloatArray, IntArray

_HEIGHT = 140.0
_MOST = 1000  # points of a line; a test after each of a million rows has a million


@dataclass(frozen=True, kw_only=True)
class TimePanel:
    """One line over time.

    Attributes
    ----------
    name : what it is, the title of its axis
    at : when: numbers of rows, or times as ISO text
    value : the figure at each
    low, high : limits of a band, or None
    reference : level to compare with, such as where an alarm is raised, or None
    alarms : when alarms were raised
    """

    name: str
    at: Sequence[float] | Sequence[str]
    value: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    reference: float | None = None
    alarms: Sequence[float] | Sequence[str] = ()

    @property
    def timed(self) -> bool:
        """Whether it is over times, not numbers of rows."""
        return isinstance(self.at[0], str)


def timeline(
    panels: Sequence[TimePanel],
    *,
    axis: str = "rows seen",
    width: float = 640,
    title: str = "Calibration over time",
    description: str = "",
) -> Picture:
    """Lines with bands over the same time, one below the other, with alarms marked."""
    places = [seconds(panel.at) for panel in panels]
    start, end = min(float(p[0]) for p in places), max(float(p[-1]) for p in places)
    x = Scale(start, end if end > start else start + 1, "time" if panels[0].timed else "linear")
    scales = [_upwards(panel) for panel in panels]
    left = max(room_left(scale, _HEIGHT, most=5) for scale in scales)
    heads = [LINE * len(wrap(panel.name, width - 4)) + 18 for panel in panels]
    height = sum(heads) + len(panels) * (_HEIGHT + 8) + 3 * LINE + 2
    picture = Picture(width, height, title, description)
    top = 0.0
    for i, (panel, at, y) in enumerate(zip(panels, places, scales, strict=True)):
        top += heads[i]
        plot = Panel(picture, left, top, width - left - 12, _HEIGHT, x, y)
        plot.axis_left(panel.name, most=5)
        _draw(plot, panel, at)
        last = i == len(panels) - 1
        plot.axis_below(axis if last else "", labels=last, most=6)
        top += _HEIGHT + 8
    return picture


def seconds(at: Sequence[float] | Sequence[str]) -> FloatArray:
    """Numbers of rows as they are, times in seconds; without a zone they are universal."""
    if not isinstance(at[0], str):
        return np.asarray(at, dtype=np.float64)
    times = [dt.datetime.fromisoformat(str(each)) for each in at]
    zoned = [time if time.tzinfo else time.replace(tzinfo=dt.UTC) for time in times]
    return np.array([time.timestamp() for time in zoned])


def kept(count: int, also: Sequence[int] = ()) -> IntArray:
    """Indices of the points drawn: all, or evenly spread ones with both ends and some others."""
    if count <= _MOST:
        return np.arange(count)
    spread = np.linspace(0, count - 1, _MOST - len(also)).astype(np.intp)
    return np.unique(np.concatenate([spread, np.array(also, dtype=np.intp)]))


def _upwards(panel: TimePanel) -> Scale:
    values = [v for v in (*panel.value, *(panel.low or ()), *(panel.high or ())) if v is not None]
    if panel.reference is not None:
        values.append(panel.reference)
    finite = [float(v) for v in values if np.isfinite(v)] or [0.0]
    return Scale(*rounded_ends(min(finite), max(finite)))


def _draw(plot: Panel, panel: TimePanel, at: FloatArray) -> None:
    keep = kept(len(at))
    value = np.asarray(panel.value, dtype=np.float64)
    if panel.reference is not None:
        plot.line([plot.x.low, plot.x.high], [panel.reference] * 2, "reference dash")
    with plot.clipped(), plot.picture.group("after"):
        if panel.low is not None and panel.high is not None:
            low, high = (np.asarray(v, dtype=np.float64) for v in (panel.low, panel.high))
            plot.band(at[keep], low[keep], high[keep])
        plot.line(at[keep], value[keep])
    for i in keep[np.unique(np.linspace(0, len(keep) - 1, 60).astype(np.intp))]:
        if np.isfinite(value[i]):
            when = panel.at[i] if panel.timed else f"{float(panel.at[i]):,.10g}"
            x, y = float(plot.across(at[i])), float(plot.down(value[i]))
            tip = f"{when}: {value[i]:.4g}"
            plot.picture.add("circle", "touch", tip=tip, cx=x, cy=y, r=10.0)
    for alarm in seconds(panel.alarms) if len(panel.alarms) else ():
        x = float(plot.across(alarm))
        with plot.picture.group("alarm"):
            plot.picture.add("path", "line thin", d=f"M{x:.1f} {plot.top:.1f}v{_HEIGHT:.1f}")
        places = [(x + 4, plot.top + LINE - 3, "start"), (x - 4, plot.top + LINE - 3, "end")]
        plot.picture.text_where_free(places, "alarm")  # type: ignore[arg-type]
