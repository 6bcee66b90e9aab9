"""Tables under charts, and numbers as they are written there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Cells of text; the first column names the row."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def table_of(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table with numbers written out; None is an empty cell.

    Examples
    --------
    >>> table_of(["bin", "rows"], [("0 to 0.5", 1200), ("0.5 to 1", None)]).rows
    (('0 to 0.5', '1,200'), ('0.5 to 1', ''))
    """
    return Table(tuple(header), tuple(tuple(cell(value) for value in row) for row in rows))


def cell(value: Any) -> str:
    """Write a value: whole numbers with commas, others with four decimals or digits."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    if number == round(number) and (abs(number) >= 2 or isinstance(value, (int, np.integer))):
        return f"{number:,.0f}"
    return f"{number:.4f}" if 1e-3 <= abs(number) < 1e4 or number == 0 else f"{number:.4g}"


def plain(value: Any) -> float | None:
    """Return a number for JSON, with six digits; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.6g}")


def count_words(count: float) -> str:
    """Write a number of rows, whole or not.

    Examples
    --------
    >>> count_words(1200.0), count_words(3.25)
    ('1,200', '3.2')
    """
    return f"{round(float(count), 1):,.10g}"


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Turn named columns into one record a row."""
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Turn records into named columns; None where a record lacks a field."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def short(label: Any, longest: int = 40) -> str:
    """Write a label as text on one line, cut where it would run into its neighbour.

    Examples
    --------
    >>> short("a" * 50, 5)
    'aaaa…'
    """
    text = " ".join(str(label).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
