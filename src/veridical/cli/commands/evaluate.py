"""``veridical evaluate``."""

from __future__ import annotations

import argparse
import warnings

from veridical.cli.shared.data import (
    GUESSING,
    LabelReader,
    add_data_arguments,
    parse_lens,
    read_data_arguments,
    split_names,
)
from veridical.cli.shared.output import add_output_arguments, busy, put_out
from veridical.cli.shared.parser import Parser
from veridical.evaluation import evaluate
from veridical.exceptions import VeridicalWarning

_EXAMPLES = f"""\
examples:
  veridical evaluate predictions.csv
  veridical evaluate predictions.csv --y outcome --prob p_yes --by region
  veridical evaluate 'part-*.parquet' --y label --prob 'p_*' --weight w --lens classwise
  veridical evaluate predictions.csv --format json -o evaluation.json

{GUESSING}"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = "Measure discrimination and calibration of the predictions in a file."
    parser.epilog = _EXAMPLES
    add_data_arguments(parser)
    parser.add_argument("--by", metavar="COLUMN[,COLUMN]", help="evaluate each subgroup too")
    parser.add_argument(
        "--confidence-level", type=float, default=0.95, metavar="LEVEL",
        help="of all intervals; default: 0.95",
    )  # fmt: skip
    parser.add_argument(
        "--n-resamples", type=int, default=1000, metavar="N", help="for null levels; 0 for none"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="SEED", help="of the resamples")
    add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the file and print or write the result."""
    with busy(f"evaluating {arguments.file}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VeridicalWarning)
        prob = split_names(arguments.prob)
        typed = LabelReader(arguments.file, arguments.y, prob, caller="evaluate")
        result = evaluate(
            arguments.file,
            lens=parse_lens(arguments.lens, typed),
            **read_data_arguments(arguments, typed),
            confidence_level=arguments.confidence_level,
            n_resamples=arguments.n_resamples,
            rng=arguments.seed,
        )
    put_out(result, arguments, caught)
    return 0
