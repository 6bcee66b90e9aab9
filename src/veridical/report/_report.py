"""The report as an object: read it, save it, show it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from veridical.report._blocks import Section
from veridical.report._content import ModelFindings, Settings
from veridical.report._markdown import plain, section_markdown
from veridical.report._saved import SavedPage
from veridical.report._sections import sections_of
from veridical.results import Comparison


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(SavedPage):
    """A report on one model or several.

    Attributes
    ----------
    title : of the page
    date : as given, "" if none was
    settings : what the figures depend on
    models : everything about each model
    comparison : paired differences of several models; None for one
    html : the page, whole and without outside resources (needs the extra `report`)
    markdown : the same without charts
    """

    title: str
    date: str
    settings: Settings
    models: tuple[ModelFindings, ...]
    comparison: Comparison | None = None

    @property
    def headline(self) -> str:
        """The verdict in a sentence or two; one line for each model."""
        lines = []
        for model in self.models:
            parts = (model.headline.text, model.headline.also, model.recalibration.text)
            said = " ".join(part for part in parts if part)
            lines.append(f"{model.name}: {said}" if len(self.models) > 1 else said)
        return "\n".join(lines)

    @cached_property
    def sections(self) -> list[Section]:
        """What is shown, block by block."""
        return sections_of(self.models, self.comparison, self.settings)

    @cached_property
    def markdown(self) -> str:
        """The report for a pull request: all words and tables, no charts."""
        parts = [f"# {plain(self.title)}", plain(self.subtitle)]
        return "\n\n".join([*parts, *map(section_markdown, self.sections)]) + "\n"

    @property
    def subtitle(self) -> str:
        """Return one line on what was looked at."""
        e = self.models[0].evaluation
        classes = f"{len(e.classes):,} classes"
        if len(e.classes) == 2:
            classes = f"positive class {e.classes[1]!s:.60}"
        said = [self.settings.source, f"{e.n_samples:,} rows", classes]
        if len(self.models) > 1:
            said.append(f"{len(self.models)} models")
        return ", ".join([*said, self.date] if self.date else said)

    @property
    def library(self) -> str:
        """Version of the library that made it."""
        return self.settings.versions["veridical"]

    def _columns(self) -> dict[str, list[Any]]:
        """One row a figure of the evaluations; `model` names the model."""
        columns: dict[str, list[Any]] = {}
        for model in self.models:
            own = model.evaluation._columns()
            own = {"model": [model.name] * len(own["quantity"]), **own}
            for name, values in own.items():
                columns.setdefault(name, []).extend(values)
        return columns
