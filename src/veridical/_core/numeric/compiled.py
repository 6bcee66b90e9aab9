"""Kernels compiled by numba; imported only through `compiled_for`. Serial, so always the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])


# Sums may be reordered, which lets them use vector instructions; values are otherwise IEEE.
_FAST = {"reassoc", "nsz", "contract"}


def _jit(function: _F) -> _F:
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath=_FAST)(function)
    return compiled


@_jit
def scan_rows(p: Any, y: Any, tolerance: float, confidence: Any, right: Any) -> Any:
    """Fill in row maxima and if y is the first of them; False if a row is no probability vector."""
    valid = True
    for i in range(p.shape[0]):
        total = p[i, 0]
        top = p[i, 0]
        low = p[i, 0]
        for k in range(1, p.shape[1]):
            value = p[i, k]
            total += value
            top = value if value > top else top
            low = value if value < low else low
        confidence[i] = top
        hit = p[i, y[i]] == top
        if hit:
            for k in range(y[i]):
                if p[i, k] == top:
                    hit = False
                    break
        right[i] = hit
        # A NaN anywhere makes the total NaN, and the comparison False.
        valid = valid and low >= 0 and top <= 1 and abs(total - 1) <= tolerance
    return valid


@_jit
def scan_few(p: Any, y: Any, tolerance: float, confidence: Any, right: Any) -> Any:
    """Do what `scan_rows` does, for few classes: without branches that depend on the data."""
    valid = True
    for i in range(p.shape[0]):
        total = p[i, 0]
        top = p[i, 0]
        low = p[i, 0]
        first = 0
        for k in range(1, p.shape[1]):
            value = p[i, k]
            total += value
            first = k if value > top else first
            top = value if value > top else top
            low = value if value < low else low
        confidence[i] = top
        right[i] = first == y[i]
        # A NaN anywhere makes the total NaN, and the comparison False.
        valid = valid and low >= 0 and top <= 1 and abs(total - 1) <= tolerance
    return valid


@_jit
def sum_by_bin(p: Any, y: Any, edges: Any, low: Any, scale: Any, left: Any, cells: Any) -> None:
    """Add counts, sums of p and of p^2 by (bin, outcome) into `cells` of shape (3, 2 B)."""
    n_bins = len(edges) - 1
    for i in range(len(p)):
        value = p[i]
        k = min(max(int(np.rint((value - low) * scale)), 0), n_bins)
        if (value < edges[k]) if left else (value <= edges[k]):
            k -= 1
        k = min(max(k, 0), n_bins - 1)
        cell = 2 * k + y[i]
        wide = np.float64(value)
        cells[0, cell] += 1.0
        cells[1, cell] += wide
        cells[2, cell] += wide * wide


@_jit
def sum_by_class_and_bin(
    p: Any, edges: Any, low: Any, scale: Any, left: Any, counts: Any, sums: Any, squares: Any
) -> None:
    """Add counts, sums of p and of p^2 by (class, bin) into arrays of shape (K, B)."""
    n_bins = len(edges) - 1
    for i in range(p.shape[0]):
        for c in range(p.shape[1]):
            value = p[i, c]
            k = min(max(int(np.rint((value - low) * scale)), 0), n_bins)
            if (value < edges[k]) if left else (value <= edges[k]):
                k -= 1
            k = min(max(k, 0), n_bins - 1)
            wide = np.float64(value)
            counts[c, k] += 1.0
            sums[c, k] += wide
            squares[c, k] += wide * wide
