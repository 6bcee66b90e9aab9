"""``veridical evaluate``."""

from __future__ import annotations

import argparse

from veridical.cli.shared import data, output
from veridical.cli.shared.parser import Parser
from veridical.evaluation import evaluate

_EXAMPLES = f"""\
examples:
  veridical evaluate predictions.csv
  veridical evaluate predictions.csv --y outcome --prob p_yes --by region
  veridical evaluate 'part-*.parquet' --y label --prob 'p_*' --weight w --lens classwise
  veridical evaluate predictions.csv --format json -o evaluation.json

{data.GUESSING}"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = "Measure discrimination and calibration of the predictions in a file."
    parser.epilog = _EXAMPLES
    data.add_data_arguments(parser)
    data.add_group_arguments(parser, "evaluate each subgroup too")
    data.add_drawing_arguments(
        parser,
        intervals="of all intervals; default: 0.95",
        draws="for null levels; 0 for none",
        seed="of the resamples",
    )
    output.add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the file and print or write the result."""
    with output.busy(f"evaluating {arguments.file}"), output.hearing_doubts() as caught:
        result = evaluate(
            arguments.file,
            **data.asked_of_file(arguments, caller="evaluate"),
        )
    output.put_out(result, arguments, caught)
    return 0
