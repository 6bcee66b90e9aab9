"""Sums that softmax maps of several classes are fitted from: one pass of an engine for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from veridical._core.runtime.threads import map_in_order
from veridical._core.typing import FloatArray
from veridical.frames._grid import softmax
from veridical.frames._grid.batches import FrameBatch, PandasBatch, batches, shipped, worker_errors
from veridical.frames._grid.events import CODE, code_of
from veridical.frames._grid.rows import WEIGHT, opened_rows
from veridical.frames._grid.softmax import INDEX, VALUE, SoftmaxMap, softmax_in_arrow, softmax_sums
from veridical.frames._tables.engines import engine_of
from veridical.frames._tables.open import run


class SoftmaxSums:
    """Loss, gradient and Hessian of softmax maps over all rows of a query.

    Parameters
    ----------
    source : frame, str or path
        As in `grid_table`, which has accepted the same columns.
    y, prob, sample_weight : str, sequence of str, str or None
        Columns.
    classes : sequence
        Labels in the order of `prob`.
    caller : str
        Who asks: it opens error messages.

    Attributes
    ----------
    runs : whether the engine lets Python work on rows; if not, nothing else is there
    errors : what `of` raises where workers have no Python
    """

    def __init__(
        self,
        source: Any,
        *,
        y: str,
        prob: Sequence[str],
        sample_weight: str | None,
        classes: Sequence[Any],
        caller: str,
    ) -> None:
        frame, rows = opened_rows(
            source, y=y, prob=prob, sample_weight=sample_weight, caller=caller
        )
        self.errors, self._how = worker_errors(engine_of(frame)), engine_of(frame).runs
        self.runs = self._how is not None
        self._caller, self._p = caller, tuple(rows.p_names)
        self._weight = None if sample_weight is None else WEIGHT
        kept = [*self._p, *([] if self._weight is None else [self._weight])]
        code = code_of(tuple(classes), rows.label_type).alias(CODE)
        self._frame = rows.frame.select(code, *map(nw.col, kept))

    def of(self, asked: SoftmaxMap) -> FloatArray:
        """Sums of all rows, as `softmax_sums` orders them."""
        own = self._frame.to_native()
        if self._how == "workers":
            with shipped(softmax):
                work = softmax_in_arrow(asked, self._p, CODE, self._weight)
                entries = own.mapInArrow(work, f"{INDEX} long, {VALUE} double")
            return self._collected(nw.from_native(entries))
        if self._how == "partitions":
            work = PartitionSoftmax(asked, self._p, self._weight)
            return self._collected(nw.from_native(own.map_partitions(work, meta=work(own._meta))))

        def part(batch: Any) -> FloatArray:
            held = FrameBatch(batch)
            return _sums(held, asked, self._p, self._weight)

        total: Any = 0.0
        for found in map_in_order(part, batches(self._frame)):
            total = total + found
        return np.asarray(total)

    def _collected(self, entries: nw.LazyFrame[Any]) -> FloatArray:
        """Sums of the sums of partitions, added up where they are."""
        table = run(entries.group_by(INDEX).agg(nw.col(VALUE).sum()))
        index = table.column(INDEX, caller=self._caller, param="prob").astype(np.intp)
        value = table.column(VALUE, caller=self._caller, param="prob").astype(np.float64)
        return np.asarray(value[np.argsort(index)])


def _sums(
    batch: FrameBatch, asked: SoftmaxMap, names: tuple[str, ...], weight: str | None
) -> FloatArray:
    p = [batch.numbers(name) for name in names]
    w = None if weight is None else batch.numbers(weight)
    return np.asarray(softmax_sums(p, batch.numbers(CODE), w, asked))


@dataclass(frozen=True)
class PartitionSoftmax:
    """Sums of a pandas frame, each with its number."""

    asked: SoftmaxMap
    names: tuple[str, ...]
    weight: str | None

    def __call__(self, partition: Any) -> Any:
        import pandas as pd

        found: FloatArray = np.empty(0)
        if len(partition):
            found = _sums(PandasBatch(partition), self.asked, self.names, self.weight)
        return pd.DataFrame({INDEX: np.arange(len(found)), VALUE: found})
