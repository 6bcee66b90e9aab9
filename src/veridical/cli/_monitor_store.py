"""What every subcommand of ``veridical monitor`` needs: a parser, and the store it names."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.exceptions import invalid

if TYPE_CHECKING:
    from veridical.monitoring import CalibrationMonitor


def add_kind(kinds: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    """A subcommand on one store."""
    parser: argparse.ArgumentParser = kinds.add_parser(name, help=text, description=text + ".")
    parser.add_argument("store", metavar="STORE", help="the monitor's file")
    parser.set_defaults(run=run)
    return parser


def open_store(arguments: argparse.Namespace) -> CalibrationMonitor:
    """The monitor of a store that is there; none is made by mistake."""
    from veridical.monitoring import CalibrationMonitor

    if not Path(arguments.store).exists():
        hint = f"start one with `veridical monitor init {arguments.store}`."
        raise invalid("monitor", "STORE", "an existing store", repr(arguments.store), hint=hint)
    return CalibrationMonitor(arguments.store)


def check_apart(stores: list[str], output: str) -> None:
    """Raise if a store would be written over."""
    target = Path(output)
    if target.exists() and any(Path(s).exists() and target.samefile(s) for s in stores):
        hint = "nothing is written over a store: name another file."
        raise invalid("monitor", "output", "another file than the store", repr(output), hint=hint)
