"""``veridical rate``."""

from __future__ import annotations

import argparse

from veridical._core.data.reading import MISSING, SCALES
from veridical.cli.shared import data, output
from veridical.cli.shared.parser import Parser
from veridical.evaluation import estimate_rate

_EXAMPLES = """\
examples:
  veridical rate judged.jsonl --y label --prob judge
  veridical rate judged.csv --y label --prob judge --groups prompt
  veridical rate judged.csv --y label --prob judge --label-prob chance --format json

Rows whose label is blank have a score only. Labels are taken as a random sample of the rows, unless
--label-prob or --strata says how they were drawn.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Estimate which share of the rows of a file is positive, when all have a score and some a"
        " label."
    )
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "file",
        metavar="FILE",
        type=data.file_argument,
        help="CSV, JSON Lines, Parquet or Arrow file, or a glob; - for standard input",
    )
    data.add_column_arguments(
        parser,
        "y",
        "prob",
        "weight",
        "labels",
        "pos_label",
        y="label; blank where there is none",
        prob="score of the positive class, or one column per class; globs such as 'p_*'",
    )
    parser.add_argument(
        "--label-prob", metavar="COLUMN", help="chance with which the label of a row was drawn"
    )
    parser.add_argument(
        "--strata", metavar="COLUMN", help="parts within which labels were drawn at random"
    )
    parser.add_argument(
        "--groups", metavar="COLUMN", help="what rows belong to that depend on each other (prompt)"
    )
    parser.add_argument(
        "--method",
        choices=("auto", "normal", "labels", "rogan-gladen"),
        default="auto",
        help="how limits are made; default: auto",
    )
    parser.add_argument(
        "--raw", action="store_true", help="use scores as they are, without a map of them"
    )
    parser.add_argument(
        "--scale", choices=SCALES, default="probability", help="what --prob is written in"
    )
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default="error",
        help="whether rows without a score are an error, or dropped and counted",
    )
    data.add_confidence_level(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="SEED", help="of the folds")
    output.add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Estimate the rate and print or write the result."""
    prob = data.split_names(arguments.prob)
    beside = (arguments.weight, arguments.label_prob, arguments.strata, arguments.groups)
    typed = data.LabelReader(
        arguments.file,
        arguments.y,
        prob,
        without=beside,
        scale=arguments.scale,
        caller="estimate_rate",
    )
    with output.busy(f"reading {arguments.file}"), output.hearing_doubts() as caught:
        result = estimate_rate(
            arguments.file,
            **data.read_label_arguments(arguments, typed),
            calibrator=None if arguments.raw else "auto",
            method=arguments.method,
            label_prob=arguments.label_prob,
            strata=arguments.strata,
            groups=arguments.groups,
            sample_weight=arguments.weight,
            scale=arguments.scale,
            missing=arguments.missing,
            confidence_level=arguments.confidence_level,
            rng=arguments.seed,
        )
    output.put_out(result, arguments, caught)
    return 0
