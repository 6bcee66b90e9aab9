"""Which classes the rows of an engine have, and what is wrong with rows, with three examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.data.classes import Classes, read_classes
from veridical._core.data.faults import missing_hint, range_hint, sum_hint
from veridical._core.data.labels import check_label_array, encode_labels, family, preview
from veridical.exceptions import InvalidInputError, invalid, warn_of
from veridical.frames._grid.events import code_of, sum_tolerance, valid_weight
from veridical.frames._grid.rows import LABEL, LARGEST_FLOAT, LARGEST_LABEL, WEIGHT, EngineRows
from veridical.frames._tables.open import run

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, ArrayLike


_SHOWN_ROWS, _SHOWN_COLUMNS = 3, 4

_Row = dict[str, Any]


def fault(rows: EngineRows, classes: Sequence[Any], *, caller: str) -> InvalidInputError:
    """Return the error for rows known to hold something wrong, worst first.

    Parameters
    ----------
    rows : EngineRows
        All rows, good and bad.
    classes : sequence
        Classes, if they are known: other labels are errors.
    caller : str
        Who asks: it opens the error message.

    Notes
    -----
    The order is that of the in-memory border: labels, weights, then probabilities and unknown
    labels. One query counts, and a second fetches the first bad rows.
    """
    import narwhals.stable.v2 as nw

    conditions = _conditions(rows, classes)
    p = [nw.col(name) for name in rows.p_names]
    several = len(p) > 1  # Spark takes no minimum of one column
    marks = {name: one.cast(nw.Float64) for name, one in conditions.items()}
    marks["lowest"] = (nw.min_horizontal(*p) if several else p[0]).cast(nw.Float64)
    marks["largest"] = (nw.max_horizontal(*p) if several else p[0]).cast(nw.Float64)
    between = nw.any_horizontal(*((one > 0) & (one < 1) for one in p), ignore_nulls=True)
    marks["between"] = between.cast(nw.Float64)
    ends = {"lowest": "min", "largest": "max"}
    if several:
        total = nw.sum_horizontal(*(one.cast(nw.Float64) for one in p))
        marks |= {"lowest_sum": total, "largest_sum": total}
        ends |= {"lowest_sum": "min", "largest_sum": "max"}
    frame = rows.frame.with_columns(**marks)
    counted = [nw.col(name).sum() for name in (*conditions, "between")]
    extremes = [getattr(nw.col(name), end)() for name, end in ends.items()]
    table = run(frame.select(nw.len().alias("rows"), *counted, *extremes))
    found = {
        name: float(table.column(name, caller=caller, param="source")[0]) for name in table.columns
    }
    n = int(found["rows"])
    if n == 0:
        return invalid(caller, "y_true", "non-empty", "0 rows", hint="pass at least one row.")
    for name, condition in conditions.items():
        if found[name] > 0:
            examples = _examples(rows, condition, caller)
            count = f"{int(found[name]):,} of {n:,} rows"
            return _error(name, rows, classes, examples, count, found, caller)
    hint = "give at least one row a positive weight."
    return invalid(caller, "sample_weight", "positive somewhere", "all zeros", hint=hint)


def _conditions(rows: EngineRows, classes: Sequence[Any]) -> dict[str, nw.Expr]:
    """Faults in the order in which they are looked for, as true where a row has one."""
    import narwhals.stable.v2 as nw

    p = [nw.col(name).cast(nw.Float64) for name in rows.p_names]
    result = {"missing": rows.missing_label()}
    if rows.fractions:
        result["fraction"] = ~rows.missing_label() & ~rows.is_label()
    if rows.sample_weight is not None:
        result["weight"] = ~valid_weight(rows)
    unknown = {"unknown": code_of(classes, rows.label_type) < 0} if classes else {}
    if len(p) > 1:
        result |= unknown
    filled = [one.fill_null(float("nan")) for one in p]
    result["finite"] = nw.any_horizontal(
        *(~((one >= -LARGEST_FLOAT) & (one <= LARGEST_FLOAT)) for one in filled), ignore_nulls=True
    )
    result["outside"] = nw.any_horizontal(*((one < 0) | (one > 1) for one in p), ignore_nulls=True)
    if len(p) > 1:
        result["sum"] = (nw.sum_horizontal(*p) - 1).abs() > sum_tolerance(rows)
        return result
    return result | unknown


def _examples(rows: EngineRows, condition: nw.Expr, caller: str) -> list[_Row]:
    """Fetch a few rows that meet a condition."""
    names = [LABEL, *rows.p_names]
    names += [WEIGHT] if rows.sample_weight is not None else []
    table = run(rows.frame.filter(condition).select(names).head(_SHOWN_ROWS))
    columns = {name: table.column(name, caller=caller, param="source") for name in names}
    return [
        {name: _plain(column[row]) for name, column in columns.items()}
        for row in range(table.n_rows)
    ]


def _error(
    name: str,
    rows: EngineRows,
    classes: Sequence[Any],
    examples: list[_Row],
    count: str,
    found: dict[str, float],
    caller: str,
) -> InvalidInputError:
    """Say it as the in-memory border does, with rows instead of an index."""
    first = examples[0]
    if name == "missing":
        got = (
            f"a missing value in column {rows.y!r} ({count}{_shown(rows, examples, rows.p_names)})"
        )
        hint = "drop the rows whose outcome is unknown."
        if rows.option == "scale":
            hint = 'drop the rows whose outcome is unknown: `missing="drop"`.'
        return invalid(caller, "y_true", "free of missing values", got, hint=hint)
    if name == "fraction":
        if found["between"] == 0 and found["lowest"] >= 0 and found["largest"] <= 1:
            hint = "the arguments look swapped: labels first, then probabilities."
            got = "fractions in y_true and only 0 and 1 in y_prob"
            return invalid(caller, "y_true", "class labels", got, hint=hint)
        got = f"{first[LABEL]:.6g} in column {rows.y!r} ({count}{_shown(rows, examples, [LABEL])})"
        hint = "pass class labels; y_true comes first, y_prob second."
        return invalid(caller, "y_true", "class labels", got, hint=hint)
    if name == "weight":
        got = f"{_number(first[WEIGHT])} in column {rows.sample_weight!r} ({count}"
        got += f"{_shown(rows, examples, [LABEL, WEIGHT])})"
        hint = "weights count how much a row matters: zero or more."
        return invalid(caller, "sample_weight", "finite and non-negative", got, hint=hint)
    if name == "unknown":
        got = f"{first[LABEL]!r} in column {rows.y!r} ({count}{_shown(rows, examples, [LABEL])})"
        hint = f"`labels` holds {preview(classes)}; add the missing class or drop those rows."
        return invalid(caller, "y_true", "among `labels`", got, hint=hint)
    if name == "sum":
        total = sum(float(first[column]) for column in rows.p_names)
        shown = _shown(rows, examples, [LABEL, *rows.p_names[:_SHOWN_COLUMNS]])
        hint = sum_hint(found["lowest_sum"], found["largest_sum"], rows.option)
        expected = f"rows that sum to 1 within {sum_tolerance(rows):g}"
        return invalid(
            caller, "y_prob", expected, f"a sum of {total:.6g} ({count}{shown})", hint=hint
        )
    column = next(column for column in rows.p_names if _is_bad(first[column], name))
    value = f"{_number(first[column])} in column {rows.user_names[column]!r}"
    got = f"{value} ({count}{_shown(rows, examples, [LABEL, column])})"
    if name == "finite":
        return invalid(caller, "y_prob", "finite", got, hint=missing_hint(rows.option))
    hint = range_hint(found["lowest"], found["largest"], rows.option)
    return invalid(caller, "y_prob", "in [0, 1]", got, hint=hint)


def _is_bad(value: Any, name: str) -> bool:
    number = float("nan") if value is None else float(value)
    return not math.isfinite(number) if name == "finite" else not 0 <= number <= 1


def _shown(rows: EngineRows, examples: list[_Row], columns: Sequence[str]) -> str:
    names = rows.user_names
    listed = [", ".join(f"{names[c]}={_text(row[c])}" for c in columns) for row in examples]
    return f"; for example {'; '.join(listed)}"


def _text(value: Any) -> str:
    return _number(value) if isinstance(value, float) else repr(value)


def _number(value: float | None) -> str:
    """Six digits, or all of them where what is wrong is in the last."""
    if value is None:
        return "nan"
    shown = f"{value:.6g}"
    return repr(value) if 0 <= float(shown) <= 1 and not 0 <= value <= 1 else shown


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


# A column of so many distinct values holds no labels; no more are fetched.
_MOST_LABELS = 10_000


def classes_of_entries(
    rows: EngineRows, y: Array, labels: ArrayLike | None, pos_label: Any, *, caller: str
) -> Classes:
    """Class of each entry of a scan that used raw labels as keys, and the two classes."""
    y = check_label_array(y, caller=caller)
    if labels is not None:
        given = _label_array(labels, 2, caller)
        if family(given) == family(y) and not np.isin(y, given).all():
            raise fault(rows, _literals(rows, given), caller=caller)
    return _read(rows, y, labels, pos_label, caller)


def classes_of_columns(
    rows: EngineRows, labels: ArrayLike | None, pos_label: Any, *, caller: str
) -> Classes:
    """Classes of several columns, in the order of the in-memory border.

    Unless they are given, this asks the engine once for the distinct labels.
    """
    if labels is None:
        distinct = rows.frame.select(LABEL).unique().head(_MOST_LABELS)
        values = run(distinct).column(LABEL, caller=caller, param="y")
        if len(values) == 0 or missing_values(values).any() or _fractions(values).any():
            raise fault(rows, (), caller=caller)
        return _read(rows, check_label_array(values, caller=caller), None, pos_label, caller)
    n_classes = len(rows.prob)
    given = _label_array(labels, n_classes, caller)
    if _is_text(rows) != (family(given) == "text"):
        one = run(rows.frame.select(LABEL).head(1)).column(LABEL, caller=caller, param="y")
        if len(one) and not missing_values(one).any():
            y = check_label_array(one, caller=caller)
            encode_labels(y, n_classes=n_classes, labels=labels, caller=caller)  # says so
        raise fault(rows, (), caller=caller)
    found = _read(rows, given, labels, pos_label, caller)
    return replace(found, labels=_literals(rows, given))


def _read(
    rows: EngineRows, y: Array, labels: ArrayLike | None, pos_label: Any, caller: str
) -> Classes:
    found = read_classes(
        y,
        len(rows.prob),
        names=rows.prob,
        declared=rows.declared,
        labels=labels,
        pos_label=pos_label,
        caller=caller,
    )
    warn_of(found.notes, caller=caller)
    return found


def _label_array(labels: ArrayLike, n_classes: int, caller: str) -> Array:
    """Labels the user gave, checked: distinct, none missing, one per class."""
    given = to_numpy(labels, caller=caller, param="labels")
    encode_labels(given, n_classes=n_classes, labels=labels, caller=caller)
    return given


def _literals(rows: EngineRows, labels: Array) -> tuple[Any, ...]:
    """Labels as values that the engine can compare with its own: SQL keeps 1 and true apart."""
    import narwhals.stable.v2 as nw

    if labels.dtype.kind in "biuf":
        if rows.label_type == nw.Boolean:
            return tuple(bool(label) for label in labels.tolist())
        if labels.dtype.kind == "b":
            return tuple(int(label) for label in labels.tolist())
    return tuple(labels.tolist())


def _is_text(rows: EngineRows) -> bool:
    import narwhals.stable.v2 as nw

    return rows.label_type == nw.String


def _fractions(values: Array) -> Array:
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    return (values != np.rint(values)) | ~(np.abs(values) < LARGEST_LABEL)
