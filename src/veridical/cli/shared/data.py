"""Arguments that say what is in the file, and how they are read."""

from __future__ import annotations

import argparse
import atexit
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from veridical.exceptions import invalid, unknown_option
from veridical.frames import ColumnGuess, column_names, guess_columns, open_table
from veridical.lenses import ClassSpecific, Grouped, TopK

GUESSING = """\
Columns are guessed when they have usual names (label, y_true, ...; p, prob, p_*) and the guess is
unambiguous; the guess is printed as a note.
"""


_MARKS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz"}


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, and the arguments that say which columns are what and what is asked of them."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=file_argument,
        help="CSV, Parquet or Arrow file, or a glob; - for standard input",
    )
    parser.add_argument("--y", metavar="COLUMN", help="outcome")
    parser.add_argument(
        "--prob",
        metavar="COLUMN[,COLUMN...]",
        help="probability of the positive class, or one column per class; globs such as 'p_*'",
    )
    parser.add_argument("--weight", metavar="COLUMN", help="non-negative weights")
    parser.add_argument(
        "--labels", metavar="A,B,...", help="classes in column order; both for a single column"
    )
    parser.add_argument("--pos-label", metavar="LABEL", help="positive class (default: the larger)")
    parser.add_argument(
        "--lens",
        metavar="LENS",
        help="binary, confidence, classwise, canonical, pooled, class:LABEL, top:K, or"
        " groups:A+B|C (default: binary for two classes, confidence for more)",
    )
    parser.add_argument("--n-bins", default="15", metavar="N", help="number, sqrt, cbrt or cv")


def file_argument(text: str) -> str:
    """Return the path; standard input is kept in a temporary file, as tables are read twice."""
    if text != "-":
        return text
    folder = tempfile.mkdtemp(prefix="veridical-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "standard-input"
    with path.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    with path.open("rb") as stream:
        start = stream.read(6)
    ending = next((end for mark, end in _MARKS.items() if start.startswith(mark)), ".csv")
    return str(path.rename(path.with_suffix(ending)))


def read_data_arguments(arguments: argparse.Namespace, typed: LabelReader) -> dict[str, Any]:
    """Return what these arguments are to `evaluate`, and to functions that take the same."""
    labels = None if arguments.labels is None else typed(arguments.labels.split(","))
    positive = None if arguments.pos_label is None else typed([arguments.pos_label])[0]
    if labels is not None and positive is None:
        _check_order(labels, typed)
    return {
        "y": arguments.y,
        "prob": typed.prob,
        "labels": labels,
        "pos_label": positive,
        "n_bins": parse_count(arguments.n_bins),
        "sample_weight": arguments.weight,
        "by": split_names(arguments.by),
    }


def _check_order(labels: list[Any], typed: LabelReader) -> None:
    """Raise where the order of two labels seems to say which one a single column is about."""
    if len(labels) == 2 and labels[0] > labels[1] and len(typed.columns().prob) == 1:
        got = f"{labels[0]!r} before {labels[1]!r}"
        hint = f"a single column is about the larger label, {labels[0]!r}, or about --pos-label."
        expected = "in ascending order for a single column, or --pos-label given"
        raise invalid(typed.caller, "labels", expected, got, hint=hint)


def split_names(text: str | None) -> list[str] | None:
    """Read a list with commas."""
    return None if text is None else text.split(",")


class LabelReader:
    """Reads labels from the command line as the file holds them: numbers, booleans or text."""

    def __init__(
        self,
        source: str,
        y: str | None,
        prob: list[str] | None = None,
        *,
        caller: str = "evaluate",
    ) -> None:
        self._source, self._y, self.prob, self.caller = source, y, prob, caller
        # What is wrong with the file is said of the file, before it is said of anything else.
        self._available = column_names(source, caller=caller, param="FILE")

    def columns(self) -> ColumnGuess:
        """Columns of outcomes and probabilities, as named or as guessed."""
        return guess_columns(self._available, y=self._y, prob=self.prob, caller=self.caller)

    def __call__(self, texts: list[str]) -> list[Any]:
        """Return the labels in the type of the outcome column."""
        caller = self.caller
        y = self._y or self.columns().y
        kind = (
            open_table(self._source, columns=[y], caller=caller, param="y")
            .column(y, caller=caller, param="y")
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
    raise unknown_option(labels.caller, "lens", text, ("class:LABEL", "top:K", "groups:A+B|C"))
