"""Blocks as HTML, where every text is escaped, and as Markdown for pull requests."""

from __future__ import annotations

import html
import re

from veridical._core.data.labels import shortened
from veridical.report._page.blocks import (
    MISSING,
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

_WIDEST_NUMBER, _LONG = 32, 24  # characters of a cell of a page
_LONGEST_CELL = 120  # of a table in Markdown
# What Markdown or the HTML inside it would read as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~#!@$&])")


def section_html(section: Section) -> str:
    """Return a section with its heading."""
    inner = "".join(block_html(block) for block in section.blocks)
    own = section.identifier
    return (
        f'<section id="{own}" aria-labelledby="{own}-title">'
        f'<h2 id="{own}-title">{escape(section.title)}</h2>{inner}</section>'
    )


def block_html(block: Block) -> str:
    """Return one block."""
    match block:
        case Paragraph(text=text, kind=kind):
            return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"
        case Heading(text=text):
            return f"<h3>{escape(text)}</h3>"
        case Table():
            return _table_html(block)
        case Points(items=items):
            return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
        case Terms(items=items):
            pairs = "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in items)
            return f'<dl class="terms">{pairs}</dl>'
        case Code(text=text):
            return (
                '<pre tabindex="0" role="region" aria-label="Python code"><code>'
                f"{escape(text)}</code></pre>"
            )
        case Figure():
            return _figure(block)


def _figure(figure: Figure) -> str:
    chart = figure.draw().to_html(figure.identifier, static=False)
    return f'<div class="figure"><p class="read">{escape(figure.read)}</p>{chart}</div>'


def _table_html(table: Table) -> str:
    columns = range(1, len(table.header))
    names = ["", *(_kind([row[i] for row in table.rows]) for i in columns)]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(table.header, names, strict=True)
    )
    body = "".join(_row_html(row, names) for row in table.rows)
    if table.more:
        span = len(table.header)
        body += f'<tr class="more"><td colspan="{span}">and {table.more:,} more</td></tr>'
    label = escape(table.caption)
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{label}"><table>'
        f"<caption>{label}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _row_html(row: tuple[str, ...], names: list[str]) -> str:
    cells = "".join(
        f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row[1:], names[1:], strict=True)
    )
    return f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'


def _kind(cells: list[str]) -> str:
    """Class of a column: numbers stand on the right, words need room."""
    full = [cell for cell in cells if cell and cell != MISSING]
    starts = [cell.lstrip("+-\N{MINUS SIGN}<")[:1] for cell in full]
    longest = max(map(len, full), default=0)
    if full and longest <= _WIDEST_NUMBER and all(start.isdigit() for start in starts):
        return ' class="number"'
    return ' class="words"' if longest > _LONG else ""


def escape(text: str) -> str:
    """Escape text; a number stays with its per cent sign."""
    return html.escape(re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text))


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
            return _table_markdown(block)
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


def _table_markdown(table: Table) -> str:
    lines = [
        f"**{plain(table.caption)}**",
        "",
        _line([plain(name) for name in table.header]),
        _line(["---"] * len(table.header)),
        *(_line([plain(shortened(cell, _LONGEST_CELL)) for cell in row]) for row in table.rows),
    ]
    if table.more:
        lines += ["", f"and {table.more:,} more"]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
