"""Fitted calibrators as formulas, and the scores at which a formula shows what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from veridical._core.formula import Column, Formula, Nodes, lookups
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.nodes import NoFormulaError, both_columns, positive_class_last
from veridical.exceptions import InvalidInputError, invalid


def formula_of(
    calibrator: Calibrator,
    *,
    one_column: bool,
    caller: str,
    outputs_of: Callable[[Nodes], Nodes] | None = None,
) -> Formula:
    """Formula of a fitted calibrator.

    Parameters
    ----------
    calibrator : Calibrator
    one_column : bool
        Of two classes, whether the only column is that of the positive class.
    caller : str
        Who asks, for messages.
    outputs_of : callable, optional
        Which formula; default that of the calibrator itself.
    """
    check_exportable(calibrator, caller)
    classes = tuple(np.asarray(calibrator.classes_).tolist())
    positive = calibrator.positive_index_ if len(classes) == 2 else len(classes) - 1
    inputs: Nodes = tuple(Column(k) for k in range(len(classes)))
    if one_column:
        inputs = positive_class_last(both_columns(Column(0), calibrator.input), positive)
    try:
        outputs = (outputs_of or calibrator._formula)(inputs)
    except NoFormulaError as error:
        name, within = error.name, type(calibrator).__name__
        got = name if name == within else f"{within} with {name} in it"
        hint = "send `save(calibrator, path)` and `load` it there, or fit e.g. `AutoCalibrator()`."
        raise invalid(caller, "calibrator", "one that has a formula", got, hint=hint) from None
    n_columns = 1 if one_column else len(classes)
    kind = calibrator.input
    outcome = getattr(calibrator, "outcome_name_", None)
    features = getattr(calibrator, "features_", None)
    return Formula(n_columns, kind, outputs, positive, classes, outcome, features)  # type: ignore[arg-type]


def has_formula(calibrator: Calibrator) -> bool:
    """Whether a fitted calibrator can be written down as a formula of its inputs."""
    try:
        calibrator._formula(tuple(Column(k) for k in range(len(calibrator.classes_))))
    except NoFormulaError:
        return False
    return True


def check_exportable(calibrator: Any, caller: str) -> None:
    """Raise unless this is a fitted calibrator."""
    if not isinstance(calibrator, Calibrator):
        got = f"the class {calibrator.__name__}" if isinstance(calibrator, type) else None
        hint = "of a `CalibratedClassifier`, its fitted calibrators."
        got = got or type(calibrator).__name__
        raise invalid(caller, "calibrator", "a fitted calibrator", got, hint=hint)
    if not hasattr(calibrator, "classes_"):
        hint = f"call `{type(calibrator).__name__}.fit(y_prob, y)` first."
        error = invalid(caller, "calibrator", "fitted", "one that is not", hint=hint)
        from veridical.calibrators._base.unfitted import NotFittedError

        raise NotFittedError(str(error))


_GRID = 4096  # equal cells of [0, 1]: edges of up to 4,096 bins of 2^k are among them
_FARTHEST_LOG_ODDS = 36.0  # where 1 - p ends in double precision
_LARGEST = 1e300


def probe_scores(calibrator: Calibrator) -> FloatArray:
    """Scores of the positive class, increasing, at which a map of two classes shows what it does.

    A grid that is fine on the scale of probabilities and on that of log odds, and every place where
    pieces of the map meet, with the numbers beside it.
    """
    edges = _edges(calibrator)
    odds = np.linspace(-_FARTHEST_LOG_ODDS, _FARTHEST_LOG_ODDS, 721)
    if calibrator.input == "probability":
        from scipy.special import expit

        places = np.concatenate([edges, expit(edges)])
        grid = np.concatenate([np.arange(_GRID + 1) / _GRID, expit(odds)])
        low, high = 0.0, 1.0
    else:
        sizes = np.logspace(-9, 12, 421)  # whatever the unit of scores is
        places, grid = edges, np.concatenate([odds, sizes, -sizes, [0.0, -_LARGEST, _LARGEST]])
        low, high = -_LARGEST, _LARGEST
    near = [places, np.nextafter(places, -np.inf), np.nextafter(places, np.inf)]
    scores = np.concatenate([grid, *near])
    return np.unique(scores[(scores >= low) & (scores <= high)])


def _edges(calibrator: Calibrator) -> FloatArray:
    """Places where pieces meet, on whatever scale the map has them; none without a formula."""
    try:
        formula = formula_of(calibrator, one_column=True, caller="probe_scores")
    except InvalidInputError:
        return np.concatenate([np.empty(0), *map(_edges, _parts(calibrator))])
    return np.concatenate([np.empty(0), *(each.edges for each in lookups(formula.outputs))])


def _parts(calibrator: Calibrator) -> list[Calibrator]:
    """Fitted calibrators that this one is made of."""
    values = [value for name, value in vars(calibrator).items() if name.endswith("_")]
    listed = [value if isinstance(value, (list, tuple)) else [value] for value in values]
    return [each for part in listed for each in part if isinstance(each, Calibrator)]
