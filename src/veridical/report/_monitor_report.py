"""What a monitor knows, as one page, Markdown or numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, cast

from veridical._core.files import write_whole
from veridical.report._blocks import Figure, Section
from veridical.report._markdown import plain, section_markdown
from veridical.report._report import check_kind
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
class MonitorReport(Result):
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
    def html(self) -> str:
        """The whole page as text."""
        from veridical.report._page import page_html

        return page_html(cast("Any", self))  # which reads title, subtitle, sections and versions

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

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page (.html), Markdown (.md) or every number (.json), whole or not at all.

        Parameters
        ----------
        path : str or path
            Its suffix says what is written.

        Returns
        -------
        Path
            Where it is.
        """
        target = Path(path)
        check_kind(target, caller="save")
        suffix = target.suffix.lower()
        if suffix == ".json":
            text = self.to_json(indent=2) + "\n"
        else:
            text = self.markdown if suffix == ".md" else self.html
        write_whole(target, text)
        return target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MonitorReport) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.title}\n{self.subtitle}\n\n{self.headline}"

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return (
            f'<iframe srcdoc="{page}" title="{escape(self.title)}"'
            ' style="width:100%;height:800px;border:0" sandbox="allow-scripts"></iframe>'
        )

    def _columns(self) -> dict[str, list[Any]]:
        """Evidence of every part, as in the status."""
        return self.status._columns()
