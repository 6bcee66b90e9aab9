"""Put what was measured of `AutoCalibrator` into the page on calibrators.

    python benchmarks/league/auto_page.py docs/which-calibrator.md docs/evidence

Writes between two marks of the page, from tables in the folder of evidence: `league_editions.csv`
(editions.py), `league_harm.csv` (harm.py), `auto_times.csv` (bench_auto.py), `automatic_excess.csv`
and `automatic_bias.csv` (evidence/automatic.py). A test compares page and tables.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

START, END = "<!-- auto: start -->", "<!-- auto: end -->"
METRICS = {"log_loss": "log loss", "brier": "Brier score"}
LEADS = ("all", "two classes", "more classes")
HARM_OF_MANY = {100: 0.006, 500: 0.003}  # what a mean over draws may be worse by, from n rows on


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def editions(frame: pd.DataFrame) -> str:
    """Win rates of both editions and what changed, group by group."""
    log, brier = (frame[frame.metric == metric].set_index("group") for metric in METRICS)
    rows = [
        (
            str(name),
            f"{row.cells}",
            f"{row.before:.1%}",
            f"{row.now:.1%}",
            points(row),
            f"{row.now_less_before:+.4f}",
            f"{row.low:+.4f} to {row.high:+.4f}",
            f"{brier.before[name]:.1%}",
            f"{brier.now[name]:.1%}",
            points(brier.loc[name]),
        )
        for name, row in log.iterrows()
    ]
    header = ("cells of the report half", "cells", "log loss: before", "now", "rise, points",
              "change in log loss", "95 % interval", "Brier: before", "now",
              "rise, points")  # fmt: skip
    return table(header, rows)


def points(row: pd.Series) -> str:
    """How much a win rate rose, in points, with an interval."""
    ends = f"{100 * row.rise_low:+.1f} to {100 * row.rise_high:+.1f}"
    return f"{100 * (row.now - row.before):+.1f} ({ends})"


def places(frame: pd.DataFrame) -> str:
    """Where it is first, and where it is not."""
    found = []
    for metric, name in METRICS.items():
        part = frame[(frame.metric == metric)]
        missed = part[~part["first"]]
        where = "first in every group"
        if len(missed):
            listed = ", ".join(
                f"{row.group} ({row.best_rival} {row.its_rate:.1%})" for row in missed.itertuples()
            )
            where = f"first in {len(part) - len(missed)} of {len(part)} groups, not in: {listed}"
        found.append(f"In {name} it is {where}.")
    return " ".join(found)


def leads(frame: pd.DataFrame) -> str:
    """Difference from the best single method in hindsight."""
    rows = [
        (
            f"{row.group}, {METRICS[row.metric]}",
            f"{row.cells}",
            f"{row.sets}",
            str(row.best_single),
            f"{row.lead:+.4f}",
            f"{row.lead_low:+.4f} to {row.lead_high:+.4f}",
            "yes" if row.lead_high < 0 else "no",
        )
        for row in frame[frame.group.isin(LEADS)].itertuples()
    ]
    header = ("cells", "number", "data sets", "best single method in hindsight", "auto less it",
              "95 % interval", "shown")  # fmt: skip
    return table(header, rows)


def worst(frame: pd.DataFrame) -> str:
    """Single fits that harm, and how far behind the best rival of a cell."""
    log = frame[frame.metric == "log_loss"].set_index("group")
    every = log.loc["all"]
    behind = ", ".join(
        f"{name} {log.behind_best[name]:.4f}" for name in ("saturated", "naive Bayes", "all")
    )
    return (
        f"Single fits worse than the model by more than .01: {every.harmed_now:.1%} of "
        f"{every.cells} (before {every.harmed_before:.1%}), the worst by {every.worst_now:.4f}. "
        "Furthest behind "
        f"the best rival of a single cell, in nats: {behind}."
    )


def harm(frame: pd.DataFrame) -> str:
    """Cells averaged over draws of their calibration rows."""
    rows = []
    for n, limit in HARM_OF_MANY.items():
        part = frame[frame.n == n]
        if part.empty:
            continue
        top = part.loc[part["mean"].idxmax()]
        single = (part.harmed * part.draws).sum() / part.draws.sum()
        rows.append(
            (
                f"{n}",
                f"{len(part)}",
                f"{int(part.draws.sum()):,}",
                f"{part['mean'].mean():+.4f}",
                f"{top['mean']:+.4f} ({top['error']:.4f}), `{top['data']}`, {top['model']}",
                f"{int((part['mean'] > limit).sum())} of {len(part)} above {limit}",
                f"{single:.2%}",
                f"{part.worst.max():+.4f}",
            )
        )
    header = ("rows", "cells", "fits", "mean change", "worst cell (standard error)", "beyond",
              "single fits worse by .01", "worst fit")  # fmt: skip
    return table(header, rows)


def times(frame: pd.DataFrame) -> str:
    """Seconds beside another package, and memory."""
    rows = [
        (f"{r.rows:,} rows, {r.classes} classes", f"{r.auto:.2f}", f"{r.sms:.2f}", f"{r.ratio:.1f}",
         f"{r.memory:.1f}", f"{r.beyond:.1f}")
        for r in frame.itertuples()
    ]  # fmt: skip
    header = ("sample", "`AutoCalibrator`", "SMS", "ratio", "peak memory over input",
              "MB beyond 6 times the input")  # fmt: skip
    return table(header, rows)


def excess(frame: pd.DataFrame) -> str:
    """What is added to the log loss of new rows."""
    rows = [
        (
            f"{r.classes} classes, {r.rows} rows, "
            + ("calibrated" if r.temperature == 1 else f"T = {r.temperature}"),
            f"{r.sets}",
            f"{r.excess:+.5f} ({r.error:.5f})",
            f"{r.temperature_scaling:+.5f} ({r.its_error:.5f})",
            "" if r.temperature == 1 else f"{r.excess / r.temperature_scaling:.0%}",
        )
        for r in frame.sort_values(["classes", "rows", "temperature"]).itertuples()
    ]
    header = ("simulated sets", "number", "`AutoCalibrator` (standard error)",
              "temperature scaling", "share of its gain")  # fmt: skip
    return table(header, rows)


def bias(frame: pd.DataFrame) -> str:
    """What the evidence says is gained, less the true gain."""
    rows = [
        (
            f"{r.classes} classes, {r.rows} rows, "
            + ("calibrated" if r.temperature == 1 else f"T = {r.temperature}"),
            f"{r.sets}",
            f"{r.gain:+.5f}",
            f"{r.bias:+.5f} ({r.error:.5f})",
            f"{r.errors:+.1f}",
        )
        for r in frame.itertuples()
    ]
    header = ("simulated sets", "number", "true gain", "estimate less it (standard error)",
              "standard errors")  # fmt: skip
    return table(header, rows)


def section(folder: Path) -> str:
    """All tables of the page."""
    names = ("league_editions", "league_harm", "auto_times", "automatic_excess", "automatic_bias")
    league, draws, seconds, cost, truth = (pd.read_csv(folder / f"{each}.csv") for each in names)
    parts = [
        editions(league),
        places(league),
        leads(league),
        worst(league),
        "Cells averaged over draws of their calibration rows ([league_harm.csv]"
        "(evidence/league_harm.csv), by `harm.py`; pairs in an order drawn once), log loss less "
        "that of the model:",
        harm(draws),
        "Processor seconds of a fit on one thread beside structured matrix scaling of probmetrics, "
        "by turns in one run ([auto_times.csv](evidence/auto_times.csv), by "
        "`benchmarks/bench_auto.py`):",
        times(seconds),
        "What it adds to the log loss of new rows, in nats, over simulated sets "
        "([automatic_excess.csv](evidence/automatic_excess.csv), by `evidence/automatic.py`):",
        excess(cost),
        "What `evidence_` says it gains, less what the fitted map gains on the population "
        "([automatic_bias.csv](evidence/automatic_bias.csv), same laws):",
        bias(truth),
    ]
    return "\n\n".join(parts)


def written(text: str, folder: Path) -> str:
    """The page with the tables of a folder."""
    before, after = text.split(START)[0], text.split(END)[1]
    return f"{before}{START}\n\n{section(folder)}\n\n{END}{after}"


def main() -> None:
    """Write the page."""
    page, folder = map(Path, sys.argv[1:3])
    page.write_text(written(page.read_text("utf-8"), folder), "utf-8")


if __name__ == "__main__":
    main()
