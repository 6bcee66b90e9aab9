"""Folds that do not depend on the order of rows."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace
from zlib import crc32

import numpy as np

from veridical._core.numeric.order import class_order, value_order
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.rows import CheckedRows

_MOST_COPIES = 10_000_000  # beyond, copies are dealt out by their numbers


def folds(rows: CheckedRows, n_folds: int) -> Iterator[tuple[CheckedRows, CheckedRows]]:
    """Training and held-out rows, each row held out once; folds that leave either empty are not."""
    for held in held_out_masses(rows, n_folds, even_classes=True):
        yield rows_of_mass(rows, row_masses(rows) - held), rows_of_mass(rows, held)


def row_masses(rows: CheckedRows) -> FloatArray:
    """How many repetitions each row stands for: its weight if that is a frequency, else one."""
    weight = rows.weight
    if weight is None or rows.weight_type != "frequency" or np.any(weight != np.rint(weight)):
        return np.ones(len(rows.y))
    return weight


def held_out_masses(
    rows: CheckedRows, n_folds: int, *, seed: int = 0, even_classes: bool = False
) -> Iterator[FloatArray]:
    """Mass of each row that is held out, fold by fold; a row's parts add up to its mass.

    Rows are dealt out at random, from sorted rows so that neither their order nor that of the
    classes matters; the draw itself follows the data, or all samples of one size would share its
    luck. Dealing neighbours out in turn would spread them more evenly, and be wrong:
    each fold would repeat the chance fluctuations of the others, and overfitting would go
    unnoticed. Dealing out class by class (`even_classes`) does the same to the base rate: a map
    then seems to know it at no cost. It is for taking a part that stands for all. Either way a
    class of two rows or more is in two folds or more, so that no map lacks it.

    With frequency weights the repetitions a row stands for are dealt out one by one, so a row may
    be in several folds with a part of its weight, and weights mean repetition exactly. Rows with
    `groups` are dealt out group by group, the large ones first, to the fold that has the least.
    """
    mass = row_masses(rows)
    place = np.argsort(class_order(rows.values, rows.y, mass, len(rows.classes)))[rows.y]
    rng = np.random.default_rng([seed, _signature(rows, mass, place)])
    order = value_order(rows.values, rows.y, rows.weight)
    order = order[np.argsort(place[order], kind="stable")]
    if rows.groups is not None:
        fold_of = _dealt_by_group(rows.groups[order], rows.y[order], mass[order], n_folds, rng)
        for fold in range(n_folds):
            held = np.zeros(len(order))
            held[order[fold_of == fold]] = mass[order[fold_of == fold]]
            if 0 < np.count_nonzero(held) < len(held):
                yield held
        return
    deal = _dealt_by_class if even_classes else _dealt
    if (mass == 1).all():  # what follows does the same, with more memory
        counts = np.bincount(place)
        fold_of = deal(counts[counts > 0], n_folds, rng)
        for fold in range(n_folds):
            held = np.zeros(len(order))
            held[order[fold_of == fold]] = 1.0
            if 0 < np.count_nonzero(held) < len(held):
                yield held
        return
    copies = mass[order].astype(np.int64)
    dealt: Iterable[FloatArray]  # one fold at a time: all of many rows would fill the memory
    if copies.sum() > _MOST_COPIES:
        dealt = iter(rng.multinomial(copies, np.full(n_folds, 1 / n_folds)).T)
    else:
        counts = np.add.reduceat(copies, _starts(place[order]))
        fold_of = deal(counts, n_folds, rng)
        first = np.cumsum(copies) - copies
        dealt = (np.add.reduceat(fold_of == fold, first) for fold in range(n_folds))
    for part in dealt:
        held = np.empty(len(order))
        held[order] = part
        if held.max() > 0 and np.any(held < mass):
            yield held


def _signature(rows: CheckedRows, mass: FloatArray, place: IntArray) -> int:
    """A number that other data hardly share: how well predictions rank, or which classes they meet.

    Neither the order of the rows, nor that of the classes, nor whether rows are repeated or
    weighted, nor which of two columns is given, nor whether values are probabilities or logits
    changes it.
    """
    values = rows.values.reshape(len(rows.y), -1).astype(np.float64, copy=False)
    if values.shape[1] > 2:
        of_class = np.zeros(len(rows.classes), dtype=np.intp)
        of_class[rows.y] = place
        met = of_class[values.argmax(axis=1)]
        counts: FloatArray = np.bincount(place * (int(of_class.max()) + 1) + met, mass).astype(
            np.float64
        )
    else:
        score = values[:, 0] if values.shape[1] == 1 else values[:, 1] - values[:, 0]
        first = place == 0
        turned = bool(first.any()) and int(rows.y[first][0]) == 0  # the rarer class is scored
        counts = _ranked(-score if turned else score, np.where(first, mass, 0.0), mass)
    return crc32(" ".join(f"{each:.1f}" for each in counts.tolist()).encode())


def _ranked(score: FloatArray, events: FloatArray, mass: FloatArray) -> FloatArray:
    """Number of events, and of pairs in which one outscores another row, halves for ties."""
    order = np.argsort(score)
    ranked = score[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    del ranked
    hits = np.add.reduceat(events[order], starts)
    others = np.add.reduceat(mass[order], starts) - hits
    below = np.cumsum(others) - others / 2
    return np.array([events.sum(), mass.sum(), float(hits @ below)])


def rows_of_mass(rows: CheckedRows, mass: FloatArray) -> CheckedRows:
    """Rows of which a mass is given; whole rows unless weights are frequencies."""
    part = rows.take(mass > 0)
    if row_masses(rows) is not rows.weight:
        return part
    return replace(part, weight=mass[mass > 0])


def _starts(sorted_classes: IntArray) -> IntArray:
    return np.flatnonzero(np.diff(sorted_classes, prepend=-1))


def _spans(counts: IntArray) -> list[tuple[int, int]]:
    """Where the items of each class begin and end."""
    ends = np.cumsum(counts)
    return list(zip((ends - counts).tolist(), ends.tolist(), strict=True))


def _dealt_by_class(counts: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Fold of each of `counts` items of each class: as even as can be in each class and in all."""
    parts = [rng.permutation(np.arange(a, b)) % n_folds for a, b in _spans(counts)]
    return np.concatenate(parts)


def _dealt(counts: IntArray, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Fold of each item, at random; the last class is the most frequent.

    A class that is in one fold only changes the place of one item with one of another class.
    """
    fold = rng.permutation(int(counts.sum())) % n_folds
    spans = _spans(counts)
    for a, b in spans:
        if b - a > 1 and np.all(fold[a:b] == fold[a]):
            others = np.flatnonzero(fold != fold[a])
            frequent = others[others >= spans[-1][0]]
            if len(others):
                other = rng.choice(frequent if len(frequent) else others)
                fold[[a, other]] = fold[[other, a]]
    return fold


def _dealt_by_group(
    groups: IntArray, y: IntArray, mass: FloatArray, n_folds: int, rng: np.random.Generator
) -> IntArray:
    """Fold of each row: whole groups, at random, so that folds are of similar size.

    Groups are known by the first of their rows, which are sorted, not by their names. A class that
    two groups or more have is in two folds or more.
    """
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[group.reshape(-1)]
    sizes = np.bincount(place, mass)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold = np.empty(len(sizes), dtype=np.intp)
    if sizes.min() == sizes.max():
        fold[order] = np.arange(len(order)) % n_folds
    else:
        filled = [(0.0, k) for k in range(n_folds)]
        for each in order.tolist():
            lightest, k = heapq.heappop(filled)
            fold[each] = k
            heapq.heappush(filled, (lightest + float(sizes[each]), k))
    for label in np.unique(y).tolist():
        having = np.unique(place[y == label])
        if len(having) > 1 and np.all(fold[having] == fold[having[0]]):
            fold[having[0]] = (fold[having[0]] + 1) % n_folds
    return fold[place]
