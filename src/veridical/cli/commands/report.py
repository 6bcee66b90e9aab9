"""``veridical report``."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.cli.shared import data, output
from veridical.cli.shared.messages import in_options
from veridical.cli.shared.parser import Parser
from veridical.exceptions import invalid
from veridical.frames.files import check_apart

if TYPE_CHECKING:
    from veridical.report import Report

_CALLER = "report"
_EXAMPLES = f"""\
examples:
  veridical report predictions.csv -o report.html
  veridical report predictions.csv --y outcome --prob p_yes --by region -o report.html --open
  veridical report predictions.csv -o report.md
  veridical report predictions.csv -o report.html --json report.json \\
      --author 'A. Doe' --period '2026 Q3' --purpose 'release 4'
  veridical report predictions.csv --model forest=p_rf --model boosting=p_gb -o report.html
  veridical report p.csv --model a='a_*' --model b='b_*' -o report.html

The suffix of the output says what is written: .html is one page that needs no network, .md Markdown
for pull requests, .json every number. For a PDF print the page from the browser, which opens all
folded parts.

{data.GUESSING}"""


_PROVENANCE = {
    "author": "who answers for the report",
    "period": "time the data are of",
    "purpose": "what the predictions are for",
}


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Write one page about the predictions in a file: the verdict in words, scores,"
        " errors, tests, diagrams, groups, what recalibration would do, decisions."
    )
    parser.epilog = _EXAMPLES
    data.add_data_arguments(parser)
    parser.add_argument(
        "--model",
        action="append",
        metavar="NAME=COLUMN[,COLUMN...]",
        help="a model and its columns, instead of --prob; give it once for each model",
    )
    data.add_group_arguments(parser, "look at each subgroup too")
    data.add_drawing_arguments(
        parser,
        intervals="of all intervals; default: 0.95",
        draws="for null levels and tests",
        seed="of the resamples",
    )
    parser.add_argument("--title", metavar="TEXT", help="heading of the page")
    parser.add_argument("--date", metavar="TEXT", help="shown under the heading (default: none)")
    for name, meaning in _PROVENANCE.items():
        parser.add_argument(
            f"--{name}", metavar="TEXT", help=f"{meaning}; shown beside the heading"
        )
    parser.add_argument("--json", metavar="PATH", help="write every number there too")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    output.add_page_output(parser, "report.html")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make the report, write it and say where it is."""
    from veridical.report.charts import ReportRequest, build_report

    targets = [arguments.output, *([arguments.json] if arguments.json else [])]
    for target in targets:
        check_apart(arguments.file, target, caller=_CALLER)
    if arguments.json and Path(arguments.json).suffix.lower() != ".json":
        hint = "end the name in .json."
        raise invalid(_CALLER, "json", "a name that ends in .json", repr(arguments.json), hint=hint)
    models = _models(arguments)
    prob = data.split_names(arguments.prob)
    columns = prob if models is None else [name for own in models.values() for name in own]
    status = output.busy(f"reading {arguments.file}")
    with output.doubts_as_notes(), status:
        typed = data.LabelReader(
            arguments.file,
            arguments.y,
            columns,
            without=data.known_otherwise(arguments),
            scale=arguments.scale,
            caller=_CALLER,
        )
        options = data.read_data_arguments(arguments, typed)
        options["prob"] = prob if models is None else models
        request = ReportRequest(
            y_true=arguments.file,
            lens=data.parse_lens(arguments.lens, typed),
            **options,
            reading=data.reading_of(arguments).checked(caller=_CALLER),
            **data.read_drawing_arguments(arguments),
            title=arguments.title,
            date=arguments.date,
            **{name: getattr(arguments, name) for name in _PROVENANCE},
            path=targets,
            engine="auto",
        )
        report = build_report(request, _shown(status))
    _tell(report, targets)
    if arguments.open:
        webbrowser.open(Path(arguments.output).resolve().as_uri())
    return 0


def _models(arguments: argparse.Namespace) -> dict[str, list[str]] | None:
    """Columns of each model, if models were named."""
    if not arguments.model:
        return None
    if arguments.prob is not None:
        hint = "name the columns of every model with --model NAME=COLUMN."
        raise invalid(_CALLER, "prob", "left out with --model", repr(arguments.prob), hint=hint)
    models: dict[str, list[str]] = {}
    for text in arguments.model:
        name, equals, columns = text.partition("=")
        if not (name and equals and columns):
            hint = "for instance --model forest=p_forest."
            raise invalid(_CALLER, "model", "NAME=COLUMN[,COLUMN...]", repr(text), hint=hint)
        if name in models:
            hint = "give every model a name of its own."
            raise invalid(_CALLER, "model", "named once", f"{name!r} twice", hint=hint)
        models[name] = columns.split(",")
    return models


def _shown(status: Any) -> Callable[[str], None]:
    """Name what is being computed; recalibration draws bars of its own."""

    def step(what: str) -> None:
        status.start()
        status.update(what)
        if what.endswith("recalibration"):
            status.stop()

    return step


def _tell(report: Report, targets: list[str]) -> None:
    output.show(*map(in_options, report.headline.splitlines()))
    for target in targets:
        size = Path(target).stat().st_size
        output.tell([f"wrote {target} ({_size(size)})"])


def _size(n: int) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{max(1, round(n / 1e3))} kB"
