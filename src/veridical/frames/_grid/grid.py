"""One scan of a frame or file, by its own engine, into the sums calibration figures need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from veridical._core.data.reading import AS_IT_IS, Reading
from veridical._core.data.validation import is_integer
from veridical.exceptions import invalid
from veridical.frames._grid.batches import Asked, sums_of_batches, worker_errors
from veridical.frames._grid.cells import Grid
from veridical.frames._grid.checks import classes_of_columns, classes_of_entries, fault
from veridical.frames._grid.events import event_number, events_of_column, events_of_columns
from veridical.frames._grid.kernel import NEGATIVE, POSITIVE, TOP
from veridical.frames._grid.parts import INVALID
from veridical.frames._grid.reading import check_keys, eased, read_as
from veridical.frames._grid.rows import LABEL, EngineRows, engine_rows
from veridical.frames._grid.scan import Sums, scan
from veridical.frames._grid.table import assemble
from veridical.frames._tables.engines import engine_of
from veridical.frames._tables.open import open_lazy, read_lazy
from veridical.frames._tables.order import order_in

if TYPE_CHECKING:
    from veridical._core.data.faults import Option
    from veridical._core.typing import ArrayLike
    from veridical.frames._grid.table import GridTable

RESOLUTION = 2048


def grid_table(
    source: Any,
    *,
    y: str,
    prob: str | Sequence[str],
    sample_weight: str | None = None,
    by: str | Sequence[str] = (),
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    problems: Sequence[str | int],
    n_bins: int,
    resolution: int = RESOLUTION,
    scores: bool = True,
    reading: Reading = AS_IT_IS,
    option: Option = None,
    caller: str,
) -> GridTable:
    """Sum up predictions by group, problem, bin and fine cell, where the rows are.

    Parameters
    ----------
    source : frame, str or path
        A query of polars, DuckDB, Spark, Dask or Ibis, which its engine runs; a pandas, polars or
        pyarrow table; or a CSV, Parquet or Arrow file (or a glob), which polars streams.
    y : str
        Column of labels: integers, whole floats, booleans or text.
    prob : str or sequence of str
        Column of the probability of the positive class, or one column per class.
    sample_weight : str, optional
        Column of non-negative weights; a row of weight zero is as if not there.
    by : str or sequence of str, optional
        Columns whose values make groups.
    labels : array-like, optional
        Classes in column order, as in :func:`veridical.brier_score`.
    pos_label : object, optional
        The class a single column is about; default the larger label.
    problems : sequence of {"binary", "confidence"} or int
        Problems to sum up; an integer is the index of a class.
    n_bins : int
        Number of equal-width bins.
    resolution : int, default 2048
        M, a multiple of 64: cells are no wider than 1/M in probability and 64/M in log-odds.
    scores : bool, default True
        Also sum up the scores of whole predictions.
    reading : Reading
        How values are read.
    option : str, optional
        Parameter of the caller that says what predictions are, for advice.
    caller : str
        Who asks: it opens the error message.

    Returns
    -------
    GridTable
        Small whatever the number of rows: about 2 (M + M) entries per problem and group.

    Notes
    -----
    Rows are read once, by the kernel in batches where Python can work on them, else by a query.
    There is one query more, for the distinct labels, if there are several columns and no `labels`;
    and, only if a row cannot be used, up to two that count the bad rows and show three of them in
    the error.

    Bins are those of `UniformBins`, to the last bit. Sums are in double precision: of batches in
    this process in the order of rows, whatever the threads; elsewhere the order of adding differs
    from run to run, and with it the last digits.

    A log score of a probability of zero is infinite. With a single column, Brier scores are summed
    as sum w p - sum w p(1 - p) or its mirror image: their absolute error is that of rounding.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.LazyFrame({"y": [0, 1, 1, 1], "p": [0.25, 0.25, 0.75, 1.0]})
    >>> table = grid_table(frame, y="y", prob="p", problems=["binary"], n_bins=2, caller="f")
    >>> table.bin.tolist(), table.outcome.tolist(), table.count.tolist()
    ([0, 0, 1, 1], [0, 1, 1, 1], [1.0, 1.0, 1.0, 1.0])
    >>> table.scores["brier"].tolist()  # 1/16 + 9/16 + 1/16 + 0
    [0.6875]
    """
    columns = (prob,) if isinstance(prob, str) else tuple(prob)
    keys = (by,) if isinstance(by, str) else tuple(by)
    _check_options(columns, problems, n_bins, resolution, caller)

    def table(frame: Any) -> GridTable:
        rows = engine_rows(
            frame,
            y=y,
            prob=columns,
            sample_weight=sample_weight,
            by=keys,
            declared=lambda: order_in(source, y, caller=caller),
            caller=caller,
        )
        if keys:
            check_keys(source, keys, caller=caller)
        rows = read_as(replace(rows, option=option), reading, caller=caller)
        grid = Grid(n_bins, resolution, rows.single)
        if len(columns) == 1:
            return _of_column(rows, grid, problems, labels, pos_label, scores=scores, caller=caller)
        return _of_columns(rows, grid, problems, labels, pos_label, scores=scores, caller=caller)

    needed = dict.fromkeys([y, *columns, *([sample_weight] if sample_weight else []), *keys])
    if not isinstance(source, (str, os.PathLike)):
        return table(open_lazy(source, caller=caller))
    import polars as pl
    from narwhals.exceptions import NarwhalsError

    try:
        return table(open_lazy(source, columns=list(needed), caller=caller))
    except (NarwhalsError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Read whole, a text cell deep in a CSV gives its column another type, and whatever else
        # is wrong with the file is said in the words of this library.
        return table(read_lazy(source, columns=list(needed), caller=caller))


def _check_options(
    prob: Sequence[str], problems: Sequence[str | int], n_bins: int, resolution: int, caller: str
) -> None:
    if not (is_integer(n_bins) and n_bins >= 1):
        hint = "15 is the default."
        raise invalid(caller, "n_bins", "a positive integer", repr(n_bins), hint=hint)
    if not (is_integer(resolution) and resolution >= 64 and resolution % 64 == 0):
        hint = f"{RESOLUTION} is the default."
        raise invalid(caller, "resolution", "a multiple of 64", repr(resolution), hint=hint)
    n_classes = max(2, len(prob))
    for problem in problems:
        index = is_integer(problem) and 0 <= int(problem) < n_classes
        if not (index or problem == "confidence" or (problem == "binary" and n_classes == 2)):
            hint = f"there are {n_classes} classes."
            expected = '"binary" (of two classes), "confidence" or the index of a class'
            raise invalid(caller, "problems", expected, repr(problem), hint=hint)


def _of_column(
    rows: EngineRows,
    grid: Grid,
    problems: Sequence[str | int],
    labels: ArrayLike | None,
    pos_label: Any,
    *,
    scores: bool,
    caller: str,
) -> GridTable:
    numbers = [POSITIVE]
    numbers += [NEGATIVE] if any(is_integer(problem) for problem in problems) else []
    numbers += [TOP] if "confidence" in problems else []
    sums = _checked(rows, Asked(grid, tuple(numbers), (), 1, scores), caller)
    found = classes_of_entries(rows, sums.keys[LABEL], labels, pos_label, caller=caller)
    return assemble(
        rows,
        sums,
        grid,
        problems,
        found.labels,
        found.positive,
        codes=found.codes,
        scores=scores,
        caller=caller,
    )


def _of_columns(
    rows: EngineRows,
    grid: Grid,
    problems: Sequence[str | int],
    labels: ArrayLike | None,
    pos_label: Any,
    *,
    scores: bool,
    caller: str,
) -> GridTable:
    found = classes_of_columns(rows, labels, pos_label, caller=caller)
    rows, classes, positive = rows.arranged(found.order), found.labels, found.positive
    numbers = [event_number(problem, len(classes), positive) for problem in problems]
    asked = Asked(grid, tuple(dict.fromkeys(numbers)), classes, positive, scores)
    sums = _sums(rows, asked, caller)
    if (sums.state == INVALID).any():
        rows = eased(rows, caller=caller) or rows
        sums = _checked(rows, asked, caller)
    elif not (sums.state == 0).any():
        raise fault(rows, classes, caller=caller)
    return assemble(
        rows, sums, grid, problems, classes, positive, codes=None, scores=scores, caller=caller
    )


def _checked(rows: EngineRows, asked: Asked, caller: str) -> Sums:
    """Sum up, and raise if a row cannot be used, or none counts."""
    sums = _sums(rows, asked, caller)
    if (sums.state == INVALID).any() or not (sums.state == 0).any():
        raise fault(rows, asked.classes, caller=caller)
    return sums


def _sums(rows: EngineRows, asked: Asked, caller: str) -> Sums:
    """Sums by the kernel where Python can work on rows, else by expressions of the engine."""
    engine = engine_of(rows.frame)
    if engine.runs is None:
        return sums_of_query(rows, asked, caller=caller)
    try:
        return sums_of_batches(rows, asked, caller=caller)
    except worker_errors(engine):
        # Workers without Python, NumPy or pyarrow. Whatever else is wrong, the query says so.
        return sums_of_query(rows, asked, caller=caller)


def sums_of_query(rows: EngineRows, asked: Asked, *, caller: str) -> Sums:
    """Sums by one query of the engine."""
    if asked.classes:
        events = events_of_columns(
            rows,
            asked.classes,
            positive=asked.positive,
            wanted=asked.numbers,
            scores=asked.scores,
        )
    else:
        events = events_of_column(rows, wanted=asked.numbers, scores=asked.scores)
    return scan(events, asked.grid, caller=caller)
