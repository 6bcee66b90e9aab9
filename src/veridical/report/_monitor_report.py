"""What a monitor knows, as one page, Markdown or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from veridical.report._blocks import Figure, Section
from veridical.report._markdown import plain, section_markdown
from veridical.report._saved import SavedPage
from veridical.results import ReliabilityCurve
from veridical.results._base import Result
from veridical.results._monitor_action import MonitorVersions
from veridical.results._monitoring import MonitorHistory, MonitorStatus


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
    html : the page, whole and without outside resources (needs the extra `report`)
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

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        return self.status.verdict

    @cached_property
    def sections(self) -> list[Section]:
        """What is shown, block by block."""
        from veridical.report._monitor_sections import sections_of_monitor

        return sections_of_monitor(self)

    @cached_property
    def markdown(self) -> str:
        """The page for a pull request: all words and tables, no charts."""
        parts = [f"# {plain(self.title)}", plain(self.subtitle)]
        for section in self.sections:
            if not all(isinstance(block, Figure) for block in section.blocks):
                parts.append(section_markdown(section))
        return "\n\n".join(parts) + "\n"

    @property
    def subtitle(self) -> str:
        """One line on what was looked at."""
        said = [self.source, f"{self.status.n_samples:,} rows in {self.status.n_batches:,} batches"]
        if self.history is not None and self.history.ended[-1]:
            said.append(f"up to {self.history.ended[-1]:.60}")
        return ", ".join(said)

    @property
    def library(self) -> str:
        """Version of the library that made it."""
        return self.settings.versions["veridical"]

    def _columns(self) -> dict[str, list[Any]]:
        """Evidence of every part, as in the status."""
        return self.status._columns()
