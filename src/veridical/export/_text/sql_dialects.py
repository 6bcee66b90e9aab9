"""Dialects of SQL: numbers, names and texts in the words of each database."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

_WHOLE = 2.0**53  # whole numbers up to here are exact in every notation
_NO_EDGE = 1e60
_POWER = 62  # largest power of two a 64-bit integer holds


@dataclass(frozen=True)
class Dialect:
    """One database.

    Attributes
    ----------
    number : a double as a literal that is read back to the last bit
    quote : a column name as an identifier
    text : a text as a literal
    double : an expression converted to double precision
    largest, smallest : functions of two numbers or more
    traps_exp : whether exp(x) may be an error where it is too large or too small for a double
    traps_underflow : whether a product that is too small for a double is an error
    stack : entries of the parser's stack, if few
    barrier : ends an inner SELECT that the planner must not dissolve into the outer one
    joins : whether lookups of many pieces are joins in a query, the engine working on columns
    executed : whether the tests of this package run what is written
    """

    number: Callable[[float], str]
    quote: Callable[[str], str]
    text: Callable[[str], str]
    double: Callable[[str], str]
    largest: str = "GREATEST"
    smallest: str = "LEAST"
    traps_exp: bool = True
    traps_underflow: bool = False
    stack: int | None = None
    barrier: str = ""
    joins: bool = False
    executed: bool = True


def _scientific(value: float) -> str:
    """Numbers with an exponent are doubles; without one they would be decimals."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _fraction(value: float) -> str:
    """A quotient of whole numbers and powers of two.

    SQLite's own reading of decimals may err in the last bit, which is enough to put a score on
    the wrong side of an edge. Numbers beyond 1e60 are limits, not edges: decimals will do.
    """
    if value == 0 or abs(value) > _NO_EDGE:
        return f"({value!r})" if value < 0 else repr(value)
    sign = "-" if value < 0 else ""
    ratio = Fraction(abs(value))
    top, bottom = ratio.numerator, ratio.denominator
    if bottom == 1 and top < _WHOLE:
        return f"({sign}{top}.0)" if sign else f"{top}.0"
    mantissa, exponent = math.frexp(abs(value))
    whole, exponent = int(mantissa * _WHOLE), exponent - 53
    while whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    mark, left, text = ("*" if exponent > 0 else "/"), abs(exponent), f"{sign}{whole}.0"
    while left:
        text += f"{mark}{2 ** min(left, _POWER)}.0"
        left -= min(left, _POWER)
    return f"({text})"


def _doubled(mark: str) -> Callable[[str], str]:
    return lambda name: mark + name.replace(mark, mark * 2) + mark


def _escaped(text: str) -> str:
    r"""A text as a literal where a backslash escapes: all but letters and digits by their numbers.

    No sign is left that could end it, whatever the settings of a parser or what a driver reads.

    Examples
    --------
    >>> print(_escaped("it's"))
    'it\u0027s'
    """
    signs = (
        each if each.isalnum() or each in " _" or ord(each) > 0xFFFF else f"\\u{ord(each):04x}"
        for each in text
    )
    return f"'{''.join(signs)}'"


def _bigquery_name(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def signed(text: str) -> str:
    """Negative numbers in brackets: two minus signs in a row would begin a comment."""
    return f"({text})" if text.startswith("-") else text


DIALECTS = {
    "duckdb": Dialect(
        lambda value: signed(_scientific(value)),
        _doubled('"'),
        _doubled("'"),
        lambda x: f"{x}::DOUBLE",
        joins=True,
    ),
    "postgres": Dialect(
        lambda value: f"'{value!r}'::float8",
        _doubled('"'),
        lambda text: f"E{_escaped(text)}",
        lambda x: f"{x}::float8",
        traps_underflow=True,
        barrier=" OFFSET 0",
    ),
    "sqlite": Dialect(
        _fraction,
        _doubled('"'),
        _doubled("'"),
        lambda x: f"CAST({x} AS REAL)",
        "MAX",
        "MIN",
        traps_exp=False,
        stack=100,  # fixed up to version 3.45
        barrier=" LIMIT -1 OFFSET 0",
    ),
    "spark": Dialect(
        lambda value: signed(f"{value!r}D"),
        _doubled("`"),
        _escaped,
        lambda x: f"CAST({x} AS DOUBLE)",
    ),
    "bigquery": Dialect(
        lambda value: signed(_scientific(value)),
        _bigquery_name,
        _escaped,
        lambda x: f"CAST({x} AS FLOAT64)",
        executed=False,
    ),
    "snowflake": Dialect(
        lambda value: f"'{value!r}'::DOUBLE",
        _doubled('"'),
        _escaped,
        lambda x: f"CAST({x} AS DOUBLE)",
        executed=False,
    ),
}
