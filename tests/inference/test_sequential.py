"""Sequential tests against enumeration of all outcomes and bets placed one at a time."""

import itertools
import json
import math

import numpy as np
import pytest

from veridical import ClassSpecific, InvalidInputError
from veridical.exceptions import VeridicalWarning
from veridical.inference._sequential.process import ALTERNATIVES, ONSET_ROWS, Bets, EProcess
from veridical.inference._sequential.test import sequential_test
from veridical.results.tests import SequentialTest


def drawn(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    truth = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + shift)))
    return (rng.random(n) < truth).astype(int), p


def by_hand(y, p, alternative="two-sided"):
    """Log wealth of one stream: every rival from every onset, as products of ratios."""
    bets = Bets(alternative)
    prior = np.exp(bets.log_prior)
    log_e = []
    for t in range(len(y)):
        wealth, aside = 0.0, 1.0
        for j in range(t // ONSET_ROWS + 1):
            begun = 1 / math.sqrt(1 + j) - 1 / math.sqrt(2 + j)
            rows = slice(j * ONSET_ROWS, t + 1)
            ratios = np.exp(bets.log_factors(y[rows], p[rows]))
            wealth += begun * (prior @ ratios.prod(axis=1))
            aside -= begun
        log_e.append(math.log(wealth + aside))
    return np.array(log_e)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("p", [1e-12, 0.004, 0.01, 0.3, 0.5, 0.77, 0.999, 1 - 1e-9])
def test_every_bet_is_fair_when_the_prediction_is_right(alternative, p):
    bets = Bets(alternative)
    win, lose = (np.exp(bets.log_factors(np.array([y]), np.array([p]))) for y in (1, 0))
    np.testing.assert_allclose(p * win + (1 - p) * lose, 1, rtol=1e-9)
    assert math.isclose(np.exp(bets.log_prior).sum(), 1, rel_tol=1e-12)


@pytest.mark.parametrize(("alternative", "lower"), [("greater", True), ("less", False)])
def test_one_sided_bets_lose_on_average_wherever_the_one_sided_hypothesis_holds(alternative, lower):
    bets = Bets(alternative)
    for p in (0.02, 0.4, 0.8):
        truth = p / 2 if lower else (1 + p) / 2
        win, lose = (np.exp(bets.log_factors(np.array([y]), np.array([p]))) for y in (1, 0))
        assert (truth * win + (1 - truth) * lose <= 1 + 1e-12).all()


def test_rivals_are_recalibrations_of_the_log_odds():
    """A shift of the log odds by a turns 0.5 into 1 / (1 + exp(-a)): the ratio is twice that."""
    factors = np.exp(Bets("greater").log_factors(np.array([1]), np.array([0.5])))[:, 0]
    for shift in (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 0.35, 0.9):
        assert np.isclose(factors, 2 / (1 + math.exp(-shift)), rtol=1e-12).any()
    both = np.exp(Bets("two-sided").log_factors(np.array([0]), np.array([0.8])))[:, 0]
    odds = 4 ** math.exp(-0.4) * math.exp(0.6)  # slope exp(-0.4) and shift 0.6 of odds 4
    assert np.isclose(both, (1 / (1 + odds)) / 0.2, rtol=1e-12).any()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_path_is_the_wealth_of_all_rivals_from_all_onsets(alternative):
    y, p = drawn(350, 0, shift=0.4)
    path = EProcess(alternative=alternative).update(y, p)
    np.testing.assert_allclose(path, by_hand(y, p, alternative), atol=1e-10)


@pytest.mark.parametrize("lag", [1, 3])
def test_mean_over_all_outcomes_is_one(lag):
    p = np.array([0.02, 0.3, 0.55, 0.9, 0.995, 0.4, 0.7])
    mean, guarded = 0.0, np.zeros(len(p))
    for outcome in itertools.product([0, 1], repeat=len(p)):
        y = np.array(outcome)
        probability = np.prod(np.where(y == 1, p, 1 - p))
        process = EProcess(lag=lag)
        guarded += probability * np.exp(process.update(y, p))
        mean += probability * math.exp(process.log_e)
    assert math.isclose(mean, 1, rel_tol=1e-10)
    assert (guarded <= 1 + 1e-10).all()


@pytest.mark.parametrize("lag", [2, 3, 4])
def test_lag_gives_the_mean_of_interleaved_streams_guarded_by_the_worst_of_the_last_rows(lag):
    y, p = drawn(240, lag, shift=0.8)
    path = EProcess(lag=lag).update(y, p)

    def mean_wealth(y, n):
        streams = [by_hand(y[k:n:lag], p[k:n:lag]) for k in range(lag)]
        return sum(np.exp(s[-1]) if len(s) else 1.0 for s in streams) / lag

    for n in (1, 2, 5, 37, 220, 240):
        last = min(lag - 1, n)
        worst = math.inf
        for outcome in itertools.product([0, 1], repeat=last):
            changed = np.concatenate([y[: n - last], outcome]).astype(int)
            worst = min(worst, mean_wealth(changed, n))
        assert math.isclose(path[n - 1], math.log(worst), abs_tol=1e-10)
    process = EProcess(lag=lag)
    process.update(y, p)
    assert math.isclose(process.log_e, math.log(mean_wealth(y, 240)), abs_tol=1e-10)


@pytest.mark.parametrize("lag", [1, 2, 7])
def test_batches_of_any_size_give_the_path_of_all_rows_even_through_json(lag):
    y, p = drawn(5000, 3, shift=0.1)
    whole = EProcess(lag=lag)
    expected = whole.update(y, p)
    process, parts, start = EProcess(lag=lag), [], 0
    for size in (1, 1, 3, 90, 5, 1, 2000, 2, 2897):
        parts.append(process.update(y[start : start + size], p[start : start + size]))
        start += size
        process = EProcess.from_dict(json.loads(json.dumps(process.to_dict(), allow_nan=False)))
    assert start == 5000
    np.testing.assert_allclose(np.concatenate(parts), expected, atol=1e-11)
    assert math.isclose(process.log_e, whole.log_e, abs_tol=1e-11)
    assert math.isclose(process.log_max, whole.log_max, abs_tol=1e-11)
    assert process.n_rows == 5000


def test_a_saved_process_of_other_bets_is_refused():
    with pytest.raises(InvalidInputError, match="version 1; got 0"):
        EProcess.from_dict(EProcess().to_dict() | {"version": 0})


def test_a_certain_prediction_that_fails_is_infinite_evidence_from_then_on():
    y, p = np.array([1, 0, 1, 0, 1]), np.array([0.5, 1.0, 1.0, 0.3, 1.0])
    with pytest.warns(VeridicalWarning, match="1 prediction of exactly 0 or 1"):
        test = sequential_test(y, p)
    assert test.alarm_at == 1
    assert test.pvalue == 0
    assert np.isinf(test.path[1:]).all()
    assert np.isfinite(test.path[0])
    assert test.e_value == test.max_e_value == math.inf
    with pytest.warns(VeridicalWarning, match="exactly 0 or 1"):
        one_sided = sequential_test(y, p, alternative="greater")  # less frequent is no surprise
    assert np.isfinite(one_sided.path).all()


def test_infinite_evidence_of_one_stream_survives_batches_and_json():
    process = EProcess(lag=2)
    process.update([1, 0, 1], [0.0, 0.4, 0.6])
    again = EProcess.from_dict(json.loads(json.dumps(process.to_dict(), allow_nan=False)))
    assert np.isinf(again.update([1, 1, 0], [0.2, 0.7, 0.1])).all()


def test_predictions_next_to_certain_give_finite_numbers():
    p = np.array([1e-300, 5e-324, 1 - 2**-53, 1e-9])
    path = EProcess().update([0, 0, 1, 0], p)
    assert np.isfinite(path).all()
    assert np.isfinite(EProcess().update([1, 1, 0, 1], p)).all()


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        (lambda z: z + 0.7, "outcomes more frequent than predicted"),
        (lambda z: z - 0.7, "outcomes less frequent than predicted"),
        (lambda z: z / 2, "predictions too extreme"),
        (lambda z: z * 2, "predictions not extreme enough"),
        (lambda z: np.where((z > 0) & (z < 0.6), z - 1.5, z), "between 0.5 and 0.65"),
    ],
)
def test_drift_is_found_and_named(truth, expected):
    rng = np.random.default_rng(8)
    p = rng.random(6000)
    rate = 1 / (1 + np.exp(-truth(np.log(p / (1 - p)))))
    rate[:2000] = p[:2000]
    test = sequential_test((rng.random(6000) < rate).astype(int), p)
    assert test.alarm_at is not None
    assert 2000 <= test.alarm_at == int((test.path >= math.log(20)).argmax())
    assert expected in test.direction
    assert math.isclose(test.pvalue, 1 / test.max_e_value)
    assert math.isclose(math.log(test.max_e_value), test.path.max())
    assert f"alarm at row {test.alarm_at}" in str(test)


def test_result_reads_back_and_fits_a_table():
    test = sequential_test(*drawn(50, 1), lag=2)
    assert SequentialTest.from_json(test.to_json()) == test
    assert test.alarm_at is None
    assert test.direction is None
    frame = test.to_frame()
    assert frame.shape[0] == 1
    assert frame["lag"].to_list() == [2]
    assert "no alarm" in str(test)


def test_class_lenses_bet_on_one_class():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([1, 1, 1], 300)
    y = (rng.random(300)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    found = sequential_test(y, p, lens=ClassSpecific(1))
    np.testing.assert_array_equal(found.path, EProcess().update((y == 1).astype(int), p[:, 1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1, 2]}, "`sample_weight` must be left out"),
        ({"lag": 0}, "`lag` must be a positive integer; got 0"),
        ({"lag": 1.5}, "`lag` must be a positive integer"),
        ({"alternative": "more"}, "`alternative` must be one of"),
        ({"level": 5}, "`level` must be between 0 and 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        sequential_test([0, 1], [0.5, 0.5], **options)


@pytest.mark.parametrize("lens", ["classwise", "canonical", "pooled"])
def test_lenses_of_several_problems_are_refused(lens):
    with pytest.raises(InvalidInputError, match="`lens` must be one"):
        sequential_test([0, 1, 2], np.full((3, 3), 1 / 3), lens=lens)


def test_process_takes_outcomes_of_one_event_only():
    with pytest.raises(InvalidInputError, match=r"EProcess\.update"):
        EProcess().update([0, 2], [0.5, 0.5])
    with pytest.raises(InvalidInputError, match="in \\[0, 1\\]"):
        EProcess().update([0, 1], [0.5, 1.5])
