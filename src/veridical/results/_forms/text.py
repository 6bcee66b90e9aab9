"""Notes, rows and numbers of results as text, and texts that are not too long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from veridical._core.runtime.text import wrapped


def note_lines(notes: Iterable[str], *, apart: bool = True, width: int | None = None) -> list[str]:
    """Notes at the end of a text, after an empty line unless they are not `apart`.

    One a line, or with `width` in lines no wider than it.
    """
    lines = [
        line
        for note in notes
        for line in (
            [f"  note: {note}"] if width is None else wrapped(f"note: {note}", width, hanging=4)
        )
    ]
    return ["", *lines] if lines and apart else lines


def text_row(cells: Iterable[str], spans: int | Sequence[int]) -> str:
    """Cells to the right of columns of these widths, or of one width."""
    listed = list(cells)
    widths = [spans] * len(listed) if isinstance(spans, int) else spans
    return "".join(f"{cell:>{width}}" for cell, width in zip(listed, widths, strict=True))


def number_or_blank(value: float | None, form: str = ".4f") -> str:
    """A number in this form; nothing for None."""
    return "" if value is None else format(value, form)


MOST_LINES = 40  # of `str` of a result
_LEAST = 3  # lines that are left of a part


def shortened(text: str, most: int = MOST_LINES) -> str:
    r"""A text of at most `most` lines: the longest parts, between empty lines, lose their ends.

    Examples
    --------
    >>> print(shortened("head\n\n" + "\n".join(f"  row {i}" for i in range(9)), 6))
    head
    <BLANKLINE>
      row 0
      row 1
      row 2
      ... 6 more lines: `to_text()`
    """
    lines = text.split("\n")
    if len(lines) <= most:
        return text
    parts = [part.split("\n") for part in text.split("\n\n")]
    kept = [len(part) for part in parts]
    while sum(kept) + len(kept) - 1 > most and max(kept) > _LEAST:
        longest = max(range(len(kept)), key=kept.__getitem__)
        kept[longest] -= 1
    short: list[str] = []
    for part, count in zip(parts, kept, strict=True):
        short += ["", *(part if count == len(part) else _cut(part, count))]
    short = short[1:]
    return "\n".join(short if len(short) <= most else _cut(short, most, of=len(lines)))


def _cut(lines: list[str], count: int, *, of: int | None = None) -> list[str]:
    """The first of the lines, and one that says how many more there are."""
    left = (len(lines) if of is None else of) - count + 1
    return [*lines[: count - 1], f"  ... {left} more lines: `to_text()`"]
