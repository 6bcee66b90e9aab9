"""Blocks of a notebook: tables, lists and folds that follow its light or dark ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from veridical._core.drawing.look import picture_style
from veridical._core.runtime.text import printable

# No colour but the notebook's own, so that a dark ground stays dark; no rule beyond the block.
_STYLE = (
    ".veridical{font-size:14px;line-height:1.45;max-width:1000px}"
    ".veridical table{border-collapse:collapse;margin:4px 0;font-size:13px}"
    ".veridical th,.veridical td{text-align:left;padding:2px 14px 2px 0;border:0;"
    "vertical-align:top;background:none;font-variant-numeric:tabular-nums}"
    ".veridical th{font-weight:600}"
    ".veridical .n{text-align:right}"
    ".veridical summary{cursor:pointer;padding:2px 0}"
    ".veridical p{margin:4px 0;max-width:46em}"
    ".veridical pre{font-size:13px;white-space:pre-wrap}"
)
_MOST_ROWS = 60  # of a table; `to_frame` has the rest


def html_text(text: object) -> str:
    """Escaped words."""
    return escape("\n".join(printable(line) for line in str(text).split("\n")))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table of escaped cells: words on the left, numbers on the right; empty columns left out."""
    listed = [list(row) for row in rows]
    if not listed:
        return ""
    kept = [k for k in range(len(header)) if any(row[k] for row in listed)]
    kinds = [' class="n"' if all(_is_number(row[k]) for row in listed) else "" for k in kept]

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{kind}>{html_text(cells[k])}</{tag}>"
            for k, kind in zip(kept, kinds, strict=True)
        )

    head = f"<thead><tr>{line(header, 'th')}</tr></thead>" if any(header) else ""
    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in listed[:_MOST_ROWS])
    more = len(listed) - _MOST_ROWS
    rest = f"<p>and {more} more rows: <code>to_frame()</code></p>" if more > 0 else ""
    return f"<table>{head}<tbody>{body}</tbody></table>{rest}"


def _is_number(cell: str) -> bool:
    return not cell or cell[0] in "+-0123456789<."


def html_list(items: Iterable[object]) -> str:
    """List of escaped sentences; nothing without any."""
    lines = "".join(f"<li>{html_text(item)}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""


def html_fold(title: str, *parts: str) -> str:
    """Parts that open when their title is clicked; nothing without any."""
    inside = "".join(parts)
    if not inside:
        return ""
    return f"<details><summary>{html_text(title)}</summary>{inside}</details>"


def html_block(first: str, *parts: str, notes: Iterable[str] = ()) -> str:
    """A first line and parts that are HTML already, then notes; no scripts, nothing outside."""
    inside = f"<p>{first}</p>{''.join(parts)}{html_list(notes)}"
    style = _STYLE + (picture_style() if "<svg" in inside else "")
    return f'<div class="veridical"><style>{style}</style>{inside}</div>'


def html_headline(headline: str, *parts: str, notes: Iterable[str] = ()) -> str:
    """The same with a headline in bold, escaped here."""
    return html_block(f"<strong>{html_text(headline)}</strong>", *parts, notes=notes)
