"""Worked examples of the survey: facts against sums of fractions and naive loops written here.

Silva Filho et al. (2023), doi 10.1007/s10994-023-06336-7.
"""

from __future__ import annotations

import csv
import math
from fractions import Fraction as F

import numpy as np
import pytest

pytest.importorskip("matplotlib")
from PIL import Image

from veridical_lab import run_experiment
from veridical_lab.survey_toy.forecasts import OVER, Distortion
from veridical_lab.survey_toy.scores import random_extreme_error
from veridical_lab.survey_toy.tables import (
    TABLE_1,
    TABLES_4_TO_7,
    decomposed_rows,
    footnote_rows,
    rain_rows,
    toy_rows,
)

FIGURES = [*(f"fig-{k}" for k in (*range(1, 11), 21)), "simplex"]

# Sums of |positives - scores| in the bins listed in Tables 4 to 7.
CLASS_1 = F(9, 10) + F(8, 15) + F(7, 10) + F(34, 10) + F(1, 10)
CLASS_2 = F(35, 10) + F(1, 6) + F(7, 10)
CLASS_3 = F(29, 10) + F(28, 15) + F(12, 10) + F(1, 10)
CONFIDENCE = F(1, 3) + F(26, 10) + F(33, 10) + F(1, 10)

# Table 2: Brier parts as fractions, log parts from entropies.
GINI = F(4 * 3, 8) / 10 + F(6, 10) * (1 - F(1 + 9 + 4, 36))  # mean of 1 - sum c^2
CALIBRATION = F(4, 10) * 2 * F(15, 100) ** 2 + F(6, 10) * (
    (F(6, 10) - F(1, 6)) ** 2 + (F(2, 10) - F(1, 2)) ** 2 + (F(2, 10) - F(1, 3)) ** 2
)


def entropy(*shares):
    return -sum(x * math.log(x) for x in shares if x)


LOG_REFINEMENT = 0.4 * entropy(3 / 4, 1 / 4) + 0.6 * entropy(1 / 6, 3 / 6, 2 / 6)
LOG_IRREDUCIBLE = 0.4 * entropy(3 / 4, 1 / 4) + 0.6 * entropy(1 / 2, 1 / 2)
LOG_SCORE = -(3 * math.log(0.9) + math.log(0.1) + math.log(0.6) + 5 * math.log(0.2)) / 10

EXACT = {
    "Table 1, per cent from 60": F(1100, 15),
    "Table 1, ECE with 10 bins": (F(5 + 15 + 75 + 125 + 85 + 125 + 30 + 75 + 70, 100)) / 123,
    "Table 1, ECE with 5 bins": (F(5 + 15 + 75 + 125 + 85 + 125 + 30 + 75 + 70, 100)) / 123,
    "Table 1, ECE with 2 bins": (F(5 + 15 + 75 + 125 + 85, 100) + F(125 - 30 - 75 + 70, 100)) / 123,
    "Table 2, Brier score": F(712, 1000),
    "Table 2, Brier score, calibration loss": CALIBRATION,
    "Table 2, Brier score, refinement loss": GINI,
    "Table 2, Brier score, irreducible loss": F(4, 10) * F(3, 8) + F(6, 10) * F(1, 2),
    "Table 2, Brier score, grouping loss": F(1, 15),
    "Table 2, log-loss": LOG_SCORE,
    "Table 2, log-loss, calibration loss": LOG_SCORE - LOG_REFINEMENT,
    "Table 2, log-loss, refinement loss": LOG_REFINEMENT,
    "Table 2, log-loss, epistemic loss": LOG_SCORE - LOG_IRREDUCIBLE,
    "Table 2, log-loss, irreducible loss": LOG_IRREDUCIBLE,
    "Table 2, log-loss, grouping loss": LOG_REFINEMENT - LOG_IRREDUCIBLE,
    "Table 3, class-1-ECE": CLASS_1 / 30,
    "Table 3, class-2-ECE": CLASS_2 / 30,
    "Table 3, class-3-ECE": CLASS_3 / 30,
    "Table 3, confidence-ECE": CONFIDENCE / 30,
    "Table 3, classwise-ECE": (CLASS_1 + CLASS_2 + CLASS_3) / 90,
    "Table 3, binary-MCE": F(34, 70),
    "Table 3, classwise-MCE": F(34, 70),
    "Table 3, mean of the classes' MCE": (F(34, 70) + F(7, 30) + F(3, 10)) / 3,
    "Table 3, largest class ECE": CLASS_3 / 30,
    "Table 3, confidence-MCE": F(3, 10),
    "Table 4, bin 3, gap": F(7, 30),
    "Table 4, bin 4, gap": F(34, 70),
    "Table 5, bin 2, gap": F(1, 72),
    "Table 5, bin 3, gap": F(7, 30),
    "Footnote 2": F(1, 40),
    "Section 2.3, two classes": F(1, 10),
    "Section 4.2, a classifier that says 1 at random": F(1, 2),
    "Eq. 6, the highest score": F(0),
    "Eq. 12, t = 1": 1 / (1 + math.e + math.e**2),
}

# Golden values, recomputed elsewhere from the paper's tables.
GOLDEN = {
    "Table 3, class-1-ECE": 0.187778,
    "Table 3, class-2-ECE": 0.145556,
    "Table 3, class-3-ECE": 0.202222,
    "Table 3, classwise-ECE": 0.178519,
    "Table 3, classwise-MCE": 0.485714,
    "Table 3, confidence-ECE": 0.211111,
    "Table 3, multiclass Hosmer-Lemeshow": 25.30043,
    "Table 8, multiclass Hosmer-Lemeshow": 25.295476,
    "Eq. 21, multiclass Hosmer-Lemeshow": 50.590953,
    "Section 6, p-value of Hosmer-Lemeshow": 0.00030037,
    "Table 2, Brier score, epistemic loss": 0.262,
    "Table 2, log-loss, epistemic loss": 0.476846,
    "Table 1, ECE with 10 bins": 0.049187,
    "Table 1, ECE with 2 bins": 0.032114,
}

WRONG = {
    "Table 1, all cells", "Table 1, per cent from 60", "Table 2, Brier score, calibration loss",
    "Table 4, all cells", "Table 4, bin 3, gap", "Table 4, bin 4, gap",
    "Table 5, all cells", "Table 5, bin 2, gap", "Table 5, bin 3, gap",
    "Table 3, class-1-ECE", "Table 3, class-2-ECE", "Table 3, class-3-ECE",
    "Table 3, confidence-ECE", "Table 3, classwise-ECE", "Table 3, binary-MCE",
    "Table 3, classwise-MCE", "Table 3, largest class ECE",
    "Section 4.2, a classifier that says 1 at random", "Section 2.3, two classes",
    "Eq. 9, 11, 13, 15, 17 and 19", "Eq. 12, t = 1", "Eq. 21, multiclass Hosmer-Lemeshow",
    "Eq. 6, the highest score",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def result(folder):
    return run_experiment("survey-toy", folder=folder, quick=True, n_jobs=1)


@pytest.mark.parametrize("name", EXACT)
def test_found_values_are_sums_of_fractions(result, name):
    assert result.fact(name).value == pytest.approx(float(EXACT[name]), abs=1e-10)


@pytest.mark.parametrize("name", GOLDEN)
def test_found_values_are_the_golden_ones(result, name):
    assert result.fact(name).value == pytest.approx(GOLDEN[name], abs=6e-7, rel=2e-7)


def test_exactly_the_known_errors_of_the_survey_differ(result):
    differing = {fact.name: fact for fact in result.facts if fact.verdict == "differs"}
    assert set(differing) == WRONG
    assert all(fact.reason for fact in differing.values())


def test_reasons_are_proved_with_numbers(result):
    """Averages of the printed gaps, and the calibration loss of the printed column C."""
    assert "0.187333" in result.fact("Table 3, class-1-ECE").reason
    assert "0.147000" in result.fact("Table 3, class-2-ECE").reason
    assert "0.201667" in result.fact("Table 3, class-3-ECE").reason
    assert "0.211667" in result.fact("Table 3, confidence-ECE").reason
    rounded = 0.4 * 2 * 0.15**2 + 0.6 * (0.43**2 + 0.3**2 + 0.13**2)
    assert f"{rounded:.4f}" in result.fact("Table 2, Brier score, calibration loss").reason


def test_resampled_pvalues_are_those_of_a_naive_loop(result):
    """Algorithm 1 with 400,000 draws against the 20,000 of the quick run."""
    y, p = toy_rows()
    bins = np.maximum(np.ceil(5 * p - 1e-9), 1)

    def classwise(classes):
        total = np.zeros(len(classes))
        for k in range(3):
            for b in range(1, 6):
                rows = bins[:, k] == b
                total += abs((classes[:, rows] == k).sum(axis=1) - p[rows, k].sum())
        return total / 90

    found = classwise(y[None] - 1)[0]
    rng = np.random.default_rng(1)
    below = p.cumsum(axis=1)
    larger = equal = 0
    for _ in range(8):
        u = rng.random((50_000, 30))
        drawn = classwise((u > below[:, 0]).astype(int) + (u > below[:, 1]))
        larger += (drawn > found + 1e-9).sum()
        equal += (abs(drawn - found) <= 1e-9).sum()
    strict, counted = larger / 400_000, (larger + equal) / 400_000
    allowed = 4 * math.sqrt(counted * (1 / 20_000 + 1 / 400_000))
    name = "Section 6, p-value of Algorithm 1"
    assert abs(result.fact(name).value - strict) < allowed
    assert result.fact(name).verdict == "undecided"  # the printed one has 1,000 draws
    assert abs(result.fact(f"{name}, ties counted").value - counted) < allowed
    # The golden 0.0115 and 0.0126 are of 200,000 draws.
    assert abs(strict - 0.0115) < 4 * math.sqrt(0.0115 * (1 / 200_000 + 1 / 400_000))
    assert abs(counted - 0.0126) < 4 * math.sqrt(0.0126 * (1 / 200_000 + 1 / 400_000))


def test_the_fitted_test_rejects_too_many_calibrated_models(result):
    """Naive statistic in bins with upper edges 0.2, 0.56, 0.7 and 0.9 (Table 8)."""
    _, p = toy_rows()
    rng = np.random.default_rng(2)
    bins = np.searchsorted(np.array([0.2, 0.56, 0.7, 0.9]) + 1e-9, 1 - p[:, 0])
    expected = np.array([p[bins == m].sum(axis=0) for m in range(5)])
    critical = 12.591587  # 95 % point of chi-square with six degrees of freedom
    rejected = 0
    for _ in range(4000):
        classes = (rng.random((30, 1)) > p.cumsum(axis=1)[:, :2]).sum(axis=1)
        observed = np.zeros((5, 3))
        np.add.at(observed, (bins, classes), 1)
        held = expected > 0
        rejected += ((observed - expected)[held] ** 2 / expected[held]).sum() > critical
    share = rejected / 4000
    found = result.fact("Section 6, calibrated models that Hosmer-Lemeshow rejects at 5 %").value
    assert abs(found - share) < 4 * math.sqrt(share * (1 - share) * (1 / 300 + 1 / 4000))
    assert share > 0.1


def test_data_are_copied_whole():
    y, p = toy_rows()
    assert p.shape == (30, 3)
    assert np.allclose(p.sum(axis=1), 1)
    assert np.bincount(y).tolist() == [0, 10, 10, 10]
    # Sums of the scores listed in Tables 4, 5 and 6.
    listed = (
        F(11, 10) + F(37, 15) + F(17, 10) + F(54, 10) + F(19, 10),
        F(15, 10) + F(25, 6) + F(17, 10),
        F(11, 10) + F(58, 15) + F(22, 10) + F(29, 10),
    )
    assert p.sum(axis=0) == pytest.approx([float(total) for total in listed])
    outcomes, forecasts = rain_rows()
    assert (len(outcomes), outcomes.sum()) == (123, 52)
    assert sorted({row.lower for row in TABLE_1}) == pytest.approx(np.arange(1, 10) / 10)
    assert forecasts.min() == 0.15
    assert [sum(row.count for row in bins) for bins in TABLES_4_TO_7.values()] == [30] * 4
    assert [sum(row.positives for row in TABLES_4_TO_7[k]) for k in (4, 5, 6)] == [10] * 3
    classes, s, q = decomposed_rows()
    assert s[0].tolist() == [0.9, 0.1, 0.0]
    assert q[-1].tolist() == [0.0, 0.5, 0.5]
    assert classes.tolist() == [1, 1, 1, 2, 1, 2, 2, 2, 3, 3]
    assert footnote_rows()[1].shape == (40, 3)


@pytest.mark.parametrize(
    ("positives", "says_one"), [(0.2, 0.5), (0.2, 0.0), (0.3, 1.0), (0.5, 0.9)]
)
def test_error_of_a_random_extreme_classifier(positives, says_one):
    expected = says_one * (1 - positives) + (1 - says_one) * positives
    assert random_extreme_error(positives, says_one) == pytest.approx(expected, abs=1e-12)


def test_logistic_curve_neither_helps_nor_harms_at_the_turning_point(result):
    """With scikit-learn's own logistic regression in place of the library's."""
    from sklearn.linear_model import LogisticRegression

    slope = result.fact("Section 2.2, slope from which a logistic curve makes matters worse").value
    case = Distortion(OVER.shape, slope)
    y, s, weight = case.rows
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(s[:, None], y, sample_weight=weight)
    after = abs(fitted.predict_proba(case.scores[:, None])[:, 1] - case.truth).mean()
    assert after == pytest.approx(abs(case.scores - case.truth).mean(), rel=0.005)


def test_every_cell_is_listed(result, folder):
    with (folder / "survey-toy" / "cells.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    # 9 percentages; 30 rows of Q, S and C; five numbers a bin; five edges and 15 pairs of counts.
    assert len(rows) == 9 + 90 + 5 * (5 + 3 + 4 + 4) + 5 + 30
    assert sum(row["right"] == "False" for row in rows) == 5
    assert result.quick


@pytest.mark.parametrize("slug", FIGURES)
def test_pictures_are_small_and_not_blank(result, folder, slug):
    path = folder / "survey-toy" / f"{slug}.png"
    assert path.stat().st_size < 120_000
    with Image.open(path) as picture:
        assert picture.width <= 1100
        assert len(picture.convert("RGB").getcolors(maxcolors=100_000)) > 10
    page = (folder / "survey-toy.md").read_text(encoding="utf-8")
    assert f"(survey-toy/{slug}.png)" in page
    assert result.verdict in page
