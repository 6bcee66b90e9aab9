"""A random sample of rows, drawn where they are, in which every class has its share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.arrays import missing_values
from veridical._core.data.validation import is_integer
from veridical.exceptions import invalid
from veridical.frames._tables.columns import missing_column
from veridical.frames._tables.engines import engine_of
from veridical.frames._tables.open import open_lazy, run
from veridical.frames._tables.table import Table

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from veridical._core.typing import Array, IntArray


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

    draws, own = engine_of(frame).draws, frame.to_native()
    if draws == "memory":
        return _in_memory(frame.collect(), strata, seed)
    if draws == "own":
        return nw.concat([_own_sample(frame, one, seed) for one in strata]).collect()
    if draws == "hash":
        import polars as pl

        drawn = own.with_row_index(DRAW).with_columns(pl.col(DRAW).hash(seed) / _LARGEST_HASH)
    elif draws == "hash in SQL":
        drawn = own.project(
            f"*, hash(row_number() OVER (), {seed})::DOUBLE / {_LARGEST_HASH!r} AS {DRAW}"
        )
    else:
        from pyspark.sql import functions

        drawn = own.withColumn(DRAW, functions.rand(seed))
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
    if engine_of(frame).runs == "partitions":
        return nw.from_native(own.sample(frac=stratum.share, random_state=seed))
    return nw.from_native(own.sample(stratum.share, method="row", seed=seed))


def _in_memory(frame: nw.DataFrame[Any], strata: Sequence[Stratum], seed: int) -> nw.DataFrame[Any]:
    import narwhals.stable.v2 as nw

    draws = np.random.default_rng(seed).random(len(frame))
    column = nw.new_series(DRAW, draws, nw.Float64, backend=frame.implementation)
    return frame.with_columns(column).filter(_any_drawn(strata))


SAMPLING_WEIGHT = "sampling_weight"


def sample_rows(
    source: Any,
    columns: Sequence[str],
    *,
    n: int,
    stratify: str | None = None,
    seed: int,
    caller: str,
) -> Table:
    """Collect about `n` random rows of a table too large to collect.

    Parameters
    ----------
    source : frame, str or path
        As in `open_lazy`.
    columns : sequence of str
        The columns wanted.
    n : int
        How many rows to aim for; all rows if there are no more.
    stratify : str, optional
        Column of labels. Every label keeps at least min(its rows, n / number of labels) rows,
        exactly so many where the engine can sort; the rest is shared out in proportion.
    seed : int
        Decides which rows.
    caller : str
        Who asks: it opens the error message.

    Returns
    -------
    Table
        The columns, and "sampling_weight": how many rows of the table each row stands for (rows of
        its label in the table over those in the sample), so that weighted sums estimate those of
        the whole table without bias.

    Notes
    -----
    Two queries: one counts the rows (of each label), one fetches. The same seed gives the same rows
    as long as the engine presents rows in the same order and parts: polars and frames in memory do;
    DuckDB, Ibis, Spark and Dask do for tables and files that are not rewritten. See `pick_rows`.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.LazyFrame({"y": [0] * 90 + [1] * 10, "p": [0.5] * 100})
    >>> table = sample_rows(frame, ["p"], n=20, stratify="y", seed=1, caller="f")
    >>> weight = table.column("sampling_weight", caller="f", param="w")
    >>> sorted(set(weight.tolist())), float(weight.sum())
    ([1.0, 9.0], 100.0)
    """
    _check(n, seed, caller)
    frame = open_lazy(source, caller=caller)
    names = frame.collect_schema().names()
    for param, wanted in (("columns", columns), ("stratify", [stratify] if stratify else [])):
        for name in wanted:
            if name not in names:
                raise missing_column(name, names, caller=caller, param=param)
    kept = list(dict.fromkeys([*columns, *([stratify] if stratify else [])]))
    frame = frame.select(kept)
    counts, conditions = _strata(frame, stratify, caller)
    if counts.sum() == 0:
        raise invalid(caller, "source", "non-empty", "0 rows", hint="pass at least one row.")
    sizes = share_out(n, counts)
    shares = [_share(int(m), int(count)) for m, count in zip(sizes, counts, strict=True)]
    strata = [Stratum(one, share) for one, share in zip(conditions, shares, strict=True)]
    rows = pick_rows(frame, strata, seed=seed)
    return _trimmed(rows, strata, sizes, counts, columns, seed)


def share_out(n: int, counts: IntArray) -> IntArray:
    """Rows to draw from each stratum: an equal part of n, and what is left in proportion.

    Examples
    --------
    >>> share_out(20, np.array([90, 10])).tolist()  # 10 each
    [10, 10]
    >>> share_out(20, np.array([90, 4])).tolist()  # all 4, and the rest
    [16, 4]
    """
    sizes: IntArray = np.minimum(counts, n // len(counts))
    while (left := min(n, int(counts.sum())) - int(sizes.sum())) > 0:
        room = counts - sizes
        more = np.minimum(room, left * room // room.sum())
        if not more.any():
            largest = np.argsort(-room, kind="stable")[:left]
            more[largest] = room[largest] > 0
        sizes = sizes + more
    return sizes


def _check(n: int, seed: int, caller: str) -> None:
    if not (is_integer(n) and n >= 1):
        raise invalid(caller, "n", "a positive integer", repr(n), hint="100,000 rows are many.")
    if not (is_integer(seed) and 0 <= seed < 2**31):
        hint = "the seed decides which rows are drawn."
        raise invalid(caller, "seed", "an integer from 0 to 2^31 - 1", repr(seed), hint=hint)


def _strata(
    frame: nw.LazyFrame[Any], stratify: str | None, caller: str
) -> tuple[IntArray, list[nw.Expr | None]]:
    """Count the rows of each label, and say how to tell them; labels in sorted order."""
    import narwhals.stable.v2 as nw

    if stratify is None:
        table = run(frame.select(nw.len().alias("v_rows")))
        return table.column("v_rows", caller=caller, param="n").astype(np.int64), [None]
    label = nw.col(stratify)
    table = run(frame.group_by(stratify).agg(nw.len().alias("v_rows")))
    values = table.column(stratify, caller=caller, param="stratify")
    counts = table.column("v_rows", caller=caller, param="n").astype(np.int64)
    missing = missing_values(values)
    order = np.argsort(values[~missing].astype(str), kind="stable")  # the same on every engine
    found = [(int(counts[~missing][i]), label == _plain(values[~missing][i])) for i in order]
    if missing.any():
        found.append((int(counts[missing].sum()), label.is_null()))
    return np.array([count for count, _ in found], dtype=np.int64), [one for _, one in found]


def _share(m: int, count: int) -> float:
    """Fetch a few more than wanted, five standard deviations, so that there are enough."""
    if m >= count:
        return 2.0  # above every draw: all of them
    return min(2.0, (m + 5 * math.sqrt(m) + 10) / count)


def _trimmed(
    rows: nw.DataFrame[Any],
    strata: Sequence[Stratum],
    sizes: IntArray,
    counts: IntArray,
    columns: Sequence[str],
    seed: int,
) -> Table:
    """Keep as many rows of each stratum as were wanted, and say what each stands for."""
    import narwhals.stable.v2 as nw

    if DRAW in rows.columns:
        draws: Array = rows.get_column(DRAW).to_numpy()
    else:
        draws = np.random.default_rng(seed).random(len(rows))
    weight = np.zeros(len(rows))
    for one, m, count in zip(strata, sizes.tolist(), counts.tolist(), strict=True):
        at = np.arange(len(rows))
        if one.condition is not None:
            marked = rows.with_columns(one.condition.alias("v_mark"))
            at = np.flatnonzero(marked.get_column("v_mark").to_numpy())
        at = at[np.argsort(draws[at], kind="stable")[:m]]
        weight[at] = count / max(len(at), 1)
    column = nw.new_series(SAMPLING_WEIGHT, weight, nw.Float64, backend=rows.implementation)
    rows = rows.select(*dict.fromkeys(columns)).with_columns(column)
    return Table(rows.filter(nw.col(SAMPLING_WEIGHT) > 0))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
