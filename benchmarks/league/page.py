"""Put the tables of a run into the page on calibrators.

    python benchmarks/league/page.py OUT docs/which-calibrator.md docs/evidence

Writes between the two marks of the page, and copies the league table, the classifiers' table and
the plot of the report half to the folder of evidence.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
from report import AUTO, OWN, comparison
from tables import GROUPS

START, END = "<!-- league: start -->", "<!-- league: end -->"
SHOWN = 12
KEPT = ("auto-select", "uncalibrated", "ensemble-temperature", "structured-vector", "venn-abers")


def league_table(league: pd.DataFrame, group: str) -> str:
    """The first methods in log loss, and those a reader will look for, with both metrics."""
    parts = {
        m: league[(league.metric == m) & (league.group == group)] for m in ("log_loss", "brier")
    }
    log, brier = (part.set_index("method") for part in parts.values())
    log = log.sort_values("mean_rank")
    names = [*log.index[:SHOWN], *(name for name in KEPT if name not in log.index[:SHOWN])]
    lines = [
        "| method | cells | win rate, log loss | mean rank | mean change | harmed | worst "
        "| worst, n >= 1,000 | win rate, Brier | mean rank, Brier | seconds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in names:
        row, other = log.loc[name], brier.loc[name]
        shown = f"**{name}**" if name in OWN else name
        lines.append(
            f"| {shown} | {row['cells']:.0f} | {row['win_rate']:.1%} | {row['mean_rank']:.1f} "
            f"| {row['mean_change']:+.4f} | {row['harmed']:.1%} | {row['worst']:+.3f} "
            f"| {row['worst_large']:+.3f} | {other['win_rate']:.1%} | {other['mean_rank']:.1f} "
            f"| {row['seconds']:.3f} |"
        )
    return "\n".join(lines)


def rivals_table(results: pd.DataFrame, group: str) -> str:
    """Paired differences from the best others, in both metrics."""
    rule = GROUPS[group]
    report, tune = (results[results.half == half] for half in ("report", "tune"))
    report, tune = report[rule(report)], tune[rule(tune)]
    parts = []
    for metric, title in (("log_loss", "log loss"), ("brier", "Brier score")):
        parts.append(f"Mean paired difference in {title} over data sets:")
        parts.append(comparison(report, metric, tune.iloc[:0]))
    return "\n\n".join(parts)


def by_size(league: pd.DataFrame) -> str:
    """Mean rank and harm of the automatic choice and of the best other, by calibration rows."""
    lines = [
        "| calibration rows | auto: mean rank | auto: harmed | next method | its mean rank "
        "| its harmed |",
        "|--:|--:|--:|---|--:|--:|",
    ]
    for group in GROUPS:
        if not group.startswith("n ="):
            continue
        part = league[(league.metric == "log_loss") & (league.group == group)]
        part = part.set_index("method").sort_values("mean_rank")
        other = part[~part.index.str.startswith(AUTO)].iloc[0]
        lines.append(
            f"| {int(group.split('=')[1]):,} | {part.loc[AUTO, 'mean_rank']:.1f} "
            f"| {part.loc[AUTO, 'harmed']:.1%} | {other.name} | {other['mean_rank']:.1f} "
            f"| {other['harmed']:.1%} |"
        )
    return "\n".join(lines)


def classifiers_table(path: Path) -> str:
    """Whole classifiers beside scikit-learn's."""
    table = pd.read_csv(path).set_index("method")
    lines = [
        f"| method | log loss | minus {table['reference'].iloc[0]} | 95 % interval | better in |",
        "|---|--:|--:|---|--:|",
    ]
    lines += [
        f"| {name} | {row['log_loss']:.4f} | {row['difference']:+.4f} "
        f"| {row['low']:+.4f} to {row['high']:+.4f} | {row['share_better']:.0%} |"
        for name, row in table.iterrows()
    ]
    return "\n".join(lines)


def main() -> None:
    out, page, evidence = map(Path, sys.argv[1:4])
    league = pd.read_csv(out / "league.csv")
    league = league[league.half == "report"]
    results = pd.read_csv(out / "results.csv", keep_default_na=False, na_values=[""])
    results = results.assign(failure=results["failure"].fillna(""))
    report = results[results.half == "report"]
    cells = len(report[["data", "model", "split", "n"]].drop_duplicates())
    pairs = len(report[["data", "model"]].drop_duplicates())
    parts = [
        f"{report['data'].nunique()} data sets, {pairs} (data, model) pairs, {cells} cells, "
        f"{report['method'].nunique()} methods; ours in bold."
    ]
    for group, title in (("all", "All"), ("binary", "Two classes"), ("multiclass", "More classes")):
        parts += [f"### {title}", league_table(league, group), rivals_table(results, group)]
    parts += ["### By number of calibration rows", by_size(league)]
    parts += ["### Whole classifiers", classifiers_table(out / "classifiers.csv")]
    text = page.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    page.write_text(f"{before}{START}\n\n" + "\n\n".join(parts) + f"\n\n{END}{after}", "utf-8")
    league.round(5).to_csv(evidence / "league.csv", index=False)
    shutil.copy(out / "classifiers.csv", evidence / "league_classifiers.csv")
    shutil.copy(out / "league-report.png", evidence / "league.png")


if __name__ == "__main__":
    main()
