"""Entry point: parse, run, turn errors into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from veridical import __version__
from veridical.cli.commands import (
    apply as _apply,
    calibrate as _calibrate,
    check as _check,
    completion as _completion,
    decide as _decide,
    doctor as _doctor,
    evaluate as _evaluate,
    experiment as _experiment,
    monitor as _monitor,
    report as _report,
    simulate as _simulate,
    studio as _studio,
    test as _test,
)
from veridical.cli.shared.messages import explain
from veridical.exceptions import VeridicalError

BAD_INPUT, FAILED = 2, 1

_EPILOG = """\
exit codes:
  0  done
  1  could not finish (for instance the output could not be written), or `check`: not all
     requirements are met
  2  bad input or usage; one line on standard error says what and what to do
  3  `test --fail-if-rejected`: calibration is rejected; `monitor`: there is an alarm
"""


class _Parser(argparse.ArgumentParser):
    """Reports usage errors in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see `{self.prog} --help`)\n")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command."""
    parser = _Parser(
        prog="veridical",
        description="Probabilities that mean what they say: calibration of classifiers.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"veridical {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _report.register(commands)
    _evaluate.register(commands)
    _test.register(commands)
    _check.register(commands)
    _calibrate.register(commands)
    _apply.register(commands)
    _decide.register(commands)
    _simulate.register(commands)
    _monitor.register(commands)
    _experiment.register(commands)
    _studio.register(commands)
    _doctor.register(commands)
    _completion.register(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except VeridicalError as error:
        print(explain(error), file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader (`head`) has gone: not an error, but Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(explain(error), file=sys.stderr)
        return FAILED
    return code
