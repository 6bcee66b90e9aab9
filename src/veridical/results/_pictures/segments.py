"""Segments of an audit: their gaps with limits, and two features crossed."""

from __future__ import annotations

from typing import Any

from veridical._core.drawing.picture import Picture
from veridical._core.drawing.words import LINE, cut, gap_text, widest, width_of, wrap
from veridical.results._pictures.forest import MINUS, ForestRow, forest
from veridical.results.base import say_pvalue
from veridical.results.segments import Segment, SegmentAudit, two

_ROWS = 12
_CELL = 40.0  # pixels of a row of the table
_NARROWEST = 46.0  # pixels of a column with a number
AXIS = f"what happens {MINUS} what is said; limits hold for all segments at once"


def segments(
    audit: SegmentAudit,
    *,
    width: float = 640,
    title: str = "Segments",
    description: str = "",
) -> Picture:
    """Gaps of the segments that were found, and of those that deviate most."""
    return forest(
        segment_rows(audit),
        AXIS,
        width=width,
        reference=0.0,
        title=title,
        description=description or audit.sentence,
    )


def segment_rows(audit: SegmentAudit) -> list[ForestRow]:
    """One row a segment, those found first; in colour where the adjusted p-value is small."""
    sure = (1 - audit.confidence_level) * (1 + 1e-9)
    return [
        ForestRow(
            name=each.name if each.label is None else f"{each.name} ({each.label})",
            estimate=each.gap,
            low=each.low - each.says,
            high=each.high - each.says,
            note=f"{each.n_samples:,} rows, {say_pvalue(each.pvalue, audit.n_resamples)}",
            kind="main" if each.pvalue <= sure else "other",
        )
        for each in audit.shown(_ROWS)
    ]


def segment_map(
    audit: SegmentAudit,
    first: str,
    second: str,
    *,
    width: float = 640,
    title: str = "",
) -> Picture:
    """Gaps of the segments of two features: a table whose colours are their sizes."""
    down, across, places = audit.pair(first, second)
    names = [words.removeprefix(f"{first} ").removeprefix("= ") for words in down]
    heads = [words.removeprefix(f"{second} ").removeprefix("= ") for words in across]
    left = min(widest(names) + 12, 0.4 * width)
    most = max(1, int((width - left) / _NARROWEST))
    heads = heads[:most]  # a table beside the picture holds them all
    column = (width - left) / len(heads)
    below = f"colour: what happens {MINUS} what is said; outlined: adjusted p at most"
    below += f" {1 - audit.confidence_level:.2g}; blank: too few rows"
    legend = wrap(below, width)
    height = 2 * LINE + _CELL * len(names) + 12 + LINE * len(legend)
    picture = Picture(width, height, title or f"{first} and {second}", audit.sentence)
    largest = max(abs(each.gap) for each in places.values())
    picture.text(left, LINE - 4, cut(second, width - left), "strong")
    for k, head in enumerate(heads):
        words = cut(head, column - 8)
        picture.text(left + column * (k + 0.5), 2 * LINE - 4, words, "muted", anchor="middle")
    for i, name in enumerate(names):
        top = 2 * LINE + 4 + _CELL * i
        picture.text(0, top + _CELL / 2 + 4, cut(name, left - 8))
        for k in range(len(heads)):
            if (i, k) in places:
                _cell(picture, places[i, k], audit, largest, left + column * k, top, column)
    picture.lines(0, height - LINE * len(legend) + 8, legend, "muted")
    return picture


def _cell(
    picture: Picture,
    segment: Segment,
    audit: SegmentAudit,
    largest: float,
    left: float,
    top: float,
    width: float,
) -> None:
    """One segment: orange where less happens than is said, blue where more does."""
    strength = abs(segment.gap) / largest if largest > 0 else 0.0
    sure = segment.pvalue <= (1 - audit.confidence_level) * (1 + 1e-9)
    place: dict[str, Any] = {"x": left + 1, "y": top + 1, "width": width - 2, "height": _CELL - 2}
    with picture.group("after" if segment.gap > 0 else "before"):
        opacity = f"{0.06 + 0.5 * strength:.2f}"
        picture.add("rect", "full", fill_opacity=opacity, **place)
        if sure:
            picture.add("rect", "whisker", **place)
    text = gap_text(segment.gap)
    if width_of(text) <= width - 6:
        picture.text(left + width / 2, top + _CELL / 2 + 4, text, anchor="middle")
    picture.add("rect", "touch", tip=tip_of(segment, audit), **place)


def tip_of(segment: Segment, audit: SegmentAudit) -> str:
    """All numbers of a segment."""
    return "\n".join(
        [
            segment.name,
            f"{segment.n_samples:,} rows",
            f"says {two(segment.says)}, happens {two(segment.happens)}",
            f"limits {two(segment.low)} to {two(segment.high)}",
            say_pvalue(segment.pvalue, audit.n_resamples, name="adjusted p"),
        ]
    )
