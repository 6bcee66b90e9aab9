"""Laws of weights and of row order, on every figure of the registry."""

from __future__ import annotations

import numpy as np

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def test_unit_weights_equal_no_weights(exact_metric, data):
    metric = exact_metric
    weighted = metric(data.y, data.p, sample_weight=np.ones(len(data.y)))
    np.testing.assert_allclose(weighted, metric.of(data), **CLOSE)


def test_weights_are_not_ignored(metric, data):
    plain = metric.of(data)
    weighted = metric.of(data, weighted=True)
    assert np.isfinite(plain).all()
    assert np.isfinite(weighted).all()
    assert plain.shape != weighted.shape or np.abs(plain - weighted).max() > 1e-6


def test_zero_weight_equals_removal(metric, data):
    kept = np.random.default_rng(1).random(len(data.y)) < 0.75
    rest = data.take(kept)
    with_zeros = metric(data.y, data.p, sample_weight=np.where(kept, data.w, 0.0))
    removed = metric(rest.y, rest.p, sample_weight=rest.w)
    np.testing.assert_allclose(with_zeros, removed, **CLOSE)


def test_weights_of_zero_and_one_equal_selection(exact_metric, data):
    metric = exact_metric
    kept = np.random.default_rng(2).random(len(data.y)) < 0.75
    rest = data.take(kept)
    selected = metric(data.y, data.p, sample_weight=kept)
    np.testing.assert_allclose(selected, metric(rest.y, rest.p), **CLOSE)


def test_integer_weight_equals_repetition(repeatable_metric, data):
    metric = repeatable_metric
    times = np.random.default_rng(3).integers(0, 4, len(data.y))
    options = {} if metric.repetition == "always" else {"weight_type": "frequency"}
    weighted = metric(data.y, data.p, sample_weight=times, **options)
    repeated = data.take(np.repeat(np.arange(len(times)), times))
    np.testing.assert_allclose(weighted, metric(repeated.y, repeated.p), **CLOSE)


def test_the_type_of_weights_does_not_matter_where_n_does_not(count_free_metric, data):
    metric = count_free_metric
    frequency = metric(data.y, data.p, sample_weight=data.w, weight_type="frequency")
    importance = metric(data.y, data.p, sample_weight=data.w, weight_type="importance")
    np.testing.assert_allclose(frequency, importance, **CLOSE)


def test_importance_weights_are_no_counts_where_n_matters(counting_metric, data):
    metric, weight = counting_metric, 0.2 * data.w  # worth 192 rows as counts, 480 otherwise
    counted = metric(data.y, data.p, sample_weight=weight, weight_type="frequency")
    weighed = metric(data.y, data.p, sample_weight=weight)
    assert counted.shape != weighed.shape or np.abs(counted - weighed).max() > 1e-9


def test_a_constant_factor_on_weights_changes_nothing(metric, data):
    expected = metric.of(data, weighted=True)
    for factor in (0.1, 7.0):
        np.testing.assert_allclose(
            metric(data.y, data.p, sample_weight=factor * data.w), expected, **CLOSE
        )


def test_row_order_does_not_matter(metric, data):
    moved = data.take(np.random.default_rng(5).permutation(len(data.y)))
    np.testing.assert_allclose(metric(moved.y, moved.p), metric.of(data), **CLOSE)
    weighted = metric.of(data, weighted=True)
    np.testing.assert_allclose(metric(moved.y, moved.p, sample_weight=moved.w), weighted, **CLOSE)


def test_order_among_equal_scores_does_not_matter(metric, data):
    """Sorted with all positives first, or last, within each group of equal predictions."""
    keys = data.p.T if data.p.ndim == 2 else (data.p,)
    first, last = np.lexsort((-data.y, *keys)), np.lexsort((data.y, *keys))
    assert not np.array_equal(data.y[first], data.y[last]), "there must be ties to break"
    up, down = data.take(first), data.take(last)
    np.testing.assert_allclose(metric(up.y, up.p), metric(down.y, down.p), **CLOSE)
