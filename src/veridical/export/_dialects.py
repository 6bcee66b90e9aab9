"""How databases write numbers, names and functions."""

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
    double : an expression converted to double precision
    largest, smallest : functions of two numbers or more
    traps_exp : whether exp(x) may be an error where it is too large or too small for a double
    traps_underflow : whether a product that is too small for a double is an error
    stack : entries of the parser's stack, if few
    executed : whether the tests of this package run what is written
    """

    number: Callable[[float], str]
    quote: Callable[[str], str]
    double: Callable[[str], str]
    largest: str = "GREATEST"
    smallest: str = "LEAST"
    traps_exp: bool = True
    traps_underflow: bool = False
    stack: int | None = None
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


def _bigquery_name(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _signed(text: str) -> str:
    """Negative numbers in brackets: two minus signs in a row would begin a comment."""
    return f"({text})" if text.startswith("-") else text


DIALECTS = {
    "duckdb": Dialect(
        lambda value: _signed(_scientific(value)), _doubled('"'), lambda x: f"{x}::DOUBLE"
    ),
    "postgres": Dialect(
        lambda value: f"'{value!r}'::float8",
        _doubled('"'),
        lambda x: f"{x}::float8",
        traps_underflow=True,
    ),
    "sqlite": Dialect(
        _fraction,
        _doubled('"'),
        lambda x: f"CAST({x} AS REAL)",
        "MAX",
        "MIN",
        traps_exp=False,
        stack=100,  # fixed up to version 3.45
    ),
    "spark": Dialect(
        lambda value: _signed(f"{value!r}D"),
        _doubled("`"),
        lambda x: f"CAST({x} AS DOUBLE)",
    ),
    "bigquery": Dialect(
        lambda value: _signed(_scientific(value)),
        _bigquery_name,
        lambda x: f"CAST({x} AS FLOAT64)",
        executed=False,
    ),
    "snowflake": Dialect(
        lambda value: f"'{value!r}'::DOUBLE",
        _doubled('"'),
        lambda x: f"CAST({x} AS DOUBLE)",
        executed=False,
    ),
}
