"""``veridical check``: a release gate."""

from __future__ import annotations

import argparse
from pathlib import Path

from veridical._core.runtime.files import check_folder, write_whole
from veridical.cli.shared import data, output
from veridical.cli.shared.parser import Parser
from veridical.exceptions import invalid
from veridical.frames.files import check_apart

EXIT = {"met": 0, "not met": 1, "undecided": 3}
_CALLER = "check"

_EPILOG = f"""\
examples:
  veridical check predictions.csv --require 'ece.high < 0.05' --require calibrated
  veridical check predictions.csv --require 'equivalence(0.03).pvalue < 0.05' --junit gate.xml
  veridical check predictions.csv --require 'groups: ece.high < 0.1' --by region
  veridical check predictions.csv --save-baseline baseline.json
  veridical check predictions.csv --against baseline.json --require 'difference(log).high < 0.02'
  veridical check predictions.csv --prob p_new --against-column p_old \\
      --require 'difference(brier).high < 0.005'

requirements:
  FIGURE[.FIELD] < NUMBER, with <, <=, > or >=, in quotes because of the shell
  figures    those of `veridical evaluate`: ece, ece_equal_mass, rmsce, mce, brier, log, accuracy,
             auc, slope, intercept, classwise_ece, ... ("ECE equal-mass" in quotes will do)
  fields     value (default), low, high, null_mean, null_q95, pvalue
  functions  equivalence(MARGIN).pvalue, difference(FIGURE).high, and the tests consistency(),
             cox(), spiegelhalter(), hosmer_lemeshow(), t_cal(), kernel(), pearson() with .pvalue
  calibrated the joint test finds nothing, and an error above 10 % of the base rate is excluded;
             calibrated(MARGIN) with another margin: 0.03 of probability, 20% of the base rate
  segments   segments.worst.high < 0.1: no segment of at least --min-rows rows has a gap that large
  baseline   log - baseline.log < 0.01 compares two estimates; difference(log).high < 0.01 is safer
  groups     with --by a requirement is asked of all rows and of every group, or only of one of
             them if it starts with `all:` or `groups:`

A limit such as ece.high is evidence of calibration; a test that does not reject is none, and
requirements such as cox().pvalue > 0.05 are answered with a note. What is not shown is not passed:
if the interval holds the limit, the requirement is undecided, and so is a figure without a value.
A stored baseline is taken as measured on other rows than these.

{data.GUESSING}
exit codes:
  {EXIT["met"]}  all requirements are met
  {EXIT["not met"]}  some are not, or an output could not be written
  2  bad input or usage; one line on standard error says what and what to do
  {EXIT["undecided"]}  none is shown to be broken, but not all are shown to be met: too few rows
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Check the predictions in a file against requirements, such as an upper limit"
        " of the calibration error, and fail if they are not met."
    )
    parser.epilog = _EPILOG
    data.add_data_arguments(parser)
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="see below; may be given several times, and all must be met",
    )
    data.add_group_arguments(parser, "ask it of each subgroup too")
    parser.add_argument(
        "--features",
        metavar="COLUMN[,COLUMN...]",
        help="what segments are made of, globs too (default: all other columns)",
    )
    parser.add_argument(
        "--min-rows", type=int, default=50, metavar="N", help="fewest rows of a segment"
    )
    parser.add_argument("--against", metavar="PATH", help="JSON of a baseline or an evaluation")
    parser.add_argument(
        "--against-column",
        metavar="COLUMN[,COLUMN...]",
        help="predictions of the earlier model for the same rows",
    )
    parser.add_argument(
        "--save-baseline",
        metavar="PATH",
        help="write the figures there if all requirements are met",
    )
    parser.add_argument("--junit", metavar="PATH", help="write JUnit XML there")
    parser.add_argument("--markdown", metavar="PATH", help="write Markdown there")
    data.add_drawing_arguments(
        parser,
        intervals="of the intervals that .low and .high are of; default: 0.95",
        draws="draws of outcomes",
        seed="of the draws",
    )
    output.add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check the file, put the result out in every form asked for, and say if it passed."""
    from veridical.evaluation import check_requirements

    _check_arguments(arguments)
    with output.busy(f"checking {arguments.file}"), output.hearing_doubts() as caught:
        result = check_requirements(
            arguments.file,
            requirements=arguments.require,
            **data.asked_of_file(arguments, caller=_CALLER),
            features=data.split_names(arguments.features),
            min_rows=arguments.min_rows,
            against=arguments.against,
            against_prob=data.split_names(arguments.against_column),
        )
    if arguments.junit is not None:
        write_whole(arguments.junit, result.to_junit() + "\n")
    if arguments.markdown is not None:
        write_whole(arguments.markdown, result.to_markdown() + "\n")
    if arguments.save_baseline is not None and result.passed:
        write_whole(arguments.save_baseline, result.measured.to_json(indent=2) + "\n")
    output.put_out(result, arguments, caught)
    if arguments.save_baseline is not None:
        done = "written" if result.passed else "not written, as not all requirements are met"
        output.tell([f"baseline {arguments.save_baseline} {done}"])
    return EXIT[result.outcome]


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Refuse what would fail later, before anything is measured."""
    if not arguments.require and arguments.save_baseline is None:
        hint = (
            "e.g. --require 'ece.high < 0.05' (the upper limit of the calibration error) or"
            " --require 'equivalence(0.03).pvalue < 0.05' (evidence of an error below 0.03);"
            " --save-baseline alone keeps the figures."
        )
        raise invalid(_CALLER, "require", "given at least once", "no requirement", hint=hint)
    outputs = {
        "--output": arguments.output,
        "--junit": arguments.junit,
        "--markdown": arguments.markdown,
        "--save-baseline": arguments.save_baseline,
    }
    seen: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        check_apart(arguments.file, path, caller=_CALLER)
        place = Path(path).expanduser().resolve()
        if place in seen:
            got = f"{path!r} for {seen[place]} and {option}"
            hint = "name a file of its own for each."
            raise invalid(_CALLER, "output", "one file for one form", got, hint=hint)
        check_folder(place)
        if place.is_file() or not place.exists():
            seen[place] = option
