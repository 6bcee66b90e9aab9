"""The result of `compare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from veridical._core.runtime.text import WIDTH, table_lines, wrapped
from veridical.results._forms.names import find_name
from veridical.results._forms.text import note_lines, number_or_blank
from veridical.results.base import Difference, Result, columns_of, format_pvalue
from veridical.results.evaluation import Evaluation
from veridical.results.tests import ConsistencyTest

_DIFFERENCES = "paired differences, first minus second: negative means the first is better"
_FEW = 12  # differences that `str` lists whole


@dataclass(frozen=True, kw_only=True, repr=False)
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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Comparison(Result):
    """Several models on the same rows.

    Attributes
    ----------
    models : names, in the order given
    evaluations : evaluation of each model, with its verdict
    tests : consistency test of each model's calibration error
    differences : paired differences of every pair (or with the reference) and figure
    lens, n_samples, confidence_level : of all of them
    notes : statistical doubts in words
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("first", "second", "figure", "definition", "lens")
    _header: ClassVar[tuple[str, ...]] = ("figure", "difference", "interval", "p", "Holm")

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

    def __getitem__(self, model: str) -> Evaluation:
        """The evaluation of one model."""
        return self.evaluation(model)

    def test(self, model: str) -> ConsistencyTest:
        """Return the consistency test of one model; KeyError lists the models."""
        return self.tests[self._index(model)]

    def difference(self, first: str, second: str, figure: str) -> Difference:
        """Return a paired difference, first minus second; KeyError lists the figures there are."""
        first, second = (self.models[self._index(each)] for each in (first, second))
        known = {
            d.difference.estimator: d.difference if d.first == first else d.difference.reversed()
            for d in self.differences
            if {d.first, d.second} == {first, second}
        }
        why = "".join(f" ({note})" for note in self.notes if figure in note)
        return known[find_name(figure, known, caller=f"difference of {first} and {second}{why}")]

    def _text(self) -> str:
        """Each model in a line, and how they differ by the log score if pairs are many."""
        few = len(self.differences) <= _FEW
        rows = [row for row in self._difference_rows() if few or row[1] == "log"]
        words = [f"  {m}: {e.verdict.in_short}" for m, e in self._pairs() if e.verdict.in_short]
        return "\n".join(self._lines(WIDTH, ["", *words] if words else [], rows))

    def to_text(self, *, width: int = WIDTH) -> str:
        """Each model, and how they differ on the same rows."""
        words: list[str] = []
        for model, e in self._pairs():
            if e.verdict.text:
                words += ["", *wrapped(f"{model}: {e.verdict.text}", width, hanging=4)]
        return "\n".join(self._lines(width, words, self._difference_rows()))

    def _lines(self, width: int, verdicts: list[str], rows: list[tuple[str, ...]]) -> list[str]:
        header, cells = self._model_table()
        models = [(model, *row) for model, row in zip(self.models, cells, strict=True)]
        lines = [*wrapped(self._headline(), width, indent=0, hanging=2), ""]
        drop = ("accuracy", "null")
        lines += table_lines(("model", *header), models, width=width, words=("model",), drop=drop)
        lines += [*verdicts, "", *wrapped(_DIFFERENCES, width)]
        if len({pair for pair, *_ in rows}) == 1:  # one pair need not be named in each line
            lines += wrapped(rows[0][0], width)
            rows = [("", *row[1:]) for row in rows]
        words = ("models", "figure")
        lines += table_lines(("models", *self._header), rows, width=width, words=words)
        return [*lines, *note_lines(self.notes, width=width)]

    def _pairs(self) -> zip[tuple[str, Evaluation]]:
        return zip(self.models, self.evaluations, strict=True)

    def _columns(self) -> dict[str, list[Any]]:
        """One row a difference."""
        ds = self.differences
        names = ("estimate", "low", "high", "pvalue", "definition", "lens", "n_samples")
        return {
            "first": [d.first for d in ds],
            "second": [d.second for d in ds],
            "figure": [d.difference.estimator for d in ds],
            **columns_of((d.difference for d in ds), names),
            "adjusted": [d.adjusted for d in ds],
        }

    def _index(self, model: str) -> int:
        return self.models.index(find_name(model, self.models, caller="Comparison"))

    def _headline(self) -> str:
        return (
            f"Comparison of {len(self.models)} models on {self.n_samples:,} rows, {self.lens} lens"
        )

    def _model_table(self) -> tuple[list[str], list[tuple[str, ...]]]:
        error = self.tests[0].null_level.estimator
        header = ["brier", "log", "accuracy", "AUC", error, "null", "95 % up to", "p"]
        rows = []
        for e, test in zip(self.evaluations, self.tests, strict=True):
            level = test.null_level
            own = (e.scores["brier"], e.scores["log"], e.accuracy, e.auc)
            tested = (test.statistic, level.mean, level.quantile(0.95))
            numbers = map(number_or_blank, (*own, *tested))
            rows.append((*numbers, format_pvalue(test.pvalue, test.n_resamples)))
        return header, rows

    def _difference_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for d in self.differences:
            value = d.difference
            limits = f"{value.low:+.5f} to {value.high:+.5f}"
            row = (f"{d.first} - {d.second}", value.estimator, f"{value.estimate:+.5f}", limits)
            rows.append((*row, format_pvalue(value.pvalue), format_pvalue(d.adjusted)))
        return rows
