"""Rows of a benchmark: printed, as CSV and as Markdown, with the facts needed to read them."""

from __future__ import annotations

import csv
import math
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = [
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "torchmetrics",
    "netcal",
    "relplot",
    "calzone-tool",
    "mapie",
    "uncertainty-calibration",
]
HEADER = [
    "task",
    "contender",
    "mode",
    "seconds",
    "ratio_to_veridical_numpy",
    "ratio_to_veridical_fast",
    "turns",
    "value",
    "peak_extra_mb",
    "peak_extra_over_input",
    "status",
]


@dataclass
class Row:
    """One contender in one task; None where there is nothing to say."""

    task: str
    contender: str
    mode: str
    seconds: float | None = None
    turns: int = 0
    value: float | None = None
    peak_extra: int | None = None
    input_bytes: int | None = None
    status: str = "ok"


def table(rows: list[Row]) -> list[list[str]]:
    """Rows as text in the order of `HEADER`; ratios say how many times slower than veridical."""
    own = {(r.task, r.mode): r.seconds for r in rows if r.contender == "veridical" and r.seconds}
    lines = []
    for row in rows:
        extra = row.peak_extra
        lines.append(
            [
                row.task,
                row.contender,
                row.mode,
                _number(row.seconds, ".4g"),
                _ratio(row.seconds, own.get((row.task, "numpy"))),
                _ratio(row.seconds, own.get((row.task, "fast"))),
                str(row.turns) if row.turns else "",
                _number(row.value, ".9f"),
                _number(None if extra is None else extra / 1e6, ".1f"),
                _number(extra / row.input_bytes if extra and row.input_bytes else None, ".3f"),
                "" if row.status == "ok" else row.status,
            ]
        )
    return lines


def sections(rows: list[Row]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Name, header and lines of each task, without the columns that are empty throughout it."""
    for task, group in groupby(table(rows), key=lambda line: line[0]):
        lines = list(group)
        shown = [i for i in range(1, len(HEADER)) if any(line[i] for line in lines)]
        yield task, [HEADER[i] for i in shown], [[line[i] for i in shown] for line in lines]


def print_table(rows: list[Row]) -> None:
    """Print the rows task by task, with rich where it is installed."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        for task, header, lines in sections(rows):
            print("\n".join(["", task, *("  ".join(line) for line in [header, *lines])]))
        return
    for task, header, lines in sections(rows):
        grid = Table(*[name.replace("_", " ") for name in header], title=task, title_justify="left")
        for line in lines:
            grid.add_row(*line)
        Console(width=160).print(grid)


def write(rows: list[Row], directory: Path) -> None:
    """Write `foundation.csv` and `foundation.md` into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "foundation.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *table(rows)])
    text = ["# Calibration errors: time and memory", "", *facts_of_machine()]
    for task, header, lines in sections(rows):
        text += ["", f"## {task}", "", _markdown(header), "|---" * len(header) + "|"]
        text += [_markdown(line) for line in lines]
    (directory / "foundation.md").write_text("\n".join(text) + "\n", encoding="utf-8")


def facts_of_machine() -> list[str]:
    versions = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    return [
        f"{os.cpu_count()} CPUs; {', '.join(versions)}.",
        "",
        "Seconds are the best of several turns, contenders alternating. Ratios are seconds divided "
        "by those of veridical in the same task: above 1 the contender is slower. Mode `numpy` is "
        "veridical in NumPy alone, `fast` with its compiled loops. Packages use the threads they "
        "choose to use. "
        "Peak extra memory is what Python and NumPy allocate during the call beyond the input.",
    ]


def _markdown(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ratio(seconds: float | None, own: float | None) -> str:
    return "" if seconds is None or own is None else f"{seconds / own:.2f}"


def _number(value: float | None, form: str) -> str:
    return "" if value is None or math.isnan(value) else format(value, form)
