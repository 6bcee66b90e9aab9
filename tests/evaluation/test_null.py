"""Null levels beside the errors of an evaluation."""

import numpy as np
import pytest

from veridical import BinnedError, InvalidInputError, UniformBins, evaluate, null_level


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    p = rng.random(600)
    return (rng.random(600) < p).astype(int), p


def test_null_levels_are_those_of_null_level(data):
    error = evaluate(*data, n_bins=10, rng=3).error("ECE")
    level = null_level(BinnedError(UniformBins(10)), *data, rng=3)
    assert error.null_mean == level.mean
    assert error.null_q95 == level.quantile(0.95)
    assert f"null {level.mean:.4f}" in str(error)


def test_the_same_data_give_the_same_evaluation_without_a_seed(data):
    assert evaluate(*data) == evaluate(*data)
    assert evaluate(*data) != evaluate(*data, rng=1)


def test_a_generator_is_used_up_and_a_seed_is_not(data):
    generator = np.random.default_rng(5)
    assert evaluate(*data, rng=generator) != evaluate(*data, rng=generator)
    # Of a generator one seed is drawn, from which figures and verdict start alike.
    again = np.random.default_rng(5)
    assert evaluate(*data, rng=np.random.default_rng(5)) == evaluate(*data, rng=again)
    assert evaluate(*data, rng=5) == evaluate(*data, rng=5)


def test_no_resamples_leave_the_null_level_out(data):
    result = evaluate(*data, n_resamples=0)
    assert all(error.null_mean is None for error in result.errors)


def test_calibrated_predictions_stay_near_their_null_level():
    rng = np.random.default_rng(1)
    above = 0
    for _ in range(80):
        p = rng.random(300)
        error = evaluate(rng.random(300) < p, p, n_bins=10, n_resamples=200).error("ECE")
        above += error.value > error.null_q95
    assert 1 <= above <= 11  # of 80; 4 expected, four binomial standard errors are 7.8


def test_errors_of_several_classes_have_a_null_unless_it_takes_long(monkeypatch):
    rng = np.random.default_rng(2)
    P = rng.dirichlet([1, 1, 1], 600)
    y = (rng.random(600)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    result = evaluate(y, P, n_bins=5)
    assert result.error("ECE").null_mean is not None
    level = null_level(BinnedError(UniformBins(5)), y, P, lens="classwise", n_resamples=4000, rng=1)
    measured = result.error("classwise ECE")
    assert measured.null_mean == pytest.approx(level.mean, abs=6 * level.std / np.sqrt(1000))
    beyond = (level.sample >= measured.value).mean()
    assert measured.pvalue == pytest.approx(beyond, abs=0.08)
    monkeypatch.setattr("veridical.evaluation._data.null_levels._MOST_DRAWN", 600 * 3 * 999)
    assert evaluate(y, P, n_bins=5).error("classwise ECE").null_mean is None


@pytest.mark.parametrize("n_resamples", [-1, 2.5, "many"])
def test_resamples_are_counted(data, n_resamples):
    with pytest.raises(InvalidInputError, match="`n_resamples` must be a positive integer"):
        evaluate(*data, n_resamples=n_resamples)
