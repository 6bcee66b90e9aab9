"""The cells of one problem of a grid, both outcomes side by side, and as dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import IntervalBinning
from veridical.frames.tables import GridTable
from veridical.summaries._bins.build import summary_of
from veridical.summaries._bins.summary import Summary
from veridical.summaries._bins.sums import Sums, from_cells

INDICES = ("group", "problem", "bin", "cell", "outcome")
SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wp2", "sum_w2pq")
_DUST = 1e-13  # relative rounding error of a variance from sums, times some


@dataclass(frozen=True)
class Cells:
    """Sums by cell of rows with predictions close to each other, in increasing order.

    Attributes
    ----------
    bin : index of the equal-width bin each cell lies in
    n_bins : number of these bins
    sums : array of shape (6, m, 2), the sums named in `SUMS` by cell and outcome
    classes : names of the two outcomes
    """

    bin: IntArray
    n_bins: int
    sums: FloatArray
    classes: tuple[Any, Any]

    @cached_property
    def unit(self) -> float | None:
        """Weight of every row, if it is the same for all (1 without weights)."""
        return same_weight(*self.sums[:3].sum(axis=(1, 2)))

    @property
    def weighted(self) -> bool:
        """Whether rows weigh differently."""
        return self.unit is None

    @cached_property
    def p(self) -> FloatArray:
        """Mean prediction of each cell, within its bin whatever rounding does."""
        w, wp = self.sums[1].sum(axis=1), self.sums[3].sum(axis=1)
        edges = np.arange(self.n_bins + 1) / self.n_bins
        above = np.where(self.bin == 0, 0.0, np.nextafter(edges[self.bin], 1.0))
        return np.clip(wp / w, above, edges[self.bin + 1])

    @property
    def size(self) -> float:
        """Kish's effective number of rows."""
        return float(self.sums[1].sum() ** 2 / self.sums[2].sum())

    @cached_property
    def sample(self) -> BinarySample:
        """A row for each cell and outcome, as often as its frequency says.

        Frequencies are numbers of rows; of weighted rows, weights that sum to their effective
        number.
        """
        weight = self.sums[0]
        if self.weighted:
            weight = self.sums[1] * (self.size / self.sums[1].sum())
        held = weight > 0
        return BinarySample(
            y=np.broadcast_to(np.arange(2), held.shape)[held].astype(np.uint8),
            p=np.broadcast_to(self.p[:, None], held.shape)[held],
            weight=weight[held],
            weight_type="frequency",
            classes=self.classes,
        )

    def summary(self, binning: IntervalBinning) -> Summary:
        """Sums by bin; exact if every edge of the bins is one of those of the grid."""
        return summary_of_cells([self], binning)

    @property
    def tied_pairs(self) -> float:
        """Share of the pairs of a positive and a negative row that lie in one cell, apart."""
        negative, positive = np.where(self.spread > 0, self.sums[1].T, 0.0)
        pairs = np.prod(self.sums[1].sum(axis=0))
        return float(negative @ positive / pairs) if pairs > 0 else 0.0

    @property
    def largest_excess(self) -> float:
        """Most that cumulated differences of outcomes and predictions exceed those at the ends.

        Within a cell their sum rises by U in all (outcomes that happened) and falls by D; between
        its values at the two ends and beyond them it can go min(U, D) at most.
        """
        w, wp = self.sums[1], self.sums[3]
        rise, fall = w[:, 1] - wp[:, 1], wp[:, 0]
        apart = self.spread > 0
        return float(np.minimum(rise, fall)[apart].max(initial=0.0) / w.sum())

    @property
    def largest_share(self) -> float:
        """Largest share of the weight in a cell whose predictions differ."""
        w = self.sums[1].sum(axis=1)
        return float(w[self.spread > 0].max(initial=0.0) / w.sum())

    @cached_property
    def spread(self) -> FloatArray:
        """Variance of the predictions of each cell, none where that is rounding."""
        w, wp, wp2 = (self.sums[i].sum(axis=1) for i in (1, 3, 4))
        variance = wp2 / w - (wp / w) ** 2
        return np.where(variance > _DUST * (wp2 / w), variance, 0.0)


def summary_of_cells(problems: Sequence[Cells], binning: IntervalBinning) -> Summary:
    """Sums by bin of several problems side by side."""
    partitions = [binning.fit(cells.sample) for cells in problems]
    parts: list[tuple[Sums, dict[str, FloatArray]]] = []
    for cells, partition in zip(problems, partitions, strict=True):
        bins = partition.assign(cells.p)
        each = np.zeros((5, partition.n_cells, 2))
        for total, values in zip(each, cells.sums[:5], strict=True):
            np.add.at(total, bins, values)
        sums = from_cells(each.reshape(5, -1))
        sums["sum_wpq"] = np.maximum(sums["sum_wpq"], 0.0)
        parts.append((sums, {}))
    return summary_of(parts, partitions, tuple(cells.classes[1] for cells in problems))


def same_weight(count: float, w: float, w2: float) -> float | None:
    """Weight that all rows have, from their number and the sums of w and w^2; None if they differ.

    By Cauchy and Schwarz (sum w)^2 <= n sum w^2, with equality for equal weights only.
    """
    return float(w / count) if count * w2 - w * w <= _DUST * w * w else None


def cells_of(table: GridTable, problem: int, group: int | None) -> Cells:
    """Cells of a problem, of one group or of all groups together."""
    rows = table.problem == problem
    if group is not None:
        rows &= table.group == group
    at = np.flatnonzero(rows)
    cell, outcome = table.cell[at].astype(np.int64), table.outcome[at].astype(np.intp)
    width = int(cell.max()) + 1 if at.size else 1
    keys, place = np.unique(table.bin[at].astype(np.int64) * width + cell, return_inverse=True)
    place = place.reshape(-1) * 2 + outcome
    sums = np.empty((len(SUMS), 2 * len(keys)))
    for row, name in zip(sums, SUMS, strict=True):
        row[:] = np.bincount(place, weights=getattr(table, name)[at], minlength=len(row))
    return Cells(
        (keys // width).astype(np.intp),
        table.n_bins,
        sums.reshape(len(SUMS), -1, 2),
        _outcome_names(table, table.problems[problem]),
    )


def _outcome_names(table: GridTable, problem: str | int) -> tuple[Any, Any]:
    if problem == "binary":
        return table.classes[1 - table.positive], table.classes[table.positive]
    if problem == "confidence":
        return "wrong", "right"
    return "rest", table.classes[int(problem)]
