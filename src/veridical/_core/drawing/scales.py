"""Scales from numbers to a length, and ticks that stay round and apart at any zoom."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.drawing.words import LINE, number_text, width_of
from veridical._core.typing import FloatArray

Kind = Literal["linear", "logit", "time"]
Tick = tuple[float, str]
_APART = 10  # pixels between the numbers of an axis
_EDGE = 1e-9


def logit(p: FloatArray) -> FloatArray:
    """Log-odds; 0 and 1 count as 1e-9 and its complement."""
    inside = np.clip(p, _EDGE, 1 - _EDGE)
    return np.log(inside) - np.log1p(-inside)


@dataclass(frozen=True)
class Scale:
    """From `low` at 0 to `high` at 1; in log-odds for "logit", of seconds since 1970 for "time".

    Examples
    --------
    >>> Scale(0.01, 0.99, "logit").place([0.01, 0.5, 0.99]).round(6).tolist()
    [0.0, 0.5, 1.0]
    >>> [text for _, text in Scale(0.001, 0.4, "logit").ticks(300)]
    ['0.001', '0.01', '0.1']
    >>> [text for _, text in Scale(0.0, 0.05).ticks(300)]
    ['0', '0.01', '0.02', '0.03', '0.04', '0.05']
    """

    low: float
    high: float
    kind: Kind = "linear"

    def place(self, values: object) -> FloatArray:
        """Where values are, from 0 to 1 for those of the scale, beyond for others."""
        array: FloatArray = np.asarray(values, dtype=np.float64)
        ends: FloatArray = np.array([self.low, self.high])
        if self.kind == "logit":
            array, ends = logit(array), logit(ends)
        if ends[0] == ends[1]:  # one value: in the middle
            return np.full(array.shape, 0.5)
        return (array - ends[0]) / (ends[1] - ends[0])

    def value(self, place: FloatArray) -> FloatArray:
        """Return the values at these places: `place` turned around."""
        if self.kind != "logit":
            return self.low + place * (self.high - self.low)
        low, high = logit(np.array([self.low, self.high]))
        return 1 / (1 + np.exp(-(low + place * (high - low))))

    def ticks(
        self,
        length: float,
        *,
        across: bool = True,
        most: int = 8,
        beyond: tuple[float, float] = (math.inf, math.inf),
    ) -> list[Tick]:
        """As many round numbers as find room on so many pixels, across or upwards.

        `beyond` is the room left and right of the scale, in which the words at its ends must stay.
        """
        best: list[Tick] = []
        for ticks in (*self._candidates(), *self._sparse()):
            inside = [t for t in ticks if -1e-9 <= float(self.place(t[0])) <= 1 + 1e-9]
            if (
                len(inside) > len(best)
                and len(inside) <= most
                and self._fits(inside, length, beyond, across=across)
            ):
                best = inside
        return best

    def _sparse(self) -> Iterator[list[Tick]]:
        """Few of many powers of ten, for few pixels: every fourth, ..., then two and a middle."""
        if self.kind != "logit":
            return
        powers = [10.0**-k for k in range(9, 0, -1)]
        inside = [p for p in (*powers, 0.5, *(1 - p for p in reversed(powers)))
                  if 0 <= float(self.place(p)) <= 1]  # fmt: skip
        texts = [(value, number_text(value)) for value in inside]
        for step in (4, 3, 2):
            yield texts[::step]
        for k in range(len(texts) // 2):
            yield [texts[k], texts[-1 - k]]
            yield [texts[k], texts[len(texts) // 2], texts[-1 - k]]

    def _fits(
        self, ticks: list[Tick], length: float, beyond: tuple[float, float], *, across: bool
    ) -> bool:
        at = self.place([value for value, _ in ticks]) * length
        if across:
            half = np.array([width_of(text) / 2 for _, text in ticks])
            at = np.clip(at, half - beyond[0], length + beyond[1] - half)
        sizes = [width_of(text) + _APART if across else LINE + 2 for _, text in ticks]
        needed = [(a + b) / 2 for a, b in itertools.pairwise(sizes)]
        return all(gap >= room for gap, room in zip(np.diff(at), needed, strict=True))

    def _candidates(self) -> Iterator[list[Tick]]:
        if self.kind == "time":
            yield from _times(self.low, self.high)
            return
        if self.kind == "logit":
            for mantissas in ((1,), (1, 5), (1, 2, 5), (1, 2, 3, 5), tuple(range(1, 10))):
                yield [(value, number_text(value)) for value in _shares(mantissas)]
        span = self.high - self.low
        if self.kind == "logit" and self.low > 0 and self.high / self.low > 5:
            return  # even steps say nothing of the small ones
        unit = 10.0 ** math.floor(math.log10(span)) if span > 0 else 1.0
        for step in (5, 2, 1, 0.5, 0.2, 0.25, 0.1, 0.05):
            yield _steps(self.low, self.high, step * unit)


def _steps(low: float, high: float, step: float) -> list[Tick]:
    digits = max(0, 2 - math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [round(k * step, digits) for k in range(first, min(last, first + 60) + 1)]
    return [(value, number_text(value)) for value in values]


def _shares(mantissas: tuple[int, ...]) -> list[float]:
    """Probabilities that are round below a half or from 1 on, in increasing order."""
    small = [float(f"{m}e-{k}") for k in range(9, 0, -1) for m in mantissas if m * 10.0**-k < 0.5]
    large = [float(f"{1 - p:.10f}") for p in reversed(small)]
    return [*small, 0.5, *large]


_UNITS = ((1, "%H:%M:%S"), (60, "%H:%M"), (3600, "%d %b %H:%M"), (86400, "%d %b %Y"))
_TIMES = (1, 10, 30, 60, 300, 900, 3600, 10800, 21600, 43200)
_DAYS = (1, 2, 7, 14, 28)


def _times(low: float, high: float) -> Iterator[list[Tick]]:
    """Ticks from years down to seconds, in universal time."""
    start = dt.datetime.fromtimestamp(low, dt.UTC)
    end = dt.datetime.fromtimestamp(high, dt.UTC)
    for months in (1200, 240, 60, 24, 12, 6, 3, 1):
        if (high - low) / (months * 30 * 86400) > 60:
            return
        form = "%Y" if months >= 12 else "%b %Y"
        first = start.year * 12 // months * months
        last = end.year * 12 + 12
        dates = [
            dt.datetime(m // 12, m % 12 + 1, 1, tzinfo=dt.UTC)
            for m in range(max(first, 12), min(last, 9999 * 12), months)
        ]
        yield [(date.timestamp(), date.strftime(form)) for date in dates]
    for step in [day * 86400 for day in reversed(_DAYS)] + list(reversed(_TIMES)):
        if (high - low) / step > 60:
            return
        form = next(f for unit, f in reversed(_UNITS) if step >= unit)
        values = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
        yield [(float(v), dt.datetime.fromtimestamp(v, dt.UTC).strftime(form)) for v in values]


def rounded_ends(
    low: float, high: float, *, bottom: float = -math.inf, top: float = math.inf
) -> tuple[float, float]:
    """Ends of a linear scale that holds both numbers, at round ones.

    Examples
    --------
    >>> rounded_ends(0.013, 0.187)
    (0.0, 0.2)
    """
    span = high - low or abs(high) or 1.0
    unit = 10.0 ** math.floor(math.log10(span / 4))
    step = next(s * unit for s in (1, 2, 5, 10) if span / (s * unit) <= 6)
    ends = (math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)
    return max(bottom, round(ends[0], 12)), min(top, round(ends[1], 12))
