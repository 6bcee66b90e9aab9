"""``veridical monitor``: watch calibration from a shell or a scheduler.

Subcommands about maps (refit, trial, switch, rollback, versions) and signals ask one thing of a
store; the others have a function each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical._core.runtime.files import write_whole
from veridical.cli.shared.data import (
    LabelReader,
    add_column_arguments,
    add_reading_arguments,
    file_argument,
    split_names,
)
from veridical.cli.shared.messages import in_options
from veridical.cli.shared.output import (
    add_page_output,
    add_text_or_json,
    as_text,
    busy,
    doubts_as_notes,
    show,
    tell,
)
from veridical.cli.shared.parser import Parser
from veridical.exceptions import invalid
from veridical.frames.tables import (
    ColumnGuess,
    Table,
    column_names,
    expand_columns,
    find_columns,
    labels_of,
    open_table,
)

if TYPE_CHECKING:
    from veridical.monitoring import CalibrationMonitor
    from veridical.results import RiskThreshold


def add_kind(kinds: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    """A subcommand on one store."""
    parser: Parser = kinds.add_parser(name, help=text, description=text + ".")
    begin = f"veridical monitor {name} "
    examples = (line for line in _EPILOG.splitlines() if line.strip().startswith(begin))
    parser.example = next(examples, f"{begin}store.sqlite").strip()
    parser.add_argument(
        "store",
        metavar="STORE",
        help="the monitor's file, or postgresql://user@host/database?schema=NAME",
    )
    parser.set_defaults(run=run)
    return parser


def open_store(
    arguments: argparse.Namespace, pos_label: Any = None, *, read_only: bool = False
) -> CalibrationMonitor:
    """The monitor of a store that is there; none is made by mistake."""
    from veridical.monitoring import CalibrationMonitor
    from veridical.monitoring.core import store_exists

    if not store_exists(arguments.store):
        hint = f"start one with `veridical monitor init {arguments.store}`."
        raise invalid("monitor", "STORE", "an existing store", repr(arguments.store), hint=hint)
    return CalibrationMonitor(arguments.store, pos_label=pos_label, read_only=read_only)


def check_apart(stores: list[str], path: str) -> None:
    """Raise if a store would be written over."""
    target = Path(path)
    if target.exists() and any(Path(s).exists() and target.samefile(s) for s in stores):
        hint = "nothing is written over a store: name another file."
        raise invalid("monitor", "output", "another file than the store", repr(path), hint=hint)


# Subcommands that ask one thing of a store: what each is for, and what it asks.
_QUESTIONS: dict[str, tuple[str, Callable[[CalibrationMonitor, argparse.Namespace], Any]]] = {
    "refit": (
        "fit a new map to recent rows and put it on trial",
        lambda monitor, asked: monitor.refit(
            asked.calibrator, rows=asked.rows, auto_switch=asked.auto_switch
        ),
    ),
    "trial": ("say how the new map does", lambda monitor, _: monitor.shadow_status()),
    "switch": (
        "use the new map from now on",
        lambda monitor, asked: monitor.switch(force=asked.force),
    ),
    "rollback": ("use the map before again", lambda monitor, _: monitor.rollback()),
    "versions": ("list all maps and what they did", lambda monitor, _: monitor.versions()),
    "signals": (
        "say what predictions without outcomes show",
        lambda monitor, _: monitor.signals(),
    ),
}

_WRITE = ("refit", "switch", "rollback")


def _add_questions(kinds: Any) -> None:
    """Add the subcommands about maps and about predictions without outcomes."""
    parsers = {
        name: add_kind(kinds, name, text, run_question) for name, (text, _) in _QUESTIONS.items()
    }
    refit, switch = parsers["refit"], parsers["switch"]
    refit.add_argument("--calibrator", default="beta", metavar="NAME", help="default: beta")
    refit.add_argument("--rows", type=float, metavar="N", help="fit to so many of the last rows")
    refit.add_argument(
        "--auto-switch", action="store_true", help="use it as soon as its trial suffices"
    )
    switch.add_argument("--force", action="store_true", help="even if its trial does not suffice")
    for name, parser in parsers.items():
        parser.set_defaults(question=name)
        add_text_or_json(parser)


def run_question(arguments: argparse.Namespace) -> int:
    """Ask the store, and print what it answers."""
    _, ask = _QUESTIONS[arguments.question]
    looks = arguments.question not in _WRITE
    with doubts_as_notes(), busy("working"), open_store(arguments, read_only=looks) as monitor:
        found = ask(monitor, arguments)
    if arguments.format == "json":
        print(found.to_json(indent=2))
    else:
        show(found)
    return 0


ALARM = 3

_EPILOG = """\
examples:
  veridical monitor init store.sqlite --level 0.05
  veridical monitor update store.sqlite today.csv --by region --batch-id 2026-03-04
  veridical monitor observe store.sqlite scored.csv --id id --prob p --timestamp 2026-03-04
  veridical monitor resolve store.sqlite outcomes.csv --id id --y label
  veridical monitor mature store.sqlite 2026-03-01
  veridical monitor status store.sqlite --format prometheus
  veridical monitor status north.sqlite south.sqlite
  veridical monitor watch store.sqlite --require 'ece < 0.05'
  veridical monitor update store.sqlite today.csv --exec notify --channel models
  veridical monitor status 'postgresql://me@example.org/models?schema=churn'
  veridical monitor report store.sqlite -o page.html
  veridical monitor refit store.sqlite --calibrator beta
  veridical monitor trial store.sqlite
  veridical monitor switch store.sqlite

The command after --exec runs once an alarm or a broken requirement, whoever sees it first: no
shell, the alarm as JSON on its standard input. It runs again only if it failed.

exit codes of update, resolve, mature, watch, status and report: 0 fine, 3 there is, or was, an
alarm, or something that is watched is broken.
"""


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Watch calibration in production. The state is kept in one file; a look costs"
        " nothing of the level."
    )
    parser.epilog = _EPILOG
    kinds = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    _init(add_kind(kinds, "init", "start a store", init))
    update = add_kind(kinds, "update", "count predictions with their outcomes", run_update)
    _add_rows(update, "y", "prob", "pos_label")
    add_reading_arguments(update)
    update.add_argument("--batch-id", metavar="NAME", help="the same batch sent again counts once")
    observed = add_kind(kinds, "observe", "register predictions whose outcomes come later", observe)
    _add_rows(observed, "prob", identified=True)
    resolved = add_kind(kinds, "resolve", "register outcomes of predictions", resolve)
    _add_rows(resolved, "y", identified=True)
    matured = add_kind(kinds, "mature", "wait no longer for outcomes", mature)
    matured.add_argument("until", metavar="TIME", help="of predictions made up to then")
    matured.add_argument("--missing", metavar="LABEL", help="what happened where nothing is known")
    for counting in (update, resolved, matured):
        counting.add_argument(
            "--allow-reversed",
            action="store_true",
            help="count a first batch even if it ranks backwards",
        )
    watched = add_kind(kinds, "watch", "watch requirements with every batch", run_watch)
    watched.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="'ece < 0.05', 'deviation < 0.02' or 'risk(0.8).high < 0.05'; several times",
    )
    watched.add_argument(
        "--risk",
        metavar="PATH",
        help="a promise: what `veridical decide --at-most --format json` prints",
    )
    watched.add_argument("--none", action="store_true", help="watch nothing of it any more")
    add_text_or_json(watched)
    looked = add_kind(kinds, "status", "say what is known", status)
    looked.add_argument("more", nargs="*", metavar="STORE", help="others, to be joined with it")
    looked.add_argument(
        "--format",
        choices=("text", "json", "csv", "prometheus"),
        default="text",
        help="default: text",
    )
    looked.add_argument("-o", "--output", metavar="PATH", help="write there, whole or not at all")
    for alarming in (update, resolved, matured, looked):
        alarming.add_argument(
            "--exec",
            nargs=argparse.REMAINDER,
            metavar="COMMAND",
            help="run it on an alarm, once, with the arguments that follow; comes last",
        )
    page = add_kind(kinds, "report", "write a page of what is known", run_report)
    page.add_argument("--title", metavar="TEXT", help="heading of the page")
    page.add_argument(
        "--since",
        metavar="PATH",
        help="an earlier page to compare with; default: the one that is written over",
    )
    add_page_output(page, "monitor.html")
    _add_questions(kinds)


def _init(parser: argparse.ArgumentParser) -> None:
    positive = "positive class of two; default: the larger label"
    add_column_arguments(parser, "labels", "pos_label", pos_label=positive)
    parser.add_argument("--level", type=float, help="chance of a false alarm, ever; default: 0.05")
    parser.add_argument(
        "--window",
        type=float,
        metavar="ROWS",
        help="latest rows that `status` shows beside all rows; default: 5000",
    )
    parser.add_argument(
        "--half-life",
        type=float,
        metavar="ROWS",
        help="rows after which a row counts half in the third figure of `status`; default: 5000",
    )
    parser.add_argument(
        "--online", action="store_true", help="let a map learn from every outcome; see `status`"
    )


def _add_rows(parser: argparse.ArgumentParser, *columns: str, identified: bool = False) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        type=file_argument,
        help="CSV, JSON Lines, Parquet or Arrow; - for stdin",
    )
    positive = "positive class, unless the store knows it (default: the larger)"
    add_column_arguments(parser, *columns, prob="predictions", pos_label=positive)
    if "prob" in columns:
        parser.add_argument("--by", metavar="COLUMN", help="group of each row")
        parser.add_argument("--timestamp", metavar="TIME", help="of the batch, e.g. 2026-03-04")
    if identified:
        parser.add_argument("--id", metavar="COLUMN", required=True, help="names of predictions")


def init(arguments: argparse.Namespace) -> int:
    """Make a store."""
    from veridical.monitoring import CalibrationMonitor
    from veridical.monitoring.core import store_exists

    if store_exists(arguments.store):
        hint = "go on with `veridical monitor update`, or name another one."
        got = f"{arguments.store!r}, which exists"
        raise invalid("monitor", "STORE", "a new store", got, hint=hint)
    labels = None if arguments.labels is None else _typed(arguments.labels.split(","))
    positive = None if arguments.pos_label is None else _typed([arguments.pos_label])[0]
    with CalibrationMonitor(
        arguments.store,
        labels=labels,
        pos_label=positive,
        level=arguments.level,
        window=arguments.window,
        half_life=arguments.half_life,
        online=arguments.online or None,
    ) as monitor:
        level = monitor.settings["level"]
        show(f"{monitor.path}: ready, false alarms ever with probability {level:g}")
    return 0


def run_update(arguments: argparse.Namespace) -> int:
    """Count a file."""
    with busy(f"counting {arguments.file}"):
        guess = find_columns(
            arguments.file,
            y=arguments.y,
            prob=split_names(arguments.prob),
            without=[arguments.by],
            scale=arguments.scale,
            caller="monitor",
            param="FILE",
        )
        positive = _positive(arguments, guess)
    with busy(f"counting {arguments.file}"), open_store(arguments, positive) as monitor:
        table = _table(arguments, [guess.y, *guess.prob])
        found = monitor.update(
            labels_of(arguments.file, table, guess.y, caller="monitor"),
            _predictions(table, list(guess.prob), arguments.scale),
            timestamp=arguments.timestamp,
            by=_groups(table, arguments.by),
            batch_id=arguments.batch_id,
            allow_reversed=arguments.allow_reversed,
            scale=arguments.scale,
            missing=arguments.missing,
            normalize=arguments.normalize,
        )
        _tell(monitor, arguments)
    tell([f"note: {in_options(guess.said)}"] if guess.said else [])
    show(found)
    return _code(found)


def _tell(monitor: CalibrationMonitor, arguments: argparse.Namespace) -> None:
    """Run the command that was asked for, if there is an alarm nobody was told of."""
    from veridical.monitoring.core import tell_alarms

    if arguments.exec is not None:
        failed = tell_alarms(monitor, arguments.exec)
        tell([f"note: {line}; it will be run again" for line in failed])


def _code(found: Any) -> int:
    """The exit code of what was counted."""
    return ALARM if found.alarm or found.broken else 0


def run_watch(arguments: argparse.Namespace) -> int:
    """Watch requirements and a promise."""
    risk = None if arguments.risk is None else _read_promise(arguments.risk)
    with busy("working"), open_store(arguments) as monitor:
        if arguments.none:
            monitor.unwatch()
        if arguments.require or risk is not None:
            monitor.watch(risk=risk, require=arguments.require)
        found = monitor.promises()
    if arguments.format == "json":
        print(json.dumps([each.to_dict() for each in found], indent=2))
    else:
        for each in found:
            show(each)
    return ALARM if any(each.broken for each in found) else 0


def _read_promise(path: str) -> RiskThreshold:
    """The promise that `veridical decide --at-most --format json` has printed."""
    from veridical.results import RiskThreshold

    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        return RiskThreshold.from_dict(data.get("promise", data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        hint = "`veridical decide FILE --y label --at-most 0.05 --format json > promise.json`."
        raise invalid("monitor", "risk", "JSON of a promise", repr(path), hint=hint) from error


def _positive(arguments: argparse.Namespace, guess: ColumnGuess) -> Any:
    """The positive class that is asked for, of the type of the outcomes in the file."""
    if arguments.pos_label is None:
        return None
    typed = LabelReader(arguments.file, guess.y, list(guess.prob), caller="monitor")
    return typed([arguments.pos_label])[0]


def observe(arguments: argparse.Namespace) -> int:
    """Register predictions."""
    with busy(f"reading {arguments.file}"), open_store(arguments) as monitor:
        available = column_names(arguments.file, caller="monitor", param="FILE")
        prob = split_names(arguments.prob)
        if prob is None:
            hint = "name the columns of predictions."
            raise invalid("monitor", "prob", "given", "nothing", hint=hint)
        columns = _expanded(prob, available, "prob")
        table = _table(arguments, [arguments.id, *columns])
        names = table.column(arguments.id, caller="monitor", param="id")
        monitor.observe(
            names,
            _predictions(table, columns, "probability"),
            timestamp=arguments.timestamp,
            by=_groups(table, arguments.by),
        )
    show(f"{len(names):,} predictions registered")
    return 0


def resolve(arguments: argparse.Namespace) -> int:
    """Register outcomes."""
    with busy(f"reading {arguments.file}"), open_store(arguments) as monitor:
        outcome = arguments.y or "label"
        table = _table(arguments, [arguments.id, outcome])
        found = monitor.resolve(
            table.column(arguments.id, caller="monitor", param="id"),
            table.column(outcome, caller="monitor", param="y"),
            allow_reversed=arguments.allow_reversed,
        )
        _tell(monitor, arguments)
    show(found)
    return _code(found)


def mature(arguments: argparse.Namespace) -> int:
    """Count what is known of predictions up to a time."""
    with open_store(arguments) as monitor:
        missing = None if arguments.missing is None else _typed([arguments.missing])[0]
        found = monitor.mature(
            arguments.until, missing=missing, allow_reversed=arguments.allow_reversed
        )
        _tell(monitor, arguments)
    show(found)
    return _code(found)


def status(arguments: argparse.Namespace) -> int:
    """Say what is known."""
    from veridical.monitoring import merge_stores
    from veridical.monitoring.core import prometheus_text

    stores = [arguments.store, *arguments.more]
    if arguments.output is not None:
        check_apart(stores, arguments.output)
    if arguments.more:
        found = merge_stores(stores)
    else:
        with open_store(arguments, read_only=arguments.exec is None) as monitor:
            found = monitor.status()
            _tell(monitor, arguments)
    written = {
        "text": lambda: as_text(found) + "\n",
        "json": lambda: found.to_json(indent=2) + "\n",
        "csv": lambda: str(found.to_frame(backend="polars").write_csv()),
        "prometheus": lambda: prometheus_text(found),
    }[arguments.format]()
    if arguments.output is None:
        print(written, end="")
    else:
        write_whole(arguments.output, written)
    broken = any(promise.broken for promise in found.promises)
    return ALARM if found.alarm or broken else 0


def run_report(arguments: argparse.Namespace) -> int:
    """Write a page."""
    from veridical.report import monitor_report
    from veridical.report.charts import since_page

    check_apart([arguments.store], arguments.output)
    with busy("writing the page"), open_store(arguments, read_only=True) as monitor:
        report = monitor_report(monitor, title=arguments.title, since=arguments.since)
        if arguments.since is None and Path(arguments.output).is_file():
            report = since_page(report, arguments.output)
        report.save(arguments.output)
    show(report.headline)
    tell([f"wrote {arguments.output}"])
    broken = any(promise.broken for promise in report.status.promises)
    return ALARM if report.status.alarm or broken else 0


def _expanded(names: list[str], available: list[str], param: str) -> list[str]:
    return expand_columns(names, available, caller="monitor", param=param)


def _table(arguments: argparse.Namespace, columns: list[str]) -> Table:
    by = getattr(arguments, "by", None)
    wanted = list(dict.fromkeys([*columns, *([] if by is None else [by])]))
    return open_table(arguments.file, columns=wanted, caller="monitor", param="FILE")


def _predictions(table: Table, columns: list[str], scale: str) -> Any:
    return table.predictions(columns, scale=scale, caller="monitor", param="prob")


def _groups(table: Table, by: str | None) -> Any:
    return None if by is None else table.column(by, caller="monitor", param="by")


def _typed(texts: list[str]) -> list[Any]:
    """Labels as numbers if all of them are, else as text."""
    return [int(text) for text in texts] if all(t.lstrip("-").isdigit() for t in texts) else texts
