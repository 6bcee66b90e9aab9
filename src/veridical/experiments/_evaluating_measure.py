"""One line of Tables 3 to 5: a network through a lens, in bins, with three distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.experiments._evaluating_networks import bins_for, find_network, seen_through
from veridical.experiments._laboratory import Cell
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.summaries import Summary

LENSES = {"canonical": "canonical", "maximum": "confidence"}
DISTANCES = {"tv": "total variation", "l2": "Euclidean", "sqeuclidean": "squared Euclidean"}
_FEW = 10  # rows below which a cell says next to nothing


def measure_line(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Estimates with bootstrap standard deviations, consistency values, and the cells they use.

    Standard deviations come from rows drawn with replacement and binned anew, as in the paper; near
    calibration such draws lie above the estimate, so they say how it scatters, not where the truth
    is. Consistency values draw outcomes from the predictions, which are fixed.
    """
    network = find_network(cell)
    lens = LENSES[cell["lens"]]
    problem = seen_through(lens, network)
    binning = bins_for(problem, cell["bins"])
    summary = BinnedError(binning).summarise(problem)
    count = summary.count[summary.occupied] if isinstance(summary, Summary) else summary.count
    answer: dict[str, Any] = {
        "cells": len(count),
        "smallest": float(count.min()),
        "median": float(np.median(count)),
        "largest": float(count.max()),
        "few": float(np.mean(count < _FEW)),
    }
    spread = _bootstrap(problem, cell, rng)
    for distance in DISTANCES:
        test = consistency_test(
            BinnedError(binning, distance=distance), network.y, network.p, lens=lens,
            n_resamples=cell["draws"], rng=rng,
        )  # fmt: skip
        answer[distance] = {
            "estimate": test.statistic, "spread": float(np.std(spread[distance])),
            "null": test.null_level.mean, "null_spread": test.null_level.std,
            "pvalue": test.pvalue,
        }  # fmt: skip
    return answer


def _bootstrap(
    problem: BinarySample | MulticlassSample, cell: Cell, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Estimates on rows drawn with replacement, by distance."""
    values: dict[str, list[float]] = {distance: [] for distance in DISTANCES}
    for _ in range(cell["bootstraps"]):
        drawn = problem.take(rng.integers(problem.n, size=problem.n))
        binning = bins_for(drawn, cell["bins"])
        summary = BinnedError(binning).summarise(drawn)
        for distance, found in values.items():
            found.append(BinnedError(binning, distance=distance).from_summary(summary))
    return values
