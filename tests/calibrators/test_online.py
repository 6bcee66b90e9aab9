"""Maps that learn row by row: golden values, a naive version, and the bound."""

import json
import math

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax

from veridical.calibrators import Calibrator, OnlineCalibrator
from veridical.calibrators._online.mixture import Maps, learn_two
from veridical.exceptions import InvalidInputError

RIDGE, BETA = 20.0, 0.1


def stream(n, *, slope=1.0, level=0.0, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(-1, 2, n)
    return expit(z), (rng.random(n) < expit(slope * z + level)).astype(int)


def three_classes(n, *, power=0.6, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), n)
    truth = p**power / (p**power).sum(axis=1, keepdims=True)
    return p, (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=2)


def naive(x, y, jacobian, share=1e-4):
    """Predictions of the mixture as the paper and the docstring write it, one matrix at a time.

    `x` are rows of K logits, `jacobian` the derivative of a row's scores in the parameters. Newton
    maps keep the sums of their quadratic approximations and solve for the minimum.
    """
    d = jacobian(x[0]).shape[1]
    start = np.zeros(d)
    start[0] = 1.0
    forget = (1.0, 0.999, 0.996)
    sums = [(np.zeros((d, d)), np.zeros(d)) for _ in forget]
    theta = [start.copy() for _ in range(5)]
    matrix = np.eye(d) / BETA**2
    weights = np.full(5, 0.2)
    out, losses = [], np.zeros(5)
    for t, (row, label) in enumerate(zip(x, y, strict=True), start=1):
        jac = jacobian(row)
        q = np.array([softmax(jac @ each) for each in theta])
        out.append(weights @ q)
        losses -= np.log(q[:, label])
        slips = q - np.eye(len(row))[label]
        for k, factor in enumerate(forget):
            a, b = sums[k]
            hessian = jac.T @ (np.diag(q[1 + k]) - np.outer(q[1 + k], q[1 + k])) @ jac
            a = factor * a + hessian
            b = factor * b + hessian @ theta[1 + k] - jac.T @ slips[1 + k]
            sums[k] = a, b
            theta[1 + k] = np.linalg.solve(a + RIDGE * np.eye(d), b + RIDGE * start)
        g = jac.T @ slips[4]
        matrix = matrix + np.outer(g, g)
        theta[4] = theta[4] - np.linalg.solve(matrix, g) / BETA
        weights = weights * q[:, label]
        weights /= weights.sum()
        alpha = min(share, 1 / (t + 1))
        weights = (1 - alpha) * weights + alpha / 4 * (weights.sum() - weights)
    return np.array(out), losses


def test_the_online_newton_step_has_the_values_of_the_paper():
    """Gupta & Ramdas 2023 with beta = .1 and D = 1, started at (0, 0)."""
    x, y = [0.5, -1, 2, 0, 1.5, -0.5], [1, 0, 1, 1, 0, 0]
    p = [0.5, 0.50623021, 0.53747433, 0.51129683, 0.58499496, 0.49902803]
    slopes = [0, 0.02492212, 0.07531846, 0.16661591, 0.16647401, 0.08085184]
    levels = [0, 0.04984424, -0.00045796, 0.04519503, 0.09360153, 0.03653805]
    maps = Maps.new(2)
    maps.theta[-1] = 0
    maps.weights = np.array([0.0, 0, 0, 0, 1])
    for i in range(6):
        np.testing.assert_allclose(maps.theta[-1], [slopes[i], levels[i]], atol=5e-9)
        said = learn_two(maps, np.array([x[i]]), np.array([y[i]]), None, None)
        np.testing.assert_allclose(said, p[i], atol=5e-9)


def test_two_classes_are_those_of_the_naive_version():
    p, y = stream(400, slope=0.5, level=0.5)
    z = np.log(p / (1 - p))
    logits = np.column_stack([np.zeros(400), z])
    expected, _ = naive(logits, y, lambda row: np.array([[0.0, 0.0], [row[1], 1.0]]))
    found = OnlineCalibrator().predict_then_update(p, y)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_three_classes_are_those_of_the_naive_version():
    p, y = three_classes(200)
    expected, _ = naive(np.log(p), y, lambda row: np.column_stack([row, np.eye(3)]))
    found = OnlineCalibrator().predict_then_update(p, y)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_never_above_the_best_map_by_more_than_the_bound(seed):
    """On labels made against it, too: each is what the mixture thinks least likely."""
    p, y = stream(600, slope=[1, 0.4, -1, 1][seed], level=seed, seed=seed)
    if seed == 3:
        rival = OnlineCalibrator(labels=[0, 1]).fit(p[:1], y[:1])
        for i in range(1, len(p)):
            y[i] = int(rival.predict_proba(p[i : i + 1])[0, 1] < 0.5)
            rival.predict_then_update(p[i : i + 1], y[i : i + 1])
    online = OnlineCalibrator()
    said = online.predict_then_update(p, y)
    own = -np.log(said[np.arange(600), y]).sum()
    z = np.log(p / (1 - p))
    logits = np.column_stack([np.zeros(600), z])
    _, losses = naive(logits, y, lambda row: np.array([[0.0, 0.0], [row[1], 1.0]]))
    bound = math.log(5) - sum(math.log(1 - min(1e-4, 1 / (t + 1))) for t in range(1, 601))
    assert online.most_cost_ == pytest.approx(bound)
    assert own - losses.min() <= bound
    assert online.gain_ == pytest.approx(losses[0] - own)
    assert online.gain_ >= -bound


def test_the_bound_is_the_one_printed():
    p, y = stream(20_000, slope=1 / 1.6)
    online = OnlineCalibrator().fit(p, y)
    assert online.most_cost_ == pytest.approx(math.log(5) + 1 + math.log(2), abs=1e-3)
    assert "cannot have cost more than 3.4" in online.so_far
    assert online.so_far in online.explain()


@pytest.mark.parametrize("three", [False, True])
def test_calls_of_any_size_give_the_same_stream(three):
    p, y = three_classes(90) if three else stream(90, level=0.5)
    whole = OnlineCalibrator(labels=[0, 1, 2] if three else [0, 1])
    said = whole.predict_then_update(p, y)
    parts = OnlineCalibrator(labels=[0, 1, 2] if three else [0, 1])
    single = OnlineCalibrator(labels=[0, 1, 2] if three else [0, 1])
    again = np.concatenate(
        [parts.predict_then_update(p[i : i + 1], y[i : i + 1]) for i in range(90)]
    )
    for i in range(90):
        single.partial_fit(p[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(again, said, atol=1e-12)
    np.testing.assert_allclose(single.maps_, whole.maps_, atol=1e-10)
    np.testing.assert_allclose(single.weights_, whole.weights_, atol=1e-10)
    assert single.n_late_ == 0
    np.testing.assert_allclose(single.gain_, whole.gain_, atol=1e-9)


def test_a_batch_is_judged_by_the_map_before_it():
    p, y = stream(500, slope=0.5)
    online = OnlineCalibrator().fit(p[:250], y[:250])
    before = online.predict_proba(p[250:])
    gain = online.gain_
    online.partial_fit(p[250:], y[250:])
    rows = np.arange(250)
    as_is = np.column_stack([1 - p, p])[250:]
    expected = np.log(before[rows, y[250:]] / as_is[rows, y[250:]]).sum()
    assert online.gain_ - gain == pytest.approx(expected)
    assert online.n_late_ == 250
    assert "no bound holds" in online.so_far


def test_a_late_batch_is_judged_by_what_was_said_then():
    p, y = stream(400, slope=0.5)
    online = OnlineCalibrator().fit(p[:200], y[:200])
    early = np.full((200, 2), 0.5)
    gain = online.gain_
    online.partial_fit(p[200:], y[200:], predicted=early)
    as_is = np.where(y[200:] == 1, p[200:], 1 - p[200:])
    assert online.gain_ - gain == pytest.approx(np.log(0.5 / as_is).sum())
    with pytest.raises(InvalidInputError, match="predicted"):
        online.partial_fit(p[:5], y[:5], predicted=early)


def test_names_of_classes_and_the_positive_one():
    p, y = stream(300, level=1.0)
    plain = OnlineCalibrator().fit(p, y)
    named = OnlineCalibrator(pos_label="bad").fit(p, np.where(y == 1, "bad", "good"))
    assert named.classes_.tolist() == ["bad", "good"]
    new = [0.1, 0.6]
    np.testing.assert_allclose(named.predict_proba(new)[:, 0], plain.predict_proba(new)[:, 1])
    said = named.predict_then_update(0.3, "bad")
    np.testing.assert_allclose(said[0, 0], plain.predict_proba([0.3])[0, 1])
    named.partial_fit([0.2, 0.4], ["good", "good"])  # a batch need not have all classes
    with pytest.raises(InvalidInputError, match="ugly"):
        named.partial_fit([0.2], ["ugly"])


def test_permuting_classes_permutes_the_map():
    p, y = three_classes(150)
    order = np.array([2, 0, 1])
    plain = OnlineCalibrator().fit(p, y)
    turned = OnlineCalibrator().fit(p[:, order], np.argsort(order)[y])
    np.testing.assert_allclose(
        turned.predict_proba(p[:20, order]), plain.predict_proba(p[:20])[:, order], atol=1e-10
    )


@pytest.mark.parametrize("three", [False, True])
def test_a_saved_map_goes_on_where_it_was(three):
    p, y = three_classes(120) if three else stream(120, slope=0.5)
    online = OnlineCalibrator().fit(p[:80], y[:80])
    read = Calibrator.from_dict(json.loads(json.dumps(online.to_dict())))
    np.testing.assert_array_equal(
        read.predict_then_update(p[80:], y[80:]), online.predict_then_update(p[80:], y[80:])
    )
    assert read.so_far == online.so_far


def test_logits_are_the_same_rows():
    p, y = three_classes(100)
    of_logits = OnlineCalibrator(input="logit").fit(log_softmax(np.log(p) + 3.0, axis=1), y)
    np.testing.assert_allclose(
        of_logits.predict_proba(np.log(p)), OnlineCalibrator().fit(p, y).predict_proba(p), atol=1e-9
    )


def test_surprises_of_certain_predictions_are_survived():
    online = OnlineCalibrator().fit([0.0, 1.0, 0.5, 0.0], [1, 0, 1, 0])
    assert np.isfinite(online.predict_proba([0.0, 0.3, 1.0])).all()
    assert math.isfinite(online.gain_)


@pytest.mark.parametrize("three", [False, True])
def test_streams_that_nobody_foresees_are_survived(three):
    """Always the opposite of what is certain, and nothing shared: weights vanish, not numbers."""
    p = np.tile([1.0, 0.0, 0.0], (300, 1)) if three else np.ones(300)
    y = np.where(np.arange(300) < 150, 1 if three else 0, 0 if three else 1)
    for share in (0.0, 1e-4):
        online = OnlineCalibrator(share=share, labels=[0, 1, 2] if three else [0, 1]).fit(p, y)
        assert np.isfinite(online.predict_proba(p[:2])).all()
        assert math.isfinite(online.gain_)
        online.partial_fit(p, y)
        assert online.weights_.sum() == pytest.approx(1)


def test_importance_weights_have_no_unit_and_half_a_weight_counts_less():
    p, y = stream(200, slope=0.4)
    w = np.linspace(0.5, 2, 200)
    one, ten = (OnlineCalibrator().fit(p, y, c * w) for c in (1, 10))
    np.testing.assert_allclose(one.maps_, ten.maps_, atol=1e-9)
    assert one.n_late_ == 200
    halves = OnlineCalibrator(weight_type="frequency").fit(p, y, np.full(200, 0.5))
    fully = OnlineCalibrator().fit(p, y)
    assert abs(halves.maps_[1, 0] - 1) < abs(fully.maps_[1, 0] - 1)


@pytest.mark.parametrize("share", [-0.1, 0.6, "1", None, math.nan])
def test_a_share_is_a_small_number(share):
    with pytest.raises(InvalidInputError, match="share"):
        OnlineCalibrator(share=share).fit([0.2, 0.7], [0, 1])
