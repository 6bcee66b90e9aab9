"""``veridical audit``."""

from __future__ import annotations

import argparse

from veridical.cli.shared import data, output
from veridical.cli.shared.parser import Parser
from veridical.inference import audit_segments

FOUND = 3

_EPILOG = f"""\
examples:
  veridical audit predictions.csv
  veridical audit predictions.csv --features age,region,gender --depth 3
  veridical audit predictions.csv --y outcome --prob p_yes --features 'region,x_*' --min-rows 200
  veridical audit predictions.csv --format csv -o segments.csv

Segments are all conjunctions of up to --depth feature values ("gender = female, region = South")
with at least --min-rows rows. Without --features every column is a feature that is nothing else.
Numbers are cut at quantiles; of texts the ten commonest are kept; a missing value is a value.

The p-value is that of the largest deviation of any segment and right for any number of them. That
nothing is found is no evidence of calibration: the last line of the answer says how large a gap of
a segment can be. A gate: veridical check FILE --require 'segments.worst.high < 0.1'.

{data.GUESSING}
exit codes:
  0  done
  1  could not finish (for instance the output could not be written)
  2  bad input or usage; one line on standard error says what and what to do
  {FOUND}  a segment is miscalibrated (only with --fail-if-found; the result is put out)
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Search all segments of the rows of a file for miscalibration, with one p-value for the"
        " search and the worst of them in words."
    )
    parser.epilog = _EPILOG
    data.add_file_argument(parser)
    data.add_column_arguments(parser, "y", "prob")
    parser.add_argument(
        "--features",
        metavar="COLUMN[,COLUMN...]",
        help="columns that segments are made of; globs such as '*' (default: all others)",
    )
    data.add_column_arguments(parser, "weight", "labels", "pos_label")
    data.add_lens_argument(parser)
    parser.add_argument(
        "--groups",
        metavar="COLUMN",
        help="what rows belong to that depend on each other (patient, prompt, day)",
    )
    for name, default, meaning in (
        ("depth", 2, "most features of a segment"),
        ("n-bins", 4, "parts that numbers are cut into"),
        ("min-rows", 50, "fewest rows of a segment"),
    ):
        words = f"{meaning}; default: {default}"
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=words)
    data.add_reading_arguments(parser)
    data.add_confidence_level(parser)
    parser.add_argument(
        "--n-resamples", type=int, default=999, metavar="N", help="draws of outcomes; default: 999"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="SEED", help="of the draws")
    parser.add_argument(
        "--fail-if-found",
        action="store_true",
        help=f"exit with code {FOUND} if a segment is miscalibrated",
    )
    output.add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Search the file and print or write the result."""
    features = data.split_names(arguments.features)
    typed = data.LabelReader(
        arguments.file,
        arguments.y,
        data.split_names(arguments.prob),
        without=[arguments.weight, arguments.groups],
        scale=arguments.scale,
        caller="audit_segments",
    )
    with output.busy(f"searching {arguments.file}"), output.hearing_doubts() as caught:
        result = audit_segments(
            arguments.file,
            features=features,
            **data.read_label_arguments(arguments, typed),
            lens=data.parse_lens(arguments.lens, typed),
            depth=arguments.depth,
            n_bins=arguments.n_bins,
            min_rows=arguments.min_rows,
            sample_weight=arguments.weight,
            groups=arguments.groups,
            scale=arguments.scale,
            missing=arguments.missing,
            normalize=arguments.normalize,
            confidence_level=arguments.confidence_level,
            n_resamples=arguments.n_resamples,
            rng=arguments.seed,
        )
    output.put_out(result, arguments, caught)
    return FOUND if arguments.fail_if_found and result.rejected else 0
