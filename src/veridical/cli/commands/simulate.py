"""``veridical simulate``: what is known, or asked, before there is a model."""

from __future__ import annotations

from veridical.cli.shared.parser import Parser

_KINDS = {
    "data": "predictions of a fake classifier of given accuracy and ECE",
    "decisions": "what decisions require of a model: accuracy and calibration",
    "game": "treat patients on the word of a classifier",
}
_EPILOG = """\
examples:
  veridical simulate data --classes 3 --accuracy 0.85 --ece 0.05 -o fake.csv
  veridical simulate decisions --cost-fp 1 --cost-fn 5 --saving 0.3
  veridical simulate game --level over-confident

`veridical simulate WHAT --help` says more about each.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Simulate predictions of known accuracy and calibration, and what decisions"
        " made with them are worth."
    )
    parser.epilog = _EPILOG
    parser.add_commands(_KINDS, title="what", metavar="WHAT", prefix="simulate_")
