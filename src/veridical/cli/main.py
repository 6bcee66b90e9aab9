"""Entry point: parse, run, turn errors into one line and an exit code."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from veridical import __version__
from veridical.cli.shared.parser import BAD_INPUT, Parser
from veridical.exceptions import VeridicalError

TYPE_CHECKING = False  # `typing` takes as long to import as the parser itself
if TYPE_CHECKING:
    from typing import Any

FAILED = 1
INTERRUPTED = 130  # as shells say it of a program that Ctrl-C has ended

# Commands, in the order of the help: the module of each is imported when the command is chosen.
_COMMANDS = {
    "report": "write one page that answers: how calibrated, how sure, what to do",
    "evaluate": "measure discrimination and calibration of predictions in a file",
    "test": "test whether predictions in a file are calibrated",
    "audit": "search all segments of the rows in a file for miscalibration",
    "check": "a release gate: fail unless predictions in a file meet requirements",
    "calibrate": "fit a calibrator to predictions in a file",
    "apply": "calibrate predictions in a file with a saved calibrator",
    "export": "write a saved calibrator as SQL, Python or ONNX, and check that it says the same",
    "decide": "choose the action of least expected cost for each row of a file",
    "rate": "estimate which share of rows is positive, from scores and a few labels",
    "simulate": "fake classifiers, what decisions require of a model, and a game",
    "monitor": "watch calibration batch by batch, with alarms that hold their level",
    "experiment": "regenerate tables and figures of the literature, and say what holds",
    "studio": "look at predictions, calibrate and decide in the browser",
    "doctor": "show versions, optional parts found, and how to install the missing ones",
    "completion": "print a script that lets the shell complete commands and options",
}
_EPILOG = """\
exit codes:
  0  done
  1  could not finish (for instance the output could not be written), or `check`: not all
     requirements are met, or `export`: what was written differs from the calibrator
  2  bad input or usage; one line on standard error says what and what to do
  3  `test --fail-if-rejected`, `audit --fail-if-found`: calibration is rejected; `monitor`: there
     is an alarm; `check`: too few rows to decide
  130  interrupted by Ctrl-C; nothing half-done was written
"""


def build_parser() -> Parser:
    """Return the parser with the arguments of every command."""
    parser = _parser()
    parser.fill()
    return parser


def _parser() -> Parser:
    """The parser with the names of commands; their arguments are added when they are chosen."""
    parser = Parser(
        prog="veridical",
        description="Probabilities that mean what they say: calibration of classifiers.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"veridical {__version__}")
    parser.add_commands(_COMMANDS, title="commands", metavar="COMMAND")
    parser.set_defaults(build_parser=build_parser)
    parser.example = "veridical report predictions.csv -o report.html"
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    before = gc.get_threshold()
    # Nearly all objects that a command makes are modules and stay: to look for lost ones after
    # every 700 took a twentieth of its time.
    gc.set_threshold(20_000, *before[1:])
    try:
        return _run(argv)
    finally:
        gc.set_threshold(*before)


def _run(argv: Sequence[str] | None) -> int:
    _prepare_streams()
    words = sys.argv[1:] if argv is None else argv
    if any("\udc80" <= letter <= "\udcff" for word in words for letter in word):
        line = "a name cannot be read in this locale. Hint: set PYTHONUTF8=1 and run it again."
        print(f"veridical: error: {line}", file=sys.stderr)
        return BAD_INPUT
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("veridical: interrupted; nothing half-done was written", file=sys.stderr)
        return INTERRUPTED
    except (VeridicalError, OSError) as error:
        from veridical.cli.shared.messages import explain, say

        say(explain(error, arguments.command, arguments.options))
        return BAD_INPUT if isinstance(error, VeridicalError) else FAILED
    return code


class _Pipe(io.FileIO):
    """A descriptor whose reader may leave (`| head -1`), so that the command still ends by itself.

    A release gate that stopped at its first lost line would not return its own exit code.
    """

    failed = False  # a full disk is reported once, not again when the process ends

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not (self.failed or isinstance(error, BrokenPipeError)):
                self.failed = True
                raise
            return memoryview(data).nbytes


def _prepare_streams() -> None:
    """Let the process outlive its readers, closed streams and terminals with few characters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell: `>&-`
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and type(_descriptor(stream)) is io.FileIO:
            stream.flush()
            pipe = _Pipe(stream.fileno(), "wb", closefd=False)
            text = io.TextIOWrapper(
                io.BufferedWriter(pipe),
                stream.encoding,
                "backslashreplace",
                line_buffering=stream.line_buffering or stream.write_through,
            )
            setattr(sys, name, text)


def _descriptor(stream: io.TextIOWrapper) -> Any:
    """The file that a stream writes to; with PYTHONUNBUFFERED there is no buffer between."""
    return getattr(stream.buffer, "raw", stream.buffer)
