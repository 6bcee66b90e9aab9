"""Scoring rules: closed forms, entropies, divergences, propriety."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest

from veridical import (
    BrierScore,
    InvalidInputError,
    LogScore,
    SphericalScore,
    ZeroOneLoss,
    brier_score,
    log_loss,
    spherical_score,
    zero_one_loss,
)
from veridical.scores import RULES, get_rule

FUNCTIONS = {
    "brier": brier_score,
    "log": log_loss,
    "spherical": spherical_score,
    "zero-one": zero_one_loss,
}
OBJECTS = {
    "brier": BrierScore,
    "log": LogScore,
    "spherical": SphericalScore,
    "zero-one": ZeroOneLoss,
}


def scale(rule):
    return 0.5 if rule == "brier" else 1.0


def vectors(n=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), n)
    p[:k] = np.eye(k)  # certainty
    p[k] = 1 / k  # a tie of all
    p[k + 1] = [0.5, 0.5, *[0.0] * (k - 2)]
    return p


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", oracles.KINDS)
def test_binary_scores_are_those_of_a_loop_over_rows(rule, kind):
    y, p, w = oracles.random_rows(kind)
    weight = oracles.ones(w, len(y))
    rows = zip(p.tolist(), y, strict=True)
    each = [scale(rule) * oracles.score(rule, (1 - v, v), k) for v, k in rows]
    expected = sum(a * b for a, b in zip(weight, each, strict=True)) / sum(weight)
    found = FUNCTIONS[rule](y, p, sample_weight=w)
    assert found == pytest.approx(expected, rel=1e-6 if p.dtype == np.float32 else 1e-12)
    assert isinstance(found, float)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_vector_scores_are_those_of_a_loop_over_rows(rule, dtype):
    p = vectors().astype(dtype)
    rng = np.random.default_rng(1)
    y = np.where(np.arange(len(p)) < 3, np.arange(len(p)) % 3, 0)
    y[5:] = rng.integers(0, 3, len(p) - 5)
    w = rng.gamma(0.7, size=len(p))
    each = [oracles.score(rule, row, k) for row, k in zip(p.tolist(), y, strict=True)]
    expected = sum(a * b for a, b in zip(w, each, strict=True)) / sum(w)
    assert FUNCTIONS[rule](y, p, sample_weight=w) == pytest.approx(expected, rel=1e-6)
    assert OBJECTS[rule]()(y, p, sample_weight=w, lens="canonical") == pytest.approx(expected)


@pytest.mark.parametrize("rule", RULES)
def test_two_columns_score_like_one(rule):
    y, p, _ = oracles.random_rows("plain")
    pair = np.column_stack([1 - p, p])
    assert FUNCTIONS[rule](y, pair) == pytest.approx(FUNCTIONS[rule](y, p), rel=1e-12)


@pytest.mark.parametrize(
    ("rule", "entropy"),
    [
        ("brier", lambda q: q * (1 - q)),
        ("log", lambda q: -q * math.log(q) - (1 - q) * math.log(1 - q)),
        ("spherical", lambda q: 1 - math.hypot(q, 1 - q)),
        ("zero-one", lambda q: min(q, 1 - q)),
    ],
)
def test_binary_entropies_have_their_closed_forms(rule, entropy):
    q = [0.01, 0.25, 0.5, 0.75, 0.9]
    np.testing.assert_allclose(get_rule(rule, caller="t").entropy(q), [entropy(v) for v in q])
    np.testing.assert_allclose(get_rule(rule, caller="t").entropy([0.0, 1.0]), 0, atol=1e-15)


@pytest.mark.parametrize(
    ("rule", "divergence"),
    [
        ("brier", lambda p, q: (p - q) ** 2),
        ("log", lambda p, q: q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))),
        ("zero-one", lambda p, q: abs(2 * q - 1) if (p > 0.5) != (q > 0.5) else 0.0),
        (
            "spherical",
            lambda p, q: math.hypot(q, 1 - q) - (p * q + (1 - p) * (1 - q)) / math.hypot(p, 1 - p),
        ),
    ],
)
def test_binary_divergences_have_their_closed_forms(rule, divergence):
    p, q = [0.1, 0.4, 0.6, 0.9, 0.3], [0.2, 0.7, 0.55, 0.05, 0.3]
    expected = [divergence(a, b) for a, b in zip(p, q, strict=True)]
    found = get_rule(rule, caller="t").divergence(p, q)
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("rule", RULES)
def test_binary_divergence_is_expected_score_minus_entropy(rule):
    grid = np.linspace(0, 1, 21)
    p, q = (axis.ravel() for axis in np.meshgrid(grid, grid))
    scoring = get_rule(rule, caller="t")
    expected = [
        scale(rule)
        * (
            oracles.expected_score(rule, (1 - a, a), (1 - b, b))
            - oracles.expected_score(rule, (1 - b, b), (1 - b, b))
        )
        for a, b in zip(p.tolist(), q.tolist(), strict=True)
    ]
    np.testing.assert_allclose(scoring.divergence(p, q), expected, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", [3, 6])
def test_vector_divergence_is_expected_score_minus_entropy(rule, k):
    p, q = vectors(k=k), vectors(k=k, seed=1)[::-1]
    scoring = get_rule(rule, caller="t")
    entropy = [oracles.expected_score(rule, b, b) for b in q.tolist()]
    np.testing.assert_allclose(scoring.entropy(q), entropy, atol=1e-12)
    expected = [
        oracles.expected_score(rule, a, b) - h
        for a, b, h in zip(p.tolist(), q.tolist(), entropy, strict=True)
    ]
    np.testing.assert_allclose(scoring.divergence(p, q), expected, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_no_prediction_beats_the_truth_on_average(rule):
    grid = np.linspace(0, 1, 101)
    scoring = get_rule(rule, caller="t")
    for truth in (0.0, 0.13, 0.5, 0.72, 1.0):
        loss = scoring.divergence(grid, np.full(101, truth))
        assert (loss >= -1e-12).all()
        best = grid[loss <= 1e-12]
        assert np.isclose(best, truth).any()
        if rule != "zero-one":  # which is proper, but not strictly
            assert len(best) == 1


def test_log_divergence_is_infinite_where_the_impossible_may_happen():
    rule = get_rule("log", caller="t")
    assert rule.divergence([0.0, 1.0, 0.0], [0.5, 0.5, 0.0]).tolist() == [math.inf, math.inf, 0.0]


def test_log_divergence_of_the_smallest_numbers_is_finite():
    rule = get_rule("log", caller="t")
    p = 1e-310
    expected = 0.5 * (math.log(0.5) - math.log(p)) + 0.5 * math.log(0.5)
    assert rule.divergence([p], [0.5])[0] == pytest.approx(expected)


def test_an_unclipped_log_loss_is_infinite_only_when_the_impossible_happened():
    assert log_loss([1, 0], [0.0, 0.5]) == math.inf
    assert log_loss([0, 1], [0.0, 1.0]) == 0.0
    assert str(log_loss([0, 1], [0.0, 1.0])) == "0.0"  # and not -0.0
    assert log_loss([2, 0], [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]) == math.inf


def test_ranges_of_the_brier_score():
    assert brier_score([1, 0], [0.0, 1.0]) == 1.0
    assert brier_score([0, 1, 2], np.roll(np.eye(3), 1, axis=1)) == 2.0
    assert brier_score([0, 1, 2], np.eye(3)) == 0.0


def test_accuracy_gives_ties_to_the_first_column():
    assert zero_one_loss([0, 1], [0.5, 0.5]) == 0.5
    assert zero_one_loss([0, 1, 2], [[1 / 3] * 3] * 3) == pytest.approx(2 / 3)


@pytest.mark.parametrize("rule", RULES)
def test_objects_are_values_with_a_name_and_a_definition(rule):
    scored = OBJECTS[rule]()
    assert scored == OBJECTS[rule]()
    assert len({scored, OBJECTS[rule]()}) == 1
    assert scored.name == rule
    assert rule in scored.definition
    assert repr(scored) == f"{OBJECTS[rule].__name__}()"


def test_a_score_over_the_classwise_lens_is_the_mean_over_classes():
    rng = np.random.default_rng(3)
    p, y = vectors(), rng.integers(0, 3, 40)
    expected = np.mean([brier_score((y == k).astype(int), p[:, k]) for k in range(3)])
    assert BrierScore()(y, p, lens="classwise") == pytest.approx(expected)
    assert brier_score(y, p) == pytest.approx(3 * expected)


def test_unknown_rule_is_answered_with_the_nearest():
    with pytest.raises(InvalidInputError, match="did you mean 'spherical'"):
        get_rule("sphere", caller="t")


def test_a_perfect_prediction_scores_zero_under_every_rule():
    for function in FUNCTIONS.values():
        assert function([0, 1, 1], [0.0, 1.0, 1.0]) == 0.0
