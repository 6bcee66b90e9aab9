"""Random rows of an engine: a number drawn for each row, or the engine's own sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

DRAW = "v_draw"
_LARGEST_HASH = 2.0**64


@dataclass(frozen=True)
class Stratum:
    """Rows that meet a condition (None: all), and the share of them to fetch."""

    condition: nw.Expr | None
    share: float

    def drawn(self) -> nw.Expr:
        """Whether a row is of this stratum and its draw is low enough."""
        import narwhals.stable.v2 as nw

        low = nw.col(DRAW) < self.share
        return low if self.condition is None else self.condition & low


def pick_rows(
    frame: nw.LazyFrame[Any], strata: Sequence[Stratum], *, seed: int
) -> nw.DataFrame[Any]:
    """Fetch each row of a stratum with the stratum's probability, in one query.

    Parameters
    ----------
    frame : narwhals LazyFrame
        The columns wanted.
    strata : sequence of Stratum
        Disjoint parts of the table.
    seed : int
        The same seed gives the same rows if the engine gives them in the same order and parts.

    Returns
    -------
    narwhals DataFrame
        With a column DRAW, uniform on [0, 1), by which to choose among the rows fetched, if the
        engine can draw one; Dask and Ibis cannot, and use their own sampling of each stratum.

    Notes
    -----
    polars and frames in memory: a hash of the row's number. DuckDB: the same, so the order of rows
    matters. Spark: ``rand(seed)``, which depends on how rows are spread over partitions. Dask:
    ``sample(random_state=seed)`` of each partition. Ibis: ``sample(seed=seed)``, which an engine
    with several threads may not repeat.
    """
    import narwhals.stable.v2 as nw

    engine, own = frame.implementation, frame.to_native()
    if engine in (nw.Implementation.DASK, nw.Implementation.IBIS):
        return nw.concat([_own_sample(frame, one, seed) for one in strata]).collect()
    if engine is nw.Implementation.POLARS:
        import polars as pl

        drawn = own.with_row_index(DRAW).with_columns(pl.col(DRAW).hash(seed) / _LARGEST_HASH)
    elif engine is nw.Implementation.DUCKDB:
        drawn = own.project(
            f"*, hash(row_number() OVER (), {seed})::DOUBLE / {_LARGEST_HASH!r} AS {DRAW}"
        )
    elif engine.is_spark_like():
        from pyspark.sql import functions

        drawn = own.withColumn(DRAW, functions.rand(seed))
    else:
        return _in_memory(frame.collect(), strata, seed)
    return nw.from_native(drawn).filter(_any_drawn(strata)).collect()


def _any_drawn(strata: Sequence[Stratum]) -> nw.Expr:
    return reduce(or_, (one.drawn() for one in strata))


def _own_sample(frame: nw.LazyFrame[Any], stratum: Stratum, seed: int) -> nw.LazyFrame[Any]:
    """Sample as the engine does it by itself."""
    import narwhals.stable.v2 as nw

    if stratum.condition is not None:
        frame = frame.filter(stratum.condition)
    if stratum.share >= 1:
        return frame
    own = frame.to_native()
    if frame.implementation is nw.Implementation.DASK:
        return nw.from_native(own.sample(frac=stratum.share, random_state=seed))
    return nw.from_native(own.sample(stratum.share, method="row", seed=seed))


def _in_memory(frame: nw.DataFrame[Any], strata: Sequence[Stratum], seed: int) -> nw.DataFrame[Any]:
    import narwhals.stable.v2 as nw

    draws = np.random.default_rng(seed).random(len(frame))
    column = nw.new_series(DRAW, draws, nw.Float64, backend=frame.implementation)
    return frame.with_columns(column).filter(_any_drawn(strata))
