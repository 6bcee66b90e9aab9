"""The loops of kernel.c, if they were compiled when this library was installed."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np

from veridical._core.loops import library, plain, pointer
from veridical.frames._grid.units import Units, Work

_NEAR = 2.0**-6  # see kernel.c
_SMALLEST = 2.0**-53  # below, all p are in the first cell, or the last
_MOST_PIECES = 1 << 16


@lru_cache(maxsize=1)
def compiled_loops() -> Compiled | None:
    """The loops; None where there was no compiler, or they are those of another machine."""
    found = library()
    return None if found is None else Compiled(found)


class Compiled:
    """A library of loops."""

    def __init__(self, found: Any) -> None:
        self._made: dict[tuple[Any, ...], Loops] = {}
        self._library = found
        self._library.scan_columns.restype = ctypes.c_int64

    def of(self, units: Units) -> Loops | None:
        """The loops for pieces like these, whose tables take some milliseconds to make.

        None if there are more pieces than the tables count.
        """
        if units.n >= _MOST_PIECES:
            return None
        key = units.resolution, units.edges.tobytes()
        if key not in self._made:
            self._made = {key: Loops(self._library, units)}
        return self._made[key]


class Loops:
    """The loops, with the tables that pieces are looked up in."""

    def __init__(self, library: Any, units: Units) -> None:
        self._library = library
        self._ends = _ends(units)
        far, near, half = (int(_bits(np.array([x]))[0]) for x in (_SMALLEST, _NEAR, 0.5))
        # Intervals of min(p, 1 - p) with the same leading bits: seven of the mantissa, then ten.
        x = np.concatenate([np.arange(far, near, 1 << 45), np.arange(near, half + 1, 1 << 42)])
        x = np.append(x, half + 1).astype(np.int64).view(np.float64)
        x[0] = 0.0
        mirrored = 1.0 - x[1:]  # beyond this, unless it was rounded up
        mirrored = np.where(1.0 - mirrored < x[1:], mirrored, np.nextafter(mirrored, 1.0))
        lowest = np.concatenate([x[:-1], mirrored])
        highest = np.concatenate([np.nextafter(x[1:], 0.0), 1.0 - x[:-1]])
        lowest[-1] = highest[-1] = 0.5
        guess, most = (np.searchsorted(self._ends, p, "left") for p in (lowest, highest))
        self._guess = guess.astype(np.uint16)
        self._far, self._last = (near - far) >> 45, len(x) - 2
        self._steps = int((most - guess).max())

    def add(
        self, q: Any, tail: Any, tails: int, group: Any, weight: Any, sums: Any, first: int
    ) -> None:
        """Add q by piece, tail and group to sums of shape (m, groups, keys), from a key on."""
        held = plain(q), plain(weight), plain(group, np.int64), plain(tail, np.uint8)
        own, weight, group, tail = held
        number = ctypes.c_int64
        self._library.add_event(
            number(len(own)),
            pointer(own),
            pointer(tail),
            number(tails),
            pointer(group),
            number(sums.shape[2]),
            pointer(weight),
            pointer(self._ends),
            pointer(self._guess),
            number(self._far),
            number(self._last),
            number(self._steps),
            ctypes.c_void_p(sums.ctypes.data + 8 * first),
            number(sums.shape[1] * sums.shape[2]),
        )

    def scores(self, p: Any, second: Any) -> Any:
        """Sums of log h and of h over the length of (p, 1 - p), h being p or its rest.

        p in the second group and the rest in the first, or the other way round: (log, log of the
        other way, length, length of the other way).
        """
        out = np.zeros(4)
        own, second = plain(p), plain(second, np.int64)
        self._library.sum_scores(
            ctypes.c_int64(len(own)), pointer(own), pointer(second), pointer(out)
        )
        return out

    def scan(self, p: list[Any], code: Any, tolerance: float) -> tuple[Any, ...] | None:
        """Of each row: largest probability, if its class occurred, that which did, sum of squares.

        None if a row is no probability vector with a class.
        """
        n = len(code)
        columns, code = [plain(one) for one in p], plain(code, np.int64)
        pointers = (ctypes.c_void_p * len(p))(*(one.ctypes.data for one in columns))
        top, happened, squares = np.empty(n), np.empty(n), np.empty(n)
        hit = np.empty(n, dtype=np.bool_)
        valid = self._library.scan_columns(
            ctypes.c_int64(n),
            ctypes.c_int64(len(p)),
            pointers,
            pointer(code),
            ctypes.c_double(tolerance),
            pointer(top),
            pointer(hit),
            pointer(happened),
            pointer(squares),
        )
        return (top, hit, happened, squares) if valid else None


def _ends(units: Units) -> Any:
    """The largest p of each piece, found by halving: the pieces are those of NumPy to the bit."""
    number = np.arange(units.n)
    low = np.full(units.n, int(_bits(np.zeros(1))[0]))  # in the piece or before
    high = np.full(units.n, int(_bits(np.ones(1))[0]) + 1)  # beyond
    work = Work(units.n)
    with np.errstate(divide="ignore"):
        while (high - low > 1).any():
            middle = (low + high) // 2
            p = middle.view(np.float64)
            beyond = units.of(p, None, work, inner=False) > number
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    ends = low.view(np.float64).copy()
    ends[-1] = np.inf
    return ends


def _bits(values: Any) -> Any:
    return values.view(np.int64)
