"""Pieces into which cells and bins cut the line of probabilities, and arrays to work with.

Like the kernel, it needs NumPy and nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LIMIT = 36  # of log-odds; beyond, 1 - p is no longer told from 1


class Units:
    """The pieces into which edges of bins cut the cells, numbered from the left.

    Parameters
    ----------
    edges : inner edges of the bins, increasing
    resolution : M of g(p) = M p + (M / 64) logit(p), whose whole part is the cell

    Attributes
    ----------
    n : number of pieces
    bin, cell : of each piece, from 0
    """

    def __init__(self, edges: Any, resolution: int) -> None:
        self.edges, self.resolution = edges, float(resolution)
        self.share = float(max(1, resolution // 64))
        self.lowest = LIMIT * self.share
        middle = int(resolution // 2 + self.lowest)  # the cell that ends at 1/2
        cells = np.arange(int(resolution + 2 * self.lowest + self.share + 2))
        # Logarithms may be rounded across a border: a cell that close to an edge is cut by it.
        ends = edges * (1 - 1e-9), np.minimum(edges * (1 + 1e-9), 1.0)
        work = Work(len(edges))
        first, last = (self._raw_cells(end, None, work).copy() for end in ends)
        before, within = (
            np.searchsorted(last, cells, "left"),
            np.searchsorted(first, cells, "right"),
        )
        n_pieces = within - before + 1
        start = np.cumsum(n_pieces) - n_pieces + (cells > middle)
        self._first = np.where(n_pieces > 1, ~start, start)  # marked where an edge cuts the cell
        steps = range(int((within - before).max(initial=0)))
        padded = np.append(edges, np.inf)
        self.cuts = [
            np.where(before + step < within, padded[np.minimum(before + step, len(edges))], np.inf)
            for step in steps
        ]
        self.n = int(n_pieces.sum()) + 1
        self.half = int(start[middle] + n_pieces[middle])  # 1/2 has a piece of its own
        self.bin = np.empty(self.n, dtype=np.intp)
        self.cell = np.empty(self.n, dtype=np.intp)
        for step in range(len(steps) + 1):
            held = n_pieces > step
            self.bin[start[held] + step] = before[held] + step
            self.cell[start[held] + step] = (cells + 2 * (cells > middle))[held]
        self.bin[self.half] = np.searchsorted(edges, 0.5, "left")
        self.cell[self.half] = middle + 1

    def of(self, p: Any, logit: Any, work: Work, *, inner: bool) -> Any:
        """Piece of each p, whose log-odds may be known; `inner` if all are within the limits."""
        raw = self._raw_cells(p, logit, work, inner=inner)
        unit = np.take(self._first, raw, out=work("unit", np.intp), mode="clip")
        cut = np.flatnonzero(np.less(unit, 0, out=work("mark", np.bool_)))
        if len(cut):  # rows whose cell an edge goes through
            own, cell = p[cut], raw[cut]
            unit[cut] = ~unit[cut]
            for each in self.cuts:
                unit[cut] += own > each[cell]
        half = np.equal(p, 0.5, out=work("mark", np.bool_))
        if half.any():
            unit[half] = self.half
        return unit

    def _raw_cells(self, p: Any, logit: Any, work: Work, *, inner: bool = False) -> Any:
        """Cell of each p, in which 1/2 is not yet told from what is just below."""
        place, scaled = work("place"), work("scaled")
        if logit is None:
            np.subtract(1.0, p, out=place)
            np.divide(p, place, out=place)
            logit = np.log(place, out=place)
        if not inner:
            logit = np.clip(logit, -LIMIT, LIMIT, out=place)
        np.multiply(logit, self.share, out=place)
        place += np.multiply(p, self.resolution, out=scaled)
        np.ceil(place, out=place)  # before anything is added: what is just above 1/2 stays there
        place += self.lowest
        raw = work("raw", np.intp)
        raw[:] = place
        return raw


class Work:
    """Arrays of so many rows, made once: new ones of this size would cost more than the sums."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._arrays: dict[str, Any] = {}

    def __call__(self, name: str, dtype: Any = np.float64) -> Any:
        if name not in self._arrays:
            self._arrays[name] = np.empty(self.n, dtype=dtype)
        return self._arrays[name]

    def table(self, k: int) -> Any:
        """One row a class."""
        if "table" not in self._arrays:
            self._arrays["table"] = np.empty((k, self.n))
        return self._arrays["table"]

    @property
    def numbers(self) -> Any:
        """The rows, counted."""
        if "numbers" not in self._arrays:
            self._arrays["numbers"] = np.arange(self.n)
        return self._arrays["numbers"]
