"""Folds: partition, order, repetition, and that they notice overfitting."""

import numpy as np
import pytest

from veridical.calibrators import HistogramCalibrator
from veridical.calibrators._base.folds import folds, held_out_masses, row_masses
from veridical.calibrators._base.rows import CheckedRows


def rows_of(p, y, weight=None, weight_type="importance"):
    classes = tuple(range(2 if np.ndim(p) == 1 else np.shape(p)[1]))
    return CheckedRows(np.asarray(p, float), np.asarray(y), weight, weight_type, classes)


def test_every_row_is_held_out_once():
    rng = np.random.default_rng(0)
    rows = rows_of(rng.random(103), rng.integers(0, 2, 103))
    held = np.array(list(held_out_masses(rows, 10)))
    assert held.shape == (10, 103)
    np.testing.assert_array_equal(held.sum(axis=0), np.ones(103))


def test_classes_are_spread_as_evenly_as_can_be():
    y = np.repeat([0, 1, 2], [40, 7, 3])
    rows = rows_of(np.full((50, 3), 1 / 3), y)
    held = np.array(list(held_out_masses(rows, 5, even_classes=True)))
    for k, count in enumerate([40, 7, 3]):
        parts = held[:, y == k].sum(axis=1)
        assert parts.max() <= -(-count // 5)
        assert parts.min() >= count // 5


def test_classes_are_dealt_at_random_as_a_hypergeometric_draw_would():
    """20 of 100 rows are held out; 50 are of a class: variance 20/4 * 80/99 of their number."""
    rng = np.random.default_rng(4)
    numbers = []
    for _ in range(400):
        y = np.repeat([0, 1], 50)
        rows = rows_of(rng.random(100), y)
        numbers.append(next(iter(held_out_masses(rows, 5)))[y == 1].sum())
    assert abs(np.mean(numbers) - 10) < 4 * np.sqrt(4.04 / 400)
    assert abs(np.var(numbers) - 4.04) < 4 * 4.04 * np.sqrt(2 / 400)


@pytest.mark.parametrize("seed", range(20))
def test_no_fold_holds_out_the_whole_of_a_class_of_two(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2, 3], [30, 2, 2, 3])
    rows = rows_of(rng.dirichlet(np.ones(4), 37), y)
    for mass in held_out_masses(rows, 3):
        for k in range(4):
            assert mass[y == k].min() == 0
        assert mass.sum() in (12, 13)


def test_samples_of_one_size_do_not_share_their_folds():
    """Or the luck of one draw would be that of all of them."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 20)
    found = set()
    for _ in range(10):
        p = rng.random(40)
        found.add(tuple(next(iter(held_out_masses(rows_of(p, y), 4)))))
    assert len(found) == 10


def test_the_order_of_classes_does_not_matter():
    rng = np.random.default_rng(6)
    p, y = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    turned = np.array([2, 0, 1])
    first = list(held_out_masses(rows_of(p, y), 4))
    second = list(held_out_masses(rows_of(p[:, turned], np.argsort(turned)[y]), 4))
    np.testing.assert_array_equal(first, second)
    happened = (y > 1).astype(int)
    one, other = rows_of(p[:, 0], happened), rows_of(1 - p[:, 0], 1 - happened)
    np.testing.assert_array_equal(list(held_out_masses(one, 4)), list(held_out_masses(other, 4)))


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    p, y = rng.random(60), rng.integers(0, 2, 60)
    order = rng.permutation(60)
    first = list(held_out_masses(rows_of(p, y), 4))
    second = list(held_out_masses(rows_of(p[order], y[order]), 4))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a[order], b)


def test_frequencies_are_repetitions():
    rng = np.random.default_rng(2)
    p, y, w = rng.random(30), rng.integers(0, 2, 30), rng.integers(1, 5, 30)
    weighted = rows_of(p, y, w.astype(float), "frequency")
    repeated = rows_of(np.repeat(p, w), np.repeat(y, w))
    owner = np.repeat(np.arange(30), w)
    for a, b in zip(held_out_masses(weighted, 5), held_out_masses(repeated, 5), strict=True):
        np.testing.assert_array_equal(a, np.bincount(owner, b))


def test_many_repetitions_are_dealt_by_their_numbers():
    weight = np.array([3e7, 1e7])
    rows = rows_of([0.2, 0.8], [0, 1], weight, "frequency")
    held = np.array(list(held_out_masses(rows, 4)))
    np.testing.assert_array_equal(held.sum(axis=0), weight)
    spread = np.sqrt(weight * 3 / 16)  # of a binomial count of chance 1/4
    assert np.all(np.abs(held - weight / 4) < 6 * spread)


def test_weights_that_are_no_whole_numbers_keep_rows_whole():
    rows = rows_of([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], np.full(4, 0.5), "frequency")
    np.testing.assert_array_equal(row_masses(rows), np.ones(4))
    for kept, held in folds(rows, 2):
        np.testing.assert_array_equal(kept.weight, [0.5, 0.5])
        np.testing.assert_array_equal(held.weight, [0.5, 0.5])


def test_partitions_of_different_seeds_differ():
    rng = np.random.default_rng(3)
    rows = rows_of(rng.random(40), rng.integers(0, 2, 40))
    first, second = (np.array(list(held_out_masses(rows, 5, seed=seed))) for seed in (0, 1))
    assert np.any(first != second)


@pytest.mark.parametrize("seed", range(3))
def test_overfitting_shows_on_held_out_rows(seed):
    """A histogram of 100 bins on calibrated rows is worse than the truth by about B / (2 n)."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.2, 0.8, 4000)
    y = (rng.random(4000) < p).astype(int)
    excess = []
    for kept, held in folds(rows_of(p, y), 10):
        q = HistogramCalibrator(n_bins=100).fit(kept.values, kept.y).predict_proba(held.values)
        given, truth = q[:, 1], held.values
        excess.append(np.mean(-held.y * np.log(given / truth)
                              - (1 - held.y) * np.log((1 - given) / (1 - truth))))  # fmt: skip
    assert 0.5 * 100 / 8000 < np.mean(excess) < 2 * 100 / 8000
