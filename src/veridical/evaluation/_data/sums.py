"""An evaluation's data as sums that an engine made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.data.validation import is_integer
from veridical._core.resampling.hypothesis import cell_variances
from veridical._core.sample import BinarySample, weighted_mean
from veridical.binning import Binning, IntervalBinning, UniformBins
from veridical.evaluation._data.areas import auc_of_pooled
from veridical.evaluation._data.null_levels import NullSource
from veridical.evaluation._data.source import Kind, SampleSource, Source
from veridical.evaluation._data.together import notes_on_groups
from veridical.frames.inputs import UNNAMED, Named
from veridical.inference.draws import Trials
from veridical.lenses import Binary, Classwise, Lens
from veridical.miscalibration import BinnedError
from veridical.summaries import GridSummary, Summary, VectorSummary
from veridical.summaries.core import Cells, find_problem, problem_of


@dataclass(frozen=True)
class SumsSource(Source):
    """A table of sufficient statistics (of all its groups together), seen through a lens.

    Attributes
    ----------
    grid : the table
    lens : through which it is seen
    caller : the function that was asked
    guessed : what was guessed about the columns, or None
    named : what outcome and prediction are called
    asked : whether the user asked for this lens; whole predictions are judged otherwise
    said : what was done to values when they were read, or accepted of them
    """

    grid: GridSummary
    lens: Lens
    caller: str = "evaluate"
    guessed: str | None = None
    named: Named = UNNAMED
    asked: bool = False
    said: tuple[str, ...] = ()

    @cached_property
    def cells(self) -> Cells:
        """Cells of `binary`."""
        return self.grid.cells(problem_of(self.binary_lens, self.grid, caller=self.caller))

    @property
    def binary(self) -> BinarySample:
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
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.grid.weighted

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels; of two the positive one is last."""
        return tuple(self.grid.classes[k] for k in self._order)

    @property
    def base_rate(self) -> tuple[float, ...]:
        """Share of each class."""
        weight = self.grid.table.class_weight.sum(axis=0)
        return tuple(float(weight[k] / weight.sum()) for k in self._order)

    @property
    def mean_by_class(self) -> tuple[float, ...]:
        """Mean probability of each class."""
        parts = [self.grid.sample(k) for k in self._order]
        return tuple(weighted_mean(part.p, part.weight) for part in parts)

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

    def score_of_binary(self, rule: str) -> float | None:
        """Known for the binary problem, and for the Brier score of any."""
        if problem_of(self.binary_lens, self.grid, caller=self.caller) == "binary":
            return self.scores[rule]
        if rule != "brier":
            return None
        all_rows = self.cells.summary(UniformBins(1))
        return float(all_rows.scores["brier"].sum() / all_rows.sum_w.sum())

    def through(self, lens: Lens) -> BinarySample | None:
        """Rows that stand for all, if the table holds the problem."""
        problem = find_problem(lens, self.grid)
        return self.grid.sample(problem) if problem in self.grid.problems else None

    def summary(self, binning: Binning) -> Summary:
        """Sums by bin of `binary`."""
        assert isinstance(binning, IntervalBinning)
        return self.cells.summary(binning)

    def binned(self, estimator: BinnedError, through: Lens) -> Summary:
        """Sums by bin of the problem of a lens."""
        if isinstance(through, Classwise):
            return self.grid.summary(estimator.binning, "classwise")
        return self.summary(estimator.binning)

    def independent(
        self, summary: Summary | VectorSummary, *, each: bool = False
    ) -> Summary | VectorSummary:
        """Bins of sizes that weights leave; rows of an engine are taken as independent."""
        if not self.cells.weighted or not isinstance(summary, Summary) or len(summary.names) > 1:
            return summary
        cells, usual = self.cells, self.cells.sums[5].sum(axis=1)
        variance = cell_variances(cells.p, cells.sums[:3])
        bins, size = summary.partitions[0].assign(cells.p), summary.sum_w.shape[1]
        own, alone = (np.bincount(bins, values, minlength=size) for values in (variance, usual))
        factor = np.divide(own, alone, out=np.ones(size), where=alone > 0)
        square = summary.sum_w if summary.weight_type == "frequency" else summary.sum_w2
        return replace(summary, sum_w2=square * factor, weight_type="importance")

    @property
    def size(self) -> float:
        """Effective number of rows."""
        return self.binary.size

    def null_of(self, through: Lens) -> NullSource | None:
        """Counts by cell; nothing is known of how the outcomes of several classes go together."""
        if isinstance(through, Classwise):
            return None
        problem = self.binary
        assert problem.weight is not None
        unit = float(problem.weight.sum()) / self.sum_weight
        return NullSource(problem, outcomes_of(self.cells), unit)

    def groups(self) -> Iterator[tuple[Any, SumsSource]]:
        """Sums of every subgroup."""
        for key in self.grid.groups:
            yield key, self.group(key)

    @property
    def keys(self) -> tuple[Any, ...]:
        """Keys of the subgroups."""
        return tuple(self.grid.groups)

    def copied(self) -> SumsSource:
        """The sums, which nobody changes."""
        return self

    def group(self, key: Any) -> SumsSource:
        """Sums of one subgroup."""
        return replace(self, grid=self.grid.group(key), guessed=None, said=())

    def some_rows(self, most: int, seed: int) -> tuple[SampleSource, str] | LeftOut:
        """Rows of two classes drawn from the cells, as often as these hold rows."""
        if self.has_classes:
            return LeftOut(
                "calibrators of several classes need whole rows, and these were summed up; read a"
                " sample of them to see it"
            )
        sample = self.grid.sample("binary")
        assert sample.weight is not None
        n = min(most, self.n)
        share = sample.weight / sample.weight.sum()
        counts = np.random.default_rng(seed).multinomial(n, share)
        rows = replace(sample, weight=None, weight_type="importance", classes=(0, 1))
        drawn = rows.take(np.repeat(np.arange(len(counts)), counts))
        note = f"measured on {n:,} rows drawn from the sums of {self.n:,} (seed {seed})"
        return SampleSource(drawn, Binary()), note

    @property
    def _order(self) -> tuple[int, ...]:
        positive = self.grid.table.positive
        if len(self.grid.classes) > 2:
            return tuple(range(len(self.grid.classes)))
        return 1 - positive, positive


def outcomes_of(cells: Cells) -> Trials | None:
    """What is drawn for weighted cells; None where the frequencies say it.

    Where weights differ, as many outcomes as rows, each counting so much that the sum of a cell
    has the mean and the variance of the weighted rows.
    """
    if cells.unit == 1:
        return None
    count = cells.sums[0].sum(axis=1)
    if cells.unit is not None:
        return Trials(cells.p, count, cells.unit)
    variance = cell_variances(cells.p, cells.sums[:3])
    of_one = count * cells.p * (1 - cells.p)
    unit = np.sqrt(np.divide(variance, of_one, out=np.zeros(len(count)), where=of_one > 0))
    return Trials(cells.p, count, unit)


About = Literal["figures", "models", "tests"]


def notes_on_origin(source: Source, n_bins: Any, about: About = "figures") -> list[str]:
    """What was guessed, and how exact figures are that no row was kept for; no doubts."""
    guessed = [] if source.guessed is None else [source.guessed]
    together = notes_on_groups(source.sample) if isinstance(source, SampleSource) else []
    return [*guessed, *source.said, *together, *notes_on_sums(source, n_bins, about)]


def notes_on_sums(source: Source, n_bins: Any, about: About = "figures") -> list[str]:
    """How exact figures are that no row was kept for; nothing to say of rows."""
    if not isinstance(source, SumsSource):
        return []
    grid = source.grid
    exact = {
        "figures": "counts, scores and what these bins decide are exact; {limits}",
        "models": (
            "scores, differences and what these bins decide are exact, AUC, KS and smECE are of"
            " rows moved within their cell"
        ),
        "tests": (
            "consistency tests are those of the rows, other tests see rows at the mean of their"
            " cell"
        ),
    }[about]
    limits = _limits(source) if about == "figures" else ""
    notes = [
        f"made from sums by {grid.n_bins} bins and by cells no wider than 1/{grid.resolution:,}:"
        f" {exact.format(limits=limits)}",
        *_other_bins(grid, n_bins),
        *_weights(source),
    ]
    if about == "figures" and (source.kind == "classwise" or source.has_classes):
        notes.append(
            "classwise errors have no null level here, and whole vectors are not judged: sums do"
            " not tell how the classes of a row go together"
        )
    return notes


def _limits(source: SumsSource) -> str:
    cells = source.cells
    if cells.largest_share == 0:
        return "so is the rest, as predictions within a cell are equal"
    problems = ["binary"] if len(source.classes) == 2 else range(len(source.classes))
    ties = [source.grid.cells(problem).tied_pairs / 2 for problem in problems]
    return (
        f"AUC is right to within {sum(ties) / len(ties):.1e}, KS is at most"
        f" {cells.largest_excess:.1e} too small, other figures are of rows moved within their cell"
    )


def _other_bins(grid: GridSummary, n_bins: Any) -> list[str]:
    if is_integer(n_bins) and grid.n_bins % int(n_bins) == 0:
        return []
    return [
        f"{n_bins if is_integer(n_bins) else repr(n_bins)} bins are not made of the {grid.n_bins}"
        " of the summary: rows count in the bin of the mean of their cell"
    ]


def _weights(source: SumsSource) -> list[str]:
    if not source.grid.weighted:
        return []
    return [
        "weights enter what is not binned by their effective number,"
        f" {source.cells.size:,.0f} of {source.n:,} rows"
    ]
