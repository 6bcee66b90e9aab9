"""The report as an object: read it, save it, show it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from veridical._core.files import write_whole
from veridical.exceptions import invalid
from veridical.report._blocks import Section
from veridical.report._content import ModelFindings, Settings
from veridical.report._markdown import plain, section_markdown
from veridical.report._sections import sections_of
from veridical.results import Comparison
from veridical.results._base import Result

KINDS = (".html", ".htm", ".md", ".json")


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(Result):
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
    def html(self) -> str:
        """The whole page as text."""
        from veridical.report._page import page_html

        return page_html(self)

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
        write_whole(target, self._as(target.suffix.lower()))
        return target

    def _as(self, suffix: str) -> str:
        if suffix == ".json":
            return self.to_json(indent=2) + "\n"
        return self.markdown if suffix == ".md" else self.html

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self.to_dict() == other.to_dict()

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
        """One row a figure of the evaluations; `model` names the model."""
        columns: dict[str, list[Any]] = {}
        for model in self.models:
            own = model.evaluation._columns()
            own = {"model": [model.name] * len(own["quantity"]), **own}
            for name, values in own.items():
                columns.setdefault(name, []).extend(values)
        return columns


def check_kind(path: Path, *, caller: str) -> None:
    """Raise where the suffix does not say what to write."""
    if path.suffix.lower() not in KINDS:
        hint = "end the name in .html for the page, .md for Markdown, .json for the numbers."
        got = repr(path.name)
        raise invalid(caller, "path", "a name that ends in .html, .md or .json", got, hint=hint)
