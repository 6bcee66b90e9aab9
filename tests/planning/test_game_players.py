"""Patients come as announced; reference players choose what an exhaustive search chooses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from veridical.exceptions import InvalidInputError
from veridical.planning._game.players import (
    InformedPlayer,
    RecalibratingPlayer,
    TrustingPlayer,
    best_choices,
)
from veridical.planning._game.rules import (
    ACCURACY,
    KNOWN,
    GameRules,
    classifier_at,
    draw_patients,
    level_to_find_out,
)
from veridical.results.game import PatientRound, RoundOutcome

RULES = GameRules()
EFFECTS = [[0, 0, 0, 0, 0], *map(list, RULES.benefit)]
COSTS = [0, *RULES.costs]


def _worth(choices, beliefs):
    return sum(
        p * EFFECTS[c][k]
        for c, row in zip(choices, beliefs, strict=True)
        for k, p in enumerate(row)
    )


def _outcome(reports, conditions):
    seen = PatientRound(round_number=1, budget=0.0, reports=reports)
    nothing = (0,) * len(reports)
    return RoundOutcome(
        patients=seen,
        choices=nothing,
        conditions=conditions,
        effects=(0.0,) * len(reports),
        cost=0.0,
        promised=0.0,
        value=0.0,
    )


def _beliefs(n, seed):
    return np.random.default_rng(seed).dirichlet(np.full(5, 0.3), n)


def test_rules_break_even_where_they_say():
    # 20 p - 80 (1 - p) = 0 at p = 4/5, and 40 p - 3 (1 - p) = 0 at p = 3/43.
    def chosen(p, condition):
        row = np.zeros(5)
        row[0], row[condition] = 1 - p, p
        return best_choices([row], RULES, 2)

    assert chosen(0.8 + 0.001, 3) == (3,)
    assert chosen(0.8 - 0.001, 3) == (0,)
    assert chosen(3 / 43 + 0.001, 4) == (4,)
    assert chosen(3 / 43 - 0.001, 4) == (0,)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("budget", [0, 1, 3, 4.5, 8])
def test_best_choices_are_those_of_an_exhaustive_search(seed, budget):
    beliefs = _beliefs(4, seed)
    within = [
        choices
        for choices in itertools.product(range(5), repeat=4)
        if sum(COSTS[c] for c in choices) <= budget
    ]
    found = best_choices(beliefs, RULES, budget)
    assert found in within
    best = max(_worth(choices, beliefs) for choices in within)
    assert _worth(found, beliefs) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_best_choices_of_a_full_round_are_those_of_a_table_over_budgets(seed):
    beliefs, budget = _beliefs(20, seed), 20
    best = [0.0] * (budget + 1)  # costs are whole: best value for every amount that may be spent
    for row in beliefs:
        worth = [sum(p * e for p, e in zip(row, effects, strict=True)) for effects in EFFECTS]
        best = [
            max(best[b - int(COSTS[c])] + worth[c] for c in range(5) if COSTS[c] <= b)
            for b in range(budget + 1)
        ]
    found = best_choices(beliefs, RULES, budget)
    assert sum(COSTS[c] for c in found) <= budget
    assert _worth(found, beliefs) == pytest.approx(best[-1], abs=1e-9)


@pytest.mark.parametrize(
    ("level", "error"),
    [
        ("calibrated", 0.0),
        ("over-confident", 0.3),
        ("very over-confident", 0.36),
        ("under-confident", -0.25),
    ],
)
def test_levels_have_the_accuracy_and_error_they_claim(level, error):
    """By gamma variables: truth max p, confidence of the power p^b / sum p^b."""
    fake = classifier_at(level, 5)
    alpha, power = fake.alpha[0], getattr(fake.map, "exponent", 1.0)
    rng, n = np.random.default_rng(1), 200_000
    log_p = np.log(rng.gamma(alpha + 1, size=(n, 5))) + np.log(rng.random((n, 5))) / alpha
    log_p -= log_p.max(axis=1, keepdims=True)
    truth, said = 1 / np.exp(log_p).sum(axis=1), 1 / np.exp(power * log_p).sum(axis=1)
    assert truth.mean() == pytest.approx(ACCURACY, abs=4 * truth.std() / math.sqrt(n))
    gap = said - truth  # of one sign, so its mean is the ECE but for the sign
    assert gap.mean() == pytest.approx(error, abs=4 * gap.std() / math.sqrt(n) + 1e-12)


def test_uneven_reports_are_powers_by_condition():
    fake = classifier_at("uneven", 5)
    drawn = fake.sample(50, rng=0)
    powers = drawn.p_true ** np.array([1.5, 1.5, 0.4, 0.4, 2.5])
    assert drawn.y_prob == pytest.approx(powers / powers.sum(axis=1, keepdims=True), abs=1e-12)


def _drawn(level):
    return draw_patients(classifier_at(level, 5), RULES, n_rounds=3, n_patients=50, seed=4)


def test_levels_have_the_same_patients_and_sharper_reports():
    drawn = {level: _drawn(level) for level in KNOWN}
    calm = drawn["calibrated"]
    for other in drawn.values():
        assert (other.truth == calm.truth).all()
        assert (other.conditions == calm.conditions).all()
        assert (other.stakes == calm.stakes).all()
    assert set(np.unique(calm.stakes)) == set(RULES.stakes)
    assert calm.reports == pytest.approx(calm.truth, abs=1e-12)
    order = ("under-confident", "calibrated", "over-confident", "very over-confident")
    tops = [drawn[level].reports.max(-1) for level in order]
    for level in order:
        assert (drawn[level].reports.argmax(-1) == calm.reports.argmax(-1)).all()
    for less, more in itertools.pairwise(tops):
        assert (less <= more + 1e-12).all()
        assert less.mean() < more.mean()


def test_every_level_can_be_found_out():
    found = [level_to_find_out(seed) for seed in range(200)]
    assert set(found) == set(KNOWN)
    assert min(found.count(level) for level in KNOWN) > 20  # 40 expected


def test_trusting_and_informed_players_differ_in_what_they_believe():
    reports, truth = _beliefs(6, 1), np.stack([_beliefs(6, 2), _beliefs(6, 3)])
    seen = PatientRound(round_number=2, budget=5.0, reports=tuple(map(tuple, reports.tolist())))
    assert TrustingPlayer().choose(seen, (), RULES) == best_choices(reports, RULES, 5)
    assert InformedPlayer(truth).choose(seen, (), RULES) == best_choices(truth[1], RULES, 5)


def test_recalibrating_player_learns_a_temperature():
    """Reports of 0.9 that are right in 30 of 40 cases: 36^(1/T) = 12, for 3/4 = 12 / (12 + 4)."""
    report = (0.9, 0.025, 0.025, 0.025, 0.025)
    history = (_outcome((report,) * 40, (0,) * 30 + (1,) * 10),)
    seen = PatientRound(round_number=2, budget=2.0, reports=((0.36, 0.02, 0.02, 0.02, 0.58),))
    temperature = math.log(36) / math.log(12)
    flat = np.array(seen.reports[0]) ** (1 / temperature)
    expected = flat / flat.sum() * 40 / 41 + 1 / 41 / 5  # a uniform pseudo-row is mixed in
    player = RecalibratingPlayer()
    assert player.beliefs(seen, history)[0] == pytest.approx(expected, abs=1e-6)
    assert player.choose(seen, history, RULES) == best_choices([expected], RULES, 2)


def test_recalibrating_player_trusts_until_it_has_seen_enough():
    report = (0.9, 0.025, 0.025, 0.025, 0.025)
    history = (_outcome((report,) * 9, (1,) * 9),)
    seen = PatientRound(round_number=2, budget=2.0, reports=(report,))
    assert RecalibratingPlayer().beliefs(seen, history).tolist() == [list(report)]
    assert RecalibratingPlayer(min_rows=9).beliefs(seen, history)[0, 0] < 0.3
    with pytest.raises(InvalidInputError, match=r"`min_rows` must be a positive integer; got 0"):
        RecalibratingPlayer(min_rows=0)


class _Shares(BaseEstimator):
    """A calibrator that reports how often each class came."""

    def fit(self, y_prob, y):
        self.shares_ = np.bincount(y, minlength=y_prob.shape[1]) / len(y)
        return self

    def predict_proba(self, y_prob):
        return np.tile(self.shares_, (len(y_prob), 1))


def test_recalibrating_player_takes_any_calibrator_and_leaves_it_alone():
    report = (0.2,) * 5
    history = (_outcome((report,) * 2, (0, 1)), _outcome((report,) * 2, (1, 4)))
    seen = PatientRound(round_number=3, budget=2.0, reports=(report, report))
    mine = _Shares()
    beliefs = RecalibratingPlayer(mine, min_rows=4).beliefs(seen, history)
    assert beliefs.tolist() == [[0.25, 0.5, 0, 0, 0.25]] * 2
    assert not hasattr(mine, "shares_")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conditions": ("ill",)}, "`conditions` must be 2 different names or more"),
        ({"treatments": ("a", "a", "b", "c")}, "`treatments` must be 1 different names"),
        ({"treatments": tuple(f"t{i}" for i in range(27))}, "`treatments` must be at most 26"),
        ({"costs": (1.0, 1.0, 2.0)}, "`costs` must be 4 numbers of 0 or more"),
        ({"costs": (1.0, 1.0, 2.0, -1.0)}, "`costs` must be 4 numbers of 0 or more"),
        ({"benefit": ((0.0,) * 5,)}, "`benefit` must be 4 rows"),
        ({"benefit": ((0.0,) * 4,) * 4}, "`benefit` must be 5 numbers"),
        ({"benefit": ((math.nan,) * 5,) * 4}, "`benefit` must be 5 numbers"),
        ({"budget_per_patient": -1}, "`budget_per_patient` must be zero or more; got -1"),
        ({"stakes": ()}, "`stakes` must be a tuple of positive numbers"),
        ({"stakes": (1.0, 0.0)}, "`stakes` must be a tuple of positive numbers"),
    ],
)
def test_rules_that_make_no_sense_are_refused(change, message):
    with pytest.raises(InvalidInputError, match=message):
        GameRules(**change)


def test_rules_survive_json():
    rules = GameRules(budget_per_patient=0.5, unit="days")
    assert GameRules.from_json(rules.to_json()) == rules
