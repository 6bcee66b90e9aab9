"""Worked examples of the survey: Silva Filho et al. (2023), "Classifier calibration".

Machine Learning 112, doi 10.1007/s10994-023-06336-7. Tables are copied from the paper; expected
values are sums of fractions written out here.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from veridical import (
    BinnedError,
    ClassSpecific,
    UniformBins,
    brier_score,
    classwise_calibration_error,
    decompose,
    expected_calibration_error,
    log_loss,
    maximum_calibration_error,
    reliability_curve,
)

# Toy data: fewer than ten rows decide the largest gap, which a warning says.
pytestmark = pytest.mark.filterwarnings("ignore:.*mostly noise:veridical.VeridicalWarning")

T = F(1, 3)
# Table 3: probabilities of classes 1, 2, 3 (in tenths, or 1/3) and the class, 30 instances.
TABLE_3 = [
    (10, 0, 0, 1), (9, 1, 0, 1), (8, 1, 1, 1), (7, 1, 2, 1), (6, 3, 1, 1), (4, 1, 5, 1),
    (T, T, T, 1), (T, T, T, 1), (2, 4, 4, 1), (1, 5, 4, 1), (8, 2, 0, 2), (7, 0, 3, 2),
    (5, 2, 3, 2), (4, 4, 2, 2), (4, 2, 4, 2), (3, 4, 3, 2), (2, 3, 5, 2), (1, 6, 3, 2),
    (1, 3, 6, 2), (0, 2, 8, 2), (8, 2, 0, 3), (8, 1, 1, 3), (8, 0, 2, 3), (6, 0, 4, 3),
    (3, 0, 7, 3), (2, 6, 2, 3), (2, 4, 4, 3), (0, 4, 6, 3), (0, 3, 7, 3), (0, 3, 7, 3),
]  # fmt: skip
EXACT = [[F(s) if s == T else F(s, 10) for s in row[:3]] for row in TABLE_3]
Y = [row[3] for row in TABLE_3]
P = [[float(s) for s in row] for row in EXACT]

# Tables 4-7: rows of each bin, mean score, frequency and gap, rounded as printed.
TABLE_4 = [(11, 0.10, 0.18, 0.08), (7, 0.35, 0.43, 0.08), (3, 0.57, 0.33, 0.24),
           (7, 0.77, 0.29, 0.48), (2, 0.95, 1.00, 0.05)]  # fmt: skip
TABLE_5 = [(15, 0.10, 0.33, 0.23), (12, 0.35, 0.33, 0.02), (3, 0.57, 0.33, 0.24)]
TABLE_6 = [(11, 0.10, 0.36, 0.26), (11, 0.35, 0.18, 0.17), (4, 0.55, 0.25, 0.30),
           (4, 0.72, 0.75, 0.03)]  # fmt: skip
TABLE_7 = [(7, 0.38, 0.43, 0.05), (10, 0.56, 0.30, 0.26), (11, 0.75, 0.45, 0.30),
           (2, 0.95, 1.00, 0.05)]  # fmt: skip

# |positives - sum of scores| of each bin of five, from the scores listed in Tables 4-7.
EXCESS = {
    1: [(11, 2 - F(11, 10)), (7, 3 - F(37, 15)), (3, F(17, 10) - 1), (7, F(54, 10) - 2),
        (2, 2 - F(19, 10))],
    2: [(15, 5 - F(15, 10)), (12, F(25, 6) - 4), (3, F(17, 10) - 1)],
    3: [(11, 4 - F(11, 10)), (11, F(58, 15) - 2), (4, F(22, 10) - 1), (4, 3 - F(29, 10))],
    "confidence": [(7, 3 - F(8, 3)), (10, F(56, 10) - 3), (11, F(83, 10) - 5), (2, 2 - F(19, 10))],
}  # fmt: skip


def exact_error(problem):
    return sum(excess for _, excess in EXCESS[problem]) / 30


def exact_maximum(problem):
    return max(excess / n for n, excess in EXCESS[problem])


def lens(problem):
    return problem if problem == "confidence" else ClassSpecific(problem)


def test_table_3_is_copied_whole():
    assert len(EXACT) == 30
    assert all(sum(row) == 1 for row in EXACT)
    assert [Y.count(k) for k in (1, 2, 3)] == [10, 10, 10]


@pytest.mark.parametrize("problem", [1, 2, 3, "confidence"])
def test_listed_bin_sums_are_those_of_table_3(problem):
    if problem == "confidence":
        rows = [(max(row), row.index(max(row)) + 1 == y) for row, y in zip(EXACT, Y, strict=True)]
    else:
        rows = [(row[problem - 1], y == problem) for row, y in zip(EXACT, Y, strict=True)]
    found = []
    for b in range(5):
        inside = [(s, hit) for s, hit in rows if F(b, 5) < s <= F(b + 1, 5) or (b == 0 and s == 0)]
        if inside:
            found.append((len(inside), abs(sum(hit - s for s, hit in inside))))
    assert found == EXCESS[problem]


@pytest.mark.parametrize(
    ("problem", "ece", "mce"),
    [(1, 0.187778, 0.485714), (2, 0.145556, 0.233333), (3, 0.202222, 0.3),
     ("confidence", 0.211111, 0.3)],
)  # fmt: skip
def test_table_3_errors_with_five_bins(problem, ece, mce):
    assert float(exact_error(problem)) == pytest.approx(ece, abs=5e-7)
    assert float(exact_maximum(problem)) == pytest.approx(mce, abs=5e-7)
    found = expected_calibration_error(Y, P, n_bins=5, lens=lens(problem))
    assert found == pytest.approx(float(exact_error(problem)), abs=1e-12)
    found = maximum_calibration_error(Y, P, n_bins=5, lens=lens(problem))
    assert found == pytest.approx(float(exact_maximum(problem)), abs=1e-12)


def test_table_3_classwise_errors():
    classwise = sum(exact_error(k) for k in (1, 2, 3)) / 3
    assert float(classwise) == pytest.approx(0.178519, abs=5e-7)
    assert classwise_calibration_error(Y, P, n_bins=5) == pytest.approx(float(classwise), abs=1e-12)
    maxima = [exact_maximum(k) for k in (1, 2, 3)]
    assert float(max(maxima)) == pytest.approx(0.485714, abs=5e-7)
    for aggregate, expected in (
        ("norm", max(maxima)), ("max", max(maxima)), ("mean", sum(maxima) / 3),
    ):  # fmt: skip
        found = classwise_calibration_error(Y, P, n_bins=5, norm="max", aggregate=aggregate)
        assert found == pytest.approx(float(expected), abs=1e-12)
    found = maximum_calibration_error(Y, P, n_bins=5, lens="classwise")
    assert found == pytest.approx(float(max(maxima)), abs=1e-12)
    worst = classwise_calibration_error(Y, P, n_bins=5, aggregate="max")
    assert worst == pytest.approx(float(exact_error(3)), abs=1e-12)  # class 3


def test_printed_errors_are_averages_of_rounded_table_entries():
    """The paper averages its rounded gaps, so its third decimal differs from the exact one."""

    def printed(table):
        return sum(n * gap for n, _, _, gap in table) / 30

    assert round(printed(TABLE_4), 4) == 0.1873
    assert round(printed(TABLE_5), 4) == 0.147
    assert round(printed(TABLE_6), 4) == 0.2017
    assert round(printed(TABLE_7), 4) == 0.2117
    assert round((0.1873 + 0.147 + 0.2017) / 3, 4) == 0.1787
    assert max(gap for _, _, _, gap in TABLE_4) == 0.48  # binary and classwise MCE
    assert max(gap for _, _, _, gap in TABLE_7) == 0.3
    assert round((0.48 + 0.24 + 0.3) / 3, 2) == 0.34  # mean of class MCEs
    for problem, table in ((1, TABLE_4), (2, TABLE_5), (3, TABLE_6), ("confidence", TABLE_7)):
        exact = expected_calibration_error(Y, P, n_bins=5, lens=lens(problem))
        assert abs(exact - printed(table)) < 0.005


@pytest.mark.parametrize(
    ("problem", "table"), [(1, TABLE_4), (2, TABLE_5), (3, TABLE_6), ("confidence", TABLE_7)]
)
def test_bins_of_tables_4_to_7(problem, table):
    curve = reliability_curve(Y, P, n_bins=5, lens=lens(problem))
    rounding = 0.0051  # 0.725 is printed as 0.72
    for i, (n, mean, frequency, gap) in enumerate(table):
        assert curve.count[i] == n
        assert abs(curve.predicted[i] - mean) < rounding
        assert abs(curve.observed[i] - frequency) < rounding
        assert abs(abs(curve.gap[i]) - gap) < 2 * rounding
    assert len(curve) == len(table)


# Table 2: class, true posterior Q and model S of ten instances.
SECOND = [
    *[(k, (0.75, 0.25, 0.0), (0.9, 0.1, 0.0)) for k in (1, 1, 1, 2)],
    *[(k, (0.5, 0.5, 0.0), (0.6, 0.2, 0.2)) for k in (1, 2)],
    *[(k, (0.0, 0.5, 0.5), (0.6, 0.2, 0.2)) for k in (2, 2, 3, 3)],
]
SECOND_Y, SECOND_Q, SECOND_S = (list(column) for column in zip(*SECOND, strict=True))


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def kullback(s, c):
    return sum(y * math.log(y / x) for x, y in zip(s, c, strict=True) if y > 0)


def entropy(c):
    return -sum(x * math.log(x) for x in c if x > 0)


def gini(c):
    return sum(x * (1 - x) for x in c)


C = [(0.75, 0.25, 0.0)] * 4 + [(1 / 6, 3 / 6, 2 / 6)] * 6


@pytest.mark.parametrize(
    ("rule", "distance", "spread", "printed", "golden"),
    [
        ("brier", squared, gini, (0.71, 0.19, 0.52, 0.26, 0.45),
         (0.712, 0.195333, 0.516667, 0.262, 0.45, 0.066667)),
        ("log", kullback, entropy, (1.12, 0.29, 0.83, 0.48, 0.64),
         (1.117668, 0.285892, 0.831777, 0.476846, 0.640822, 0.190954)),
    ],
)  # fmt: skip
def test_table_2_decompositions(rule, distance, spread, printed, golden):
    d = decompose(SECOND_Y, SECOND_S, rule=rule, method="unique", posterior=SECOND_Q)
    calibration = sum(distance(s, c) for s, c in zip(SECOND_S, C, strict=True)) / 10
    refinement = sum(spread(c) for c in C) / 10
    epistemic = sum(distance(s, q) for s, q in zip(SECOND_S, SECOND_Q, strict=True)) / 10
    irreducible = sum(spread(q) for q in SECOND_Q) / 10
    grouping = sum(distance(c, q) for c, q in zip(C, SECOND_Q, strict=True)) / 10
    expected = (
        calibration + refinement, calibration, refinement, epistemic, irreducible, grouping,
    )  # fmt: skip
    found = (d.score, d.miscalibration, d.refinement, d.epistemic, d.irreducible, d.grouping)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found == pytest.approx(golden, abs=1e-6)
    # The paper rounds 0.195 to 0.19, hence a hundredth.
    assert found[:5] == pytest.approx(printed, abs=0.0055)
    assert d.score == pytest.approx(d.epistemic + d.irreducible, abs=1e-12)
    assert d.refinement == pytest.approx(d.grouping + d.irreducible, abs=1e-12)


def test_table_2_mean_scores():
    assert brier_score(SECOND_Y, SECOND_S) == pytest.approx(0.712, abs=1e-12)
    hits = [math.log(s[k - 1]) for s, k in zip(SECOND_S, SECOND_Y, strict=True)]
    assert log_loss(SECOND_Y, SECOND_S) == pytest.approx(-sum(hits) / 10, abs=1e-12)


# Table 1 (Hallenbeck 1920): bin centre, forecasts, rains.
HALLENBECK = [(0.95, 1, 1), (0.85, 1, 1), (0.75, 7, 6), (0.65, 15, 11), (0.55, 13, 8),
              (0.45, 15, 8), (0.35, 18, 6), (0.25, 31, 7), (0.15, 22, 4)]  # fmt: skip


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@pytest.mark.parametrize(
    ("n_bins", "excesses", "golden"),
    [
        (10, [0.05, 0.15, 0.75, 1.25, 0.85, 1.25, 0.3, 0.75, 0.7], 0.049187),
        (5, [0.05 + 0.15, 0.75 + 1.25, 0.85 + 1.25, 0.3 + 0.75, 0.7], 0.049187),
        (2, [0.05 + 0.15 + 0.75 + 1.25 + 0.85, 1.25 - 0.3 - 0.75 + 0.7], 0.032114),
    ],
)
def test_table_1_rain_forecasts(n_bins, excesses, golden):
    p = np.repeat([c for c, _, _ in HALLENBECK], [n for _, n, _ in HALLENBECK])
    y = np.concatenate([[1] * rains + [0] * (n - rains) for _, n, rains in HALLENBECK])
    assert len(p) == 123
    found = expected_calibration_error(y, p, n_bins=n_bins)
    assert found == pytest.approx(sum(excesses) / 123, abs=1e-12)
    assert found == pytest.approx(golden, abs=5e-7)
    counts = np.array([(n - rains, rains) for _, n, rains in HALLENBECK]).ravel()
    weighted = BinnedError(UniformBins(n_bins))(
        [0, 1] * 9, np.repeat([c for c, _, _ in HALLENBECK], 2), sample_weight=counts
    )
    assert weighted == pytest.approx(found, abs=1e-12)


def test_footnote_2_classwise_calibrated_but_not_confidence_calibrated():
    groups = [((0.3, 0.3, 0.4), (4, 2, 4)), ((0.4, 0.3, 0.3), (3, 4, 3)),
              ((0.4, 0.6, 0.0), (5, 5, 0)), ((0.3, 0.6, 0.1), (2, 7, 1))]  # fmt: skip
    p = np.repeat([row for row, _ in groups], 10, axis=0)
    y = np.concatenate([np.repeat([0, 1, 2], counts) for _, counts in groups])
    assert classwise_calibration_error(y, p, n_bins=10) == pytest.approx(0, abs=1e-12)
    found = expected_calibration_error(y, p, n_bins=10, lens="confidence")
    assert found == pytest.approx(0.5 * abs(12 / 20 - 0.6) + 0.5 * abs(7 / 20 - 0.4), abs=1e-12)
    assert found == pytest.approx(0.025, abs=1e-12)
