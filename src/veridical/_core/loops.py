"""Loops over rows: in blocks, and those written in C, if they were compiled on installation."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from veridical._core.typing import Array, BoolArray, FloatArray, IntArray

NAME = "_loops.dll" if sys.platform == "win32" else "_loops.so"
_VERSION = 3
_MOST_SCALES = 64
# Below this many values blocked NumPy takes little longer than the calls.
_WORTHWHILE = 1 << 15
_FEW_TRIALS = 512  # beyond, transforms are faster
_WIDE = 128  # values of a row from which more of them are looked at together


# 32,768 rows of one column keep p, y and the bin numbers in the second-level cache.
ROWS = 1 << 15


def row_blocks(n: int, rows: int = ROWS) -> Iterator[slice]:
    """Slices that cover range(n)."""
    for start in range(0, n, rows):
        yield slice(start, min(start + rows, n))


@lru_cache(maxsize=1)
def library() -> Any:
    """The compiled library; None where there was no compiler, or it is of another machine."""
    path = Path(__file__).with_name(NAME)
    if not path.exists():
        return None
    try:
        found = ctypes.CDLL(str(path))
    except OSError:  # of another kind of machine, or damaged: NumPy does the same
        return None
    found.version.restype = found.saddlepoint.restype = ctypes.c_int64
    numbers, places = [ctypes.c_double] * 3, [ctypes.c_void_p] * 3
    found.saddlepoint.argtypes = [ctypes.c_int64, *places, *numbers, ctypes.c_int64, places[0]]
    if found.version() != _VERSION:
        msg = f"{path} is of another version: install this library again."
        raise ImportError(msg)
    return found


def loops_for(values: Array) -> Loops | None:
    """Return the loops if they can and should work on `values`, else None."""
    if values.size < _WORTHWHILE or not values.flags.c_contiguous:
        return None
    if values.dtype not in (np.float32, np.float64) or (found := library()) is None:
        return None
    return Loops(found, "64" if values.dtype == np.float64 else "32")


class Loops:
    """Loops over rows in memory, of one type of floats; each does what its NumPy form does."""

    def __init__(self, found: Any, kind: str) -> None:
        self._library, self._kind = found, kind

    def _of_kind(self, name: str) -> Any:
        found = getattr(self._library, f"{name}_{self._kind}")
        found.restype = ctypes.c_int64
        return found

    def scan_rows(
        self, p: FloatArray, y: IntArray, tolerance: float, top: FloatArray, right: BoolArray
    ) -> bool:
        """Fill in maxima of rows, and if y is the first of them; False if a row is no vector."""
        n, k = p.shape
        codes = plain(y, np.int64)
        sizes = ctypes.c_int64(n), ctypes.c_int64(k)
        scan = self._of_kind("scan_rows" if k >= _WIDE else "scan_few")
        limit = ctypes.c_double(tolerance)
        return bool(scan(*sizes, pointer(p), pointer(codes), limit, pointer(top), pointer(right)))

    def sum_by_bin(
        self, p: FloatArray, y: IntArray, edges: FloatArray, grid: Grid, cells: FloatArray
    ) -> None:
        """Add counts, sums of p and of p^2 by (bin, outcome) to `cells` of shape (3, 2 B).

        Sums of blocks are added up, which keeps rounding small.
        """
        codes = plain(y, np.int64)
        add, part = self._of_kind("sum_by_bin"), np.empty_like(cells)
        bins = ctypes.c_int64(len(edges) - 1), pointer(edges), *_as_c(grid), pointer(part)
        first_p, first_code = _address(p), _address(codes)
        for block in row_blocks(len(p)):
            part[:] = 0
            starts = first_p + block.start * p.itemsize, first_code + block.start * codes.itemsize
            rows = ctypes.c_int64(block.stop - block.start)
            add(rows, *map(ctypes.c_void_p, starts), *bins)
            cells += part

    def sum_by_class(self, p: FloatArray, edges: FloatArray, grid: Grid, cells: FloatArray) -> None:
        """Add counts, sums of p and of p^2 by (class, bin) to `cells` of shape (3, K, B)."""
        rows, columns = (ctypes.c_int64(size) for size in p.shape)
        bins = ctypes.c_int64(len(edges) - 1)
        add = self._of_kind("sum_by_class")
        add(rows, columns, pointer(p), bins, pointer(edges), *_as_c(grid), pointer(cells))


Grid = tuple[float, float, bool]  # where edges begin, how many a unit, whether bins hold the left


def _as_c(grid: Grid) -> tuple[Any, ...]:
    low, scale, left = grid
    return ctypes.c_double(low), ctypes.c_double(scale), ctypes.c_int64(left)


def sort_bits(keys: Array) -> None:
    """Sort unsigned numbers of 64 or 32 bits where they are."""
    found = library() if keys.dtype == np.uint64 and len(keys) >= _WORTHWHILE else None
    if found is None:
        keys.sort()
        return
    spare = np.empty_like(keys)
    found.sort_numbers(pointer(keys), pointer(spare), ctypes.c_int64(len(keys)))


def successes(p: FloatArray) -> FloatArray | None:
    """Chances of 0, 1, ... successes in few trials; None where this is not compiled."""
    found = library() if len(p) <= _FEW_TRIALS else None
    if found is None:
        return None
    own, chances = plain(p), np.empty(len(p) + 1)
    found.poisson_binomial(ctypes.c_int64(len(p)), pointer(own), pointer(chances))
    return chances


def sum_pairs(
    p: FloatArray, joins: IntArray, n_scales: int, events: BoolArray
) -> FloatArray | None:
    """Sums over cells of pairs of residuals, (scales, draws); None where this is not compiled.

    Rows are in increasing order of p; `joins` are the scales from which each shares the cell of the
    one before, of one byte each; see rows.c.
    """
    found = library() if n_scales <= _MOST_SCALES else None
    if found is None:
        return None
    (n, draws), kinds = events.shape, ctypes.c_int64
    out = np.empty((n_scales, draws))
    held = plain(p), plain(joins, np.uint8), np.ascontiguousarray(events)
    sizes = kinds(n_scales), kinds(draws)
    found.sum_pairs(kinds(n), *map(pointer, held[:2]), *sizes, pointer(held[2]), pointer(out))
    return out


def keyed_digests(numbers: IntArray, key: bytes, size: int) -> bytes | None:
    """BLAKE2b digests of numbers of 64 bits, one after the other, with a key of 16 bytes.

    As many bytes of each as `size` says, 8 at most; None where this is not compiled.
    """
    if (found := library()) is None:
        return None
    held, salt = plain(numbers, np.uint64), np.frombuffer(key, dtype=np.uint8)
    out = np.empty(len(held) * size, dtype=np.uint8)
    sizes = ctypes.c_int64(len(held)), ctypes.c_int64(size)
    found.keyed_digests(sizes[0], pointer(held), pointer(salt), sizes[1], pointer(out))
    return out.tobytes()


class Saddlepoint(NamedTuple):
    """Where it is, in units of the largest number, and sums there; see rows.c."""

    tilt: float
    unit: float
    fall: float
    square: float
    cube: float


def saddlepoint(
    masses: tuple[FloatArray, FloatArray, FloatArray],
    mean: float,
    near: float,
    edge: float,
    steps: int,
) -> Saddlepoint | float | None:
    """Saddlepoint of masses (value, shape, scale) about a mean; None where this is not compiled.

    Infinite, with the sign of what is sure, where all values are on one side of the mean.
    """
    found = library()
    if found is None:
        return None
    held, out = [plain(each) for each in masses], np.empty(5)
    places = map(_address, held)
    side = found.saddlepoint(len(held[0]), *places, mean, near, edge, steps, _address(out))
    return math.inf * side if side else Saddlepoint(*out.tolist())


def plain(values: Any, dtype: Any = np.float64) -> Any:
    """Values as C takes them; None stays None."""
    return None if values is None else np.ascontiguousarray(values, dtype=dtype)


def pointer(values: Any) -> Any:
    """Where values begin; None stays None. They must live as long as the call."""
    return None if values is None else ctypes.c_void_p(_address(values))


def _address(values: Any) -> int:
    """Where values begin, found in half of the time that `ndarray.ctypes` takes."""
    return int(values.__array_interface__["data"][0])
