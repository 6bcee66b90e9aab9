"""A sample of the simulations of `evidence/levels.py`, and its committed tables.

Tolerances are standard errors of a binomial share: sqrt(level (1 - level) / repetitions).
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "docs" / "evidence"
sys.path.insert(0, str(ROOT / "evidence"))

import _predictions as predictions  # noqa: E402
import levels  # noqa: E402
import power_page  # noqa: E402
from _battery import BATTERY, Entry  # noqa: E402

CHEAP = [e for e in BATTERY if not e.name.startswith(("consistency", "multiple", "Cox"))]
DRAWN = [e for e in BATTERY if e not in CHEAP and "smECE" not in e.name]
FORMULA = [e for e in CHEAP if not e.name.startswith(("kernel", "T-Cal"))]


def committed(name):
    with (TABLES / name).open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, rows


def ids(entry):
    return entry.name


def check_levels(entry, classes, n, most):
    for k in classes:
        for shape in predictions.SHAPES:
            if entry.repetitions(k, n):
                row = levels.level_row((entry, k, shape, n), most)
                assert not levels.is_too_high(row), row


@pytest.mark.parametrize("entry", CHEAP, ids=ids)
def test_calibrated_predictions_are_seldom_rejected(entry):
    check_levels(entry, (2, 3), 100, most=40)


@pytest.mark.slow
@pytest.mark.parametrize("entry", DRAWN, ids=ids)
def test_calibrated_predictions_are_seldom_rejected_where_outcomes_are_drawn(entry):
    refitted = entry.name.startswith("Cox")
    check_levels(entry, (2,) if refitted else (2, 3), 100, most=15)


@pytest.mark.slow
@pytest.mark.parametrize("entry", FORMULA, ids=ids)
def test_calibrated_predictions_are_seldom_rejected_with_more_rows(entry):
    check_levels(entry, (2, 10), 1000, most=30)


def test_a_test_that_rejects_too_often_is_noticed():
    """The square of a uniform number is below alpha with probability sqrt(alpha): 10 % at 1 %."""
    wrong = Entry("wrong", lambda y, p, rng: rng.random() ** 2, binary={100: 400})
    row = levels.level_row((wrong, 2, "uniform", 100), 400)
    assert levels.is_too_high(row)
    assert abs(float(row[5]) - 0.1) < 4.5 * math.sqrt(0.1 * 0.9 / 400)


def test_levels_of_the_committed_table_are_within_tolerance_or_warned_or_known():
    header, rows = committed("test_levels.csv")
    assert header == levels.LEVEL_HEADER
    assert {tuple(row[:4]) for row in rows} == {
        (entry.name, str(k), shape, str(n)) for entry, k, shape, n in levels.level_cells()
    }
    assert not [row for row in rows if levels.is_too_high(row)]


def test_the_page_shows_the_committed_table_of_power():
    page = (ROOT / "docs" / "which-test.md").read_text(encoding="utf-8")
    rows = power_page.read(TABLES / "test_power.csv")
    assert power_page.with_tables(page, rows) == page


def test_the_three_models_of_a_gaussian_mixture():
    repetitions = 100

    def share(model):
        return float(levels.mixture_row(model, 10, 100, repetitions)[-1])

    for model in ("perfect", "constant"):
        assert share(model) <= 0.05 + 4.5 * math.sqrt(0.05 * 0.95 / repetitions)
    assert share("uncalibrated") == 1


def test_the_committed_table_of_the_gaussian_mixture():
    """The constant model reads |k - 50| / 100 of k successes in 100: P(11 or more) = 3.5 %."""
    header, rows = committed("gaussian_mixture.csv")
    assert header == levels.MIXTURE_HEADER
    tails = sum(math.comb(100, k) for k in range(101) if abs(k - 50) >= 11) / 2**100
    assert {row[0] for row in rows} == set(levels.MIXTURE_MODELS)
    for model, _, n, repetitions, rejected in rows:
        error = 4.5 * math.sqrt(0.05 * 0.95 / int(repetitions))
        if model == "uncalibrated":
            assert float(rejected) > 0.99
        elif model == "perfect":
            assert abs(float(rejected) - 0.05) < error
        else:
            assert float(rejected) <= 0.05 + error
            if n == "100":
                assert abs(float(rejected) - tails) < error


def test_distortions_by_hand():
    p = np.array([0.8, 0.7, 0.1])
    assert predictions.cooled(p, 2.0)[0] == pytest.approx(2 / 3)  # odds 4 become 2
    lowered = predictions.lowered(p, math.log(2))
    assert lowered == pytest.approx([2 / 3, 7 / 13, 1 / 19])  # odds are halved
    assert predictions.dented(p, 0.1) == pytest.approx([0.7, 0.6, 0.1])
    assert predictions.distance(p, np.array([0.7, 0.6, 0.1])) == pytest.approx(0.2 / 3)


def test_distortions_of_rows_by_hand():
    p = np.array([[0.7, 0.2, 0.1], [0.25, 0.25, 0.5]])
    assert predictions.dented(p, 0.1)[0] == pytest.approx([0.6, 0.2 * 4 / 3, 0.1 * 4 / 3])
    assert predictions.dented(p, 0.1)[1] == pytest.approx(p[1])
    roots = np.sqrt(p)
    expected = roots / roots.sum(axis=1, keepdims=True)
    assert predictions.cooled(p, 2.0) == pytest.approx(expected)
    assert predictions.lowered(p, math.log(2))[1] == pytest.approx([1 / 7, 2 / 7, 4 / 7])


def test_outcomes_follow_the_truth():
    rng = np.random.default_rng(0)
    truth = np.tile([0.5, 0.0, 0.3, 0.2], (20_000, 1))
    shares = np.bincount(predictions.draw_outcomes(truth, rng), minlength=4) / len(truth)
    assert shares[1] == 0
    assert np.abs(shares - truth[0]).max() < 4.5 * math.sqrt(0.25 / len(truth))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_on_a_grid_repeat(n_classes):
    p = predictions.draw_predictions("uniform", 500, n_classes, np.random.default_rng(1), grid=True)
    assert len(np.unique(p, axis=0)) <= 11
