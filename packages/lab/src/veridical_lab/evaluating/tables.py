"""The structure of Tables 3 to 5, on the networks there are.

One line of Tables 3 to 5: a network through a lens, in bins, with three distances.

Printed lines of Tables 3 and 5 beside fakes that are as sure as the networks were.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.summaries import Summary
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import with_error
from veridical_lab._frame.page import Page, by_column
from veridical_lab._frame.predictions import Predictions
from veridical_lab.evaluating import networks as shared
from veridical_lab.evaluating.networks import CALIBRATED, DATA, EQUAL, OVERCONFIDENT
from veridical_lab.evaluating.printed import PRINTED

LENSES = {"canonical": "canonical", "maximum": "confidence"}
DISTANCES = {"tv": "total variation", "l2": "Euclidean", "sqeuclidean": "squared Euclidean"}
_FEW = 10  # rows below which a cell says next to nothing


def measure_line(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Estimates with bootstrap standard deviations, consistency values, and the cells they use.

    Standard deviations come from rows drawn with replacement and binned anew, as in the paper; near
    calibration such draws lie above the estimate, so they say how it scatters, not where the truth
    is. Consistency values draw outcomes from the predictions, which are fixed.
    """
    network = shared.find_network(cell)
    lens = LENSES[cell["lens"]]
    problem = shared.seen_through(lens, network)
    binning = shared.bins_for(problem, cell["bins"])
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
        error = BinnedError(binning, distance=distance)
        test = consistency_test(
            error, network.y, network.p, lens=lens, n_resamples=cell["draws"], rng=rng
        )
        answer[distance] = {
            "estimate": test.statistic,
            "spread": float(np.std(spread[distance])),
            "null": test.null_level.mean,
            "null_spread": test.null_level.std,
            "pvalue": test.pvalue,
        }
    return answer


def _bootstrap(
    problem: BinarySample | MulticlassSample, cell: Cell, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Estimates on rows drawn with replacement, by distance."""
    values: dict[str, list[float]] = {distance: [] for distance in DISTANCES}
    for _ in range(cell["bootstraps"]):
        drawn = problem.take(rng.integers(problem.n, size=problem.n))
        binning = shared.bins_for(drawn, cell["bins"])
        summary = BinnedError(binning).summarise(drawn)
        for distance, found in values.items():
            found.append(BinnedError(binning, distance=distance).from_summary(summary))
    return values


STAND_INS = {"DenseNet": OVERCONFIDENT, "LeNet": CALIBRATED}


def stand_in_table(page: Page, lines: dict[tuple[str, str, str], dict[str, Any]]) -> None:
    """Add the comparison, and how many printed lines are nearer to the unsquared distance."""
    page.text(
        """Beside the printed lines, the fakes that stand in for the networks. Both accuracies, and
        the error of the over-confident fake through the maximum lens, were set near the printed
        ones, so these agree by construction; all else, null levels included, was not fitted. What
        the paper calls squared is near the Euclidean distance, and far from its square."""
    )
    shown = [line for line in PRINTED if line.network in STAND_INS]
    found = [lines[STAND_INS[line.network], line.lens, line.bins] for line in shown]
    page.table(
        {
            "network, lens, bins": [f"{one.network}, {one.lens}, {one.bins}" for one in shown],
            "total variation: printed": [_pair(one.tv, one.tv_null) for one in shown],
            "stand-in": [_found(one["tv"]) for one in found],
            '"squared": printed': [_pair(one.squared, one.squared_null) for one in shown],
            "stand-in, Euclidean": [_found(one["l2"]) for one in found],
            "stand-in, squared": [_found(one["sqeuclidean"]) for one in found],
        },
        caption="Estimate (if calibrated)",
    )
    nearer = sum(
        abs(math.log(line.squared / one["l2"]["estimate"]))
        < abs(math.log(line.squared / one["sqeuclidean"]["estimate"]))
        for line, one in zip(shown, found, strict=True)
    )
    page.check(f"""Tables 3 and 5, lines nearer to the unsquared distance of the stand-in | {nearer}
        | of {len(shown)}, as ratios""")


def _pair(estimate: float, null: float) -> str:
    return f"{estimate:.3f} ({null:.3f})"


def _found(one: dict[str, float]) -> str:
    return _pair(one["estimate"], one["null"])


Lines = dict[tuple[str, str, str], dict[str, Any]]
_OWN = (shared.DIGITS, *shared.FAKES)  # verdicts do not depend on the files of the user
_CASES = tuple((lens, bins) for lens in LENSES for bins in (EQUAL, DATA))


def table_section(lab: Laboratory, page: Page, networks: list[Predictions]) -> None:
    """Add a table a network, and what they say together."""
    page.section("Tables 3 to 5, on other networks")
    lines = _measure(lab, networks)
    page.text(
        """The predictions of the paper's networks are not available, so its numbers cannot be had
        again; its tables can be made of other networks. `digits` ships with this library: a small
        network, trained on half of scikit-learn's digits until it had no doubt left, which predicts
        the other half. The two fakes draw outcomes from known probabilities, so their truth is
        known: the calibrated one is as unsure as the paper's LeNet, the over-confident one as sure
        as its DenseNet. More networks are read with `--data FILE`."""
    )
    _name_files(page, networks[1 + len(shared.FAKES) :])
    page.text(
        """Estimates ± bootstrap standard deviations; in the columns "if calibrated" consistency
        values ± standard deviations. Equal bins are 10 an axis; data-dependent ones split, at the
        mean of the most variable class, every cell that holds a tenth of the rows or more."""
    )
    for network in networks:
        n, k = network.p.shape
        right = float((network.p.argmax(axis=1) == network.y).mean())
        caption = f"{network.name}: {n:,} rows, {k} classes, accuracy {right:.3f}"
        page.table(_paper_table(lines, network.name), caption=caption)
    page.data("networks", _long(lines), caption="All numbers, with p-values (CSV)")
    page.text("Side by side, the order of the networks depends on the column:")
    page.table(
        {
            "network": [network.name for network in networks],
            **{
                f"{lens}, {bins}": [_with_null(lines[one.name, lens, bins]) for one in networks]
                for lens, bins in _CASES
            },
        },
        caption="Total variation (if calibrated)",
    )
    _judge_distances(page, lines)
    _judge_order(page, lines)
    _judge_cells(page, lines)


def _name_files(page: Page, files: list[Predictions]) -> None:
    known = {"wideresnet-16-4-cifar-10", "lenet-5-cifar-100"}
    named = ", ".join(f"`{one.name}`" for one in files)
    if not files:
        return
    source = ""
    if {one.name for one in files} <= known:
        source = """, softmax outputs on the test images, published by the netcal project
        (EFS-OpenSource/calibration-framework, Apache-2.0) with its examples"""
    page.text(f"Given here: {named}{source}.")


def _measure(lab: Laboratory, networks: list[Predictions]) -> Lines:
    size = {"draws": 100, "bootstraps": 20} if lab.quick else {"draws": 1000, "bootstraps": 100}
    keys = [(index, lens, bins) for index in range(len(networks)) for lens, bins in _CASES]
    cells = [
        {**shared.network_cell(lab, networks[index], index), "lens": lens, "bins": bins, **size}
        for index, lens, bins in keys
    ]
    answers = lab.map("networks", measure_line, cells)
    return {
        (networks[index].name, lens, bins): answer
        for (index, lens, bins), answer in zip(keys, answers, strict=True)
    }


def _paper_table(lines: Lines, network: str) -> dict[str, list[str]]:
    rows = [(lens, distance) for lens in LENSES for distance in DISTANCES]
    table: dict[str, list[str]] = {
        "lens": [lens for lens, _ in rows],
        "distance": [DISTANCES[distance] for _, distance in rows],
    }
    for bins in (EQUAL, DATA):
        found = [lines[network, lens, bins][distance] for lens, distance in rows]
        table[f"{bins} bins"] = [_with_spread(one["estimate"], one["spread"]) for one in found]
        null = [_with_spread(one["null"], one["null_spread"]) for one in found]
        table[f"{bins}, if calibrated"] = null
    return table


def _with_spread(value: float, spread: float) -> str:
    return f"{value:.4f} ± {spread:.4f}"


def _with_null(line: dict[str, Any]) -> str:
    return f"{line['tv']['estimate']:.4f} ({line['tv']['null']:.4f})"


def _long(lines: Lines) -> dict[str, list[Any]]:
    names = ("estimate", "spread", "null", "null_spread", "pvalue")
    rows = [
        (*key, line["cells"], distance, *(round(line[distance][name], 6) for name in names))
        for key, line in lines.items()
        for distance in DISTANCES
    ]
    return by_column(("network", "lens", "bins", "cells", "distance", *names), rows)


def _judge_distances(page: Page, lines: Lines) -> None:
    """What the unsquared and the squared distance are on a network one can look at."""
    ratios = [
        line["l2"]["estimate"] / line["tv"]["estimate"]
        for (name, lens, _), line in lines.items()
        if lens == "maximum" and name in _OWN
    ]
    page.check(f"""Maximum lens, Euclidean distance | it is √2 times the total variation |
        {max(abs(ratio - math.sqrt(2)) for ratio in ratios)} < 1e-9 | largest difference of the
        ratio from it, over networks and both kinds of bins""")
    line = lines[shared.DIGITS, "maximum", EQUAL]
    for distance, name in DISTANCES.items():
        page.check(f"""digits, maximum lens, equal bins, {name} | {line[distance]["estimate"]}""")
    stand_in_table(page, lines)


def _judge_order(page: Page, lines: Lines) -> None:
    """Which of two models seems worse depends on the lens and the bins; the test does not."""

    def estimate(network: str, lens: str, bins: str) -> float:
        return float(lines[network, lens, bins]["tv"]["estimate"])

    def excess(network: str, lens: str, bins: str) -> float:
        one = lines[network, lens, bins]["tv"]
        return float((one["estimate"] - one["null"]) / one["null_spread"])

    def difference(lens: str) -> str:
        both = [lines[name, lens, EQUAL]["tv"] for name in (CALIBRATED, OVERCONFIDENT)]
        error = math.hypot(*(one["spread"] for one in both))
        return with_error(both[0]["estimate"] - both[1]["estimate"], error)

    page.check(f"""Section 5.2, order of models | a model that is worse by the diagrams can have the
        lower estimate | {difference("canonical")} > 0 and {difference("maximum")} < 0 | calibrated
        minus over-confident fake, equal bins, through the canonical and the maximum lens. In the
        paper LeNet reads 0.219 against 0.059 of DenseNet, and 0.007 against 0.038""")
    pair = [lines[CALIBRATED, "canonical", bins]["tv"] for bins in (EQUAL, DATA)]
    wide, narrow = (estimate(CALIBRATED, "canonical", bins) for bins in (EQUAL, DATA))
    error = wide / narrow * math.hypot(*(one["spread"] / one["estimate"] for one in pair))
    page.check(f"""Section 5.2, bins | the binning scheme matters much |
        {with_error(wide / narrow, error)} as much | calibrated fake, canonical lens: {wide:.3f}
        with equal over {narrow:.3f} with data-dependent bins; the paper's LeNet 0.219 and 0.027, a
        ratio of 8.1""")
    least = min(excess(OVERCONFIDENT, *case) for case in _CASES)
    most = max(excess(CALIBRATED, *case) for case in _CASES)
    page.check(f"""Section 4.3, against the null level | compared with consistency values, models
        are told apart | {most} < 4 and {least} > 4 | largest excess of the calibrated fake over its
        null level, in standard deviations, over lenses and bins, and smallest of the over-confident
        one""")


def _judge_cells(page: Page, lines: Lines) -> None:
    page.text(
        """Equal cells multiply with every class, and most hold next to nothing; data-dependent
        cells do not. What a cell of few rows reads is noise, and the consistency value says how
        much."""
    )
    keys = [key for key in lines if key[1] == "canonical"]
    page.table(
        {
            "network, bins": [f"{network}, {bins}" for network, _, bins in keys],
            "cells with rows": [lines[key]["cells"] for key in keys],
            "median rows a cell": [lines[key]["median"] for key in keys],
            "cells of fewer than 10": [f"{lines[key]['few']:.0%}" for key in keys],
        },
        digits=1,
        caption="Cells of the canonical lens",
    )
    own = [key for key in keys if key[0] in _OWN]
    few = {bins: [lines[key]["few"] for key in own if key[2] == bins] for bins in (EQUAL, DATA)}
    page.check(f"""
        - Appendix B, equal bins | they are mostly too sparse to estimate anything |
          {min(few[EQUAL])} as most | smallest share, over the networks, of occupied cells with
          fewer than 10 rows
        - Appendix B, data-dependent bins | they are not | {max(few[DATA])} < 0.5 | largest such
          share
    """)
    uneven = {
        key[0]: lines[key]["largest"] / lines[key]["smallest"] for key in own if key[2] == DATA
    }
    page.check(f"""Appendix B, sizes | data-dependent bins hold approximately equally many
        predictions, similar ones | {max(uneven.values())} as similar | rows of the largest cell
        over those of the smallest, for {max(uneven, key=lambda name: uneven[name])};
        {min(uneven.values()):.1f} for the network where they are most alike. A split at the mean
        of a skewed class leaves little on one side, and a cell is split once more however small its
        parts will be""")
