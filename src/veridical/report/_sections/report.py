"""The report as an object, and its sections in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from veridical.report._content.content import ModelFindings, Settings, short
from veridical.report._page.blocks import Block, Heading, Section
from veridical.report._page.page import SavedPage
from veridical.report._sections import measured, use
from veridical.results import Comparison

_Writer = Callable[[ModelFindings, int], Iterable[Block]]

_VERDICT: tuple[str, str, _Writer] = ("verdict", "Verdict", measured.verdict_blocks)
_WRITERS: tuple[tuple[str, str, _Writer], ...] = (
    ("discrimination", "Discrimination and calibration", measured.discrimination_blocks),
    ("scores", "Scores and their parts", measured.scores_blocks),
    ("errors", "Calibration errors", measured.errors_blocks),
    ("tests", "Tests and equivalence", measured.evidence_blocks),
    ("reliability", "Reliability diagrams", measured.reliability_blocks),
    ("families", "Classes and groups", measured.families_blocks),
    ("simplex", "Predictions of three classes", measured.simplex_blocks),
    ("recalibration", "Before and after recalibration", use.recalibration_blocks),
    ("decisions", "Decisions", use.decisions_blocks),
    ("data", "The data", use.data_blocks),
)


def sections_of(
    models: tuple[ModelFindings, ...], comparison: Comparison | None, settings: Settings
) -> list[Section]:
    """Every section that has something to say."""
    found = [_section(*_VERDICT, models)]
    if comparison is not None:
        blocks = tuple(use.comparison_blocks(comparison))
        found.append(Section("models", "Models side by side", blocks))
    found += [_section(*writer, models) for writer in _WRITERS]
    appendix = tuple(use.appendix_blocks(settings, models))
    found.append(Section("appendix", "Appendix: definitions, settings, versions", appendix))
    return [section for section in found if section.blocks]


def _section(
    identifier: str, title: str, writer: _Writer, models: tuple[ModelFindings, ...]
) -> Section:
    return Section(identifier, title, tuple(_blocks(writer, models)))


def _blocks(writer: _Writer, models: tuple[ModelFindings, ...]) -> Iterator[Block]:
    for index, model in enumerate(models):
        blocks = list(writer(model, index))
        if len(models) > 1 and blocks:
            yield Heading(f"Model {short(model.name, 100)}")
        yield from blocks


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
            several = len(self.models) > 1
            lines.append(f"{model.name}: {model.headline}" if several else model.headline)
        return "\n".join(lines)

    @cached_property
    def sections(self) -> list[Section]:
        """What is shown, block by block."""
        return sections_of(self.models, self.comparison, self.settings)

    @property
    def subtitle(self) -> str:
        """Return one line on what was looked at."""
        e = self.models[0].evaluation
        classes = f"{len(e.classes):,} classes"
        if len(e.classes) == 2:
            classes = e.verdict.about
        facts = [self.settings.source, f"{e.n_samples:,} rows", classes]
        if len(self.models) > 1:
            facts.append(f"{len(self.models)} models")
        return ", ".join([*facts, self.date] if self.date else facts)

    def _columns(self) -> dict[str, list[Any]]:
        """One row a figure of the evaluations; `model` names the model."""
        columns: dict[str, list[Any]] = {}
        for model in self.models:
            own = model.evaluation._columns()
            own = {"model": [model.name] * len(own["quantity"]), **own}
            for name, values in own.items():
                columns.setdefault(name, []).extend(values)
        return columns
