"""The sections of a report, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from veridical.report._blocks import Block, Heading, Section
from veridical.report._content import ModelFindings, Settings
from veridical.report._content_curves import short
from veridical.report._section_appendix import appendix_blocks
from veridical.report._section_evidence import evidence_blocks, families_blocks
from veridical.report._section_figures import reliability_blocks, simplex_blocks
from veridical.report._section_models import comparison_blocks, recalibration_blocks
from veridical.report._section_scores import (
    discrimination_blocks,
    errors_blocks,
    scores_blocks,
    verdict_blocks,
)
from veridical.report._section_use import data_blocks, decisions_blocks
from veridical.results import Comparison

_Writer = Callable[[ModelFindings, int], Iterable[Block]]

_VERDICT: tuple[str, str, _Writer] = ("verdict", "Verdict", verdict_blocks)
_WRITERS: tuple[tuple[str, str, _Writer], ...] = (
    ("discrimination", "Discrimination and calibration", discrimination_blocks),
    ("scores", "Scores and their parts", scores_blocks),
    ("errors", "Calibration errors", errors_blocks),
    ("tests", "Tests and equivalence", evidence_blocks),
    ("reliability", "Reliability diagrams", reliability_blocks),
    ("families", "Classes and groups", families_blocks),
    ("simplex", "Predictions of three classes", simplex_blocks),
    ("recalibration", "Before and after recalibration", recalibration_blocks),
    ("decisions", "Decisions", decisions_blocks),
    ("data", "The data", data_blocks),
)


def sections_of(
    models: tuple[ModelFindings, ...], comparison: Comparison | None, settings: Settings
) -> list[Section]:
    """Every section that has something to say."""
    found = [_section(*_VERDICT, models)]
    if comparison is not None:
        blocks = tuple(comparison_blocks(comparison))
        found.append(Section("models", "Models side by side", blocks))
    found += [_section(*writer, models) for writer in _WRITERS]
    appendix = tuple(appendix_blocks(settings, models))
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
