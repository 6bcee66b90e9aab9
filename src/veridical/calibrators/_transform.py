"""Calibrated probabilities as new columns of a frame, where the frame lives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.scan import row_sum_tolerance
from veridical._core.typing import BoolArray, FloatArray
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames import column_names, expand_columns, guess_columns, is_frame, open_table
from veridical.frames._detect import is_lazy

if TYPE_CHECKING:
    from veridical.calibrators._calibrator import Calibrator

_CALLER = "transform"
_PREFIX = "calibrated"  # as `veridical apply` names its columns
_NO_OUTCOME = ""
_BLOCK_VALUES = 1 << 20


def transform_frame(
    calibrator: Calibrator,
    frame: Any,
    prob: str | Sequence[str] | None,
    names: str | Sequence[str] | None,
) -> Any:
    """Add columns of calibrated probabilities; see `Calibrator.transform`."""
    if not is_frame(frame):
        hint = "for arrays, call `predict_proba(y_prob)`."
        got = f"an object of type {type(frame).__name__}"
        raise invalid(_CALLER, "frame", "a frame", got, hint=hint)
    available = column_names(frame, caller=_CALLER, param="frame")
    columns = _columns(calibrator, prob, available)
    new = _names(calibrator, names, len(columns), available)
    from veridical.frames._expression_eager import of_partitions

    if not is_lazy(frame):
        return _in_memory(frame, calibrator, columns, new)
    by_part = of_partitions(frame)
    if by_part is not None:
        return by_part(partial(_in_memory, calibrator=calibrator, columns=columns, new=new))
    return _lazily(calibrator, frame, columns, new)


def _in_memory(frame: Any, calibrator: Calibrator, columns: list[str], new: list[str]) -> Any:
    from veridical.frames._expression_eager import with_arrays

    table = open_table(frame, columns=columns, caller=_CALLER, param="frame")
    values = table.matrix(columns, caller=_CALLER, param="prob")
    found = _calibrated(calibrator, values[:, 0] if len(columns) == 1 else values)
    kept = found[:, [_positive(calibrator)]] if len(columns) == 1 else found
    return with_arrays(frame, {name: kept[:, k] for k, name in enumerate(new)})


def _lazily(calibrator: Calibrator, frame: Any, columns: list[str], new: list[str]) -> Any:
    from veridical.calibrators.formulas import formula_of
    from veridical.frames._expressions import with_formulas

    formula = formula_of(calibrator, one_column=len(columns) == 1, caller=_CALLER)
    nodes = formula.outputs if len(new) > 1 else (formula.outputs[formula.positive],)
    outputs = dict(zip(new, nodes, strict=True))
    return with_formulas(frame, columns, outputs, input=formula.input, caller=_CALLER)


def _calibrated(calibrator: Calibrator, values: FloatArray) -> FloatArray:
    """Probabilities of all classes; NaN in rows that `predict_proba` would refuse."""
    kept = _accepted(values, calibrator.input)
    result = np.full((len(values), len(calibrator.classes_)), np.nan)
    for rows in row_blocks(len(values), max(256, _BLOCK_VALUES // len(calibrator.classes_))):
        within = kept[rows]
        if within.any():
            result[rows][within] = calibrator.predict_proba(values[rows][within])
    return result


def _accepted(values: FloatArray, input: str) -> BoolArray:
    """Rows that are what they should be; the other ones cannot be calibrated."""
    matrix = values[:, None] if values.ndim == 1 else values
    if input != "probability":
        return np.asarray(np.isfinite(matrix).all(axis=1))
    with np.errstate(invalid="ignore"):
        inside = ((matrix >= 0) & (matrix <= 1)).all(axis=1)
        if values.ndim == 2:
            total = matrix.sum(axis=1, dtype=np.float64)
            inside &= np.abs(total - 1) <= row_sum_tolerance(values.dtype)
    return np.asarray(inside)


def _columns(
    calibrator: Calibrator, prob: str | Sequence[str] | None, available: list[str]
) -> list[str]:
    """Columns to calibrate, one for each class or that of the positive class."""
    if prob is None:
        columns = _known_columns(calibrator, available)
    else:
        columns = expand_columns(prob, available, caller=_CALLER, param="prob")
        fitted = getattr(calibrator, "feature_names_in_", None)
        if fitted is not None and set(columns) == set(fitted.tolist()):
            columns = fitted.tolist()  # whatever order a glob finds them in
    n_classes = len(calibrator.classes_)
    if len(columns) not in ((1, 2) if n_classes == 2 else (n_classes,)):
        count = "one or two columns" if n_classes == 2 else f"{n_classes} columns"
        hint = f"one for each class, in this order: {calibrator.classes_.tolist()[:6]}."
        raise invalid(_CALLER, "prob", count, f"{len(columns)}", hint=hint)
    return columns


def _known_columns(calibrator: Calibrator, available: list[str]) -> list[str]:
    fitted = getattr(calibrator, "feature_names_in_", None)
    if fitted is not None and set(fitted.tolist()) <= set(available):
        return [str(name) for name in fitted]
    try:
        guess = guess_columns((*available, _NO_OUTCOME), y=_NO_OUTCOME, caller=_CALLER)
    except InvalidInputError:
        hint = "name the columns of predictions, in the order of `classes_`."
        got = f"None, and no column of {available[:6]} is known by name"
        raise invalid(_CALLER, "prob", "given", got, hint=hint) from None
    return list(guess.prob)


def _names(
    calibrator: Calibrator,
    names: str | Sequence[str] | None,
    n_columns: int,
    available: list[str],
) -> list[str]:
    """New columns: one for one column of predictions, else one for each class."""
    n_new = 1 if n_columns == 1 else len(calibrator.classes_)
    if names is None:
        labels = calibrator.classes_.tolist()
        new = [_PREFIX] if n_new == 1 else [f"{_PREFIX}_{label}" for label in labels]
    else:
        new = [names] if isinstance(names, str) else list(names)
    if len(new) != n_new or not all(isinstance(name, str) and name for name in new):
        hint = f"one for each class, in this order: {calibrator.classes_.tolist()[:6]}."
        hint = "one column of predictions gives one new column." if n_new == 1 else hint
        raise invalid(_CALLER, "names", f"{n_new} name(s)", repr(names), hint=hint)
    taken = {name.lower() for name in available}  # databases do not tell P from p
    again = [name for name in new if name.lower() in taken]
    if again or len({name.lower() for name in new}) < len(new):
        got = f"{again[0]!r}, which is there" if again else f"repeated names: {new[:6]}"
        hint = "nothing is overwritten: choose other names with `names=`."
        raise invalid(_CALLER, "names", "names of new columns", got, hint=hint)
    return new


def _positive(calibrator: Calibrator) -> int:
    classes = tuple(calibrator.classes_.tolist())
    return int(classes[1] > classes[0])
