"""Weights that are one a label, in all rows or within strata: what a row of each label would weigh.

Rows kept with a chance that depends on their label and on a stratum weigh its inverse. Strata are
those given (`by`), or stretches of predictions between which weights change, which the weights
themselves tell; of more than two classes the most probable one. Either is a rule of the weights,
not of how well it fits: every label of every stratum must have one weight.

That weights go with labels there must be shown by more than a row or two, or one heavy row that
happens to have a stretch of its own would say what its neighbours of the other label had weighed.
Dealt to the rows of a stratum whatever their label, weights would be one a label in one of so many
ways: m! over the product of c!, for c rows of each weight among m. Where these are few, what a row
of another label would weigh is left open.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from veridical._core.sample import Sample
from veridical._core.typing import BoolArray, FloatArray, IntArray

_EACH = 10  # rows for every label of a stratum, on average; else weights are alike by chance
_WAYS = 200.0  # of dealing weights to the rows of a stratum, from which on they go with labels
_BY_LABEL = "outcomes redrawn with the odds of the sample, one weight a label"
_SAID = {
    "given": f"{_BY_LABEL} and group",
    "stretches": f"{_BY_LABEL} and stretch of predictions",
    "classes": f"{_BY_LABEL} and most probable class",
}


def weights_of_labels(sample: Sample, p: FloatArray) -> tuple[FloatArray, str] | None:
    """What rows would weigh had their label been another, (n, K); None unless that is one value.

    NaN where a stratum lacks a label, or does not show enough. Rows are in the order of their
    predictions.
    """
    assert sample.weight is not None
    weight, y, n_classes = sample.weight, sample.y.astype(np.intp), p.shape[1]
    whole = _table(weight, y, np.zeros(len(y), dtype=np.intp), n_classes)
    if whole is not None:
        return (whole[np.zeros(len(y), dtype=np.intp)], _BY_LABEL) if _full(whole) else None
    for name, stratum in _strata(sample, p):
        table = _table(weight, y, stratum, n_classes)
        if table is None or np.isfinite(table).sum() * _EACH > len(y):
            continue
        differ, shown = _shown(table, np.bincount(stratum * n_classes + y, minlength=table.size))
        if shown.any() or not differ.any():
            table[differ & ~shown] = np.nan
            return table[stratum], _SAID[name]
    return None


def _full(table: FloatArray) -> bool:
    return bool(np.isfinite(table).all())


def _strata(sample: Sample, p: FloatArray) -> Iterator[tuple[str, IntArray]]:
    if sample.strata is not None:
        yield "given", np.unique(sample.strata, return_inverse=True)[1].reshape(-1)
    if p.shape[1] > 2:
        yield "classes", p.argmax(axis=1)
        return
    assert sample.weight is not None
    found = _stretches(p[:, 1], sample.y, sample.weight)
    if found is not None:
        yield "stretches", found


def _table(weight: FloatArray, y: IntArray, stratum: IntArray, n_classes: int) -> FloatArray | None:
    """The weight of every label of every stratum; None if some have several."""
    cell = stratum * n_classes + y
    table = np.full((int(stratum.max()) + 1) * n_classes, np.nan)
    table[cell] = weight
    return table.reshape(-1, n_classes) if bool((table[cell] == weight).all()) else None


def _shown(table: FloatArray, count: IntArray) -> tuple[BoolArray, BoolArray]:
    """Strata whose labels weigh differently, and those of them where chance does not explain it.

    `table` has the weight of every label of every stratum, `count` the rows of each in turn.
    """
    from scipy.special import gammaln

    stratum = np.repeat(np.arange(len(table)), table.shape[1])
    held = np.flatnonzero(count)
    held = held[np.lexsort((table.ravel()[held], stratum[held]))]
    stratum, value = stratum[held], table.ravel()[held]
    first = np.append(True, (stratum[1:] != stratum[:-1]) | (value[1:] != value[:-1]))
    rows = np.bincount(np.cumsum(first) - 1, count[held])  # of one weight
    owner = stratum[first]
    ways = gammaln(np.bincount(owner, rows, len(table)) + 1)
    ways -= np.bincount(owner, gammaln(rows + 1), len(table))
    differ = np.bincount(owner, minlength=len(table)) > 1
    return differ, differ & (ways >= np.log(_WAYS))


def _stretches(p: FloatArray, y: IntArray, weight: FloatArray) -> IntArray | None:
    """Number of the stretch of each row, as few as leave one weight a label; None if too many.

    Between two rows of a label that weigh differently one stretch ends: as in any set of intervals,
    the fewest points that part all pairs are found from the first end on. O(n).
    """
    lefts, rights = [], []
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        changes = np.flatnonzero(weight[rows][1:] != weight[rows][:-1])
        lefts.append(rows[changes])
        rights.append(rows[changes + 1])
    left, right = np.concatenate(lefts), np.concatenate(rights)
    if len(right) * _EACH > len(p):
        return None
    starts, last = np.zeros(len(p), dtype=np.intp), -1
    for i in np.argsort(right, kind="stable"):
        if left[i] < last:
            continue
        begin = int(np.searchsorted(p, p[right[i]], side="left"))
        if begin <= left[i]:  # rows of one prediction weigh differently
            return None
        starts[begin], last = 1, begin
    return np.cumsum(starts)
