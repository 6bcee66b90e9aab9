"""Differences below rounding are no differences."""

from itertools import cycle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import veridical
from veridical.inference import paired_difference
from veridical.miscalibration import BinnedError, BrierScore, LogScore, SphericalScore, ZeroOneLoss

ERROR = BinnedError(norm=2)
OPTIONS = [
    (BrierScore(), None),
    (SphericalScore(), None),
    (ERROR, "classwise"),
    (LogScore(), None),
    (ERROR, "confidence"),
    (ZeroOneLoss(), None),
    (BrierScore(), "classwise"),
]


def rows(seed, n=30, n_classes=None):
    rng = np.random.default_rng(seed)
    n_classes = n_classes or int(rng.integers(3, 12))
    p = rng.dirichlet(np.ones(n_classes), n)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return y, p


def summary(difference):
    return difference.estimate, difference.low, difference.high, difference.pvalue


def test_one_matrix_in_two_memory_orders_is_one_model_for_1000_seeds():
    for seed, (figure, lens) in zip(range(1000), cycle(OPTIONS), strict=False):
        y, p = rows(seed)
        found = paired_difference(figure, y, p, np.asfortranarray(p), lens=lens)
        assert summary(found) == (0, 0, 0, 1), (seed, figure)


@pytest.mark.filterwarnings("ignore:.*rows a bin on average")
@pytest.mark.parametrize("seed", range(5))
def test_compare_finds_no_difference_between_an_array_and_a_frame(seed):
    y, p = rows(seed)
    wide = np.zeros((len(p), 2 * p.shape[1]))
    wide[:, ::2] = p
    models = {
        "array": p,
        "pandas": pd.DataFrame(p),
        "polars": pl.DataFrame(p),
        "view": wide[:, ::2],
    }
    found = veridical.compare(models, y, n_resamples=20, measures=[SphericalScore()])
    assert len(found.differences) == 6 * 5
    for each in found.differences:
        assert summary(each.difference) == (0, 0, 0, 1), each
    assert len({test.pvalue for test in found.tests}) == 1
    assert len({test.statistic for test in found.tests}) == 1


def test_a_strided_column_is_the_same_model():
    y, p = rows(0, n=200, n_classes=2)
    for figure in (BrierScore(), LogScore(), SphericalScore(), ERROR):
        found = paired_difference(figure, y, p[:, 1], p[:, 1].copy())
        assert summary(found) == (0, 0, 0, 1)


def softmax_in_other_orders(z):
    largest = z.max(axis=1, keepdims=True)
    e = np.exp(z - largest)
    total = e.sum(axis=1, keepdims=True)
    p = e / total
    yield p, np.exp(z - largest - np.log(total))
    yield p, p / p.sum(axis=1, keepdims=True)
    yield p, e / e[:, ::-1].cumsum(axis=1)[:, -1:]
    yield p, p * 3 / 3


@pytest.mark.parametrize("n_classes", [2, 3, 100])
def test_the_same_probabilities_in_another_order_of_operations_do_not_differ(n_classes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        z = rng.normal(0, 3, (120, n_classes))
        y = rng.integers(0, n_classes, 120)
        for one, two in softmax_in_other_orders(z):
            for figure in (BrierScore(), LogScore(), SphericalScore(), ERROR):
                found = paired_difference(figure, y, one, two, labels=np.arange(n_classes))
                assert (found.estimate, found.pvalue) == (0, 1), (seed, figure)


def test_clipping_zeros_changes_no_brier_score():
    y = np.r_[np.ones(50, int), np.zeros(150, int)]
    p = np.r_[np.full(50, 0.7), np.full(50, 0.2), np.zeros(100)]
    found = paired_difference(BrierScore(), y, p, np.clip(p, 1e-16, 1))
    assert (found.estimate, found.pvalue) == (0, 1)


def test_rounding_at_the_edge_of_a_bin_is_no_difference():
    p = np.repeat([0.2, 0.4, 0.6], 100)  # edges of 15 bins
    y = (np.arange(300) % 10 < 10 * p**2).astype(int)
    found = paired_difference(ERROR, y, p, np.where(np.arange(300) % 2, p, np.nextafter(p, 1)))
    assert (found.estimate, found.pvalue) == (0, 1)


@pytest.mark.parametrize("figure", [BrierScore(), LogScore(), SphericalScore(), ERROR])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_difference_of_1e_9_is_seen(figure, n_classes):
    """Every prediction moves towards the class that did not occur."""
    rng = np.random.default_rng(1)
    p = 0.1 + 0.9 * rng.dirichlet(np.ones(n_classes), 500) * (1 - 0.1 * n_classes) / 0.9
    y = np.zeros(500, dtype=int)
    y[:n_classes] = np.arange(n_classes)
    worse = p.copy()
    worse[:, 0] -= 1e-9
    worse[:, -1] += 1e-9
    found = paired_difference(figure, y, worse, p)
    assert found.estimate > 1e-11
    assert found.pvalue < 0.01


def test_a_log_score_sees_which_zero_was_clipped():
    y = np.r_[np.ones(10, int), np.zeros(190, int)]
    p = np.r_[np.full(10, 1e-17), np.full(190, 0.1)]
    found = paired_difference(LogScore(), y, p, np.clip(p, 1e-16, 1))
    assert found.estimate == pytest.approx(np.log(10) / 20)
    assert found.pvalue < 0.05


def test_sums_of_an_engine_call_rounding_no_difference():
    rng = np.random.default_rng(3)
    p = rng.random(300)
    frame = pl.LazyFrame({"y": (rng.random(300) < p).astype(int), "a": p, "b": p * 3 / 3})
    found = veridical.compare({"a": "a", "b": "b"}, frame, y="y", engine="pushdown", n_resamples=20)
    assert [(d.difference.estimate, d.difference.pvalue) for d in found.differences] == [(0, 1)] * 4
