"""Spiegelhalter's test against other packages, enumeration and closed forms."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from veridical import InvalidInputError, VeridicalWarning, brier_score
from veridical.inference._goodness.spiegelhalter import spiegelhalter_test

INDEX = np.arange(60)
P = np.round((INDEX + 0.5) / 60, 4)
Y = ((INDEX * 7 + 3) % 60 < 48 * P + 6).astype(int)


def vectors(n, seed, n_classes=3):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.8), n)
    return (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1), p


def naive_z(y, p):
    """Brier score of each row against mean and variance over its K possible outcomes."""
    excess = variance = 0.0
    for outcome, row in zip(y, p, strict=True):
        scores = [sum((row[j] - (j == k)) ** 2 for j in range(len(row))) for k in range(len(row))]
        mean = np.dot(row, scores)
        excess += scores[outcome] - mean
        variance += np.dot(row, (np.array(scores) - mean) ** 2)
    return excess / math.sqrt(variance)


def test_agrees_with_calzone_and_mapie():
    """calzone-tool 0.1.0 `spiegelhalter_z_test` and MAPIE 1.6.0 `spiegelhalter_statistic`."""
    with pytest.warns(VeridicalWarning, match="move z by 0.7"):  # sqrt(30 / 60)
        test = spiegelhalter_test(Y, P, null="asymptotic")
    assert test.statistic == pytest.approx(1.741804598348539, rel=1e-12)
    assert test.pvalue == pytest.approx(0.08154264181207327, rel=1e-12)
    assert (test.df, test.lens, test.n_samples) == (None, "binary", 60)


def test_agrees_with_the_recorded_rows_of_calzone():
    path = Path(__file__).parents[1] / "reference" / "calzone.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    [case] = [c for c in content["cases"] if c["quantity"] == "spiegelhalter_test"]
    data = content["inputs"][case["input"]]
    test = spiegelhalter_test(data["y_true"], data["y_prob"], null="asymptotic")
    assert test.statistic == pytest.approx(case["output"]["statistic"], abs=1e-12)
    assert test.pvalue == pytest.approx(case["output"]["pvalue"], abs=1e-12)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_vectors_agree_with_the_naive_sums(n_classes):
    y, p = vectors(80, 1, n_classes)
    test = spiegelhalter_test(y, p, labels=range(n_classes), rng=0)
    assert test.statistic == pytest.approx(naive_z(y, p), rel=1e-10)
    assert test.lens == "canonical"


def test_the_sign_is_that_of_the_excess_of_the_brier_score():
    y = np.tile([1, 1, 1, 0], 500)
    for p, sign in ((0.95, 1), (0.6, -1)):
        test = spiegelhalter_test(y, np.full(2000, p))
        expected = p * (1 - p)
        assert np.sign(brier_score(y, np.full(2000, p)) - expected) == sign
        assert np.sign(test.statistic) == sign


@pytest.mark.parametrize("n_classes", [2, 3])
def test_monte_carlo_agrees_with_enumeration(n_classes):
    rng = np.random.default_rng(2)
    p = np.repeat(rng.dirichlet(np.ones(n_classes), 4), [1, 1, 2, 3], axis=0)
    y = np.array([0, 1, 0, 1, 0, 0, 1])
    observed = abs(naive_z(y, p))
    exact = sum(
        math.prod(p[i, k] for i, k in enumerate(outcome))
        for outcome in itertools.product(range(n_classes), repeat=7)
        if abs(naive_z(outcome, p)) >= observed * (1 - 1e-9)
    )
    test = spiegelhalter_test(y, p, labels=range(n_classes), rng=3, n_resamples=9999)
    assert test.n_resamples == 9999
    assert 0.01 < exact < 0.99
    assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)


def test_weighted_monte_carlo_agrees_with_enumeration():
    p, y = np.array([0.1, 0.25, 0.7, 0.7, 0.9]), np.array([1, 0, 1, 0, 1])
    w = np.array([1.0, 2.0, 0.5, 0.25, 1.5])

    def z(outcome):
        top = (w * (outcome - p) * (1 - 2 * p)).sum()
        return top / math.sqrt((w**2 * (1 - 2 * p) ** 2 * p * (1 - p)).sum())

    exact = sum(
        np.where(outcome, p, 1 - p).prod()
        for outcome in map(np.array, itertools.product([0, 1], repeat=5))
        if abs(z(outcome)) >= abs(z(y)) * (1 - 1e-9)
    )
    test = spiegelhalter_test(y, p, sample_weight=w, rng=4, n_resamples=9999)
    assert test.statistic == pytest.approx(z(y), rel=1e-12)
    assert abs(test.pvalue - exact) < 4.5 * math.sqrt(exact * (1 - exact) / 9999)
    scaled = spiegelhalter_test(y, p, sample_weight=4 * w, rng=4, n_resamples=9999)
    assert (scaled.statistic, scaled.pvalue) == (test.statistic, test.pvalue)


@pytest.mark.parametrize("null", ["asymptotic", "monte-carlo"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_frequencies_are_repetition(n_classes, null):
    y, p = vectors(200, 5, n_classes)
    w = np.random.default_rng(6).integers(0, 4, 200)
    repeated = np.repeat(np.arange(200), w)
    options = {"labels": range(n_classes), "null": null, "rng": 7}
    plain = spiegelhalter_test(y[repeated], p[repeated], **options)
    weighted = spiegelhalter_test(y, p, sample_weight=w, weight_type="frequency", **options)
    assert weighted.statistic == pytest.approx(plain.statistic, rel=1e-10)
    assert weighted.pvalue == pytest.approx(plain.pvalue, rel=1e-8)


def test_auto_draws_until_no_outcome_matters():
    """At p = 0.2 the step is 0.6 / sqrt(n 0.36 0.16) = 1 / sqrt(0.16 n), 0.1 at n = 625."""
    for n, drawn in ((620, 1000), (630, None)):
        assert spiegelhalter_test([0, 1] * (n // 2), [0.2] * n, rng=0).n_resamples == drawn


def test_the_normal_distribution_of_few_rows_is_doubted():
    with pytest.warns(VeridicalWarning, match="move z by"):
        spiegelhalter_test([0, 1, 1], [0.2, 0.3, 0.6], null="asymptotic")


def test_blocks_do_not_matter(monkeypatch):
    y, p = vectors(3000, 8)
    whole = spiegelhalter_test(y, p, rng=9, n_resamples=2000)
    monkeypatch.setattr("veridical.inference._goodness.spiegelhalter.ROWS", 300)
    monkeypatch.setattr("veridical.inference._draws.groups._BLOCK_DRAWS", 2000 * 111)
    blocked = spiegelhalter_test(y, p, rng=10, null="monte-carlo", n_resamples=2000)
    assert blocked.statistic == pytest.approx(whole.statistic, rel=1e-10)
    error = math.sqrt(blocked.pvalue * (1 - blocked.pvalue) / 1000)
    assert abs(whole.pvalue - blocked.pvalue) < 4.5 * error


def test_order_of_rows_does_not_matter():
    y, p = vectors(100, 11)
    w = np.random.default_rng(12).random(100)
    order = np.random.default_rng(13).permutation(100)
    first = spiegelhalter_test(y, p, sample_weight=w, rng=1)
    other = spiegelhalter_test(y[order], p[order], sample_weight=w[order], rng=1)
    assert other.pvalue == first.pvalue
    assert other.statistic == pytest.approx(first.statistic, rel=1e-10)


@pytest.mark.parametrize("null", ["auto", "asymptotic", "monte-carlo"])
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 1, 1], [0.0, 0.5, 1.0]),
        ([0, 1, 0], [0.5, 0.5, 0.5]),
        ([0, 1, 2], [[1 / 3] * 3] * 3),
        ([0, 1, 2], np.full((3, 3), 1 / 3, dtype=np.float32)),
        ([0, 2, 1], [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [1 / 3, 1 / 3, 1 / 3]]),
    ],
    ids=["certain", "even", "thirds", "float32 thirds", "even among some"],
)
def test_without_variance_there_is_nothing_to_test(y, p, null):
    with pytest.warns(VeridicalWarning, match="nothing to test"):
        test = spiegelhalter_test(y, p, null=null)
    assert (test.statistic, test.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("y", "p"),
    [([1, 1, 0], [0.0, 0.5, 0.5]), ([1, 0, 2], [[1.0, 0.0, 0.0], [1 / 3] * 3, [0.5, 0, 0.5]])],
)
def test_without_variance_a_contradiction_is_infinite(y, p):
    with pytest.warns(VeridicalWarning, match="probability zero"):
        test = spiegelhalter_test(y, p)
    assert (test.statistic, test.pvalue) == (math.inf, 0.0)


def test_a_lens_makes_it_binary():
    y, p = vectors(100, 14)
    found = spiegelhalter_test(y, p, lens="confidence", rng=0)
    expected = spiegelhalter_test((p.argmax(axis=1) == y).astype(int), p.max(axis=1), rng=0)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)


def test_fractional_frequencies_are_said_to_be_drawn_as_rows():
    with pytest.warns(VeridicalWarning, match="not whole numbers"):
        spiegelhalter_test(Y, P, sample_weight=P + 1, weight_type="frequency", rng=0)


def test_refusals():
    y, p = vectors(10, 15)
    with pytest.raises(InvalidInputError, match="ClassSpecific"):
        spiegelhalter_test(y, p, lens="classwise", labels=[0, 1, 2])
    with pytest.raises(InvalidInputError, match="asymptotic"):
        spiegelhalter_test(Y, P, null="asymptotics")
