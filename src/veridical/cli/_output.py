"""Where a result goes: standard output or a file, in words or as data."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from veridical._core.files import write_whole
from veridical.exceptions import VeridicalWarning
from veridical.results import Evaluation, TestReport


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say in what form and where."""
    parser.add_argument(
        "--format", choices=("text", "json", "csv"), default="text", help="default: text"
    )
    parser.add_argument("-o", "--output", metavar="PATH", help="write there, whole or not at all")


def put_out(
    result: Evaluation | TestReport,
    arguments: argparse.Namespace,
    caught: list[warnings.WarningMessage],
) -> None:
    """Print or write the result, and on standard error what it does not say itself."""
    text = _render(result, arguments.format)
    if arguments.output is None:
        print(text)
    else:
        write_whole(arguments.output, text + "\n")
    if arguments.format != "text" or arguments.output is not None:
        _report(result, caught)


def busy(what: str) -> Any:
    """Spinner on a terminal's standard error; nothing where nobody looks."""
    from rich.console import Console

    return Console(stderr=True).status(what)


@contextmanager
def doubts_as_notes() -> Iterator[None]:
    """Keep statistical doubts, which results hold as notes, off the screen; tell other warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VeridicalWarning)
        yield
    _tell(_others(caught))


def _render(result: Evaluation | TestReport, form: str) -> str:
    if form == "json":
        return result.to_json(indent=2)
    if form == "csv":
        return str(result.to_frame().write_csv()).rstrip("\n")
    return str(result)


def _report(result: Evaluation | TestReport, caught: list[warnings.WarningMessage]) -> None:
    """Say on standard error what the text form would have said in its notes."""
    _tell([f"note: {note}" for note in result.notes] + _others(caught))


def _others(caught: list[warnings.WarningMessage]) -> list[str]:
    """Warnings that no result holds as a note."""
    other = [w for w in caught if not issubclass(w.category, VeridicalWarning)]
    return [f"warning: {w.message}" for w in other]


def _tell(lines: list[str]) -> None:
    for line in lines:
        print(f"veridical: {line}", file=sys.stderr)
