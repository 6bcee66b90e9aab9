"""A row of frequency f is f outcomes: the same rows written out give the same null levels."""

import tracemalloc

import numpy as np
import pytest

import veridical
from veridical.binning import UniformBins
from veridical.miscalibration import BinnedError, BrierScore, FunctionMeasure, LogScore

FREQUENCY = {"weight_type": "frequency"}


def rows(n_classes, n=150):
    rng = np.random.default_rng(n_classes)
    p = rng.dirichlet(np.ones(n_classes), n)
    y = (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    frequency = rng.integers(1, 30, n)
    return y, p, frequency, np.repeat(np.arange(n), frequency)


def assert_same_mean(first, other, scale=1.0):
    """Means of independent draws: five standard errors are passed once in a million."""
    error = np.hypot(first.std / np.sqrt(len(first)), scale * other.std / np.sqrt(len(other)))
    assert abs(first.mean - scale * other.mean) < 5 * error


class Level:
    def __init__(self, level):
        self.mean, self.std, self.size = level.mean, level.std, level.n_resamples

    def __len__(self):
        return self.size


@pytest.mark.filterwarnings("ignore:.*rows a bin on average")
@pytest.mark.parametrize("n_classes", [3, 10])
@pytest.mark.parametrize("lens", ["confidence", "classwise", "canonical"])
def test_evaluate_draws_as_many_outcomes_as_the_rows_written_out(n_classes, lens):
    y, p, frequency, written_out = rows(n_classes)
    options = {"lens": lens, "n_resamples": 400}
    weighted = veridical.evaluate(y, p, sample_weight=frequency, **FREQUENCY, rng=0, **options)
    repeated = veridical.evaluate(y[written_out], p[written_out], rng=1, **options)
    compared = 0
    for one, other in zip(weighted.errors, repeated.errors, strict=True):
        if one.null_mean is None or other.null_mean is None:
            continue
        compared += 1
        # The 95% quantile lies above the mean by more than a standard deviation of these laws.
        spread = max(other.null_q95 - other.null_mean, one.null_q95 - one.null_mean)
        assert abs(one.null_mean - other.null_mean) < 5 * spread * np.sqrt(2 / 400)
        share = (one.pvalue + other.pvalue) / 2
        error = np.sqrt(2 * max(share * (1 - share), 1 / 400) / 400)
        assert abs(one.pvalue - other.pvalue) < 5 * error
    assert compared


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("lens", ["classwise", "canonical"])
def test_null_levels_fall_with_the_root_of_very_large_frequencies(n_classes, lens):
    """Bins are wide: at 15 outcomes per row their counts are normal, and so they stay."""
    y, p, frequency, _ = rows(n_classes)
    measure, factor = BinnedError(UniformBins(1 if lens == "canonical" else 2)), 10**5
    assert frequency.sum() * factor > 1 << 24
    options = {"lens": lens, "n_resamples": 400, **FREQUENCY}
    small = veridical.null_level(measure, y, p, sample_weight=frequency, rng=0, **options)
    large = veridical.null_level(measure, y, p, sample_weight=frequency * factor, rng=1, **options)
    assert_same_mean(Level(small), Level(large), np.sqrt(factor))


@pytest.mark.filterwarnings("ignore:.*does not hold its level")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("predictions", ["fixed", "bootstrap"])
def test_a_measure_that_is_called_per_draw_sees_every_outcome(n_classes, predictions):
    y, p, frequency, written_out = rows(n_classes)
    options = {"predictions": predictions, "n_resamples": 300}
    tests = [
        veridical.consistency_test(BrierScore(), y[written_out], p[written_out], rng=0, **options)
    ]
    for factor in (1, 100):  # drawn one by one, and as counts by class
        weight = {"sample_weight": frequency * factor, **FREQUENCY}
        tests.append(veridical.consistency_test(BrierScore(), y, p, rng=1, **weight, **options))
    repeated, single, many = (test.null_level for test in tests)
    assert_same_mean(Level(single), Level(repeated))
    assert_same_mean(Level(many), Level(repeated))
    # The relative standard error of a standard deviation of normal draws is 1 / sqrt(2 R).
    limit = 5 * np.sqrt(2 / (2 * 300))
    assert abs(np.log(single.std / repeated.std)) < limit
    assert abs(np.log(10 * many.std / repeated.std)) < limit


def test_draws_by_counts_do_not_depend_on_the_order_of_rows():
    y, p, frequency, _ = rows(3)
    order = np.random.default_rng(0).permutation(len(y))
    options = {"lens": "classwise", "n_resamples": 20, "rng": 0, **FREQUENCY}
    levels = [
        veridical.null_level(
            BinnedError(), y[at], p[at], sample_weight=1000 * frequency[at], **options
        )
        for at in (np.arange(len(y)), order)
    ]
    np.testing.assert_allclose(levels[0].sample, levels[1].sample, atol=1e-12)


def weighted_and_written_out(function, n_classes):
    """Call with 30 rows of frequency 1 to 29, and with their copies: 450 rows."""
    y, p, frequency, written_out = rows(n_classes, n=30)
    y[:n_classes], p = np.arange(n_classes), p if n_classes > 2 else p[:, 1]
    one = function(y, p, {"sample_weight": frequency, **FREQUENCY})
    return one, function(y[written_out], p[written_out], {})


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_limits_of_a_log_score_count_the_surprises_of_every_copy(n_classes):
    one, other = weighted_and_written_out(
        lambda y, p, weight: veridical.bootstrap_interval(LogScore(), y, p, **weight), n_classes
    )
    np.testing.assert_allclose((one.low, one.high), (other.low, other.high), rtol=1e-9)


@pytest.mark.parametrize("score", [BrierScore(), LogScore()])
def test_differences_of_models_count_every_copy(score):
    """One model is above the other everywhere, which 200 rows are enough to believe."""

    def difference(y, p, weight):
        return veridical.inference.paired_difference(score, y, p, p**1.1, **weight)

    one, other = weighted_and_written_out(difference, 2)
    for name in ("estimate", "low", "high", "pvalue"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)


@pytest.mark.parametrize("null", ["asymptotic", "monte-carlo"])
def test_limits_of_a_recalibration_line_count_every_copy(null):
    def limits(y, p, weight):
        test = veridical.cox_test(y, p, null=null, n_resamples=20, rng=0, **weight)
        lines = [*test.slopes, *test.intercepts]
        return [limit for each in lines for limit in (each.low, each.high)]

    one, other = weighted_and_written_out(limits, 2)
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*")
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_limits_of_all_figures_count_every_copy(n_classes):
    def limits(y, p, weight):
        return veridical.evaluate(y, p, n_resamples=20, rng=0, **weight).limits

    one, other = weighted_and_written_out(limits, n_classes)
    assert set(one) == set(other)
    for name in one:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bootstraps_of_a_function_draw_as_many_rows_beyond_those_written_out(
    n_classes, monkeypatch
):
    def mean_square(y, p, sample_weight=None):
        return float(np.average(p.reshape(len(y), -1)[:, -1] ** 2, weights=sample_weight))

    def width(weight):
        found = veridical.bootstrap_interval(
            FunctionMeasure(mean_square), y, p, n_resamples=400, rng=0, **weight
        )
        return found.high - found.low

    y, p, frequency, _ = rows(n_classes)
    weight = {"sample_weight": frequency, **FREQUENCY}
    expected = width(weight)
    monkeypatch.setattr("veridical._core.resampling.rows.MOST_REPEATED", 100)
    # The relative standard error of either width is about 5%.
    assert abs(np.log(width(weight) / expected)) < 0.3


def test_many_classes_are_not_written_out_beyond_a_bounded_memory():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(1000), 40)
    y = rng.integers(0, 1000, 40)
    options = {
        "lens": "classwise",
        "labels": np.arange(1000),
        "n_resamples": 1,
        "rng": 0,
        **FREQUENCY,
    }
    tracemalloc.start()
    veridical.null_level(BinnedError(), y, p, sample_weight=np.full(40, 1000), **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20  # written out, 40,000 rows of 1,000 classes are 320 MB


def test_more_rows_than_a_float_counts_are_refused():
    y, p, frequency, _ = rows(3)
    with pytest.raises(veridical.InvalidInputError, match="counts of at most 9"):
        veridical.null_level(BrierScore(), y, p, sample_weight=frequency * 1e18, **FREQUENCY)
