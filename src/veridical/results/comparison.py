"""The result of `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

from veridical.results.base import Difference, Result, format_pvalue
from veridical.results.evaluation import Evaluation, html_table
from veridical.results.tests import ConsistencyTest


@dataclass(frozen=True, kw_only=True)
class ModelDifference(Result):
    """Paired difference of one figure between two named models.

    Attributes
    ----------
    first, second : names of the models
    difference : of the figure, first minus second, with interval and p-value
    adjusted : p-value corrected for the number of pairs compared (Holm)
    """

    first: str
    second: str
    difference: Difference
    adjusted: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(Result):
    """Several models on the same rows.

    Attributes
    ----------
    models : names, in the order given
    evaluations : evaluation of each model
    tests : consistency test of each model's calibration error
    differences : paired differences of every pair (or with the reference) and figure
    lens, n_samples, confidence_level : of all of them
    notes : statistical doubts in words
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("first", "second", "figure", "definition", "lens")

    models: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    tests: tuple[ConsistencyTest, ...]
    differences: tuple[ModelDifference, ...]
    lens: str
    n_samples: int
    confidence_level: float
    notes: tuple[str, ...] = ()

    def evaluation(self, model: str) -> Evaluation:
        """Return the evaluation of one model; KeyError lists the models."""
        return self.evaluations[self._index(model)]

    def test(self, model: str) -> ConsistencyTest:
        """Return the consistency test of one model; KeyError lists the models."""
        return self.tests[self._index(model)]

    def difference(self, first: str, second: str, figure: str) -> Difference:
        """Return a paired difference, first minus second; KeyError lists the figures there are."""
        self._index(first), self._index(second)
        known = []
        for d in self.differences:
            if {d.first, d.second} == {first, second}:
                known.append(d.difference.estimator)
                if known[-1] == figure:
                    return d.difference if d.first == first else d.difference.reversed()
        why = "".join(f" ({note})" for note in self.notes if figure in note)
        msg = f"{first!r} - {second!r} of {figure!r} was not computed{why}; there is {known}"
        raise KeyError(msg)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Comparison) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        width = max(12, *(len(model) + 2 for model in self.models))
        header, rows = self._model_table()
        lines = [
            self._headline(),
            "",
            f"  {'model':<{width}}" + "".join(f"{h:>13}" for h in header),
        ]
        lines += [
            f"  {model:<{width}}" + "".join(f"{cell:>13}" for cell in row)
            for model, row in zip(self.models, rows, strict=True)
        ]
        lines += [
            "",
            "  paired differences, first minus second: negative means the first is better",
        ]
        wide = max(20, *(len(pair) + 2 for pair, *_ in self._difference_rows()))
        header = ["figure", "difference", "interval", "p", "Holm"]
        spans = (26, 12, 22, 9, 9)
        titles = f"{header[0]:<{spans[0]}}" + _cells(header[1:], spans[1:])
        lines.append(f"  {'models':<{wide}}{titles}")
        for pair, figure, *numbers in self._difference_rows():
            lines.append(f"  {pair:<{wide}}{figure:<{spans[0]}}{_cells(numbers, spans[1:])}")
        if self.notes:
            lines += ["", *(f"  note: {note}" for note in self.notes)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header, rows = self._model_table()
        pairs = zip(self.models, rows, strict=True)
        parts = [
            f"<p><strong>{escape(self._headline())}</strong></p>",
            html_table(["model", *header], [(model, *row) for model, row in pairs]),
            "<p>paired differences, first minus second: negative means the first is better</p>",
            html_table(
                ["models", "figure", "difference", "interval", "p", "Holm"], self._difference_rows()
            ),
        ]
        if self.notes:
            parts.append("<ul>" + "".join(f"<li>{escape(n)}</li>" for n in self.notes) + "</ul>")
        return "<div>" + "".join(parts) + "</div>"

    def _columns(self) -> dict[str, list[Any]]:
        """One row a difference."""
        ds = self.differences
        names = ("estimate", "low", "high", "pvalue", "definition", "lens", "n_samples")
        return {
            "first": [d.first for d in ds],
            "second": [d.second for d in ds],
            "figure": [d.difference.estimator for d in ds],
            **{name: [getattr(d.difference, name) for d in ds] for name in names},
            "adjusted": [d.adjusted for d in ds],
        }

    def _index(self, model: str) -> int:
        if model not in self.models:
            msg = f"{model!r} is not a model; there is {list(self.models)}"
            raise KeyError(msg)
        return self.models.index(model)

    def _headline(self) -> str:
        return (
            f"Comparison of {len(self.models)} models on {self.n_samples:,} rows, {self.lens} lens"
        )

    def _model_table(self) -> tuple[list[str], list[tuple[str, ...]]]:
        error = self.tests[0].null_level.estimator
        header = ["brier", "log", "accuracy", "AUC", error, "null", "95 % up to", "consistency"]
        rows = []
        for e, test in zip(self.evaluations, self.tests, strict=True):
            level = test.null_level
            values = (e.scores["brier"], e.scores["log"], e.accuracy, e.auc, test.statistic,
                      level.mean, level.quantile(0.95))  # fmt: skip
            shown = ["" if value is None else f"{value:.4f}" for value in values]
            rows.append((*shown, f"p={format_pvalue(test.pvalue)}"))
        return header, rows

    def _difference_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for d in self.differences:
            value = d.difference
            limits = f"{value.low:+.5f} to {value.high:+.5f}"
            row = (f"{d.first} - {d.second}", value.estimator, f"{value.estimate:+.5f}", limits)
            rows.append((*row, format_pvalue(value.pvalue), format_pvalue(d.adjusted)))
        return rows


def _cells(values: Sequence[str], spans: Sequence[int]) -> str:
    return "".join(f"{value:>{span}}" for value, span in zip(values, spans, strict=True))
