"""Blocks as HTML; every text is escaped, whatever it holds."""

from __future__ import annotations

import html
import re

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

_WIDEST_NUMBER, _LONG = 32, 24  # characters


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
            return _table(block)
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


def _table(table: Table) -> str:
    columns = range(1, len(table.header))
    names = ["", *(_kind([row[i] for row in table.rows]) for i in columns)]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(table.header, names, strict=True)
    )
    body = "".join(_row(row, names) for row in table.rows)
    if table.more:
        span = len(table.header)
        body += f'<tr class="more"><td colspan="{span}">and {table.more:,} more</td></tr>'
    label = escape(table.caption)
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{label}"><table>'
        f"<caption>{label}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(row: tuple[str, ...], names: list[str]) -> str:
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
