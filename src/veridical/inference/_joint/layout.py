"""Where the outcome of a row of several classes counts, whatever it is: found without outcomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.resampling.rows import counts_rows
from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._joint.forms import log_odds, upper_edges, with_corners

_EVEN = 1e-12  # variance of predictions below which a cell is not split
MOST_DRAWN = 20_000  # rows whose outcomes are drawn one by one
_CONFIDENCE_CELLS, _CLASS_CELLS, _GROUP_CELLS = 64, 16, 8
_VECTOR_CELLS, _MOST_VECTOR_SUMS = 128, 4096
_ROWS = 1 << 15


class Rows(NamedTuple):
    """Some rows: probabilities in the order of the layout, most probable class, weight, group."""

    p: FloatArray
    top: IntArray
    weight: FloatArray | None
    codes: IntArray | None


class Sums(NamedTuple):
    """Sums over all rows by column of a block.

    Attributes
    ----------
    residual : of w (1[y = k] - p_k), as observed
    mean, variance : of the sum of w 1[y = k] if outcomes are drawn from p
    unit : sum of w^2 p (1 - p) over that of w p (1 - p), what one outcome counts
    odds : mean log odds of p_k, by variance
    """

    residual: FloatArray
    mean: FloatArray
    variance: FloatArray
    unit: FloatArray
    odds: FloatArray


@dataclass(frozen=True)
class Layout:
    """Cells of confidences, of every class and of whole vectors, by groups if there are any.

    Attributes
    ----------
    order : columns of the sample in an order that their predictions decide, not their names
    drawn : rows whose outcomes are drawn: all, or some that are spread evenly
    confidence : upper edges of the cells of the confidence
    classes : upper edges for every class
    splits, n_vectors : cells of whole vectors
    coarse : upper edges of confidence cells within groups
    n_groups : 0 without groups
    """

    order: IntArray
    drawn: IntArray
    confidence: FloatArray
    classes: list[FloatArray]
    splits: list[Split]
    n_vectors: int
    coarse: FloatArray
    n_groups: int

    @property
    def columns(self) -> dict[str, int]:
        """How many sums each block has."""
        k = len(self.order)
        return {
            "confidence": len(self.confidence),
            "class": k * _CLASS_CELLS,
            "vector": self.n_vectors * k,
            "group confidence": self.n_groups * len(self.coarse),
            "group class": self.n_groups * k,
        }

    def keys(self, rows: Rows, block: str) -> IntArray:
        """Column of a block in which each row counts if class k occurs, (K, rows).

        One beyond the last is nowhere.
        """
        n_classes = len(self.order)
        each = np.arange(n_classes)[:, None]
        if block == "class":
            cells = [
                k * _CLASS_CELLS + np.minimum(np.searchsorted(edges, rows.p[:, k]), len(edges) - 1)
                for k, edges in enumerate(self.classes)
            ]
            return np.stack(cells)
        if block == "vector":
            return split_cells(rows.p, self.splits) * n_classes + each
        if block == "group class":
            assert rows.codes is not None
            return rows.codes * n_classes + each
        edges = self.confidence if block == "confidence" else self.coarse
        largest = rows.p[np.arange(len(rows.top)), rows.top]
        cell = np.minimum(np.searchsorted(edges, largest), len(edges) - 1)
        if block == "group confidence":
            assert rows.codes is not None
            cell += rows.codes * len(edges)
        return np.where(rows.top == each, cell, self.columns[block])


def layout_of(sample: MulticlassSample, codes: IntArray | None, n_groups: int) -> Layout:
    """Cells for a sample; of very many rows some decide where they are cut."""
    order = class_order(sample.p)
    drawn = spread_rows(sample, order)
    some = sample.p[drawn][:, order].astype(np.float64, copy=False)
    largest = np.sort(some.max(axis=1))
    spread = largest * (1 - largest)
    classes = []
    for k in range(len(order)):
        column = np.sort(some[:, k])
        classes.append(upper_edges(column, column * (1 - column), _CLASS_CELLS))
    most = max(8, min(_VECTOR_CELLS, _MOST_VECTOR_SUMS // len(order)))
    splits = variance_splits(some, most)
    return Layout(
        order,
        drawn,
        with_corners(upper_edges(largest, spread, _CONFIDENCE_CELLS), largest),
        classes,
        splits,
        1 + sum(int((cut.new != np.arange(len(cut.new))).sum()) for cut in splits),
        upper_edges(largest, spread, _GROUP_CELLS),
        n_groups if codes is not None else 0,
    )


class Split(NamedTuple):
    """Cells cut in two, all at once: rows with p[column] > at go to the cell of number `new`.

    By cell; one that is not cut has its own number as `new`.
    """

    column: IntArray
    at: FloatArray
    new: IntArray


def variance_splits(p: FloatArray, most: int) -> list[Split]:
    """Cut cells whose vectors vary, where the most varying class has its mean, again and again.

    Vaicenavicius et al. (2019), arXiv 1902.06977, appendix B.1.2, with the mean for the median so
    that equal vectors stay together. If not all can be cut those that vary most in all are.
    """
    splits: list[Split] = []
    cell: IntArray = np.zeros(len(p), dtype=np.intp)
    n_cells = 1
    while n_cells < most:
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(n_cells))
        rows = np.diff(starts, append=len(p))[:, None]
        held = p[order]
        mean = np.add.reduceat(held, starts, axis=0) / rows
        variance = np.add.reduceat(np.square(held), starts, axis=0) / rows - np.square(mean)
        varies = variance.sum(axis=1)
        cut = np.flatnonzero(varies > _EVEN)
        if not cut.size:
            break
        cut = cut[np.argsort(-(varies * rows[:, 0])[cut], kind="stable")][: most - n_cells]
        column = variance.argmax(axis=1)
        new = np.arange(n_cells)
        new[cut] = n_cells + np.arange(len(cut))
        splits.append(Split(column, mean[np.arange(n_cells), column], new))
        cell = _cut(p, cell, splits[-1])
        n_cells += len(cut)
    return splits


def split_cells(p: FloatArray, splits: list[Split]) -> IntArray:
    """Cell of each row."""
    cell: IntArray = np.zeros(len(p), dtype=np.intp)
    for split in splits:
        cell = _cut(p, cell, split)
    return cell


def _cut(p: FloatArray, cell: IntArray, split: Split) -> IntArray:
    beyond = p[np.arange(len(p)), split.column[cell]] > split.at[cell]
    return np.where(beyond, split.new[cell], cell)


def class_order(p: FloatArray) -> IntArray:
    """Columns by their mean and mean square, so that naming classes anew changes nothing."""
    first = p.mean(axis=0, dtype=np.float64)
    second = np.einsum("ik,ik->k", p, p, dtype=np.float64)
    return np.lexsort((second, first))


def spread_rows(sample: MulticlassSample, order: IntArray) -> IntArray:
    """At most `MOST_DRAWN` rows, evenly spread along one direction of the predictions.

    Also an order of the rows that their predictions (and weights) decide.
    """
    direction = np.sqrt(np.arange(2.0, len(order) + 2)) % 1
    along = np.zeros(sample.n)
    for k, column in enumerate(order):
        along += direction[k] * sample.p[:, column]
    if sample.weight is None or not counts_rows(sample):
        ordered = np.argsort(along, kind="stable")
        n = min(sample.n, MOST_DRAWN)
        return ordered[((np.arange(n) + 0.5) * (sample.n / n)).astype(np.intp)]
    ordered = np.lexsort((sample.weight, along))
    upto = np.cumsum(sample.weight[ordered])
    n = min(MOST_DRAWN, int(upto[-1]))
    return ordered[np.searchsorted(upto, (np.arange(n) + 0.5) * (upto[-1] / n))]


def outcomes_in(sample: MulticlassSample) -> int:
    """How many outcomes a sample holds: rows, or the sum of whole frequencies."""
    if sample.weight is None or not counts_rows(sample):
        return sample.n
    return int(sample.weight.sum())


def rows_of(
    sample: MulticlassSample, layout: Layout, codes: IntArray | None, at: IntArray | slice
) -> Rows:
    """Some rows in the order of the classes of a layout, each with the weight of one outcome."""
    place = np.argsort(layout.order)
    p = sample.p[at]
    return Rows(
        p[:, layout.order].astype(np.float64, copy=False),
        place[p.argmax(axis=1)],
        None if sample.weight is None or counts_rows(sample) else sample.weight[at],
        None if codes is None else codes[at],
    )


def in_order(sample: MulticlassSample, layout: Layout) -> MulticlassSample:
    """The sample with its classes in the order of a layout."""
    place = np.argsort(layout.order)
    order = tuple(sample.classes[k] for k in layout.order)
    return replace(
        sample,
        p=sample.p[:, layout.order],
        y=place[sample.y],
        classes=order,
        confidence=None,
        right=None,
    )


def all_sums(
    sample: MulticlassSample, layout: Layout, codes: IntArray | None, blocks: list[str]
) -> dict[str, Sums]:
    """Sums of all rows by the columns of each block."""
    total = {name: np.zeros((5, layout.columns[name] + 1)) for name in blocks}
    place = np.argsort(layout.order)
    rows_at_once = max(256, _ROWS * 8 // len(layout.order))
    for at in row_blocks(sample.n, rows_at_once):
        rows = rows_of(sample, layout, codes, at)
        p = rows.p.T
        w = np.ones(p.shape[1]) if sample.weight is None else sample.weight[at]
        square = w if rows.weight is None else w * w
        mean = w * p
        first, spread = mean * (1 - p), square * p * (1 - p)
        odds, y = spread * log_odds(p), place[sample.y[at]]
        happened = np.arange(len(y))
        for name in blocks:
            keys = layout.keys(rows, name)
            size = total[name].shape[1]
            flat = keys.ravel()
            seen = np.bincount(keys[y, happened], weights=w, minlength=size)
            values = [
                np.bincount(flat, weights=v.ravel(), minlength=size)
                for v in (mean, first, spread, odds)
            ]
            total[name] += np.stack([seen, *values])
    result = {}
    for name in blocks:
        seen, mean, first, variance, odds = total[name][:, :-1]
        unit = np.divide(variance, first, out=np.zeros_like(odds), where=first > 0)
        centre = np.divide(odds, variance, out=np.zeros_like(odds), where=variance > 0)
        result[name] = Sums(seen - mean, mean, variance, unit, centre)
    return result
