"""A fitted calibrator as the formula that every export is written from."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.formula import Column, Formula, Nodes
from veridical.calibrators._base.calibrator import Calibrator, NotFittedError
from veridical.calibrators._base.nodes import NoFormulaError, both_columns, positive_class_last
from veridical.exceptions import invalid


def formula_of(calibrator: Calibrator, *, one_column: bool, caller: str) -> Formula:
    """Formula of a fitted calibrator.

    Parameters
    ----------
    calibrator : Calibrator
    one_column : bool
        Of two classes, whether the only column is that of the positive class.
    caller : str
        Who asks, for messages.
    """
    check_exportable(calibrator, caller)
    classes = tuple(np.asarray(calibrator.classes_).tolist())
    positive = calibrator.positive_index_ if len(classes) == 2 else len(classes) - 1
    inputs: Nodes = tuple(Column(k) for k in range(len(classes)))
    if one_column:
        inputs = positive_class_last(both_columns(Column(0), calibrator.input), positive)
    try:
        outputs = calibrator._formula(inputs)
    except NoFormulaError as error:
        name, within = error.name, type(calibrator).__name__
        got = name if name == within else f"{within} with {name} in it"
        hint = "send `save(calibrator, path)` and `load` it there, or fit e.g. `AutoCalibrator()`."
        raise invalid(caller, "calibrator", "one that has a formula", got, hint=hint) from None
    n_columns = 1 if one_column else len(classes)
    kind = calibrator.input
    outcome = getattr(calibrator, "outcome_name_", None)
    return Formula(n_columns, kind, outputs, positive, classes, outcome)  # type: ignore[arg-type]


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
        raise NotFittedError(str(error))
