"""The account of a game: its choices beside those of the reference players."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical._core.typing import FloatArray
from veridical.planning._game_choices import cost_of
from veridical.planning._game_patients import ACCURACY, LEVELS, Level, Patients
from veridical.planning._game_players import (
    InformedPlayer,
    Player,
    RecalibratingPlayer,
    TrustingPlayer,
    best_choices,
)
from veridical.planning._game_rules import GameRules
from veridical.results._game import GameSummary, PlayerScore, RoundOutcome


def summarise(
    level: Level, rules: GameRules, patients: Patients, outcomes: Sequence[RoundOutcome]
) -> GameSummary:
    """Score the choices made so far and what the reference players choose for the same patients.

    What a reference player knows of earlier rounds is the same as in a game of its own: all
    conditions are revealed after a round, whatever was chosen.
    """
    references: dict[str, Player] = {
        "trusting": TrustingPlayer(),
        "recalibrating": RecalibratingPlayer(),
        "informed": InformedPlayer(patients.truth),
    }
    chosen = {
        name: [
            player.choose(outcome.patients, outcomes[:i], rules)
            for i, outcome in enumerate(outcomes)
        ]
        for name, player in references.items()
    }
    scores = {name: _score(name, chosen[name], rules, patients) for name in chosen}
    return GameSummary(
        level=level,
        accuracy=ACCURACY,
        ece=LEVELS[level],
        unit=rules.unit,
        n_rounds=len(outcomes),
        n_patients=patients.conditions.shape[1],
        you=_score("you", [outcome.choices for outcome in outcomes], rules, patients),
        hindsight=_hindsight(rules, patients, outcomes),
        **scores,
    )


def effects_of(choices: Sequence[int], probabilities: FloatArray, rules: GameRules) -> FloatArray:
    """Mean effect on each patient at these probabilities of the conditions."""
    effects: FloatArray = (rules.effect_table()[list(choices)] * probabilities).sum(axis=1)
    return effects


def certain(conditions: Sequence[int], rules: GameRules) -> FloatArray:
    """Probabilities of one who knows the conditions."""
    known: FloatArray = np.eye(len(rules.conditions))[list(conditions)]
    return known


def _score(
    name: str, choices: Sequence[Sequence[int]], rules: GameRules, patients: Patients
) -> PlayerScore:
    promised = expected = value = cost = 0.0
    for i, chosen in enumerate(choices):
        promised += float(effects_of(chosen, patients.reports[i], rules).sum())
        expected += float(effects_of(chosen, patients.truth[i], rules).sum())
        known = certain(patients.conditions[i].tolist(), rules)
        value += float(effects_of(chosen, known, rules).sum())
        cost += cost_of(chosen, rules)
    return PlayerScore(name=name, promised=promised, expected=expected, value=value, cost=cost)


def _hindsight(rules: GameRules, patients: Patients, outcomes: Sequence[RoundOutcome]) -> float:
    choices = [
        best_choices(certain(outcome.conditions, rules), rules, outcome.patients.budget)
        for outcome in outcomes
    ]
    return _score("hindsight", choices, rules, patients).value
