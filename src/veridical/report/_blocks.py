"""What a section is made of, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from veridical.report._charts import Chart


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
    more : rows left out, which a last line mentions
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


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
    read: str


Block = Paragraph | Heading | Table | Points | Terms | Code | Figure


@dataclass(frozen=True)
class Section:
    """A part of the report with a heading of its own."""

    identifier: str
    title: str
    blocks: tuple[Block, ...]
