"""Calibration errors, of one model and of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, short, table_of
from veridical.report._charts.forest import MOST, ForestRow, forest_chart
from veridical.results import Evaluation, MeasuredError
from veridical.results.base import format_pvalue, say_pvalue

_HEADER = ("rows", "error", "low", "high", "null mean", "null 95 %", "p")
_NULL = "grey bar: up to where 95 % of calibrated models lie"


def errors_chart(
    errors: Evaluation | Sequence[MeasuredError], *, title: str = "Calibration errors"
) -> Chart:
    """Calibration errors with their intervals, over what a calibrated model would show.

    Parameters
    ----------
    errors : Evaluation or sequence of MeasuredError
        As `evaluate` measured them.
    title : str
        Heading.

    Returns
    -------
    Chart
        One row an error: a point with its interval, and a grey bar up to the 95 % quantile of the
        error of a calibrated model with the same predictions. A point inside the bar says nothing.

    Examples
    --------
    >>> from veridical.results import MeasuredError
    >>> error = MeasuredError(name="ECE", value=0.05, definition="15 bins", lens="binary",
    ...     n_samples=100, null_mean=0.06, null_q95=0.09)
    >>> errors_chart([error]).description
    'ECE 0.0500, as a calibrated model may show.'
    """
    measured = list(errors.errors if isinstance(errors, Evaluation) else errors)
    if not measured or not all(isinstance(each, MeasuredError) for each in measured):
        hint = "pass an evaluation or its `errors`."
        raise invalid("errors_chart", "errors", "measured errors", repr(type(errors)), hint=hint)
    rows = [_row(each.name, each) for each in measured]
    said = " ".join(_words(each.name, each) for each in measured)
    cells = [(each.name, f"{each.lens}: {each.definition}", *_cells(each)) for each in measured]
    table = table_of(("error", "definition", *_HEADER), cells)
    return forest_chart(rows, ["calibration error", _NULL], title=title, said=said, table=table)


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
    rows = [_group_row(name, errors[name], tested.get(name), level) for name in order[:MOST]]
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
    axis = [next(iter(errors.values())).name, _NULL]
    return forest_chart(rows, axis, title=title, said=said, table=table_of(header, cells))


def _badness(error: MeasuredError, adjusted: float | None) -> tuple[float, float, float]:
    """Sort key, worst first."""
    own = 1.0 if error.pvalue is None else error.pvalue
    return (1.0 if adjusted is None else adjusted, own, -error.value)


def _group_row(name: str, error: MeasuredError, adjusted: float | None, level: float) -> ForestRow:
    if adjusted is None:
        return _row(name, error)
    note = say_pvalue(adjusted)
    return _row(name, error, note=note, other=adjusted > level)


def _row(
    name: str, error: MeasuredError, *, note: str | None = None, other: bool = False
) -> ForestRow:
    if note is None:
        note = "" if error.pvalue is None else say_pvalue(error.pvalue, error.n_resamples)
    return ForestRow(
        name=name,
        estimate=error.value,
        low=error.low,
        high=error.high,
        null_mean=error.null_mean,
        null_high=error.null_q95,
        note=note,
        kind="other" if other else "main",
    )


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
