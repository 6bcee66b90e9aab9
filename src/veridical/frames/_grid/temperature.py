"""Sums that a temperature is found from, each by one query of the engine that has the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import narwhals.stable.v2 as nw

from veridical.frames._grid.rows import LABEL, WEIGHT, opened_rows
from veridical.frames._tables.open import run

_TOP = "v_top"
_TARGET = "v_target"
_FAR = 700.0  # exp(-700) is 1e-304: some engines refuse powers beyond the doubles


class TemperatureSums:
    """Loss of softmax(b log p) and its derivatives in b, over all rows of a query.

    With gaps d = log p - max log p of each row, the mean loss is L(b) = mean(log sum exp(b d) -
    b d_y), L' = mean(E d - d_y) and L'' = mean(Var d), E and Var being under softmax(b d).

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
        _, rows = opened_rows(source, y=y, prob=prob, sample_weight=sample_weight, caller=caller)
        self._caller, self._p = caller, rows.p_names
        frame = rows.frame.with_columns(nw.col(name).cast(nw.Float64) for name in self._p)
        if sample_weight is None:
            frame = frame.with_columns(nw.lit(1.0).alias(WEIGHT))
        else:
            frame = frame.with_columns(nw.col(WEIGHT).cast(nw.Float64))
            frame = frame.filter(nw.col(WEIGHT) > 0)
        self.least, self.least_positive = self._least(frame)
        self._gaps: nw.LazyFrame[Any] | None = None
        self._frame, self._classes = frame, list(classes)
        self._widest = self._slope = self._total = 0.0
        self.separable = False

    def _least(self, frame: nw.LazyFrame[Any]) -> tuple[float, float]:
        """Smallest probability, and the smallest that is positive (1 if none is)."""
        either: list[nw.Expr] = []
        frame = frame.with_columns(
            nw.when(nw.col(p) > 0).then(nw.col(p)).otherwise(nw.lit(1.0)).alias(f"{p}_positive")
            for p in self._p
        )
        for p in self._p:
            either += [nw.col(p).min(), nw.col(f"{p}_positive").min()]
        table = self._run(frame.select(*either))
        return min(table[p] for p in self._p), min(table[f"{p}_positive"] for p in self._p)

    def raise_to(self, floor: float) -> None:
        """Take logarithms of probabilities raised to `floor`; needed before anything else."""
        frame = self._frame.with_columns(nw.col(p).clip(floor).log() for p in self._p)
        columns = [nw.col(p) for p in self._p]
        frame = frame.with_columns(nw.max_horizontal(*columns).alias(_TOP))
        frame = frame.with_columns(nw.col(p) - nw.col(_TOP) for p in self._p)
        target = columns[-1]
        for label, column in zip(self._classes[-2::-1], columns[-2::-1], strict=True):
            target = nw.when(nw.col(LABEL) == label).then(column).otherwise(target)
        self._gaps = frame.with_columns(target.alias(_TARGET))
        frame = self._gaps.with_columns(
            (nw.min_horizontal(*columns)).alias("v_bottom"),
            (nw.col(WEIGHT) * (reduce(add, columns) / len(columns) - nw.col(_TARGET))).alias("v_s"),
        )
        table = self._run(
            frame.select(
                nw.col("v_bottom").min(),
                nw.col("v_s").sum(),
                nw.col(WEIGHT).sum(),
                nw.col(_TARGET).min(),
            )
        )
        self._total = table[WEIGHT]
        self._widest, self._slope = -table["v_bottom"], table["v_s"] / self._total
        self.separable = table[_TARGET] == 0

    def widest(self) -> float:
        """Largest difference between two logarithms in a row."""
        return self._widest

    def slope_at_zero(self) -> float:
        """L'(0)."""
        return self._slope

    def loss(self, inverse: float, dtype: Any = None) -> tuple[float, float, float]:
        """L, L' and L'' at an inverse temperature: one query, always in double precision."""
        assert self._gaps is not None
        gaps = [nw.col(p) for p in self._p]
        powers = [f"{p}_power" for p in self._p]
        frame = self._gaps.with_columns(
            **{
                name: (inverse * gap).clip(-_FAR, 0.0).exp()
                for name, gap in zip(powers, gaps, strict=True)
            }
        )
        pairs = [(nw.col(name), gap) for name, gap in zip(powers, gaps, strict=True)]
        frame = frame.with_columns(
            reduce(add, [power for power, _ in pairs]).alias("v_mass"),
            reduce(add, [power * gap for power, gap in pairs]).alias("v_first"),
            reduce(add, [power * gap * gap for power, gap in pairs]).alias("v_second"),
        )
        mass, weight = nw.col("v_mass"), nw.col(WEIGHT)
        mean, square = nw.col("v_first") / mass, nw.col("v_second") / mass
        frame = frame.with_columns(
            (weight * (mass.log() - inverse * nw.col(_TARGET))).alias("v_loss"),
            (weight * (mean - nw.col(_TARGET))).alias("v_first"),
            (weight * (square - mean * mean)).alias("v_second"),
        )
        table = self._run(frame.select(nw.col("v_loss", "v_first", "v_second").sum()))
        values = (table[name] / self._total for name in ("v_loss", "v_first", "v_second"))
        loss, first, second = values
        return loss, first, second

    def _run(self, query: nw.LazyFrame[Any]) -> dict[str, float]:
        table = run(query)
        return {
            name: float(table.column(name, caller=self._caller, param="prob")[0])
            for name in table.columns
        }
