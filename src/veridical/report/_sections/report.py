"""The report as an object, and its sections in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from veridical.report._content.content import ModelFindings, Settings, short
from veridical.report._page.blocks import Block, Heading, Section
from veridical.report._page.page import SavedPage
from veridical.report._sections import measured, segments, use
from veridical.report._sections.first import first_blocks
from veridical.results import Comparison

_Writer = Callable[[ModelFindings, int], Iterable[Block]]
_Answer = Callable[[ModelFindings], str]

_WRITERS: tuple[tuple[str, str, _Writer, _Answer], ...] = (
    ("sure", "How sure is that?", measured.sure_blocks, measured.sure_answer),
    ("where", "Where is it off?", measured.where_blocks, measured.where_answer),
    (
        "segments",
        "Is it right for everybody?",
        segments.segment_blocks,
        segments.segment_answer,
    ),
    (
        "mend",
        "What does recalibration change?",
        use.recalibration_blocks,
        lambda m: m.recalibration.text,
    ),
    ("cost", "What does it cost?", use.cost_blocks, use.cost_answer),
    ("tests", "What do the tests say?", measured.test_blocks, measured.test_answer),
    ("data", "Are the data fit for it?", use.data_blocks, use.data_answer),
)
_PAIRS = "Every pair of models on the same rows, with intervals."
_APPENDIX = "Definitions, settings, versions, and the call that makes this page again."


def sections_of(
    models: tuple[ModelFindings, ...], comparison: Comparison | None, settings: Settings
) -> list[Section]:
    """The first screen, and every section that has something to say, folded."""
    found = [Section("verdict", "Verdict", tuple(first_blocks(models, comparison, settings)))]
    if comparison is not None:
        blocks = tuple(use.comparison_blocks(comparison))
        found.append(Section("models", "Which model is better?", blocks, _PAIRS))
    for name, title, writer, answer in _WRITERS:
        blocks = tuple(_blocks(writer, models))
        text = answer(models[0]) if len(models) == 1 else ""
        found.append(Section(name, title, blocks, text))
    appendix = tuple(use.appendix_blocks(settings, models))
    found.append(Section("appendix", "Appendix", appendix, _APPENDIX))
    return [section for section in found if section.blocks]


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
    date, author, period, purpose : as given, "" if none was
    settings : what the figures depend on
    models : everything about each model
    comparison : paired differences of several models; None for one
    html : the page, whole and without outside resources
    markdown : the same without charts
    """

    title: str
    date: str
    settings: Settings
    models: tuple[ModelFindings, ...]
    comparison: Comparison | None = None
    author: str = ""
    period: str = ""
    purpose: str = ""

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

    @property
    def provenance(self) -> list[tuple[str, str]]:
        """Who answers for it, of which period and for what the predictions are."""
        facts = [("Author", self.author), ("Period", self.period), ("Purpose", self.purpose)]
        return [(name, value) for name, value in facts if value]

    def _columns(self) -> dict[str, list[Any]]:
        """One row a figure of the evaluations; `model` names the model."""
        columns: dict[str, list[Any]] = {}
        for model in self.models:
            own = model.evaluation._columns()
            own = {"model": [model.name] * len(own["quantity"]), **own}
            for name, values in own.items():
                columns.setdefault(name, []).extend(values)
        return columns
