"""A table of sums in words."""

from __future__ import annotations

from html import escape

from veridical.frames._grid_table import GridTable

_MOST_NAMED = 8


def grid_text(table: GridTable) -> str:
    """Return a few lines that say what the table is about."""
    rows = _rows(table)
    width = max(len(name) for name, _ in rows)
    lines = [_headline(table), *(f"  {name:<{width}}  {text}" for name, text in rows)]
    return "\n".join(lines)


def grid_html(table: GridTable) -> str:
    """Return the same as a small table."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in _rows(table)
    )
    return f"<div><p><strong>{escape(_headline(table))}</strong></p><table>{body}</table></div>"


def _headline(table: GridTable) -> str:
    rows = int(table.rows.sum())
    return f"Table of sufficient statistics of {rows:,} row{'s' if rows != 1 else ''}"


def _rows(table: GridTable) -> list[tuple[str, str]]:
    shares = table.class_weight.sum(axis=0)
    shares = shares / shares.sum()
    classes = [f"{c!r} {s:.4f}" for c, s in zip(table.classes, shares, strict=True)]
    problems = [f"class {table.classes[p]!r}" if isinstance(p, int) else p for p in table.problems]
    rows = [
        ("classes", _listed(classes)),
        ("problems", _listed(problems)),
        ("bins", f"{table.n_bins} of equal width, exact"),
        ("cells", f"{len(table.cell):,} entries, no cell wider than 1/{table.resolution:,}"),
    ]
    if table.groups != (None,):
        rows.append(("groups", _listed([repr(key) for key in table.groups])))
    return rows


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
