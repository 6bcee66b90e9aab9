"""``veridical export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from veridical._core.runtime.files import whole_file
from veridical.cli.shared import data, files, output
from veridical.cli.shared.parser import Parser
from veridical.exceptions import InvalidInputError, invalid

_CALLER = "export"
_TARGETS = ("sql", "python", "onnx", "json")
_DIALECTS = ("duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake")
_FAR = 1e-6  # a map that differs by more is not the map
DIFFERS = 1

_EPILOG = """\
examples:
  veridical export calibrator.json --to sql --column score -o calibrator.sql
  veridical export calibrator.json --to sql --table scores --keep id -o query.sql
  veridical export calibrator.json --to sql --dialect spark
  veridical export calibrator.json --to python -o calibrator.py
  veridical export calibrator.json --to onnx -o calibrator.onnx

What is written is run on 10,000 scores and compared with the calibrator: SQL in DuckDB (in SQLite
if that is not installed), Python in a process of its own, ONNX in onnxruntime. Where nothing can
run it, that is said. Scores are a grid with both ends, and all places where pieces of the map meet
with the numbers beside them. Without -o the text goes to standard output and what is said about it
to standard error. SQL of two classes is one expression, of more a list for SELECT. A torch module
is made by `veridical.to_torch` in Python: a file of one would need pickle.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Write a saved calibrator for where scoring happens, and check that it says the same there."
    )
    parser.epilog = _EPILOG
    parser.add_argument("calibrator", metavar="CALIBRATOR", help="JSON file of a calibrator")
    parser.add_argument("--to", choices=_TARGETS, required=True, help="what to write")
    parser.add_argument(
        "--dialect",
        choices=_DIALECTS,
        metavar="DIALECT",
        help=f"of SQL: {', '.join(_DIALECTS[:-1])} or {_DIALECTS[-1]}; default: duckdb",
    )
    parser.add_argument(
        "--column",
        action="append",
        metavar="COLUMN[,COLUMN...]",
        help="columns of predictions: that of the positive class, or one for each class in order"
        " (default: those it was fitted to)",
    )
    parser.add_argument(
        "--by", metavar="COLUMN", help="column of groups, of a calibrator that has some (SQL only)"
    )
    parser.add_argument(
        "--table",
        metavar="TABLE",
        help="write a whole query over this table, which is shorter and faster (SQL only)",
    )
    parser.add_argument(
        "--keep", action="append", metavar="COLUMN[,...]", help="columns that the query hands on"
    )
    output.add_text_or_json(parser, "of what is said about the file")
    parser.add_argument("-o", "--output", metavar="PATH", help="write there, whole or not at all")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write, check, and say what was written."""
    from veridical.export.core import export_map

    _check_options(arguments)
    saved = files.read_calibrator(arguments.calibrator, caller=_CALLER)
    files.check_unturned(saved, caller=_CALLER)
    columns = [name for each in arguments.column or [] for name in data.split_names(each) or []]
    _check_columns(saved, columns)
    with output.busy(f"writing and checking {arguments.calibrator} as {arguments.to}"):
        content, made = export_map(
            saved.calibrator,
            arguments.to,
            dialect=arguments.dialect or _DIALECTS[0],
            columns=columns or None,
            by=arguments.by,
            table=arguments.table,
            keep=[name for each in arguments.keep or [] for name in data.split_names(each) or []],
        )
    if arguments.output is None:
        print(content.decode(), end="")
        output.tell(str(made).splitlines())
    else:
        with whole_file(arguments.output) as temporary:
            temporary.write_bytes(content)
        if arguments.format == "json":
            print(made.to_json(indent=2))
        else:
            output.show(made, f"written to {arguments.output}")
    if made.max_error is None or made.max_error <= _FAR:
        return 0
    output.tell([f"warning: it differs from the calibrator by {made.max_error:.2g}: do not use it"])
    return DIFFERS


def _check_columns(saved: files.SavedCalibrator, columns: list[str]) -> None:
    try:
        saved.calibrator._check_one_column(columns, caller=_CALLER)
    except InvalidInputError as error:
        positive = saved.calibrator.positive_label
        hint = f"the map is of {positive!r}; for the other class fit one with --pos-label."
        expected = f"that of {positive!r}"
        raise invalid(_CALLER, "column", expected, repr(columns[0]), hint=hint) from error


def _check_options(arguments: argparse.Namespace) -> None:
    here, there = Path(arguments.calibrator), Path(arguments.output or "")
    if arguments.output is not None and here.resolve() == there.resolve():
        hint = "the calibrator would be lost: write somewhere else."
        raise invalid(_CALLER, "output", "another file", repr(arguments.output), hint=hint)
    if arguments.dialect is not None and arguments.to != "sql":
        hint = "it is for --to sql only."
        expected = f"left out with --to {arguments.to}"
        raise invalid(_CALLER, "dialect", expected, repr(arguments.dialect), hint=hint)
    for name in ("by", "table", "keep"):
        given = getattr(arguments, name)
        if given is not None and arguments.to != "sql":
            hint = "it is for --to sql only."
            raise invalid(
                _CALLER, name, f"left out with --to {arguments.to}", repr(given), hint=hint
            )
    if arguments.keep is not None and arguments.table is None:
        hint = "an expression stands beside whatever columns you select."
        raise invalid(_CALLER, "keep", "left out without --table", repr(arguments.keep), hint=hint)
    if arguments.output is None and arguments.to == "onnx":
        hint = "name a file, e.g. -o calibrator.onnx."
        raise invalid(_CALLER, "output", "given with --to onnx", "none", hint=hint)
    if arguments.output is None and arguments.format == "json":
        hint = "name a file for the map itself with -o."
        raise invalid(_CALLER, "output", "given with --format json", "none", hint=hint)
