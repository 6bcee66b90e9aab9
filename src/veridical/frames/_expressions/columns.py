"""Formulas as new columns of a frame, lazy in its engine or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add, and_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from veridical._core.data.features import Features
from veridical._core.formula import Node
from veridical._core.numeric.scan import row_sum_tolerance
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.frames._expressions.features import check_kinds, code_of
from veridical.frames._expressions.lookup import look_up, most_pieces
from veridical.frames._expressions.writer import ExpressionWriter
from veridical.frames._tables.detect import unwrap
from veridical.frames._tables.engines import engine_of
from veridical.frames._tables.open import lazy_frame

_LARGEST = 1.7976931348623157e308


def with_formulas(
    source: Any,
    columns: Sequence[str],
    outputs: Mapping[str, Node],
    *,
    input: str,
    caller: str,
    features: Features | None = None,
) -> Any:
    """Add columns that are formulas of others; no row is read.

    Parameters
    ----------
    source : lazy frame
        Of polars, DuckDB, Spark, Dask or Ibis.
    columns : sequence of str
        Input columns: numbers, of which `outputs` are formulas.
    outputs : mapping of str to Node
        New columns.
    input : {"probability", "logit", "score"}
        What columns hold. Rows with a value that is missing, NaN or infinite, or of probabilities
        outside [0, 1] or with a sum that is not one, get NULL.
    caller : str
        Who asks: it opens the error message.
    features : Features, optional
        Columns, by name, whose codes the formulas use.

    Returns
    -------
    lazy frame
        Of the same engine: all columns of `source` and then the new ones.

    Examples
    --------
    >>> import polars as pl
    >>> from veridical._core.formula import Column, Linear
    >>> half, frame = Linear(((0.5, Column(0)),)), pl.LazyFrame({"p": [0.25, None, 1.5]})
    >>> frame = with_formulas(
    ...     frame, ["p"], {"half": half}, input="probability", caller="transform"
    ... )
    >>> frame.collect()["half"].to_list()
    [0.125, None, None]
    """
    frame = lazy_frame(source, caller=caller, param="frame")
    _check_numeric(frame, columns, caller=caller)
    schema = frame.collect_schema()
    kept = list(schema.names())
    fresh = _fresh(kept)
    valid, inputs = next(fresh), [next(fresh) for _ in columns]
    single = all(schema[name] == nw.Float32 for name in columns)
    doubles = [nw.col(name).cast(nw.Float64) for name in columns]
    neutral = 1 / max(len(columns), 2) if input == "probability" else 0.0
    frame = frame.with_columns(_valid(doubles, input, single=single).alias(valid))
    frame = frame.with_columns(
        nw.when(nw.col(valid)).then(each).otherwise(nw.lit(neutral)).alias(name)
        for each, name in zip(doubles, inputs, strict=True)
    )
    codes: list[str] = []
    if features is not None:
        check_kinds(features, schema, caller=caller)
        codes = [next(fresh) for _ in features]
        frame = frame.with_columns(
            code_of(feature).alias(name) for feature, name in zip(features, codes, strict=True)
        )
    writer = ExpressionWriter(
        list(outputs.values()),
        inputs,
        fresh,
        most_pieces(frame),
        codes=codes,
        n_codes=[] if features is None else features.n_codes,
    )
    written = {name: writer.write(node).expr for name, node in outputs.items()}
    for stage in writer.stages:
        if stage.columns:
            frame = frame.with_columns(**stage.columns)
        if stage.lookups:
            frame = look_up(frame, stage.lookups)
    frame = frame.with_columns(
        nw.when(nw.col(valid)).then(expr).otherwise(None).alias(name)
        for name, expr in written.items()
    )
    return nw.to_native(frame.select(*kept, *outputs))


def _check_numeric(frame: nw.LazyFrame[Any], columns: Sequence[str], *, caller: str) -> None:
    """Raise unless these columns hold numbers, by their types alone."""
    schema = frame.collect_schema()
    for name in columns:
        dtype = schema[name]
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            hint = "choose columns of numbers, or cast them in the engine first."
            raise invalid(caller, "prob", "numeric", f"column {name!r} of type {dtype}", hint=hint)


def _valid(doubles: list[nw.Expr], input: str, *, single: bool) -> nw.Expr:
    """Whether a row can be calibrated; engines disagree on NaN, so nothing else ever sees one."""
    low, high = (0.0, 1.0) if input == "probability" else (-_LARGEST, _LARGEST)
    tests = [(each >= low) & (each <= high) & ~each.is_nan() for each in doubles]
    if input == "probability" and len(doubles) > 1:
        total = reduce(add, doubles)
        slack = row_sum_tolerance(np.dtype(np.float32 if single else np.float64))
        tests.append((total - 1.0).abs() <= slack)
    return reduce(and_, tests).fill_null(value=False)


def _fresh(taken: list[str]) -> Iterator[str]:
    """Names of intermediate columns that no column has."""
    prefix = "_veridical_"
    while any(name.lower().startswith(prefix) for name in taken):
        prefix += "_"
    number = 0
    while True:
        yield f"{prefix}{number}"
        number += 1


def with_arrays(source: Any, added: Mapping[str, FloatArray]) -> Any:
    """Add arrays to a frame as columns; NaN becomes what the frame writes for a missing value.

    Parameters
    ----------
    source : frame
        pandas, polars or pyarrow.
    added : mapping of str to ndarray of shape (n_rows,)
        New columns.

    Returns
    -------
    frame
        Of the same library, with the index it had.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> frame = with_arrays(pl.DataFrame({"id": [7, 8]}), {"q": np.array([0.5, np.nan])})
    >>> frame["q"].to_list()
    [0.5, None]
    """
    frame = nw.from_native(unwrap(source), eager_only=True)
    if nw.dependencies.is_pandas_like_dataframe(frame.to_native()):
        return frame.to_native().assign(**dict(added))
    backend = frame.implementation
    series = [nw.new_series(name, values, backend=backend) for name, values in added.items()]
    missing = {name: bool(np.isnan(values).any()) for name, values in added.items()}
    frame = frame.with_columns(*series)
    marked = [
        nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name)
        for name, some in missing.items()
        if some
    ]
    return (frame.with_columns(*marked) if marked else frame).to_native()


def of_partitions(source: Any) -> Callable[[Callable[[Any], Any]], Any] | None:
    """What applies a function to each part of a lazy frame, if its engine keeps pandas frames.

    Dask runs Python in any case, and plans a formula more slowly than it computes it (0.9 s for
    each of seventy maps). The function has to work on a frame without rows, for its columns.
    """
    native: Any = unwrap(source)
    if engine_of(nw.from_native(native)).runs != "partitions":
        return None
    return lambda function: native.map_partitions(function, meta=function(native._meta))
