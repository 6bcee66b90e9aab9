"""Separate penalties of off-diagonals and intercepts: optimum, units of the paper, the search."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from calibrators.multiclass_oracles import log_loss, objective, overconfident
from scipy.optimize import minimize

from veridical._core.runtime import progress
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.folds import held_out_masses
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._softmax.dirichlet import DirichletCalibrator
from veridical.exceptions import InvalidInputError, VeridicalWarning


def optimum(log_p, y, ridge, weight=None):
    """Least value of the penalised mean log loss that a general optimiser finds, with its map."""
    k = log_p.shape[1]

    def value(theta):
        matrix = theta.reshape(k, k + 1)
        return objective(log_p, y, matrix[:, :-1], matrix[:, -1], ridge, weight)

    best = minimize(
        value, np.eye(k, k + 1).ravel(), method="BFGS", options={"gtol": 1e-6, "maxiter": 2000}
    )
    matrix = best.x.reshape(k, k + 1)
    return best.fun, matrix[:, :-1], matrix[:, -1]


@pytest.mark.parametrize(("off", "intercept"), [(0.01, 30.0), (30.0, 0.01), (2.0, 0.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_penalty_has_the_optimum_of_a_general_optimiser(off, intercept, weighted):
    _, y, p = overconfident(150, 3, seed=1)
    weight = np.random.default_rng(2).gamma(2.0, size=150) if weighted else None
    n = 150 if weight is None else weight.sum() ** 2 / (weight**2).sum()
    strengths = {"off_diagonal_strength": off, "intercept_strength": intercept}
    fitted = DirichletCalibrator(**strengths).fit(p, y, weight)
    ridge = (1e-3 * 3 / n, off * 3 * 2 / n, intercept * 3 / n)
    least, matrix, bias = optimum(np.log(p), y, ridge, weight)
    assert objective(np.log(p), y, fitted.coef_, fitted.intercept_, ridge, weight) <= least + 1e-9
    np.testing.assert_allclose(fitted.coef_, matrix, atol=1e-3)
    np.testing.assert_allclose(fitted.intercept_ - bias, (fitted.intercept_ - bias)[0], atol=1e-3)


def test_without_a_ridge_on_the_diagonal_it_is_the_published_objective():
    """Kull et al. (2019): lambda and mu are of mean squares, the diagonal is free."""
    _, y, p = overconfident(200, 3, seed=3)
    n, k, lam, mu = 200, 3, 0.3, 0.02
    fitted = DirichletCalibrator(
        strength=0,
        off_diagonal_strength=lam * n / (k * (k - 1)) ** 2,
        intercept_strength=mu * n / k**2,
    ).fit(p, y)

    def published(matrix, bias):
        scores = np.log(p) @ matrix.T + bias
        scores -= scores.max(axis=1, keepdims=True)
        loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(n), y]
        off = matrix[~np.eye(k, dtype=bool)]
        return loss.mean() + lam * (off**2).mean() + mu * (bias**2).mean()

    best = minimize(
        lambda theta: published(theta[:9].reshape(3, 3), theta[9:]),
        np.append(np.eye(3).ravel(), np.zeros(3)),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    assert published(fitted.coef_, fitted.intercept_) <= best.fun + 1e-10
    np.testing.assert_allclose(fitted.coef_, best.x[:9].reshape(3, 3), atol=1e-3)


def test_one_strength_for_both_is_the_old_parameter():
    _, y, p = overconfident(120, 3, seed=4)
    old = DirichletCalibrator(strength=0.2).fit(p, y)
    new = DirichletCalibrator(strength=0.2, off_diagonal_strength=0.2, intercept_strength=0.2)
    np.testing.assert_array_equal(new.fit(p, y).predict_proba(p), old.predict_proba(p))
    assert (old.off_diagonal_strength_, old.intercept_strength_) == (0.2, 0.2)
    assert not hasattr(old, "held_out_losses_")


def naive_losses(p, y, offs, intercepts, cv):
    """Held-out log loss of each pair, every map fitted by itself."""
    rows = CheckedRows(p, y, None, "importance", (0, 1, 2))
    total = np.zeros((len(offs), len(intercepts)))
    for mass in held_out_masses(rows, cv):
        held = mass > 0
        for i, off in enumerate(offs):
            for j, intercept in enumerate(intercepts):
                part = DirichletCalibrator(off_diagonal_strength=off, intercept_strength=intercept)
                part.fit(p[~held], y[~held])
                total[i, j] += held.sum() * log_loss(part.predict_proba(p[held]), y[held])
    return total / len(y)


def test_search_takes_the_pair_of_least_held_out_loss_and_fits_it_to_all_rows():
    _, y, p = overconfident(180, 3, seed=5)
    p = 0.9 * p + 0.1 / 3  # no probability is below half of another one's least: floors do nothing
    offs, intercepts = [0.05, 50.0, 1.0], (20.0, 0.5)
    searched = DirichletCalibrator(
        off_diagonal_strength=offs, intercept_strength=intercepts, cv=4
    ).fit(p, y)
    losses = naive_losses(p, y, [50.0, 1.0, 0.05], [20.0, 0.5], 4)
    np.testing.assert_allclose(searched.held_out_losses_, losses, atol=1e-8)
    i, j = np.unravel_index(losses.argmin(), losses.shape)
    chosen = {
        "off_diagonal_strength": [50.0, 1.0, 0.05][i],
        "intercept_strength": [20.0, 0.5][j],
    }
    assert searched.off_diagonal_strength_ == chosen["off_diagonal_strength"]
    assert searched.intercept_strength_ == chosen["intercept_strength"]
    alone = DirichletCalibrator(**chosen).fit(p, y)
    np.testing.assert_allclose(searched.predict_proba(p), alone.predict_proba(p), atol=1e-12)


SEARCH = DirichletCalibrator(off_diagonal_strength="auto", intercept_strength="auto", cv=3)


def test_a_long_search_shows_at_a_terminal_how_far_it_is(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    _, y, p = overconfident(60, 3, seed=5)
    search = {"off_diagonal_strength": "auto", "intercept_strength": [1.0, 0.1]}
    quick, long = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stderr", quick)
    monkeypatch.setattr(progress, "_PATIENCE", 1e9)
    fitted = DirichletCalibrator(**search).fit(p, y)
    monkeypatch.setattr(sys, "stderr", long)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    again = DirichletCalibrator(**search).fit(p, y)
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    assert quick.getvalue() == ""
    assert "trying strengths on held-out rows" in long.getvalue()


def test_order_of_rows_and_of_classes_changes_nothing():
    _, y, p = overconfident(150, 3, seed=6)
    expected = SEARCH.fit(p, y)
    first = (expected.off_diagonal_strength_, expected.intercept_strength_)
    q = expected.predict_proba(p)
    order, turn = np.random.default_rng(7).permutation(150), np.array([2, 0, 1])
    found = SEARCH.fit(p[order][:, turn], turn.argsort()[y[order]])
    assert (found.off_diagonal_strength_, found.intercept_strength_) == first
    np.testing.assert_allclose(found.predict_proba(p[:, turn]), q[:, turn], atol=1e-7)


def test_frequency_weights_are_repetitions_in_the_search_too():
    _, y, p = overconfident(90, 3, seed=8)
    weight = np.random.default_rng(9).integers(0, 4, 90)
    make = DirichletCalibrator(**{**SEARCH.get_params(), "weight_type": "frequency"})
    weighted = make.fit(p, y, weight).held_out_losses_
    repeated = make.fit(np.repeat(p, weight, axis=0), np.repeat(y, weight)).held_out_losses_
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_what_was_searched_is_saved_and_read_back():
    _, y, p = overconfident(90, 3, seed=10)
    fitted = DirichletCalibrator(intercept_strength=[0.1, 10]).fit(p, y)
    again = Calibrator.from_dict(fitted.to_dict())
    assert again.intercept_strength == [0.1, 10]
    np.testing.assert_array_equal(again.held_out_losses_, fitted.held_out_losses_)
    np.testing.assert_array_equal(again.predict_proba(p), fitted.predict_proba(p))


def test_one_row_leaves_nothing_to_choose_by_and_takes_the_strongest():
    fitted = DirichletCalibrator(intercept_strength=[0.1, 10], labels=[0, 1]).fit([0.3], [1])
    assert fitted.intercept_strength_ == 10
    assert not hasattr(fitted, "held_out_losses_")


def test_free_diagonals_of_separable_rows_are_doubted():
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]])
    free = DirichletCalibrator(penalty=None, off_diagonal_strength=1, intercept_strength=1)
    with pytest.warns(VeridicalWarning, match=r"stopped|no optimum"):
        free.fit(p, [0, 1, 2])


@pytest.mark.parametrize("value", [-1, "grid", [], [1, -2], ["a"], np.nan, [[1, 2]], {1: 2}, b"1"])
@pytest.mark.parametrize("name", ["off_diagonal_strength", "intercept_strength"])
def test_bad_strengths_are_refused(name, value):
    with pytest.raises(InvalidInputError, match=f"`{name}` must be"):
        DirichletCalibrator(**{name: value}).fit([0.2, 0.8], [0, 1])
