"""What the gate can require has a row in the table of how often its limits err."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from veridical import Confidence, evaluate
from veridical.evaluation._gate.figures import PAIRED, figures_of

TABLE = Path(__file__).parents[2] / "docs" / "evidence" / "gate_limits.csv"


@pytest.fixture(scope="module")
def table():
    with TABLE.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def required_figures():
    """Names of all figures with limits, of two classes and of three, and of differences."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 60)
    y = rng.integers(0, 3, 60)
    found = set()
    for lens in (None, "canonical", Confidence()):
        found |= {n for n, f in figures_of(evaluate(y, p, lens=lens)).items() if f.has_limits}
    binary = evaluate((y > 0).astype(int), p[:, 0])
    found |= {name for name, figure in figures_of(binary).items() if figure.has_limits}
    return found | {f"difference({name})" for name in PAIRED} | {"equivalence(T).pvalue"}


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
def test_every_figure_that_can_be_required_has_its_evidence(table):
    assert required_figures() - {row["figure"] for row in table} == set()


def test_the_table_is_complete(table):
    assert {int(row["n"]) for row in table} >= {30, 60, 100, 400, 1000}
    # Samples without both outcomes have no area under the curve.
    assert all(int(row["repetitions"]) >= 200 for row in table if row["figure"] != "auc")


def test_limits_hold_with_the_truth_at_them(table):
    """At most 2.5 % and three standard errors.

    Bins without rows are no part of what a limit of the RMSCE is about, and that rows unlike all
    seen lose no more is what limits of the log score suppose.
    """
    beyond = []
    for row in table:
        level = 0.05 if row["figure"].startswith("equivalence") else 0.025
        most = level + 3 * math.sqrt(level * (1 - level) / int(row["repetitions"]))
        supposed = row["figure"] == "difference(log)" and row["predictions"] == "0.3, seldom 0.9"
        if "empty bins" in row["figure"] or supposed:
            continue
        for side in ("high_below_truth", "low_above_truth"):
            if float(row[side]) > most:
                beyond.append((row["figure"], row["predictions"], row["n"], side, row[side]))
    assert beyond == []
