"""The verdict says what the figures say."""

import numpy as np
import pytest

from veridical import BinnedError, consistency_test, cox_test, evaluate


def sharpened(p, power):
    return p**power / (p**power + (1 - p) ** power)


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(5)
    q = rng.random(3000)
    return (rng.random(3000) < q).astype(int), q


@pytest.mark.filterwarnings("ignore:evaluate. AUC")  # below 0.5 where the model is reversed
@pytest.mark.parametrize(
    ("distort", "words", "not_words"),
    [
        (lambda q: q, ["No miscalibration found", "cannot be excluded"], ["confident", "predicts"]),
        (lambda q: sharpened(q, 1.7), ["Miscalibrated", "Over-confident: too extreme"], ["Under"]),
        (lambda q: sharpened(q, 0.6), ["Miscalibrated", "Under-confident: too timid"], ["Over"]),
        (lambda q: q**2, ["Under-predicts", "observed"], ["Over-predicts"]),
        (lambda q: 1 - (1 - q) ** 2, ["Over-predicts"], ["Under-predicts"]),
        (lambda q: 1 - q, ["Reversed"], []),
    ],
)
def test_words_follow_the_distortion(distort, words, not_words, truth):
    y, q = truth
    verdict = evaluate(y, distort(q)).verdict
    for word in words:
        assert word in verdict
    for word in not_words:
        assert word not in verdict


def test_a_wave_is_neither_level_nor_slope(truth):
    _, q = truth
    rng = np.random.default_rng(0)
    true = np.clip(q + 0.12 * np.sin(4 * np.pi * q), 0, 1)
    verdict = evaluate((rng.random(len(q)) < true).astype(int), q).verdict
    assert "Miscalibrated" in verdict
    assert "Over-confident" in verdict or "Neither the level nor the slope" in verdict


def test_confidence_is_over_or_under(multiclass):
    p = multiclass.p
    rng = np.random.default_rng(1)
    y = (rng.random(len(p))[:, None] >= p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    sure = p**3 / (p**3).sum(axis=1, keepdims=True)
    result = evaluate(y, sure)
    assert "Over-confident: predicted" in result.verdict
    assert f"{result.mean_predicted:.4f} on average, observed {result.mean_observed:.4f}" in (
        result.verdict
    )
    timid = np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True)
    assert "Under-confident: predicted" in evaluate(y, timid).verdict


def test_default_error_has_interval_null_level_and_pvalue(truth):
    y, q = truth
    error = evaluate(y, q).default
    assert error.name == "ECE"
    assert error.low is not None
    assert error.null_mean is not None
    test = consistency_test(BinnedError(), y, q, rng=0)
    assert error.pvalue == pytest.approx(test.pvalue, abs=0.06)


@pytest.mark.filterwarnings("ignore:evaluate. ECE. .*mostly noise")
@pytest.mark.parametrize(
    ("lens", "name"),
    [("confidence", "ECE"), ("classwise", "ECE"), ("canonical", "ECE variance-split")],
)
def test_every_lens_has_a_default_and_a_verdict(lens, name, multiclass):
    result = evaluate(multiclass.y, multiclass.p, lens=lens, n_resamples=200)
    assert result.default.name == name
    assert result.default.pvalue is not None
    assert result.verdict.startswith("Miscalibrated: " + name)
    assert result.verdict.split(".")[0] in str(result).replace("\n ", "")


def test_nothing_is_claimed_that_was_not_tested(truth):
    y, q = truth
    assert "not tested" in evaluate(y, q, n_resamples=0).verdict


def test_slope_and_intercept_are_those_of_cox(truth):
    y, q = truth
    result = evaluate(y, sharpened(q, 1.3))
    test = cox_test(y, sharpened(q, 1.3))
    assert result.slope == test.slope
    assert result.intercept == test.in_the_large


def test_grouped_rows_give_the_same_line_for_large_data():
    rng = np.random.default_rng(2)
    p = rng.beta(0.8, 0.6, 60_000)
    y = rng.random(60_000) < sharpened(p, 0.8)
    weight = rng.integers(1, 3, 60_000)
    for options in ({}, {"sample_weight": weight}):
        result = evaluate(y, p, n_resamples=0, **options)
        test = cox_test(y, p, null="asymptotic", **options)
        error = test.slope.standard_error
        assert result.slope.estimate == pytest.approx(test.slope.estimate, abs=0.02 * error)
        assert result.slope.low == pytest.approx(test.slope.low, abs=0.02 * error)
        assert result.intercept.high == pytest.approx(test.in_the_large.high, abs=0.02 * error)


def test_html_holds_the_verdict(truth):
    y, q = truth
    result = evaluate(y, q)
    assert result.verdict in result._repr_html_()
