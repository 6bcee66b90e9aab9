"""What a map says of rows it has not seen, and how strong a penalty these rows ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from veridical._core.data.segments import Segments, cross
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.folds import held_out_masses, row_masses, rows_of_mass
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._segments.ridge import CellRows, Ridge, Scale, centred_logs
from veridical.calibrators._wrappers.wrapping import fit_part_if_possible, fresh_part, predict_part

FLOOR = 1e-12  # log probabilities of a map that says zero
PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
_CLOSE = 1e-2  # in log odds: near enough to compare penalties
_MANY, _PARTS = 50_000, 256  # rows from which like ones are pooled, and how scores are cut then
_PATIENCE = 2  # penalties without a gain after which no smaller ones are tried


@dataclass(frozen=True)
class HeldOutRows:
    """Rows with what copies of m fitted to the other folds say of them.

    Attributes
    ----------
    p : (n, K)
    y, weight, codes, fold : of each row; weights sum to the number of rows they count for
    """

    p: FloatArray
    y: IntArray
    weight: FloatArray
    codes: IntArray
    fold: IntArray

    @classmethod
    def of(cls, rows: CheckedRows, base: Calibrator, n_folds: int) -> Self | None:
        """Fit copies of a map to folds; None if some rows alone do not allow it."""
        masses, found = row_masses(rows), []
        assert rows.codes is not None
        for number, held in enumerate(held_out_masses(rows, n_folds)):
            part = fresh_part(base)
            kept, rest = rows_of_mass(rows, masses - held), rows_of_mass(rows, held)
            if fit_part_if_possible(part, kept) is None:
                return None
            weight = np.ones(len(rest.y)) if rest.weight is None else rest.weight
            p = predict_part(part, rest.values)
            found.append((p, rest.y, weight, rest.codes, np.full(len(rest.y), number)))
        if len(found) < 2:
            return None
        p, y, weight, codes, fold = (np.concatenate(each) for each in zip(*found, strict=True))
        weight = weight * (rows.size / float(weight.sum()))
        return cls(p, y, weight, codes, fold)

    def pooled(self, n_codes: Sequence[int]) -> Self:
        """Of many rows of two classes, one for those of a fold, outcome, cell and like score.

        Scores of a cell of features are averaged within parts of 1/256 of the rows: what differs
        within so small a part does not move an offset or a slope by more than noise does.
        """
        if len(self.y) <= _MANY or self.p.shape[1] > 2:
            return self
        place = cross(self.codes, n_codes).place
        order = np.argsort(self.p[:, 1], kind="stable")
        part = np.empty(len(order), dtype=np.int64)
        part[order] = np.arange(len(order)) * _PARTS // len(order)
        key = ((place * (int(self.fold.max()) + 1) + self.fold) * 2 + self.y) * _PARTS + part
        _, first, entry = np.unique(key, return_index=True, return_inverse=True)
        weight = np.bincount(entry, self.weight).astype(np.float64)
        sums = [np.bincount(entry, self.weight * column) for column in self.p.T]
        return replace(
            self,
            p=np.column_stack(sums) / weight[:, None],
            y=self.y[first],
            weight=weight,
            codes=self.codes[first],
            fold=self.fold[first],
        )

    def cells(self, place: IntArray) -> CellRows:
        """Rows as the ridge sees them."""
        return CellRows(centred_logs(self.p, FLOOR), self.y, self.weight, place)


@dataclass(frozen=True)
class Path:
    """Held-out gains over m along the penalties.

    Attributes
    ----------
    penalty : the best one; infinite if none gains
    gain, error : fall of the log loss of held-out rows, in nats a row, and its standard error
    deeper : by how much each further feature of a segment makes its penalty larger
    """

    penalty: float = math.inf
    gain: float = 0.0
    error: float = 0.0
    deeper: float = 1.0

    @property
    def is_shown(self) -> bool:
        """Whether the gain is beyond one standard error."""
        return self.gain > self.error


def best_penalty(
    held: HeldOutRows,
    place: IntArray,
    members: Any,
    depths: FloatArray,
    deeper: float,
    penalties: Sequence[float] = PENALTIES,
) -> Path:
    """Penalty of the largest gain on rows left out, fold by fold, from the largest on.

    Segments of several features, as many as `depths` say, have `deeper` times the penalty for each
    but the first.
    """
    rows = held.cells(place)
    scale = Scale.of(rows.scores, rows.weight)
    factors = deeper ** (depths - 1)
    names = np.unique(held.fold)
    fits = [Ridge(rows.take(held.fold != name), members, scale, factors) for name in names]
    left = [rows.take(held.fold == name) for name in names]
    nothing = np.zeros((members.shape[0], rows.scores.shape[1]))
    before = np.concatenate([each.losses(nothing, scale) for each in left])
    weight = np.concatenate([each.weight for each in left])
    size = float(weight.sum())
    starts: list[FloatArray | None] = [None] * len(fits)
    best, without = Path(), 0
    for penalty in penalties:
        starts = [
            fit.fit(penalty, start, close=_CLOSE) for fit, start in zip(fits, starts, strict=True)
        ]
        after = [
            each.losses(members @ theta, scale) for each, theta in zip(left, starts, strict=True)
        ]
        gains = before - np.concatenate(after)
        gain = float(np.average(gains, weights=weight))
        without += 1
        if gain > best.gain:
            error = math.sqrt(float(np.average((gains - gain) ** 2, weights=weight)) / size)
            best, without = Path(penalty, gain, error, deeper), 0
        if without >= _PATIENCE:
            break
    return best


def members_of(segments: Segments, codes: IntArray) -> Any:
    """Sparse (cells, segments), 1 where a segment holds a cell of these codes."""
    from scipy.sparse import csr_array

    found = segments.of(codes)
    cell, column = np.nonzero(found >= 0)
    shape = (len(codes), len(segments))
    return csr_array((np.ones(len(cell)), (cell, found[cell, column])), shape=shape)
