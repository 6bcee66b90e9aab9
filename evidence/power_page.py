"""Put the table of power into the page that helps to choose a test.

    python evidence/power_page.py docs/evidence/test_power.csv docs/which-test.md

Rewrites what stands between the two markers of each table; the rest of the page is by hand.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

COLUMNS = {
    "two classes": [(2, "uniform"), (2, "skewed")],
    "several classes": [(3, "uniform"), (10, "uniform")],
}
DISTORTIONS = {
    "temperature 1.25": "T 1.25",
    "temperature 1.5": "T 1.5",
    "bias 0.3": "bias",
    "local 0.1": "local",
}
HEADS = {
    (2, "uniform"): "uniform",
    (2, "skewed"): "skewed",
    (3, "uniform"): "K = 3",
    (10, "uniform"): "K = 10",
}

Row = Mapping[str, str]


def percent(rows: Iterable[Row]) -> str:
    """Rejections of the sizes, small to large, in per cent."""
    by_size = sorted(rows, key=lambda row: int(row["n"]))
    return " / ".join(f"{100 * float(row['rejected_5']):.0f}" for row in by_size) or "-"


def table(rows: list[Row], columns: list[tuple[int, str]]) -> str:
    """Markdown table, tests in the order of the file; a line of dashes where nothing was run."""
    held = [row for row in rows if (int(row["classes"]), row["predictions"]) in columns]
    wanted = [(*column, distortion) for column in columns for distortion in DISTORTIONS]
    heads = [f"{HEADS[k, shape]}: {DISTORTIONS[name]}" for k, shape, name in wanted]
    lines = ["| test | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]

    def cell(test: str, k: int, shape: str, distortion: str) -> list[Row]:
        key = (test, str(k), shape, distortion)
        return [r for r in held
                if (r["test"], r["classes"], r["predictions"], r["distortion"]) == key]  # fmt: skip

    for test in dict.fromkeys(row["test"] for row in held):
        shares = [percent(cell(test, *key)) for key in wanted]
        lines.append(f"| {test} | " + " | ".join(shares) + " |")
    first = dict.fromkeys(row["test"] for row in held)
    sizes = []
    for k, shape, distortion in wanted:
        mean = [float(r["distance"]) for test in first for r in cell(test, k, shape, distortion)
                if not test.startswith("Pearson")]  # fmt: skip
        sizes.append(f"{sum(mean) / len(mean):.3f}" if mean else "-")
    lines.append("| *mean distance from the truth* | " + " | ".join(sizes) + " |")
    return "\n".join(lines)


def read(path: Path) -> list[Row]:
    """Rows of a table."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def with_tables(page: str, rows: list[Row]) -> str:
    """Return the page with its tables made anew."""
    for name, columns in COLUMNS.items():
        start, end = f"<!-- power, {name} -->\n", f"<!-- end of power, {name} -->"
        before, rest = page.split(start)
        _, after = rest.split(end)
        page = f"{before}{start}{table(rows, columns)}\n{end}{after}"
    return page


def main() -> None:
    """Rewrite the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    text = options.page.read_text(encoding="utf-8")
    options.page.write_text(with_tables(text, read(options.table)), encoding="utf-8")


if __name__ == "__main__":
    main()
