"""Two editions of the automatic choice against the same rivals, group by group.

    python benchmarks/league/editions.py CACHE TABLE.csv OUT [OUT ...]

CACHE holds predictions, each OUT the results of runs (`run.py --out OUT`). "auto-before" is an
earlier checkout: `PYTHONPATH=THERE/src python benchmarks/league/run.py --methods auto-before`.

Only cells count that every rival met which takes that number of classes. Of methods that are nearly
the same map one is a rival. The win rate is the share of meetings with rivals won, ties half; the
editions do not meet each other. Means are over the cells of a data set first. `behind_best` is the
most by which a cell is worse than the best rival of that very cell. With `--every N` groups are of
one of N pairs, drawn as by `run.py`; saturated predictions and naive Bayes, which are few, of all
that were run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from models import CALIBRATED
from predictions import Pair, all_pairs, drawn
from results import Store
from tables import BASE, CELL, HARM, by_set, interval, wide

NOW, BEFORE = "auto", "auto-before"
RIVALS = ("probmetrics SMS", "probmetrics SVS", "probmetrics TS", "probmetrics ETS",
          "scikit-learn sigmoid", "scikit-learn isotonic", "venn-abers one-vs-rest",
          "spline", "platt")  # fmt: skip
OF_TWO = ("netcal beta",)  # too slow for more classes
KINDS = ("rare", "tied", "saturated", "naive Bayes", "nearly calibrated")
FEW = ("saturated", "naive Bayes")
RARE, SURE, TIED = 0.1, 1e-6, 0.5


def marks(cache: Path, pairs: pd.DataFrame) -> pd.DataFrame:
    """What is known of each cell before calibration: rare events, ties, saturation.

    Rare: fewer than a tenth of the rows of two classes are events. Tied: fewer than half as many
    different predictions as rows. Saturated: a twentieth of the rows are within 1e-6 of certainty.
    """
    found = []
    for (data, model), part in pairs.groupby(["data", "model"]):
        with np.load(Pair(str(data), str(model)).path(cache)) as stored:
            for split, n in part[["split", "n"]].drop_duplicates().to_numpy().tolist():
                p, y = stored[f"p_cal_{split}"], stored[f"y_cal_{split}"]
                share = np.bincount(y) / len(y)
                found.append(
                    {
                        **dict(zip(CELL, (data, model, split, n), strict=True)),
                        "rare": len(share) == 2 and share.min() < RARE,
                        "tied": len(np.unique(p[:n], axis=0)) < TIED * n,
                        "saturated": (p[:n].max(axis=1) > 1 - SURE).mean() >= 0.05,
                        "naive Bayes": model == "naive_bayes",
                        "nearly calibrated": model in CALIBRATED,
                    }
                )
    return pd.DataFrame(found)


def groups(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Cells of each group."""
    found = {
        "all": frame["n"] > 0,
        "two classes": frame["n_classes"] == 2,
        "more classes": frame["n_classes"] > 2,
        **{f"n = {n}": frame["n"] == n for n in sorted(frame["n"].unique())},
        "two classes, n = 100": (frame["n_classes"] == 2) & (frame["n"] == 100),
        **{name: frame[name] for name in KINDS},
    }
    return {name: chosen for name, chosen in found.items() if chosen.any()}


def complete(frame: pd.DataFrame) -> pd.DataFrame:
    """Results of the cells that everyone who could has met."""
    methods = frame.groupby(CELL)["method"].agg(set)
    two = frame.groupby(CELL)["n_classes"].first() == 2
    needed = {NOW, BEFORE, BASE, *RIVALS}
    whole = [needed | (set(OF_TWO) if t else set()) <= m for m, t in zip(methods, two, strict=True)]
    return frame.set_index(CELL).loc[methods.index[whole]].reset_index()


def won(losses: pd.DataFrame, method: str, rivals: list[str]) -> pd.Series:
    """Share of a method's meetings with rivals that it wins in each cell, ties as half."""
    others = [name for name in rivals if name != method]
    gap = losses[others].sub(losses[method], axis=0)
    return ((gap > 0) + 0.5 * (gap == 0)).where(gap.notna()).mean(axis=1)


def win_rate(losses: pd.DataFrame, method: str, rivals: list[str]) -> float:
    """The share over all cells, data sets alike."""
    return float(by_set(won(losses, method, rivals).to_frame()).mean().iloc[0])


def compared(losses: pd.DataFrame, one: str, other: str) -> pd.Series:
    """Mean difference of two methods with its interval over data sets."""
    return interval(by_set((losses[one] - losses[other]).to_frame("gap"))).loc["gap"]


def row(part: pd.DataFrame, metric: str, *, calibrated: bool) -> dict[str, Any]:
    """Figures of a group in one metric."""
    losses = wide(part, metric)
    rivals = [name for name in (*RIVALS, *OF_TWO, BASE) if name in losses]
    if calibrated:
        rivals.remove(BASE)
    rates = {name: win_rate(losses, name, rivals) for name in (NOW, BEFORE)}
    risen = won(losses, NOW, rivals) - won(losses, BEFORE, rivals)
    rise = interval(by_set(risen.to_frame("rise"))).loc["rise"]
    league = {name: win_rate(losses, name, [*rivals, NOW]) for name in [*rivals, NOW]}
    best = max((name for name in rivals), key=league.__getitem__)
    met = [name for name in losses if losses[name].notna().all()]
    single = by_set(losses[[m for m in met if not m.startswith(NOW)]]).mean().idxmin()
    newer, lead = compared(losses, NOW, BEFORE), compared(losses, NOW, str(single))
    change = losses[[NOW, BEFORE]].sub(losses[BASE], axis=0)
    return {
        "cells": len(losses),
        "sets": losses.index.get_level_values("data").nunique(),
        "before": rates[BEFORE],
        "now": rates[NOW],
        "rise_low": rise["low"],
        "rise_high": rise["high"],
        "first": league[NOW] >= league[best],
        "best_rival": best,
        "its_rate": league[best],
        "now_less_before": newer["mean"],
        "low": newer["low"],
        "high": newer["high"],
        "best_single": single,
        "lead": lead["mean"],
        "lead_low": lead["low"],
        "lead_high": lead["high"],
        "harmed_before": (change[BEFORE] > HARM).mean(),
        "harmed_now": (change[NOW] > HARM).mean(),
        "worst_now": change[NOW].max(),
        "behind_best": (losses[NOW] - losses[rivals].min(axis=1)).max(),
    }


def table(frame: pd.DataFrame, inside: pd.Series) -> pd.DataFrame:
    """All groups in both metrics, of the cells `inside`; groups of few of all."""
    rows = []
    for name, every in groups(frame).items():
        chosen = every if name in FEW else every & inside
        for metric in ("log_loss", "brier"):
            figures = row(frame[chosen], metric, calibrated=name == "nearly calibrated")
            rows.append({"group": name, "metric": metric, **figures})
    return pd.DataFrame(rows)


def main() -> None:
    """Write the table and print its rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("out", type=Path, nargs="+")
    parser.add_argument("--half", default="report")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    frame = pd.concat([Store(out / "results").frame() for out in options.out], ignore_index=True)
    frame = frame.drop_duplicates([*CELL, "method"], keep="last")
    frame = complete(frame[frame["half"] == options.half])
    frame = frame.merge(marks(options.cache, frame), on=CELL)
    pairs = drawn([pair for pair in all_pairs() if pair.half == options.half], options.every)
    names = {(pair.data, pair.model) for pair in pairs}
    inside = pd.Series([k in names for k in zip(frame["data"], frame["model"], strict=True)])
    found = table(frame, inside)
    found.round(5).to_csv(options.table, index=False)
    print(
        found.drop(columns=["low", "high", "rise_low", "rise_high"]).round(4).to_string(index=False)
    )


if __name__ == "__main__":
    main()
