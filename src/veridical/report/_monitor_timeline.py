"""A monitor's history as a picture: deviation with its limits, evidence, and the alarm."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from veridical.report._charts import Chart, TimePanel, timeline_chart
from veridical.results._monitoring import MonitorHistory, MonitorStatus


def monitor_timeline(history: MonitorHistory, status: MonitorStatus, window: float) -> Chart:
    """Deviation of the rolling window with its confidence sequence, and the evidence below.

    Over time where every bucket has a timestamp in ISO 8601 and they are in order, else over the
    number of rows.
    """
    timed = _in_time(history.ended)
    at: Sequence[str] | Sequence[float]
    at = list(history.ended) if timed else history.n_rows.tolist()
    alarms = [] if not status.alarm else [at[_alarm_bucket(history, status, timed=timed)]]
    panels = [
        TimePanel(
            name="observed \N{MINUS SIGN} predicted",
            at=at,
            value=history.deviation.tolist(),
            low=history.low.tolist(),
            high=history.high.tolist(),
            reference=0.0,
            alarms=alarms,
        ),
        TimePanel(
            name="log10 of the evidence",
            at=at,
            value=(history.log_e / math.log(10)).tolist(),
            reference=-math.log10(status.level),
            alarms=alarms,
        ),
    ]
    axis = "end of batch" if timed else "rows seen"
    return timeline_chart(panels, axis=axis, title=f"Last {window:,.0f} rows, and the evidence")


def _in_time(ended: Sequence[str]) -> bool:
    """Whether all are points in time, of one kind and in order."""
    try:
        times = [dt.datetime.fromisoformat(text) for text in ended]
        return all(a <= b for a, b in pairwise(times))
    except (ValueError, TypeError):  # no time, or some with and some without a zone
        return False


def _alarm_bucket(history: MonitorHistory, status: MonitorStatus, *, timed: bool) -> int:
    """The bucket that holds the batch of the alarm, as far as buckets can tell."""
    if timed and status.alarmed_at is not None:
        later = [i for i, ended in enumerate(history.ended) if ended >= status.alarmed_at]
        if later:
            return later[0]
    above = np.flatnonzero(history.log_e >= -math.log(status.level))
    return int(above[0]) if len(above) else int(history.log_e.argmax())
