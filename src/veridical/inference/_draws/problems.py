"""Null errors of many small problems at once, each as if it were drawn alone from the same seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.numeric import poisson_binomial
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._draws.sums import NORMAL_FROM
from veridical.summaries import Summary

_LEAF = 64  # trials that are multiplied out directly, as those of one problem are


def are_drawn_exactly(summary: Summary) -> BoolArray:
    """Problems of rows that count one and whose bins have the exact law of their counts."""
    return np.asarray((summary.sum_wpq < NORMAL_FROM).all(axis=1))


def null_l1_errors(
    p: FloatArray, problem: IntArray, bins: IntArray, summary: Summary, draws: Draws
) -> FloatArray:
    """Mean absolute gaps of outcomes drawn from the predictions, (problems, R).

    The counts of the bins of a problem are independent Poisson-binomials, drawn by inversion. The
    first bin of every problem that holds rows takes the same uniform numbers, the second the next,
    and so on: those that the problem alone would take from this generator.

    Parameters
    ----------
    p : predictions, float64
    problem, bins : problem and bin of each
    summary : sums of all problems; all of them must be drawn exactly
    """
    n_problems, n_bins = summary.sum_w.shape
    n, rng = draws
    laws = _laws(p, problem * n_bins + bins, n_problems * n_bins)
    held = summary.occupied
    rank = np.cumsum(held, axis=1) - 1
    total = summary.sum_w.sum(axis=1, keepdims=True)
    errors = np.zeros((n_problems, n))
    for number in range(int(rank.max()) + 1):
        uniform = rng.random(n)
        order = np.argsort(uniform)
        which, bin_ = np.nonzero(held & (rank == number))
        mean = summary.sum_wp[which, bin_]
        gaps = _inverted(laws, which * n_bins + bin_, mean, uniform[order])
        errors[which[:, None], order] += gaps
    return np.abs(errors, out=errors) / total


class _Laws(NamedTuple):
    """Cumulated probabilities of 0, 1, ..., m - 1 successes of each cell of m rows.

    Those of one cell after those of the other; `start` says where they begin.
    """

    value: FloatArray
    start: IntArray
    size: IntArray


def _laws(p: FloatArray, cell: IntArray, n_cells: int) -> _Laws:
    order = np.lexsort((p, cell))
    ordered, held = p[order], np.bincount(cell, minlength=n_cells)
    start = np.cumsum(held) - held
    value = np.empty(len(p))
    for size in np.unique(held[(held > 0) & (held <= _LEAF)]):
        place = start[held == size][:, None] + np.arange(size)
        value[place] = np.cumsum(_multiplied(ordered[place]), axis=1)[:, :-1]
    for c in np.flatnonzero(held > _LEAF):
        own = slice(start[c], start[c] + held[c])
        value[own] = np.cumsum(poisson_binomial.pmf(ordered[own]))[:-1]
    return _Laws(value, start, held)


def _multiplied(trials: FloatArray) -> FloatArray:
    """Probabilities of the numbers of successes of rows of trials, (rows, trials + 1)."""
    rows, size = trials.shape
    law = np.zeros((rows, size + 1))
    law[:, 0] = 1.0
    for k in range(size):
        q = trials[:, k : k + 1]
        law[:, 1 : k + 2] = law[:, 1 : k + 2] * (1 - q) + law[:, : k + 1] * q
        law[:, :1] *= 1 - q
    law = np.clip(law, 0.0, None)
    return law / law.sum(axis=1, keepdims=True)


def _inverted(laws: _Laws, cells: IntArray, mean: FloatArray, uniform: FloatArray) -> FloatArray:
    """Distances of the numbers of successes of cells from their means, at increasing uniforms."""
    n, size = len(uniform), laws.size[cells]
    row = np.repeat(np.arange(len(cells)), size)
    count = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
    # From there on the number exceeds the count, which moves it by one.
    first = np.searchsorted(uniform, laws.value[laws.start[cells][row] + count])
    moved = np.abs(count + 1 - mean[row]) - np.abs(count - mean[row])
    size_of_all = len(cells) * (n + 1)
    jumps = np.bincount(row * (n + 1) + first, moved, minlength=size_of_all).astype(np.float64)
    steps: FloatArray = jumps.reshape(len(cells), n + 1)
    steps[:, 0] += mean
    return np.cumsum(steps[:, :n], axis=1)
