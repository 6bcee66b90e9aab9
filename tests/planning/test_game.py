"""The engine: rounds, choices and states."""

from __future__ import annotations

import json

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.planning._game.engine import GameState, HealthcareGame, play
from veridical.planning._game.players import TrustingPlayer
from veridical.planning._game.rules import GameRules
from veridical.results.game import PatientRound, RoundOutcome

RULES = GameRules(budget_per_patient=1.0, stakes=(1.0,))
EFFECTS = [[0, 0, 0, 0, 0], *map(list, RULES.benefit)]


def _game(level="very over-confident", **options):
    return HealthcareGame(
        level, **{"n_rounds": 3, "n_patients": 8, "rules": RULES, "rng": 5} | options
    )


def test_a_round_adds_up():
    game = _game()
    seen = game.patients()
    outcome = game.treat([1, 0, 2, 0, 4, 3, 0, 0])
    assert outcome.patients == seen
    assert outcome.cost == 1 + 1 + 2 + 2
    effects = [EFFECTS[c][k] for c, k in zip(outcome.choices, outcome.conditions, strict=True)]
    assert list(outcome.effects) == effects
    assert outcome.value == sum(effects)
    promised = sum(
        p * EFFECTS[c][k]
        for c, row in zip(outcome.choices, seen.reports, strict=True)
        for k, p in enumerate(row)
    )
    assert outcome.promised == pytest.approx(promised, abs=1e-9)
    assert game.outcomes == (outcome,)
    assert game.patients().round_number == 2


def test_conditions_come_with_the_true_probabilities():
    """Mean of 1[condition = k] - p_k over 4,000 patients, against four standard errors."""
    game = HealthcareGame("very over-confident", n_rounds=4, n_patients=1000, rng=0)
    while not game.finished:
        game.treat({})
    truth = game.truth().reshape(-1, 5)
    found = np.eye(5)[[k for outcome in game.outcomes for k in outcome.conditions]]
    error = np.sqrt((truth * (1 - truth)).sum(axis=0))
    assert (np.abs((found - truth).sum(axis=0)) < 4 * error).all()
    reports = np.array([row for outcome in game.outcomes for row in outcome.patients.reports])
    top = reports.argmax(axis=1)
    said = reports.max(axis=1).sum()
    assert found[np.arange(len(top)), top].sum() < said - 4 * error.max()  # over-confident


@pytest.mark.parametrize(
    "choices",
    [
        {3: "A", 7: "D"},
        {3: 1, 7: "blood thinner", 1: None},
        ["-", "-", "a", "-", "-", "-", "d", None],
        np.array([0, 0, 1, 0, 0, 0, 4, 0]),
        (0, 0, np.int64(1), 0, 0, 0, 4, 0),
    ],
)
def test_choices_may_be_written_in_several_ways(choices):
    assert _game().treat(choices).choices == (0, 0, 1, 0, 0, 0, 4, 0)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([0] * 7, "`choices` must be 8 treatments; got 7"),
        ("ABCDABCD", "`choices` must be 8 treatments; got 'ABCDABCD'"),
        (3, "`choices` must be 8 treatments; got 3"),
        ([5] + [0] * 7, "`choices` must be treatments from 0 to 4; got 5"),
        ([-1] + [0] * 7, "`choices` must be treatments from 0 to 4; got -1"),
        ([True] + [0] * 7, "`choices` must be treatments of these rules; got True"),
        ([1.0] + [0] * 7, "`choices` must be treatments of these rules; got 1.0"),
        ({1: "E"}, "got 'E'.\nHint: choose from A drops, B antibiotic, C surgery, D blood thinner"),
        ({1: ""}, "`choices` must be treatments of these rules; got ''"),
        ({0: "A"}, "`choices` must be for patients of this round; got patient 0"),
        ({9: "A"}, "got patient 9.\nHint: patients are numbered from 1 to 8"),
        ({"1": "A"}, "got patient '1'"),
        (["C"] * 4 + ["A"] + [0] * 3, "within the budget of 8; got a cost of 9 for 5 treated"),
    ],
)
def test_choices_that_cannot_be_given_leave_the_game_as_it_was(choices, message):
    game = _game()
    before = game.state()
    with pytest.raises(InvalidInputError, match=message) as caught:
        game.treat(choices)
    assert str(caught.value).startswith("HealthcareGame.treat: `choices`")
    assert game.state() == before


def test_the_whole_budget_may_be_spent_also_in_fractions():
    assert _game().treat(["D"] * 4 + ["-"] * 4).cost == 8
    rules = GameRules(costs=(0.1, 0.2, 0.3, 0.9), budget_per_patient=0.3)
    game = HealthcareGame(n_patients=3, rules=rules, rng=0)
    assert rules.budget(3) < 0.9  # 0.3 x 3 in floats
    assert game.treat(["D", "-", "-"]).cost == 0.9


def test_nothing_happens_after_the_last_round():
    game = _game(n_rounds=1)
    assert not game.finished
    game.treat({})
    assert game.finished
    for method in (game.patients, lambda: game.treat({})):
        with pytest.raises(InvalidInputError, match="`game` must be in play; got a game whose 1"):
            method()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "overconfident"}, "`level` must be one of .*\nHint: did you mean"),
        ({"n_rounds": 0}, "`n_rounds` must be a positive integer; got 0"),
        ({"n_patients": 2.5}, "`n_patients` must be a positive integer; got 2.5"),
        ({"rules": {}}, "`rules` must be a GameRules"),
        ({"rng": -1}, "`rng` must be a seed or a generator; got -1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InvalidInputError, match=f"HealthcareGame: {message}"):
        HealthcareGame(**options)


def test_a_seed_is_a_game_and_every_game_has_one():
    assert _game().patients() == _game().patients()
    assert _game().patients() != _game(rng=6).patients()
    drawn = _game(rng=np.random.default_rng(0))
    assert drawn.patients() == _game(rng=np.random.default_rng(0)).patients()
    for game in (drawn, _game(rng=None)):
        assert game.patients() == _game(rng=game.seed).patients()
    source = np.random.default_rng(0)
    assert _game(rng=source).patients() != _game(rng=source).patients()
    assert repr(_game()) == "HealthcareGame('very over-confident', n_rounds=3, n_patients=8, rng=5)"


def test_a_game_goes_on_elsewhere_from_json():
    game = _game()
    game.treat({2: "B"})
    text = json.dumps(game.state().to_dict(), allow_nan=False)
    other = HealthcareGame.resume(GameState.from_dict(json.loads(text)))
    assert other.outcomes == game.outcomes
    for one in (game, other):
        play(TrustingPlayer(), one)
    assert other.summary() == game.summary()


def test_a_state_that_was_tampered_with_is_refused():
    data = _game().state().to_dict() | {"choices": [[3] * 8]}
    with pytest.raises(InvalidInputError, match="within the budget of 8; got a cost of 16"):
        HealthcareGame.resume(GameState.from_dict(data))


def test_what_the_player_sees_tells_no_condition():
    data = json.loads(_game().patients().to_json())
    assert set(data) == {"round_number", "budget", "reports", "stakes"}
    assert PatientRound.from_dict(data) == _game().patients()


def test_truth_is_a_copy():
    game = _game()
    game.truth()[:] = 0
    assert game.truth().sum() == pytest.approx(24)


def test_outcomes_survive_json_and_become_tables():
    outcome = _game().treat({2: "B"})
    assert RoundOutcome.from_json(outcome.to_json()) == outcome
    frame = outcome.to_frame()
    assert frame["choice"].to_list() == [0, 2, 0, 0, 0, 0, 0, 0]
    assert frame["effect"].to_list() == list(outcome.effects)
    assert str(outcome).startswith("round 1: 1 of 8 patients treated for 1 of 8; effect ")
    cells = outcome.patients.to_frame()
    assert cells.height == 40
    assert cells["probability"].to_list()[5:10] == list(outcome.patients.reports[1])
