"""Platt scaling against closed forms, scipy, scikit-learn and the chapter's demonstration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from veridical import InvalidInputError
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._logistic.platt import PlattCalibrator, logistic_map_of_means
from veridical.exceptions import VeridicalWarning


def bent(n=300):
    """Probabilities on a grid and outcomes by the golden ratio: the same everywhere."""
    i = np.arange(n)
    p = (i + 0.5) / n
    z = np.log(p / (1 - p))
    u = (i * 0.6180339887498949) % 1.0
    return p, (u < 1 / (1 + np.exp(-(0.6 * z + 0.15 * z * z - 0.3)))).astype(int)


def objective(theta, z, t, w, penalty):
    """Log loss plus ridge, written out."""
    eta = theta[0] * z + theta[1]
    loss = np.sum(w * (np.logaddexp(0, eta) - t * eta))
    return loss + penalty / 2 * ((theta[0] - 1) ** 2 + theta[1] ** 2)


def smoothed(y, w):
    """Platt's targets, written out."""
    n1, n0 = w[y == 1].sum(), w[y == 0].sum()
    return np.where(y == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))


def gradient(fitted, z, t, w, penalty):
    p = expit(fitted.slope_ * z + fitted.intercept_)
    ridge = penalty * np.array([fitted.slope_ - 1, fitted.intercept_])
    return np.array([np.sum(w * (p - t) * z), np.sum(w * (p - t))]) + ridge


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 1.0, 25.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fit_is_the_optimum_scipy_finds(smooth, penalty, weighted):
    p, y = bent()
    z, w = np.log(p / (1 - p)), 1.0 + np.arange(300) % 3 if weighted else np.ones(300)
    fitted = PlattCalibrator(smooth_targets=smooth, penalty=penalty, weight_type="frequency")
    fitted.fit(p, y, sample_weight=w if weighted else None)
    t = smoothed(y, w) if smooth else y
    found = minimize(objective, [1.0, 0.0], args=(z, t, w, penalty), tol=1e-12)
    ours = objective([fitted.slope_, fitted.intercept_], z, t, w, penalty)
    assert ours <= found.fun + 1e-9
    assert [fitted.slope_, fitted.intercept_] == pytest.approx(found.x, abs=1e-5)
    assert np.linalg.norm(gradient(fitted, z, t, w, penalty)) / w.sum() < 1e-8
    assert fitted.gradient_norm_ < 1e-8


def test_more_rows_than_cells_end_at_the_same_certificate():
    rng = np.random.default_rng(0)
    z = np.append(rng.normal(-1, 2, 200_000), [-600.0, 40.0])  # and two rows far outside
    y = (rng.random(200_002) < expit(0.6 * z + 0.2)).astype(int)
    fitted = PlattCalibrator(input="logit").fit(z, y)
    assert np.linalg.norm(gradient(fitted, z, y, 1.0, 1.0)) / len(z) < 1e-8


def test_many_rows_that_are_all_far_out_or_all_equal():
    y = np.arange(200_000) % 4 == 0
    equal = PlattCalibrator(smooth_targets=False, penalty=None, input="logit")
    assert equal.fit(np.full(200_000, 50.0), y).predict_proba([50.0])[0, 1] == pytest.approx(0.25)
    z = 20 + np.arange(200_000) % 1000 / 500.0
    fitted = PlattCalibrator(input="logit").fit(z, y)
    assert np.linalg.norm(gradient(fitted, z, y, 1.0, 1.0)) / len(z) < 1e-8


@pytest.mark.parametrize(
    ("weighted", "a", "b"),
    [
        (False, -0.4214984991763003, -0.044905289986739386),
        (True, -0.42794599917498605, -0.04797595597969664),
    ],
)
def test_against_scikit_learn_on_the_same_objective(weighted, a, b):
    """`_SigmoidCalibration().fit(logits, y)` of scikit-learn 1.9.1: p = 1 / (1 + exp(a z + b)).

    It stops when its gradient is below 1e-6; ours is the smaller value of the same convex
    objective, with a gradient below 1e-8 a row, so the difference is theirs.
    """
    p, y = bent()
    z, w = np.log(p / (1 - p)), 1.0 + np.arange(300) % 3 if weighted else np.ones(300)
    fitted = PlattCalibrator(penalty=None, weight_type="frequency").fit(p, y, sample_weight=w)
    theirs, ours = [-a, -b], [fitted.slope_, fitted.intercept_]
    assert ours == pytest.approx(theirs, abs=1e-4)
    t = smoothed(y, w)
    assert objective(ours, z, t, w, 0) <= objective(theirs, z, t, w, 0) + 1e-12


def test_without_guards_it_is_logistic_regression():
    p, y = bent()
    z = np.log(p / (1 - p))
    reference = LogisticRegression(C=1e12, tol=1e-10, max_iter=1000).fit(z[:, None], y)
    fitted = PlattCalibrator(penalty=None, smooth_targets=False).fit(p, y)
    assert fitted.slope_ == pytest.approx(reference.coef_[0, 0], abs=1e-6)
    assert fitted.intercept_ == pytest.approx(reference.intercept_[0], abs=1e-6)


def test_targets_are_smoothed_exactly_where_no_ridge_is():
    p, y = bent()
    for options, smooth, penalty in (({}, False, 1.0), ({"penalty": None}, True, None)):
        default = PlattCalibrator(**options).fit(p, y)
        said = PlattCalibrator(smooth_targets=smooth, penalty=penalty).fit(p, y)
        assert (default.slope_, default.intercept_) == (said.slope_, said.intercept_)
    scores = PlattCalibrator(input="score").fit(p, y)
    said = PlattCalibrator(input="score", smooth_targets=True, penalty=None).fit(p, y)
    assert (scores.slope_, scores.intercept_) == (said.slope_, said.intercept_)


def test_scores_may_have_any_unit_and_origin():
    p, y = bent()
    z = np.log(p / (1 - p))
    expected = PlattCalibrator(input="score").fit(z, y).predict_proba(z)
    for unit, origin in ((1e9, 0.0), (1e-9, 0.0), (3.0, 1e5), (1e200, 0.0)):
        moved = PlattCalibrator(input="score").fit(unit * z + origin, y)
        assert moved.predict_proba(unit * z + origin) == pytest.approx(expected, abs=1e-7)
        assert moved.gradient_norm_ < 1e-8


def test_scores_of_one_class_or_one_value_or_two_separated_classes():
    one = PlattCalibrator(input="score").fit([-3.0, 5.0], [1, 1])
    # Targets (n1 + 1) / (n1 + 2) = 3/4 for both rows, and nothing says they differ.
    assert one.predict_proba([-3.0, 5.0])[:, 1] == pytest.approx([0.75, 0.75])
    flat = PlattCalibrator(input="score", smooth_targets=False).fit([7.0] * 5, [0, 0, 1, 0, 1])
    assert flat.predict_proba([7.0])[:, 1] == pytest.approx([0.4])
    apart = PlattCalibrator(input="score").fit([-1.0, -1.0, 1.0, 1.0], [0, 0, 1, 1])
    assert apart.predict_proba([-1.0, 1.0])[:, 1] == pytest.approx([0.25, 0.75])
    with pytest.warns(VeridicalWarning, match="separate the classes"):
        PlattCalibrator(input="score", smooth_targets=False).fit([-1.0, 2.0], [0, 1])


def test_the_map_of_class_means_by_hand():
    # Means 1 and 4, deviations of 1 within each class: w = (4 - 1) / 1, m = (4 + 1) / 2.
    scores, y = np.array([0.0, 2.0, 3.0, 5.0]), np.array([0, 0, 1, 1])
    assert logistic_map_of_means(scores, WeightedOutcomes(y, None, 4.0, 2)) == (3.0, -7.5)
    weight = np.array([2.0, 2.0, 1.0, 1.0])
    assert logistic_map_of_means(scores, WeightedOutcomes(y, weight, 4.0, 2)) == (3.0, -7.5)
    flat = logistic_map_of_means(np.ones(4), WeightedOutcomes(np.array([0, 1, 1, 1]), None, 4.0, 2))
    assert flat == (0.0, pytest.approx(math.log(3)))


def test_the_map_of_class_means_is_right_for_two_normal_classes():
    """Bayes: classes N(1, 4) and N(-2, 4) in equal shares have log odds (3/4) s + 3/8."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 100_000)
    scores = rng.normal(np.where(y == 1, 1.0, -2.0), 2.0)
    slope, intercept = logistic_map_of_means(scores, WeightedOutcomes(y, None, 200_000.0, 2))
    assert slope == pytest.approx(0.75, abs=0.02)
    assert intercept == pytest.approx(0.375, abs=0.02)


def test_unknown_options():
    with pytest.raises(InvalidInputError, match="`smooth_targets` must be True, False"):
        PlattCalibrator(smooth_targets="yes").fit([0.2, 0.7], [0, 1])


def ten_bin_error(p, y):
    """The chapter's `ece`: ten bins of equal width, right ends open but the last."""
    cell = np.minimum((p * 10).astype(int), 9)
    gaps = [abs(y[cell == k].mean() - p[cell == k].mean()) * (cell == k).mean() for k in set(cell)]
    return sum(gaps)


def test_the_demonstration_of_the_chapter():
    """Chapter 86.6: an overconfident logistic model, errors before and after Platt scaling.

    Over 200 repetitions the errors are .083 and .019 with standard deviations .008 and .005, so
    means of 40 repetitions are within 4 standard errors of them but once in 10,000 runs.
    """
    rng, before, after = np.random.default_rng(1301), [], []
    for _ in range(40):
        x = rng.normal(size=(9000, 2))
        y = (rng.random(9000) < expit(-0.4 + x @ [1.6, -1.2])).astype(int)
        model = LogisticRegression(C=1e10).fit(x[:3000], y[:3000])
        p = expit(1.8 * model.decision_function(x))
        platt = PlattCalibrator(penalty=None, smooth_targets=False).fit(p[3000:6000], y[3000:6000])
        before.append(ten_bin_error(p[6000:], y[6000:]))
        after.append(ten_bin_error(platt.predict_proba(p[6000:])[:, 1], y[6000:]))
    assert np.mean(before) == pytest.approx(0.083, abs=4 * 0.008 / math.sqrt(40) + 0.0005)
    assert np.mean(after) == pytest.approx(0.019, abs=4 * 0.005 / math.sqrt(40) + 0.0005)


# --- a line of the probability itself: scikit-learn's sigmoid


@pytest.mark.parametrize(
    ("weighted", "a", "b"),
    [
        (False, -2.7358438752029257, 1.321873577044258),
        (True, -2.748721411988579, 1.32361804640566),
    ],
)
def test_a_line_of_probabilities_is_the_sigmoid_of_scikit_learn(weighted, a, b):
    """`_SigmoidCalibration().fit(p, y, w)` of scikit-learn 1.9.1: 1 / (1 + exp(a p + b))."""
    p, y = bent()
    w = 1.0 + np.arange(300) % 3 if weighted else None
    fitted = PlattCalibrator(feature="probability", weight_type="frequency").fit(p, y, w)
    assert [fitted.slope_, fitted.intercept_] == pytest.approx([-a, -b], abs=1e-8)
    new = np.array([0.0, 0.3, 1.0])
    np.testing.assert_allclose(
        fitted.predict_proba(new)[:, 1], 1 / (1 + np.exp(a * new + b)), rtol=1e-8
    )


def test_two_groups_have_their_shares_also_on_probabilities():
    p, y = [0.9] * 4 + [0.1] * 4, [1, 1, 1, 0, 0, 0, 0, 1]
    plain = PlattCalibrator(feature="probability", smooth_targets=False).fit(p, y)
    assert plain.predict_proba([0.1, 0.9])[:, 1] == pytest.approx([0.25, 0.75], abs=1e-9)
    assert plain.slope_ == pytest.approx(2 * math.log(3) / 0.8, abs=1e-7)  # a 0.8 = 2 log 3


@pytest.mark.parametrize("input", ["logit", "score"])
def test_logits_and_scores_become_the_probabilities_the_line_is_of(input):
    p, y = bent()
    new = np.array([0.01, 0.4, 0.99])
    on_p = PlattCalibrator(feature="probability").fit(p, y)
    on_z = PlattCalibrator(feature="probability", input=input).fit(np.log(p / (1 - p)), y)
    np.testing.assert_allclose(
        on_z.predict_proba(np.log(new / (1 - new))), on_p.predict_proba(new), atol=1e-9
    )


def test_unknown_features_are_refused():
    p, y = bent()
    with pytest.raises(InvalidInputError, match="`feature` must be one of"):
        PlattCalibrator(feature="odds").fit(p, y)


def test_probabilities_that_hardly_differ_are_taken_for_equal():
    p = np.where(np.arange(40) % 2, 1e-200, 2e-200)
    fitted = PlattCalibrator(feature="probability").fit(p, np.arange(40) % 4 == 0)
    assert fitted.predict_proba([1e-200, 0.5])[:, 1] == pytest.approx(
        [(10 * 11 / 12 + 30 * 1 / 32) / 40] * 2  # the mean of Platt's targets
    )
    assert PlattCalibrator.from_dict(fitted.to_dict()).slope_ == fitted.slope_
