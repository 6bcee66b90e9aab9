"""The account at the end of a game."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.planning._game.engine import HealthcareGame, play
from veridical.planning._game.players import InformedPlayer, RecalibratingPlayer, TrustingPlayer
from veridical.planning._game.rules import LEVELS, GameRules, level_to_find_out
from veridical.results.game import GameSummary, PlayerScore
from veridical.simulation import DirichletFakeClassifier, PowerMap

EFFECTS = [[0, 0, 0, 0, 0], *map(list, GameRules().benefit)]


def _game():
    return HealthcareGame("very over-confident", n_rounds=4, n_patients=12, rng=5)


def test_the_account_adds_up():
    """Every score from the choices of players that play games of their own."""
    games = {name: _game() for name in ("trusting", "recalibrating", "informed")}
    truth = games["trusting"].truth()
    players = (TrustingPlayer(), RecalibratingPlayer(), InformedPlayer(truth))
    for player, game in zip(players, games.values(), strict=True):
        play(player, game)
    mine = _game()
    while not mine.finished:
        mine.treat({1: "A", 4: "D"})
    summary = mine.summary()
    assert games["recalibrating"].outcomes != games["trusting"].outcomes  # it has learnt something
    for name, game in (games | {"you": mine}).items():
        score = getattr(summary, name)
        assert score.name == name
        assert score.cost == sum(outcome.cost for outcome in game.outcomes)
        assert score.value == pytest.approx(sum(outcome.value for outcome in game.outcomes))
        assert score.promised == pytest.approx(sum(outcome.promised for outcome in game.outcomes))
        expected = sum(
            truth[i, j, k] * EFFECTS[choice][k] * outcome.patients.stakes[j]
            for i, outcome in enumerate(game.outcomes)
            for j, choice in enumerate(outcome.choices)
            for k in range(5)
        )
        assert score.expected == pytest.approx(expected)
    assert (summary.level, summary.n_rounds, summary.n_patients) == ("very over-confident", 4, 12)
    assert (summary.accuracy, summary.ece) == pytest.approx((0.6, 0.36), abs=1e-6)
    assert summary.unit == "weeks"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_nobody_expects_more_than_the_informed_nor_gets_more_than_hindsight(level, seed):
    summary = play(TrustingPlayer(), HealthcareGame(level, n_rounds=2, n_patients=10, rng=seed))
    assert all(p.expected <= summary.informed.expected + 1e-9 for p in summary.players)
    assert all(p.value <= summary.hindsight + 1e-9 for p in summary.players)
    assert all(p.promised <= summary.trusting.promised + 1e-9 for p in summary.players)
    assert all(p.cost <= 30 for p in summary.players)
    assert summary.you == PlayerScore.from_dict(summary.trusting.to_dict() | {"name": "you"})


def test_calibrated_reports_cost_nothing_to_trust():
    summary = play(TrustingPlayer(), HealthcareGame("calibrated", rng=1))
    assert summary.gap == pytest.approx(0, abs=1e-9)
    assert summary.closed is None
    assert "Trusting the reports cost nothing" in str(summary)


def test_hindsight_by_hand():
    """One patient, budget for any treatment: the effect of the one for the condition."""
    rules = GameRules(budget_per_patient=2.0, stakes=(1.0,))
    for seed in range(10):
        game = HealthcareGame(n_rounds=1, n_patients=1, rules=rules, rng=seed)
        (condition,) = game.treat({}).conditions
        assert game.summary().hindsight == (0, 6, 12, 20, 40)[condition]


def test_a_summary_before_the_first_round():
    summary = _game().summary()
    assert summary.n_rounds == 0
    assert (summary.gap, summary.gap_percent, summary.closed) == (0, None, None)
    assert str(summary) == "No round was played."


def test_what_was_to_be_found_out_is_named_at_the_end():
    game = HealthcareGame("you find out", n_rounds=1, n_patients=3, rng=5)
    assert game.level == "you find out"
    known = HealthcareGame(level_to_find_out(5), n_rounds=1, n_patients=3, rng=5)
    assert game.patients() == known.patients()
    assert play(TrustingPlayer(), game).level == level_to_find_out(5)


def test_any_fake_classifier_makes_the_reports():
    own = DirichletFakeClassifier([1.0, 2.0, 3.0, 1.0, 1.0], map=PowerMap(2.0))
    game = HealthcareGame(classifier=own, n_rounds=2, n_patients=5, rng=3)
    drawn = own.sample(10, rng=3)
    assert np.array(game.patients().reports) == pytest.approx(drawn.y_prob[:5], abs=0)
    summary = play(TrustingPlayer(), game)
    assert summary.level == "own classifier"
    assert summary.accuracy == pytest.approx(own.accuracy().value, abs=0.005)
    with pytest.raises(InvalidInputError, match="keep the game itself"):
        game.state()
    with pytest.raises(InvalidInputError, match="a FakeClassifier of 5 classes"):
        HealthcareGame(classifier=DirichletFakeClassifier([1.0, 1.0]))


def test_other_rules_with_other_conditions():
    rules = GameRules(
        conditions=("well", "ill"),
        treatments=("cure",),
        costs=(1.0,),
        benefit=((-1.0, 2.0),),
        budget_per_patient=0.4,
        unit="days",
    )
    game = HealthcareGame("over-confident", n_rounds=2, n_patients=5, rules=rules, rng=2)
    assert game.patients().budget == 2
    summary = play(RecalibratingPlayer(min_rows=5), game)
    assert summary.informed.expected >= summary.trusting.expected - 1e-9
    assert " days" in str(summary) or "nothing" in str(summary)


def _summary(**expected):
    def score(name):
        worth = expected.get(name, 40.0)
        return PlayerScore(name=name, promised=70.0, expected=worth, value=55.0, cost=20.0)

    names = ("you", "trusting", "recalibrating", "informed")
    return GameSummary(
        level="over-confident",
        accuracy=0.8,
        ece=0.1,
        classwise_ece=0.05,
        unit="weeks",
        n_rounds=1,
        n_patients=20,
        hindsight=90.0,
        **{name: score(name) for name in names},
    )


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({}, "reports (right for 80 % of patients, ECE 0.10, by condition 0.05); 1 round of 20"),
        ({"informed": 50.0}, "Trusting the reports cost 10.0 weeks, 20.0 % of what one who"),
        ({"informed": 50.0, "recalibrating": 45.0}, "closed 50 % of that gap."),
        ({"informed": 50.0, "recalibrating": 37.5}, "can expect 2.5 weeks less"),
        ({}, "can expect as much as one who trusts them."),
        ({"you": 37.0}, "Your choices can expect 3.0 weeks less than trusting"),
        ({"informed": 50.0, "you": 42.0}, "Your choices can expect 2.0 weeks more than trusting"),
        ({}, "Your choices can expect as much as trusting the reports."),
    ],
)
def test_sentences_say_what_the_numbers_do(expected, sentence):
    assert sentence in str(_summary(**expected))


def test_a_share_of_the_gap_can_be_negative():
    assert _summary(informed=50.0, recalibrating=35.0).closed == -0.5
    assert _summary(informed=-1.0, trusting=-3.0).gap_percent is None


def test_summaries_survive_json_and_become_tables():
    summary = _summary(informed=50.0)
    assert GameSummary.from_json(summary.to_json()) == summary
    frame = summary.to_frame()
    assert frame["name"].to_list() == ["you", "trusting", "recalibrating", "informed"]
    assert frame["expected"].to_list() == [40.0, 40.0, 40.0, 50.0]
