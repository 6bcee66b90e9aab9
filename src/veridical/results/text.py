"""Tables, notes and numbers of results as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from veridical._core.runtime.text import wrapped


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table of escaped cells."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_list(items: Iterable[object]) -> str:
    """List of escaped sentences; nothing without any."""
    lines = "".join(f"<li>{escape(str(item))}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""


def html_block(headline: str, *parts: str, notes: Iterable[str] = ()) -> str:
    """A headline in bold, parts that are HTML already, and notes; no scripts, nothing outside."""
    head = f"<p><strong>{escape(headline)}</strong></p>"
    return f"<div>{head}{''.join(parts)}{html_list(notes)}</div>"


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
