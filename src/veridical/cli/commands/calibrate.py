"""``veridical calibrate``."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.labels import check_label_array
from veridical._core.data.left_out import LeftOut
from veridical._core.data.reading import read_rows
from veridical.cli.shared import data, output
from veridical.cli.shared.messages import in_options
from veridical.cli.shared.parser import HelpFormatter, Parser
from veridical.evaluation.core import HeldOut, held_out, is_reversed
from veridical.evaluation.data import SampleSource
from veridical.exceptions import invalid, warn_of
from veridical.frames.files import check_apart
from veridical.frames.inputs import gather_inputs
from veridical.frames.tables import find_columns
from veridical.lenses import Binary
from veridical.lenses.reading import RawData
from veridical.results import Comparison

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator
    from veridical.calibrators.core import CheckedRows

_CALLER = "calibrate"
_INPUTS = ("probability", "logit", "score")

_METHODS = "  METHODS"  # stands for their names, which take time to import

_EPILOG = f"""\
examples:
  veridical calibrate predictions.csv -o calibrator.json
  veridical calibrate predictions.csv --y outcome --prob p_yes --method platt -o calibrator.json
  veridical calibrate credit.csv --y Status --prob PD --pos-label bad -o calibrator.json
  veridical calibrate scores.parquet --y label --prob 'z_*' --input logit \\
      --method temperature -o calibrator.json
  veridical apply calibrator.json new.csv -o calibrated.csv

methods:
{_METHODS}

`auto` averages several maps, or leaves the model alone, and prints its evidence. The calibrator is
fitted to all rows. Before and after are compared on each fold with a calibrator fitted to the other
folds, so that takes --folds times as long as the fit; differences of scores are those to expect of
the calibrator that is saved. Use rows the model was not trained on.

{data.GUESSING}"""


@dataclass(frozen=True)
class _Rows:
    """Predictions and outcomes as a calibrator takes them, with what their names and types say."""

    values: Any
    y: Any
    weight: Any
    labels: list[Any] | None
    pos_label: Any
    columns: tuple[str, ...]
    outcome: str
    said: str


class _Help(HelpFormatter):
    """Names the methods where the help is shown, and not before."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if _METHODS in text:
            text = text.replace(_METHODS, _listed_methods())
        return super()._fill_text(text, width, indent)


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = (
        "Fit a calibrator to the predictions in a file, show what it does to"
        " predictions of rows it has not seen, and save it."
    )
    parser.epilog = _EPILOG
    parser.formatter_class = _Help
    data.add_data_arguments(parser)
    parser.add_argument("--method", default="auto", metavar="NAME", help="see below; default: auto")
    parser.add_argument(
        "--strategy",
        choices=("pool", "select"),
        help="of auto: average the maps (default), or take the simplest good one",
    )
    parser.add_argument(
        "--max-seconds",
        type=float,
        metavar="SECONDS",
        help="of auto: leave maps out that take longer, in fitting and again in holding out",
    )
    parser.add_argument("--input", choices=_INPUTS, default="probability", help="what --prob holds")
    parser.add_argument(
        "--folds",
        type=int,
        default=5,
        metavar="N",
        help="for the table of before and after; 0 for none (default: 5)",
    )
    parser.add_argument(
        "--allow-reversed",
        action="store_true",
        help="fit even if predictions rank the wrong way round",
    )
    output.add_text_or_json(parser, "of what is printed")
    parser.add_argument(
        "-o", "--output", metavar="PATH", required=True, help="the calibrator, as JSON"
    )
    parser.set_defaults(run=run, by=None)


def run(arguments: argparse.Namespace) -> int:
    """Fit, compare, save, and print."""
    from veridical.export import save

    _check_options(arguments)
    with output.doubts_as_notes():
        prob = data.split_names(arguments.prob)
        typed = data.LabelReader(
            arguments.file,
            arguments.y,
            prob,
            without=[arguments.weight],
            scale=_scale(arguments),
            caller=_CALLER,
        )
        options = data.read_data_arguments(arguments, typed)
        lens = data.parse_lens(arguments.lens, typed)
        with output.busy(f"reading {arguments.file}"):
            rows = _read(arguments, options)
        calibrator = _calibrator(arguments, rows)
        if not arguments.allow_reversed:
            _check_direction(calibrator, rows)
        calibrator.fit(rows.values, rows.y, rows.weight)
        calibrator.outcome_name_ = rows.outcome
        found: HeldOut | LeftOut | None = None
        if arguments.folds:
            found = _held_out(arguments, calibrator, rows, lens, options["n_bins"])
    save(calibrator, arguments.output)
    _print(arguments, calibrator, rows, found)
    return 0


def _held_out(
    arguments: argparse.Namespace, calibrator: Calibrator, rows: _Rows, lens: Any, n_bins: Any
) -> HeldOut | LeftOut:
    checked = _check(calibrator, rows)
    found = held_out(calibrator, checked, n_folds=arguments.folds, lens=lens, n_bins=n_bins)
    if isinstance(found, HeldOut):
        warn_of(found.notes)
    return found


def _check(calibrator: Calibrator, rows: _Rows) -> CheckedRows:
    from veridical.calibrators.core import check_rows

    return check_rows(
        rows.values,
        rows.y,
        rows.weight,
        input=calibrator.input,
        labels=calibrator.labels,
        pos_label=calibrator.pos_label,
        weight_type="importance",
        caller=type(calibrator).__name__,
    )


def _check_options(arguments: argparse.Namespace) -> None:
    check_apart(arguments.file, arguments.output, caller=_CALLER)
    if arguments.folds < 0 or arguments.folds == 1:
        hint = "5 or 10 are usual; 0 leaves the comparison out."
        raise invalid(_CALLER, "folds", "0, or 2 or more", str(arguments.folds), hint=hint)
    for name in ("strategy", "max_seconds"):
        value = getattr(arguments, name)
        if value is not None and arguments.method != "auto":
            hint = "it is for --method auto only."
            expected = f"left out with method {arguments.method!r}"
            raise invalid(_CALLER, name, expected, repr(value), hint=hint)


def _read(arguments: argparse.Namespace, options: dict[str, Any]) -> _Rows:
    guess = find_columns(
        arguments.file,
        y=options["y"],
        prob=options["prob"],
        without=[options["sample_weight"]],
        scale=_scale(arguments),
        caller=_CALLER,
        param="FILE",
    )
    inputs = gather_inputs(
        arguments.file,
        None,
        y=guess.y,
        prob=list(guess.prob),
        sample_weight=options["sample_weight"],
        by=None,
        labels=options["labels"],
        caller=_CALLER,
    )
    labels = inputs.labels
    reading = data.reading_for(arguments, arguments.input, caller=_CALLER)
    read = read_rows(inputs.y_true, inputs.y_prob, inputs.sample_weight, reading, caller=_CALLER)
    return _Rows(
        read.y_prob,
        read.y_true,
        read.sample_weight,
        None if labels is None else list(np.asarray(labels)),
        options["pos_label"],
        guess.prob,
        guess.y,
        "; ".join([guess.said, *read.notes] if guess.said else read.notes),
    )


def _check_direction(calibrator: Calibrator, rows: _Rows) -> None:
    """Refuse one column that ranks backwards, unless the positive class was named."""
    if calibrator.input != "probability" or rows.pos_label is not None or len(rows.columns) > 1:
        return
    _check(calibrator, rows)  # what is wrong with the values is said in words of maps
    labelled = RawData(rows.y, rows.values, labels=rows.labels, sample_weight=rows.weight)
    sample = labelled.check(caller=_CALLER).sample
    source = SampleSource(sample, Binary())
    area = source.areas[1]
    if not is_reversed(source, area):
        return
    negative, positive = sample.classes
    got = f"{rows.columns[0]!r}, which ranks it backwards (AUC {area:.2f})"
    hint = (
        f"if it is of {negative!r}, pass --pos-label {shlex.quote(str(negative))}; if all is as it"
        " should be, pass --allow-reversed."
    )
    raise invalid(_CALLER, "prob", f"the probability of {positive!r}", got, hint=hint)


def _scale(arguments: argparse.Namespace) -> str:
    """What columns are looked for."""
    return str(arguments.scale if arguments.input == "probability" else "logit")


def _about_column(rows: _Rows, calibrator: Calibrator) -> list[str]:
    """Say which of two labels one column is taken for, and whether it looks like the other one."""
    from veridical.calibrators.core import points_away

    positive, name = calibrator.positive_label, rows.columns[0]
    if len(rows.columns) > 1:
        return []
    [other] = (label for label in calibrator.classes_.tolist() if label != positive)
    notes = []
    if rows.pos_label is None and isinstance(positive, str):
        which = ", the larger label" if positive > other else ""
        notes.append(
            f"{name!r} is taken for the probability of {positive!r}{which};"
            " --pos-label says otherwise"
        )
    weight = None if rows.weight is None else np.asarray(rows.weight, dtype=np.float64).reshape(-1)
    kept = slice(None) if weight is None else weight != 0
    happened = (check_label_array(rows.y, caller=_CALLER) == positive)[kept]
    weight = None if weight is None else weight[kept]
    if points_away(np.asarray(rows.values)[kept], happened, weight, "importance"):
        advice = f"; if it is about {other!r}, say --pos-label {shlex.quote(str(other))}"
        advice = advice if rows.pos_label is None else ""
        notes.append(f"{name!r} is lower where {positive!r} happened{advice}")
    return notes


def _calibrator(arguments: argparse.Namespace, rows: _Rows) -> Calibrator:
    from veridical.selection.core import calibrator_named

    n_classes = max(2, len(rows.columns))
    calibrator = calibrator_named(arguments.method, n_classes, caller=_CALLER, param="method")
    given = {"strategy": arguments.strategy, "max_seconds": arguments.max_seconds}
    own = {name: value for name, value in given.items() if value is not None}
    told = {"labels": rows.labels, "pos_label": rows.pos_label}
    calibrator.set_params(input=arguments.input, **told, **own)
    return calibrator


def _print(
    arguments: argparse.Namespace,
    calibrator: Calibrator,
    rows: _Rows,
    found: HeldOut | LeftOut | None,
) -> None:
    evidence = getattr(calibrator, "evidence_", None)
    notes = [in_options(rows.said)] if rows.said else []
    if arguments.input == "probability" != arguments.scale:
        notes.append(
            "the map takes probabilities: convert predictions where it is used"
            f" (`veridical apply --scale {arguments.scale}`; SQL and others do not)"
        )
    if isinstance(found, LeftOut):
        notes.append(f"no comparison on held-out rows: {found.reason}")
    result = found.result if isinstance(found, HeldOut) else None
    told = evidence is not None and evidence.candidates[-1].low is not None
    if told and isinstance(result, Comparison):  # by more folds: one interval of one difference
        others = (d for d in result.differences if d.difference.estimator != "log")
        result = replace(result, differences=tuple(others))
    about = _about_column(rows, calibrator)
    _tell(about)
    if arguments.format == "json":
        figures = {
            "method": arguments.method,
            "calibrator": arguments.output,
            "n_samples": len(rows.y),
            "explanation": calibrator.explain(),
            "evidence": None if evidence is None else evidence.to_dict(),
            "held_out": None if result is None else result.to_dict(),
            "notes": [*notes, *about],
        }
        print(output.as_json(output.without_draws(figures)))
        _tell(notes)
        return
    if evidence is not None:
        output.show(evidence, "")
    if result is not None:
        words = "; differences of scores are of the calibrator fitted to all rows"
        words += ", that of log loss is above" if told else ""
        words = "" if arguments.input == "score" else words
        output.show(f"Held out in {arguments.folds} folds{words}\n", result, "")
    for note in notes:
        output.show(f"  note: {note}")
    output.show(calibrator.explain())
    output.show(f"{arguments.method} fitted to {len(rows.y):,} rows, saved in {arguments.output}")


def _tell(notes: list[str]) -> None:
    output.tell(f"note: {note}" for note in notes)


def _listed_methods() -> str:
    from veridical.selection.core import calibrator_names

    return "  " + ", ".join(calibrator_names())
