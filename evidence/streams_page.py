"""Put the tables about streams into the pages on monitoring and on calibrators.

    python evidence/streams_page.py docs

Rewrites what stands between the markers of each table; the rest of the pages is by hand.
"""

from __future__ import annotations

import argparse
import csv
import math
from pathlib import Path

Row = dict[str, str]


def read(folder: Path, name: str) -> list[Row]:
    with (folder / "evidence" / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(heads: list[str], lines: list[list[str]]) -> str:
    """Markdown; the first column is text."""
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *lines])


def monitoring(folder: Path) -> str:
    """Levels and delays."""
    levels, delays = read(folder, "monitor_levels.csv"), read(folder, "monitor_delays.csv")
    shares = [
        [
            row["monitor"],
            f"{int(row['streams']):,}",
            f"{100 * float(row['ever_alarmed']):.3g} %",
            f"{100 * float(row['bound']):.3g} %",
        ]
        for row in levels
    ]
    found = {(row["drift"], row["monitor"]): row for row in delays}
    drifts = list(dict.fromkeys(row["drift"] for row in delays))
    monitors = list(dict.fromkeys(row["monitor"] for row in delays))
    order = ["ours", "ours, first edition", "one who knows"]
    order += [name for name in monitors if name not in order]
    lines = [[drift, *(_delay(found.get((drift, name))) for name in order)] for drift in drifts]
    most = max(int(row["streams"]) for row in delays if row["monitor"] == "ours")
    text = "Shares of calibrated streams that ever raise the alarm, at level 0.05:"
    text += f"\n\n{table(['monitor', 'streams', 'ever alarmed', 'bound (99.9 %)'], shares)}\n\n"
    text += (
        "Rows from the onset of a drift (at row 5,000) to the first alarm, median (90 % quantile)"
        f" of the streams without\nan earlier alarm, {most} of ours; *never* where half of the"
        " streams end without one. *First edition* is the monitor before\nwhole vectors were"
        " watched; *one who knows* bets on the one right rival (and group) and does not know only"
        " since when:\n\n"
    )
    return text + table(["drift", *order], lines)


def _delay(row: Row | None) -> str:
    if row is None:
        return ""
    median, p90 = float(row["median_rows"]), float(row["p90_rows"])
    if math.isinf(median):
        return "never"
    return f"{median:,.0f} ({'never' if math.isinf(p90) else f'{p90:,.0f}'})"


def calibrators(folder: Path) -> str:
    """Excess log loss of streams, and log loss of tables."""
    streams, tables = read(folder, "online_streams.csv"), read(folder, "online_tables.csv")
    maps = list(dict.fromkeys(row["map"] for row in streams))
    excess = {(row["stream"], row["map"]): 1e4 * float(row["excess"]) for row in streams}
    kinds = list(dict.fromkeys(row["stream"] for row in streams))
    lines = [[kind, *(f"{excess[kind, name]:.1f}" for name in maps)] for kind in kinds]
    losses = {(row["table"], row["map"]): float(row["log_loss"]) for row in tables}
    n_rows = {row["table"]: int(row["rows"]) for row in tables}
    real = [
        [f"{kind} ({n:,} rows)", *(f"{losses[kind, name]:.4f}" for name in maps)]
        for kind, n in n_rows.items()
    ]
    lost = max(float(row["most_nats_lost"]) for row in streams if row["most_nats_lost"])
    n, rows = int(streams[0]["streams"]), int(streams[0]["rows"])
    return (
        f"Excess log loss over the truth in 1e-4 nats a row, means of {n} streams of {rows:,} rows"
        " (`evidence/online.py`);\nthe most that any stream lost against predictions as they are"
        f" was {lost:.1f} nats:\n\n{table(['stream', *maps], lines)}\n\n"
        "Log loss of real rows in order of time, predicted by a model of the first of them (late"
        " arrivals of flights from New\nYork and rain there in the next hour, 2013; the S&P 500"
        " by week), if every label came before the next row, and in batches:\n\n"
        f"{table(['table', *maps], real)}"
    )


PAGES = {
    "monitoring.md": ("monitor_levels.csv, monitor_delays.csv", monitoring),
    "which-calibrator.md": ("online_streams.csv, online_tables.csv", calibrators),
}


def with_tables(folder: Path, name: str) -> str:
    """A page with its tables made anew."""
    mark, made = PAGES[name]
    start, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->"
    before, rest = (folder / name).read_text(encoding="utf-8").split(start)
    _, after = rest.split(end)
    return f"{before}{start}{made(folder)}\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name in PAGES:
        (folder / name).write_text(with_tables(folder, name), encoding="utf-8")


if __name__ == "__main__":
    main()
