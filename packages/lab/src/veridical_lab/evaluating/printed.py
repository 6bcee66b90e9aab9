"""Tables 3 to 5 as printed, and the distance that was meant."""

from __future__ import annotations

import math
from dataclasses import dataclass

from veridical_lab._frame.page import Page


@dataclass(frozen=True)
class Printed:
    """One line of a table: total variation and "squared Euclidean", each with consistency value.

    Attributes
    ----------
    table, network, lens, bins : where it is printed
    tv, tv_null, squared, squared_null : as printed, with three decimals
    """

    table: int
    network: str
    lens: str
    bins: str
    tv: float
    tv_null: float
    squared: float
    squared_null: float


PRINTED = (
    Printed(3, "DenseNet", "canonical", "equal", 0.059, 0.029, 0.072, 0.034),
    Printed(3, "DenseNet", "canonical", "data-dependent", 0.041, 0.007, 0.046, 0.006),
    Printed(3, "DenseNet", "maximum", "equal", 0.038, 0.002, 0.054, 0.006),
    Printed(3, "DenseNet", "maximum", "data-dependent", 0.038, 0.001, 0.053, 0.004),
    Printed(4, "ResNet", "canonical", "equal", 0.059, 0.022, 0.071, 0.028),
    Printed(4, "ResNet", "canonical", "data-dependent", 0.042, 0.007, 0.047, 0.005),
    Printed(4, "ResNet", "maximum", "equal", 0.043, 0.002, 0.061, 0.004),
    Printed(4, "ResNet", "maximum", "data-dependent", 0.043, 0.001, 0.061, 0.004),
    Printed(5, "LeNet", "canonical", "equal", 0.219, 0.215, 0.243, 0.238),
    Printed(5, "LeNet", "canonical", "data-dependent", 0.027, 0.023, 0.024, 0.019),
    Printed(5, "LeNet", "maximum", "equal", 0.007, 0.010, 0.010, 0.015),
    Printed(5, "LeNet", "maximum", "data-dependent", 0.009, 0.011, 0.013, 0.011),
)
_HALF = 0.0005  # rounding of three decimals
_UNSQUARED = "distances not squared"


def printed_section(page: Page) -> None:
    """Add the arithmetic of the printed tables."""
    page.section("Tables 3 to 5 as printed: distances that appear not to be squared")
    page.text(
        """Through the maximum lens there are two outcomes, right and wrong. If a bin is off by t in
        total variation, it is off by √2 t in Euclidean and by 2 t² in squared Euclidean distance.
        The six estimates the paper calls squared are √2 times those in total variation, to the last
        digit printed."""
    )
    lines = [line for line in PRINTED if line.lens == "maximum"]
    page.table(
        {
            "network, bins": [f"{line.network}, {line.bins}" for line in lines],
            "total variation": [line.tv for line in lines],
            '"squared", printed': [line.squared for line in lines],
            "√2 times total variation": [math.sqrt(2) * line.tv for line in lines],
            "twice its square": [2 * line.tv**2 for line in lines],
        },
        digits=5,
    )
    tolerance = _HALF * (1 + math.sqrt(2))
    for line in lines:
        page.check(f"""Table {line.table}, {line.network}, {line.bins} bins, "squared Euclidean" |
            {math.sqrt(2) * line.tv} = {line.squared} ± {tolerance} | √2 times the total variation,
            both rounded to three decimals""")
    matched = sum(abs(math.sqrt(2) * line.tv - line.squared) <= tolerance for line in lines)
    needed = min(line.squared / (2 * line.tv) for line in lines)
    page.check(
        f"""Tables 3 to 5, maximum lens | the distance is the squared Euclidean one | {needed} < 0.1
        | {matched} of {len(lines)} match the unsquared distance. A squared distance so large needs
        gaps of at least this size on average, weighted by themselves, in every network, where the
        estimates are gaps of {min(line.tv for line in lines)} to
        {max(line.tv for line in lines)}""",
        cause=_UNSQUARED,
    )
    _canonical(page)


def _canonical(page: Page) -> None:
    """Add the lines of the canonical lens: what a squared distance would ask of their cells."""
    page.text(
        """Through the canonical lens the Euclidean distance is at most √2 t and the squared one at
        most 2 t². So a printed ratio of "squared" to total variation is at most twice the mean t of
        the cells (weighted by t). With data-dependent cells of hundreds of rows each, even the
        consistency values, which are noise, would need cells that are off by:"""
    )
    lines = [line for line in PRINTED if line.lens == "canonical" and line.bins != "equal"]
    needed = [line.squared_null / (2 * line.tv_null) for line in lines]
    page.table(
        {
            "network": [line.network for line in lines],
            '"squared" / total variation': [line.squared / line.tv for line in lines],
            "the same, if calibrated": [line.squared_null / line.tv_null for line in lines],
            "gap of cells needed": needed,
            "gap of cells printed": [line.tv_null for line in lines],
        }
    )
    page.check(
        f"""Tables 3 to 5, canonical lens | the distance is the squared Euclidean one |
        {min(needed)} < 0.1 | smallest gap that cells of a calibrated model would need to have by
        chance, more than ten times the printed mean gap; unsquared distances of the stand-ins below
        have such ratios""",
        cause=_UNSQUARED,
    )
