"""A score in its parts, and predictions of three classes in a triangle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veridical._core.drawing.words import count_text
from veridical._core.numeric import triangle
from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, distinct, named, only, short, table_of
from veridical.results import Decomposition
from veridical.results.pictures import Picture, decomposition, simplex
from veridical.summaries import VectorSummary

_HEADER = ("score", "miscalibration", "discrimination", "uncertainty", "refinement", "within bins")


def decomposition_chart(
    decompositions: Decomposition | Mapping[str, Decomposition], *, title: str | None = None
) -> Chart:
    """Parts of a score, or of the scores of several models, as stacked bars.

    Parameters
    ----------
    decompositions : Decomposition or mapping of name to Decomposition
        Of one rule: scores of different rules have no common scale.
    title : str, optional
        Heading; default names the rule.

    Returns
    -------
    Chart
        A bar is the score: the refinement, which recalibration cannot reduce, and the
        miscalibration, which it can. The thin bar below is the discrimination: from the refinement
        to the uncertainty, the score of always predicting the base rate.

    Examples
    --------
    >>> from veridical import decompose
    >>> parts = decompose([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], method="unique")
    >>> chart = decomposition_chart(parts)
    >>> chart.table.header[2], chart.table.rows[0][2]  # both off by a quarter
    ('miscalibration', '0.0625')
    """
    shown = named(decompositions, Decomposition, caller="decomposition_chart")
    rules = sorted({d.rule for d in shown.values()})
    if len(rules) > 1:
        hint = "draw one rule at a time: scores of different rules have no common scale."
        raise invalid(
            "decomposition_chart", "decompositions", "of one rule", ", ".join(rules), hint=hint
        )
    names = distinct([name or d.definition for name, d in shown.items()])
    every = dict(zip(names, shown.values(), strict=True))
    heading = title or f"Parts of the {rules[0]} score"
    said = " ".join(f"{short(name)}: {_words(d)}" for name, d in every.items())
    fields = (*_HEADER[:-1], "within_bin")
    rows = [(name, *(getattr(d, field) for field in fields)) for name, d in every.items()]

    def draw(width: float) -> Picture:
        return decomposition(every, width=width, title=heading, description=said)

    return Chart(heading, said, table_of(("model", *_HEADER), rows), draw)


def _words(d: Decomposition) -> str:
    return (
        f"{d.rule} score {d.score:.4f}, of which {d.miscalibration:.4f} is miscalibration;"
        f" predictions are worth {d.discrimination:.4f} over the base rate, whose score is"
        f" {d.uncertainty:.4f}."
    )


def simplex_chart(
    summary: VectorSummary, *, title: str = "Predicted and observed, three classes at once"
) -> Chart:
    """Arrows from the mean prediction of each cell of the simplex to what was observed there.

    Parameters
    ----------
    summary : VectorSummary
        Sums by cell of predictions of three classes.
    title : str
        Heading.

    Returns
    -------
    Chart
        A calibrated model has short arrows in no common direction. Arrows of cells with few rows
        are faint: they are long by chance.
    """
    if len(only(summary, VectorSummary, caller="simplex_chart").classes) != 3:
        hint = "merge classes with the lens `Grouped`, or show classes one by one."
        got = f"{len(summary.classes)}"
        raise invalid("simplex_chart", "summary", "of three classes", got, hint=hint)
    names = [str(label) for label in summary.classes]
    predicted, observed = summary.mean_p, summary.mean_y
    start, end = triangle.to_plane(predicted), triangle.to_plane(observed)
    moved = float(summary.share @ np.hypot(*(end - start).T))
    header = ("rows", *(f"predicted {n}" for n in names), *(f"observed {n}" for n in names))
    rows = [
        (count_text(summary.count[i]), *(f"{v:.4f}" for v in (*predicted[i], *observed[i])))
        for i in np.argsort(-summary.count, kind="stable")
    ]
    said = (
        f"{len(predicted)} cells of a triangle whose corners are {short(names[0])},"
        f" {short(names[1])} and {short(names[2])}; arrows from predicted to observed have a mean"
        f" length of {moved:.3f}, where the side of the triangle is 1."
    )

    def draw(width: float) -> Picture:
        return simplex(
            names, predicted, observed, summary.count, width=width, title=title, description=said
        )

    return Chart(title, said, table_of(header, rows), draw, wide=460)
