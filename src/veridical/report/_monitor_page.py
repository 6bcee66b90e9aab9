"""From a monitor to its page."""

from __future__ import annotations

import os
from pathlib import Path

from veridical.exceptions import invalid
from veridical.monitoring import CalibrationMonitor
from veridical.report._monitor_report import MonitorReport, MonitorSettings
from veridical.report._versions import versions

_CALLER = "monitor_report"
_TITLE = "Calibration monitor"


def monitor_report(
    monitor: CalibrationMonitor | str | os.PathLike[str], *, title: str | None = None
) -> MonitorReport:
    """Gather what a monitor knows at this moment for a page.

    Parameters
    ----------
    monitor : CalibrationMonitor, str or path
        A monitor, or the file of one.
    title : str, optional
        Heading; default "Calibration monitor".

    Returns
    -------
    MonitorReport
        Everything is of one moment, whatever other processes write meanwhile. Its `save` writes
        .html, .md or .json.

    Examples
    --------
    >>> monitor = CalibrationMonitor()
    >>> _ = monitor.update([0, 1, 1], [0.2, 0.7, 0.9])
    >>> print(monitor_report(monitor).subtitle)
    :memory:, 3 rows in 1 batches
    """
    if isinstance(monitor, CalibrationMonitor):
        return _gathered(monitor, title)
    if not Path(monitor).is_file():
        hint = "name a file that `CalibrationMonitor` has made."
        raise invalid(_CALLER, "monitor", "an existing store", repr(str(monitor)), hint=hint)
    with CalibrationMonitor(monitor) as opened:
        return _gathered(opened, title)


def _gathered(monitor: CalibrationMonitor, title: str | None) -> MonitorReport:
    with monitor._store.reading():
        status = monitor.status()
        seen = status.n_batches > 0
        n_waiting, since = monitor._pending.waiting()
        kept = monitor.settings
        return MonitorReport(
            title=_TITLE if title is None else str(title),
            source=Path(monitor.path).name,
            settings=MonitorSettings(
                labels=monitor.classes,
                pos_label=kept["pos_label"],
                level=kept["level"],
                window=kept["window"],
                half_life=kept["half_life"],
                confidence_level=kept["confidence_level"],
                versions=versions(),
            ),
            status=status,
            history=monitor.history() if seen else None,
            curves=monitor.curves() if seen else {},
            n_waiting=n_waiting,
            waiting_since=since if n_waiting else None,
            versions=monitor.versions(),
        )
