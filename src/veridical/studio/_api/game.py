"""Handlers of the page "Game"."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from veridical.planning import HealthcareGame, TrustingPlayer
from veridical.results import RoundOutcome
from veridical.studio._data.answers import Refused, answer, body_of, in_thread, whole_number
from veridical.studio._data.session import Session

LEVELS = ("calibrated", "over-confident", "very over-confident")


async def new_game(request: Request) -> Response:
    """Begin a game; one that was played is forgotten."""
    session: Session = request.app.state.session
    body = await body_of(request)
    level: Any = body.get("level", "over-confident")
    rounds = whole_number(body.get("n_rounds", 5), "n_rounds", 1, 20)
    patients = whole_number(body.get("n_patients", 10), "n_patients", 2, 30)
    seed = body.get("seed")
    game = HealthcareGame(
        level,
        n_rounds=rounds,
        n_patients=patients,
        rng=None if seed is None else whole_number(seed, "seed", 0, 2**32 - 1),
    )
    with session.lock:
        session.game = game
    return answer(await in_thread(_shown, game))


async def state(request: Request) -> Response:
    """The game as it stands."""
    session: Session = request.app.state.session
    if session.game is None:
        return answer({"levels": LEVELS, "playing": False})
    return answer(await in_thread(_shown, session.game))


async def treat(request: Request) -> Response:
    """Play a round."""
    session: Session = request.app.state.session
    game, choices = _game(session), (await body_of(request)).get("choices")

    def work() -> dict[str, Any]:
        with session.lock:  # two clicks must not play two rounds with one choice
            game.treat(choices)  # type: ignore[arg-type]  # checked there
        return _shown(game)

    return answer(await in_thread(work))


async def advice(request: Request) -> Response:
    """What one would choose who takes the reports at their word."""
    game = _game(request.app.state.session)
    player = TrustingPlayer()
    choices = await in_thread(player.choose, game.patients(), game.outcomes, game.rules)
    return answer({"choices": list(choices)})


def _game(session: Session) -> HealthcareGame:
    if session.game is None:
        raise Refused(409, "no game yet", "start one.")
    return session.game


def _shown(game: HealthcareGame) -> dict[str, Any]:
    """What a player may see: no truth, no conditions of the round to play."""
    rules = game.rules
    known: dict[str, Any] = {
        "levels": LEVELS,
        "playing": True,
        "level": game.level,
        "n_rounds": game.n_rounds,
        "n_patients": game.n_patients,
        "rules": {
            "conditions": rules.conditions,
            "treatments": rules.treatments,
            "costs": rules.costs,
            "benefit": rules.benefit,
            "unit": rules.unit,
        },
        "finished": game.finished,
        "last": _outcome(game.outcomes[-1]) if game.outcomes else None,
        "value": sum(outcome.value for outcome in game.outcomes),
        "tally": _tally(game.outcomes),
    }
    if not game.finished:
        patients = game.patients()
        known |= {
            "round": patients.round_number,
            "budget": patients.budget,
            "reports": patients.reports,
        }
        return known
    summary = game.summary()
    known |= {
        "summary": {
            "sentences": summary.sentences(),
            "players": [player.to_dict() for player in summary.players],
            "hindsight": summary.hindsight,
        },
        "seed": game.seed,
    }
    return known


def _outcome(outcome: RoundOutcome) -> dict[str, Any]:
    return {
        "round": outcome.patients.round_number,
        "reports": outcome.patients.reports,
        "choices": outcome.choices,
        "conditions": outcome.conditions,
        "effects": outcome.effects,
        "cost": outcome.cost,
        "promised": outcome.promised,
        "value": outcome.value,
    }


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
