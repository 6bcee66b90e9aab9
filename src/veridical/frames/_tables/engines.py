"""What is known of each engine: one record an engine, one table of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A library that holds tables, or runs queries.

    Attributes
    ----------
    name : as narwhals spells it
    module : a frame of it can exist only once this is loaded; default its name
    queries : functions of ``narwhals.dependencies`` that know a query of it; none for a library
        whose tables are all in memory
    tables : whether it holds tables in memory
    results : whether small tables of results may be asked for in it
    streams : whether it fetches an answer in streams
    arrow : whether its answers come through pyarrow
    extra : of the installation, if one brings pyarrow with it
    draws : how a random number is drawn for each row: by a hash of its number in polars or in SQL,
        by a function of Spark, by the engine's own sampling of rows, or by NumPy in memory
    runs : where Python can work on its rows: on batches here, in memory, in workers that know Arrow
        or on partitions that are pandas frames; None if expressions are all it takes
    tree_pieces : pieces up to which a tree of CASE is as good as anything, None if there is
        nothing else
    """

    name: str
    module: str = ""
    queries: tuple[str, ...] = ()
    tables: bool = False
    results: bool = False
    streams: bool = False
    arrow: bool = False
    extra: str | None = None
    draws: Literal["hash", "hash in SQL", "rand", "own", "memory"] = "memory"
    runs: Literal["batches", "memory", "workers", "partitions"] | None = None
    tree_pieces: int | None = None


_POLARS = Engine(
    name="polars",
    queries=("is_polars_lazyframe",),
    tables=True,
    results=True,
    streams=True,
    draws="hash",
    runs="batches",
    tree_pieces=4,
)
_PANDAS = Engine(name="pandas", tables=True, results=True, runs="memory")
_DUCKDB = Engine(
    name="duckdb",
    queries=("is_duckdb_relation",),
    arrow=True,
    extra="duckdb",
    draws="hash in SQL",
    runs="batches",
    tree_pieces=64,
)
_SPARK = Engine(
    name="pyspark",
    queries=("is_pyspark_dataframe",),
    arrow=True,
    draws="rand",
    runs="workers",
    tree_pieces=64,
)
_CONNECT = replace(
    _SPARK,
    name="pyspark[connect]",
    module="pyspark",
    queries=("is_pyspark_connect_dataframe",),
    tree_pieces=None,
)
_ALL = (
    _POLARS,
    _PANDAS,
    Engine(name="pyarrow", tables=True, results=True, runs="memory"),
    replace(_PANDAS, name="modin", module="pandas", results=False),  # both load pandas
    replace(_PANDAS, name="cudf", module="pandas", results=False),
    _DUCKDB,
    _SPARK,
    _CONNECT,
    replace(_CONNECT, name="sqlframe", module="", queries=("is_sqlframe_dataframe",), runs=None),
    Engine(name="dask", queries=("is_dask_dataframe",), draws="own", runs="partitions"),
    Engine(name="ibis", queries=("is_ibis_table",), arrow=True, draws="own"),
)
ENGINES = {engine.name: engine for engine in _ALL}
RESULT_LIBRARIES = tuple(engine.name for engine in _ALL if engine.results)


def engine_of(frame: nw.LazyFrame[Any] | nw.DataFrame[Any]) -> Engine:
    """Return what is known of the engine of a frame.

    Examples
    --------
    >>> import narwhals.stable.v2 as nw
    >>> import polars as pl
    >>> engine_of(nw.from_native(pl.LazyFrame({"p": [0.5]}))).streams
    True
    """
    name = str(frame.implementation.value)
    return ENGINES.get(name) or Engine(name=name)
