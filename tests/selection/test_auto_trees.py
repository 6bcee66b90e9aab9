"""Trees in the pool: there where they gain, gone where they do not, and folds that are enough."""

import numpy as np
import pytest
from scipy.special import softmax

from veridical.calibrators import (
    PlattCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators.core import CheckedRows
from veridical.calibrators.judging import paths_of
from veridical.selection import AutoCalibrator
from veridical.selection._auto import pruning
from veridical.selection._auto.candidates import default_candidates
from veridical.selection._auto.evidence import _blocks
from veridical.selection._auto.weighing import cross_fit, cross_fit_path, make_folds


def stepped(n, seed):
    """Where the two largest of three probabilities are close the third class happens."""
    rng = np.random.default_rng(seed)
    p = softmax(rng.normal(0, 2, (n, 3)), axis=1)
    ranked = np.sort(p, axis=1)
    truth = np.where((ranked[:, 2] < 2 * ranked[:, 1])[:, None], p == p.min(axis=1)[:, None], p)
    truth = 0.98 * truth + 0.02 / 3
    return p, (truth.cumsum(axis=1)[:, :-1] < rng.random((n, 1))).sum(axis=1), truth


def weights_of(auto):
    return {each.candidate: each.weight for each in auto.evidence_.candidates}


def test_trees_repair_what_smooth_maps_cannot():
    p, y, _ = stepped(700, 0)
    new, _, truth = stepped(4000, 1)
    auto = AutoCalibrator().fit(p, y)
    assert weights_of(auto)["trees"] > 0.5
    smooth = StructuredMatrixCalibrator().fit(p, y)
    said, before = (
        -(truth * np.log(m.predict_proba(new))).sum(axis=1).mean() for m in (auto, smooth)
    )
    assert said < before - 0.1


def test_trees_are_given_up_where_nothing_is_to_be_gained():
    rng = np.random.default_rng(2)
    p = softmax(rng.normal(0, 1.5, (800, 4)), axis=1)
    y = (p.cumsum(axis=1)[:, :-1] < rng.random((800, 1))).sum(axis=1)
    trees = next(
        e for e in AutoCalibrator().fit(p, y).evidence_.candidates if e.candidate == "trees"
    )
    assert (trees.weight, trees.log_loss) == (0, None)
    assert trees.note == "left out: others do better on the first rows held out"


@pytest.mark.parametrize(("n_classes", "size"), [(2, 5000), (3, 199), (31, 5000)])
def test_trees_are_tried_with_rows_enough_of_some_classes(n_classes, size):
    names = [c.name for c in default_candidates(n_classes, size, "probability", "pool")]
    assert "trees" not in names
    assert "trees" in [c.name for c in default_candidates(3, 200, "probability", "pool")]


def test_ridges_of_one_kind_are_a_path():
    matrix = StructuredMatrixCalibrator
    parts = [PlattCalibrator(), matrix(strength=0.5), matrix(features="extended"), matrix(),
             matrix(strength=0.5), StructuredVectorCalibrator()]  # fmt: skip
    assert paths_of(parts) == [[1, 3], [2]]


def test_a_path_says_of_rows_held_out_what_its_maps_say_alone():
    p, y, _ = stepped(300, 3)
    folds = make_folds(CheckedRows(p, y, None, "importance", (0, 1, 2)), (5,))
    parts = [StructuredMatrixCalibrator(strength=each) for each in (0.5, 0.01)]
    for part, found in zip(parts, cross_fit_path(parts, folds, iter(())), strict=True):
        alone = cross_fit(part, folds, iter(()))
        np.testing.assert_allclose(found.given, alone.given, atol=1e-6)
        np.testing.assert_allclose(found.own, alone.own, atol=1e-6)


def test_weak_ridges_are_given_up_where_the_first_folds_show_it():
    """Calibrated predictions of ten classes: a weak ridge learns noise, 100 numbers of it."""
    rng = np.random.default_rng(9)
    p = rng.dirichlet(np.ones(10), 900)
    y = (p.cumsum(axis=1)[:, :-1] < rng.random((900, 1))).sum(axis=1)
    rows = CheckedRows(p, y, None, "importance", tuple(range(10)))
    parts = [StructuredMatrixCalibrator(strength=each) for each in (1.0, 1e-4, 1e-5)]
    first, *others = cross_fit_path(parts, make_folds(rows, (5,)), iter(()))
    assert len(first.given) == 900
    assert [str(each) for each in others] == [
        "left out: a stronger ridge does better on the first rows held out"
    ] * 2
    several = cross_fit_path(parts, make_folds(rows, (3, 3)), iter(()))  # as of few rows
    assert all(len(each.given) == 1800 for each in several)


def test_one_map_a_class_is_on_probation_where_rows_are_few():
    def steps(n_classes, size):
        found = default_candidates(n_classes, size, "probability", "pool")
        return [(c.name, c.costly) for c in found if c.name.startswith("one-vs-rest")]

    assert steps(4, 39) == steps(31, 5000) == []
    assert steps(4, 119) == [("one-vs-rest venn-abers", True)]
    assert steps(4, 120) == [("one-vs-rest spline", False), ("one-vs-rest isotonic", False)]


def test_folds_that_hold_enough_rows_out():
    p, y, _ = stepped(3000, 4)
    rows = CheckedRows(p, y, None, "importance", (0, 1, 2))
    assert [len(fold.held.y) for fold in make_folds(rows, (5,), 1000)] == [600, 600]
    assert len(make_folds(rows, (5,), 10)) == 2  # each fold needs another
    assert len(make_folds(rows, (5, 3))) == 8


def test_of_two_folds_each_is_judged_by_weights_of_the_other():
    class Choice:
        partitions = (2,)

        class judge:
            fold = np.array([0, 0, 1, 1, 1])

    found = [(held.tolist(), others.tolist()) for held, others in _blocks(Choice)]
    first = [True, True, False, False, False]
    second = [not each for each in first]
    assert found == [(first, second), (second, first)]


def test_steps_stay_where_the_others_say_something_else():
    given = np.array([[0.9, 0.5], [0.8, 0.5], [0.1, 0.5], [0.2, 0.5]])
    weights, rows = np.array([0.5, 0.5]), np.ones(4)
    jumps = np.array([False, True])
    before = np.log(given @ weights).mean()
    assert np.log(given[:, 0]).mean() < before
    np.testing.assert_array_equal(pruning.without_jumps(given, weights, rows, jumps), weights)
    # no worse by outcomes, and yet another pool
    lucky = np.array([[0.9, 0.5], [0.8, 0.5], [0.7, 0.5], [0.2, 0.5]])
    assert np.log(lucky[:, 0]).mean() > np.log(lucky @ weights).mean() - 0.1
    np.testing.assert_array_equal(pruning.without_jumps(lucky, weights, rows, jumps), weights)
    # the same to five decimals: gone
    same = np.column_stack([lucky[:, 0], lucky[:, 0] + 1e-5])
    np.testing.assert_allclose(pruning.without_jumps(same, weights, rows, jumps), [1.0, 0.0])
