"""The Hosmer-Lemeshow test against the survey's example, calzone, oracles and enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

from veridical import InvalidInputError, VeridicalWarning
from veridical._core.sample import BinarySample
from veridical.inference._draws.groups import chi_square
from veridical.inference._goodness.hosmer_lemeshow import PercentileBins, hosmer_lemeshow_test

# Silva Filho et al. (2023), doi 10.1007/s10994-023-06336-7, Table 3: probabilities in tenths of
# classes 1, 2, 3 (T for one third) and the class that occurred.
T = 10 / 3
TABLE_3 = np.array([
    (10, 0, 0, 1), (9, 1, 0, 1), (8, 1, 1, 1), (7, 1, 2, 1), (6, 3, 1, 1), (4, 1, 5, 1),
    (T, T, T, 1), (T, T, T, 1), (2, 4, 4, 1), (1, 5, 4, 1), (8, 2, 0, 2), (7, 0, 3, 2),
    (5, 2, 3, 2), (4, 4, 2, 2), (4, 2, 4, 2), (3, 4, 3, 2), (2, 3, 5, 2), (1, 6, 3, 2),
    (1, 3, 6, 2), (0, 2, 8, 2), (8, 2, 0, 3), (8, 1, 1, 3), (8, 0, 2, 3), (6, 0, 4, 3),
    (3, 0, 7, 3), (2, 6, 2, 3), (2, 4, 4, 3), (0, 4, 6, 3), (0, 3, 7, 3), (0, 3, 7, 3),
])  # fmt: skip
# Table 8: observed and expected counts of the three classes in five bins, as printed.
OBSERVED = np.array([(3, 1, 3), (2, 2, 1), (3, 3, 1), (2, 3, 2), (0, 1, 3)], dtype=float)
EXPECTED = np.array(
    [(5.9, 0.7, 0.4), (3.1, 0.6, 1.3), (2.47, 1.77, 2.77), (1.1, 3.1, 2.8), (0, 1.2, 2.8)]
)

INDEX = np.arange(60)
P = np.round((INDEX + 0.5) / 60, 4)
Y = ((INDEX * 7 + 3) % 60 < 48 * P + 6).astype(int)


def binary(n, seed, shape=(1, 1)):
    rng = np.random.default_rng(seed)
    p = rng.beta(*shape, n)
    return (rng.random(n) < p).astype(int), p


def vectors(n, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), n)
    return (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1), p


def naive(y, p, n_bins, reference=0):
    """Sum of (O - E)^2 / E over bins between interpolated quantiles, one cell after another."""
    score = 1 - p[:, reference]
    edges = np.quantile(score, np.arange(1, n_bins) / n_bins)
    bins = np.array([sum(s > edge for edge in edges) for s in score])
    total = 0.0
    for m in range(n_bins):
        for k in range(p.shape[1]):
            expected = p[bins == m, k].sum()
            if expected > 0:
                total += (np.sum(y[bins == m] == k) - expected) ** 2 / expected
    return total


def test_printed_table_8_gives_the_printed_statistic():
    assert chi_square(OBSERVED, EXPECTED) == pytest.approx(25.295, abs=5e-4)


def exact_table_8():
    """Equation 21 in fractions, with the bins of 1 - p_1 that Table 8 prints."""
    observed, expected = np.zeros((5, 3), int), np.full((5, 3), F(0))
    for row in TABLE_3:
        tenths = [F(10, 3) if s == T else F(int(s)) for s in row[:3]]
        m = sum(10 - tenths[0] > edge for edge in (2, F(56, 10), 7, 9))
        observed[m, int(row[3]) - 1] += 1
        expected[m] += np.array(tenths) / 10
    assert observed.tolist() == OBSERVED.tolist()
    np.testing.assert_allclose(expected.astype(float), EXPECTED, atol=0.005)
    cells = zip(observed.ravel(), expected.ravel(), strict=True)
    return float(sum((int(o) - e) ** 2 / e for o, e in cells if e))


def test_table_3_gives_the_printed_test():
    """C = 25.3 and p = 0.0003; a chi-square tail with 6 degrees of freedom is a Poisson sum."""
    p, y = TABLE_3[:, :3] / 10, TABLE_3[:, 3].astype(int)
    half = exact_table_8() / 2
    tail = math.exp(-half) * (1 + half + half**2 / 2)
    with pytest.warns(VeridicalWarning, match="smallest expected count is 0.4"):
        test = hosmer_lemeshow_test(y, p, n_bins=5, fitted=True)
    assert test.statistic == pytest.approx(25.30043, abs=5e-6)
    assert test.statistic == pytest.approx(2 * half, rel=1e-12)
    assert test.df == 6
    assert test.pvalue == pytest.approx(0.00030037, abs=5e-9)
    assert test.pvalue == pytest.approx(tail, rel=1e-10)
    assert (test.lens, test.n_samples, test.n_resamples) == ("canonical", 30, None)


def test_table_3_as_predictions_from_elsewhere():
    """Nothing is fitted: ten degrees of freedom, less one for class 1 in the last bin."""
    p, y = TABLE_3[:, :3] / 10, TABLE_3[:, 3].astype(int)
    test = hosmer_lemeshow_test(y, p, n_bins=5, rng=0)
    assert test.statistic == pytest.approx(25.30043, abs=5e-6)
    assert (test.df, test.n_resamples) == (9, 1000)


def test_binary_agrees_with_calzone():
    """calzone-tool 0.1.0 `hosmer_lemeshow_test` of five bins of twelve rows, df 5 and M - 2."""
    with pytest.warns(VeridicalWarning, match="expected count is 1.2"):
        outside = hosmer_lemeshow_test(Y, P, n_bins=5, null="asymptotic")
    with pytest.warns(VeridicalWarning, match="expected count is 1.2"):
        fitted = hosmer_lemeshow_test(Y, P, n_bins=5, fitted=True)
    assert outside.statistic == pytest.approx(6.285714285714279, rel=1e-12)
    assert outside.pvalue == pytest.approx(0.2794019415494914, rel=1e-10)
    assert fitted.pvalue == pytest.approx(0.0985074897207151, rel=1e-10)
    assert (outside.df, fitted.df, outside.lens) == (5, 3, "binary")


@pytest.mark.parametrize("n_bins", [2, 7, 10])
@pytest.mark.parametrize("n", [97, 250])
def test_statistics_agree_with_the_naive_sums(n, n_bins):
    y, p = binary(n, 1)
    found = hosmer_lemeshow_test(y, p, n_bins=n_bins, rng=0, n_resamples=9)
    expected = naive(y, np.column_stack([1 - p, p]), n_bins)
    assert found.statistic == pytest.approx(expected, rel=1e-10)
    y, p = vectors(n, 2)
    for reference in (0, 2):
        options = {"n_bins": n_bins, "reference": reference, "labels": [0, 1, 2]}
        found = hosmer_lemeshow_test(y, p, rng=0, n_resamples=9, **options)
        assert found.statistic == pytest.approx(naive(y, p, n_bins, reference), rel=1e-10)


def test_bins_are_those_of_interpolated_quantiles_with_ties():
    rng = np.random.default_rng(3)
    for _ in range(200):
        p = rng.integers(0, 17, rng.integers(5, 40)) / 16  # sixteenths: quantiles without rounding
        n_bins = 2 ** int(rng.integers(1, 4))
        edges = np.quantile(p, np.arange(1, n_bins) / n_bins)
        expected = np.unique(np.searchsorted(edges, p), return_inverse=True)[1]
        sample = BinarySample(y=np.zeros(len(p), int), p=p)
        assert PercentileBins(n_bins).fit(sample).assign(p).tolist() == expected.tolist()


@pytest.mark.parametrize("weight_type", ["frequency", "importance"])
def test_bins_of_weights_are_those_of_repeated_rows(weight_type):
    rng = np.random.default_rng(4)
    p = rng.integers(0, 30, 50) / 30
    w = rng.integers(1, 5, 50) if weight_type == "frequency" else np.full(50, 0.1)
    times = w if weight_type == "frequency" else np.ones(50, int)
    repeated = np.repeat(p, times)
    plain = PercentileBins(7).fit(BinarySample(y=np.zeros(len(repeated), int), p=repeated))
    sample = BinarySample(y=np.zeros(50, int), p=p, weight=w.astype(float), weight_type=weight_type)
    assert PercentileBins(7).fit(sample) == plain


def exact_pvalue(y, p, n_bins):
    outcomes = itertools.product(range(p.shape[1]), repeat=len(y))
    observed = naive(y, p, n_bins) * (1 - 1e-9)
    return sum(
        math.prod(p[i, k] for i, k in enumerate(outcome))
        for outcome in outcomes
        if naive(np.array(outcome), p, n_bins) >= observed
    )


@pytest.mark.parametrize(
    ("y", "n_classes"), [([0, 1, 1, 1, 0, 1, 1, 1], 2), ([0, 0, 1, 1, 0, 0], 3)]
)
def test_monte_carlo_agrees_with_enumeration(y, n_classes):
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(n_classes), len(y))
    exact = exact_pvalue(np.array(y), p, 2)
    test = hosmer_lemeshow_test(y, p, n_bins=2, labels=range(n_classes), rng=6, n_resamples=9999)
    assert test.n_resamples == 9999
    assert 0.01 < exact < 0.99
    assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weighted_monte_carlo_agrees_with_brute_force(n_classes):
    """Null statistics from the test's own statistic on outcomes drawn in the test."""
    rng = np.random.default_rng(25)
    p = rng.dirichlet(np.ones(n_classes), 60)
    w = rng.integers(1, 4, 60) / 2
    options = {"sample_weight": w, "labels": range(n_classes), "n_bins": 4}

    def draw():
        return (rng.random(60)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)

    y = draw()
    test = hosmer_lemeshow_test(y, p, rng=8, n_resamples=4000, **options)
    brute = [
        hosmer_lemeshow_test(draw(), p, rng=0, n_resamples=1, **options).statistic
        for _ in range(500)
    ]
    share = np.mean(np.array(brute) >= test.statistic)
    assert 0.02 < share < 0.98
    assert abs(test.pvalue - share) < 4.5 * math.sqrt(share * (1 - share) * (1 / 500 + 1 / 4000))


@pytest.mark.parametrize("null", ["asymptotic", "monte-carlo"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore:hosmer_lemeshow_test. the smallest")
def test_frequencies_are_repetition(n_classes, null):
    y, p = vectors(150, 9, n_classes)
    w = np.random.default_rng(10).integers(0, 4, 150)
    repeated = np.repeat(np.arange(150), w)
    options = {"labels": range(n_classes), "null": null, "rng": 11, "n_bins": 5}
    plain = hosmer_lemeshow_test(y[repeated], p[repeated], **options)
    weighted = hosmer_lemeshow_test(y, p, sample_weight=w, weight_type="frequency", **options)
    assert weighted.statistic == pytest.approx(plain.statistic, rel=1e-10)
    assert weighted.pvalue == pytest.approx(plain.pvalue, rel=1e-8)


def test_frequencies_too_many_to_write_out_are_drawn_as_binomials(monkeypatch):
    y, p = binary(40, 12)
    w = np.arange(40) % 3 + 1
    options = {"sample_weight": w, "weight_type": "frequency", "n_bins": 4}
    written = hosmer_lemeshow_test(y, p, rng=13, n_resamples=9999, **options)
    monkeypatch.setattr("veridical._core.resampling.rows.MOST_REPEATED", 10)
    drawn = hosmer_lemeshow_test(y, p, rng=14, n_resamples=9999, **options)
    assert drawn.statistic == written.statistic
    error = math.sqrt(2 * written.pvalue * (1 - written.pvalue) / 9999)
    assert 0 < abs(drawn.pvalue - written.pvalue) < 4.5 * error


@pytest.mark.parametrize("n_classes", [2, 3])
def test_importance_is_scale_free(n_classes):
    y, p = vectors(100, 15, n_classes)
    w = np.random.default_rng(16).random(100)
    options = {"labels": range(n_classes), "rng": 17, "n_bins": 5}
    first = hosmer_lemeshow_test(y, p, sample_weight=w, **options)
    scaled = hosmer_lemeshow_test(y, p, sample_weight=1024 * w, **options)
    assert (scaled.statistic, scaled.pvalue) == (first.statistic, first.pvalue)
    plain = hosmer_lemeshow_test(y, p, **options)
    assert hosmer_lemeshow_test(y, p, sample_weight=np.full(100, 7.0), **options) == plain
    assert first.statistic != plain.statistic


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weighted_rows_stay_in_their_bins_when_drawn(dtype):
    """A float32 score on an edge must not change sides when predictions become float64."""
    p = np.repeat(np.array([0.1, 0.3, 0.7, 0.9], dtype=dtype), 10)
    y = np.tile([0, 1, 0, 0, 1], 8)
    w = 1 + np.arange(40) % 2
    test = hosmer_lemeshow_test(y, p, sample_weight=w, n_bins=4, rng=0)
    size = 15**2 / 25
    parts = [
        size * (np.average(y[s], weights=w[s]) - q) ** 2 / (q * (1 - q))
        for q, s in ((p[i], slice(i, i + 10)) for i in range(0, 40, 10))
    ]
    assert test.statistic == pytest.approx(sum(parts), rel=1e-5)
    assert test.pvalue < 0.01  # 0.4 observed where 0.1 and 0.9 were expected


def test_order_of_rows_does_not_matter():
    y, p = vectors(80, 18)
    w = np.random.default_rng(19).random(80)
    order = np.random.default_rng(20).permutation(80)
    first = hosmer_lemeshow_test(y, p, sample_weight=w, n_bins=4, rng=1)
    other = hosmer_lemeshow_test(y[order], p[order], sample_weight=w[order], n_bins=4, rng=1)
    assert other.pvalue == first.pvalue
    assert other.statistic == pytest.approx(first.statistic, rel=1e-10)


def test_auto_draws_where_expected_counts_are_small():
    y, p = binary(1000, 21)  # about 5 in the first and last of ten bins
    assert hosmer_lemeshow_test(y, p, rng=0).n_resamples == 1000
    y, p = binary(10_000, 22)
    assert hosmer_lemeshow_test(y, p).null == "chi-square, df=10"


def test_ties_make_fewer_bins_and_say_so():
    y, p = np.tile([0, 1], 60), np.repeat([0.2, 0.5, 0.8], 40)
    with pytest.warns(VeridicalWarning, match="10 percentile bins asked for, 3 made: equal"):
        test = hosmer_lemeshow_test(y, p, rng=0)
    assert test.df == 3
    assert test.statistic == pytest.approx(2 * (20 - 8) ** 2 / (40 * 0.16), rel=1e-12)


def test_the_impossible_happened():
    with pytest.warns(VeridicalWarning, match="probability zero"):
        test = hosmer_lemeshow_test([0, 1, 0, 1], [0.0, 0.0, 0.5, 0.5], n_bins=2)
    assert (test.statistic, test.pvalue) == (math.inf, 0.0)


def test_a_lens_makes_it_binary():
    y, p = vectors(200, 23)
    found = hosmer_lemeshow_test(y, p, lens="confidence", n_bins=4, rng=0)
    right, top = (p.argmax(axis=1) == y).astype(int), p.max(axis=1)
    expected = hosmer_lemeshow_test(right, top, n_bins=4, rng=0)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert found.lens == "confidence"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 1}, "at least 2"),
        ({"n_bins": 2, "fitted": True}, "at least 3 if fitted=True"),
        ({"n_bins": "sqrt"}, "at least 2"),
        ({"n_bins": True}, "at least 2"),
        ({"fitted": True, "null": "monte-carlo"}, "has not seen"),
        ({"fitted": "yes"}, "True or False"),
        ({"reference": 0}, "unset for two classes"),
        ({"null": "exact"}, "asymptotic"),
        ({"n_resamples": 2.5}, "n_resamples"),
        ({"rng": "seed"}, "rng"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InvalidInputError, match=message):
        hosmer_lemeshow_test(Y, P, **options)


def test_refusals_of_data():
    with pytest.raises(InvalidInputError, match="2 groups; got 1"):
        hosmer_lemeshow_test([0, 1, 1], [0.5, 0.5, 0.5])
    with pytest.raises(InvalidInputError, match="3 groups; got 2"):
        hosmer_lemeshow_test([0, 1, 1], [0.5, 0.5, 0.6], fitted=True)
    y, p = vectors(30, 24)
    with pytest.raises(InvalidInputError, match="reference"):
        hosmer_lemeshow_test(y, p, reference="a")
    with pytest.raises(InvalidInputError, match="ClassSpecific"):
        hosmer_lemeshow_test(y, p, lens="classwise")
