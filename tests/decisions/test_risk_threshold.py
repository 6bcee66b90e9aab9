"""Thresholds that keep a promise: exact p-values, where the walk begins, all kinds of risk."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom

from veridical import InvalidInputError, risk_threshold
from veridical.calibrators import PlattCalibrator
from veridical.decisions._risk import threshold as walk
from veridical.lenses import ClassSpecific


def _rows(n, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.beta(4, 1.5, n)
    return (rng.random(n) < expit(0.6 * logit(s) + 0.9)).astype(int), s


def test_pvalues_are_the_binomial_ones_and_those_of_hoeffding_and_bentkus():
    lost, size = np.array([10.0]), np.array([500.0])  # r = .02 of 500
    assert walk._binomial(lost, size, 0.05)[0] == pytest.approx(0.0004600072, abs=5e-11)
    assert walk._hoeffding_bentkus(lost, size, 0.05)[0] == pytest.approx(0.0012504291, abs=5e-11)
    e, n = np.arange(13.0), np.full(13, 12.0)
    np.testing.assert_allclose(walk._binomial(e, n, 0.3), binom.cdf(e, n, 0.3), rtol=1e-12)


def _naive(y, s, alpha, delta):
    """Walk over all distinct scores, one mask each, from the start that scores decide."""
    tried = []
    for t in np.unique(s)[::-1]:
        answered = s >= t
        n = int(answered.sum())
        if (1 - alpha) ** n <= delta:
            tried.append((t, n, int((1 - y[answered]).sum()), float((1 - s[answered]).mean())))
    start = next(
        (
            k
            for k, (_, n, _, q) in enumerate(tried)
            if binom.cdf(binom.ppf(0.99, n, q), n, alpha) <= delta
        ),
        None,
    )
    if start is None:
        ratio = [(alpha - q) / math.sqrt(alpha * (1 - alpha) / n) for _, n, _, q in tried]
        start = int(np.argmax(ratio))
    found = None
    for t, n, e, _ in tried[start:]:
        if binom.cdf(e, n, alpha) > delta or e > n * alpha - 1:
            break
        found = t
    return found


@pytest.mark.parametrize("alpha", [0.08, 0.12, 0.2, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_the_walk_is_that_of_a_naive_one_where_few_scores_differ(alpha, seed):
    y, s = _rows(600, seed)
    s = s.round(2)  # fewer than 100 places to stop at, so that none is left out
    expected = _naive(y, s, alpha, 0.1)
    found = risk_threshold(y, s, lens="binary", at_most=alpha)
    assert found.threshold == pytest.approx(math.inf if expected is None else expected)


def test_what_is_answered_is_said_with_limits():
    y, s = _rows(2000)
    found = risk_threshold(y, s, lens="binary", at_most=0.12, confidence=0.9)
    answered = found.applies_to(s)
    assert found.found
    assert answered.sum() == found.n_answered
    assert found.coverage == pytest.approx(answered.mean())
    assert found.observed == pytest.approx((1 - y[answered]).mean())
    errors = int((1 - y[answered]).sum())
    # Clopper-Pearson: the risk at which so few errors have a chance of 10 %.
    assert binom.cdf(errors, found.n_answered, found.high) == pytest.approx(0.1)
    assert found.high <= 0.12
    assert found.coverage_low < found.coverage < found.coverage_high


def test_most_probable_classes_are_answered_by_default():
    rng = np.random.default_rng(3)
    p = rng.dirichlet([0.3, 0.3, 0.3], 1500)
    y = (p.cumsum(axis=1) > rng.random((1500, 1))).argmax(axis=1)
    found = risk_threshold(y, p, at_most=0.1)
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    assert found.lens == "confidence"
    assert found.observed == pytest.approx(1 - right[top >= found.threshold].mean())
    two = risk_threshold(y == 0, p[:, 0], at_most=0.1)  # of two classes, too: either may be sure
    sure = np.maximum(p[:, 0], 1 - p[:, 0]) >= two.threshold
    assert two.n_answered == sure.sum()


def test_misses_are_counted_over_positives():
    y, s = _rows(1500, 4)
    found = risk_threshold(y, s, risk="fnr", at_most=0.1)
    positives = np.sort(s[y == 1])
    # The largest number of misses that a rate of 10 % or more has with a chance of at most 10 %.
    allowed = int(binom.ppf(0.1, len(positives), 0.1))
    while binom.cdf(allowed, len(positives), 0.1) > 0.1:
        allowed -= 1
    assert (s[y == 1] < found.threshold).sum() == allowed
    assert found.observed == pytest.approx(allowed / len(positives))


def test_costs_are_promised_in_their_own_unit():
    y, s = _rows(3000, 5)
    found = risk_threshold(y, s, risk=(2.0, 6.0), at_most=0.6)
    expected = np.minimum(2 * (1 - s), 6 * s)
    action = 2 * (1 - s) < 6 * s
    answered = expected <= found.threshold + 1e-12
    cost = np.where(action, 2.0 * (y == 0), 6.0 * (y == 1))
    assert found.method == "Hoeffding-Bentkus"
    assert found.observed == pytest.approx(cost[answered].mean())
    assert found.observed < 0.6


def test_frequencies_count_like_rows():
    y, s = _rows(400, 6)
    s = s.round(2)
    copies = np.random.default_rng(0).integers(1, 4, 400)
    repeated = risk_threshold(np.repeat(y, copies), np.repeat(s, copies), at_most=0.2)
    weighted = risk_threshold(y, s, at_most=0.2, sample_weight=copies, weight_type="frequency")
    assert weighted.threshold == repeated.threshold
    assert weighted.high == pytest.approx(repeated.high)
    assert weighted.coverage == pytest.approx(repeated.coverage)


def test_rows_that_belong_together_promise_less():
    y, s = _rows(300, 7)
    y, s = np.repeat(y, 10), np.repeat(s, 10)
    alone = risk_threshold(y, s, at_most=0.2)
    together = risk_threshold(y, s, at_most=0.2, groups=np.repeat(np.arange(300), 10))
    assert not together.found or together.high > alone.high
    assert together.coverage <= alone.coverage
    assert together.method == "bounded mean"


def test_where_nothing_can_be_promised_it_is_said_what_would_help():
    y, s = _rows(60, 8)
    found = risk_threshold(y, s, lens="binary", at_most=0.15)
    assert not found.found
    assert found.threshold == math.inf
    assert not found.applies_to(s).any()
    assert found.labels_needed is not None
    assert found.labels_needed > 60
    assert f"{found.labels_needed:,} labelled rows" in str(found)
    assert (found.coverage, found.observed, found.high) == (0.0, None, None)


def test_no_promise_where_errors_are_frequent_throughout():
    found = risk_threshold([0, 1] * 200, [0.9] * 400, lens="binary", at_most=0.1)
    assert not found.found
    assert "nowhere are losses" in str(found)
    assert found.labels_needed is None


def test_the_raw_cut_off_goes_through_the_map():
    y, s = _rows(2000, 9)
    calibrator = PlattCalibrator().fit(s[::2], y[::2])
    p = calibrator.predict_proba(s[1::2])[:, 1]
    found = risk_threshold(y[1::2], p, risk="fdr", at_most=0.15)
    cutoff = found.raw_cutoff(calibrator)
    assert (cutoff.applies_to(s[1::2]) == found.applies_to(p)).all()
    with pytest.raises(InvalidInputError, match="a call of one class"):
        risk_threshold(y[1::2], p, at_most=0.15).raw_cutoff(calibrator)


def test_one_of_several_classes_can_be_called():
    rng = np.random.default_rng(3)
    p = rng.dirichlet([0.3, 0.3, 0.3], 1500)
    y = np.array(["a", "b", "c"])[(p.cumsum(axis=1) > rng.random((1500, 1))).argmax(axis=1)]
    found = risk_threshold(y, p, risk="fdr", lens=ClassSpecific("b"), at_most=0.2)
    called = p[:, 1] >= found.threshold
    assert found.observed == pytest.approx((y[called] != "b").mean())
    with pytest.raises(InvalidInputError, match="given for 'fdr' of several classes"):
        risk_threshold(y, p, risk="fdr")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"risk": "errors"}, "risk"),
        ({"at_most": 0.0}, "between 0 and 1"),
        ({"at_most": 1.2}, "between 0 and 1"),
        ({"confidence": 0.4}, "above 0.5"),
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"risk": (1, 5), "lens": "binary"}, "unset with costs"),
        ({"risk": (1, 5), "at_most": 7}, "between 0 and 5"),
        ({"risk": [[1, 1], [1, 1]]}, "costs that differ"),
    ],
)
def test_bad_options_are_said(options, words):
    y, s = _rows(50)
    with pytest.raises(InvalidInputError, match=words):
        risk_threshold(y, s, **options)


def test_single_precision_answers_the_same_rows():
    y, s = _rows(1000, 10)
    s = s.astype(np.float32)
    found = risk_threshold(y, s, lens="binary", at_most=0.15)
    assert found.applies_to(s).sum() == found.n_answered


def test_a_million_rows_and_back_from_json():
    y, s = _rows(300_000, 11)
    found = risk_threshold(y, s, at_most=0.1)
    assert type(found).from_json(found.to_json()) == found
    assert found._repr_html_().startswith("<div")


def test_many_frequencies_stop_where_their_copies_do():
    y, s = _rows(800, 12)
    copies = np.random.default_rng(1).integers(0, 4, 800)
    rows = np.repeat(np.arange(800), copies)
    repeated = risk_threshold(y[rows], s[rows], lens="binary", at_most=0.15)
    options = {"sample_weight": copies, "weight_type": "frequency", "lens": "binary"}
    weighted = risk_threshold(y, s, at_most=0.15, **options)
    assert repeated.found
    assert weighted.threshold == repeated.threshold


def test_labels_that_would_do_are_more_than_there_are():
    y, s = _rows(1000, 13)
    heavy = np.random.default_rng(0).exponential(1, 1000) ** 3
    for risk, bound in (("fnr", 0.02), ("error", 0.08)):
        found = risk_threshold(y, s, risk=risk, at_most=bound, sample_weight=heavy)
        assert found.labels_needed is None or found.labels_needed > 1000
    grouped = risk_threshold(y, s, risk="fnr", at_most=0.02, groups=np.arange(1000) // 100)
    assert grouped.labels_needed is None


def test_whole_numbers_are_compared_as_they_are():
    found = risk_threshold(*_rows(2000, 14), lens="binary", at_most=0.15)
    assert found.applies_to([0, 1]).tolist() == [False, True]
