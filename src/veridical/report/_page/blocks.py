"""What a section is made of, whatever it is written as, and numbers as a reader sees them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from veridical.results import Coefficient
from veridical.results.base import format_pvalue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from veridical.report._charts.catalogue import Chart
    from veridical.results.pictures import Picture

T = TypeVar("T")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    Its `kind` is "", "lead" (the verdict), "read" (how to read what follows) or "note".
    """

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table whose first column names the rows.

    Attributes
    ----------
    caption : what it is
    header : names of the columns
    rows : cells as text
    shown : rows that are shown at once, the others can be opened; None for all
    left_out : rows that are not on the page, which a last line mentions
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shown: int | None = None
    left_out: int = 0

    @classmethod
    def of(
        cls,
        caption: str,
        items: Sequence[T],
        columns: Mapping[str, Callable[[T], str]],
        *,
        shown: int | None = None,
    ) -> Table:
        """One row an item, the first `shown` of them at once; a column is its name and a writer."""
        kept = items[:MOST_ROWS]
        rows = (tuple(write(item) for write in columns.values()) for item in kept)
        return cls(caption, tuple(columns), tuple(rows), shown, len(items) - len(kept))


MOST_ROWS = 1000  # of a table; the file of numbers has all of them


@dataclass(frozen=True)
class Points:
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Terms:
    """Terms and what they mean."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Code:
    """Lines of Python."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A chart, drawn only where a page is made, and one line on how to read it."""

    identifier: str
    draw: Callable[[], Chart]
    read: str = ""


@dataclass(frozen=True)
class Drawing:
    """A picture of a fixed width, a narrower one for phones, and a line below it.

    Attributes
    ----------
    identifier, title : of the picture
    draw : the picture for a width in pixels
    note : what to know about it, "" for nothing
    width : pixels where there is room
    """

    identifier: str
    title: str
    draw: Callable[[float], Picture]
    note: str = ""
    width: int = 640


@dataclass(frozen=True)
class Card:
    """One number with what it is, and lines below it: its limits, what to compare it with."""

    label: str
    value: str
    details: tuple[str, ...]


@dataclass(frozen=True)
class Cards:
    """Numbers to be seen at once."""

    items: tuple[Card, ...]


@dataclass(frozen=True)
class Commands:
    """What to do next: in words, and the lines to copy."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Fold:
    """A line, and what is opened by it."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Columns:
    """Blocks side by side where there is room, below each other where there is none."""

    parts: tuple[tuple[Block, ...], ...]
    kind: str = ""


Text = Paragraph | Heading | Table | Points | Terms | Code
Block = Text | Figure | Drawing | Cards | Commands | Columns | Fold


@dataclass(frozen=True)
class Section:
    """A part of the report with a heading of its own.

    Attributes
    ----------
    identifier, title : of the section; the title of a folded one is a question
    blocks : what is in it
    answer : one line beside the title of a folded section; None for one that is open
    """

    identifier: str
    title: str
    blocks: tuple[Block, ...]
    answer: str | None = None


MISSING = "\N{EN DASH}"


def number(value: float | None, decimals: int = 4) -> str:
    """Fixed decimals; a dash for what is not known, words for what is not finite.

    Examples
    --------
    >>> number(0.25), number(None) == MISSING, number(float("inf"))
    ('0.2500', True, 'infinite')
    """
    if value is None:
        return MISSING
    if not math.isfinite(value):
        return "infinite" if value > 0 else "minus infinite"
    return f"{value:.{decimals}f}"


def signed(value: float | None, decimals: int = 4) -> str:
    """The same with its sign."""
    if value is None or not math.isfinite(value):
        return number(value)
    return f"{value:+.{decimals}f}"


def limits(low: float | None, high: float | None, decimals: int = 4) -> str:
    """Ends of an interval."""
    if low is None or high is None:
        return MISSING
    return f"{number(low, decimals)} to {number(high, decimals)}"


def signed_limits(low: float | None, high: float | None, decimals: int = 4) -> str:
    """Ends of an interval of a difference."""
    if low is None or high is None:
        return ""
    return f"{signed(low, decimals)} to {signed(high, decimals)}"


def pvalue(value: float | None) -> str:
    """A p-value with as many digits as can be read."""
    return MISSING if value is None else format_pvalue(value)


def share(value: float, decimals: int = 1) -> str:
    """Per cent."""
    return f"{100 * value:.{decimals}f} %"


def coefficient(value: Coefficient | None) -> str:
    """Estimate and interval."""
    if value is None:
        return MISSING
    return f"{number(value.estimate, 3)} ({limits(value.low, value.high, 3)})"


def level_words(level: float) -> str:
    """Confidence level in words: "95 %"."""
    return f"{100 * level:g} %"


def sentence(text: str) -> str:
    """A note as a sentence."""
    return text[:1].upper() + text[1:].rstrip(".") + "."
