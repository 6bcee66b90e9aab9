"""Any function is a measure: what it is given, what it may return, and who takes it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import veridical as v

RNG = np.random.default_rng(5)


def rows(k, n=160):
    """Labels and probabilities of k classes, over-confident."""
    p = np.random.default_rng(k).dirichlet(np.ones(k), n)
    truth = p**0.7 / (p**0.7).sum(axis=1, keepdims=True)
    y = (np.random.default_rng(1).random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    return y.clip(max=k - 1), p


def softer(p):
    return 0.8 * p + 0.2 / (2 if p.ndim == 1 else p.shape[1])


def log_of_outcome(y_true, y_prob, sample_weight=None):
    given = np.where(y_true == 1, y_prob, 1 - y_prob) if y_prob.ndim == 1 else None
    if given is None:
        given = y_prob[np.arange(len(y_true)), y_true]
    return np.average(-np.log(given), weights=sample_weight)


class Recorder:
    """Remembers what it is given; says how many rows there are."""

    def __init__(self):
        self.calls = []

    def __call__(self, y_true, y_prob, sample_weight=None, labels=None, pos_label="none"):
        self.calls.append((y_true, y_prob, sample_weight, labels, pos_label))
        return float(len(y_true))


SHAPES = {
    "one column": (["no", "yes", "yes"], [0.25, 0.5, 0.75], {}),
    "two columns": (["no", "yes", "yes"], [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], {}),
    "three": (["b", "a", "c"], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0, 0.25, 0.75]], {}),
    "own order": ([2, 9, 2], [[0.5, 0.25, 0.25]] * 3, {"labels": [9, 2, 5]}),
    "other positive": (["no", "yes", "yes"], [0.25, 0.5, 0.75], {"pos_label": "no"}),
    "booleans": ([True, False, True], [0.25, 0.5, 0.75], {}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_labels_and_probabilities_are_those_the_user_gave(name):
    y, p, options = SHAPES[name]
    seen = Recorder()
    v.FunctionMeasure(seen)(y, p, **options)
    y_true, y_prob, weight, labels, positive = seen.calls[0]
    assert y_true.tolist() == y
    np.testing.assert_array_equal(y_prob, np.asarray(p))
    assert weight is None
    assert labels == options.get("labels", sorted(set(y)))
    expected = options.get("pos_label", max(y)) if len(labels) == 2 else "none"
    assert positive == expected


def test_weights_are_passed_to_those_who_take_them():
    seen = Recorder()
    v.FunctionMeasure(seen)([0, 1, 1], [0.25, 0.5, 0.75], sample_weight=[1, 0, 2.5])
    assert seen.calls[0][2].tolist() == [1, 2.5]  # a row of weight zero is gone
    with pytest.raises(v.InvalidInputError, match="must be one that takes `sample_weight`"):
        v.FunctionMeasure(lambda y, p: 0.0)([0, 1], [0.25, 0.5], sample_weight=[1, 2])


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_functions_agree_with_the_estimator_of_the_same_figure(k, labels):
    y, p = rows(k, 80)
    y = y if labels == "numbers" else np.array([f"class {i}" for i in range(10)])[y]
    draws = {"n_resamples": 10, "rng": 0}
    ours, theirs = v.LogScore(), metrics.log_loss
    level, known = (v.null_level(one, y, p, **draws) for one in (theirs, ours))
    np.testing.assert_allclose(level.sample, known.sample)
    assert level.estimator == "log_loss"
    found, known = (v.consistency_test(one, y, p, **draws) for one in (theirs, ours))
    assert found.pvalue == known.pvalue
    assert found.statistic == pytest.approx(v.log_loss(y, p))
    interval = v.bootstrap_interval(theirs, y, p, n_resamples=100, rng=0)
    known = v.bootstrap_interval(ours, y, p, method="percentile", n_resamples=100, rng=0)
    assert interval.estimate == pytest.approx(known.estimate)
    assert interval.width == pytest.approx(known.width, rel=0.3)
    assert interval.method == "percentile"
    options = {"n_resamples": 60, "rng": 0, "method": "percentile"}
    found, known = (v.paired_difference(m, y, p, softer(p), **options) for m in (theirs, ours))
    assert found.first == pytest.approx(v.log_loss(y, p))
    assert found.estimate == pytest.approx(known.estimate)
    assert found.high - found.low == pytest.approx(known.high - known.low, rel=0.4)


@pytest.mark.parametrize(
    "score", [metrics.brier_score_loss, metrics.log_loss], ids=["brier", "log"]
)
@pytest.mark.parametrize("k", [2, 3])
def test_draws_that_lack_a_class_are_no_trouble_to_metrics_that_take_labels(score, k):
    p = np.full((12, k), 0.02 / (k - 1))
    p[:, 0] = 0.98
    y = np.arange(12) % k
    assert v.null_level(score, y, p, n_resamples=20, rng=0).n_resamples == 20


def test_compare_takes_functions_beside_its_own_figures():
    y, p = rows(3)
    models = {"a": p, "b": softer(p)}
    options = {"measures": [metrics.log_loss, v.SphericalScore()], "n_resamples": 40, "n_bins": 4}
    c = v.compare(models, y, **options)
    log, known = c.difference("a", "b", "log_loss"), c.difference("a", "b", "log")
    assert log.estimate == pytest.approx(known.estimate)
    assert log.method == "percentile"
    expected = v.spherical_score(y, p) - v.spherical_score(y, softer(p))
    assert c.difference("a", "b", "spherical").estimate == pytest.approx(expected)
    assert "log_loss" in str(c)
    with pytest.raises(v.InvalidInputError, match="`measures` must be of different names"):
        v.compare(models, y, measures=[lambda y, p: 0.0, lambda y, p: 1.0])
    with pytest.raises(v.InvalidInputError, match="`measures` must be a list"):
        v.compare(models, y, measures=metrics.log_loss)


def test_resamples_of_clusters_and_strata():
    """Rows of a cluster stay together; strata keep their number of rows."""
    y, p = rows(2, 40)
    seen = Recorder()
    v.bootstrap_interval(seen, y, p, stratify=True, n_resamples=5, rng=0)
    assert {int((call[0] == 1).sum()) for call in seen.calls} == {int(y.sum())}
    sizes = np.repeat([1, 2, 3, 4], 4)
    groups = np.repeat(np.arange(16), sizes)
    found = v.bootstrap_interval(seen, y, p, groups=groups, n_resamples=300, rng=0)
    # The number of rows of 16 clusters drawn with replacement: mean 40, variance 16 x 1.25.
    assert found.width == pytest.approx(2 * 1.96 * np.sqrt(20), rel=0.15)


def test_whole_frequencies_are_rows():
    y, p = rows(2, 40)
    times = np.random.default_rng(0).integers(0, 4, 40)
    options = {"n_resamples": 50, "rng": 0}
    weighted = v.bootstrap_interval(
        log_of_outcome, y, p[:, 1], sample_weight=times, weight_type="frequency", **options
    )
    repeated = v.bootstrap_interval(
        log_of_outcome, np.repeat(y, times), np.repeat(p[:, 1], times), **options
    )
    assert (weighted.low, weighted.high) == pytest.approx((repeated.low, repeated.high))


def test_order_of_rows_does_not_matter():
    y, p = rows(3)
    moved = np.random.default_rng(2).permutation(len(y))
    one = v.bootstrap_interval(log_of_outcome, y, p, n_resamples=20, rng=0)
    two = v.bootstrap_interval(log_of_outcome, y[moved], p[moved], n_resamples=20, rng=0)
    assert (one.low, one.high) == pytest.approx((two.low, two.high))


def test_bootstraps_of_calibration_errors_are_doubted():
    y, p = rows(2, 400)
    with pytest.warns(v.VeridicalWarning, match="resamples read 0.* larger than the rows"):
        v.bootstrap_interval(v.expected_calibration_error, y, p[:, 1], n_resamples=100, rng=0)


@pytest.mark.parametrize(
    ("function", "got"),
    [
        (lambda y, p: p, r"shape \(3,\)"),
        (lambda y, p: None, "None"),
        (lambda y, p: "0.5", "'0.5'"),
        (lambda y, p: True, "True"),
        (lambda y, p: np.nan, "nan"),
        (lambda y, p: 1j, "1j"),
    ],
)
def test_what_is_no_number_is_refused(function, got):
    with pytest.raises(v.InvalidInputError, match=f"function that returns a number; got {got}"):
        v.null_level(function, [0, 1, 1], [0.25, 0.5, 0.75])


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(3), np.array(0.25), np.inf])
def test_numbers_of_every_kind_are_taken(value):
    assert v.FunctionMeasure(lambda y, p: value)([0, 1], [0.25, 0.5]) == float(value)


def test_errors_of_the_function_say_where_they_come_from():
    def broken(y_true, y_prob):
        raise ZeroDivisionError("no rows above 0.9")

    with pytest.raises(ZeroDivisionError, match="no rows above") as caught:
        v.consistency_test(broken, [0, 1, 1], [0.25, 0.5, 0.75])
    assert caught.value.__notes__ == ["raised by the measure 'broken', given 3 rows"]


def test_names():
    assert v.FunctionMeasure(metrics.log_loss).name == "log_loss"
    assert v.FunctionMeasure(partial(metrics.fbeta_score, beta=2)).name == "fbeta_score"
    assert v.FunctionMeasure(lambda y, p: 0).name == "function"
    assert v.FunctionMeasure(Recorder()).name == "Recorder"
    assert v.FunctionMeasure(metrics.log_loss, name="mine").name == "mine"


def test_what_a_partial_fixes_is_not_passed_again():
    seen = Recorder()
    v.FunctionMeasure(partial(seen, labels="mine"))([0, 1], [0.25, 0.5])
    assert seen.calls[0][3] == "mine"


@pytest.mark.parametrize("estimator", [v.BinnedError, 0.5, "ece", None])
def test_classes_and_values_are_no_measures(estimator):
    with pytest.raises(v.InvalidInputError, match="`estimator` must be an estimator or a function"):
        v.null_level(estimator, [0, 1], [0.25, 0.5])


@pytest.mark.parametrize("method", ["analytic", "bca"])
def test_only_resamples_can_be_had_of_a_function(method):
    for call in (v.bootstrap_interval, partial(v.paired_difference, other=[0.5, 0.5])):
        with pytest.raises(v.InvalidInputError, match='"percentile" or "basic" for a function'):
            call(metrics.log_loss, [0, 1], [0.25, 0.5], method=method)


def test_a_lens_shows_functions_what_it_shows_estimators():
    def log_of_positive(y_true, y_prob, pos_label):
        return log_of_outcome((y_true == pos_label).astype(int), y_prob)

    y, p = rows(3)
    seen = v.FunctionMeasure(log_of_positive)(y, p, lens="confidence")
    assert seen == pytest.approx(v.LogScore()(y, p, lens="confidence"))
    classwise = v.FunctionMeasure(log_of_positive)(y, p, lens="classwise")
    assert classwise == pytest.approx(v.LogScore()(y, p, lens="classwise"))


def test_sums_hold_no_whole_vectors():
    y, p = rows(3)
    summary = v.evaluation.grid_summary(y, p)
    assert v.measure_summary(v.LogScore(), summary) == pytest.approx(v.log_loss(y, p))
    with pytest.raises(v.InvalidInputError, match="hold no whole vectors"):
        v.measure_summary(metrics.log_loss, summary)
