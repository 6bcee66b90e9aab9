"""Blocks as Markdown, for pull requests."""

from __future__ import annotations

import re

from veridical.report._page.blocks import (
    Block,
    Code,
    Figure,
    Heading,
    Paragraph,
    Points,
    Section,
    Table,
    Terms,
)

# What Markdown or the HTML inside it would read as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~#!@$&])")
_LONG = 120


def section_markdown(section: Section) -> str:
    """Return a section; charts are left out, as Markdown has none."""
    parts = [f"## {plain(section.title)}", *(block_markdown(block) for block in section.blocks)]
    return "\n\n".join(part for part in parts if part)


def block_markdown(block: Block) -> str:
    """Return one block."""
    match block:
        case Paragraph(text=text, kind=kind):
            sentence = plain(text)
            return {"lead": f"**{sentence}**", "read": f"_{sentence}_"}.get(kind, sentence)
        case Heading(text=text):
            return f"### {plain(text)}"
        case Table():
            return _table(block)
        case Points(items=items):
            return "\n".join(f"- {plain(item)}" for item in items)
        case Terms(items=items):
            return "\n".join(f"- **{plain(a)}**: {plain(b)}" for a, b in items)
        case Code(text=text):
            fence = "`" * max(3, *(len(run) + 1 for run in ["", *re.findall("`+", text)]))
            return f"{fence}python\n{text}\n{fence}"
        case Figure():
            return ""


def plain(text: str) -> str:
    r"""Escape what would be markup; one line.

    Examples
    --------
    >>> print(plain("a*b <script> | c"))
    a\*b \<script\> \| c
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _table(table: Table) -> str:
    lines = [
        f"**{plain(table.caption)}**",
        "",
        _line([plain(name) for name in table.header]),
        _line(["---"] * len(table.header)),
        *(_line([_cut(cell) for cell in row]) for row in table.rows),
    ]
    if table.more:
        lines += ["", f"and {table.more:,} more"]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cut(cell: str) -> str:
    return plain(cell if len(cell) <= _LONG else cell[: _LONG - 1] + "\N{HORIZONTAL ELLIPSIS}")
