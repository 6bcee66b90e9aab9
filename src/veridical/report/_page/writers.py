"""Blocks as HTML, where every text is escaped, and as Markdown for pull requests."""

from __future__ import annotations

import html
import re

from veridical._core.data.labels import shortened
from veridical.report._page.blocks import (
    MISSING,
    Block,
    Card,
    Cards,
    Code,
    Columns,
    Commands,
    Drawing,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Points,
    Section,
    Table,
    Terms,
    sentence,
)

_WIDEST_NUMBER, _LONG = 32, 24  # characters of a cell of a page
_LONGEST_CELL = 120  # of a table in Markdown
# What Markdown or the HTML inside it would read as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~#!@$&])")


def section_html(section: Section) -> str:
    """Return a section with its heading; folded if it has an answer to be seen without it."""
    inner = "".join(block_html(block) for block in section.blocks)
    own, answer = section.identifier, section.answer
    heading = f'<h2 id="{own}-title">{escape(section.title)}</h2>'
    if answer is None:
        return f'<section id="{own}" aria-labelledby="{own}-title">{heading}{inner}</section>'
    return (
        f'<section id="{own}" class="folded" aria-labelledby="{own}-title"><details class="fold">'
        f'<summary>{heading}<span class="answer">{escape(answer)}</span></summary>'
        f'<div class="inside">{inner}</div></details></section>'
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
        case Drawing():
            return _drawing(block)
        case Cards(items=items):
            return '<dl class="cards">' + "".join(map(_card, items)) + "</dl>"
        case Commands(items=items):
            return '<div class="commands">' + "".join(map(_command, items)) + "</div>"
        case Fold(summary=summary, blocks=blocks):
            inner = "".join(map(block_html, blocks))
            return f'<details class="fold"><summary>{escape(summary)}</summary>{inner}</details>'
        case Columns(parts=parts, kind=kind):
            cells = "".join(
                f'<div class="cell">{"".join(map(block_html, part))}</div>' for part in parts
            )
            return f'<div class="columns {kind}">{cells}</div>'


def _figure(figure: Figure) -> str:
    chart = figure.draw().to_html(figure.identifier)
    read = f'<p class="read">{escape(figure.read)}</p>' if figure.read else ""
    return f'<div class="figure">{read}{chart}</div>'


_NARROW = 344  # pixels: a phone's 390 less what is around


def _drawing(drawing: Drawing) -> str:
    own = drawing.identifier
    wide = drawing.draw(drawing.width).to_svg(styled=False, css="wide")
    narrow = drawing.draw(_NARROW).to_svg(styled=False, css="narrow")
    note = f'<p class="note">{escape(sentence(drawing.note))}</p>' if drawing.note else ""
    return (
        f'<figure class="drawing" id="{own}" aria-labelledby="{own}-title">'
        f'<figcaption id="{own}-title">{escape(drawing.title)}</figcaption>'
        f"{wide}{narrow}{note}</figure>"
    )


def _card(card: Card) -> str:
    lines = "".join(f'<span class="detail">{escape(line)}</span>' for line in card.details)
    return (
        f'<div class="card"><dt>{escape(card.label)}</dt><dd><span class="value">'
        f"{escape(card.value)}</span>{lines}</dd></div>"
    )


def _command(item: tuple[str, str]) -> str:
    what, text = item
    return (
        f'<div class="command"><p>{escape(what)}</p><div class="copied"><pre tabindex="0"'
        f' role="region" aria-label="{escape(what)}"><code>{html.escape(text)}</code></pre>'
        '<button type="button" class="copy" hidden>Copy</button></div></div>'
    )


def _table_html(table: Table) -> str:
    columns = range(1, len(table.header))
    names = ["", *(_kind([row[i] for row in table.rows]) for i in columns)]
    shown = len(table.rows) if table.shown is None else table.shown
    first, rest = table.rows[:shown], table.rows[shown:]
    label = escape(table.caption)
    text = (
        f'<div class="table" tabindex="0" role="region" aria-label="{label}">'
        f"{_grid_html(table, first, names, label)}</div>"
    )
    if not rest:
        return text
    more = f"{len(rest) + table.left_out:,} more"
    left = f" ({table.left_out:,} of them in the file of numbers only)" if table.left_out else ""
    return (
        f'{text}<details class="fold more"><summary>{more}{left}</summary>'
        f'<div class="table" tabindex="0" role="region" aria-label="{label}: {more}">'
        f"{_grid_html(table, rest, names, f'{label}: {more}')}</div></details>"
    )


def _grid_html(
    table: Table, rows: tuple[tuple[str, ...], ...], names: list[str], label: str
) -> str:
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for name, kind in zip(table.header, names, strict=True)
    )
    body = "".join(_row_html(row, names) for row in rows)
    return (
        f"<table><caption>{label}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
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
            return {"lead": f"**{sentence}**", "read": f"_{sentence}_"}.get(
                kind.split(" ")[0], sentence
            )
        case Heading(text=text):
            return f"### {plain(text)}"
        case Table():
            return _table_markdown(block)
        case Points(items=items):
            return "\n".join(f"- {plain(item)}" for item in items)
        case Terms(items=items):
            return "\n".join(f"- **{plain(a)}**: {plain(b)}" for a, b in items)
        case Code(text=text):
            return _fenced(text, "python")
        case Figure() | Drawing():
            return ""
        case Cards(items=items):
            numbers = ((c.label, c.value, "; ".join(filter(None, c.details))) for c in items)
            return "\n".join(f"- {plain(a)}: **{plain(b)}** ({plain(c)})" for a, b, c in numbers)
        case Commands(items=items):
            return "\n\n".join(f"{plain(what)}:\n\n{_fenced(text, 'sh')}" for what, text in items)
        case Fold(summary=summary, blocks=blocks):
            return "\n\n".join([plain(summary), *map(block_markdown, blocks)])
        case Columns(parts=parts):
            texts = (block_markdown(each) for part in parts for each in part)
            return "\n\n".join(text for text in texts if text)


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in ["", *re.findall("`+", text)]))
    return f"{fence}{language}\n{text}\n{fence}"


def plain(text: str) -> str:
    r"""Escape what would be markup; one line.

    Examples
    --------
    >>> print(plain("a*b <script> | c"))
    a\*b \<script\> \| c
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _table_markdown(table: Table) -> str:
    shown = len(table.rows) if table.shown is None else min(table.shown, len(table.rows))
    rows = table.rows[:shown]
    lines = [
        f"**{plain(table.caption)}**",
        "",
        _line([plain(name) for name in table.header]),
        _line(["---"] * len(table.header)),
        *(_line([plain(shortened(cell, _LONGEST_CELL)) for cell in row]) for row in rows),
    ]
    more = len(table.rows) - shown + table.left_out
    if more:
        lines += ["", f"and {more:,} more"]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
