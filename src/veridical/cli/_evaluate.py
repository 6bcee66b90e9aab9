"""``veridical evaluate``."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import TYPE_CHECKING, Any

from veridical._core.files import write_whole
from veridical.evaluation import evaluate
from veridical.exceptions import VeridicalWarning, unknown_option
from veridical.frames import column_names, guess_columns, open_table
from veridical.lenses import ClassSpecific, Grouped, TopK
from veridical.results import Evaluation

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_EXAMPLES = """\
examples:
  veridical evaluate predictions.csv
  veridical evaluate predictions.csv --y outcome --prob p_yes --by region
  veridical evaluate 'part-*.parquet' --y label --prob 'p_*' --weight w --lens classwise
  veridical evaluate predictions.csv --format json -o evaluation.json

Columns are guessed when they have usual names (label, y_true, ...; p, prob, p_*) and the guess is
unambiguous; the guess is printed as a note.
"""


def register(commands: _SubParsersAction[Any]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate",
        help="measure discrimination and calibration of predictions in a file",
        description="Measure discrimination and calibration of the predictions in a file.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="CSV, Parquet or Arrow file, or a glob")
    add_data_arguments(parser)
    parser.add_argument(
        "--lens",
        metavar="LENS",
        help="binary, confidence, classwise, canonical, pooled, class:LABEL, top:K, or"
        " groups:A+B|C (default: binary for two classes, confidence for more)",
    )
    parser.add_argument("--n-bins", default="15", metavar="N", help="number, sqrt, cbrt or cv")
    parser.add_argument("--by", metavar="COLUMN[,COLUMN]", help="evaluate each subgroup too")
    parser.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL")
    parser.add_argument(
        "--n-resamples", type=int, default=1000, metavar="N", help="for null levels; 0 for none"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="SEED", help="of the resamples")
    parser.add_argument(
        "--format", choices=("text", "json", "csv"), default="text", help="default: text"
    )
    parser.add_argument("-o", "--output", metavar="PATH", help="write there, whole or not at all")
    parser.set_defaults(run=run)


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which columns are what."""
    parser.add_argument("--y", metavar="COLUMN", help="outcome")
    parser.add_argument(
        "--prob",
        metavar="COLUMN[,COLUMN...]",
        help="probability of the positive class, or one column per class; globs such as 'p_*'",
    )
    parser.add_argument("--weight", metavar="COLUMN", help="non-negative weights")
    parser.add_argument("--labels", metavar="A,B,...", help="classes in column order")
    parser.add_argument("--pos-label", metavar="LABEL", help="positive class (default: the larger)")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the file and print or write the result."""
    with _busy(f"evaluating {arguments.file}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VeridicalWarning)
        prob = None if arguments.prob is None else arguments.prob.split(",")
        typed = LabelReader(arguments.file, arguments.y, prob)
        result = evaluate(
            arguments.file,
            y=arguments.y,
            prob=prob,
            lens=parse_lens(arguments.lens, typed),
            labels=None if arguments.labels is None else typed(arguments.labels.split(",")),
            pos_label=None if arguments.pos_label is None else typed([arguments.pos_label])[0],
            n_bins=parse_count(arguments.n_bins),
            sample_weight=arguments.weight,
            by=None if arguments.by is None else arguments.by.split(","),
            confidence_level=arguments.confidence_level,
            n_resamples=arguments.n_resamples,
            rng=arguments.seed,
        )
    text = _render(result, arguments.format)
    if arguments.output is None:
        print(text)
    else:
        write_whole(arguments.output, text + "\n")
    if arguments.format != "text" or arguments.output is not None:
        _report(result, caught)
    return 0


class LabelReader:
    """Reads labels from the command line as the file holds them: numbers, booleans or text."""

    def __init__(self, source: str, y: str | None, prob: list[str] | None = None) -> None:
        self._source, self._y, self._prob = source, y, prob

    def __call__(self, texts: list[str]) -> list[Any]:
        """Return the labels in the type of the outcome column."""
        available = column_names(self._source, caller="evaluate", param="FILE")
        y = self._y or guess_columns(available, prob=self._prob, caller="evaluate").y
        kind = (
            open_table(self._source, columns=[y], caller="evaluate", param="y")
            .column(y, caller="evaluate", param="y")
            .dtype.kind
        )
        if kind == "b":
            return [{"true": True, "false": False}.get(text.lower(), text) for text in texts]
        try:
            return [int(text) for text in texts] if kind in "iuf" else texts
        except ValueError:
            return texts  # the border says which labels there are


def parse_count(text: str) -> int | str:
    """Read a number of bins, or leave the name of a rule as it is."""
    return int(text) if text.isascii() and text.isdigit() else text


def parse_lens(text: str | None, labels: LabelReader) -> Any:
    """Read a lens from the command line: a name, ``class:LABEL``, ``top:K`` or ``groups:A+B|C``."""
    kind, colon, rest = (text or "").partition(":")
    if not colon:
        return text
    if kind == "class":
        return ClassSpecific(labels([rest])[0])
    if kind == "top" and rest.isascii() and rest.isdigit():
        return TopK(int(rest))
    if kind == "groups":
        return Grouped([labels(group.split("+")) for group in rest.split("|")])
    raise unknown_option("evaluate", "lens", text, ("class:LABEL", "top:K", "groups:A+B|C"))


def _render(result: Evaluation, form: str) -> str:
    if form == "json":
        return result.to_json(indent=2)
    if form == "csv":
        return str(result.to_frame().write_csv()).rstrip("\n")
    return str(result)


def _report(result: Evaluation, caught: list[warnings.WarningMessage]) -> None:
    """Say on standard error what the text form would have said in its notes."""
    said = [f"note: {note}" for note in result.notes]
    other = [w for w in caught if not issubclass(w.category, VeridicalWarning)]
    said += [f"warning: {w.message}" for w in other]
    for line in said:
        print(f"veridical: {line}", file=sys.stderr)


def _busy(what: str) -> Any:
    """Spinner on a terminal's standard error; nothing where nobody looks."""
    from rich.console import Console

    return Console(stderr=True).status(what)
