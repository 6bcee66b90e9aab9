"""Sections that are pictures first: reliability diagrams and the triangle of three classes."""

from __future__ import annotations

from collections.abc import Iterator

from veridical.report._blocks import Block, Figure, Paragraph
from veridical.report._charts import Chart, simplex_chart, switchable_reliability
from veridical.report._content import ModelFindings
from veridical.results import ReliabilityCurve
from veridical.summaries import VectorSummary


def reliability_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Observed frequency against prediction, with choices."""
    if not m.variants:
        return
    yield Figure(
        f"reliability-{index}",
        lambda: _switchable(m),
        "Of all rows where the model said x, which share came true? A calibrated model lies on"
        " the diagonal; points below it are over-prediction, above it under-prediction. Bars are"
        " intervals, and the histogram shows how many rows stand behind a point. Hover for"
        " numbers; the lists switch lens, class, method and bins.",
    )
    yield Paragraph(
        "Isotonic and smooth curves are drawn with at most 200 points; figures in other sections"
        " use all rows.",
        "note",
    )


def _switchable(m: ModelFindings) -> Chart:
    curves: dict[tuple[str, ...], ReliabilityCurve]
    curves = {(v.lens, v.label, v.method, v.bins): v.curve for v in m.variants}
    return switchable_reliability(curves, names=("lens", "class", "method", "bins"))


def simplex_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Predictions of three classes in a triangle."""
    if m.simplex is None:
        return
    summary = VectorSummary.from_dict(m.simplex)
    yield Figure(
        f"simplex-{index}",
        lambda: simplex_chart(summary),
        "Every corner is a class, every dot the mean prediction of a cell of the triangle, every"
        " arrow leads to what was observed there. A calibrated model has short arrows in no"
        " common direction; small dots have few rows and long arrows by chance.",
    )
