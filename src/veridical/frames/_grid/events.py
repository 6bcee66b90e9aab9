"""What is asked of each row: probabilities of events, whether they happened, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veridical._core.numeric.scan import row_sum_tolerance
from veridical.frames._grid.cells import log_or_infinite
from veridical.frames._grid.kernel import NEGATIVE, POSITIVE, TOP
from veridical.frames._grid.parts import INVALID, WEIGHTLESS
from veridical.frames._grid.rows import LABEL, LARGEST_FLOAT, WEIGHT, EngineRows

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

STATE, HIT, CODE = "v_state", "v_hit", "v_code"


@dataclass(frozen=True, kw_only=True)
class Events:
    """A query with one row per row of the data.

    Attributes
    ----------
    frame : grouping keys, STATE (0 where the row counts), WEIGHT if any, HIT or CODE, and:
    numbers : columns of probabilities, by the number of their event
    scores : columns of scores, by name
    keys : grouping keys that are values of the user: a label that is not yet a code, and groups
    weighted : whether there is a WEIGHT
    n_classes : number of columns if there are several and CODE is known, else 0
    """

    frame: nw.LazyFrame[Any]
    numbers: dict[int, str]
    scores: dict[str, str]
    keys: tuple[str, ...]
    weighted: bool
    n_classes: int


def events_of_column(rows: EngineRows, *, wanted: Sequence[int], scores: bool) -> Events:
    """Ask about one column, whichever of the two labels it turns out to belong to.

    HIT is 0, 1 or 2 where the probability is below, at or above one half.
    """
    import narwhals.stable.v2 as nw

    frame, p = rows.frame, nw.col("v_p0").cast(nw.Float64).fill_null(-1.0)
    valid = rows.is_label() & (p >= 0) & (p <= 1) & valid_weight(rows)
    label = nw.col(LABEL)
    if rows.fractions:  # otherwise every fraction would make a group
        label = nw.when(rows.is_label()).then(label).alias(LABEL)
    frame = frame.select(
        label,
        *rows.by_names,
        *_weight(rows),
        _state(valid, rows),
        nw.when(valid).then(p).otherwise(nw.lit(0.5)).alias("v_e1"),
    )
    p = nw.col("v_e1")
    rest = 1 - p
    if rows.single:
        rest = rest.cast(nw.Float32).cast(nw.Float64)
    numbers = {POSITIVE: "v_e1"}
    if NEGATIVE in wanted or TOP in wanted:
        frame = frame.with_columns(rest.alias("v_e0"))
        numbers[NEGATIVE] = "v_e0"
    if TOP in wanted:
        side = (p >= 0.5).cast(nw.Float64) + (p > 0.5).cast(nw.Float64)
        frame = frame.with_columns(nw.max_horizontal("v_e0", "v_e1").alias("v_e2"), side.alias(HIT))
        numbers[TOP] = "v_e2"
    names: dict[str, str] = {}
    if scores:
        length = (p * p + (1 - p) * (1 - p)).sqrt()
        frame = frame.with_columns(length.alias("v_length")).with_columns(
            log_or_infinite(p).alias("v_s0"),
            log_or_infinite(1 - p).alias("v_s1"),
            (p / nw.col("v_length")).alias("v_s2"),
            ((1 - p) / nw.col("v_length")).alias("v_s3"),
        )
        names = {"log p": "v_s0", "log q": "v_s1", "sphere p": "v_s2", "sphere q": "v_s3"}
    return Events(
        frame=frame,
        numbers=numbers,
        scores=names,
        keys=(LABEL, *rows.by_names),
        weighted=rows.sample_weight is not None,
        n_classes=0,
    )


def events_of_columns(
    rows: EngineRows,
    classes: Sequence[Any],
    *,
    positive: int,
    wanted: Sequence[int],
    scores: bool,
) -> Events:
    """Ask about one column per class; HIT says whether the top class occurred, CODE which did."""
    import narwhals.stable.v2 as nw

    names, k = rows.p_names, len(classes)
    frame = rows.frame.with_columns(
        code_of(classes, rows.label_type).alias(CODE),
        *(nw.col(name).fill_null(-1.0) for name in names),
    )
    # What is taken across columns becomes a column before it is used: Dask asks for it.
    doubles = [nw.col(name).cast(nw.Float64) for name in names]
    across = {
        "v_max": nw.max_horizontal(*names),
        "v_min": nw.min_horizontal(*names),
        "v_sum": nw.sum_horizontal(*doubles),
    }
    if scores and k > 2:
        across["v_squares"] = nw.sum_horizontal(*(one * one for one in doubles))
        across["v_happened"] = nw.sum_horizontal(
            *(
                nw.when(nw.col(CODE) == index).then(one).otherwise(nw.lit(0.0))
                for index, one in enumerate(doubles)
            )
        )
    first = nw.min_horizontal(
        *(
            nw.when(nw.col(name) == nw.col("v_max")).then(nw.lit(index)).otherwise(nw.lit(k))
            for index, name in enumerate(names)
        )
    )
    frame = frame.with_columns(**across).with_columns(first.alias("v_first"))
    valid = (
        (nw.col("v_min") >= 0)
        & (nw.col("v_max") <= 1)
        & ((nw.col("v_sum") - 1).abs() <= sum_tolerance(rows))
        & (nw.col(CODE) >= 0)
        & valid_weight(rows)
    )
    columns = [
        *map(nw.col, rows.by_names),
        *_weight(rows),
        _state(valid, rows),
        nw.col(CODE),
        (nw.col("v_first") == nw.col(CODE)).cast(nw.Float64).alias(HIT),
    ]
    numbers = {number: f"v_e{number}" for number in wanted}
    for number, column in numbers.items():
        p = nw.col("v_max" if number == k else names[number]).cast(nw.Float64)
        columns.append(_where(valid, p).alias(column))
    if scores:
        happened, squares = nw.col("v_happened"), nw.col("v_squares")
        if k == 2:  # of the positive column alone, as everywhere in this library
            p = doubles[positive]
            happened = nw.when(nw.col(CODE) == positive).then(p).otherwise(1 - p)
            squares = p * p + (1 - p) * (1 - p)
        columns.append(_where(valid, happened).alias("v_happened"))
        columns.append(_where(valid, squares).alias("v_squares"))
    frame = frame.select(columns)
    score_names: dict[str, str] = {}
    if scores:
        frame = frame.with_columns(*_scores(k))
        score_names = {"brier": "v_s0", "log": "v_s1", "spherical": "v_s2", "zero-one": "v_s3"}
    return Events(
        frame=frame,
        numbers=numbers,
        scores=score_names,
        keys=tuple(rows.by_names),
        weighted=rows.sample_weight is not None,
        n_classes=k,
    )


def event_number(problem: str | int, n_classes: int, positive: int) -> int:
    """Return the number of a problem's event among those of several columns."""
    if problem == "confidence":
        return n_classes
    return positive if problem == "binary" else int(problem)


def code_of(classes: Sequence[Any], label_type: nw.dtypes.DType) -> nw.Expr:
    """Index of the label among the classes, or -1; flat, because deep ladders exhaust stacks."""
    import narwhals.stable.v2 as nw

    label, k = nw.col(LABEL), len(classes)
    if label_type.is_integer() and list(classes) == list(range(k)):
        inside = (label >= 0) & (label < k)
        return nw.when(inside).then(label.cast(nw.Int32)).otherwise(nw.lit(-1, nw.Int32))
    found = (
        nw.when(label == one).then(nw.lit(index + 1, nw.Int32)).otherwise(nw.lit(0, nw.Int32))
        for index, one in enumerate(classes)
    )
    return nw.sum_horizontal(*found).cast(nw.Int32) - 1


def sum_tolerance(rows: EngineRows) -> float:
    """How far from one a row may sum."""
    import numpy as np

    if rows.tolerance is not None:
        return rows.tolerance
    return row_sum_tolerance(np.dtype(np.float32 if rows.single else np.float64))


def _scores(k: int) -> list[nw.Expr]:
    import narwhals.stable.v2 as nw

    p, squares = nw.col("v_happened"), nw.col("v_squares")
    brier = (1 - p) * (1 - p) if k == 2 else squares - 2 * p + 1
    return [
        brier.alias("v_s0"),
        (0.0 - log_or_infinite(p)).alias("v_s1"),
        (1 - p / squares.sqrt()).alias("v_s2"),
        (1 - nw.col(HIT)).alias("v_s3"),
    ]


def _where(valid: nw.Expr, p: nw.Expr) -> nw.Expr:
    import narwhals.stable.v2 as nw

    return nw.when(valid).then(p).otherwise(nw.lit(0.5))


def _weight(rows: EngineRows) -> list[nw.Expr]:
    import narwhals.stable.v2 as nw

    return [] if rows.sample_weight is None else [nw.col(WEIGHT).fill_null(-1.0)]


def valid_weight(rows: EngineRows) -> nw.Expr:
    """Whether the weight of a row, if it has one, is finite and not negative."""
    import narwhals.stable.v2 as nw

    if rows.sample_weight is None:
        return nw.lit(value=True)
    weight = nw.col(WEIGHT).fill_null(-1.0)
    return (weight >= 0) & (weight <= LARGEST_FLOAT)


def _state(valid: nw.Expr, rows: EngineRows) -> nw.Expr:
    import narwhals.stable.v2 as nw

    counts = nw.lit(0.0)
    if rows.sample_weight is not None:
        none = nw.col(WEIGHT) == 0
        counts = nw.when(none).then(nw.lit(float(WEIGHTLESS))).otherwise(nw.lit(0.0))
    return nw.when(valid).then(counts).otherwise(nw.lit(float(INVALID))).alias(STATE)
