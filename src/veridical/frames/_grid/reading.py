"""Values of an engine on the scale of probabilities, without missing ones, or rounded: as asked."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.faults import rounded_in_words, rounding_tolerance
from veridical._core.data.groups import is_measurement
from veridical._core.data.reading import Reading, conversion_in_words, dropped_in_words
from veridical.exceptions import invalid
from veridical.frames._grid.rows import WEIGHT, EngineRows
from veridical.frames._tables.open import open_lazy, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v2 as nw

_MOST_KEYS = 100  # enough to see whether they are fractions


def read_as(rows: EngineRows, reading: Reading, *, caller: str) -> EngineRows:
    """Rows whose values are read as asked, by expressions of their engine; notes say what was done.

    One query counts what is dropped.
    """
    if reading.missing == "drop":
        rows = _without_missing(rows, caller)
    if not reading.converts:
        return rows
    import narwhals.stable.v2 as nw

    p = [nw.col(name).cast(nw.Float64) for name in rows.p_names]
    frame = rows.frame
    if reading.scale == "percent":
        frame = frame.with_columns(*_named(rows, [one / 100.0 for one in p]))
    elif reading.scale == "logit":
        frame = _from_logits(rows, frame, p)
    elif reading.scale == "logprob":
        frame = frame.with_columns(*_named(rows, [one.exp() for one in p]))
    if reading.normalize and len(p) > 1:
        frame = frame.with_columns(nw.sum_horizontal(*p).alias("v_total"))
        frame = frame.with_columns(*_named(rows, [one / nw.col("v_total") for one in p]))
    notes = conversion_in_words(reading)
    if len(p) == 1:
        notes = [note for note in notes if "sums" not in note]
    frame = frame.select(*rows.frame.collect_schema().names())
    return replace(rows, frame=frame, single=False, notes=(*rows.notes, *notes))


def _named(rows: EngineRows, values: list[nw.Expr]) -> list[nw.Expr]:
    return [one.alias(name) for one, name in zip(values, rows.p_names, strict=True)]


def _from_logits(rows: EngineRows, frame: nw.LazyFrame[Any], z: list[nw.Expr]) -> nw.LazyFrame[Any]:
    """Sigmoid of one column, softmax of several; no power of anything positive is taken."""
    import narwhals.stable.v2 as nw

    if len(z) == 1:
        small = (0.0 - z[0].abs()).exp()
        share = nw.when(z[0] >= 0).then(1.0 / (1.0 + small)).otherwise(small / (1.0 + small))
        share = nw.when(~z[0].is_null()).then(share)
        return frame.with_columns(*_named(rows, [share]))
    frame = frame.with_columns(nw.max_horizontal(*z).alias("v_top"))
    frame = frame.with_columns(*_named(rows, [(one - nw.col("v_top")).exp() for one in z]))
    powers = [nw.col(name) for name in rows.p_names]
    frame = frame.with_columns(nw.sum_horizontal(*powers).alias("v_total"))
    return frame.with_columns(*_named(rows, [one / nw.col("v_total") for one in powers]))


def _without_missing(rows: EngineRows, caller: str) -> EngineRows:
    import narwhals.stable.v2 as nw

    absent = {rows.y: rows.missing_label()}
    numbers = [*rows.p_names, *([] if rows.sample_weight is None else [WEIGHT])]
    for name in numbers:
        value = nw.col(name).cast(nw.Float64)
        absent[rows.user_names[name]] = value.is_null() | value.is_nan().fill_null(value=True)
    marks = {f"v_m{k}": one.cast(nw.Float64) for k, one in enumerate(absent.values())}
    marks["v_any"] = reduce(or_, absent.values()).cast(nw.Float64)
    frame = rows.frame.with_columns(**marks)
    table = run(frame.select(nw.len().alias("v_rows"), *(nw.col(name).sum() for name in marks)))
    found = {
        name: int(table.column(name, caller=caller, param="source")[0] or 0)
        for name in table.columns
    }
    if not found["v_any"]:
        return rows
    counted = {name: found[f"v_m{k}"] for k, name in enumerate(absent)}
    kept = frame.filter(nw.col("v_any") == 0).select(*rows.frame.collect_schema().names())
    note = dropped_in_words(found["v_rows"], found["v_any"], counted)
    return replace(rows, frame=kept, notes=(*rows.notes, note))


def eased(rows: EngineRows, *, caller: str) -> EngineRows | None:
    """Rows whose sums may miss one by what their rounding explains; None if it does not."""
    import narwhals.stable.v2 as nw

    p = [nw.col(name).cast(nw.Float64).fill_null(2.0) for name in rows.p_names]
    slack = 4 * float(np.finfo(np.float32 if rows.single else np.float64).eps)
    bad = nw.any_horizontal(*(~((one >= 0) & (one <= 1)) for one in p), ignore_nulls=True)
    marks = {"v_bad": bad.cast(nw.Float64), "v_sum": nw.sum_horizontal(*p)}
    for d in range(1, 5):
        units = [one * 10.0**d for one in p]
        off = ((one - one.round(0)).abs() > slack * 10**d for one in units)
        marks[f"v_d{d}"] = nw.any_horizontal(*off, ignore_nulls=True).cast(nw.Float64)
    frame = rows.frame.with_columns(**marks)
    sums = [nw.col(name).sum() for name in marks if name != "v_sum"]
    least, most = nw.col("v_sum").min().alias("v_least"), nw.col("v_sum").max().alias("v_most")
    table = run(frame.select(*sums, least, most))
    found = {
        name: float(table.column(name, caller=caller, param="source")[0]) for name in table.columns
    }
    decimals = next((d for d in range(1, 5) if not found[f"v_d{d}"]), None)
    if decimals is None or found["v_bad"]:
        return None
    miss, tolerance = (
        max(1 - found["v_least"], found["v_most"] - 1),
        rounding_tolerance(len(p), decimals),
    )
    if miss > tolerance:
        return None
    note = rounded_in_words(decimals, miss)
    return replace(rows, tolerance=tolerance, notes=(*rows.notes, note))


def measured_key(source: Any, by: Sequence[str], *, caller: str) -> str | None:
    """The first column of groups that holds many different fractions; None if none does."""
    frame = open_lazy(source, caller=caller)
    types = frame.collect_schema()
    for name in by:
        if name not in types.names() or not types[name].is_float():
            continue
        some = run(frame.select(name).unique().head(_MOST_KEYS))
        values = some.column(name, caller=caller, param="by")
        if is_measurement(values[~np.isnan(values)]):
            return name
    return None


def check_keys(source: Any, by: Sequence[str], *, caller: str) -> None:
    """Raise if groups are many different fractions, which only rows can be cut by."""
    name = measured_key(source, by, caller=caller)
    if name is not None:
        hint = f'use engine="memory", or make a column of parts of {name!r} first.'
        got = f"many different numbers in column {name!r}"
        raise invalid(caller, "by", "codes or names where sums are made", got, hint=hint)
