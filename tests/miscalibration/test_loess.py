"""ICI and its relatives against least squares row by row, and against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest

from veridical import ClassSpecific, InvalidInputError
from veridical._core.sample import pool_scores
from veridical.miscalibration._errors import loess as _loess
from veridical.miscalibration._errors.loess import LoessError, loess_curve

SUMMARIES = ["mean", "median", "p90", "max"]

# statsmodels 0.15.0, run once on `reference_rows`:
#   f = statsmodels.nonparametric.smoothers_lowess.lowess(
#       y.astype(float), p, frac=span, it=0, delta=0, return_sorted=False)
#   d = np.abs(f - p); d.mean(), np.median(d), d.max(), f[[0, 57, 120, 199]]
# calzone 0.1.0's lowess_regression_analysis(y, np.column_stack([1 - p, p]), span=span, delta=0)
# gives the same mean.
STATSMODELS = [
    ("plain", 0.75, 0.22308764807022516, 0.2842076836982434, 0.2985713141112328,
     [0.2985745647072742, 0.3794455651333207, 0.6155301141344819, 0.8787433076058074]),
    ("plain", 0.3, 0.22978843256666445, 0.2838410605792719, 0.34432798339205317,
     [0.28429014026282606, 0.3678589168904773, 0.60668703847424, 0.8544717638253216]),
    ("tied", 0.75, 0.22824215817991877, 0.2800997981930081, 0.31114554597816757,
     [0.31114554597816757, 0.39932933870162396, 0.6382369676621545, 0.8550507879033745]),
    ("tied", 0.3, 0.23918860949528473, 0.27440646982599026, 0.36521739130434766,
     [0.31111111111111106, 0.375, 0.6417958571315765, 0.8250128637968813]),
]  # fmt: skip


def reference_rows(kind):
    i = np.arange(200)
    p = ((i + 0.5) / 200) ** 2
    y = ((73 * i) % 200 < 40 + 0.7 * i).astype(int)
    return y, np.round(p, 1) if kind == "tied" else p


def direct_curve(y, p, w, span, degree):
    """Weighted least squares around each row, over all rows."""
    p, w = p.astype(float), np.array(oracles.ones(w, len(p)))
    fit = []
    for s in p:
        distance = np.abs(p - s)
        order = np.argsort(distance)
        held = np.cumsum(w[order])
        h = distance[order][np.searchsorted(held, span * held[-1] * (1 - oracles.CLOSE))]
        u = (p - s) / h if h > 0 else np.where(distance > 0, 1.0, 0.0)
        root = np.sqrt(w * np.clip(1 - np.abs(u) ** 3, 0, None) ** 3)
        powers = np.vander(np.clip(u, -1, 1), degree + 1, increasing=True)
        solution = np.linalg.lstsq(powers * root[:, None], y * root, rcond=1e-9)[0]
        fit.append(min(max(solution[0], 0.0), 1.0))
    return np.array(fit)


def summarise(gap, w, summary):
    """Weighted mean, quantile or maximum, by walking along the sorted values."""
    w = np.array(oracles.ones(w, len(gap)))
    if summary == "mean":
        return float(gap @ w / w.sum())
    if summary == "max":
        return float(gap.max())
    target = (0.5 if summary == "median" else 0.9) * w.sum()
    order = np.argsort(gap)
    held = np.cumsum(w[order])
    above = gap[order][held > target * (1 + oracles.CLOSE)][0]
    return float(gap[order][held >= target * (1 - oracles.CLOSE)][0] + above) / 2


def curve(y, p, w, span, degree):
    scores = pool_scores(p, y, w)
    fit = loess_curve(type(scores)(scores.value.astype(float), scores.weight, scores.positive),
                      span, degree)  # fmt: skip
    return np.clip(fit, 0, 1)[np.searchsorted(scores.value, p)]


@pytest.mark.parametrize(
    ("kind", "span", "mean", "median", "largest", "fitted"), STATSMODELS, ids=lambda v: str(v)[:9]
)
def test_degree_one_is_lowess_of_statsmodels(kind, span, mean, median, largest, fitted):
    y, p = reference_rows(kind)
    assert LoessError("mean", span, 1)(y, p) == pytest.approx(mean, abs=1e-12)
    assert LoessError("median", span, 1)(y, p) == pytest.approx(median, abs=1e-12)
    assert LoessError("max", span, 1)(y, p) == pytest.approx(largest, abs=1e-12)
    found = curve(y, p, None, span, 1)[[0, 57, 120, 199]]
    np.testing.assert_allclose(found, fitted, atol=1e-12)


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("span", [0.25, 0.75, 1.0])
def test_errors_are_those_of_least_squares_row_by_row(kind, degree, span):
    y, p, w = oracles.random_rows(kind)
    expected = direct_curve(y, p, w, span, degree)
    np.testing.assert_allclose(curve(y, p, w, span, degree), expected, atol=1e-9)
    for summary in SUMMARIES:
        found = LoessError(summary, span, degree)(y, p, sample_weight=w)
        gap = np.abs(expected - p.astype(float))
        assert found == pytest.approx(summarise(gap, w, summary), abs=1e-9)


@pytest.mark.parametrize("degree", [1, 2])
def test_a_polynomial_of_the_degree_is_reproduced(degree):
    p = np.linspace(0.05, 0.95, 60)
    truth = 0.2 + 0.5 * p + (0.2 * p**2 if degree == 2 else 0)
    y = np.tile([0, 1], 60)  # each score twice, its outcomes weighted by the truth
    w = np.column_stack([1 - truth, truth]).ravel()
    found = curve(y, np.repeat(p, 2), w, 0.4, degree)
    np.testing.assert_allclose(found[::2], truth, atol=1e-10)
    error = LoessError("max", 0.4, degree)(y, np.repeat(p, 2), sample_weight=w)
    assert error == pytest.approx(np.abs(truth - p).max(), abs=1e-10)


@pytest.mark.parametrize("summary", SUMMARIES)
@pytest.mark.parametrize("positive", [0, 4, 10])
def test_one_score_has_the_gap_to_its_frequency(summary, positive):
    y = [1] * positive + [0] * (10 - positive)
    assert LoessError(summary)(y, [0.3] * 10) == pytest.approx(abs(positive / 10 - 0.3))


def test_a_score_that_holds_the_span_is_fitted_by_its_frequency():
    y, p = [1, 0, 0, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.2, 0.2, 0.6, 0.9]
    assert curve(np.array(y), np.array(p), None, 0.7, 2)[0] == pytest.approx(0.2)
    assert LoessError("median", 0.7)(y, p) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_has_an_error_too(n):
    y, p = [1, 0, 1][:n], [0.3, 0.5, 0.8][:n]
    for degree in (1, 2):
        for span in (0.1, 0.75, 1.0):
            assert 0 <= LoessError("mean", span, degree)(y, p) <= 1


@pytest.mark.parametrize("degree", [1, 2])
def test_with_one_class_the_curve_is_that_class(degree):
    p = np.random.default_rng(0).random(700)
    for outcome in (0, 1):
        found = LoessError(degree=degree)([outcome] * 700, p)
        assert found == pytest.approx(abs(outcome - p.mean()), abs=1e-12)


def test_fitted_values_stay_in_the_unit_interval():
    p = np.linspace(0, 1, 40)
    y = (p > 0.6).astype(int)  # a polynomial overshoots on both sides of the step
    raw = loess_curve(pool_scores(p, y, None), 0.5, 2)
    assert raw.min() < 0
    assert raw.max() > 1
    expected = np.abs(np.clip(raw, 0, 1) - p).mean()
    assert LoessError(span=0.5)(y, p) == pytest.approx(expected)


@pytest.mark.parametrize("scores", ["uniform", "skewed", "clustered", "tied"])
@pytest.mark.parametrize("n", [900, 5000])
@pytest.mark.parametrize("degree", [1, 2])
def test_interpolation_and_groups_change_little(scores, n, degree, monkeypatch):
    rng = np.random.default_rng(5)
    p = rng.random(n)
    if scores == "skewed":
        p = p**6
    if scores == "clustered":
        p = np.where(rng.random(n) < 0.9, 0.5 + 1e-3 * rng.normal(size=n), p)
    if scores == "tied":
        p = np.where(rng.random(n) < 0.3, 0.5, p)
    y = (rng.random(n) < p**1.3).astype(int)
    w = rng.gamma(2.0, size=n)
    fast = np.abs(curve(y, p, w, 0.75, degree) - p)
    monkeypatch.setattr(_loess, "N_EXACT", 10**9)
    exact = np.abs(curve(y, p, w, 0.75, degree) - p)
    assert not np.array_equal(fast, exact)
    for summary in SUMMARIES:
        loose = summary == "max" and scores == "clustered"
        expected = summarise(exact, w, summary)
        assert summarise(fast, w, summary) == pytest.approx(expected, abs=0.02 if loose else 1e-4)


def test_calibrated_predictions_read_what_the_docstring_says():
    rng = np.random.default_rng(1)
    p = rng.random((100, 200))
    y = (rng.random(p.shape) < p).astype(int)
    for degree, level in ((2, 0.042), (1, 0.032)):
        found = [LoessError(degree=degree)(*rows) for rows in zip(y, p, strict=True)]
        assert np.mean(found) == pytest.approx(level, abs=0.004)


@pytest.mark.parametrize("summary", SUMMARIES)
@pytest.mark.parametrize("degree", [1, 2])
def test_weights_and_row_order_obey_the_laws(summary, degree, binary):
    estimator = LoessError(summary, degree=degree)
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


@pytest.mark.parametrize("summary", SUMMARIES)
def test_laws_hold_for_many_scores_too(summary):
    rng = np.random.default_rng(6)
    n = 6000
    p = rng.random(n)
    y, w = (rng.random(n) < p**1.3).astype(int), rng.gamma(2.0, size=n)
    estimator, order = LoessError(summary), rng.permutation(n)
    weighted = estimator(y, p, sample_weight=w)
    assert estimator(y, p, sample_weight=9 * w) == pytest.approx(weighted, abs=1e-11)
    moved = estimator(y[order], p[order], sample_weight=w[order])
    assert moved == pytest.approx(weighted, abs=1e-12)
    doubled = estimator(y, p, sample_weight=np.full(n, 2.0))
    assert doubled == pytest.approx(estimator(np.tile(y, 2), np.tile(p, 2)), abs=1e-12)


def test_classwise_is_the_mean_over_classes_and_vectors_are_refused(multiclass):
    y, p, w = multiclass.y, multiclass.p, multiclass.w
    each = [LoessError()(y, p, lens=ClassSpecific(k), sample_weight=w) for k in range(3)]
    found = LoessError()(y, p, lens="classwise", sample_weight=w)
    assert found == pytest.approx(np.mean(each), abs=1e-12)
    with pytest.raises(InvalidInputError, match="LoessError: `lens`"):
        LoessError()(y, p, lens="canonical")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"summary": "ici"}, "`summary` must be one of 'mean'"),
        ({"summary": 0.5}, "`summary` must be one of 'mean'"),
        ({"span": 0}, "`span` must be in"),
        ({"span": 1.01}, "`span` must be in"),
        ({"span": -0.5}, "`span` must be in"),
        ({"span": math.nan}, "`span` must be in"),
        ({"span": True}, "`span` must be in"),
        ({"span": "wide"}, "`span` must be in"),
        ({"degree": 0}, "`degree` must be 1 or 2"),
        ({"degree": 3}, "`degree` must be 1 or 2"),
        ({"degree": True}, "`degree` must be 1 or 2"),
        ({"degree": "linear"}, "`degree` must be 1 or 2"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused_at_once(options, message):
    with pytest.raises(InvalidInputError, match=message):
        LoessError(**options)


def test_names_are_those_of_the_paper():
    assert [LoessError(s).name for s in SUMMARIES] == ["ICI", "E50", "E90", "Emax"]
    assert LoessError("p90", 0.5, 1).definition == (
        "90th percentile distance between scores and a loess curve of degree 1, span 0.5; "
        "biased upwards"
    )
