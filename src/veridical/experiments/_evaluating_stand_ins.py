"""Printed lines of Tables 3 and 5 beside fakes that are as sure as the networks were."""

from __future__ import annotations

import math
from typing import Any

from veridical.experiments._evaluating_networks import CALIBRATED, OVERCONFIDENT
from veridical.experiments._evaluating_printed import PRINTED
from veridical.experiments._page import Page

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
    page.number(
        "Tables 3 and 5, lines nearer to the unsquared distance of the stand-in", nearer,
        reason=f"of {len(shown)}, as ratios",
    )  # fmt: skip


def _pair(estimate: float, null: float) -> str:
    return f"{estimate:.3f} ({null:.3f})"


def _found(one: dict[str, float]) -> str:
    return _pair(one["estimate"], one["null"])
