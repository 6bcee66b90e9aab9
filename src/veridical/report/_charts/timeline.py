"""Figures over time: estimates with their bands, evidence, and alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, table_of
from veridical.results import SequentialTest
from veridical.results.pictures import Picture, TimePanel, kept, timeline


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
    keep = kept(count, [int(np.argmax(test.path)), *alarms])
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
    said = " ".join(_words(panel, axis) for panel in shown)

    def draw(width: float) -> Picture:
        return timeline(shown, axis=axis, width=width, title=title, description=said)

    header = ("figure", axis, "value", "low", "high")
    return Chart(title, said, table_of(header, (row for p in shown for row in _rows(p))), draw)


def _rows(panel: TimePanel) -> Iterator[tuple[Any, ...]]:
    for i in kept(len(panel.at)):
        limits = (None if each is None else each[i] for each in (panel.low, panel.high))
        yield (panel.name, _when(panel.at[i]), panel.value[i], *limits)


def _words(panel: TimePanel, axis: str) -> str:
    alarms = ", ".join(_when(at) for at in panel.alarms)
    raised = f"alarm at {alarms}" if alarms else "no alarm"
    return (
        f"{panel.name} over {axis}: from {panel.value[0]:.4f} to {panel.value[-1]:.4f}; {raised}."
    )


def _when(at: Any) -> str:
    return at if isinstance(at, str) else f"{at:,.10g}"
