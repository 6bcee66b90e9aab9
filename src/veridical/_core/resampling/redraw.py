"""Outcomes drawn as a right prediction would give them, and what each of them counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.sums import Rows, drawn_sums, sum_of_columns
from veridical._core.runtime.progress import track
from veridical._core.sample import MulticlassSample, Sample
from veridical._core.typing import BoolArray, FloatArray, IntArray

REDRAWN = "outcomes redrawn from the predictions"

_BLOCK = 1 << 20  # outcomes drawn at once
_MOST = 2e8  # outcomes drawn in all; beyond, fewer draws
_FEWEST = 199  # of them


def most_draws(draws: Draws, n: int) -> Draws:
    """As many draws as asked for, fewer where they would be of very many outcomes."""
    count = max(_FEWEST, int(_MOST / max(n, 1)))
    return Draws(min(draws.n_resamples, count), draws.rng)


class Sharing(NamedTuple):
    """Rows that belong together.

    Attributes
    ----------
    group : number of the group of each row
    correlation : of the residuals of like predictions within a group
    freedom : how many groups of equal size would tell it as well, less one
    design_effect : how much larger the variance of the sum of residuals is than without groups
    slope : correlation of residuals of like predictions by a slope of the group, beside its level
    low : rows that such a slope moves the other way
    classes : of more than two classes, correlation of each beside that of all; None for none
    """

    group: IntArray
    correlation: float
    freedom: float
    design_effect: float
    slope: float = 0.0
    low: BoolArray | None = None
    classes: FloatArray | None = None


@dataclass(frozen=True)
class Redraw:
    """How outcomes are drawn, and what each counts.

    Attributes
    ----------
    p : predictions in double precision, (n, K); of a binary problem (negative, positive)
    chance : probability with which each outcome is drawn, (n, K)
    weight : what a row of each outcome weighs, (n, K)
    sharing : rows that belong together, None if they are independent
    said : where outcomes come from, in words
    rows : which rows of the sample these are, in an order that their values decide
    event : of a binary problem about several classes, which are outcome 1, (n, K): `chance` and
        `weight` are those of the classes then
    """

    p: FloatArray
    chance: FloatArray
    weight: FloatArray
    sharing: Sharing | None
    said: str
    rows: IntArray
    event: BoolArray | None = None

    @property
    def n(self) -> int:
        """Number of outcomes."""
        return len(self.p)

    def outcomes(self, draws: Draws, what: str = "null distribution") -> Iterator[IntArray]:
        """Classes drawn, (draws, n), some draws at a time."""
        reached = np.cumsum(self.chance, axis=1)
        reached /= reached[:, -1:]
        thresholds = np.ascontiguousarray(reached[:, :-1].T)
        kind = np.dtype(np.uint8 if self.chance.shape[1] <= 256 else np.uint32)
        step = max(1, _BLOCK // self.n)
        for index in track(-(-draws.n_resamples // step), what):
            size = min(step, draws.n_resamples - index * step)
            uniform = self._uniform(size, reached, draws.rng)
            y: IntArray = np.zeros(uniform.shape, dtype=kind)
            for threshold in thresholds:
                y += uniform >= threshold
            yield y

    def _uniform(self, size: int, ends: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Numbers that decide the outcomes: a class has those up to its end among `ends`."""
        uniform = rng.random((size, self.n))
        together = self.sharing
        if together is None:
            return uniform
        by_class = 0.0 if together.classes is None else float(together.classes.sum())
        parts = (together.correlation, together.slope, by_class)
        if not any(parts):
            return uniform
        shares = [self._shares(part, size, rng) for part in parts]
        whole = np.maximum(sum(shares), 1.0)
        pick, reached = rng.random((size, self.n)), np.zeros(size)
        for share, low in zip(shares, (None, together.low, None), strict=True):
            if not share.any():
                continue
            upto = reached + share / whole
            taken = (pick >= reached[:, None]) & (pick < upto[:, None])
            reached = upto
            common = rng.random((size, int(together.group.max()) + 1))
            if share is shares[2]:
                self._share_a_class(uniform, taken, common, ends, rng)
                continue
            common = common[:, together.group]
            if low is not None:
                common = np.where(low, 1 - common, common)
            uniform = np.where(taken, common, uniform)
        return uniform

    def _share_a_class(
        self,
        uniform: FloatArray,
        taken: BoolArray,
        common: FloatArray,
        ends: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Let a number common to the group decide whether one class occurs, in rows `taken`.

        The class is drawn for the group; which of the others occurs is left to the row.
        """
        assert self.sharing is not None
        assert self.sharing.classes is not None
        reached = np.cumsum(self.sharing.classes)
        kinds = np.searchsorted(reached, rng.random(common.shape) * reached[-1], side="right")
        draw, row = np.nonzero(taken)
        group = self.sharing.group[row]
        kind = np.minimum(kinds[draw, group], len(reached) - 1)
        end, shared, own = ends[row, kind], common[draw, group], uniform[draw, row]
        before = np.where(kind > 0, ends[row, kind - 1], 0.0)
        chance = end - before
        rest = own * (1 - chance)
        rest += np.where(rest >= before, chance, 0.0)
        uniform[draw, row] = np.where(shared < chance, before + shared, rest)

    def _shares(self, correlation: float, size: int, rng: np.random.Generator) -> FloatArray:
        """Chance of a row to share its group's number, of each draw."""
        assert self.sharing is not None
        if correlation == 0:
            return np.zeros(size)
        known = rng.chisquare(self.sharing.freedom, size) / self.sharing.freedom
        return np.sqrt(np.minimum(correlation / known, 1.0))

    def sums(
        self, values: FloatArray, cell: IntArray, n_cells: int, draws: Draws, what: str = "null"
    ) -> FloatArray:
        """Sums by cell of the value of what was drawn, (draws, cells).

        `values` are those of every outcome of a row, (n, K), `cell` where the row counts, both in
        the order of `rows`. Of many rows that are independent sums are drawn, not rows: see
        :func:`drawn_sums`.
        """
        if self.sharing is None and self.n * draws.n_resamples > _BLOCK:
            own = values is self.__dict__.get("residuals")
            rows = self._drawn_residuals if own else Rows(values, self.chance)
            return drawn_sums(rows, cell, n_cells, draws)
        order = np.argsort(cell, kind="stable")
        held, starts = np.unique(cell[order], return_index=True)
        table = np.ascontiguousarray(values.T)
        result, done = np.zeros((draws.n_resamples, n_cells)), 0
        at = np.arange(self.n)
        in_order = bool((order == at).all())
        for y in self.outcomes(draws, what):
            drawn = np.where(y, table[1], table[0]) if len(table) == 2 else table[y, at]
            drawn = drawn if in_order else drawn[:, order]
            result[done : done + len(y), held] = np.add.reduceat(drawn, starts, axis=1)
            done += len(y)
        return result

    def answers(self, y: IntArray) -> IntArray:
        """Outcomes of the problem: the classes that were drawn, or whether they are the event."""
        return y if self.event is None else self.event[np.arange(self.n), y].astype(np.uint8)

    def by_class(self, values: FloatArray) -> FloatArray:
        """Values of outcomes as values of the classes that are drawn."""
        return values if self.event is None else np.where(self.event, values[:, 1:], values[:, :1])

    @cached_property
    def residuals(self) -> FloatArray:
        """Weighted residual of outcome 1 for every class drawn, (n, 2 or K), of two outcomes."""
        if self.event is not None:
            return self.weight * (self.event - self.p[:, 1:])
        return np.column_stack(
            [-self.weight[:, 0] * self.p[:, 1], self.weight[:, 1] * self.p[:, 0]]
        )

    @cached_property
    def _drawn_residuals(self) -> Rows:
        return Rows(self.residuals, self.chance)

    @cached_property
    def expected_weight(self) -> FloatArray:
        """What a row weighs on average, whichever outcome it has, (n,)."""
        return sum_of_columns(self.chance * self.weight)

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the weighted residual of each class, (n, K)."""
        if self.event is not None:
            both = sum_of_columns(self.chance * np.square(self.residuals))
            return np.column_stack([both, both])
        hit = self.chance * np.square(self.weight)
        total = sum_of_columns(hit)[:, None]
        return hit * (1 - 2 * self.p) + total * np.square(self.p)


def drawn_samples(made: Redraw, sample: Sample, draws: Draws, what: str) -> Iterator[Sample]:
    """The rows with outcomes that were drawn and the weights these have, one draw at a time."""
    rows = sample.take(made.rows)
    plain = bool((made.weight == 1).all())
    at = np.arange(made.n)
    for block in made.outcomes(draws, what):
        for y in block:
            weight = None if plain else made.weight[at, y]
            if isinstance(rows, MulticlassSample):
                yield replace(rows, y=y, weight=weight, confidence=None, right=None)
            else:
                yield replace(rows, y=made.answers(y), weight=weight, origin=None)


def class_residuals(
    made: Redraw, keys: Sequence[IntArray], n_columns: int, draws: Draws, what: str
) -> Iterator[FloatArray]:
    """Sums by column of w (1[y = k] - p_k), (draws, columns), some draws at a time.

    A row counts in column ``key[k]`` for every key, (K, n) in the order of `rows`; a column of
    `n_columns` is nowhere.
    """
    from scipy.sparse import csr_array

    at = np.arange(made.n)
    share = csr_array((made.n, n_columns))
    for key in keys:
        row, kind = np.nonzero(n_columns > key.T)
        share = share + csr_array((made.p[row, kind], (row, key[kind, row])), share.shape)
    alike = bool((made.weight == made.weight[:, :1]).all())
    mean = made.weight[:, 0] @ share
    width = n_columns + 1
    for y in made.outcomes(draws, what):
        weight = made.weight[at, y]
        sums, y = np.zeros((len(y), n_columns)), made.answers(y)
        for key in keys:
            column = key[y, at] + (np.arange(len(y)) * width)[:, None]
            counted = np.bincount(column.ravel(), weight.ravel(), minlength=len(y) * width)
            sums += counted.reshape(len(y), width)[:, :-1]
        yield sums - (mean if alike else weight @ share)
