"""``veridical simulate game``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from veridical.cli.shared import output
from veridical.cli.shared.parser import Parser
from veridical.exceptions import invalid

if TYPE_CHECKING:
    from veridical.results import GameSummary

_CALLER = "simulate game"

_EPILOG = """\
example:
  veridical simulate game --level over-confident --seed 7

Patients come in rounds, a classifier reports what they may have, and a budget pays for some
treatments: type whom to treat with what. The same seed has the same patients at every level; only
the confidence of the reports differs. With --auto nothing is asked, and the players that the game
compares you with play alone.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Treat patients on the word of a classifier, and see what its calibration was worth."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "--level",
        default="over-confident",
        metavar="LEVEL",
        help="calibrated, over-confident (the default), very-over-confident, under-confident,"
        " uneven, you-find-out",
    )
    parser.add_argument("--n-rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--n-patients", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument(
        "--seed", type=int, metavar="SEED", help="of the patients; default: others every time"
    )
    parser.add_argument("--auto", action="store_true", help="show the reference players only")
    output.add_format_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play, or let play, and print the account."""
    from veridical.planning import HealthcareGame, TrustingPlayer, play, play_in_terminal

    if arguments.format == "json" and not arguments.auto:
        hint = "add --auto, or leave the format out to play."
        raise invalid(_CALLER, "format", "'text' in a game to play", "'json'", hint=hint)
    known: dict[str, Any] = {name.replace(" ", "-"): name for name in HealthcareGame.LEVELS}
    game = HealthcareGame(
        known.get(arguments.level, arguments.level),
        n_rounds=arguments.n_rounds,
        n_patients=arguments.n_patients,
        rng=arguments.seed,
    )
    if not arguments.auto:
        play_in_terminal(game)
        print(f"For the same patients: --seed {game.seed}")
        return 0
    # Whoever plays, the summary holds what the reference players do for the same patients.
    summary = play(TrustingPlayer(), game)
    if arguments.format == "json":
        print(_as_json(summary, game.seed))
    else:
        output.show(_as_text(summary))
    if arguments.format == "text" and arguments.seed is None:
        print(f"For the same patients: --seed {game.seed}")
    return 0


def _as_text(summary: GameSummary) -> str:
    first, gap, learning, _ = summary.sentences()  # the last is about a player who is not there
    _, *players = summary.players
    return "\n".join([first, *(f"  {player}" for player in players), gap, learning])


def _as_json(summary: GameSummary, seed: int) -> str:
    known = summary.to_dict()
    del known["you"]
    return output.as_json({"seed": seed, **known, "sentences": list(summary.sentences()[:-1])})
