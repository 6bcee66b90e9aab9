"""Lookups of many pieces, in each engine's own way.

A tree of CASE costs an engine that works on whole columns one pass for each piece, and Spark
cannot compile more than some hundred of them. Measured on 1e6 rows and 1,000 pieces, two cores:
polars 1.9 s as a tree and 0.1 to 0.3 s here, DuckDB 5.5 and 0.9 s, Spark 22 and 3 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from veridical._core.formula import Piecewise
from veridical._core.typing import FloatArray
from veridical.frames._tables.engines import engine_of

# name of a new column -> what polynomials are of, what is compared with edges, and the pieces
Lookups = Mapping[str, tuple[str, str, Piecewise]]

_LONGEST_LIST = 1024  # DuckDB copies a list for every block of rows: above, a join is faster


def most_pieces(frame: nw.LazyFrame[Any]) -> int | None:
    """Pieces up to which a tree of CASE is as good as anything; None if there is nothing else."""
    return engine_of(frame).tree_pieces


def look_up(frame: nw.LazyFrame[Any], lookups: Lookups) -> nw.LazyFrame[Any]:
    """Add columns of lookups. No row is read."""
    own = _WAYS[engine_of(frame).name]
    return nw.from_native(own(nw.to_native(frame), lookups))


def values_of(node: Piecewise, x: FloatArray, by: FloatArray) -> FloatArray:
    """Values of piecewise polynomials at `x`, the pieces found by comparing `by`."""
    place = np.searchsorted(node.edges, by, side=node.side)
    result: FloatArray = node.coefficients[-1][place]
    if node.degree:
        away = x - node.starts[place]
        for each in node.coefficients[-2::-1]:
            result = each[place] + away * result
    return result


def _polars(native: Any, lookups: Lookups) -> Any:
    import polars as pl

    def column(of: str, by: str, node: Piecewise) -> Any:
        def found(series: Any) -> Any:
            x, compared = series[0].to_numpy(), series[-1].to_numpy()
            return pl.Series(values_of(node, x, compared))

        names = [of] if by == of else [of, by]
        return pl.map_batches(names, found, return_dtype=pl.Float64, is_elementwise=True)

    return native.with_columns(**{name: column(*each) for name, each in lookups.items()})


def _spark(native: Any, lookups: Lookups) -> Any:
    """Lists as one text each: a list of literals would take the planner longer than the rows."""
    from pyspark.sql import functions

    def element(values: FloatArray, index: str) -> str:
        text = ",".join(map(repr, values.tolist()))
        return f"get(CAST(split('{text}', ',') AS ARRAY<DOUBLE>), {index})"

    for columns in _halving(lookups, element):
        native = native.withColumns({name: functions.expr(each) for name, each in columns.items()})
    return native


def _duckdb(native: Any, lookups: Lookups) -> Any:
    def element(values: FloatArray, index: str) -> str:
        return f"list_extract({_duckdb_list(values)}, {index} + 1)"

    long = {name: each for name, each in lookups.items() if len(each[2].edges) > _LONGEST_LIST}
    if long:
        native = _duckdb_joined(native, long)
    short = {name: each for name, each in lookups.items() if name not in long}
    query, known = "given", set(native.columns)  # as one query: each step is planned but once
    for columns in _halving(short, element):
        replaced = ", ".join(f"{columns[name]} AS {name}" for name in columns if name in known)
        everything = f"* REPLACE ({replaced})" if replaced else "*"
        added = [f"{each} AS {name}" for name, each in columns.items() if name not in known]
        query = f"(SELECT {', '.join([everything, *added])} FROM {query})"
        known.update(columns)
    return native.query("given", f"FROM {query}") if short else native


def _duckdb_joined(native: Any, lookups: Lookups) -> Any:
    """Join each row with the last edge below it; rows then get back the order they had."""
    joins, columns = "", []
    for k, (name, (of, by, node)) in enumerate(lookups.items()):
        lists = {"edge": np.append(-np.inf, node.edges), "origin": node.starts}
        lists |= {f"c{power}": each for power, each in enumerate(node.coefficients)}
        parts = ", ".join(f"unnest({_duckdb_list(v)}) AS {part}" for part, v in lists.items())
        operator = ">" if node.side == "left" else ">="
        joins += f" ASOF JOIN (SELECT {parts}) q{k} ON t.{by} {operator} q{k}.edge"
        away = f"(t.{of} - q{k}.origin)"
        columns.append(f"{_horner([f'q{k}.c{p}' for p in range(node.degree + 1)], away)} AS {name}")
    place = f"{next(iter(lookups))}_row"
    numbered = f"(SELECT *, row_number() OVER () AS {place} FROM given) t"
    text = f"SELECT t.* EXCLUDE ({place}), {', '.join(columns)} FROM {numbered}{joins}"
    return native.query("given", f"{text} ORDER BY t.{place}")


def _duckdb_list(values: FloatArray) -> str:
    """One text that is read once, rather than a literal for each number."""
    return f"string_split('{','.join(map(repr, values.tolist()))}', ',')::DOUBLE[]"


def _halving(
    lookups: Lookups, element: Callable[[FloatArray, str], str]
) -> Iterator[dict[str, str]]:
    """Columns of each step of a binary search in SQL, whose last step is the value.

    `element` writes the number at a place, from 0, of a list. A column counts the edges below.
    """
    longest = max((len(node.edges) for *_, node in lookups.values()), default=0)
    started: set[str] = set()
    for bit in range(longest.bit_length() - 1, -1, -1):
        step, columns = 1 << bit, {}
        for name, (_, by, node) in lookups.items():
            n_edges = len(node.edges)
            if step > n_edges:
                continue
            place = f"{name}_place" if name in started else "0"
            operator = "<" if node.side == "left" else "<="
            edge = element(node.edges, f"{place} + {step - 1}")
            test = f"{place} + {step} <= {n_edges} AND {edge} {operator} {by}"
            columns[f"{name}_place"] = f"CASE WHEN {test} THEN {place} + {step} ELSE {place} END"
            started.add(name)
        yield columns
    found = {}
    for name, (of, _, node) in lookups.items():
        place = f"{name}_place"
        away = f"({of} - {element(node.starts, place)})" if node.degree else ""
        found[name] = _horner([element(each, place) for each in node.coefficients], away)
    if found:
        yield found


def _horner(coefficients: list[str], away: str) -> str:
    text = coefficients[-1]
    for each in coefficients[-2::-1]:
        text = f"({each} + {away} * {text})"
    return text


_WAYS = {"polars": _polars, "pyspark": _spark, "duckdb": _duckdb}
