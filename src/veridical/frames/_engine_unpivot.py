"""Columns put one below the other, in any engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def unpivot(
    frame: nw.LazyFrame[Any],
    numbered: Sequence[str],
    *,
    index: Sequence[str],
    variable: str,
    value: str,
) -> nw.LazyFrame[Any]:
    """Make one row of each value of columns whose names are numbers.

    Parameters
    ----------
    frame : narwhals LazyFrame
        A query.
    numbered : sequence of str
        Columns of one type, named by integers.
    index : sequence of str
        Columns to repeat beside each value.
    variable, value : str
        Names of the new columns: the integer, and the value.
    """
    import narwhals.stable.v2 as nw

    if frame.implementation is nw.Implementation.DUCKDB:
        # narwhals looks the relation up in DuckDB's default connection, where it need not be.
        relation = frame.to_native()
        kept = ", ".join(f'"{name}"' for name in index)
        values = ", ".join(f'"{name}"' for name in numbered)
        return nw.from_native(
            relation.project(
                f'{kept}, unnest([{", ".join(numbered)}]) AS "{variable}", '
                f'unnest([{values}]) AS "{value}"'
            )
        )
    long = frame.unpivot(
        list(numbered), index=list(index), variable_name=variable, value_name=value
    )
    return long.with_columns(nw.col(variable).cast(nw.Int64))
