"""``veridical simulate data``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from veridical._core.runtime.files import check_folder, whole_file
from veridical._core.typing import Array
from veridical.cli.shared import output
from veridical.cli.shared.parser import Parser
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.files import kind_of
from veridical.frames.tables import small_table

if TYPE_CHECKING:
    from veridical.frames.files import FileKind
    from veridical.simulation import FakeSample

_CALLER = "simulate data"

_EPILOG = """\
example:
  veridical simulate data --classes 3 --accuracy 0.85 --ece 0.05 --rows 10000 --seed 0 -o fake.csv

The file has the columns label (0, 1, ...) and p_0, p_1, ..., what the classifier reports; with
--truth also true_0, true_1, ..., what the labels were drawn from. The rows are those of
`fake_classifier_for(...).sample(rows, rng=seed)`: accuracy and ECE are those of the classifier,
and the rows have them up to chance.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Write predictions and labels of a fake classifier of given accuracy and"
        " expected calibration error (ECE)."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "--classes", type=int, default=2, metavar="K", help="number of classes; default: 2"
    )
    parser.add_argument("--accuracy", type=float, required=True, metavar="SHARE", help="to have")
    parser.add_argument(
        "--ece", type=float, required=True, metavar="ERROR", help="to have; 0 is calibrated"
    )
    output.add_direction(parser)
    parser.add_argument("--rows", type=int, default=10_000, metavar="N", help="default: 10,000")
    parser.add_argument("--seed", type=int, default=0, metavar="SEED", help="default: 0")
    parser.add_argument("--truth", action="store_true", help="write the true probabilities too")
    output.add_format_arguments(parser)
    output.add_table_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find the classifier, draw, write, and print what is known of it."""
    from veridical.simulation import fake_classifier_for

    kind = kind_of(arguments.output, caller=_CALLER)
    check_folder(Path(arguments.output).expanduser())
    if arguments.rows < 1:
        hint = "say how many rows to draw."
        raise invalid(_CALLER, "rows", "a positive integer", str(arguments.rows), hint=hint)
    if arguments.rows * arguments.classes > sys.maxsize // 8:  # bytes of a number
        raise _too_many(arguments)
    with output.busy(f"simulating {arguments.output}"):
        fake = fake_classifier_for(
            arguments.accuracy,
            arguments.ece,
            n_classes=arguments.classes,
            direction=arguments.direction,
        )
        try:
            drawn = fake.sample(arguments.rows, rng=arguments.seed)
            _write(arguments.output, kind, _columns(drawn, with_truth=arguments.truth))
        except MemoryError as error:
            raise _too_many(arguments) from error
        figures = {"accuracy": fake.accuracy(), "ece": fake.expected_calibration_error()}
    if arguments.format == "json":
        known = {name: figure.to_dict() for name, figure in figures.items()}
        print(output.as_json({"output": arguments.output, "n_samples": arguments.rows, **known}))
        return 0
    manner = "calibrated" if arguments.ece == 0 else f"always {arguments.direction}-confident"
    output.show(
        f"{arguments.rows:,} rows of a fake classifier of {arguments.classes} classes, {manner},"
        f" written to {arguments.output}"
    )
    for figure in figures.values():
        output.show(f"  {figure}")
    return 0


def _too_many(arguments: argparse.Namespace) -> InvalidInputError:
    hint = "draw fewer rows, or several files with different seeds."
    got = f"{arguments.rows:,} rows of {arguments.classes} classes"
    return invalid(_CALLER, "rows", "few enough for memory", got, hint=hint)


def _columns(drawn: FakeSample, *, with_truth: bool) -> dict[str, Array]:
    columns: dict[str, Array] = {"label": drawn.y}
    columns |= {f"p_{k}": column for k, column in enumerate(drawn.y_prob.T)}
    if with_truth:
        columns |= {f"true_{k}": column for k, column in enumerate(drawn.p_true.T)}
    return columns


def _write(target: str, kind: FileKind, columns: dict[str, Array]) -> None:
    table = small_table(columns, caller=_CALLER)
    with whole_file(Path(target).expanduser()) as temporary:
        if kind == "Parquet":
            table.write_parquet(temporary)
        elif kind == "Arrow":
            table.write_ipc(temporary)
        else:
            table.write_csv(temporary, separator="\t" if kind == "TSV" else ",")
