"""Limits of rates from scores and a few labels: a small sample of evidence/rates.py.

Bounds are those asked of the evidence, 93 % of coverage and widths of at most 1.05 times those of
labels alone, and four standard errors of a binomial share.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "evidence"))
from rates import cells, measure  # noqa: E402

REPEATS = 60
CELLS = [
    ("random", "over-confident", 0.3, 100),
    ("random", "hard and half blind", 0.1, 50),
    ("random", "timid", 0.025, 20),
    ("random", "useless", 0.9, 50),
    ("random", "wrong by group", 0.1, 100),
    ("chances", "good", 0.3, 100),
    ("strata", "hard", 0.3, 100),
    ("clusters", "over-confident", 0.3, 100),
    ("spread", "good", 0.05, 100),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: " ".join(map(str, cell)))
def test_limits_hold_and_are_no_wider(cell):
    row = measure(*cell, REPEATS)
    assert row["coverage"] >= 0.93 - 4 * math.sqrt(0.93 * 0.07 / REPEATS)
    assert row["ratio"] <= 1.05


@pytest.mark.slow
def test_a_good_judge_narrows_limits_by_a_fifth():
    row = measure("random", "good", 0.3, 100, REPEATS)
    assert row["correlation"] >= 0.5
    assert row["ratio"] <= 0.8


def test_the_table_is_whole_and_holds_what_is_promised():
    """Every cell is there; 400 samples each, so bounds have a tolerance of two standard errors."""
    with (ROOT / "docs/evidence/rates.csv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    there = {(row["design"], row["judge"], float(row["rate"]), int(row["m"])) for row in table}
    assert there == set(cells())
    for row in table:
        slack = 2 * math.sqrt(0.93 * 0.07 / int(row["repeats"]))
        assert float(row["coverage"]) >= 0.93 - slack, row
        assert float(row["ratio"]) <= 1.05, row
        assert float(row["notes"]) <= 0.02, row
        good = row["design"] == "random" and row["m"] == "100" and float(row["correlation"]) >= 0.5
        if good and 0.2 <= float(row["rate"]) <= 0.8:
            assert float(row["ratio"]) <= 0.8, row


def test_the_page_says_what_the_table_has():
    table = pl.read_csv(ROOT / "docs/evidence/rates.csv")
    page = (ROOT / "docs/how-to/language-model-judge.md").read_text(encoding="utf-8")
    good = (pl.col("judge") == "good") & (pl.col("rate") == 0.3)
    for m in (20, 50, 100, 500):
        part = table.filter((pl.col("design") == "random") & (pl.col("m") == m))
        least, normal = 100 * part["coverage"].min(), 100 * part["normal"].min()
        widths = f"{part['ratio'].max():.2f} | {part.filter(good)['ratio'].max():.2f} |"
        assert f"| {m} | at random | {least:.1f} % | {normal:.1f} % | {widths}" in page
    for design in ("chances", "strata", "clusters", "spread"):
        part = table.filter(pl.col("design") == design)
        widths = f"{part['ratio'].max():.2f} | {part.filter(good)['ratio'].max():.2f} |"
        least = 100 * part["coverage"].min()
        assert f"| 100, 300 | {design} | {least:.1f} % | | {widths}" in page
