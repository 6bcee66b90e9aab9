"""Estimates with their intervals: errors, groups, calibrators and pairs of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veridical._core.data.validation import check_option
from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, distinct, only, short, table_of
from veridical.results import Comparison, Evaluation, Evidence, MeasuredError
from veridical.results.base import format_pvalue, say_pvalue
from veridical.results.pictures import (
    Picture,
    comparison as comparison_picture,
    error_row,
    errors as errors_picture,
    evidence as evidence_picture,
    forest,
)

_HEADER = ("rows", "value", "low", "high", "if calibrated", "95 % below", "p")
_MINUS = "\N{MINUS SIGN}"
MOST = 30  # groups and pairs drawn; tables hold them all


def errors_chart(
    errors: Evaluation | Sequence[MeasuredError], *, title: str = "Calibration errors"
) -> Chart:
    """Calibration errors with intervals, and what a calibrated model would show.

    Parameters
    ----------
    errors : Evaluation or sequence of MeasuredError
        Errors on one scale.
    title : str
        Heading.

    Returns
    -------
    Chart
        Grey bars reach up to what 95 % of calibrated models with these predictions show; a
        point within its bar is no sign of miscalibration.

    Examples
    --------
    >>> ece = MeasuredError(name="ECE", value=0.05, null_mean=0.01, null_q95=0.02,
    ...     definition="15 bins", lens="binary", n_samples=100)
    >>> errors_chart([ece]).description
    'ECE 0.0500, more than a calibrated model may show.'
    """
    measured = list(errors.errors if isinstance(errors, Evaluation) else errors)
    if not measured or not all(isinstance(each, MeasuredError) for each in measured):
        hint = "pass an evaluation or its `errors`."
        raise invalid("errors_chart", "errors", "measured errors", repr(type(errors)), hint=hint)
    said = " ".join(_words(each.name, each) for each in measured)
    cells = [(each.name, f"{each.lens}: {each.definition}", *_cells(each)) for each in measured]

    def draw(width: float) -> Picture:
        return errors_picture(measured, width=width, title=title, description=said)

    return Chart(title, said, table_of(("error", "definition", *_HEADER), cells), draw)


def groups_chart(
    groups: Evaluation | Mapping[str, MeasuredError],
    *,
    adjusted: Mapping[str, float] | None = None,
    level: float = 0.05,
    title: str = "Calibration error by group",
) -> Chart:
    """Calibration error of each group or class, worst first.

    Parameters
    ----------
    groups : Evaluation or mapping of name to MeasuredError
        An evaluation made with `by`, or one error for each group or class.
    adjusted : mapping of name to float, optional
        P-values of the same groups, adjusted for their number, which decide the order; those of an
        evaluation are those of its verdicts.
    level : float, default 0.05
        Groups with an adjusted p-value up to this are in colour.
    title : str
        Heading.

    Returns
    -------
    Chart
        The worst 30; the table has them all. Without adjusted p-values the order is by p-value
        where there is one, then by size of the error.
    """
    tested = {} if adjusted is None else dict(adjusted)
    if isinstance(groups, Evaluation):
        errors = {str(key): evaluation.default for key, evaluation in groups.groups}
        known = [(str(key), evaluation.verdict.pvalue) for key, evaluation in groups.groups]
        tested |= {name: pvalue for name, pvalue in known if pvalue is not None}
    else:
        errors = {str(name): error for name, error in groups.items()}
    if not errors or not all(isinstance(each, MeasuredError) for each in errors.values()):
        hint = "pass an evaluation made with `by`, or errors by name."
        raise invalid("groups_chart", "groups", "groups with errors", repr(type(groups)), hint=hint)
    order = sorted(errors, key=lambda name: _badness(errors[name], tested.get(name)))
    rows = []
    for name, shown in zip(order[:MOST], distinct(order[:MOST]), strict=True):
        p = tested.get(name)
        note, other = (None, False) if p is None else (say_pvalue(p), p > level)
        rows.append(error_row(shown, errors[name], note=note, other=other))
    found = sum(p <= level for p in tested.values())
    said = f"{len(errors):,} groups, worst first: {_words(short(order[0]), errors[order[0]])}"
    if tested:
        said += f" {found:,} stand out at level {level:g}, all considered."
    if len(order) > MOST:
        said += f" The worst {MOST} are drawn; the table has all."
    header = ("group", *_HEADER, *(["adjusted p"] if tested else []))
    cells = [
        (name, *_cells(errors[name]), *([_pvalue(tested.get(name))] if tested else []))
        for name in order
    ]
    axis = f"{errors[order[0]].name}; grey: a calibrated model, 95 % of draws"

    def draw(width: float) -> Picture:
        return forest(rows, axis, width=width, title=title, description=said)

    return Chart(title, said, table_of(header, cells), draw)


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
    header = ("candidate", "log loss", "Brier", "difference", "low", "high", "weight", "note")
    figures = ("candidate", "log_loss", "brier", "difference", "low", "high")
    cells = [
        (*(getattr(c, name) for name in figures), f"{c.weight:.3f}" if c.chosen else "", c.note)
        for c in evidence.candidates
    ]
    best = min(tried, key=lambda c: c.difference or 0.0)
    said = (
        f"{len(tried)} candidates by log loss on held-out rows; least: {short(best.candidate)},"
        f" {best.difference or 0.0:+.4f} against the identity. {evidence.verdict}"
    )

    def draw(width: float) -> Picture:
        return evidence_picture(evidence, width=width, title=title, description=said)

    return Chart(title, said, table_of(header, cells), draw)


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
    >>> chart.table.rows[0][1]  # 0.02 - 0.16
    '-0.1400'
    """
    only(comparison, Comparison, caller="comparison_chart")
    known = list(dict.fromkeys(d.difference.estimator for d in comparison.differences))
    check_option("comparison_chart", "figure", figure, known)
    pairs = [d for d in comparison.differences if d.difference.estimator == figure]
    sure = 1 - comparison.confidence_level
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
    heading = title or f"Paired differences in {figure}"

    def draw(width: float) -> Picture:
        return comparison_picture(
            comparison, figure=figure, width=width, title=heading, description=said
        )

    return Chart(heading, said, table_of(header, cells), draw)


def _badness(error: MeasuredError, adjusted: float | None) -> tuple[float, float, float]:
    """Sort key, worst first."""
    own = 1.0 if error.pvalue is None else error.pvalue
    return (1.0 if adjusted is None else adjusted, own, -error.value)


def _words(name: str, error: MeasuredError) -> str:
    said = f"{name} {error.value:.4f}"
    if error.low is not None and error.high is not None:
        said += f" ({error.low:.4f} to {error.high:.4f})"
    if error.null_q95 is None:
        return f"{said}."
    more = error.value > error.null_q95
    return f"{said}, {'more than' if more else 'as'} a calibrated model may show."


def _cells(error: MeasuredError) -> tuple[Any, ...]:
    numbers = (error.value, error.low, error.high, error.null_mean, error.null_q95)
    return (error.n_samples, *numbers, _pvalue(error.pvalue))


def _pvalue(pvalue: float | None) -> str:
    return "" if pvalue is None else format_pvalue(pvalue)
