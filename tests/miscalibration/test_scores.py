"""Scores as objects mean the whole prediction, wherever used; lenses only when asked for."""

from __future__ import annotations

import numpy as np
import pytest

import veridical as v
from veridical.inference import null_level

RULES = {
    "log": (v.LogScore(), v.log_loss),
    "brier": (v.BrierScore(), v.brier_score),
    "spherical": (v.SphericalScore(), v.spherical_score),
    "zero-one": (v.ZeroOneLoss(), v.zero_one_loss),
}
WORDS = np.array([f"class {i}" for i in range(10)])


@pytest.fixture(params=[2, 3, 10])
def data(request):
    k = request.param
    rng = np.random.default_rng(k)
    p = rng.dirichlet(np.ones(k), 120)
    y = (rng.random(120)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    return y, p, rng.uniform(0.2, 3.0, 120)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("words", [False, True])
def test_the_object_is_the_function(name, weighted, words, data):
    score, function = RULES[name]
    y, p, w = data
    order = np.arange(p.shape[1])
    options = {"sample_weight": w if weighted else None}
    if words:  # columns in an order of their own
        order = np.random.default_rng(0).permutation(p.shape[1])
        y, p = WORDS[y], p[:, order]
        options["labels"] = WORDS[order].tolist()
    expected = function(y, p, **options)
    draws = {"n_resamples": 5, "rng": 0}
    assert score(y, p, **options) == expected
    assert null_level(score, y, p, **draws, **options).estimate == expected
    assert v.consistency_test(score, y, p, **draws, **options).statistic == expected
    assert v.bootstrap_interval(score, y, p, **options).estimate == expected
    other = 0.5 * p + 0.5 / p.shape[1]
    found = v.paired_difference(score, y, p, other, **options)
    assert (found.first, found.second) == (expected, function(y, other, **options))
    by = np.arange(len(y)) % 2
    groups = v.multiple_test(score, y, p, by=by, **draws, **options)
    part = {**options, "sample_weight": w[by == 1] if weighted else None}
    part.setdefault("labels", list(range(p.shape[1])))
    assert groups.statistics[1] == pytest.approx(function(y[by == 1], p[by == 1], **part))


def test_compare_and_the_gate_score_whole_predictions(data):
    y, p, w = data
    other = 0.5 * p + 0.5 / p.shape[1]
    options = {"sample_weight": w, "n_resamples": 5, "n_bins": 3}
    c = v.compare({"a": p, "b": other}, y, **options)
    gate = v.check_requirements(y, p, requirements=["log.high < 9", "brier.high < 9"], **options)
    for name, function in (("log", v.log_loss), ("brier", v.brier_score)):
        one, two = (function(y, each, sample_weight=w) for each in (p, other))
        assert c.difference("a", "b", name).estimate == pytest.approx(one - two)
        shown = next(f.value for f in gate.measured.figures if f.name == name)
        assert shown == pytest.approx(one)


def test_a_lens_is_looked_through_when_asked_for(data):
    y, p, _ = data
    top = p.argmax(axis=1)
    confidence = p[np.arange(len(y)), top]
    expected = v.log_loss((top == y).astype(int), confidence, labels=[0, 1])
    assert v.LogScore()(y, p, lens="confidence") == pytest.approx(expected)
