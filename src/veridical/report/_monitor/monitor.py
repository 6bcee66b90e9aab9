"""What a monitor knows, as one page, Markdown or numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.exceptions import InvalidInputError, invalid
from veridical.report._monitor.look import MonitorLook, continues, embedded, look_of, read_look
from veridical.report._page.blocks import Section
from veridical.report._page.page import SavedPage, versions
from veridical.results import (
    MonitorHistory,
    MonitorStatus,
    MonitorVersions,
    ReliabilityCurve,
    Result,
)

if TYPE_CHECKING:
    from veridical.monitoring import CalibrationMonitor


@dataclass(frozen=True, kw_only=True)
class MonitorSettings(Result):
    """What the monitor was told at its start, and with what its page is made.

    Attributes
    ----------
    labels : classes in the order of the columns, None before the first batch
    pos_label : positive class of two; None for the larger one
    level : chance of a false alarm, ever
    window, half_life : rows of the windows
    confidence_level : of all limits together
    versions : of this library and what it stands on
    """

    labels: tuple[Any, ...] | None
    pos_label: Any
    level: float
    window: float
    half_life: float
    confidence_level: float
    versions: dict[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class MonitorReport(SavedPage):
    """A look at a monitor that can be kept, sent and read without it.

    Attributes
    ----------
    title : of the page
    source : the store
    settings : what the figures depend on
    status : what is known at this look
    history : what happened bucket by bucket; None before the first row
    curves : reliability "now" (the rolling window) and "before"
    n_waiting : predictions without an outcome yet
    waiting_since : timestamp of the oldest of them, if it has one
    versions : maps that were fitted, and what was watched when
    store_id : of the store, by which the next page knows that it is about the same one
    before : an earlier look, which this one is compared with
    html : the page, whole and without outside resources
    markdown : the same without charts
    """

    title: str
    source: str
    settings: MonitorSettings
    status: MonitorStatus
    history: MonitorHistory | None
    curves: dict[str, ReliabilityCurve]
    n_waiting: int
    waiting_since: str | None
    versions: MonitorVersions
    store_id: str | None = None
    before: MonitorLook | None = None

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        return self.status.verdict

    @cached_property
    def sections(self) -> list[Section]:
        """What is shown, block by block."""
        from veridical.report._monitor.sections import sections_of_monitor

        return sections_of_monitor(self)

    @property
    def data(self) -> str:
        """What the next page will compare itself with."""
        return embedded(look_of(self))

    @property
    def subtitle(self) -> str:
        """One line on what was looked at."""
        facts = [
            self.source,
            *([self.status.event] if self.status.event else []),
            f"{self.status.n_samples:,} rows in {self.status.n_batches:,} batches",
        ]
        if self.history is not None and self.history.ended[-1]:
            facts.append(f"up to {self.history.ended[-1]:.60}")
        return ", ".join(facts)

    def _columns(self) -> dict[str, list[Any]]:
        """Evidence of every part, as in the status."""
        return self.status._columns()


_CALLER = "monitor_report"
_TITLE = "Calibration monitor"
_KEPT = ("pos_label", "level", "window", "half_life", "confidence_level")


def monitor_report(
    monitor: CalibrationMonitor | str | os.PathLike[str],
    *,
    title: str | None = None,
    since: MonitorReport | str | os.PathLike[str] | None = None,
) -> MonitorReport:
    """Gather what a monitor knows at this moment for a page.

    Parameters
    ----------
    monitor : CalibrationMonitor, str or path
        A monitor, the file of one, or an address of PostgreSQL.
    title : str, optional
        Heading; default "Calibration monitor".
    since : MonitorReport, str or path, optional
        An earlier look at the same store, or the .html or .json it was saved to: the page then
        begins with what has changed since.

    Returns
    -------
    MonitorReport
        Everything is of one moment, whatever other processes write meanwhile. Its `save` writes
        .html, .md or .json.

    Examples
    --------
    >>> from veridical.monitoring import CalibrationMonitor
    >>> monitor = CalibrationMonitor()
    >>> _ = monitor.update([0, 1, 1], [0.2, 0.7, 0.9])
    >>> print(monitor_report(monitor).subtitle)
    :memory:, the probability of y = 1, 3 rows in 1 batches
    """
    before = None if since is None else read_look(since)
    from veridical.monitoring import CalibrationMonitor
    from veridical.monitoring.core import is_address

    if isinstance(monitor, CalibrationMonitor):
        return _compared(_gathered(monitor, title), before)
    if not (is_address(monitor) or Path(monitor).is_file()):
        hint = "name a file that `CalibrationMonitor` has made, or an address."
        raise invalid(_CALLER, "monitor", "an existing store", repr(str(monitor)), hint=hint)
    with CalibrationMonitor(monitor, read_only=True) as opened:
        return _compared(_gathered(opened, title), before)


def _compared(report: MonitorReport, before: MonitorLook | None) -> MonitorReport:
    if before is None:
        return report
    if not continues(before, look_of(report)):
        hint = "name an earlier page of this store."
        raise invalid(_CALLER, "since", "an earlier look at this store", "another one", hint=hint)
    return replace(report, before=before)


def since_page(report: MonitorReport, path: str | os.PathLike[str]) -> MonitorReport:
    """The report compared with a page, if that is an earlier one of the same store."""
    try:
        before = read_look(path)
    except InvalidInputError:
        return report
    return replace(report, before=before) if continues(before, look_of(report)) else report


def _gathered(monitor: CalibrationMonitor, title: str | None) -> MonitorReport:
    from veridical.monitoring.core import is_address, one_moment

    with one_moment(monitor) as memory:
        status = monitor.status()
        seen = status.n_batches > 0
        n_waiting, since = memory.pending.waiting()
        kept = monitor.settings
        return MonitorReport(
            title=_TITLE if title is None else str(title),
            source=monitor.path if is_address(monitor.path) else Path(monitor.path).name,
            settings=MonitorSettings(
                labels=monitor.classes, versions=versions(), **{name: kept[name] for name in _KEPT}
            ),
            status=status,
            history=monitor.history() if seen else None,
            curves=monitor.curves() if seen else {},
            n_waiting=n_waiting,
            waiting_since=since if n_waiting else None,
            versions=monitor.versions(),
            store_id=memory.store.setting("store_id"),
        )
