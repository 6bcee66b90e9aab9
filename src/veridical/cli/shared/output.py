"""Where a result goes: standard output or a file, in words or as data."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Protocol, Self

import numpy as np

from veridical._core.runtime.files import write_whole
from veridical._core.runtime.text import fitted, printable
from veridical.cli.shared.messages import in_options, say, text_width
from veridical.exceptions import VeridicalWarning
from veridical.results import Verdict
from veridical.results.base import Result

_QUANTILES = np.linspace(0, 1, 21)


class Printable(Protocol):
    """A result with notes, in words or as data."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Statistical doubts in words."""
        ...

    def to_json(self, *, indent: int | None = None) -> str:
        """All of it."""
        ...

    def to_frame(self, *, backend: str | None = None) -> Any:
        """A small table."""
        ...


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say in what form and where."""
    parser.add_argument(
        "--format", choices=("text", "json", "csv"), default="text", help="default: text"
    )
    parser.add_argument("-o", "--output", metavar="PATH", help="write there, whole or not at all")


def put_out(
    result: Printable,
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
    if not sys.stderr.isatty():
        return _Unseen()
    from rich.console import Console
    from rich.markup import escape

    return Console(stderr=True).status(escape(printable(what)))


class _Unseen:
    """What stands for a spinner where there is no terminal."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Show nothing."""

    def stop(self) -> None:
        """Go on showing nothing."""

    def update(self, what: str) -> None:
        """Say it to nobody."""


@contextmanager
def hearing_doubts() -> Iterator[list[warnings.WarningMessage]]:
    """Keep warnings for later: results hold statistical doubts as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", VeridicalWarning)
        yield caught


@contextmanager
def doubts_as_notes() -> Iterator[None]:
    """Keep statistical doubts, which results hold as notes, off the screen; tell other warnings."""
    with hearing_doubts() as caught:
        yield
    tell(_others(caught))


def without_draws(result: Any) -> Any:
    """A result as data, in which a null sample is 21 quantiles (0, 5, ..., 100 %) of itself.

    Examples
    --------
    >>> level = {"null_level": {"mean": 1.0, "n_resamples": 41, "sample": list(range(41))}}
    >>> without_draws(level)["null_level"]["sample"][:3]
    [0.0, 2.0, 4.0]
    """
    if isinstance(result, list):
        return [without_draws(each) for each in result]
    if not isinstance(result, dict):
        return result
    data = {key: without_draws(each) for key, each in result.items()}
    if "n_resamples" in data and isinstance(data.get("sample"), list):
        data["sample"] = np.quantile(data["sample"], _QUANTILES).tolist()
    return data


def _render(result: Printable, form: str) -> str:
    if form == "json":
        return result.to_json(indent=2)
    if form == "csv":
        return str(result.to_frame(backend="polars").write_csv()).rstrip("\n")
    return as_text(result)


def as_text(result: Any) -> str:
    """A result as the terminal shows it, in words that name options instead of arguments."""
    names = {field.name for field in fields(result)}
    said: dict[str, Any] = {}
    if "notes" in names:
        said["notes"] = tuple(in_options(note) for note in result.notes)
    if "verdict" in names:
        said["verdict"] = _verdict(result.verdict)
    return str(replace(result, **said).to_text(width=text_width()))


def _verdict(verdict: Verdict | str) -> Verdict | str:
    if isinstance(verdict, str):
        return in_options(verdict)
    return replace(verdict, text=in_options(verdict.text))


def show(*parts: object) -> None:
    """Print results and sentences, in lines that fit the terminal."""
    for part in parts:
        print(as_text(part) if isinstance(part, Result) else fitted(str(part), text_width()))


def _report(result: Printable, caught: list[warnings.WarningMessage]) -> None:
    """Say on standard error what the text form would have said in its notes."""
    tell([f"note: {in_options(note)}" for note in result.notes] + _others(caught))


def _others(caught: list[warnings.WarningMessage]) -> list[str]:
    """Warnings that no result holds as a note."""
    other = [w for w in caught if not issubclass(w.category, VeridicalWarning)]
    return [f"warning: {w.message}" for w in other]


def tell(lines: Iterable[str]) -> None:
    """Say something on standard error, line by line."""
    for line in lines:
        say(f"veridical: {line}")


def add_text_or_json(parser: argparse.ArgumentParser, meaning: str = "default: text") -> None:
    """Add --format."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help=meaning)


def add_table_output(parser: argparse.ArgumentParser) -> None:
    """Add the file that a table is written to."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        required=True,
        help="CSV, Parquet or Arrow by its ending; written whole or not at all",
    )


def add_page_output(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the file that a page is written to."""
    meaning = f"a name that ends in .html, .md or .json (default: {default})"
    parser.add_argument("-o", "--output", metavar="PATH", default=default, help=meaning)


def add_direction(parser: argparse.ArgumentParser) -> None:
    """Add which way fake classifiers are wrong."""
    parser.add_argument(
        "--direction",
        choices=("over", "under"),
        default="over",
        help="always over- or always under-confident; default: over",
    )


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --format, and --json for short."""
    add_text_or_json(parser, "of what is printed")
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="same as --format json"
    )


def as_json(result: Mapping[str, Any]) -> str:
    """Text of a result."""
    return json.dumps(result, indent=2, allow_nan=False, ensure_ascii=False)
