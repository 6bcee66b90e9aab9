"""Folds that do not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._wrapping import CheckedRows

_MOST_COPIES = 10_000_000  # beyond, copies are dealt out by their numbers


def folds(rows: CheckedRows, n_folds: int) -> Iterator[tuple[CheckedRows, CheckedRows]]:
    """Training and held-out rows, each row held out once; folds that leave either empty are not."""
    for held in held_masses(rows, n_folds):
        yield some(rows, masses(rows) - held), some(rows, held)


def masses(rows: CheckedRows) -> FloatArray:
    """How many repetitions each row stands for: its weight if that is a frequency, else one."""
    weight = rows.weight
    if weight is None or rows.weight_type != "frequency" or np.any(weight != np.rint(weight)):
        return np.ones(len(rows.y))
    return weight


def held_masses(rows: CheckedRows, n_folds: int, *, seed: int = 0) -> Iterator[FloatArray]:
    """Mass of each row that is held out, fold by fold; a row's parts add up to its mass.

    Rows of each class are dealt out at random, from sorted rows so that their order does not
    matter. Dealing neighbours out in turn would spread them more evenly still, and be wrong: each
    fold would repeat the chance fluctuations of the others, and overfitting would go unnoticed.
    With frequency weights the repetitions a row stands for are dealt out one by one, so a row may
    be in several folds with a part of its weight, and weights mean repetition exactly.
    """
    matrix = rows.values.reshape(len(rows.y), -1)
    keys = [*matrix.T, rows.y] if rows.weight is None else [rows.weight, *matrix.T, rows.y]
    order = np.lexsort(keys)
    mass = masses(rows)
    copies = mass[order].astype(np.int64)
    rng = np.random.default_rng(seed)
    if copies.sum() > _MOST_COPIES:
        dealt = rng.multinomial(copies, np.full(n_folds, 1 / n_folds)).T
    else:
        fold_of = _dealt(np.add.reduceat(copies, _starts(rows.y[order])), n_folds, rng)
        first = np.cumsum(copies) - copies
        dealt = np.array([np.add.reduceat(fold_of == fold, first) for fold in range(n_folds)])
    for part in dealt:
        held = np.empty(len(order))
        held[order] = part
        if held.max() > 0 and np.any(held < mass):
            yield held


def some(rows: CheckedRows, mass: FloatArray) -> CheckedRows:
    """Rows of which a mass is given; whole rows unless weights are frequencies."""
    part = rows.take(mass > 0)
    if masses(rows) is not rows.weight:
        return part
    return replace(part, weight=mass[mass > 0])


def _starts(sorted_classes: IntArray) -> IntArray:
    return np.flatnonzero(np.diff(sorted_classes, prepend=-1))


def _dealt(counts: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Fold of each of `counts` items of each class: as even as can be in each class and in all."""
    ends = np.cumsum(counts)
    spans = zip((ends - counts).tolist(), ends.tolist(), strict=True)
    return np.concatenate([rng.permutation(np.arange(a, b)) % n_folds for a, b in spans])
