"""Sentences and tables that fit a terminal, and show what a terminal would obey."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

WIDTH = 80  # of texts, where nobody says how wide the terminal is
_NARROWEST = 14  # columns of words are wrapped to this, and no further
_GAP = "  "
_GLUE = "\xa0"
_WORD = re.compile(r"( *)([^ ]+)")
_USER = re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]+://)[^\s'\"]*@")
_SECRET = re.compile(r"\b((?:ssl)?password)=[^&\s'\"]*", re.IGNORECASE)
_TOGETHER = re.compile(r"(?<=\bp) (?=[=<] )|(?<=\bp[ \xa0][=<]) |(?<=\d) (?=%)")  # p = 0.03, 5 %


def printable(text: str) -> str:
    r"""The same text, in which whatever a terminal would obey is shown instead.

    Examples
    --------
    >>> print(printable("p\x1b[31m\u202e"))
    p\x1b[31m\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def without_password(text: str) -> str:
    """A text with addresses in it, without what stands between a user and the host.

    Examples
    --------
    >>> without_password("no postgresql://me:secret@example.org/models?password=secret here")
    'no postgresql://***@example.org/models?password=*** here'
    """
    return _SECRET.sub(r"\1=***", _USER.sub(r"\1***@", text))


def two_digits_up(count: float) -> int:
    """A number of rows with two digits that count, not less than it was.

    Examples
    --------
    >>> two_digits_up(1234.5), two_digits_up(7.2)
    (1300, 8)
    """
    step = 10.0 ** max(0, math.floor(math.log10(count)) - 1)
    return int(math.ceil(round(count / step, 9)) * step)


def wrapped(text: str, width: int = WIDTH, *, indent: int = 2, hanging: int = 0) -> list[str]:
    """Lines no wider than `width`, indented, those after the first by `hanging` more.

    Words are not broken unless one is wider than a line. Line breaks in the text are spaces, and
    a space that must not be a line break is written as a no-break space.

    Examples
    --------
    >>> wrapped("three words here", 14, hanging=1)
    ['  three words', '   here']
    """
    return _wrap(_one_line(text), width, indent, hanging)


def _wrap(line: str, width: int, indent: int, hanging: int) -> list[str]:
    """Fill lines word by word; `textwrap` counts characters, not columns of a terminal."""
    width = max(width, indent + hanging + _NARROWEST)
    lines, current = [], " " * indent
    start = len(current)
    for space, word in _WORD.findall(line):
        piece = space + word if len(current) > start else word
        if len(current) > start and cells(current + piece) > width:
            lines.append(current)
            current, piece = " " * (indent + hanging), word
            start = len(current)
        while cells(current + piece) > width:
            fitting = max(1, width - cells(current))
            while cells(piece[:fitting]) > width - cells(current) and fitting > 1:
                fitting -= 1
            lines.append(current + piece[:fitting])
            current, piece = " " * (indent + hanging), piece[fitting:]
            start = len(current)
        current += piece
    return [each.replace(_GLUE, " ") for each in [*lines, current] if each.strip()] or [""]


def _one_line(text: str) -> str:
    line = _GLUE.join(printable(" ".join(part.split())) for part in text.split(_GLUE))
    return _TOGETHER.sub(_GLUE, line)


def fitted(text: str, width: int = WIDTH) -> str:
    r"""A text whose lines are no wider than `width`: longer ones go on below, further in.

    Examples
    --------
    >>> print(fitted("short\n  a line of words", 12))
    short
      a line of
        words
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if cells(line) <= width and line.isprintable():
            lines.append(line)
            continue
        bare = line.lstrip(" ")
        together = _TOGETHER.sub(_GLUE, printable(bare))
        lines += _wrap(together, width, len(line) - len(bare), 2)
    return "\n".join(lines)


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: two for an ideograph, none for an accent.

    Examples
    --------
    >>> cells("ab"), cells("\u6f22")
    (2, 2)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def table_lines(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    width: int = WIDTH,
    words: Collection[str] = (),
    drop: Sequence[str] = (),
    below: str = "",
    headed: bool = True,
    indent: int = 2,
) -> list[str]:
    """A table no wider than `width`.

    Parameters
    ----------
    header, rows : cells as text; a column whose cells are all empty is left out
    width : most characters of a line
    words : columns of words, by their headers: on the left of their column, and wrapped if there is
        no room; the others are numbers, on the right
    drop : columns that may be left out, the first one first, before words are wrapped
    below : column of words that is written beneath its row if there is no room beside it
    headed : whether the first line names the columns
    indent : spaces before each line

    Examples
    --------
    >>> rows = [("ECE", "0.0312", "15 equal-width bins")]
    >>> for line in table_lines(("error", "value", "what"), rows, words=("error", "what")):
    ...     print(line)
      error   value  what
      ECE    0.0312  15 equal-width bins
    >>> len(table_lines(("error", "value", "what"), rows, words=("error", "what"), width=32))
    3
    """
    listed = list(rows)
    columns = {name: [_one_line(row[k]) for row in listed] for k, name in enumerate(header)}
    columns = {name: column for name, column in columns.items() if any(column)}
    if not columns:
        return []
    spans = {
        name: max(map(cells, (name if headed else "", *column))) for name, column in columns.items()
    }

    def total() -> int:
        return indent + sum(spans.values()) + len(_GAP) * (len(spans) - 1)

    beneath: list[str] = []
    if below in spans and total() > width:
        beneath = columns.pop(below)
        del spans[below]
    for name in drop:
        if name in spans and total() > width:
            del spans[name], columns[name]
    for name in sorted(set(words) & set(spans), key=lambda each: -spans[each]):
        if total() > width:
            least = max(_NARROWEST, cells(name) if headed else 0)
            spans[name] = min(spans[name], max(spans[name] - (total() - width), least))
    lines: list[str] = []
    heads = [tuple(columns)] if headed else []
    for number, row in enumerate([*heads, *zip(*columns.values(), strict=True)], 1 - len(heads)):
        pieces = [_wrap(cell, spans[name], 0, 0) for name, cell in zip(spans, row, strict=True)]
        for i in range(max(map(len, pieces))):
            line = [
                _padded(piece[i] if i < len(piece) else "", spans[name], left=name in words)
                for name, piece in zip(spans, pieces, strict=True)
            ]
            lines.append((" " * indent + _GAP.join(line)).rstrip())
        if number and beneath and beneath[number - 1]:
            lines += wrapped(beneath[number - 1], width, indent=indent + 4)
    return lines


def _padded(cell: str, span: int, *, left: bool) -> str:
    space = " " * max(0, span - cells(cell))
    return cell + space if left else space + cell


def numbers_apart(*values: float) -> tuple[str, ...]:
    """Probabilities with as many digits as tell them apart, and from 0 and 1.

    Two significant digits of the smallest distance to 0 or 1, two decimals at least, and more
    where different values would look the same.

    Examples
    --------
    >>> numbers_apart(0.31, 0.2749)
    ('0.31', '0.27')
    >>> numbers_apart(0.0101, 0.0118)  # a rare event
    ('0.010', '0.012')
    >>> numbers_apart(0.99957, 0.9991)
    ('0.99957', '0.99910')
    >>> numbers_apart(0.5011, 0.5014)
    ('0.5011', '0.5014')
    """
    rest = [min(abs(value), abs(1 - value)) for value in values]
    smallest = min((r for r in rest if r > 0), default=1.0)
    leading = math.floor(math.log10(smallest) + 1e-9)  # 1 - 0.9 is a tenth
    decimals = min(max(2, 1 - leading), 12)
    for digits in range(decimals, decimals + 7):
        texts = tuple(f"{value:.{digits}f}" for value in values)
        if len(set(texts)) == len(set(values)):
            break
    return texts
