"""``veridical monitor refit`` and what follows from it: trial, switch, rollback, versions."""

from __future__ import annotations

import argparse
from typing import Any

from veridical.cli._monitor_store import add_kind, open_store
from veridical.cli._output import busy, doubts_as_notes


def add_map_kinds(kinds: Any) -> None:
    """Add the subcommands about maps."""
    refitted = add_kind(kinds, "refit", "fit a new map to recent rows and put it on trial", refit)
    refitted.add_argument("--calibrator", default="beta", metavar="NAME", help="default: beta")
    refitted.add_argument("--rows", type=float, metavar="N", help="fit to so many of the last rows")
    refitted.add_argument(
        "--auto-switch", action="store_true", help="use it as soon as its trial suffices"
    )
    _add_format(refitted)
    _add_format(add_kind(kinds, "trial", "say how the new map does", trial))
    switched = add_kind(kinds, "switch", "use the new map from now on", switch)
    switched.add_argument("--force", action="store_true", help="even if its trial does not suffice")
    _add_format(switched)
    _add_format(add_kind(kinds, "rollback", "use the map before again", rollback))
    _add_format(add_kind(kinds, "versions", "list all maps and what they did", versions))
    _add_format(add_kind(kinds, "signals", "say what predictions without outcomes show", signals))


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def _put_out(found: Any, arguments: argparse.Namespace) -> int:
    print(found.to_json(indent=2) if arguments.format == "json" else found)
    return 0


def refit(arguments: argparse.Namespace) -> int:
    """Fit a map."""
    with doubts_as_notes(), busy("fitting"), open_store(arguments) as monitor:
        found = monitor.refit(
            arguments.calibrator, rows=arguments.rows, auto_switch=arguments.auto_switch
        )
    return _put_out(found, arguments)


def trial(arguments: argparse.Namespace) -> int:
    """Say how the candidate does."""
    with open_store(arguments) as monitor:
        return _put_out(monitor.shadow_status(), arguments)


def switch(arguments: argparse.Namespace) -> int:
    """Use the candidate."""
    with open_store(arguments) as monitor:
        return _put_out(monitor.switch(force=arguments.force), arguments)


def rollback(arguments: argparse.Namespace) -> int:
    """Use what the current map replaced."""
    with open_store(arguments) as monitor:
        return _put_out(monitor.rollback(), arguments)


def versions(arguments: argparse.Namespace) -> int:
    """List maps and epochs."""
    with open_store(arguments) as monitor:
        return _put_out(monitor.versions(), arguments)


def signals(arguments: argparse.Namespace) -> int:
    """Say what can be seen without outcomes."""
    with doubts_as_notes(), open_store(arguments) as monitor:
        found = monitor.signals()
    return _put_out(found, arguments)
