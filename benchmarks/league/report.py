"""Last stage: tables as CSV and Markdown, and the plot."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from contenders import OURS
from tables import (
    GROUPS,
    HARM,
    best_method,
    by_set,
    changes,
    difference,
    interval,
    league,
    pairwise,
    ranks,
    wide,
)

METRICS = {"log_loss": "log loss", "brier": "Brier score"}
OWN = {contender.name for contender in OURS}
AUTO = "auto"
HEADER = (
    "| method | cells | failures | win rate | mean rank | mean change | harmed | worst "
    "| worst, large | seconds |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def is_single(name: str) -> bool:
    """Whether a method is one map, not a choice among maps."""
    return not name.startswith(AUTO)


def is_peer(name: str) -> bool:
    """Whether a method is of another package."""
    return name not in OWN


def markdown(table: pd.DataFrame) -> str:
    """A league table in Markdown; methods of this package in bold."""
    lines = [HEADER]
    for name, row in table.iterrows():
        shown = f"**{name}**" if name in OWN else str(name)
        large = "" if pd.isna(row["worst_large"]) else f"{row['worst_large']:+.4f}"
        lines.append(
            f"| {shown} | {row['cells']:.0f} | {row['failures']:.0f} | {row['win_rate']:.1%} "
            f"| {row['mean_rank']:.2f} | {row['mean_change']:+.4f} | {row['harmed']:.1%} "
            f"| {row['worst']:+.4f} | {large} | {row['seconds']:.3f} |"
        )
    return "\n".join(lines)


def rivals(frame: pd.DataFrame, metric: str, chosen_on: pd.DataFrame) -> dict[str, str]:
    """Whom the automatic choice is compared with, and why."""
    found = {"best single method in hindsight": best_method(frame, metric, is_single)}
    if any(map(is_peer, frame["method"].unique())):
        found["best peer in hindsight"] = best_method(frame, metric, is_peer)
    if len(chosen_on):
        found["best single method of the tune half"] = best_method(chosen_on, metric, is_single)
    return found


def comparison(frame: pd.DataFrame, metric: str, chosen_on: pd.DataFrame) -> str:
    """Mean difference between the automatic choice and its rivals, with intervals."""
    lines = ["| rival | method | auto - rival | 95% interval |", "|---|---|--:|---|"]
    for reason, name in rivals(frame, metric, chosen_on).items():
        gap = difference(frame, metric, AUTO, name)
        lines.append(
            f"| {reason} | {name} | {gap['mean']:+.5f} | [{gap['low']:+.5f}, {gap['high']:+.5f}] |"
        )
    return "\n".join(lines)


def failures(frame: pd.DataFrame) -> str:
    """Messages of failures, the most frequent of each method."""
    failed = frame[frame["failure"] != ""]
    lines = ["| method | failures | most frequent message |", "|---|--:|---|"]
    for name, part in failed.groupby("method"):
        message = part["failure"].mode().iloc[0].replace("|", "/")
        lines.append(f"| {name} | {len(part)} | {message} |")
    return "\n".join(lines) if len(failed) else "None."


def plot(frame: pd.DataFrame, path: Path) -> None:
    """Mean rank with intervals over data sets, and how often each method harms."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    losses = wide(frame, "log_loss")
    rank = interval(by_set(ranks(losses))).sort_values("mean", ascending=False)
    harmed = by_set((changes(losses) > HARM).where(losses.notna()).astype(float)).mean()
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 0.22 * len(rank) + 1.2), sharey=True, width_ratios=[3, 2]
    )
    for place, (name, row) in enumerate(rank.iterrows()):
        colour = "#0b6e99" if name in OWN else "#b5651d"
        left.plot([row["low"], row["high"]], [place, place], color=colour, lw=1.5)
        left.plot(row["mean"], place, "o", color=colour, ms=4)
        right.barh(place, harmed[name], color=colour, height=0.7)
    left.set_yticks(range(len(rank)), rank.index, fontsize=7)
    left.set_ylim(-0.8, len(rank) - 0.2)
    left.set_xlabel("mean rank in log loss (95% interval over data sets)")
    right.set_xlabel(f"share of cells made worse by more than {HARM}")
    left.set_title("blue: veridical, brown: other packages", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def write_half(
    name: str, frame: pd.DataFrame, chosen_on: pd.DataFrame, out: Path
) -> list[pd.DataFrame]:
    """Markdown, pairwise tables and plot of one half; the league tables for the CSV."""
    sets = frame["data"].nunique()
    pairs = len(frame[["data", "model"]].drop_duplicates())
    text = [f"# League, half: {name}", f"{sets} data sets, {pairs} (data, model) pairs."]
    tables = []
    for metric, title in METRICS.items():
        for group, rule in GROUPS.items():
            part = frame[rule(frame)]
            if part.empty:
                continue
            table = league(part, metric)
            tables.append(table.assign(half=name, metric=metric, group=group).reset_index())
            text += [f"## {title}, {group}", markdown(table)]
            if (part["method"] == AUTO).any():
                on = chosen_on[rule(chosen_on)] if len(chosen_on) else chosen_on
                text.append(comparison(part, metric, on))
        pairwise(wide(frame, metric)).to_csv(out / f"pairwise-{name}-{metric}.csv")
    text += ["## Failures", failures(frame)]
    (out / f"league-{name}.md").write_text("\n\n".join(text) + "\n")
    plot(frame, out / f"league-{name}.png")
    return tables


def write(frame: pd.DataFrame, out: Path) -> None:
    """Everything, for each half there are results of and for both together."""
    frame = frame.assign(failure=frame["failure"].fillna(""))
    tune = frame[frame["half"] == "tune"]
    tables = []
    for half in frame["half"].unique():
        chosen_on = tune if half == "report" else tune.iloc[:0]
        tables += write_half(half, frame[frame["half"] == half], chosen_on, out)
    if frame["half"].nunique() > 1:
        tables += write_half("all", frame, tune.iloc[:0], out)
    pd.concat(tables, ignore_index=True).to_csv(out / "league.csv", index=False)
    frame.to_csv(out / "results.csv", index=False)
