"""Figures over time: estimates with their bands, evidence, and alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import IntArray
from veridical.exceptions import invalid
from veridical.report._charts import parts
from veridical.report._charts.chart import Chart, Layout, plain, table_of, top_level
from veridical.report._charts.parts import layer, mark, number
from veridical.results import SequentialTest

_WIDTH, _HEIGHT = 560, 150
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


def evidence_panel(test: SequentialTest) -> TimePanel:
    """Logarithm to base 10 of the evidence of a sequential test after each row.

    Alarm is at 1 / level. At most 1,000 rows are kept: evenly spread ones, the last, the one of
    the largest evidence and that of the alarm.

    Examples
    --------
    >>> from veridical import sequential_test
    >>> panel = evidence_panel(sequential_test([1, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]))
    >>> list(panel.at), round(panel.reference, 3)
    ([1, 2, 3, 4], 1.301)
    """
    count = len(test.path)
    alarms = [] if test.alarm_at is None else [test.alarm_at]
    keep = _kept(count, [int(np.argmax(test.path)), *alarms])
    return TimePanel(
        name="log10 of the evidence against calibration",
        at=[int(i) + 1 for i in keep],
        value=(test.path[keep] / math.log(10)).tolist(),
        reference=-math.log10(test.level),
        alarms=tuple(at + 1 for at in alarms),
    )


def timeline_chart(
    panels: Sequence[TimePanel], *, axis: str = "rows seen", title: str = "Calibration over time"
) -> Chart:
    """Lines with bands over the same time, one below the other, with alarms marked.

    Parameters
    ----------
    panels : sequence of TimePanel
        From top to bottom; all with numbers, or all with times.
    axis : str, default "rows seen"
        Words under the time axis.
    title : str
        Heading.

    Returns
    -------
    Chart
        One panel a figure.

    Examples
    --------
    >>> panel = TimePanel(name="ECE", at=[1, 2], value=[0.1, 0.2], alarms=[2])
    >>> timeline_chart([panel]).description
    'ECE over rows seen: from 0.1000 to 0.2000; alarm at 2.'
    """
    shown = list(panels)
    if not shown or not all(isinstance(each, TimePanel) and len(each.at) for each in shown):
        hint = "pass a list of `TimePanel`."
        got = repr(panels)[:60]
        raise invalid("timeline_chart", "panels", "panels with values", got, hint=hint)
    times = [isinstance(panel.at[0], str) for panel in shown]
    if any(times) != all(times):
        hint = "give all of them row numbers, or all of them times."
        raise invalid("timeline_chart", "panels", "on one time axis", "both kinds", hint=hint)
    kind = "temporal" if times[0] else "quantitative"
    ends = [end for panel in shown for end in (panel.at[0], panel.at[-1])]
    domain = [min(ends), max(ends)]
    data: dict[str, list[dict[str, Any]]] = {}
    views = []
    for i, panel in enumerate(shown):
        data[f"line{i}"] = _rows(panel)
        data[f"alarm{i}"] = [{"at": at} for at in panel.alarms]
        words = axis if i == len(shown) - 1 else ""
        views.append(_view(i, panel, kind, domain, words))
    return Chart(
        spec=top_level(data, vconcat=views, spacing=30),
        title=title,
        description=" ".join(_words(panel, axis) for panel in shown),
        table=table_of(
            ("figure", axis, "value", "low", "high"),
            [
                (panel.name, _when(row["at"]), row["value"], row["low"], row["high"])
                for i, panel in enumerate(shown)
                for row in data[f"line{i}"]
            ],
        ),
        layout=Layout(width=_WIDTH, height=_HEIGHT, beside=parts.BESIDE + 18, max_width=900),
    )


def _rows(panel: TimePanel) -> list[dict[str, Any]]:
    count = len(panel.at)
    low = [None] * count if panel.low is None else panel.low
    high = [None] * count if panel.high is None else panel.high
    return [
        {
            "at": panel.at[i] if isinstance(panel.at[i], str) else float(panel.at[i]),
            "value": plain(panel.value[i]),
            "low": plain(low[i]),
            "high": plain(high[i]),
        }
        for i in _kept(count, [])
    ]


def _view(i: int, panel: TimePanel, kind: str, domain: list[Any], words: str) -> dict[str, Any]:
    form = {} if kind == "temporal" else {"format": "~s"}
    shown = parts.x_axis(words, labels=True, labelOverlap="greedy", tickCount=6, **form)
    x = {"field": "at", "type": kind, "axis": shown, "scale": {"domain": domain, "nice": False}}
    y = number("value", parts.y_axis(panel.name, grid=True, tickCount=4), zero=False)
    named_at = {"field": "at", "title": words or "at", "type": kind}
    tip = [named_at, *parts.tips(("value", "value", ".5~g"), *parts.limit_tips(".5~g"))]
    layers: list[dict[str, Any]] = [
        layer(
            parts.AREA,
            {"x": x, "y": number("low", None), "y2": {"field": "high"}},
            where="isValid(datum.low) && isValid(datum.high)",
        ),
        layer(mark("line", "series"), {"x": x, "y": y}),
        layer(parts.touch(160), {"x": x, "y": y, "tooltip": tip}),
    ]
    if panel.reference is not None:
        dashed = mark("rule", "reference", strokeDash=[7, 3])
        layers.append(layer(dashed, {"y": {"datum": panel.reference}}, data=[{}]))
    if panel.alarms:
        text = mark("text", "note", text="alarm", align="left", dx=4)
        layers += [
            layer(mark("rule", "alarm"), {"x": x}, data=f"alarm{i}"),
            layer(text, {"x": x, "y": {"value": 8}}, data=f"alarm{i}"),
        ]
    return {"width": _WIDTH, "height": _HEIGHT, "data": {"name": f"line{i}"}, "layer": layers}


def _words(panel: TimePanel, axis: str) -> str:
    alarms = ", ".join(_when(at) for at in panel.alarms)
    raised = f"alarm at {alarms}" if alarms else "no alarm"
    return (
        f"{panel.name} over {axis}: from {panel.value[0]:.4f} to {panel.value[-1]:.4f}; {raised}."
    )


def _when(at: Any) -> str:
    return at if isinstance(at, str) else f"{at:,.10g}"


def _kept(count: int, also: list[int]) -> IntArray:
    """Indices of the points drawn: all, or evenly spread ones with both ends and some others."""
    if count <= _MOST:
        return np.arange(count)
    spread = np.linspace(0, count - 1, _MOST - len(also)).astype(np.intp)
    return np.unique(np.concatenate([spread, np.array(also, dtype=np.intp)]))
