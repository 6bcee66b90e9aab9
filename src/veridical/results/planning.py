"""What decisions are worth at each accuracy and calibration error, and requirements from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veridical._core.data.validation import is_number
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.results._forms.html import html_headline, html_list, html_table, html_text
from veridical.results._forms.text import note_lines, text_row
from veridical.results.base import Result, columns_of, field_names

_CALLER = "RequirementTable.require"
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
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


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
        return "\n".join([*map(str, self.rows), self._accuracy_line()])

    def _repr_html_(self) -> str:
        return html_headline(self._accuracy_line(), html_list(self.rows))

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
        return columns_of(self.rows, names)

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


_MOST_RELATIVE = 100  # times the baseline; beyond, it is next to nothing


@dataclass(frozen=True, kw_only=True, repr=False)
class DecisionValue(Result):
    """What decisions on one model's probabilities are worth a row; higher is better.

    Attributes
    ----------
    name : name of the model, empty in a grid of targets
    accuracy, ece : accuracy and expected calibration error (confidence lens): targets of a grid,
        exact figures of a fake classifier, for predictions estimates from 15 bins, which are
        biased upwards
    value, low, high : mean value a row and its limits; None if no such classifier exists
    baseline : value of deciding without a model, on the shares of the classes
    gain, gain_low, gain_high : `value` minus `baseline`, and its limits from paired differences
    calibrated : value of deciding on calibrated probabilities: on the truth, or on recalibrated
        ones
    loss, loss_low, loss_high : `calibrated` minus `value`, what miscalibration costs, from paired
        differences; below 0 where a process that is not the best there is profits from it
    basis : what `calibrated` was decided on: "truth", or "recalibrated" (cross-fitted)
    n_samples : rows, of each repeat if there are any
    n_repeats : independent repeats the limits come from; None for predictions
    reason : why there is no value, else empty

    Examples
    --------
    >>> print(DecisionValue(name="", accuracy=0.9, ece=0.2, n_samples=100, reason="impossible"))
    fake classifier: accuracy 0.9, ECE 0.2: impossible
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name", "basis", "reason")
    _number_columns: ClassVar[tuple[str, ...]] = (
        *("value", "low", "high", "baseline", "gain", "gain_low", "gain_high"),
        *("calibrated", "loss", "loss_low", "loss_high", "n_repeats"),
    )

    name: str
    accuracy: float
    ece: float
    value: float | None = None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    calibrated: float | None = None
    loss: float | None = None
    loss_low: float | None = None
    loss_high: float | None = None
    basis: str = "truth"
    n_samples: int
    n_repeats: int | None = None
    reason: str = ""

    @property
    def relative_gain(self) -> float | None:
        """`gain` as a share of the size of `baseline`; None if that is 0."""
        if self.gain is None or not self.baseline:
            return None
        return self.gain / abs(self.baseline)

    def _text(self) -> str:
        at = f"{self.name or 'fake classifier'}: accuracy {self.accuracy:.4g}, ECE {self.ece:.4g}"
        if self.value is None:
            return f"{at}: {self.reason}"
        share = self.relative_gain
        relative = "" if share is None or abs(share) > _MOST_RELATIVE else f", {share:+.1%}"
        better = "the truth" if self.basis == "truth" else "recalibrated probabilities"
        return (
            f"{at}: value {self.value:.6g} a row ({self.low:.6g} to {self.high:.6g});"
            f" without a model {self.baseline:.6g} (model {self.gain:+.6g}{relative}), on {better}"
            f" {self.calibrated:.6g} (loss {self.loss:.6g}, {self.loss_low:.6g} to"
            f" {self.loss_high:.6g})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class RequirementTable(Result):
    """Value of a decision process over accuracy and calibration error, and of given models.

    Attributes
    ----------
    grid : one `DecisionValue` for each pair of targets, all ECEs of the first accuracy first;
        empty if only models were asked for
    models : one `DecisionValue` for each given fake classifier or set of predictions
    process : the decision process in words
    kind : "cost" if values are costs with a minus sign, else "value"
    direction : "over" or "under": how the fake classifiers of the grid are wrong
    n_classes : number of classes
    class_shares : how frequent the classes of the grid are
    confidence_level : of all limits
    notes : statistical doubts in words
    """

    grid: tuple[DecisionValue, ...]
    models: tuple[DecisionValue, ...]
    process: str
    kind: str
    direction: str
    n_classes: int
    class_shares: tuple[float, ...]
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    def accuracy(self) -> FloatArray:
        """Accuracies of the grid, ascending."""
        return np.unique([row.accuracy for row in self.grid])

    @property
    def ece(self) -> FloatArray:
        """Calibration errors of the grid, ascending."""
        return np.unique([row.ece for row in self.grid])

    @property
    def values(self) -> FloatArray:
        """Values of the grid, (accuracies, ECEs); not a number where there is no classifier."""
        found = [np.nan if row.value is None else row.value for row in self.grid]
        return np.array(found).reshape(len(self.accuracy), -1)

    def largest_ece(self, accuracy: float) -> float:
        """Bound no ECE reaches at this accuracy, for classifiers always wrong in `direction`.

        1 - accuracy if over-confident, accuracy - 1/K if under-confident (Lemma 1 and footnote 8
        of Panchenko 2021, Calibration of Classifiers, section 7).
        """
        return 1 - accuracy if self.direction == "over" else accuracy - 1 / self.n_classes

    def require(
        self,
        *,
        saving: float | None = None,
        value: float | None = None,
        relative_to: str | float = "baseline",
    ) -> Requirements:
        """Largest ECE at each accuracy of the grid that still reaches a goal.

        Parameters
        ----------
        saving : float, optional
            Share of the reference to save (costs) or to gain (values), e.g. 0.05.
        value : float, optional
            Instead of `saving`: value a row to reach; a cost of 2 is a value of -2.
        relative_to : "baseline", name of a model, or float
            What `saving` is a share of: deciding without a model, the value of one of `models`,
            or a value a row. A saving s on the reference r asks for r + s |r|.

        Returns
        -------
        Requirements
            One `Requirement` for each accuracy, with a sentence.

        Notes
        -----
        Between grid points the value is interpolated in a straight line. The answer is where the
        value first falls short as the ECE grows; if it recovered later that would not count.
        `safe_ece` is where the lower limit of the value falls short. Limits are those of the
        simulation: how a real model differs from the fake ones no interval tells.
        """
        return find_requirements(self, saving, value, relative_to)

    def _text(self) -> str:
        lines = [self._headline()]
        if self.grid:
            header, rows = self._table()
            width = max(8, *(len(cell) + 2 for row in (header, *rows) for cell in row))
            lines += [f"  {text_row(row, width)}" for row in (header, *rows)]
            lines += [f"  {self._legend()}"]
        lines += [f"  {model}" for model in self.models]
        return "\n".join(lines + note_lines(self.notes, apart=False))

    def _repr_html_(self) -> str:
        table = ""
        if self.grid:
            table = html_table(*self._table()) + f"<p>{html_text(self._legend())}</p>"
        lines = html_list((*self.models, *self.notes))
        return html_headline(self._headline(), table, lines)

    def _headline(self) -> str:
        sign = " (minus the cost)" if self.kind == "cost" else ""
        return f"value a row{sign} of: {self.process}"

    def _legend(self) -> str:
        row = self.grid[0]
        shares = f"{self.n_classes} equally frequent classes"
        if np.ptp(self.class_shares) > 1e-6:
            shares = "classes of shares " + ", ".join(f"{x:.3g}" for x in self.class_shares[:6])
        return (
            f"columns: ECE; -: no such classifier; fake classifiers always {self.direction}-"
            f"confident, {shares}, {row.n_repeats} x {row.n_samples:,} rows;"
            f" without a model {_baseline(self.grid)}"
        )

    def _table(self) -> tuple[list[str], list[tuple[str, ...]]]:
        rows = [
            (f"{accuracy:.4g}", *("-" if np.isnan(v) else f"{v:.5g}" for v in values))
            for accuracy, values in zip(self.accuracy, self.values, strict=True)
        ]
        return ["accuracy", *(f"{e:.4g}" for e in self.ece)], rows

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each grid point and model."""
        return columns_of((*self.grid, *self.models), field_names(DecisionValue))

    _text_columns = DecisionValue._text_columns
    _number_columns = DecisionValue._number_columns


def _baseline(rows: tuple[DecisionValue, ...]) -> str:
    known = [row.baseline for row in rows if row.baseline is not None]
    if not known:
        return "unknown"
    low, high = f"{min(known):.5g}", f"{max(known):.5g}"
    return low if low == high else f"{low} to {high}"
