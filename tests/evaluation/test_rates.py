"""Rates from scores and a few labels: against published values, a naive version and laws."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binomtest, norm

import veridical as v
from veridical import InvalidInputError, VeridicalWarning, estimate_rate, plan_labels

LABELS = [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]
SCORES = [0.9, 0.3, 0.8, 0.7, 0.4, 0.95, 0.6, 0.85, 0.2, 0.75]
OTHERS = np.round(np.linspace(0.05, 0.98, 40), 4)


def rows(m=150, n=1500, seed=0, spread=2.0):
    """Scores that are calibrated, and outcomes."""
    rng = np.random.default_rng(seed)
    score = 1 / (1 + np.exp(-spread * rng.normal(size=m + n)))
    y = (rng.random(m + n) < score).astype(int)
    return y[:m], score[:m], score[m:]


def limits(found):
    return np.array([found.estimate, found.low, found.high])


# Values from outside.


def test_normal_limits_are_those_of_ppi_py():
    """ppi_py 0.2.3: ppi_mean_pointestimate and ppi_mean_ci with lam clipped to 1."""
    found = estimate_rate(LABELS, SCORES, OTHERS, method="normal", calibrator=None)
    np.testing.assert_allclose(limits(found), [0.57, 0.39072123, 0.74927877], atol=1e-8)
    assert found.rates[0].tuning == 1.0
    assert found.rates[0].mean_score == pytest.approx(OTHERS.mean())


def test_rogan_gladen_is_that_of_lee():
    """p = 0.78, specificity 0.85, sensitivity 0.9, n = 1,000, m0 = m1 = 100."""
    y = [0] * 100 + [1] * 100
    judge = [0] * 85 + [1] * 15 + [1] * 90 + [0] * 10
    found = estimate_rate(y, judge, [1] * 780 + [0] * 220, method="rogan-gladen")
    np.testing.assert_allclose(limits(found), [0.84, 0.7716497876, 0.9295630982], atol=1e-9)
    assert "without a label" in found.target


def naive(y, f, others, level=0.95):
    """The formulas of the issue, written out once more."""
    m, n = len(y), len(others)
    pooled = np.var(np.concatenate([f, others]))
    tuning = np.mean((y - np.mean(y)) * (f - np.mean(f))) / ((1 + m / n) * pooled)
    tuning = min(max(tuning, 0), 1)
    estimate = tuning * np.mean(others) + np.mean(y - tuning * f)
    se = np.sqrt(tuning**2 * np.var(others) / n + np.var(y - tuning * f) / m)
    z = norm.ppf(0.5 + level / 2)
    return np.array([estimate, estimate - z * se, estimate + z * se]), tuning


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_normal_limits_are_the_formula(seed, level):
    y, score, others = rows(60, 300, seed)
    found = estimate_rate(
        y, score, others, method="normal", calibrator=None, confidence_level=level
    )
    expected, tuning = naive(y, score, others, level)
    np.testing.assert_allclose(limits(found), expected, rtol=1e-12)
    assert found.rates[0].tuning == pytest.approx(tuning)


@pytest.mark.parametrize("hits", [0, 1, 9, 30])
def test_limits_of_labels_are_clopper_and_pearson(hits):
    y = np.array([1] * hits + [0] * (30 - hits))
    score = np.random.default_rng(0).random(30)
    found = estimate_rate(y, score, np.linspace(0, 1, 200), method="labels")
    exact = binomtest(hits, 30).proportion_ci(method="exact")
    np.testing.assert_allclose([found.low, found.high], exact, atol=1e-12)
    assert found.rates[0].worth == pytest.approx(30)


def test_constant_scores_leave_the_exact_limits():
    y, _, _ = rows(50)
    found = estimate_rate(y, np.full(50, 0.3), np.full(500, 0.3))
    exact = binomtest(int(y.sum()), 50).proportion_ci(method="exact")
    assert found.method == "prediction-powered"
    np.testing.assert_allclose([found.low, found.high], exact, atol=1e-12)


def test_with_chances_the_estimate_is_horvitz_and_thompson_normalised():
    rng = np.random.default_rng(1)
    score = rng.random(1000)
    y = (rng.random(1000) < score).astype(float)
    chance = 0.05 + 0.2 * score
    labelled = rng.random(1000) < chance
    given = np.where(labelled, y, np.nan)
    found = estimate_rate(given, score, label_prob=chance, method="labels")
    inverse = labelled / chance
    assert found.estimate == pytest.approx(float(inverse @ y / inverse.sum()))
    tuned = estimate_rate(given, score, label_prob=chance, method="normal", calibrator=None)
    tuning = tuned.rates[0].tuning
    residual = y - tuning * score
    expected = tuning * score.mean() + float(inverse @ residual / inverse.sum())
    assert tuned.estimate == pytest.approx(expected)


def test_with_strata_the_estimate_is_a_sum_over_strata():
    rng = np.random.default_rng(2)
    stratum = np.repeat(["a", "b"], [600, 400])
    y = (rng.random(1000) < np.where(stratum == "a", 0.2, 0.7)).astype(float)
    known = np.concatenate([np.arange(30), 600 + np.arange(60)])
    given = np.full(1000, np.nan)
    given[known] = y[known]
    found = estimate_rate(given, rng.random(1000), strata=stratum, method="labels")
    expected = 0.6 * y[:30].mean() + 0.4 * y[600:660].mean()
    assert found.estimate == pytest.approx(expected)
    # W_a^2 s_a^2 / m_a + W_b^2 s_b^2 / m_b, and the part of the shares of the strata.
    within = 0.36 * y[:30].var(ddof=1) / 30 + 0.16 * y[600:660].var(ddof=1) / 60
    between = 0.6 * (y[:30].mean() - expected) ** 2 + 0.4 * (y[600:660].mean() - expected) ** 2
    with pytest.warns(VeridicalWarning, match="not wrong by the same amount"):
        normal = estimate_rate(
            given, np.full(1000, 0.5), strata=stratum, method="normal", calibrator=None
        )
    reach = norm.ppf(0.975) * np.sqrt(within + between / 1000)
    assert normal.high - normal.estimate == pytest.approx(reach, rel=1e-3)


def test_groups_of_copies_count_once():
    y, score, others = rows(40, 400)
    alone = estimate_rate(y, score, others, method="normal", calibrator=None)
    groups = np.concatenate([np.repeat(np.arange(40), 3), 40 + np.repeat(np.arange(400), 3)])
    copied = estimate_rate(
        np.repeat(y, 3), np.repeat(score, 3), np.repeat(others, 3),
        method="normal", calibrator=None, groups=groups,
    )  # fmt: skip
    assert copied.estimate == pytest.approx(alone.estimate)
    few = np.sqrt(40 / 39)  # the variance is estimated from 40 groups
    width = (copied.high - copied.low) / (alone.high - alone.low)
    assert width == pytest.approx(few)


# Laws.


def test_order_of_rows_and_form_of_input_are_no_matter():
    y, score, others = rows()
    found = limits(estimate_rate(y, score, others))
    rng = np.random.default_rng(5)
    order = rng.permutation(len(y))
    np.testing.assert_allclose(
        limits(estimate_rate(y[order], score[order], rng.permutation(others))), found
    )
    both = np.concatenate([score, others])
    missing = np.concatenate([y.astype(float), np.full(len(others), np.nan)])
    shuffled = rng.permutation(len(both))
    np.testing.assert_allclose(limits(estimate_rate(missing, both)), found)
    frame = {"label": missing[shuffled], "judge": both[shuffled]}
    nullable = pd.DataFrame(frame).astype({"label": "Int64"})
    for table in (pd.DataFrame(frame), nullable, pl.DataFrame(frame, nan_to_null=True)):
        np.testing.assert_allclose(limits(estimate_rate(table, y="label", prob="judge")), found)
    words = [None if np.isnan(one) else ("good" if one else "bad") for one in frame["label"]]
    texts = pl.DataFrame({"label": words, "judge": frame["judge"]})
    named = estimate_rate(texts, y="label", prob="judge")
    assert named.classes == ("good",)
    blank = texts.with_columns(pl.col("label").fill_null(""))
    np.testing.assert_allclose(limits(estimate_rate(blank, y="label", prob="judge")), found)
    pair = np.column_stack([1 - both, both])
    np.testing.assert_allclose(limits(estimate_rate(missing, pair)), found)
    percent = estimate_rate(y, 100 * score, 100 * others, scale="percent")
    np.testing.assert_allclose(limits(percent), found, rtol=1e-6)
    logs = estimate_rate(y, np.log(score), np.log(others), scale="logprob")
    np.testing.assert_allclose(limits(logs), found, rtol=1e-6)


def test_the_other_class_has_the_rest():
    y, score, others = rows()
    one, other = estimate_rate(y, score, others), estimate_rate(1 - y, 1 - score, 1 - others)
    assert other.estimate == pytest.approx(1 - one.estimate)
    assert (other.low, other.high) == pytest.approx((1 - one.high, 1 - one.low))


def test_weights_of_zero_remove_and_constant_ones_change_nothing():
    y, score, others = rows()
    found = limits(estimate_rate(y, score, others))
    weight = np.full(len(y) + len(others), 7.0)
    weighted = estimate_rate(y, score, others, sample_weight=weight)
    np.testing.assert_allclose(limits(weighted), found)
    padded = estimate_rate(
        np.append(y, 1), np.append(score, 0.5), others,
        sample_weight=np.concatenate([np.ones(len(y)), [0], np.ones(len(others))]),
    )  # fmt: skip
    np.testing.assert_allclose(limits(padded), found)
    singles = np.arange(len(y) + len(others))
    np.testing.assert_allclose(limits(estimate_rate(y, score, others, groups=singles)), found)


def test_shares_of_classes_sum_to_one_and_follow_their_columns():
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 2, 3], 1200)
    y = (rng.random((1200, 1)) > p.cumsum(axis=1)[:, :2]).sum(axis=1)
    found = estimate_rate(y[:200], p[:200], p[200:])
    assert found.classes == (0, 1, 2)
    assert found.estimate.sum() == pytest.approx(1)
    assert np.all((found.low < found.estimate) & (found.estimate < found.high))
    turned = estimate_rate(2 - y[:200], p[:200, ::-1], p[200:, ::-1])
    np.testing.assert_allclose(turned.estimate[::-1], found.estimate)
    np.testing.assert_allclose(turned.low[::-1], found.low)
    assert found.to_frame().shape[0] == 3
    assert "Shares of 3 classes" in str(found)


def test_a_good_judge_narrows_and_a_useless_one_does_not_widen():
    y, score, others = rows(100, 1000, spread=4.0)
    good = estimate_rate(y, score, others).rates[0]
    assert good.high - good.low < 0.8 * (good.labels_high - good.labels_low)
    rng = np.random.default_rng(0)
    useless = estimate_rate(y, rng.random(100), rng.random(1000)).rates[0]
    assert useless.high - useless.low <= 1.01 * (useless.labels_high - useless.labels_low)


def test_a_map_of_the_user_is_fitted_without_the_row():
    y, score, others = rows()
    found = estimate_rate(y, score, others, calibrator=v.PlattCalibrator())
    assert found.map == "PlattCalibrator, 5 folds"
    assert found.estimate == pytest.approx(estimate_rate(y, score, others).estimate, abs=0.02)
    # A map that learns rows by heart would make residuals vanish, and limits with them.
    rng = np.random.default_rng(1)
    useless, rest, heart_map = rng.random(150), rng.random(1500), v.HistogramCalibrator(n_bins=150)
    heart = estimate_rate(y, useless, rest, calibrator=heart_map)
    assert heart.rates[0].worth < 1.1 * len(y)


def test_one_million_rows_are_read():
    rng = np.random.default_rng(0)
    score = rng.random(1_000_000)
    y = np.full(1_000_000, np.nan)
    y[:500] = rng.random(500) < score[:500]
    found = estimate_rate(y, score)
    assert found.low < 0.5 < found.high


def test_results_print_and_lose_nothing():
    y, score, others = rows()
    found = estimate_rate(y, score, others)
    assert v.RateEstimate.from_json(found.to_json()) == found
    for said in ("Rate of 1", "labels alone", "mean score", "random sample", "population"):
        assert said in str(found)
    assert "<table>" in found._repr_html_()


# Few labels, doubts and refusals.


def test_fewer_than_twenty_labels_are_alone():
    y, score, others = rows(19)
    with pytest.warns(VeridicalWarning, match="labels alone"):
        found = estimate_rate(y, score, others)
    exact = binomtest(int(y.sum()), 19).proportion_ci(method="exact")
    np.testing.assert_allclose([found.low, found.high], exact, atol=1e-12)
    assert found.method == "labels"


@pytest.mark.parametrize("label", [0, 1])
def test_labels_that_are_all_alike_have_exact_limits(label):
    _, score, others = rows(60)
    found = estimate_rate(np.full(60, label), score, others)
    exact = binomtest(60 * label, 60).proportion_ci(method="exact")
    np.testing.assert_allclose([found.low, found.high], exact, atol=1e-12)


def test_rows_without_any_unlabelled_are_labels_alone():
    y, score, _ = rows()
    for nothing in (None, []):
        found = estimate_rate(y, score, nothing)
        assert (found.method, found.n_unlabelled) == ("labels", 0)
        assert found.rates[0].mean_score is None


@pytest.mark.parametrize("chosen", ["high", "doubtful"])
def test_labels_that_are_not_random_are_noticed(chosen):
    rng = np.random.default_rng(0)
    score = rng.random(4000)
    y = (rng.random(4000) < score).astype(float)
    wanted = score if chosen == "high" else score * (1 - score)
    labelled = rng.random(4000) < 200 * wanted / wanted.sum()
    given = np.where(labelled, y, np.nan)
    with pytest.warns(VeridicalWarning, match="no random sample"):
        estimate_rate(given, score)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate_rate(given, score, label_prob=np.minimum(200 * wanted / wanted.sum(), 1))


@pytest.mark.parametrize("side", ["below", "above", "between"])
def test_scores_without_labels_are_refused(side):
    y, score, others = rows(200, 2000)
    kept = {"below": score > 0.4, "above": score < 0.6, "between": abs(score - 0.5) > 0.2}[side]
    with pytest.raises(InvalidInputError, match=side) as error:
        estimate_rate(y[kept], score[kept], others)
    assert error.value.param == "y_true"


@pytest.mark.parametrize("n", [1, 3, 40])
def test_few_rows_without_a_label_are_covered_by_many_with_one(n):
    y, score, others = rows(300)
    assert estimate_rate(y, score, others[:n]).n_unlabelled == n


def test_strata_in_which_the_judge_errs_otherwise_are_named():
    rng = np.random.default_rng(4)
    stratum = np.tile(["mild", "harsh"], 1500)
    eta = 2 * rng.normal(size=3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-eta))).astype(float)
    y[300:] = np.nan
    shifted = 1 / (1 + np.exp(-(eta + np.where(stratum == "mild", 2, -2))))
    with pytest.warns(VeridicalWarning, match="not wrong by the same amount") as caught:
        found = estimate_rate(y, shifted, strata=stratum)
    assert found.transport == "differs"
    assert "'mild'" in str(caught[0].message)
    fair = 1 / (1 + np.exp(-eta))
    assert estimate_rate(y, fair, strata=stratum).transport == "not shown"
    sure = np.where(np.isnan(y), rng.random(3000) < 0.5, y)
    known = np.where(np.arange(3000) < 2000, sure, np.nan)
    assert estimate_rate(known, sure, strata=stratum).transport == "shown"


REFUSED = {
    "y_true": {"y_true": [None] * 5, "y_prob": [0.5] * 5},
    "y_prob": {"y_true": [1, 0], "y_prob": [0.5] * 5},
    "unlabelled": {"unlabelled": [[0.1, 0.9]] * 5},
    "calibrator": {"calibrator": "platt"},
    "method": {"method": "norml"},
    "strata": {"strata": ["a"] * 150 + ["b"] * 1500},
    "groups": {"groups": [0] * 3},
    "sample_weight": {"sample_weight": np.ones(3)},
    "label_prob": {"label_prob": np.full(150, 2.0)},
    "confidence_level": {"confidence_level": 95},
    "scale": {"scale": "log"},
    "rng": {"rng": -1},
    "y": {"y": "label"},
}


@pytest.mark.parametrize("param", REFUSED)
def test_what_cannot_be_used_is_said(param):
    y, score, others = rows()
    given = {"y_true": y, "y_prob": score, "unlabelled": others} | REFUSED[param]
    with pytest.raises(InvalidInputError) as error:
        estimate_rate(**given)
    assert error.value.param == param
    assert error.value.caller == "estimate_rate"


def test_rows_without_a_score_are_dropped_if_asked():
    y, score, others = rows()
    broken = np.append(others, np.nan)
    with pytest.raises(InvalidInputError, match="finite"):
        estimate_rate(y, score, broken)
    found = estimate_rate(y, score, broken, missing="drop")
    np.testing.assert_allclose(limits(found), limits(estimate_rate(y, score, others)))
    assert "1 of 1,651 rows dropped" in found.notes[0]


def test_rows_that_could_not_be_labelled_are_refused():
    y, score, others = rows()
    chance = np.concatenate([np.full(len(y), 0.1), np.full(len(others), 0.1)])
    chance[-1] = 0
    with pytest.raises(InvalidInputError, match="above 0 for every row"):
        estimate_rate(y, score, others, label_prob=chance)


@pytest.mark.parametrize("what", ["groups", "strata", "label_prob", "sample_weight"])
def test_rogan_gladen_takes_plain_rows_only(what):
    y, score, others = rows()
    judge, rest = (score > 0.5).astype(int), (others > 0.5).astype(int)
    values = {"label_prob": np.full(len(y), 0.1)}.get(what, np.arange(len(y) + len(rest)) % 7 + 1)
    with pytest.raises(InvalidInputError) as error:
        estimate_rate(y, judge, rest, method="rogan-gladen", **{what: values})
    assert error.value.param == what


def test_a_judge_worse_than_chance_has_no_corrected_rate():
    y, score, others = rows()
    with pytest.raises(InvalidInputError, match="right more often than wrong"):
        estimate_rate(y, score < 0.5, others < 0.5, method="rogan-gladen")


# Plans.


def test_a_plan_keeps_its_promise():
    """Label the rows of plans, estimate, and look at the limits."""
    widths, held = [], 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        score = 1 / (1 + np.exp(-3 * rng.normal(size=5000)))
        y = (rng.random(5000) < score).astype(float)
        known = np.arange(5000) < 60
        plan = plan_labels(score, half_width=0.03, known=np.where(known, y, np.nan), rng=seed)
        assert len(plan.rows) == plan.n_labels < plan.n_random
        assert plan.rows.min() >= 60  # those have a label already
        known[plan.rows] = True
        found = estimate_rate(np.where(known, y, np.nan), score, label_prob=plan.label_prob)
        widths.append((found.high - found.low) / 2)
        held += found.low < y.mean() < found.high
    assert np.mean(widths) == pytest.approx(0.03, rel=0.1)
    assert held >= 9  # of 12; a chance of 2 in 10,000 if limits hold in 95 % of plans


def test_a_plan_is_written_and_read():
    plan = plan_labels([0.1, 0.4] * 500, half_width=0.05, known=[0, 1] * 20 + [None] * 960, rng=0)
    assert v.LabelPlan.from_json(plan.to_json()) == plan
    assert plan.to_frame().shape == (plan.n_labels, 2)
    assert f"Label {plan.n_labels} of 1,000 rows" in str(plan)


def test_chances_of_a_plan_are_those_of_its_draw():
    score = np.array([0.01] * 300 + [0.5] * 100)
    with pytest.warns(VeridicalWarning, match="taken as calibrated"):
        first = plan_labels(score, half_width=0.08, rng=0)
    drawn = np.zeros(400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        for seed in range(300):
            drawn[plan_labels(score, half_width=0.08, rng=seed).rows] += 1
    share = drawn / 300
    # Means over rows of equal chance: standard errors below 0.005.
    assert share[:300].mean() == pytest.approx(first.label_prob[0], abs=0.02)
    assert share[300:].mean() == pytest.approx(first.label_prob[-1], abs=0.02)
    assert first.label_prob.sum() == pytest.approx(first.n_labels)
    # Half of the labels are spread evenly, half by sqrt(p (1 - p)): 0.0995 and 0.5.
    root = np.sqrt(score * (1 - score))
    np.testing.assert_allclose(
        first.label_prob / first.n_labels, 0.5 / 400 + 0.5 * root / root.sum(), rtol=1e-9
    )


@pytest.mark.parametrize("width", [0, 0.5, "wide", 0.001])
def test_a_plan_that_cannot_be_kept_is_refused(width):
    with pytest.raises(InvalidInputError) as error:
        plan_labels([0.2, 0.6] * 50, half_width=width)
    assert error.value.param == "half_width"
