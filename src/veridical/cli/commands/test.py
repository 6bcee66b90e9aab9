"""``veridical test``."""

from __future__ import annotations

import argparse

from veridical.cli.shared import data, output
from veridical.cli.shared.parser import Parser
from veridical.evaluation import calibration_tests
from veridical.evaluation.core import NAMES

REJECTED = 3

_EPILOG = f"""\
examples:
  veridical test predictions.csv
  veridical test predictions.csv --y outcome --prob p_yes --by region
  veridical test predictions.csv --tests cox,spiegelhalter --level 0.01
  veridical test predictions.csv --fail-if-rejected --format json -o tests.json

The verdict is that of one joint test at the level. Single tests beneath it are looked at one by
one, corrected for their number (Holm), and do not decide. Not to reject is no evidence of
calibration: the verdict says which error would have been found, or how many rows would tell.

{data.GUESSING}
exit codes:
  0  done
  1  could not finish (for instance the output could not be written)
  2  bad input or usage; one line on standard error says what and what to do
  {REJECTED}  calibration is rejected (only with --fail-if-rejected; the result is put out)
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Test whether the predictions in a file are calibrated, with a verdict in plain words."
    )
    parser.epilog = _EPILOG
    data.add_data_arguments(parser)
    data.add_group_arguments(parser, "test each subgroup too")
    parser.add_argument(
        "--tests",
        metavar="NAME[,NAME...]",
        help=f"of {', '.join(NAMES)} (default: all that are quick but the last two)",
    )
    parser.add_argument("--level", type=float, default=0.05, metavar="LEVEL", help="default: 0.05")
    data.add_drawing_arguments(parser, draws="draws of outcomes", seed="of the draws")
    parser.add_argument(
        "--fail-if-rejected",
        action="store_true",
        help=f"exit with code {REJECTED} if calibration is rejected",
    )
    output.add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Test the file and print or write the result."""
    with output.busy(f"testing {arguments.file}"), output.hearing_doubts() as caught:
        result = calibration_tests(
            arguments.file,
            **data.asked_of_file(arguments, caller="calibration_tests"),
            tests=data.split_names(arguments.tests),
            level=arguments.level,
        )
    output.put_out(result, arguments, caught)
    return REJECTED if arguments.fail_if_rejected and result.rejected else 0
