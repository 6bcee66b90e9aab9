"""Calibrators made of other calibrators."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from veridical._core.formula import Nodes
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.estimator import fresh
from veridical.calibrators._base.features import maps_predictions_alone
from veridical.calibrators._base.fitting import fit_rows
from veridical.calibrators._base.nodes import NoFormulaError, positive_class_last
from veridical.calibrators._base.rows import CheckedRows, positive_last
from veridical.calibrators._base.scales import Shared
from veridical.exceptions import InvalidInputError, invalid

_HANDED_ON = {
    "labels": None,
    "pos_label": None,
    "input": "probability",
    "weight_type": "importance",
}


class WrappingCalibrator(Calibrator):
    """A calibrator made of fitted copies of another one.

    `input`, `labels`, `pos_label` and `weight_type` are set on the wrapper; it hands them on. Parts
    know classes by their indices, of two the positive one last.
    """

    calibrator: Any

    def _check_parameters(self) -> None:
        self._check_part(self.calibrator)

    @abstractmethod
    def _combine(self, values: FloatArray) -> FloatArray:
        """Return calibrated probabilities (n, K), of two classes the positive one last."""

    def _predict(self, values: FloatArray) -> FloatArray:
        if values.ndim == 2:
            values = positive_last(values, self.positive_index_)
        return positive_last(self._combine(values), self.positive_index_)

    def _formula(self, inputs: Nodes) -> Nodes:
        outputs = self._combine_nodes(positive_class_last(inputs, self.positive_index_))
        return positive_class_last(outputs, self.positive_index_)

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        """Formula of `_combine`."""
        raise NoFormulaError(type(self).__name__)

    def _part(self, given: Any = None, *, input: str | None = None) -> Calibrator:
        """Copy of a wrapped calibrator, not fitted, that takes what the wrapper was given."""
        return part_of(self, self.calibrator if given is None else given, input=input)

    def _check_part(self, given: Any) -> None:
        """Raise unless this is a calibrator without settings of its own that the wrapper makes."""
        check_part(self, given)


def part_of(whole: Calibrator, given: Any, *, input: str | None = None) -> Calibrator:
    """Copy of a calibrator, not fitted, that takes what the whole was given."""
    check_part(whole, given)
    own = {name: None for name in ("labels", "pos_label") if getattr(given, name) is not None}
    return fresh_part(given, input=input or whole.input, weight_type=whole.weight_type, **own)


def check_part(whole: Calibrator, given: Any) -> None:
    """Raise unless this is a calibrator without settings of its own that the whole makes."""
    caller = type(whole).__name__
    if not isinstance(given, Calibrator):
        hint = f"e.g. `{caller}(calibrator=PlattCalibrator())`."
        got = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
        raise invalid(caller, "calibrator", "a calibrator", got, hint=hint)
    for name, default in _HANDED_ON.items():
        value = getattr(given, name)
        if value is not default and value != default and value != getattr(whole, name):
            hint = f"set it on the wrapper: `{caller}(..., {name}=...)`."
            got = f"one with {name}={value!r}"
            raise invalid(caller, "calibrator", f"one without its own `{name}`", got, hint=hint)


def check_calibrators(calibrator: Any) -> None:
    """Raise unless `calibrators` of a calibrator made of several is a list of them."""
    parts = calibrator.calibrators
    if isinstance(parts, Calibrator) or not isinstance(parts, (list, tuple)) or not parts:
        caller = type(calibrator).__name__
        hint = f"e.g. `{caller}([PlattCalibrator(), IsotonicCalibrator()])`."
        raise invalid(caller, "calibrators", "a list of calibrators", repr(parts), hint=hint)


def fresh_part(calibrator: Calibrator, **parameters: Any) -> Calibrator:
    """Copy with these parameters, not fitted, which will not keep a fingerprint of its rows."""
    part = fresh(calibrator, **parameters)
    part.keeps_fingerprint = False
    return part


def predict_part(part: Calibrator, values: FloatArray, shared: Shared | None = None) -> FloatArray:
    """What a part says of checked predictions, which are not checked again."""
    if not maps_predictions_alone(part):
        return part.predict_proba(values)
    return part._predict(values) if shared is None else part._predict_sharing(values, shared)


def fit_part(part: Calibrator, rows: CheckedRows) -> Notes:
    """Fit a part, which knows classes by their indices, to checked rows."""
    return fit_rows(part, rows.by_index())


def fit_part_if_possible(part: Calibrator, rows: CheckedRows) -> Notes | None:
    """Fit a part to some of the rows; None if they do not allow it, e.g. are of one class."""
    try:
        return fit_part(part, rows)
    except InvalidInputError:
        return None
