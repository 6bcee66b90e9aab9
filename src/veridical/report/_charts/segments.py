"""Segments of an audit on a page."""

from __future__ import annotations

from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, table_of
from veridical.results import SegmentAudit
from veridical.results.pictures import Picture, segment_map, segments


def segments_chart(audit: SegmentAudit, *, title: str = "Gaps of segments") -> Chart:
    """Gaps of the segments that were found and of those that deviate most.

    Parameters
    ----------
    audit : SegmentAudit
        From :func:`audit_segments`.
    title : str
        Heading.

    Returns
    -------
    Chart
        Limits hold for all segments searched at once; in colour are those whose adjusted p-value
        is small. The table has all that the audit lists.
    """
    _check(audit, "segments_chart")

    def draw(width: float) -> Picture:
        return segments(audit, width=width, title=title, description=audit.sentence)

    table = table_of(audit.header, audit.rows(audit.segments))
    return Chart(title, audit.sentence, table, draw)


def segment_map_chart(audit: SegmentAudit, first: str, second: str) -> Chart:
    """Gaps of the segments of two features, as a table of colours.

    Parameters
    ----------
    audit : SegmentAudit
        From :func:`audit_segments`, with segments of two features.
    first, second : str
        The features, down and across.
    """
    _check(audit, "segment_map_chart")
    title = f"{first} and {second}"

    def draw(width: float) -> Picture:
        return segment_map(audit, first, second, width=width, title=title)

    inside = tuple(each for each in audit.segments if each.features == (first, second))
    said = f"Gaps of {len(inside)} segments of {first} and {second}."
    return Chart(title, said, table_of(audit.header, audit.rows(inside)), draw)


def _check(audit: object, caller: str) -> None:
    if not isinstance(audit, SegmentAudit):
        hint = "pass what `audit_segments` returns."
        raise invalid(caller, "audit", "a SegmentAudit", type(audit).__name__, hint=hint)
