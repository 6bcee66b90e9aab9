"""``veridical decide``."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.validation import check_sample
from veridical._core.typing import Array, BoolArray
from veridical.cli.commands.decide_rows import DecisionRows, read_decision_rows
from veridical.cli.shared import data, files, output
from veridical.cli.shared.parser import Parser
from veridical.decisions import (
    cost_threshold,
    decide,
    expected_cost,
    miscalibration_cost,
    risk_threshold,
)
from veridical.decisions.core import compared_scores
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames import tables
from veridical.frames.files import check_new_columns, check_target, write_with_columns
from veridical.lenses.reading import RawData

if TYPE_CHECKING:
    from veridical.results import Cutoff, Decisions, ExpectedCost, MiscalibrationCost

_CALLER = "decide"

_EPILOG = """\
examples:
  veridical decide predictions.csv --prob p --cost-fp 4 --cost-fn 1
  veridical decide predictions.csv --prob p --cost-fp 1 --cost-fn 20 --abstain-cost 0.5 --y outcome
  veridical decide predictions.csv --prob 'p_*' --costs costs.csv -o decisions.csv
  veridical decide --map calibrator.json --threshold 0.2
  veridical decide scores.csv --map calibrator.json --cost-fp 1 --cost-fn 20 -o decisions.csv
  veridical decide predictions.csv --prob 'p_*' --y outcome --at-most 0.05 --confidence 0.9

Each row gets the action that is expected to cost least by its probabilities. With --y it is also
shown what the decisions cost in fact, and what they would have cost after recalibration. A file of
costs has a row for each class and a column for each action:

  class,treat,wait
  ill,5,20
  well,3,0

or, as JSON, {"treat": {"ill": 5, "well": 3}, "wait": {"ill": 20, "well": 0}}.

With --map the raw score is found at which the calibrated probability reaches --threshold, or the
threshold of --cost-fp and --cost-fn: the cut-off for a system that knows raw scores only. It needs
no FILE; with one, rows get the class that the cut-off decides on (--threshold; where the map is
not monotone, the calibrated probability), or their predictions are calibrated first and then
decided on by costs.

With --at-most rows are answered only where that keeps a promise: at most this share of the answers
is wrong (--risk fdr: of the calls; fnr: of the positives is missed), with the --confidence. It
needs outcomes that neither the model nor the map has seen; -o writes which rows are answered.
"""


@dataclass(frozen=True)
class _Found:
    """What was decided, and what came of it if outcomes are known."""

    decisions: Decisions
    threshold: float | None
    cutoff: Cutoff | None = None
    cost: ExpectedCost | None = None
    miscalibration: MiscalibrationCost | None = None
    notes: tuple[str, ...] = ()


def add_arguments(parser: Parser) -> None:
    """Say what the command is for, what it takes and what it runs."""
    parser.description = "Choose the action of least expected cost for each row of a file."
    parser.epilog = _EPILOG
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="CSV, JSON Lines, Parquet or Arrow file, or a glob; may be left out with --map",
    )
    data.add_column_arguments(parser, "prob")
    files.add_cost_arguments(parser)
    parser.add_argument(
        "--map",
        metavar="PATH",
        help="calibrator that predictions go through first, as JSON; tells the raw cut-off",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="P",
        help="calibrated probability from which on to say positive, instead of costs; needs --map",
    )
    parser.add_argument(
        "--at-most",
        type=float,
        metavar="SHARE",
        help="answer only where at most this share is wrong, instead of costs; needs --y",
    )
    parser.add_argument(
        "--risk",
        choices=("error", "fdr", "fnr"),
        default="error",
        help="what --at-most is about: wrong answers, false alarms among calls, positives missed",
    )
    parser.add_argument(
        "--lens",
        metavar="LENS",
        help="whose score --at-most is about, e.g. class:LABEL to call one of several classes",
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.9,
        metavar="SHARE",
        help="with which the promise of --at-most is kept (default 0.9)",
    )
    data.add_column_arguments(
        parser,
        *("y", "weight", "labels", "pos_label"),
        y="outcome, to see what decisions cost",
        weight="weights of rows in costs; needs --y",
        labels="classes in column order, to name them without --y",
    )
    parser.add_argument(
        "--groups",
        metavar="COLUMN",
        help="what rows belong to that depend on each other (patient, prompt); needs --y",
    )
    data.add_reading_arguments(
        parser, meaning="a row with a blank is an error, or left undecided and counted (drop)"
    )
    data.add_confidence_level(parser)
    output.add_text_or_json(parser, "of what is printed")
    parser.add_argument(
        "--prefix", default="", metavar="TEXT", help="of the new columns action, expected_cost"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="the table with decisions: CSV, Parquet or Arrow by its ending",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Decide, count the costs, write and print."""
    saved = _map(arguments)
    if arguments.at_most is not None:
        return _promise(arguments, saved)
    if arguments.file is None or arguments.threshold is not None:
        assert saved is not None
        return _cut(arguments, saved)
    if arguments.output is not None:
        check_target(arguments.file, arguments.output, caller=_CALLER)
    costs = _costs(arguments)
    with output.busy(f"deciding {arguments.file}"), output.doubts_as_notes():
        rows = read_decision_rows(arguments, saved)
        if arguments.output is not None:
            names = [f"{arguments.prefix}{name}" for name in ("action", "expected_cost")]
            check_new_columns(names, rows.available, caller=_CALLER)
        found = _decided(arguments, rows, costs, saved)
        if arguments.output is not None:
            columns = (_one_type(found.decisions.action), found.decisions.expected_cost)
            added = dict(zip(names, map(rows.in_place, columns), strict=True))
            write_with_columns(arguments.file, arguments.output, added, caller=_CALLER)
    if arguments.format == "json":
        print(_as_json(found))
    else:
        output.show(*_parts(found))
    return 0


def _map(arguments: argparse.Namespace) -> files.SavedCalibrator | None:
    """The calibrator, if there is one; raise if options do not go together."""
    if arguments.map is None:
        for name, value in (("FILE", arguments.file), ("prob", arguments.prob)):
            if value is None:
                hint = "name it, or a calibrator with --map to learn its raw cut-off."
                raise invalid(_CALLER, name, "given", "none", hint=hint)
        if arguments.threshold is not None:
            hint = "name the calibrator; probabilities that are calibrated need no cut-off."
            got = f"{arguments.threshold:g} without --map"
            raise invalid(_CALLER, "threshold", "given with --map", got, hint=hint)
        return None
    saved = files.read_calibrator(arguments.map, caller=_CALLER, param="map")
    files.check_unturned(saved, caller=_CALLER, param="map")
    files.check_positive(saved, arguments.pos_label, caller=_CALLER)
    if arguments.at_most is not None:
        return saved
    rows_only = ["costs", "abstain_cost", "y", "weight", "groups"]
    if arguments.threshold is not None:
        what, beside = "--threshold", [*rows_only, "cost_fp", "cost_fn"]
    else:
        what, beside = "no FILE", [*rows_only, "prob", "output"] if arguments.file is None else []
    if arguments.file is None:
        beside += ["prob", "output"]
    for name in beside:
        if getattr(arguments, name) is not None:
            hint = "a cut-off needs neither rows nor, with --threshold, costs."
            got = repr(getattr(arguments, name))
            raise invalid(_CALLER, name, f"left out with {what}", got, hint=hint)
    if arguments.file is None and (arguments.threshold, arguments.cost_fp) == (None, None):
        hint = "say --threshold 0.2, or what errors cost: --cost-fp 1 --cost-fn 4."
        raise invalid(_CALLER, "threshold", "given", "none", hint=hint)
    return saved


def _promise(arguments: argparse.Namespace, saved: files.SavedCalibrator | None) -> int:
    """Say from which score on a promise can be made, and with -o which rows are answered."""
    for name in ("threshold", "costs", "cost_fp", "cost_fn", "abstain_cost"):
        if getattr(arguments, name) is not None:
            hint = "a promise is about shares; costs decide by themselves."
            got = repr(getattr(arguments, name))
            raise invalid(_CALLER, name, "left out with --at-most", got, hint=hint)
    for name in ("file", "y"):
        if getattr(arguments, name) is None:
            hint = "a promise needs rows with outcomes."
            raise invalid(_CALLER, name, "given with --at-most", "none", hint=hint)
    name = f"{arguments.prefix}answered"
    if arguments.output is not None:
        check_target(arguments.file, arguments.output, caller=_CALLER)
    with output.busy(f"deciding {arguments.file}"), output.doubts_as_notes():
        rows = read_decision_rows(arguments, saved)
        labels, pos_label = _labels(arguments, rows, None)
        if saved is not None:
            labels, pos_label = list(saved.classes), saved.calibrator.positive_label
        typed = data.LabelReader(arguments.file, arguments.y, rows.columns, caller=_CALLER)
        lens = data.parse_lens(arguments.lens, typed)
        found = risk_threshold(
            rows.y,
            rows.p,
            risk=arguments.risk,
            at_most=arguments.at_most,
            confidence=arguments.confidence,
            lens=lens,
            labels=labels,
            pos_label=pos_label,
            sample_weight=rows.weight,
            groups=rows.groups,
        )
        if arguments.output is not None:
            check_new_columns([name], rows.available, caller=_CALLER)
            read = RawData(rows.y, rows.p, labels=labels, pos_label=pos_label).check(caller=_CALLER)
            score = compared_scores(read, arguments.risk, lens, caller=_CALLER)
            added = {name: rows.in_place(found.applies_to(score))}
            write_with_columns(arguments.file, arguments.output, added, caller=_CALLER)
    cutoff = None
    if saved is not None and found.found and arguments.risk != "error":
        cutoff = found.raw_cutoff(saved.calibrator)
    if arguments.format == "json":
        raw = None if cutoff is None else cutoff.to_dict()
        print(output.as_json({"promise": found.to_dict(), "cutoff": raw}))
        return 0
    output.show(str(found), *(f"  {each}" for each in (cutoff,) if each is not None))
    output.show(*(f"  note: {note}" for note in rows.notes))
    return 0


def _cut(arguments: argparse.Namespace, saved: files.SavedCalibrator) -> int:
    """Say the raw cut-off, and with a file decide by it."""
    threshold = arguments.threshold
    if threshold is None:
        threshold = cost_threshold(*_costs(arguments))
    if len(saved.classes) != 2:
        hint = "of more classes, decide by costs: `veridical apply`, then `decide --costs`."
        got = f"one of {len(saved.classes)}"
        raise invalid(_CALLER, "map", "a map of two classes", got, hint=hint)
    cutoff = saved.calibrator.inverse(threshold)
    shares = None
    if arguments.file is not None:
        shares = _decide_by(arguments, saved, cutoff)
        if not cutoff.monotone:
            said = "no single score decides as the map does: rows were calibrated and compared"
            output.tell([f"note: {said} with {threshold:.12g}"])
    if arguments.format == "json":
        print(output.as_json({"cutoff": cutoff.to_dict(), "share": shares}))
        return 0
    output.show(str(cutoff))
    if shares is not None:
        counted = ", ".join(f"{label!r} {share:.1%}" for label, share in shares.items())
        where = "" if arguments.output is None else f", written to {arguments.output}"
        output.show(f"  {counted}{where}")
    return 0


def _decide_by(
    arguments: argparse.Namespace, saved: files.SavedCalibrator, cutoff: Cutoff
) -> dict[str, float]:
    """Class of each row by a cut-off, written if asked for, and the shares of both."""
    if arguments.output is not None:
        check_target(arguments.file, arguments.output, caller=_CALLER)
    with output.busy(f"deciding {arguments.file}"), output.doubts_as_notes():
        rows = read_decision_rows(arguments, saved, raw=True)
        if len(rows.columns) > 1:
            hint = f"name the column of {saved.calibrator.positive_label!r} alone."
            raise invalid(_CALLER, "prob", "one column", f"{rows.columns}", hint=hint)
        name = f"{arguments.prefix}action"
        classes, positive = np.asarray(saved.classes), saved.calibrator.positive_index_
        above = _reached(saved, cutoff, rows.p)
        action = classes[np.where(above, positive, 1 - positive)]
        if arguments.output is not None:
            check_new_columns([name], rows.available, caller=_CALLER)
            added = {name: rows.in_place(action)}
            write_with_columns(arguments.file, arguments.output, added, caller=_CALLER)
    return {str(label): float(np.mean(action == label)) for label in saved.classes}


def _reached(saved: files.SavedCalibrator, cutoff: Cutoff, scores: Any) -> BoolArray:
    """Whether rows reach the threshold; by the map itself if no single score can tell."""
    if cutoff.monotone:
        return cutoff.applies_to(scores)
    p = saved.calibrator.predict_proba(scores)[:, saved.calibrator.positive_index_]
    return np.asarray(p >= cutoff.threshold)


def _costs(arguments: argparse.Namespace) -> Any:
    """A mapping from a file, or (false_positive, false_negative)."""
    files.check_cost_arguments(arguments, caller=_CALLER)
    if arguments.costs is not None:
        return files.read_costs(arguments.costs, caller=_CALLER)
    return (arguments.cost_fp, arguments.cost_fn)


def _decided(
    arguments: argparse.Namespace,
    rows: DecisionRows,
    costs: Any,
    saved: files.SavedCalibrator | None,
) -> _Found:
    labels, pos_label = _labels(arguments, rows, costs)
    if saved is not None:
        labels, pos_label = list(saved.classes), saved.calibrator.positive_label
    from_file = arguments.costs is not None
    if pos_label is None and len(rows.columns) == 1:
        pos_label = tables.label_of_column(rows.columns[0], list(labels or []))
    if rows.y is not None:
        sample = check_sample(
            rows.y,
            rows.p,
            caller=_CALLER,
            labels=labels,
            pos_label=pos_label,
            sample_weight=rows.weight,
            option="scale",
        )
        labels = np.asarray(sample.columns).tolist()
        if len(labels) == 2:
            pos_label = np.asarray(sample.classes).tolist()[1]
    if from_file and labels is not None:
        costs = files.with_labels(costs, labels)
    about = {"abstain_cost": arguments.abstain_cost, "labels": labels, "pos_label": pos_label}
    decisions = replace(decide(rows.p, costs, **about), notes=())  # below in words of options
    threshold, cutoff = None, None
    if not from_file and arguments.abstain_cost is None:
        threshold = _threshold(*costs)
    if saved is not None and threshold is not None and 0 < threshold < 1:
        cutoff = saved.calibrator.inverse(threshold)
    note = (*rows.notes, *_which_positive(rows, labels, pos_label))
    if rows.y is None:
        return _Found(decisions, threshold, cutoff, notes=note)
    about |= {"sample_weight": rows.weight, "confidence_level": arguments.confidence_level}
    cost = expected_cost(rows.y, rows.p, costs, groups=rows.groups, **about)
    try:
        lost = miscalibration_cost(rows.y, rows.p, costs, **about)
    except InvalidInputError as error:  # too few rows to fit a map to, say; the rest still stands
        notes = (*note, f"no cost of miscalibration: {error.problem}")
        return _Found(decisions, threshold, cutoff, cost, notes=notes)
    return _Found(decisions, threshold, cutoff, cost, lost, note)


def _which_positive(
    rows: DecisionRows, labels: list[Any] | None, pos_label: Any
) -> tuple[str, ...]:
    """Say which class a single column is taken to be about, where classes have names."""
    if len(rows.columns) > 1 or (labels is None and pos_label is None):
        return ()
    positive = pos_label if pos_label is not None else max(labels or [])
    if not isinstance(positive, str):
        return ()
    how = "" if pos_label is not None else ", the larger label; --pos-label says otherwise"
    return (f"{rows.columns[0]!r} is taken for the probability of {positive!r}{how}",)


def _labels(
    arguments: argparse.Namespace, rows: DecisionRows, costs: Any
) -> tuple[list[Any] | None, Any]:
    """Classes in column order if anything says what they are, and the positive one."""
    texts = data.split_names(arguments.labels)
    named = None if arguments.pos_label is None else [arguments.pos_label]
    if rows.y is not None:
        typed = data.LabelReader(arguments.file, arguments.y, rows.columns, caller=_CALLER)
        if texts is None and len(rows.columns) > 1:
            return None, named and typed(named)[0]
        return texts and typed(texts), named and typed(named)[0]
    if texts is not None:
        return files.as_numbers(texts), named and files.as_numbers(named)[0]
    positive = named and files.as_numbers(named)[0]
    if arguments.costs is None:
        return None, positive
    classes = files.classes_of(costs)
    if len(rows.columns) == 1:
        return sorted(classes, key=lambda label: (isinstance(label, str), label)), positive
    labels = tables.labels_from_columns(rows.columns, np.asarray(classes))
    if labels is None:
        hint = "say which class each column is about, e.g. --labels a,b,c."
        got = f"columns {rows.columns[:6]} and classes {classes[:6]}"
        raise invalid(_CALLER, "labels", "given when names do not tell", got, hint=hint)
    return labels, positive


def _threshold(cost_fp: float, cost_fn: float) -> float | None:
    try:
        return float(cost_threshold(cost_fp, cost_fn))
    except InvalidInputError:  # odd costs, such as gains from errors, have no threshold
        return None


def _one_type(action: Array) -> Array:
    """Names of actions in a column: text if some are."""
    return action.astype(np.str_) if action.dtype == object else action


def _parts(found: _Found) -> list[object]:
    parts: list[object] = [found.decisions]
    if found.threshold is not None:
        parts.append(f"  positive above a probability of {found.threshold:.6g}")
    if found.cutoff is not None:
        parts.append(f"  {found.cutoff}")
    if found.cost is not None:
        parts += ["", found.cost]
    if found.miscalibration is not None:
        parts += ["", found.miscalibration]
    return [*parts, *(f"  note: {note}" for note in found.notes)]


def _as_json(found: _Found) -> str:
    decisions = found.decisions
    result = {
        "n_samples": decisions.n_samples,
        "actions": list(decisions.actions),
        "share": decisions.share.tolist(),
        "mean_expected_cost": decisions.mean_expected_cost,
        "threshold": found.threshold,
        "cutoff": found.cutoff and found.cutoff.to_dict(),
        "expected_cost": found.cost and found.cost.to_dict(),
        "miscalibration_cost": found.miscalibration and found.miscalibration.to_dict(),
        "notes": list(found.notes),
    }
    return output.as_json(result)
