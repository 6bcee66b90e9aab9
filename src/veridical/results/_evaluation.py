"""The result of `evaluate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veridical.results._base import Result
from veridical.results._cox import Coefficient
from veridical.results._curve import ReliabilityCurve
from veridical.results._figures import Decomposition, MeasuredError
from veridical.results._text import evaluation_html, evaluation_text


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation(Result):
    """Everything `evaluate` measured.

    Attributes
    ----------
    n_samples : rows (of positive weight)
    sum_weight : sum of weights, n_samples without weights
    classes : labels in column order; the last of two is the positive one
    lens : name of the lens of `errors`
    base_rate : share of each class
    accuracy : share of rows whose most probable class occurred
    auc : area under the ROC curve; mean of one-vs-rest areas for K > 2; None if undefined
    auc_by_class : one-vs-rest areas, None where a class or its complement is absent
    mean_predicted, mean_observed : means of the binary problem of `curve`
    calibration_in_the_large : mean_observed - mean_predicted
    observed_expected : mean_observed / mean_predicted, None if nothing was expected
    scores : mean score by rule, of the whole prediction
    decompositions : parts of the Brier and log score
    errors : calibration errors that fit the lens, each with its definition
    curve : reliability curve
    slope, intercept : of the recalibration line of the problem of `curve`: Cox's slope (below 1:
        too extreme) and the intercept with slope 1 (below 0: predictions too high); None if unknown
    default_error : name of the error that speaks for the lens
    verdict : about that error, in words
    confidence_level : of all intervals
    notes : statistical doubts in words
    groups : (key, Evaluation) of each subgroup, in order, if `by` was given
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("group",)
    _number_columns: ClassVar[tuple[str, ...]] = (
        "value",
        "null_mean",
        "null_q95",
        "low",
        "high",
        "pvalue",
    )

    n_samples: int
    sum_weight: float
    classes: tuple[Any, ...]
    lens: str
    base_rate: tuple[float, ...]
    accuracy: float
    auc: float | None
    auc_by_class: tuple[float | None, ...]
    mean_predicted: float
    mean_observed: float
    calibration_in_the_large: float
    observed_expected: float | None
    scores: dict[str, float]
    decompositions: tuple[Decomposition, ...]
    errors: tuple[MeasuredError, ...]
    curve: ReliabilityCurve
    confidence_level: float = 0.95
    slope: Coefficient | None = None
    intercept: Coefficient | None = None
    default_error: str = "ECE"
    verdict: str = ""
    notes: tuple[str, ...] = ()
    groups: tuple[tuple[Any, Evaluation], ...] = ()

    def error(self, name: str) -> MeasuredError:
        """Return the calibration error of that name; KeyError lists what was measured."""
        for measured in self.errors:
            if measured.name == name:
                return measured
        known = ", ".join(repr(measured.name) for measured in self.errors)
        msg = f"{name!r} was not measured; there is {known}"
        raise KeyError(msg)

    @property
    def default(self) -> MeasuredError:
        """The error that speaks for the lens, which the verdict is about."""
        return self.error(self.default_error)

    def group(self, key: Any) -> Evaluation:
        """Return the evaluation of one subgroup; KeyError lists the groups."""
        for known, evaluation in self.groups:
            if known == key:
                return evaluation
        msg = f"{key!r} is not a group; there is {[known for known, _ in self.groups]}"
        raise KeyError(msg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return evaluation_text(self)

    def _repr_html_(self) -> str:
        return evaluation_html(self)

    def _columns(self) -> dict[str, list[Any]]:
        """One row a figure; `group` is None for the whole sample, the rest for errors only."""
        rows = self._rows(None)
        for key, evaluation in self.groups:
            rows += evaluation._rows(str(key))
        figure = ("quantity", "definition", "lens", "n_samples", "value")
        names = ("group", *figure, "null_mean", "null_q95", "low", "high", "pvalue")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def _rows(self, group: str | None) -> list[tuple[Any, ...]]:
        beside = {m.name: (m.null_mean, m.null_q95, m.low, m.high, m.pvalue) for m in self.errors}
        nothing = (None,) * 5
        return [(group, *row, *beside.get(row[0], nothing)) for row in self.figures()]

    def figures(self) -> list[tuple[str, str, str, int, float | None]]:
        """Every figure as (quantity, definition, lens, n_samples, value)."""
        whole, n = "whole prediction", self.n_samples
        several = len(self.classes) > 2
        rows: list[tuple[str, str, str, int, float | None]] = [
            (f"base rate {label!r}", "share of rows", whole, n, rate)
            for label, rate in zip(self.classes, self.base_rate, strict=True)
        ]
        large, ratio = self.calibration_in_the_large, self.observed_expected
        shown = self.curve.lens
        rows += [
            ("accuracy", "most probable class, ties to the first", whole, n, self.accuracy),
            ("AUC", "mean of one-vs-rest" if several else "positive class", whole, n, self.auc),
            ("mean predicted", "mean", shown, n, self.mean_predicted),
            ("mean observed", "mean", shown, n, self.mean_observed),
            ("calibration in the large", "mean observed - mean predicted", shown, n, large),
            ("observed/expected", "mean observed / mean predicted", shown, n, ratio),
        ]
        rows += [(name, "mean score", whole, n, value) for name, value in self.scores.items()]
        for d in self.decompositions:
            for part in ("miscalibration", "discrimination", "uncertainty"):
                rows.append((f"{d.rule} {part}", d.definition, d.lens, n, getattr(d, part)))
        return rows + [(m.name, m.definition, m.lens, n, m.value) for m in self.errors]
