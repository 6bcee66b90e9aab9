"""Cox's test against other packages, closed forms, brute force and its edge cases."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import chi2, norm

from veridical import ClassSpecific, InvalidInputError, VeridicalWarning
from veridical._core.sample import BinarySample
from veridical.inference._cox.binary import fit_binary
from veridical.inference._cox.cox import cox_test
from veridical.inference._intervals.rows import rows_of
from veridical.results.figures import CoxTest


def two_classes(n=200):
    """Deterministic data, so that other packages can be given the same."""
    i = np.arange(n)
    p = ((37 * i) % n + 0.5) / n
    return (((61 * i + 17) % 97) / 97 < 0.15 + 0.6 * p).astype(int), p


def three_classes(n=240):
    i = np.arange(n)
    raw = np.column_stack([((37 * i) % 241 + 1) / 242, ((101 * i + 5) % 239 + 1) / 240])
    raw = np.column_stack([raw, np.full(n, 0.5)])
    p = np.round(raw / raw.sum(axis=1, keepdims=True), 3)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    truth = p**0.6 * [1, 1.3, 0.8]
    truth /= truth.sum(axis=1, keepdims=True)
    u = ((61 * i + 17) % 97 + 0.5) / 97
    return (u[:, None] > truth.cumsum(axis=1)).sum(axis=1), p


def logit(p):
    return np.log(p / (1 - p))


def deviance(y, x, a, b):
    """Minus twice the log-likelihood."""
    t = a + b * x
    return 2 * np.sum(np.logaddexp(0, t) - y * t)


# statsmodels 0.15.0: GLM(y, [1, logit p], Binomial()) and GLM(y, [1], Binomial(), offset=logit p).
FULL = {"intercept": -0.10580556698053462, "slope": 0.7515055679153827}
FULL_SE = {"intercept": 0.16286049438509131, "slope": 0.12580229632837958}
FULL_LLF = -111.16795643322139
OFFSET, OFFSET_SE, OFFSET_LLF = -0.12005614690211089, 0.1733288402966209, -112.8873597025886


def test_binary_coefficients_are_those_of_statsmodels():
    test = cox_test(*two_classes())
    for name, value in FULL.items():
        coefficient = getattr(test, name)
        assert coefficient.estimate == pytest.approx(value, rel=1e-9)
        assert coefficient.standard_error == pytest.approx(FULL_SE[name], rel=1e-7)
    assert test.in_the_large.estimate == pytest.approx(OFFSET, rel=1e-9)
    assert test.in_the_large.standard_error == pytest.approx(OFFSET_SE, rel=1e-7)


def test_binary_coefficients_are_those_of_calzone_and_scikit_learn():
    """calzone-tool 0.1.0 cox_regression_analysis; scikit-learn 1.9.1, no penalty (8 digits)."""
    test = cox_test(*two_classes())
    assert test.slope.estimate == pytest.approx(0.7515055679153825, rel=1e-9)
    assert test.intercept.estimate == pytest.approx(-0.10580556698053464, rel=1e-9)
    assert test.slope.estimate == pytest.approx(0.75150557, abs=1e-8)
    # calzone's intervals are Wald's: (0.5049376, 0.99807354); the standard error is the same.
    assert 1.959963984540054 * test.slope.standard_error == pytest.approx(
        (0.99807354 - 0.5049376) / 2, rel=1e-6
    )


def test_binary_statistics_are_likelihood_ratios():
    y, p = two_classes()
    test = cox_test(y, p)
    null = float(np.sum(np.where(y == 1, np.log(p), np.log(1 - p))))
    assert test.statistic == pytest.approx(2 * (FULL_LLF - null), rel=1e-9)
    assert test.intercept_test.statistic == pytest.approx(2 * (OFFSET_LLF - null), rel=1e-8)
    assert test.slope_test.statistic == pytest.approx(2 * (FULL_LLF - OFFSET_LLF), rel=1e-9)
    assert test.pvalue == pytest.approx(chi2.sf(2 * (FULL_LLF - null), 2), rel=1e-9)
    assert test.slope_test.pvalue == pytest.approx(
        chi2.sf(2 * (FULL_LLF - OFFSET_LLF), 1), rel=1e-9
    )
    assert (test.df, test.intercept_test.df, test.slope_test.df) == (2, 1, 1)
    assert test.notes == ()


def test_frequency_weights_are_those_of_statsmodels():
    """statsmodels 0.15.0 GLM with freq_weights=1 + i % 3."""
    y, p = two_classes()
    w = 1 + np.arange(len(y)) % 3
    test = cox_test(y, p, sample_weight=w, weight_type="frequency")
    assert test.intercept.estimate == pytest.approx(-0.05029289716805219, rel=1e-8)
    assert test.slope.estimate == pytest.approx(0.5971977194775198, rel=1e-9)
    assert test.slope.standard_error == pytest.approx(0.07879251826808273, rel=1e-7)
    assert test.in_the_large.estimate == pytest.approx(-0.056803589393545385, rel=1e-8)
    assert test.in_the_large.standard_error == pytest.approx(0.12247965826503888, rel=1e-7)


# statsmodels 0.15.0: MNLogit(y, [1, log p1/p0, log p2/p0]); rows are 1, x1, x2.
MN_PARAMS = [
    [0.1939148100207384, -0.12615828401543192],
    [0.7182389765128057, 0.27017138240624167],
    [0.011499260887318705, 0.2511354799501627],
]
MN_SE = [
    [0.1766282947913295, 0.19036408354883946],
    [0.20558353662591736, 0.17517264057612056],
    [0.3157631576252549, 0.3150390194277119],
]
MN_LLF = -243.12498380284836


def test_matrix_of_slopes_is_that_of_statsmodels():
    y, p = three_classes()
    test = cox_test(y, p, slopes="matrix")
    params, errors = np.array(MN_PARAMS), np.array(MN_SE)
    np.testing.assert_allclose([c.estimate for c in test.intercepts], params[0], rtol=1e-7)
    np.testing.assert_allclose([c.estimate for c in test.slopes], params[1:].T.ravel(), rtol=1e-6)
    np.testing.assert_allclose(
        [c.standard_error for c in test.slopes], errors[1:].T.ravel(), rtol=1e-6
    )
    null = np.log(p[np.arange(len(y)), y]).sum()
    assert test.statistic == pytest.approx(2 * (MN_LLF - null), rel=1e-9)
    assert test.df == 6
    assert test.pvalue == pytest.approx(chi2.sf(2 * (MN_LLF - null), 6), rel=1e-8)
    assert test.interval == "Wald"


@pytest.mark.parametrize(("slopes", "df"), [("common", 3), ("diagonal", 4)])
def test_fewer_slopes_are_those_of_a_general_optimiser(slopes, df):
    y, p = three_classes()
    x = np.log(p[:, 1:] / p[:, :1])

    def loss(at):
        logits = np.column_stack([np.zeros(len(y)), at[:2] + x * at[2:]])
        return -np.sum(logits[np.arange(len(y)), y] - logsumexp(logits, axis=1))

    found = minimize(loss, [0.0, 0.0, *[1.0] * (df - 2)], method="BFGS", options={"gtol": 1e-7})
    test = cox_test(y, p, slopes=slopes)
    estimates = [c.estimate for c in test.intercepts + test.slopes]
    np.testing.assert_allclose(estimates, found.x, atol=1e-5)
    assert test.df == df
    start = np.array([0.0, 0.0, *[1.0] * (df - 2)])
    assert test.statistic == pytest.approx(2 * (loss(start) - found.fun), rel=1e-8)


@pytest.mark.parametrize("slopes", ["common", "matrix"])
def test_the_reference_class_does_not_matter(slopes):
    y, p = three_classes()
    turned = cox_test((y + 1) % 3, p[:, [2, 0, 1]], slopes=slopes)
    assert turned.statistic == pytest.approx(cox_test(y, p, slopes=slopes).statistic, rel=1e-9)


def test_two_distinct_predictions_have_a_closed_form():
    p = np.repeat([0.2, 0.8], 100)
    y = np.repeat([1, 0, 1, 0], [40, 60, 70, 30])
    test = cox_test(y, p)
    low, high, width = math.log(40 / 60), math.log(70 / 30), 2 * math.log(4)
    slope = (high - low) / width
    assert test.slope.estimate == pytest.approx(slope, rel=1e-10)
    assert test.intercept.estimate == pytest.approx((high + low) / 2, rel=1e-10)
    # Delta method: variance of an empirical logit is 1/successes + 1/failures.
    variance = 1 / 40 + 1 / 60 + 1 / 70 + 1 / 30
    assert test.slope.standard_error == pytest.approx(math.sqrt(variance) / width, rel=1e-9)
    saturated = 40 * math.log(0.4) + 60 * math.log(0.6) + 70 * math.log(0.7) + 30 * math.log(0.3)
    null = (40 + 30) * math.log(0.2) + (60 + 70) * math.log(0.8)
    assert test.statistic == pytest.approx(2 * (saturated - null), rel=1e-11)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_many_rows_are_those_of_a_sandwich(level, weighted):
    """White's variance A^-1 B A^-1, B summed over clusters; log-odds are twice too large."""
    rng = np.random.default_rng(3)
    p = np.repeat(rng.uniform(0.05, 0.95, 1500), 2)
    y = (rng.random(3000) < 1 / (1 + np.exp(-logit(p) / 2))).astype(int)
    w = rng.uniform(0.2, 2, 3000) if weighted else np.ones(3000)
    groups = np.repeat(np.arange(1500), 2)
    y[1::4] = y[::4]  # half of the pairs say the same
    sample = BinarySample(y=y, p=p, weight=w if weighted else None, clusters=groups)
    fit = fit_binary(sample, 1e-12, level, rows_of(sample))
    (a,), (b,), (large,) = fit.intercepts, fit.slopes, fit.in_the_large
    z = norm.ppf((1 + level) / 2)

    def spread(design, at):
        q = 1 / (1 + np.exp(-at))
        bread = np.linalg.inv((design * (w * q * (1 - q))[:, None]).T @ design)
        scores = design * (w * (y - q))[:, None]
        meat = np.zeros((design.shape[1],) * 2)
        for k in range(1500):
            one = scores[groups == k].sum(axis=0)
            meat += np.outer(one, one)
        return z * np.sqrt(np.diag(bread @ meat @ bread))

    line = np.column_stack([np.ones(3000), logit(p)])
    halves = spread(line, line @ [a.estimate, b.estimate])
    halves = [*halves, *spread(line[:, :1], large.estimate + logit(p))]
    for coefficient, half in zip((a, b, large), halves, strict=True):
        # One more row and two more pairs of rows that go together.
        assert coefficient.low == pytest.approx(coefficient.estimate - half, abs=0.07 * half)
        assert coefficient.high == pytest.approx(coefficient.estimate + half, abs=0.07 * half)
    assert cox_test(y, p).interval == "bounded means"


def test_verdicts_in_words():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 4000)
    u = rng.random(4000)
    for power, shift, word in [
        (0.5, 0.0, "over-confident"),
        (2.0, 0.0, "under-confident"),
        (1.0, 0.5, "under-prediction"),
        (1.0, -0.5, "over-prediction"),
        (-1.0, 0.0, "reversed"),
    ]:
        truth = 1 / (1 + np.exp(-(shift + power * logit(p))))
        assert word in cox_test((u < truth).astype(int), p).verdict
    assert cox_test((u < p).astype(int), p).verdict.startswith("no deviation")


def test_lenses():
    y, p = three_classes()
    assert cox_test(y, p).lens == "canonical"
    top = cox_test(y, p, lens="confidence")
    direct = cox_test((p.argmax(axis=1) == y).astype(int), p.max(axis=1))
    assert top.statistic == pytest.approx(direct.statistic, rel=1e-10)
    one = cox_test(y, p, lens=ClassSpecific(1))
    assert one.slope.estimate == pytest.approx(
        cox_test((y == 1).astype(int), p[:, 1]).slope.estimate, rel=1e-10
    )
    with pytest.raises(InvalidInputError, match=r"`lens` must be one problem.*\n.*ClassSpecific"):
        cox_test(y, p, lens="classwise")


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_laws_of_weights(data):
    y, p = data()
    w = np.arange(len(y)) % 4
    repeated = cox_test(np.repeat(y, w), np.repeat(p, w, axis=0))
    counted = cox_test(y, p, sample_weight=w, weight_type="frequency")
    assert counted.statistic == pytest.approx(repeated.statistic, rel=1e-9)
    assert counted.slope.high == pytest.approx(repeated.slope.high, rel=1e-6)
    scaled = cox_test(y, p, sample_weight=w * 7.5)
    assert scaled.statistic == pytest.approx(cox_test(y, p, sample_weight=w).statistic, rel=1e-9)
    # Importance: the statistic of the repeated rows, at Kish's size.
    kish = w.sum() / (w @ w)
    assert scaled.statistic == pytest.approx(repeated.statistic * kish, rel=1e-9)
    assert scaled.slope.estimate == pytest.approx(repeated.slope.estimate, rel=1e-9)


def test_single_precision_gives_the_same_answer():
    y, p = two_classes()
    single = cox_test(y, p.astype(np.float32))
    assert single.slope.estimate == pytest.approx(FULL["slope"], rel=1e-5)


# Separation: y is 1 from a threshold on.


def test_a_separating_threshold_gives_an_infinite_slope_and_a_finite_statistic():
    p = np.array([0.1, 0.2, 0.6, 0.7])
    with pytest.warns(VeridicalWarning, match="separates the outcomes"):
        test = cox_test([0, 0, 1, 1], p, rng=0)
    null = math.log(0.9) + math.log(0.8) + math.log(0.6) + math.log(0.7)
    assert test.statistic == pytest.approx(-2 * null, rel=1e-9)  # the likelihood rises to 1
    assert test.slope.estimate == math.inf
    assert test.slope.high == math.inf
    assert test.slope.standard_error is None
    assert test.slope.low < 1
    # Thresholds on both sides of log-odds 0 would do: nothing is known of the intercept.
    assert test.intercept.estimate is None
    assert (test.intercept.low, test.intercept.high) == (-math.inf, math.inf)


def test_turned_separation_gives_minus_infinity():
    with pytest.warns(VeridicalWarning, match="separates the outcomes"):
        test = cox_test([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], rng=0)
    assert test.slope.estimate == -math.inf
    assert test.slope.low == -math.inf
    assert math.isfinite(test.slope.high)
    assert test.intercept.estimate == -math.inf  # threshold below log-odds 0, slope falling


def test_overlap_at_one_prediction_leaves_its_entropy():
    with pytest.warns(VeridicalWarning, match="separates the outcomes"):
        test = cox_test([0, 0, 1, 1], [0.1, 0.25, 0.25, 0.75], rng=0)
    null = math.log(0.9) + math.log(0.75) + math.log(0.25) + math.log(0.75)
    assert test.statistic == pytest.approx(2 * (2 * math.log(0.5) - null), rel=1e-8)
    assert test.intercept.estimate == math.inf


@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_only(outcome):
    p = np.array([0.2, 0.3, 0.6])
    with pytest.warns(VeridicalWarning, match="only one class occurred"):
        test = cox_test(np.full(3, outcome), p, labels=[0, 1], rng=0)
    sign = 1 if outcome else -1
    null = np.log(p if outcome else 1 - p).sum()
    assert test.statistic == pytest.approx(-2 * null, rel=1e-9)
    assert test.slope_test.statistic == pytest.approx(0, abs=1e-9)
    assert test.slope.estimate is None
    assert test.intercept.estimate == sign * math.inf
    assert test.in_the_large.estimate == sign * math.inf
    limit = test.in_the_large.low if outcome else test.in_the_large.high
    # Zero is the 97.5 % quantile of a Bayesian bootstrap of what is left, with one more row.
    left = sign * (outcome - 1 / (1 + np.exp(-(limit + logit(p)))))
    weights = np.random.default_rng(0).dirichlet(np.ones(4), 100_000)
    means = weights @ np.append(left, left.min() - 1)
    assert np.quantile(means, 0.025) == pytest.approx(0, abs=0.02)
    exact = math.exp(null)  # no outcome is less likely to fit than a whole row of one class
    assert 0 < exact <= test.pvalue <= 1


def test_equal_predictions_leave_the_intercept():
    p, n, hits = 0.3, 100, 45
    with pytest.warns(VeridicalWarning, match="all predictions are equal"):
        test = cox_test(np.repeat([1, 0], [hits, n - hits]), np.full(n, p))
    ratio = hits * math.log(0.45 / p) + (n - hits) * math.log(0.55 / 0.7)
    assert test.statistic == pytest.approx(2 * ratio, rel=1e-9)
    assert test.df == 1
    assert test.pvalue == pytest.approx(chi2.sf(2 * ratio, 1), rel=1e-8)
    assert test.slope.estimate is None
    assert test.slope_test is None
    assert test.in_the_large.estimate == pytest.approx(math.log(0.45 / 0.55) - logit(p), rel=1e-9)


def test_clipping_is_noted_only_where_it_matters():
    y, p = two_classes()
    sure = np.concatenate([p, [0.0, 1.0]])
    agreed = cox_test(np.concatenate([y, [0, 1]]), sure)
    assert agreed.notes == ()
    with pytest.warns(VeridicalWarning, match="2 predictions within 1e-12 of 0 or 1"):
        test = cox_test(np.concatenate([y, [1, 1]]), sure)
    outcomes, x = np.concatenate([y, [1, 1]]), logit(sure.clip(1e-12, 1 - 1e-12))
    found = minimize(lambda at: deviance(outcomes, x, *at), [0, 1], method="Nelder-Mead",
                     options={"xatol": 1e-8, "fatol": 1e-10})  # fmt: skip
    assert test.statistic == pytest.approx(deviance(outcomes, x, 0, 1) - found.fun, rel=1e-7)


@pytest.mark.parametrize("clip", [0, 0.5, -1, math.nan, "small", True])
def test_bad_clip_is_refused(clip):
    with pytest.raises(InvalidInputError, match="`clip` must be between 0 and"):
        cox_test([0, 1], [0.2, 0.7], clip=clip)


@pytest.mark.parametrize("option", ["slopes", "null"])
def test_unknown_options_are_refused(option):
    with pytest.raises(InvalidInputError, match=f"`{option}` must be one of"):
        cox_test([0, 1], [0.2, 0.7], **{option: "nothing"})


# Several classes at their edges.


def test_separated_classes():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    with pytest.warns(VeridicalWarning, match="separated|vary too little"):
        test = cox_test(p.argmax(axis=1), p, null="asymptotic")
    assert test.statistic == pytest.approx(-2 * np.log(p.max(axis=1)).sum(), rel=1e-9)
    assert test.slope.estimate == math.inf
    assert "miscalibrated" in test.verdict


def test_an_absent_class():
    y, p = three_classes()
    two = np.where(y == 2, 1, y)
    with pytest.warns(VeridicalWarning, match="never occurred: 2"):
        test = cox_test(two, p, labels=[0, 1, 2])
    assert test.intercepts_in_the_large[1].estimate == -math.inf
    assert math.isfinite(test.statistic)
    # Without its class the limit of the model is the binary one on the other two.
    share = p[:, 1] / (p[:, 0] + p[:, 1])
    rest = cox_test(two, share)
    assert test.intercepts_in_the_large[0].estimate == pytest.approx(
        rest.in_the_large.estimate, rel=1e-6
    )
    lost = 2 * -np.log(p[:, 0] + p[:, 1]).sum()
    assert test.statistic == pytest.approx(rest.statistic + lost, rel=1e-7)


def test_equal_rows_leave_the_intercepts():
    p = np.tile([0.2, 0.3, 0.5], (100, 1))
    y = np.repeat([0, 1, 2], [30, 30, 40])
    with pytest.warns(VeridicalWarning, match="identify 0 of 1 slopes"):
        test = cox_test(y, p)
    ratio = 30 * math.log(0.3 / 0.2) + 40 * math.log(0.4 / 0.5)
    assert test.statistic == pytest.approx(2 * ratio, rel=1e-9)
    assert test.df == 2
    assert test.slope_test is None


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_results_are_read_back_unchanged(data):
    test = cox_test(*data())
    assert CoxTest.from_json(test.to_json()) == test
    assert test.to_frame()["statistic"][0] == test.statistic


def test_infinite_results_are_read_back_unchanged():
    with pytest.warns(VeridicalWarning):
        test = cox_test([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.7], rng=0)
    assert CoxTest.from_json(test.to_json()) == test
    assert test.to_frame(backend="polars")["slope"][0] == math.inf
