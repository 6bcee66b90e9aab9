"""Arguments that say what is in the file, and how they are read."""

from __future__ import annotations

import argparse
import atexit
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from veridical._core.data.reading import MISSING, SCALES, Reading
from veridical.exceptions import invalid, unknown_option
from veridical.frames.tables import ColumnGuess, column_names, find_columns, open_table
from veridical.lenses import ClassSpecific, Grouped, TopK

GUESSING = """\
Without --y and --prob the outcome and its predictions are found by their values (two labels and
numbers from 0 to 1, or a column for each label that sum to one) and then by their names. A note
says what was taken; where two readings are possible, they are listed.
"""


_MARKS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz", b"{": ".jsonl"}


# What columns hold, in the order of the help: how each is written, and what it is.
_COLUMNS = {
    "y": ("COLUMN", "outcome"),
    "prob": (
        "COLUMN[,COLUMN...]",
        "probability of the positive class, or one column per class; globs such as 'p_*'",
    ),
    "weight": ("COLUMN", "non-negative weights"),
    "labels": ("A,B,...", "classes in column order"),
    "pos_label": ("LABEL", "positive class (default: the larger)"),
}


def add_column_arguments(
    parser: argparse._ActionsContainer, *names: str, required: bool = False, **meanings: str
) -> None:
    """Add arguments that say which columns are what; `meanings` are those of this command."""
    for name in names:
        metavar, usual = _COLUMNS[name]
        parser.add_argument(
            "--" + name.replace("_", "-"),
            metavar=metavar,
            required=required,
            help=meanings.get(name, usual),
        )


def add_confidence_level(
    parser: argparse._ActionsContainer, meaning: str = "default: 0.95"
) -> None:
    """Add the level of intervals."""
    parser.add_argument(
        "--confidence-level", type=float, default=0.95, metavar="LEVEL", help=meaning
    )


def add_drawing_arguments(
    parser: argparse.ArgumentParser, *, draws: str, seed: str, intervals: str | None = None
) -> None:
    """Add how much is drawn from which seed, and the level of intervals where there are any."""
    if intervals is not None:
        add_confidence_level(parser, intervals)
    parser.add_argument("--n-resamples", type=int, default=1000, metavar="N", help=draws)
    parser.add_argument("--seed", type=int, default=0, metavar="SEED", help=seed)


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, and the arguments that say which columns are what and what is asked of them."""
    add_file_argument(parser)
    labels = f"{_COLUMNS['labels'][1]}; both for a single column"
    add_column_arguments(parser, *_COLUMNS, labels=labels)
    add_lens_argument(parser)
    parser.add_argument("--n-bins", default="15", metavar="N", help="number, sqrt, cbrt or cv")
    add_reading_arguments(parser)


def add_file_argument(parser: argparse.ArgumentParser) -> None:
    """Add the file."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=file_argument,
        help="CSV, JSON Lines, Parquet or Arrow file, or a glob; - for standard input",
    )


def add_lens_argument(parser: argparse.ArgumentParser) -> None:
    """Add which question is asked of several probabilities."""
    parser.add_argument(
        "--lens",
        metavar="LENS",
        help="binary, confidence, classwise, canonical, pooled, class:LABEL, top:K, or"
        " groups:A+B|C (default: binary for two classes, confidence for more)",
    )


def add_reading_arguments(
    parser: argparse._ActionsContainer,
    *,
    missing: str = "error",
    meaning: str = "whether rows with a blank are an error, or dropped and counted",
) -> None:
    """Add how values are read: on which scale, and what becomes of missing and rounded ones."""
    parser.add_argument(
        "--scale", choices=SCALES, default="probability", help="what --prob is written in"
    )
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default=missing,
        help=meaning,
    )
    parser.add_argument(
        "--normalize", action="store_true", help="divide rows of several predictions by their sums"
    )


def add_group_arguments(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add subgroups and how fractions are made into some, and rows that belong together."""
    parser.add_argument("--by", metavar="COLUMN[,COLUMN]", help=meaning)
    parser.add_argument(
        "--groups",
        metavar="COLUMN",
        help="what rows belong to that depend on each other (patient, prompt, day)",
    )
    parser.add_argument(
        "--by-bins",
        type=int,
        default=4,
        metavar="N",
        help="parts that a --by of many fractions is cut into; default: 4",
    )


def reading_for(arguments: argparse.Namespace, input: str, *, caller: str) -> Reading:
    """Return how values are read for a map, which itself says what it takes."""
    reading = reading_of(arguments)
    if input == "probability" or reading.scale == "probability":
        return reading
    if reading.scale != input:
        hint = f"the map reads values as they are, as --input {input} says: leave --scale out."
        raise invalid(caller, "scale", f"left out, or {input}", reading.scale, hint=hint)
    return replace(reading, scale="probability")  # the same said twice: nothing is converted


def reading_of(arguments: argparse.Namespace) -> Reading:
    """Return how values are read."""
    return Reading(
        arguments.scale, arguments.missing, arguments.normalize, getattr(arguments, "by_bins", 4)
    )


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


def asked_of_file(arguments: argparse.Namespace, *, caller: str) -> dict[str, Any]:
    """Return what these arguments are to `evaluate`, and to functions that take the same."""
    prob = split_names(arguments.prob)
    typed = LabelReader(
        arguments.file,
        arguments.y,
        prob,
        without=known_otherwise(arguments),
        scale=arguments.scale,
        caller=caller,
    )
    return {
        "lens": parse_lens(arguments.lens, typed),
        **read_data_arguments(arguments, typed),
        **read_drawing_arguments(arguments),
        **asdict(reading_of(arguments)),
    }


def known_otherwise(arguments: argparse.Namespace) -> list[str | None]:
    """Columns that hold neither outcomes nor predictions, as they were named for something else."""
    named = [split_names(arguments.by), split_names(getattr(arguments, "groups", None))]
    return [arguments.weight, *(name for names in named for name in names or [])]


def read_drawing_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how much is drawn, and the level of intervals where there are any."""
    drawing = {"n_resamples": arguments.n_resamples, "rng": arguments.seed}
    if "confidence_level" in arguments:
        drawing["confidence_level"] = arguments.confidence_level
    return drawing


def read_data_arguments(arguments: argparse.Namespace, typed: LabelReader) -> dict[str, Any]:
    """Return what the arguments about columns, labels and bins are to `evaluate`."""
    return {
        **read_label_arguments(arguments, typed),
        "n_bins": parse_count(arguments.n_bins),
        "sample_weight": arguments.weight,
        "by": "auto" if arguments.by == "auto" else split_names(arguments.by),
        "groups": getattr(arguments, "groups", None),
    }


def read_label_arguments(arguments: argparse.Namespace, typed: LabelReader) -> dict[str, Any]:
    """Return what the arguments about outcomes, predictions and their classes are to functions."""
    labels = None if arguments.labels is None else typed(arguments.labels.split(","))
    positive = None if arguments.pos_label is None else typed([arguments.pos_label])[0]
    return {"y": arguments.y, "prob": typed.prob, "labels": labels, "pos_label": positive}


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
        without: Sequence[str | None] = (),
        scale: str = "probability",
        caller: str = "evaluate",
    ) -> None:
        self._source, self._y, self.prob, self.caller = source, y, prob, caller
        self._without, self._scale = without, scale
        # What is wrong with the file is said of the file, before it is said of anything else.
        column_names(source, caller=caller, param="FILE")

    def columns(self) -> ColumnGuess:
        """Columns of outcomes and probabilities, as named or as guessed."""
        return find_columns(
            self._source,
            y=self._y,
            prob=self.prob,
            without=self._without,
            scale=self._scale,
            caller=self.caller,
        )

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
