"""An evaluation's data as sums that an engine made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample
from veridical.binning import Binning, IntervalBinning, UniformBins
from veridical.evaluation._data.source import Kind, NullSource, Source, auc_of_pooled
from veridical.inference.core import Trials
from veridical.lenses import Classwise, Confidence, Lens
from veridical.miscalibration import BinnedError
from veridical.summaries import GridSummary, Summary
from veridical.summaries.core import Cells, problem_of


@dataclass(frozen=True)
class Sums(Source):
    """A table of sufficient statistics (of all its groups together), seen through a lens."""

    grid: GridSummary
    lens: Lens
    caller: str = "evaluate"

    @cached_property
    def cells(self) -> Cells:
        """Cells of the problem shown."""
        lens = Confidence() if isinstance(self.lens, Classwise) else self.lens
        return self.grid.cells(problem_of(lens, self.grid, caller=self.caller))

    @property
    def shown(self) -> BinarySample:
        """Rows that stand for all."""
        return self.cells.sample

    @property
    def kind(self) -> Kind:
        """Never whole vectors, of which there are no sums."""
        return "classwise" if isinstance(self.lens, Classwise) else "binary"

    @property
    def n(self) -> int:
        """Number of rows, not of those that stand for them."""
        return self.grid.n_samples

    @property
    def sum_weight(self) -> float:
        """Sum of weights."""
        return self.grid.sum_weight

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels; of two the positive one is last."""
        return tuple(self.grid.classes[k] for k in self._order)

    @property
    def base_rate(self) -> tuple[float, ...]:
        """Share of each class."""
        weight = self.grid.table.class_weight.sum(axis=0)
        return tuple(float(weight[k] / weight.sum()) for k in self._order)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Mean scores, from sums over all rows."""
        total = self.sum_weight
        return {rule: float(sums.sum() / total) for rule, sums in self.grid.table.scores.items()}

    @cached_property
    def areas(self) -> tuple[float | None, ...]:
        """Areas under the ROC curve, pairs within a cell counting one half."""
        if len(self.classes) == 2:
            return (auc_of_pooled(self.grid.sample("binary").pooled),) * 2
        return tuple(auc_of_pooled(self.grid.sample(k).pooled) for k in range(len(self.classes)))

    def score_of_shown(self, rule: str) -> float | None:
        """Known for the binary problem, and for the Brier score of any."""
        if problem_of(self.shown_lens, self.grid, caller=self.caller) == "binary":
            return self.scores[rule]
        if rule != "brier":
            return None
        whole = self.cells.summary(UniformBins(1))
        return float(whole.scores["brier"].sum() / whole.sum_w.sum())

    def summary(self, binning: Binning) -> Summary:
        """Sums by bin of the problem shown."""
        assert isinstance(binning, IntervalBinning)
        return self.cells.summary(binning)

    def binned(self, estimator: BinnedError, through: Lens) -> Summary:
        """Sums by bin of the problem of a lens."""
        if isinstance(through, Classwise):
            return self.grid.summary(estimator.binning, "classwise")
        return self.summary(estimator.binning)

    def null_of(self, through: Lens) -> NullSource | None:
        """Counts by cell; nothing is known of how the outcomes of several classes go together."""
        if isinstance(through, Classwise):
            return None
        return NullSource(self.shown, outcomes_of(self.cells))

    @property
    def _order(self) -> tuple[int, ...]:
        positive = self.grid.table.positive
        if len(self.grid.classes) > 2:
            return tuple(range(len(self.grid.classes)))
        return 1 - positive, positive


def outcomes_of(cells: Cells) -> Trials | None:
    """What is drawn for weighted cells; None where the frequencies say it.

    Where weights differ, as many outcomes as rows, each counting so much that the sum of a cell
    has the mean and the variance (sum of w^2 p (1 - p)) of the weighted rows.
    """
    if cells.unit == 1:
        return None
    count, variance = cells.sums[0].sum(axis=1), cells.sums[5].sum(axis=1)
    if cells.unit is not None:
        return Trials(cells.p, count, cells.unit)
    of_one = count * cells.p * (1 - cells.p)
    unit = np.sqrt(np.divide(variance, of_one, out=np.zeros(len(count)), where=of_one > 0))
    return Trials(cells.p, count, unit)
