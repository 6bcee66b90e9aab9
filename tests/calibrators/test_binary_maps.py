"""What Platt, beta, quadratic and spline maps have in common: guards, weights, order, text."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from veridical import InvalidInputError
from veridical.calibrators._base.persistence import decode, encode
from veridical.calibrators._logistic.beta import BetaCalibrator
from veridical.calibrators._logistic.platt import PlattCalibrator
from veridical.calibrators._logistic.quadratic import QuadraticCalibrator
from veridical.calibrators._logistic.spline import SplineCalibrator
from veridical.exceptions import VeridicalWarning

FREE = {
    "platt": PlattCalibrator(penalty=None, smooth_targets=False),
    "beta": BetaCalibrator(penalty=None),
    "beta am": BetaCalibrator(parameters="am", penalty=None),
    "beta ab": BetaCalibrator(parameters="ab", penalty=None),
    "beta a": BetaCalibrator(parameters="a", penalty=None),
    "quadratic": QuadraticCalibrator(penalty=None),
    "spline": SplineCalibrator(penalty=None),
}
GUARDED = {name: clone(free).set_params(penalty=1.0) for name, free in FREE.items()}
GUARDED["platt smooth"] = PlattCalibrator(penalty=None, smooth_targets=True)
# Maps with a free constant: they can return any share at one point.
MOVABLE = [name for name in FREE if name not in ("beta ab", "beta a")]
GRID = expit(np.linspace(-12, 12, 401))


def overconfident(n, seed=0, slope=1.8):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return expit(slope * z), (rng.random(n) < expit(z)).astype(int)


def nearly_separated(n, rng):
    """Classes 5.2 standard deviations apart: most samples are separated, the population is not."""
    y = (rng.random(n) < 0.5).astype(int)
    t = rng.normal(0, 1, n) + np.where(y == 1, 2.6, -2.6)
    return expit(0.4 * 5.2 * t), y


def positive(calibrator, p):
    return calibrator.predict_proba(p)[:, 1]


def log_loss(y, q):
    return -np.mean(np.log(np.clip(np.where(y == 1, q, 1 - q), 1e-300, None)))


@pytest.fixture(params=GUARDED)
def guarded(request):
    return clone(GUARDED[request.param])


@pytest.fixture(params=FREE)
def free(request):
    return clone(FREE[request.param])


def test_only_one_class_gives_a_finite_map_with_a_guard(guarded):
    p = np.linspace(0.2, 0.8, 50)
    q = positive(guarded.fit(p, np.ones(50, dtype=int)), GRID)
    assert np.all((q > 0) & (q <= 1))
    assert log_loss(1, positive(guarded, p)) < log_loss(1, p)


def test_only_one_class_is_an_error_without_a_guard(free):
    with pytest.raises(InvalidInputError, match="of two classes without a penalty; got one class"):
        free.fit([0.2, 0.4, 0.6], [1, 1, 1])


@pytest.mark.parametrize("name", MOVABLE)
def test_equal_scores_get_the_share_of_the_class(name):
    fitted = clone(FREE[name]).fit([0.3] * 10, [1] * 4 + [0] * 6)
    assert positive(fitted, [0.3]) == pytest.approx(0.4, abs=1e-7)
    assert np.isfinite(positive(fitted, GRID)).all()


def test_equal_scores_are_finite_with_a_guard(guarded):
    q = positive(guarded.fit([0.3] * 10, [1] * 4 + [0] * 6), GRID)
    assert np.all((q >= 0) & (q <= 1))


def test_probabilities_of_zero_and_one_are_finite(guarded, free):
    p, y = overconfident(200)
    p[:5], p[-5:], y[:2], y[-2:] = 0.0, 1.0, 1, 0
    for calibrator in (guarded, free):
        q = positive(calibrator.fit(p, y), [0.0, 0.5, 1.0])
        assert np.all((q > 0) & (q < 1))
        assert calibrator.gradient_norm_ < 1e-8


def test_separated_classes_stay_moderate_with_a_guard(guarded):
    p, y = expit([-3, -2.5, -2, -1, 1, 2, 2.5, 3]), [0, 0, 0, 0, 1, 1, 1, 1]
    q = positive(guarded.fit(p, y), p)
    assert np.all(q[:4] < 0.5)
    assert np.all(q[4:] > 0.5)
    assert q.max() < 0.999


def test_separated_classes_without_a_guard_warn_and_stay_finite(free):
    p, y = expit([-3, -2.5, -2, -1, 1, 2, 2.5, 3]), [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.warns(VeridicalWarning, match="separate the classes"):
        free.fit(p, y)
    q = positive(free, p)
    assert np.isfinite(q).all()
    assert np.abs(q - y).max() < 1e-6


def test_fewer_rows_than_parameters(guarded):
    for p, y in (([0.7], [1]), ([0.7, 0.4], [1, 0]), ([0.4, 0.7], [1, 0])):
        q = positive(guarded.fit(p, y), GRID)
        assert np.all((q >= 0) & (q <= 1))


def test_a_million_copies_of_each_row_are_the_fit_without_guards():
    p, y = overconfident(60)
    for name in MOVABLE[:-1]:
        heavy = clone(GUARDED[name]).set_params(weight_type="frequency")
        q = positive(heavy.fit(p, y, sample_weight=np.full(60, 1e6)), GRID)
        assert q == pytest.approx(positive(clone(FREE[name]).fit(p, y), GRID), abs=1e-5)
        assert heavy.gradient_norm_ < 1e-8


def test_a_frequency_is_a_repetition(guarded):
    p, y = overconfident(80, seed=1)
    counts = np.random.default_rng(2).integers(0, 4, 80)
    weighted = guarded.set_params(weight_type="frequency").fit(p, y, sample_weight=counts)
    repeated = clone(guarded).fit(np.repeat(p, counts), np.repeat(y, counts))
    assert positive(weighted, GRID) == pytest.approx(positive(repeated, GRID), abs=1e-8)


@pytest.mark.parametrize("name", [name for name in FREE if name != "spline"])
def test_without_guards_an_importance_weight_is_a_repetition(name):
    p, y = overconfident(80, seed=1)
    counts = np.random.default_rng(2).integers(0, 4, 80)
    weighted = clone(FREE[name]).fit(p, y, sample_weight=counts)
    repeated = clone(FREE[name]).fit(np.repeat(p, counts), np.repeat(y, counts))
    assert positive(weighted, GRID) == pytest.approx(positive(repeated, GRID), abs=1e-8)


def test_importance_weights_have_no_scale(guarded):
    p, y = overconfident(80, seed=1)
    weight = np.random.default_rng(3).random(80)
    small = positive(clone(guarded).fit(p, y, sample_weight=weight), GRID)
    large = positive(clone(guarded).fit(p, y, sample_weight=1024 * weight), GRID)
    assert small == pytest.approx(large, abs=1e-10)
    ones = positive(clone(guarded).fit(p, y, sample_weight=np.full(80, 3.0)), GRID)
    assert ones == pytest.approx(positive(guarded.fit(p, y), GRID), abs=1e-10)


def test_the_order_of_rows_does_not_matter(guarded):
    p, y = overconfident(300, seed=4)
    order = np.random.default_rng(5).permutation(300)
    shuffled = positive(clone(guarded).fit(p[order], y[order]), GRID)
    assert positive(guarded.fit(p, y), GRID) == pytest.approx(shuffled, abs=1e-9)


def test_maps_never_fall_and_keep_the_ranking(guarded):
    p, y = overconfident(2000, seed=6)
    guarded.fit(p, y)
    assert np.diff(positive(guarded, GRID)).min() >= 0
    q = positive(guarded, p)
    assert roc_auc_score(y, q) == pytest.approx(roc_auc_score(y, p), abs=1e-12)


@pytest.mark.parametrize("name", [name for name in FREE if name != "platt"])
def test_bounded_maps_are_flat_where_predictions_rank_the_wrong_way(name):
    p, y = overconfident(500, seed=7)
    for calibrator in (FREE[name], GUARDED[name]):
        with pytest.warns(VeridicalWarning, match="lower where 1 happened"):
            fitted = clone(calibrator).fit(p, 1 - y)
        q = positive(fitted, GRID)
        assert np.diff(q).min() >= 0
        assert np.ptp(positive(fitted, p)) < 0.1
        assert fitted.gradient_norm_ < 1e-8


def test_logits_are_log_odds(guarded):
    p, y = overconfident(200)
    z = np.log(p / (1 - p))
    by_logit = clone(guarded).set_params(input="logit").fit(z, y)
    expected = positive(guarded.fit(p, y), p)
    assert positive(by_logit, z) == pytest.approx(expected, abs=1e-9)


def test_two_columns_in_any_order(guarded):
    p, y = overconfident(200)
    names = np.where(y == 1, "yes", "no")
    pair = np.column_stack([p, 1 - p])
    turned = clone(guarded).set_params(labels=["yes", "no"]).fit(pair, names)
    expected = guarded.fit(p, y).predict_proba(p)
    assert turned.predict_proba(pair)[:, ::-1] == pytest.approx(expected, abs=1e-9)


def test_text_and_back_predicts_the_same_bits(guarded):
    p, y = overconfident(200)
    guarded.fit(p, y)
    read = decode(json.loads(json.dumps(encode(guarded))))
    assert read.get_params() == guarded.get_params()
    assert np.array_equal(read.predict_proba(GRID), guarded.predict_proba(GRID))


def test_parameters_are_checked_by_fit_and_not_before(guarded):
    for bad in (-1.0, np.nan, "1", True):
        with pytest.raises(InvalidInputError, match="`penalty` must be a number of at least 0"):
            clone(guarded).set_params(penalty=bad).fit([0.2, 0.7], [0, 1])


@pytest.mark.parametrize("far", [40.0, 700.0, 1e5, 1e200, 1e308])
def test_logits_far_outside_are_finite(guarded, far):
    p, y = overconfident(200)
    z = np.append(np.log(p / (1 - p)), [-far, far, far])
    y = np.append(y, [0, 1, 0])
    guarded.set_params(input="logit").fit(z, y)
    q = positive(guarded, [-1e308, -far, -1.0, 0.0, 1.0, far, 1e308])
    assert np.all((q >= 0) & (q <= 1))
    assert np.diff(q).min() >= 0
    assert guarded.gradient_norm_ < 1e-8


@pytest.mark.parametrize("factor", [10.0, 100.0])
def test_logits_that_are_certain_and_often_wrong(guarded, free, factor):
    p, y = overconfident(400)
    z = factor * np.log(p / (1 - p))
    for calibrator in (guarded, free):
        calibrator.set_params(input="logit").fit(z, y)
        assert calibrator.gradient_norm_ < 1e-8
        assert log_loss(y, positive(calibrator, z)) < 0.62  # the best slope has 0.53, none 0.69


@pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")
@pytest.mark.parametrize("name", ["platt", "platt smooth", "beta", "quadratic", "spline"])
def test_guards_prevent_blow_ups(name):
    """Samples that happen to be separated, of classes that are not.

    Each of 12 samples of 90 rows is fitted and judged on 20,000 rows of the same task. Smoothed
    targets cost a little for sure, the ridge gains for sure.
    """
    rng = np.random.default_rng(8)
    p_test, y_test = nearly_separated(20_000, rng)
    before = log_loss(y_test, p_test)
    change: dict[str, list[float]] = {"free": [], "guarded": []}
    for _ in range(12):
        p, y = nearly_separated(90, rng)
        for kind, calibrator in (("free", FREE[name.split()[0]]), ("guarded", GUARDED[name])):
            fitted = clone(calibrator).fit(p, y)
            change[kind].append(log_loss(y_test, positive(fitted, p_test)) - before)
    if "smooth" in name:
        assert 0.01 < np.mean(change["guarded"]) < max(change["guarded"]) < 0.05
    else:
        assert max(change["guarded"]) < 0
    assert max(change["free"]) > (0.05 if name == "spline" else 0.2)


@pytest.mark.parametrize("name", ["platt", "beta", "quadratic", "spline"])
def test_calibrated_predictions_are_left_alone_the_more_so_the_more_there_are(name):
    distances = []
    for n in (300, 30_000):
        rng = np.random.default_rng(9)
        p = expit(rng.normal(0, 1.5, n))
        y = (rng.random(n) < p).astype(int)
        q = positive(clone(GUARDED[name]).fit(p, y), p)
        distances.append(np.mean(np.abs(q - p)))
    # Distances shrink like 1 / sqrt(n), tenfold here; fivefold leaves room for luck.
    assert distances[1] < min(distances[0] / 5 if distances[0] > 0.01 else 1, 0.008)


def test_both_tails_keep_their_digits(guarded):
    """Neither class ever gets probability zero, however sure the score."""
    rng = np.random.default_rng(0)
    z = 2 * rng.standard_normal(300)
    y = (rng.random(300) < 1 / (1 + np.exp(-z))).astype(int)
    guarded.set_params(input="logit").fit(z, y)
    q = guarded.predict_proba([-45.0, 45.0])
    assert (q > 0).all()
    assert q[0, 1] < 1e-6
    assert q[1, 0] < 1e-6
    near = guarded.predict_proba([16.0])
    assert near[0, 0] == pytest.approx(1 - near[0, 1], abs=1e-15)
