"""Arithmetic of the league: pure functions of a frame of results.

A cell is (data, model, split, n). Every mean is taken over the cells of a data set first and then
over data sets, so a large set with many cells counts as much as a small one. Lower loss is better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

CELL = ["data", "model", "split", "n"]
BASE = "uncalibrated"
HARM = 0.01
LARGE = 1000
DECIMALS = 12  # losses that agree to here are tied


def wide(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Losses as cells by methods, missing where a method did not meet a cell."""
    return frame.pivot(index=CELL, columns="method", values=metric).round(DECIMALS)


def by_set(values: pd.DataFrame) -> pd.DataFrame:
    """Means over the cells of each data set."""
    return values.groupby(level="data").mean()


def ranks(losses: pd.DataFrame) -> pd.DataFrame:
    """Rank in each cell, 1 the best, ties averaged, spread to 1..M where methods are missing.

    With m of M methods in a cell, rank r becomes 1 + (r - 1)(M - 1)/(m - 1): a method that
    meets fewer opponents in a cell gains nothing by it.
    """
    present = losses.notna().sum(axis=1)
    stretch = (losses.shape[1] - 1) / (present - 1).where(present > 1)
    return (losses.rank(axis=1) - 1).mul(stretch, axis=0) + 1


def win_rates(losses: pd.DataFrame) -> pd.DataFrame:
    """Share of a method's meetings with the others of a cell that it wins, ties as half."""
    return 1 - (ranks(losses) - 1) / (losses.shape[1] - 1)


def pairwise(losses: pd.DataFrame) -> pd.DataFrame:
    """Share of common cells in which the method of the row beats that of the column."""
    table = pd.DataFrame(np.nan, index=losses.columns, columns=losses.columns)
    for one in losses:
        for other in losses:
            both = losses[one].notna() & losses[other].notna()
            if one != other and both.any():
                gap = (losses[one] - losses[other])[both]
                share = (gap < 0) + 0.5 * (gap == 0)
                table.loc[one, other] = share.groupby(level="data").mean().mean()
    return table


def changes(losses: pd.DataFrame) -> pd.DataFrame:
    """Loss minus that without calibration."""
    return losses.sub(losses[BASE], axis=0)


def interval(
    by_sets: pd.DataFrame, *, n_resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> pd.DataFrame:
    """Mean over data sets with a percentile bootstrap interval that redraws data sets."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(by_sets), (n_resamples, len(by_sets)))
    values = by_sets.to_numpy(dtype=float)
    known = ~np.isnan(values)
    counts = np.stack([np.bincount(row, minlength=len(values)) for row in rows])
    with np.errstate(invalid="ignore"):  # a resample may hold no set that a method met
        means = (counts @ np.where(known, values, 0)) / (counts @ known)
    tail = 100 * (1 - level) / 2
    low, high = np.nanpercentile(means, [tail, 100 - tail], axis=0)
    return pd.DataFrame({"mean": by_sets.mean(), "low": low, "high": high}, index=by_sets.columns)


def league(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The table: one row a method, best mean rank first."""
    losses = wide(frame, metric)
    change = changes(losses)
    n_test = frame.groupby(CELL)["n_test"].first().reindex(losses.index)
    large = (losses.index.get_level_values("n") >= LARGE) & (n_test.to_numpy() >= LARGE)
    harmed = (change > HARM).where(change.notna()).astype(float)
    per_method = frame.groupby("method")
    table = pd.DataFrame(
        {
            "cells": losses.notna().sum(),
            "failures": per_method["failure"].agg(lambda column: int((column != "").sum())),
            "win_rate": by_set(win_rates(losses)).mean(),
            "mean_rank": by_set(ranks(losses)).mean(),
            "mean_change": by_set(change).mean(),
            "harmed": by_set(harmed).mean(),
            "worst": change.max(),
            "worst_large": change[large].max(),
            "seconds": per_method["seconds"].median(),
        }
    )
    return table.sort_values("mean_rank")


def best_method(frame: pd.DataFrame, metric: str, allowed: Callable[[str], bool]) -> str:
    """Method of lowest mean loss among those that met every cell.

    The mean is of changes against no calibration, which orders methods as losses do.
    """
    change = changes(wide(frame, metric))
    complete = [name for name in change if change[name].notna().all() and allowed(str(name))]
    return str(by_set(change[complete]).mean().idxmin())


def difference(frame: pd.DataFrame, metric: str, one: str, other: str) -> pd.Series:
    """Mean of loss(one) - loss(other) over common cells, with its interval over data sets."""
    losses = wide(frame, metric)
    gap = (losses[one] - losses[other]).dropna().to_frame("gap")
    return interval(by_set(gap)).loc["gap"]


GROUPS: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "all": lambda frame: frame["n"] > 0,
    "binary": lambda frame: frame["n_classes"] == 2,
    "multiclass": lambda frame: frame["n_classes"] > 2,
    "n = 100": lambda frame: frame["n"] == 100,
    "n = 200": lambda frame: frame["n"] == 200,
    "n = 500": lambda frame: frame["n"] == 500,
    "n = 1000": lambda frame: frame["n"] == 1000,
    "n = 5000": lambda frame: frame["n"] == 5000,
}
