"""What a model must be like for decisions to reach a goal."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import is_number
from veridical.exceptions import invalid
from veridical.results._base import Result

if TYPE_CHECKING:
    from veridical.results._planning import DecisionValue, RequirementTable

_CALLER = "RequirementTable.require"
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Requirement(Result):
    """Largest calibration error with which one accuracy reaches a goal.

    Attributes
    ----------
    accuracy : the accuracy
    goal : the goal in words
    target : value a row to reach
    max_ece : ECE up to which the value reaches `target`; None if it never does
    safe_ece : the same for the lower limit of the value
    least, largest : smallest and largest ECE simulated at this accuracy
    bound : no classifier of this kind has an ECE at or above this
    bounded : whether some simulated ECE is too large

    Examples
    --------
    >>> print(Requirement(accuracy=0.9, goal="save 5 % of the cost of deciding without a model",
    ...     target=-0.95, max_ece=0.043, safe_ece=0.042, least=0.0, largest=0.08, bound=0.1,
    ...     bounded=True))
    To save 5 % of the cost of deciding without a model at accuracy 0.9, the ECE must stay below
    0.043.
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("goal",)
    _number_columns: ClassVar[tuple[str, ...]] = ("max_ece", "safe_ece")

    accuracy: float
    goal: str
    target: float
    max_ece: float | None
    safe_ece: float | None
    least: float
    largest: float
    bound: float
    bounded: bool

    def __str__(self) -> str:
        at = f"at accuracy {self.accuracy:.4g}"
        if self.max_ece is None:
            but = "a calibrated classifier (ECE 0)" if self.least == 0 else f"ECE {self.least:.4g}"
            return f"To {self.goal} {at} is not possible: even {but} falls short."
        if not self.bounded:
            return (
                f"To {self.goal} {at}, any ECE simulated will do, up to {self.largest:.4g}"
                f" ({self.bound:.4g} cannot be reached)."
            )
        return f"To {self.goal} {at}, the ECE must stay below {self.max_ece:.3g}."


@dataclass(frozen=True, kw_only=True)
class Requirements(Result):
    """Requirements on a model, accuracy by accuracy.

    Attributes
    ----------
    rows : one `Requirement` an accuracy, ascending
    goal : the goal in words
    reference : what it is relative to, in words; empty for an absolute goal
    least_accuracy : accuracy from which on a classifier of the smallest ECE simulated reaches the
        goal; None if no accuracy of the grid does
    """

    rows: tuple[Requirement, ...]
    goal: str
    reference: str
    least_accuracy: float | None

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.rows), self._accuracy_line()])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(str(row))}</li>" for row in self.rows)
        return f"<div><ul>{items}</ul><p>{escape(self._accuracy_line())}</p></div>"

    def _accuracy_line(self) -> str:
        least = self.rows[0].least
        with_ece = "a calibrated classifier" if least == 0 else f"a classifier of ECE {least:.4g}"
        if self.least_accuracy is None:
            return f"No accuracy simulated lets {with_ece} {self.goal}."
        if self.least_accuracy == self.rows[0].accuracy:
            return f"Every accuracy simulated lets {with_ece} {self.goal}."
        return (
            f"For {with_ece} to {self.goal}, its accuracy must be at least"
            f" {self.least_accuracy:.3f}."
        )

    def _columns(self) -> dict[str, list[Any]]:
        """One row an accuracy."""
        names = ("accuracy", "target", "max_ece", "safe_ece", "least", "largest", "bounded")
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    _number_columns = Requirement._number_columns


def find_requirements(
    table: RequirementTable, saving: float | None, value: float | None, relative_to: str | float
) -> Requirements:
    """Requirements of a table; see `RequirementTable.require`."""
    if not table.grid:
        hint = "give `accuracy` and `ece` to `simulate_decisions`."
        raise invalid(_CALLER, "grid", "not empty", "models only", hint=hint)
    if (saving is None) == (value is None):
        hint = "e.g. `require(saving=0.05)`."
        got = "neither" if saving is None else "both"
        raise invalid(_CALLER, "saving", "given, or else `value`", got, hint=hint)
    _check_number("saving" if value is None else "value", saving if value is None else value)
    rows: list[Requirement] = []
    calibrated: list[tuple[float, float]] = []  # distance to the target at the smallest ECE
    goal = reference = ""
    for accuracy in table.accuracy:
        found = [r for r in table.grid if r.accuracy == accuracy and r.value is not None]
        if not found:
            continue
        found.sort(key=lambda row: row.ece)
        base, reference = _reference(table, found[0], relative_to)
        target = value if value is not None else _target(base, float(saving or 0))
        goal = _goal(table, saving, target, base, reference)
        rows.append(_requirement(table, found, float(accuracy), target, goal))
        calibrated.append((float(accuracy), float(found[0].value or 0) - target))
    if not rows:
        hint = "ask for smaller calibration errors, or other accuracies."
        raise invalid(_CALLER, "grid", "possible somewhere", "no classifier at all", hint=hint)
    return Requirements(
        rows=tuple(rows),
        goal=goal,
        reference=reference if value is None else "",
        least_accuracy=_least_accuracy(calibrated),
    )


def _requirement(
    table: RequirementTable, found: list[DecisionValue], accuracy: float, target: float, goal: str
) -> Requirement:
    ece = np.array([row.ece for row in found])
    values = np.array([row.value for row in found], dtype=np.float64)
    limits = np.array([row.low for row in found], dtype=np.float64)
    reached = _reaches(values, target)
    return Requirement(
        accuracy=accuracy,
        goal=goal,
        target=target,
        max_ece=_crossing(ece, values, target),
        safe_ece=_crossing(ece, limits, target),
        least=float(ece[0]),
        largest=float(ece[-1]),
        bound=table.largest_ece(accuracy),
        bounded=not bool(reached.all()),
    )


def _crossing(ece: FloatArray, values: FloatArray, target: float) -> float | None:
    """Where the values first fall below the target; None if at once, the last ECE if never."""
    reached = _reaches(values, target)
    if not reached[0]:
        return None
    if reached.all():
        return float(ece[-1])
    i = int(reached.argmin())
    if not np.isfinite(values[i]):
        return float(ece[i - 1])  # ruin: no straight line leads there
    share = (values[i - 1] - target) / (values[i - 1] - values[i])
    return float(ece[i - 1] + max(share, 0.0) * (ece[i] - ece[i - 1]))


def _reaches(values: FloatArray, target: float) -> Any:
    return values >= target - _ROUNDING * max(abs(target), 1.0)


def _least_accuracy(calibrated: list[tuple[float, float]]) -> float | None:
    """Accuracy from which on the distance to the target is not negative."""
    short = [i for i, (_, above) in enumerate(calibrated) if above < -_ROUNDING]
    if not short:
        return calibrated[0][0]
    last = short[-1]
    if last == len(calibrated) - 1:
        return None
    (a, below), (b, above) = calibrated[last], calibrated[last + 1]
    return b if not np.isfinite(below) else a + (b - a) * below / (below - above)


def _reference(
    table: RequirementTable, row: DecisionValue, relative_to: str | float
) -> tuple[float, str]:
    if isinstance(relative_to, str):
        if relative_to == "baseline":
            return float(row.baseline or 0), "of deciding without a model"
        for model in table.models:
            if model.name == relative_to and model.value is not None:
                return model.value, f"of {model.name!r}"
        names = ["baseline", *(model.name for model in table.models)]
        hint = "name a model that was given to `simulate_decisions`."
        raise invalid(_CALLER, "relative_to", f"one of {names}", repr(relative_to), hint=hint)
    _check_number("relative_to", relative_to)
    return float(relative_to), f"of the reference {abs(relative_to):.6g}"


def _target(base: float, saving: float) -> float:
    if base == 0 or not np.isfinite(base):
        hint = "pass `value=`, the value a row to reach."
        got = f"a value of {base:g}"
        raise invalid(_CALLER, "relative_to", "of a finite value other than 0", got, hint=hint)
    return base + saving * abs(base)


def _goal(
    table: RequirementTable, saving: float | None, target: float, base: float, reference: str
) -> str:
    if saving is None:
        if table.kind == "cost":
            return f"keep the cost at {-target:.5g} a row or less"
        return f"reach a value of {target:.5g} a row"
    share = f"{100 * saving:.4g} %"
    if table.kind == "cost" and base < 0:
        return f"save {share} of the cost {reference}"
    return f"gain {share} on the value {reference}"


def _check_number(param: str, value: object) -> None:
    if not is_number(value):
        hint = "e.g. `require(saving=0.05)`."
        raise invalid(_CALLER, param, "a finite number", repr(value), hint=hint)
