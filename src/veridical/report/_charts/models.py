"""Calibrators and models beside each other: paired differences with intervals."""

from __future__ import annotations

from veridical._core.data.validation import check_option
from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, short, table_of
from veridical.report._charts.forest import MOST, ForestRow, forest_chart
from veridical.report._charts.parts import only
from veridical.results import CandidateEvidence, Comparison, Evidence, ModelDifference
from veridical.results.base import format_pvalue, say_pvalue

_MINUS = "\N{MINUS SIGN}"


def evidence_chart(evidence: Evidence, *, title: str = "Calibrators on held-out rows") -> Chart:
    """What each calibrator gains over leaving the predictions alone.

    Parameters
    ----------
    evidence : Evidence
        The `evidence_` of an `AutoCalibrator`.
    title : str
        Heading.

    Returns
    -------
    Chart
        Log loss on held-out rows minus that of the identity, in order; left of 0 is better. The
        result and its parts are in colour. Intervals are paired with the identity, not with each
        other. Candidates that were not tried are in the table only.
    """
    only(evidence, Evidence, caller="evidence_chart")
    tried = [c for c in evidence.candidates if c.difference is not None]
    if not tried:
        hint = "no candidate was tried; print the evidence to see why."
        raise invalid("evidence_chart", "evidence", "with candidates tried", "none", hint=hint)
    tried.sort(key=lambda c: c.difference or 0.0)
    level = f"{100 * evidence.confidence_level:g} % intervals"
    axis = [f"log loss {_MINUS} identity, {level}", "left of 0 is better"]
    rows = [_candidate(c, evidence) for c in tried]
    header = ("candidate", "log loss", "Brier", "difference", "low", "high", "weight", "note")
    figures = ("candidate", "log_loss", "brier", "difference", "low", "high")
    cells = [
        (*(getattr(c, name) for name in figures), f"{c.weight:.3f}" if c.chosen else "", c.note)
        for c in evidence.candidates
    ]
    best = tried[0]
    said = (
        f"{len(tried)} candidates by log loss on held-out rows; least: {short(best.candidate)},"
        f" {best.difference or 0.0:+.4f} against the identity. {evidence.verdict}"
    )
    table = table_of(header, cells)
    return forest_chart(rows, axis, title=title, said=said, table=table, reference=0.0)


def comparison_chart(
    comparison: Comparison, *, figure: str = "brier", title: str | None = None
) -> Chart:
    """Paired differences of one figure between models on the same rows.

    Parameters
    ----------
    comparison : Comparison
        Of `compare`.
    figure : str, default "brier"
        Which figure; the comparison lists them.
    title : str, optional
        Heading; default names the figure.

    Returns
    -------
    Chart
        One row a pair, first minus second: left of 0 the first is better. In colour where the
        p-value, corrected for the number of pairs, is small; the interval itself is not corrected.

    Examples
    --------
    >>> from veridical import compare
    >>> y = [0, 0, 1, 1] * 25
    >>> models = {"sharp": [0.0, 0.2, 0.8, 1.0] * 25, "dull": [0.4, 0.4, 0.6, 0.6] * 25}
    >>> chart = comparison_chart(compare(models, y, n_bins=2))
    >>> round(chart.spec["datasets"]["rows"][0]["estimate"], 4)  # 0.02 - 0.16
    -0.14
    """
    only(comparison, Comparison, caller="comparison_chart")
    known = list(dict.fromkeys(d.difference.estimator for d in comparison.differences))
    check_option("comparison_chart", "figure", figure, known)
    pairs = [d for d in comparison.differences if d.difference.estimator == figure]
    sure = 1 - comparison.confidence_level
    rows = [_pair(d, sure) for d in pairs[:MOST]]
    level = f"{100 * comparison.confidence_level:g} % intervals"
    axis = [f"difference in {figure}, {level}", "left of 0 the first is better"]
    header = ("models", figure, "of the first", "of the second", "low", "high", "p", "Holm")
    figures = ("estimate", "first", "second", "low", "high")
    cells = [
        (
            f"{d.first} {_MINUS} {d.second}",
            *(getattr(d.difference, name) for name in figures),
            *(format_pvalue(p) for p in (d.difference.pvalue, d.adjusted)),
        )
        for d in pairs
    ]
    clear = sum(d.adjusted <= sure for d in pairs)
    first = pairs[0]
    said = (
        f"Paired differences in {figure} of {len(pairs)} pairs of models, {clear} beyond chance"
        f" after correction. {short(first.first)} minus {short(first.second)}:"
        f" {first.difference.estimate:+.4f} ({first.difference.low:+.4f} to"
        f" {first.difference.high:+.4f})."
    )
    title, table = title or f"Paired differences in {figure}", table_of(header, cells)
    return forest_chart(rows, axis, title=title, said=said, table=table, reference=0.0)


def _candidate(candidate: CandidateEvidence, evidence: Evidence) -> ForestRow:
    result = candidate is evidence.candidates[-1]
    share = f"part, {100 * candidate.weight:.0f} %" if candidate.chosen else ""
    return ForestRow(
        name=candidate.candidate,
        estimate=candidate.difference or 0.0,
        low=candidate.low,
        high=candidate.high,
        note="result" if result else share,
        kind="main" if result else "part" if candidate.chosen else "other",
    )


def _pair(pair: ModelDifference, sure: float) -> ForestRow:
    return ForestRow(
        name=f"{short(pair.first, 16)} {_MINUS} {short(pair.second, 16)}",
        estimate=pair.difference.estimate,
        low=pair.difference.low,
        high=pair.difference.high,
        note=say_pvalue(pair.adjusted),
        kind="main" if pair.adjusted <= sure else "other",
    )
