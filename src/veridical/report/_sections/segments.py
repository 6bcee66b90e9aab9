"""The section on segments that nobody named."""

from __future__ import annotations

from collections.abc import Iterator

from veridical.report._charts.catalogue import segment_map_chart, segments_chart
from veridical.report._content.content import ModelFindings
from veridical.report._page.blocks import Block, Figure, Paragraph, Points, sentence


def segment_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """What a search over all segments found; nothing if none was made."""
    audit = m.evaluation.segments
    if audit is None:
        return
    yield Paragraph(audit.sentence)
    if audit.found:
        yield Points(tuple(each.in_words(audit.n_resamples) for each in audit.found))
    yield Paragraph(audit.worst_words)
    yield Figure(
        f"segments-{index}",
        lambda: segments_chart(audit),
        "What happens minus what is said, by segment: those found first, then those that deviate"
        " most. Limits hold for all segments searched at once; in colour are those that the search"
        " shows to be miscalibrated, all others considered.",
    )
    if audit.pairs:
        first, second = audit.pairs[0]
        yield Figure(f"segment-map-{index}", lambda: segment_map_chart(audit, first, second))
    yield Paragraph(
        "A p-value above the level does not show that every segment is calibrated: the limits say"
        " how large a gap can be, and those of small segments are wide.",
        "read",
    )
    yield Paragraph(f"{sentence(audit.how)} {' '.join(map(sentence, audit.notes))}".strip(), "note")


def segment_answer(m: ModelFindings) -> str:
    """The sentence of the search."""
    audit = m.evaluation.segments
    return "" if audit is None else audit.sentence
