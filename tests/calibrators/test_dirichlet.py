"""Dirichlet calibration: what it shares with matrix scaling, known posteriors, dirichletcal."""

from __future__ import annotations

import numpy as np
import pytest
from calibrators.multiclass_oracles import (
    objective,
    overconfident,
    recorded_input,
    three_class_task,
)
from scipy.special import softmax

from veridical.calibrators._softmax.dirichlet import DirichletCalibrator
from veridical.calibrators._softmax.linear import MatrixCalibrator


@pytest.mark.parametrize("penalty", ["odir", "l2", None])
def test_from_probabilities_it_is_matrix_scaling(penalty):
    _, y, p = overconfident(200, 3, seed=1)
    one, other = (
        maker(penalty=penalty).fit(p, y) for maker in (DirichletCalibrator, MatrixCalibrator)
    )
    np.testing.assert_array_equal(one.predict_proba(p), other.predict_proba(p))


def test_a_constant_added_to_a_row_of_logits_changes_nothing():
    _, y, p = overconfident(200, 3, seed=2)
    shift = np.random.default_rng(3).normal(size=(200, 1)) * 3
    logits = np.log(p)
    maker = DirichletCalibrator(input="logit")
    expected = DirichletCalibrator().fit(p, y).predict_proba(p)
    found = maker.fit(logits + shift, y).predict_proba(logits + shift)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    moved = MatrixCalibrator(input="logit").fit(logits + shift, y).predict_proba(logits + shift)
    assert abs(moved - expected).max() > 0.01  # a linear layer does see the constant


def test_inputs_are_not_written_to():
    _, y, p = overconfident(50, 3, seed=4)
    logits = np.log(p)
    kept = logits.copy()
    DirichletCalibrator(input="logit").fit(logits, y).predict_proba(logits)
    np.testing.assert_array_equal(logits, kept)


@pytest.mark.parametrize("penalty", ["odir", "l2", None])
def test_known_posteriors_of_the_survey_are_found_again(penalty):
    y, posterior = three_class_task(30_000, seed=5)
    distorted = softmax(2 * np.log(np.maximum(posterior, 1e-30)) + [0.5, 0, -0.5], axis=1)
    fitted = DirichletCalibrator(penalty=penalty).fit(distorted[:15_000], y[:15_000])
    new = slice(15_000, None)
    before = abs(distorted[new] - posterior[new]).sum(axis=1).mean() / 2
    after = abs(fitted.predict_proba(distorted[new]) - posterior[new]).sum(axis=1).mean() / 2
    assert before > 0.1
    assert after < 0.015


def test_columns_in_another_order_give_the_same_map():
    _, y, p = overconfident(150, 3, seed=6)
    order = np.array([2, 0, 1])
    expected = DirichletCalibrator().fit(p, y).predict_proba(p)
    found = DirichletCalibrator().fit(p[:, order], order.argsort()[y]).predict_proba(p[:, order])
    np.testing.assert_allclose(found, expected[:, order], atol=1e-8)


def test_the_identity_costs_nothing():
    """Predictions that are right need no correction, however strong the penalty."""
    p, y, _ = overconfident(20_000, 3, seed=7)
    fitted = DirichletCalibrator(strength=1e6, pseudo_rows=0).fit(p, y)
    np.testing.assert_allclose(fitted.coef_ - np.diag(np.diag(fitted.coef_)), 0, atol=1e-3)
    np.testing.assert_allclose(fitted.predict_proba(p), p, atol=0.02)


# dirichletcal 0.3.dev4 (made to run with jax 0.10.2: imports of jax.config and pinv2 replaced),
# FullDirichletCalibrator() on `recorded_input()`: first three rows
UNPENALISED = [
    [0.05144585, 0.94183752, 0.00671663],
    [0.4908525, 0.45527419, 0.05387331],
    [0.11648001, 0.68165585, 0.20186414],
]


def test_without_a_penalty_dirichletcal_finds_the_same_map():
    y, p = recorded_input()
    fitted = DirichletCalibrator(penalty=None, pseudo_rows=0).fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba(p)[:3], UNPENALISED, atol=1e-6)


def test_with_odir_dirichletcal_is_away_from_the_optimum_of_the_published_penalty():
    """FullDirichletCalibrator(reg_lambda=0.03, reg_mu=0.03): it charges W minus its last row.

    Its map is written here with the representative of least penalty (columns of W may be shifted
    by constants), and is still beaten.
    """
    y, p = recorded_input()
    matrix = np.array(
        [[0.27242662, -0.06634862, -0.52514842], [-0.06542029, 0.47884475, -0.57149053], [0, 0, 0]]
    )
    intercept = np.array([0.29812867, 0.1164263, 0.0])
    off = ~np.eye(3, dtype=bool)
    matrix -= np.where(off, matrix, 0).sum(axis=0) / 2
    intercept -= intercept.mean()
    fitted = DirichletCalibrator(strength=1).fit(p, y)  # 0.03 off the diagonal
    for bias in (3 / 200, 0.03):
        ridge = (1e-3 * 3 / 200, 0.03, bias)
        ours = objective(np.log(p), y, fitted.coef_, fitted.intercept_, ridge)
        theirs = objective(np.log(p), y, matrix, intercept, ridge)
        assert ours < theirs - 1e-3
