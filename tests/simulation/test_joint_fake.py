"""Fakes of pairs: figures against formulas, and copies of models against the models themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from veridical import classwise_calibration_error, expected_calibration_error
from veridical.exceptions import InvalidInputError
from veridical.simulation import JointFakeClassifier, PowerMap, fit_fake_classifier

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5]])
C = np.array([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0.1, 0.1, 0.8]])


def draw(p, rng):
    return (rng.random(len(p))[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def powered(p, powers):
    return softmax(np.log(np.maximum(p, 1e-12)) * powers, axis=1)


def by_component(n, rng, alpha, powers):
    """A power for each class: over-confident for some of them."""
    p = rng.dirichlet(np.full(len(powers), alpha), n)
    return powered(p, np.asarray(powers)), draw(p, rng)


def by_prediction(n, rng, alpha, powers):
    """A power for each predicted class."""
    p = rng.dirichlet(np.full(len(powers), alpha), n)
    return powered(p, np.asarray(powers)[p.argmax(axis=1)][:, None]), draw(p, rng)


def of_two_kinds(n, rng, n_classes):
    """Clear rows, reported too timidly, and unclear ones, reported much too boldly."""
    clear = rng.random((n, 1)) < 0.6
    sharp, flat = (rng.dirichlet(np.full(n_classes, alpha), n) for alpha in (0.2, 3.0))
    p = np.where(clear, sharp, flat)
    return powered(p, np.where(clear, 0.8, 2.5)), draw(p, rng)


LAWS = {
    "2 classes, one over-confident": lambda n, rng: by_component(n, rng, 1.0, [2.0, 1.0]),
    "2 classes, one predicted too boldly": lambda n, rng: by_prediction(n, rng, 0.5, [2.5, 1.0]),
    "3 classes, by prediction": lambda n, rng: by_prediction(n, rng, 1.0, [2.0, 1.0, 0.6]),
    "3 classes, two kinds of rows": lambda n, rng: of_two_kinds(n, rng, 3),
    "10 classes, by component": lambda n, rng: by_component(n, rng, 0.3, np.linspace(0.8, 1.8, 10)),
    "10 classes, two kinds of rows": lambda n, rng: of_two_kinds(n, rng, 10),
}


def figures(c, y):
    """Accuracy, log loss, confidence and classwise ECE."""
    rows = np.arange(len(y))
    labels = range(c.shape[1])
    return np.array(
        [
            (c.argmax(axis=1) == y).mean(),
            -np.log(c[rows, y]).mean(),
            expected_calibration_error(y, c, lens="confidence", labels=labels),
            classwise_calibration_error(y, c, labels=labels),
        ]
    )


def standard_errors(c, y, n_resamples, rng):
    """Bootstrap over rows."""
    drawn = [rng.integers(len(y), size=len(y)) for _ in range(n_resamples)]
    return np.std([figures(c[rows], y[rows]) for rows in drawn], axis=0)


@pytest.mark.parametrize("law", LAWS)
def test_a_copy_reads_as_the_model_does_within_sampling_error(law):
    """A sample of the copy against the model's rows: four standard errors of a difference.

    Both are samples of 4,000 rows, and the copy was learnt from as many: the variance of the
    difference is at most three times that of one figure.
    """
    rng = np.random.default_rng(1)
    c, y = LAWS[law](4000, rng)
    fake = fit_fake_classifier(c, y_true=y, method="joint", labels=range(c.shape[1]))
    copy = fake.sample(4000, rng=2)
    error = standard_errors(c, y, 30, rng)
    assert (np.abs(figures(copy.y_prob, copy.y) - figures(c, y)) < 4 * np.sqrt(3) * error).all()
    # Known without drawing: accuracy of the very rows, but for the penalty of the fit.
    assert fake.accuracy().value == pytest.approx((c.argmax(axis=1) == y).mean(), abs=2e-3)
    rows = np.arange(4000)
    assert fake.log_loss().value == pytest.approx(-np.log(c[rows, y]).mean(), rel=0.02)
    # It is right about classes, too, one by one.
    for k in range(c.shape[1]):
        said = c.argmax(axis=1) == k
        assert fake.p_true[said, k].mean() == pytest.approx((y[said] == k).mean(), abs=5e-3)


def test_what_one_dirichlet_distribution_misses_the_copy_has():
    """Accuracy and ECE of a model whose first class alone is over-confident."""
    c, y = by_component(5000, np.random.default_rng(3), 0.2, [3.0, 1.0, 0.7])
    accuracy, _, ece, _ = figures(c, y)
    one, joint = (fit_fake_classifier(c, y_true=y, method=m) for m in ("dirichlet", "joint"))
    error = np.sqrt(accuracy * (1 - accuracy) / 5000)
    assert abs(one.accuracy().value - accuracy) > 3 * error
    assert abs(joint.accuracy().value - accuracy) < 0.1 * error
    assert abs(joint.expected_calibration_error().value - ece) < 3 * error


def test_figures_are_finite_sums():
    fake = JointFakeClassifier(P, C, sample_weight=[1, 2, 1])
    w = np.array([1, 2, 1]) / 4
    top = P[np.arange(3), C.argmax(axis=1)]
    assert fake.accuracy().value == pytest.approx(w @ top)
    assert fake.mean_confidence().value == pytest.approx(w @ C.max(axis=1))
    assert fake.log_loss().value == pytest.approx(-(w @ (P * np.log(C)).sum(axis=1)))
    assert fake.canonical_error().value == pytest.approx(w @ np.abs(P - C).sum(axis=1) / 2)
    assert fake.accuracy().error == 0


def test_conditional_figures_pool_rows_in_bins():
    """Rows of confidence 0.8 (of mass 1/2) and 0.5: two bins by mass, by hand."""
    fake = JointFakeClassifier(P, C, sample_weight=[1, 2, 1])
    gap = P[np.arange(3), C.argmax(axis=1)] - C.max(axis=1)
    expected = abs(gap[0] + gap[2]) / 4 + abs(gap[1]) / 2
    assert fake.expected_calibration_error().value == pytest.approx(expected)


def test_samples_come_in_pairs_and_a_map_acts_on_the_reports():
    fake = JointFakeClassifier(P, C)
    sample = fake.sample(2000, rng=0)
    for p, c in zip(sample.p_true, sample.y_prob, strict=True):
        i = np.abs(P - p).sum(axis=1).argmin()
        np.testing.assert_allclose(c, C[i], atol=1e-12)
    bolder = replace(fake, map=PowerMap(2))
    squares = C**2 / (C**2).sum(axis=1, keepdims=True)
    assert bolder.mean_confidence().value == pytest.approx(squares.max(axis=1).mean())
    assert bolder.accuracy().value == pytest.approx(fake.accuracy().value)


def test_reports_of_zero_cost_infinitely_much():
    assert JointFakeClassifier([[0.5, 0.5]], [[1.0, 0.0]]).log_loss().value == np.inf
    assert JointFakeClassifier([[1.0, 0.0]], [[1.0, 0.0]]).log_loss().value == 0


def test_log_loss_of_a_law_is_that_of_its_draws():
    from veridical.simulation import DirichletFakeClassifier

    fake = DirichletFakeClassifier([1.0, 2.0], map=PowerMap(2))
    drawn = fake.sample(200_000, rng=1)
    losses = -np.log(drawn.y_prob[np.arange(200_000), drawn.y])
    error = losses.std() / 200_000**0.5
    assert abs(fake.log_loss().value - losses.mean()) < 4 * error


def test_copies_do_not_depend_on_the_order_of_classes_and_weights_repeat():
    c, y = by_prediction(400, np.random.default_rng(4), 1.0, [2.0, 1.0, 0.6])
    fake = fit_fake_classifier(c, y_true=y, method="joint")
    turn = np.array([2, 0, 1])
    turned = fit_fake_classifier(c[:, turn], y_true=turn.argsort()[y], method="joint")
    np.testing.assert_allclose(turned.p_true, fake.p_true[:, turn], atol=1e-3)
    weight = np.random.default_rng(5).integers(0, 3, 400)
    weighted = fit_fake_classifier(
        c, y_true=y, method="joint", sample_weight=weight, weight_type="frequency"
    )
    repeated = fit_fake_classifier(
        np.repeat(c, weight, axis=0), y_true=np.repeat(y, weight), method="joint"
    )
    np.testing.assert_allclose(
        np.repeat(weighted.p_true, weight[weight > 0], axis=0), repeated.p_true, atol=1e-3
    )


def test_without_labels_the_rows_are_the_truth():
    fake = fit_fake_classifier(C, method="joint")
    np.testing.assert_allclose(fake.map(fake.p_true), C, atol=1e-12)
    assert fake.expected_calibration_error().value == 0


@pytest.mark.parametrize(
    ("make", "param"),
    [
        (lambda: JointFakeClassifier(P, C[:2]), "y_prob"),
        (lambda: JointFakeClassifier(P, C[:, :2] / C[:, :2].sum(1, keepdims=True)), "y_prob"),
        (lambda: JointFakeClassifier(P, 2 * C), "y_prob"),
        (lambda: JointFakeClassifier(P, C, map=3), "map"),
        (lambda: JointFakeClassifier(P, C, sample_weight=[1, -1, 1]), "sample_weight"),
    ],
)
def test_bad_input_is_named(make, param):
    with pytest.raises(InvalidInputError, match=f"`{param}` must be"):
        make()
