"""Put numbers of the committed tables into the sentences of the pages.

    python evidence/prose_figures.py

Rewrites the text between the two comments of each figure, for example

    in <!-- figure: rates.csv judge=good m=20 column=coverage format=.0% -->99%<!-- /figure -->

The table is a file of `docs/evidence`. `column` and `format` (as in Python, `.1%` for a share) are
needed; every other `name=value` selects rows by their exact text, in quotes if it has spaces. One
row must be left, or `take=min`, `take=max` or `take=mean` says what to do with several. A comment
must not begin a line, because Markdown would end the paragraph there.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "docs" / "evidence"
FIGURE = re.compile(
    r"(?P<opening><!-- figure: (?P<request>[^>]*?)\s*-->)[^<]*(?P<closing><!-- /figure -->)"
)
CHOICES: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "mean": fmean}

Row = dict[str, str]


@cache
def read_table(name: str) -> list[Row]:
    """Rows of a table of `docs/evidence`."""
    with (TABLES / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def figure(request: str) -> str:
    """Text of one figure, from the words after `figure:`."""
    table, *words = shlex.split(request)
    options = dict(word.split("=", 1) for word in words)
    column, form, take = options.pop("column"), options.pop("format"), options.pop("take", None)
    rows = [row for row in read_table(table) if all(row[k] == v for k, v in options.items())]
    if not rows or (take is None and len(rows) > 1):
        message = f"{table}: {len(rows)} rows match {options}, and one is needed"
        raise ValueError(message)
    values = [float(row[column]) for row in rows]
    return format(CHOICES[take or "max"](values), form)


def with_figures(page: str) -> str:
    """Return the page with its figures read again from the tables."""
    return FIGURE.sub(lambda m: m["opening"] + figure(m["request"]) + m["closing"], page)


def pages() -> Iterator[Path]:
    """README and the pages of the documentation."""
    yield ROOT / "README.md"
    yield from sorted(path for path in (ROOT / "docs").rglob("*.md") if "_site" not in path.parts)


def main() -> None:
    """Rewrite the pages whose figures differ from the tables."""
    for path in pages():
        before = path.read_text(encoding="utf-8")
        after = with_figures(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"rewrote {path.relative_to(ROOT).as_posix()}")


if __name__ == "__main__":
    main()
