"""Rows that are watched together, counted on a grid that is fine in log odds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from veridical._core.data.groups import Groups
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.lenses import Confidence

FLOOR = 1e-6  # predictions are read as no more certain than this
_STEP = 1 / 32  # width of a cell in log odds
_FARTHEST = float(np.log1p(-FLOOR) - np.log(FLOOR))
_N_HALF = int(np.ceil(_FARTHEST / _STEP))

N_CELLS = 2 * _N_HALF


def clipped(p: FloatArray) -> FloatArray:
    """Predictions in double precision, kept off 0 and 1 by `FLOOR`."""
    return np.clip(p.astype(np.float64, copy=False), FLOOR, 1 - FLOOR)


def cell_of(p: FloatArray) -> IntArray:
    """Cell of each prediction, 0..N_CELLS - 1 in the order of the predictions."""
    odds = np.log(p)
    odds -= np.log1p(-p)
    odds /= _STEP
    odds += _N_HALF
    return np.clip(odds.astype(np.intp), 0, N_CELLS - 1)


def centres() -> FloatArray:
    """Middle of each cell in log odds, as a probability."""
    odds = _STEP * (np.arange(N_CELLS) - _N_HALF + 0.5)
    return 1 / (1 + np.exp(-odds))


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of the rows of one batch, for S streams of rows.

    A stream is the whole sample, a class or a group; rows may be in several.

    Attributes
    ----------
    counts : shape (S, N_CELLS, 2)
        Rows by cell of the prediction and outcome.
    sum_p : shape (S, N_CELLS)
        Sums of the predictions.
    log_likelihood : shape (S,)
        Sum of the log probability given to what happened.
    squared : shape (S,)
        Sum of (y - p)^2.
    """

    counts: FloatArray
    sum_p: FloatArray
    log_likelihood: FloatArray
    squared: FloatArray

    def __add__(self, other: Tally) -> Tally:
        return _combined(np.add, self, other)

    def placed(self, places: list[int], n_streams: int) -> Tally:
        """The streams at their places among all."""

        def spread(values: FloatArray) -> FloatArray:
            result = np.zeros((n_streams, *values.shape[1:]))
            result[places] = values
            return result

        return _combined(spread, self)

    @cached_property
    def rows(self) -> FloatArray:
        """Rows of each stream."""
        return self.counts.sum(axis=(1, 2))

    @cached_property
    def deviation(self) -> FloatArray:
        """Sum of y - p of each stream."""
        return self.counts[:, :, 1].sum(axis=1) - self.sum_p.sum(axis=1)


def tally(y: IntArray, p: FloatArray, stream: IntArray | None = None, n_streams: int = 1) -> Tally:
    """Count outcomes 0/1 and predictions by cell, in O(n).

    Parameters
    ----------
    y, p : arrays of shape (n,)
    stream : integers below `n_streams`, shape (n,), optional
        Which stream a row belongs to; default all to the only one.
    """
    p = clipped(p)
    y = y.astype(np.intp, copy=False)
    cell = cell_of(p)
    size = n_streams * N_CELLS
    if stream is not None:
        cell += stream * N_CELLS
    happened = np.where(y == 1, p, 1 - p)
    missed = 1 - happened

    def by_stream(values: FloatArray) -> FloatArray:
        if stream is None:
            return np.array([values.sum()])
        return _sums(stream, values, n_streams)

    return Tally(
        np.bincount(2 * cell + y, minlength=2 * size)
        .reshape(n_streams, N_CELLS, 2)
        .astype(np.float64),
        _sums(cell, p, size).reshape(n_streams, N_CELLS),
        by_stream(np.log(happened)),
        by_stream(missed * missed),
    )


def _sums(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)


REGIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # ranges of scores, closed above
MOST_CLASSES = 50  # watched one by one; beyond, the confidence and the groups speak for them


@dataclass(frozen=True)
class Stream:
    """One watched part of the rows.

    Attributes
    ----------
    family : "all", "region", "class" or "group"
    name : label, range of scores or key of the group, as JSON text
    """

    family: str
    name: str

    @property
    def value(self) -> Any:
        """The label, range or key itself."""
        value = json.loads(self.name)
        return tuple(value) if isinstance(value, list) else value

    def __str__(self) -> str:
        if self.family == "all":
            return "all rows"
        if self.family == "region":
            low, high = self.value
            return f"scores {low:g} to {high:g}"
        return f"{self.family} {self.value!r}"


ALL = Stream("all", "null")


def name_of(value: Any) -> str:
    """Label or key as JSON text."""
    return json.dumps(value, default=str, ensure_ascii=False)


def batch_streams(sample: Sample, groups: Groups | None) -> tuple[list[Stream], Tally]:
    """Count the rows of a batch for every stream they are part of."""
    problem = sample if isinstance(sample, BinarySample) else Confidence().induce(sample)
    streams, parts = [ALL], [tally(problem.y, problem.p)]
    names, regions = _by_region(problem)
    streams += names
    parts.append(regions)
    if isinstance(sample, MulticlassSample) and len(sample.classes) <= MOST_CLASSES:
        streams += [Stream("class", name_of(label)) for label in sample.classes]
        parts.append(_by_class(sample))
    if groups is not None:
        streams += [Stream("group", name_of(key)) for key in groups.keys]
        parts.append(tally(problem.y, problem.p, groups.codes, len(groups.keys)))
    return streams, _combined(_stacked, *parts)


def _by_region(problem: BinarySample) -> tuple[list[Stream], Tally]:
    region = np.searchsorted(REGIONS[1:-1], clipped(problem.p), side="left")
    names = [Stream("region", name_of(ends)) for ends in pairwise(REGIONS)]
    return names, tally(problem.y, problem.p, region, len(names))


def _by_class(sample: MulticlassSample) -> Tally:
    n, n_classes = sample.p.shape
    column = np.tile(np.arange(n_classes), n)
    happened: IntArray = (column == np.repeat(sample.y, n_classes)).astype(np.intp)
    return tally(happened, np.ascontiguousarray(sample.p).reshape(-1), column, n_classes)


def _stacked(*arrays: FloatArray) -> FloatArray:
    return np.concatenate(arrays)


def _combined(function: Callable[..., FloatArray], *tallies: Tally) -> Tally:
    """A function of arrays, applied to each field of tallies."""
    names = [each.name for each in fields(Tally)]
    return Tally(*(function(*(getattr(tally, name) for tally in tallies)) for name in names))
