"""``veridical simulate``: what is known, or asked, before there is a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from veridical.cli.commands import (
    simulate_data as _simulate_data,
    simulate_decisions as _simulate_decisions,
    simulate_game as _simulate_game,
)

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_EPILOG = """\
examples:
  veridical simulate data --classes 3 --accuracy 0.85 --ece 0.05 -o fake.csv
  veridical simulate decisions --cost-fp 1 --cost-fn 5 --saving 0.3
  veridical simulate game --level over-confident

`veridical simulate WHAT --help` says more about each.
"""


def register(commands: _SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "simulate",
        help="fake classifiers, what decisions require of a model, and a game",
        description="Simulate predictions of known accuracy and calibration, and what decisions"
        " made with them are worth.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    _simulate_data.register(kinds)
    _simulate_decisions.register(kinds)
    _simulate_game.register(kinds)
