"""Area under the ROC curve against all pairs."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from veridical import VeridicalWarning, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_area_is_the_share_of_pairs_in_order(kind):
    y, p, w = oracles.random_rows(kind, 120)
    e = evaluate(y, p, sample_weight=w)
    assert e.auc == pytest.approx(oracles.auc(y, p, w), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", [None, 5])
def test_areas_of_classes_are_one_against_the_rest(weighted, grid):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(4, 0.7), 400)
    y = np.array([rng.choice(4, p=row) for row in p])
    p = p if grid is None else rng.multinomial(grid, p) / grid
    w = rng.gamma(1.5, size=400) if weighted else None
    e = evaluate(y, p, sample_weight=w, lens="classwise", n_bins=5)
    expected = [oracles.auc((y == k).astype(int), p[:, k], w) for k in range(4)]
    assert e.auc_by_class == pytest.approx(expected)
    assert e.auc == pytest.approx(np.mean(expected))


def test_area_without_one_of_the_classes_is_undefined():
    with pytest.warns(VeridicalWarning, match="1 of 2 classes did not occur: 0"):
        e = evaluate([1] * 60, np.linspace(0.4, 0.9, 60), n_bins=2)
    assert e.auc is None
    assert "undefined (a class did not occur)" in str(e)


def test_area_of_an_absent_class_is_undefined_and_so_is_the_mean():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 200)
    y = np.where(p[:, 0] > p[:, 1], 0, 1)
    with pytest.warns(VeridicalWarning, match="1 of 3 classes did not occur: 2"):
        e = evaluate(y, p, n_bins=5)
    assert e.auc_by_class[2] is None
    assert e.auc_by_class[0] == pytest.approx(oracles.auc((y == 0).astype(int), p[:, 0]))
    assert e.auc is None


def test_separated_scores_have_area_one_and_reversed_ones_zero():
    p = np.linspace(0, 1, 60)
    y = (p > 0.5).astype(int)
    assert evaluate(y, p, n_bins=2).auc == 1.0
    assert evaluate(1 - y, p, n_bins=2).auc == 0.0
    assert evaluate(y, np.full(60, 0.5), n_bins=2).auc == 0.5
