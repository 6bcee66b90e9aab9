"""What the page "Game" asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical.planning import HealthcareGame, TrustingPlayer
from veridical.results import RoundOutcome
from veridical.studio._data.answers import Refused, values_of, whole_number
from veridical.studio._data.session import Session

LEVELS = ("calibrated", "over-confident", "very over-confident")


def new_game(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Begin a game; one that was played is forgotten."""
    rounds = whole_number(body.get("n_rounds", 5), "n_rounds", 1, 20)
    patients = whole_number(body.get("n_patients", 10), "n_patients", 2, 30)
    seed = body.get("seed")
    game = HealthcareGame(
        body.get("level", "over-confident"),
        n_rounds=rounds,
        n_patients=patients,
        rng=None if seed is None else whole_number(seed, "seed", 0, 2**32 - 1),
    )
    with session.lock:
        session.game = game
    return _visible(game)


def state(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """The game as it stands."""
    if session.game is None:
        return {"levels": LEVELS, "playing": False}
    return _visible(session.game)


def treat(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Play a round."""
    game = _game(session)
    with session.lock:  # two clicks must not play two rounds with one choice
        game.treat(body.get("choices"))  # type: ignore[arg-type]  # checked there
    return _visible(game)


def advice(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """What one would choose who takes the reports at their word."""
    game = _game(session)
    choices = TrustingPlayer().choose(game.patients(), game.outcomes, game.rules)
    return {"choices": list(choices)}


def _game(session: Session) -> HealthcareGame:
    if session.game is None:
        raise Refused(409, "no game yet", "start one.")
    return session.game


def _visible(game: HealthcareGame) -> dict[str, Any]:
    """What a player may see: no truth, no conditions of the round to play."""
    known: dict[str, Any] = {
        "levels": LEVELS,
        "playing": True,
        **values_of(game, "level", "n_rounds", "n_patients", "finished"),
        "rules": values_of(game.rules, "conditions", "treatments", "costs", "benefit", "unit"),
        "last": _outcome(game.outcomes[-1]) if game.outcomes else None,
        "value": sum(outcome.value for outcome in game.outcomes),
        "tally": _tally(game.outcomes),
    }
    if not game.finished:
        patients = game.patients()
        return known | _patients(patients) | {"budget": patients.budget}
    summary = game.summary()
    return known | {
        "summary": {
            "sentences": summary.sentences(),
            "players": [player.to_dict() for player in summary.players],
            "hindsight": summary.hindsight,
        },
        "seed": game.seed,
    }


def _outcome(outcome: RoundOutcome) -> dict[str, Any]:
    names = ("choices", "conditions", "effects", "cost", "promised", "value")
    return _patients(outcome.patients) | values_of(outcome, *names)


def _patients(patients: Any) -> dict[str, Any]:
    return {"round": patients.round_number, "reports": patients.reports}


def _tally(outcomes: tuple[RoundOutcome, ...]) -> dict[str, Any]:
    """How often sure reports were right so far: what a player can learn from."""
    sure = [
        (max(report), report[condition] == max(report))
        for outcome in outcomes
        for report, condition in zip(outcome.patients.reports, outcome.conditions, strict=True)
        if max(report) >= 0.9
    ]
    return {
        "sure": len(sure),
        "said": sum(p for p, _ in sure) / len(sure) if sure else None,
        "right": sum(right for _, right in sure) / len(sure) if sure else None,
    }
