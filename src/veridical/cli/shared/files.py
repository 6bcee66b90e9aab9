"""Files that several commands read: calibrators, and costs of actions."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.classes import arranged_names
from veridical._core.data.labels import find_label
from veridical._core.data.validation import check_probabilities, check_scores
from veridical._core.typing import FloatArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.tables import expand_columns, open_table

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator


@dataclass(frozen=True)
class SavedCalibrator:
    """A fitted calibrator, and how to feed it from a table.

    Attributes
    ----------
    calibrator : fitted
    columns : names of the columns it was fitted to, if known
    column_of : in files of earlier versions, the label whose probability a single column is; where
        that is the smaller label the calibrator was fitted to the column turned round
    """

    calibrator: Calibrator
    columns: tuple[str, ...] | None
    column_of: Any = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels in the order of predictions."""
        return tuple(np.asarray(self.calibrator.classes_).tolist())

    @property
    def one_class(self) -> int:
        """Of two classes, the one a single column is about: its place among `classes`."""
        if self.column_of is not None:
            return self.classes.index(self.column_of)
        return self.calibrator.positive_index_

    def checked(self, values: FloatArray, *, caller: str) -> FloatArray:
        """Predictions that the calibrator can take; errors tell where in the file others are."""
        if self.calibrator.input == "probability":
            return check_probabilities(values, caller=caller, option="scale", rounded=True)
        return check_scores(values, caller=caller)

    def predict(self, values: FloatArray) -> FloatArray:
        """Calibrated probabilities: (n, 1) of the same class for one column, else (n, K)."""
        if values.ndim == 2:
            return self.calibrator.predict_proba(values)
        if self.one_class != self.calibrator.positive_index_:
            turned = np.column_stack([values, 1 - values])[:, :: 1 - 2 * self.one_class]
            values = turned if self.calibrator.input == "probability" else -values
        return self.calibrator.predict_proba(values)[:, [self.one_class]]


def read_calibrator(path: str, *, caller: str, param: str = "CALIBRATOR") -> SavedCalibrator:
    """Read what `veridical.save` or `veridical calibrate` has written."""
    from veridical.export.core import COLUMN_OF, read_file

    try:
        calibrator, data = read_file(path, caller=caller, param=param)
    except OSError as error:
        hint = "write one with `veridical calibrate FILE -o calibrator.json`."
        got = f"{path!r} ({error.strerror or error})"
        expected = "a file with a saved calibrator"
        raise invalid(caller, param, expected, got, hint=hint) from error
    except InvalidInputError as error:
        if error.param == param:
            raise
        got = f"{path!r}, where {error.problem.partition(': ')[2].rstrip('.')}"
        expected = "a file with a saved calibrator"
        raise invalid(caller, param, expected, got, hint=error.hint) from error
    names = getattr(calibrator, "feature_names_in_", None)
    saved = SavedCalibrator(
        calibrator, None if names is None else tuple(names.tolist()), data.get(COLUMN_OF)
    )
    if saved.column_of is not None:
        find_label(saved.column_of, saved.classes, caller=caller, param=COLUMN_OF)
    return saved


def calibrated_columns(
    saved: SavedCalibrator, prob: list[str] | None, available: list[str], *, caller: str
) -> list[str]:
    """Columns to calibrate, in the order in which the calibrator was fitted to them."""
    fitted = saved.columns
    if prob is None:
        if fitted is None:
            hint = "name the columns, in the order of the classes."
            got = "none, and the calibrator does not say what it was fitted to"
            raise invalid(caller, "prob", "given", got, hint=hint)
        return expand_columns(fitted, available, caller=caller, param="prob")
    columns = expand_columns(prob, available, caller=caller, param="prob")
    if fitted is not None and set(columns) == set(fitted):
        return list(fitted)
    if saved.column_of is None:
        saved.calibrator._check_one_column(columns, caller=caller)
    return arranged_names(columns, saved.classes, caller=caller)


def check_unturned(saved: SavedCalibrator, *, caller: str, param: str = "CALIBRATOR") -> None:
    """Raise if the calibrator is of an earlier version and was fitted to a column turned round."""
    if len(saved.classes) == 2 and saved.one_class != saved.calibrator.positive_index_:
        label = saved.classes[saved.one_class]
        hint = f"use `veridical apply`, or fit it again with --pos-label {label}."
        got = f"one of {label!r}, of an earlier version"
        expected = "a map of the probability of the larger label"
        raise invalid(caller, param, expected, got, hint=hint)


_HINT = (
    "a CSV has a first column of classes and one column an action; JSON is {action: {class: cost}}."
)


def check_positive(saved: SavedCalibrator, asked: str | None, *, caller: str) -> None:
    """Raise if the calibrator is about another class than the one that is asked for."""
    if asked is None:
        return
    if len(saved.classes) > 2:
        hint = "it names the class of a single column of two classes."
        got = f"{asked!r} with {len(saved.classes)} classes"
        raise invalid(caller, "pos_label", "unset for K > 2", got, hint=hint)
    positive = saved.classes[saved.one_class]
    if str(positive).lower() != asked.lower():
        hint = f"leave it out, or fit another one: `veridical calibrate FILE --pos-label {asked}`."
        expected = f"{str(positive)!r}, the class the calibrator was fitted to"
        raise invalid(caller, "pos_label", expected, repr(asked), hint=hint)


def add_cost_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two ways to say what actions cost, and the cost of none."""
    parser.add_argument("--cost-fp", type=float, metavar="COST", help="of a false positive")
    parser.add_argument("--cost-fn", type=float, metavar="COST", help="of a false negative")
    parser.add_argument("--costs", metavar="PATH", help="costs of every class and action")
    parser.add_argument("--abstain-cost", type=float, metavar="COST", help="of leaving a row open")


def check_cost_arguments(arguments: argparse.Namespace, *, caller: str) -> None:
    """Raise unless costs are given in one way: as --cost-fp and --cost-fn, or as --costs."""
    pair = (arguments.cost_fp, arguments.cost_fn)
    hint = "give --cost-fp and --cost-fn, or --costs with a file."
    if arguments.costs is not None and pair != (None, None):
        raise invalid(caller, "costs", "given in one way", "both ways", hint=hint)
    if arguments.costs is None and None in pair:
        got = "none" if pair == (None, None) else "one of --cost-fp and --cost-fn"
        raise invalid(caller, "costs", "given", got, hint=hint)


def read_costs(path: str, *, caller: str) -> dict[str, dict[Any, float]]:
    """Return ``{action: {class: cost}}``, the form that `decide` takes.

    Classes of a table have the type of its first column; keys of JSON are text.
    """
    if Path(path).suffix.lower() == ".json":
        return _from_json(path, caller=caller)
    table = open_table(path, caller=caller, param="costs")
    first, *actions = table.columns
    if not actions:
        got = f"one column, {first!r}"
        raise invalid(caller, "costs", "a table of classes and actions", got, hint=_HINT)
    classes = table.column(first, caller=caller, param="costs").tolist()
    repeated = [label for label in classes if classes.count(label) > 1]
    if repeated:
        got = f"{repeated[0]!r} more than once"
        raise invalid(caller, "costs", "one row for each class", got, hint=_HINT)
    matrix = table.matrix(actions, caller=caller, param="costs")
    return {
        action: dict(zip(classes, matrix[:, k].tolist(), strict=True))
        for k, action in enumerate(actions)
    }


def classes_of(costs: Mapping[str, Mapping[Any, float]]) -> list[Any]:
    """Classes that occur, in order, with numbers as numbers if all of them are."""
    classes = list(dict.fromkeys(label for by_class in costs.values() for label in by_class))
    return as_numbers(classes)


def as_numbers(labels: Sequence[Any]) -> list[Any]:
    """Texts as integers if all of them are; other labels as they are."""
    try:
        return [int(label) if isinstance(label, str) else label for label in labels]
    except ValueError:
        return list(labels)


def with_labels(
    costs: Mapping[str, Mapping[Any, float]], labels: Sequence[Any]
) -> dict[str, dict[Any, float]]:
    """The same costs with classes spelt as the data spell them: 1 for "1", True for "true"."""
    spelt = {str(label).lower(): label for label in labels}
    known = set(labels)
    return {
        action: {
            label if label in known else spelt.get(str(label).lower(), label): cost
            for label, cost in by_class.items()
        }
        for action, by_class in costs.items()
    }


def _from_json(path: str, *, caller: str) -> dict[str, dict[Any, float]]:
    try:
        costs = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error), caller) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, str(error), caller) from error
    if not isinstance(costs, dict) or not all(isinstance(each, dict) for each in costs.values()):
        raise _unreadable(path, "no action with costs by class", caller)
    return costs


def _unreadable(path: str, why: str, caller: str) -> InvalidInputError:
    return invalid(caller, "costs", "a readable file of costs", f"{path!r} ({why})", hint=_HINT)
