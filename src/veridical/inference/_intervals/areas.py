r"""Limits of the area under the ROC curve, and of the mean of several.

The area is the mean over positives of the share of negatives they outscore, and the mean over
negatives of the share of positives that outscore them; the variance is the sum of those of both
means (DeLong, DeLong & Clarke-Pearson 1988, doi 10.2307/2531595). Each mean has the limits of a
bounded variable, which hold with few events and near 1, where a variance is nothing. Their
distances d from the area are put together as standard errors are,

.. math:: A \pm \sqrt{\textstyle\sum_{jk} \rho_{jk} d_j d_k}

(Zou & Donner 2008, doi 10.1002/sim.3095). Correlations are zero between the two means of one area
unless rows are clustered (Obuchowski 1997, doi 10.2307/2533958), and those that were observed
between areas of several classes on the same rows. One more row, which limits of bounded variables
suppose, is supposed to be placed no worse than at random, or than the worst that was seen; where
all predictions are equal nothing was seen, and it may be placed anywhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np

from veridical._core.typing import BoolArray, FloatArray
from veridical.inference._intervals.bounded import Support, mean_limits
from veridical.inference._intervals.rows import Rows


def area_limits(problems: Iterable[Rows], area: float, level: float) -> tuple[float, float] | None:
    """Limits of the mean area of problems on the same rows; None if one of them has none."""
    moved: FloatArray | None = None  # what each row, or cluster, adds to either distance
    problems = iter(problems)
    several = list(itertools.islice(problems, 2))
    one = len(several) == 1 and several[0].clusters is None  # outcomes share no row
    alone, number = np.zeros(2), 0
    for rows in itertools.chain(several, problems):
        outscored = _outscored(rows)
        if outscored is None:
            return None
        number += 1
        for outcome in (0, 1):
            part = _of(rows, rows.y == outcome)
            value = outscored[rows.y == outcome]
            effect = part.design_effect(value, level)
            if math.isinf(effect):
                return None
            middle = part.mean(value)
            told_apart = float(value.min()) < float(value.max()) or value[0] != 0.5
            support = Support(min(0.5, float(value.min())) if told_apart else 0.0, 1.0)
            low, high = mean_limits(part.masses(value, effect), support, level)
            distance = np.array([max(middle - low, 0.0), max(high - middle, 0.0)])
            if one:
                alone += distance**2
                continue
            influence = _influence(rows, np.where(rows.y == outcome, outscored - middle, 0.0))
            size = float(np.sqrt(influence @ influence))
            if size == 0:
                alone += distance**2
                continue
            added = np.multiply.outer(distance / size, influence)
            moved = added if moved is None else moved + added
    together = alone if moved is None else alone + (moved**2).sum(axis=1)
    down, up = np.sqrt(together) / number
    return max(0.0, area - float(down)), min(1.0, area + float(up))


def _outscored(rows: Rows) -> FloatArray | None:
    """Share of the other class that each row is on the right side of, ties counting one half."""
    order = np.argsort(rows.p, kind="stable")
    starts = np.flatnonzero(np.diff(rows.p[order], prepend=-1.0))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    negative = np.bincount(place, rows.total * (1 - rows.y))
    positive = np.bincount(place, rows.total * rows.y)
    if not (negative.any() and positive.any()):
        return None
    below = (np.cumsum(negative) - negative / 2) / negative.sum()
    above = 1 - (np.cumsum(positive) - positive / 2) / positive.sum()
    return np.where(rows.y == 1, below[place], above[place]).clip(0.0, 1.0)


def _of(rows: Rows, held: BoolArray) -> Rows:
    """Rows of one outcome."""
    if rows.clusters is None:
        return Rows(
            rows.y[held], rows.p[held], rows.shape[held], rows.scale[held], None, None, None
        )
    every = rows.each(held)
    place = np.cumsum(held) - 1
    cell = None if rows.cell is None else place[rows.cell[every]]
    weight = None if rows.weight is None else rows.weight[every]
    clusters = np.unique(rows.clusters[every], return_inverse=True)[1]
    return Rows(
        rows.y[held], rows.p[held], rows.shape[held], rows.scale[held], weight, cell, clusters
    )


def _influence(rows: Rows, away: FloatArray) -> FloatArray:
    """What every row of the sample, or every cluster, adds to a mean, but for a factor."""
    each, weight = rows.each(away), rows.weight
    if weight is not None and rows.clusters is None and (rows.scale == 1).all():
        weight = np.sqrt(weight)  # squares of f independent copies of a row add up to f squares
    each = each if weight is None else each * weight
    if rows.clusters is None:
        return each
    return np.asarray(np.bincount(rows.clusters, each), dtype=np.float64)
