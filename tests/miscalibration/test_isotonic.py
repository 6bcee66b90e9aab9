"""Isotonic miscalibration against the min-max formula of the fit, and against decompose."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest

from veridical import ClassSpecific, InvalidInputError, decompose
from veridical.miscalibration._errors.ordered import IsotonicError

RULES = ["brier", "log", "spherical", "zero-one"]


def mean_score(rule, y, p, w=None):
    scale = 0.5 if rule == "brier" else 1.0  # one event counts once, two classes twice
    w = oracles.ones(w, len(y))
    rows = zip(map(float, p), y, strict=True)
    each = [scale * oracles.score(rule, (1 - q, q), k) for q, k in rows]
    return sum(wi * s for wi, s in zip(w, each, strict=True)) / sum(w)


@pytest.mark.parametrize("kind", [kind for kind in oracles.KINDS if "single" not in kind])
@pytest.mark.parametrize("rule", RULES)
def test_error_is_the_score_minus_that_of_the_min_max_fit(kind, rule):
    y, p, w = oracles.random_rows(kind, n=50)
    if rule == "log":
        p = 0.05 + 0.9 * p
    expected = mean_score(rule, y, p, w) - mean_score(rule, y, oracles.isotonic(y, p, w), w)
    found = IsotonicError(rule)(y, p, sample_weight=w)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_error_is_the_miscalibration_of_decompose(rule, weighted, binary, multiclass):
    w = binary.w if weighted else None
    parts = decompose(binary.y, binary.p, rule=rule, method="isotonic", sample_weight=w)
    assert IsotonicError(rule)(binary.y, binary.p, sample_weight=w) == parts.miscalibration
    w = multiclass.w if weighted else None
    for lens in ("confidence", "classwise", ClassSpecific(1)):
        options = {"lens": lens, "sample_weight": w}
        parts = decompose(multiclass.y, multiclass.p, rule=rule, method="isotonic", **options)
        found = IsotonicError(rule)(multiclass.y, multiclass.p, **options)
        assert found == pytest.approx(parts.miscalibration, abs=1e-15)


@pytest.mark.parametrize("positive", [0, 1, 7, 10])
@pytest.mark.parametrize("p", [0.0, 0.2, 1.0])
def test_one_score_has_its_squared_gap(p, positive):
    y = [1] * positive + [0] * (10 - positive)
    assert IsotonicError()(y, [p] * 10) == pytest.approx((p - positive / 10) ** 2, abs=1e-15)


@pytest.mark.parametrize("kind", ["plain", "tied", "weighted"])
def test_the_fit_itself_has_no_error(kind):
    y, p, w = oracles.random_rows(kind)
    fit = oracles.isotonic(y, p, w)
    for rule in RULES:
        assert IsotonicError(rule)(y, fit, sample_weight=w) == pytest.approx(0, abs=1e-12)


def test_error_is_at_least_the_squared_distance_to_the_fit_and_at_most_the_score():
    for seed in range(20):
        y, p, _ = oracles.random_rows("plain", seed=seed)
        distance = np.mean((p - oracles.isotonic(y, p)) ** 2)
        assert distance - 1e-12 <= IsotonicError()(y, p) <= np.mean((p - y) ** 2)


def test_with_one_class_the_whole_score_is_error():
    p = np.array([0.1, 0.4, 0.4, 0.9])
    assert IsotonicError()([1, 1, 1, 1], p) == pytest.approx(np.mean((1 - p) ** 2))
    assert IsotonicError()([0, 0, 0, 0], p) == pytest.approx(np.mean(p**2))


def test_an_outcome_of_probability_zero_has_infinite_log_error():
    assert IsotonicError("log")([1, 0], [0.0, 0.5]) == math.inf


def test_calibrated_predictions_read_what_the_docstring_says():
    rng = np.random.default_rng(1)
    p = rng.random((200, 200))
    found = [IsotonicError()((rng.random(200) < row).astype(int), row) for row in p]
    assert np.mean(found) == pytest.approx(0.015, abs=0.001)


@pytest.mark.parametrize("rule", RULES)
def test_weights_and_row_order_obey_the_laws(rule, binary):
    estimator = IsotonicError(rule)
    y, p, w = binary.y, binary.p, binary.w
    rng = np.random.default_rng(4)
    times, order = rng.integers(0, 4, len(y)), rng.permutation(len(y))
    weighted = estimator(y, p, sample_weight=w)
    close = {"abs": 1e-12}
    assert estimator(y, p, sample_weight=np.ones(len(y))) == pytest.approx(estimator(y, p), **close)
    assert estimator(y, p, sample_weight=9 * w) == pytest.approx(weighted, **close)
    moved = estimator(y[order], p[order], sample_weight=w[order])
    assert moved == pytest.approx(weighted, **close)
    repeated = estimator(np.repeat(y, times), np.repeat(p, times))
    for kind in ("importance", "frequency"):
        found = estimator(y, p, sample_weight=times, weight_type=kind)
        assert found == pytest.approx(repeated, **close)


def test_vectors_and_unknown_rules_are_refused(multiclass):
    with pytest.raises(InvalidInputError, match="IsotonicError: `lens`"):
        IsotonicError()(multiclass.y, multiclass.p, lens="canonical")
    for rule in ("brier_score", None, 2):
        with pytest.raises(InvalidInputError, match="`rule` must be one of 'brier'"):
            IsotonicError(rule)


def test_the_definition_warns_of_the_bias():
    assert IsotonicError("log").name == "MCB log"
    assert IsotonicError("log").definition == (
        "mean log score minus that of the isotonic fit to the same rows (CORP); "
        "in-sample, biased upwards"
    )
