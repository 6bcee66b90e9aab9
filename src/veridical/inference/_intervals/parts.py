r"""Limits of the parts of a score: what recalibration would save, and what predictions are worth.

Miscalibration is :math:`E[S(p, y) - S(r, y)]` and discrimination :math:`E[S(\pi, y) - S(r, y)]`
with r the isotonic regression of the outcomes on the predictions and :math:`\pi` the base rate. As
r has the best mean score of all increasing maps,

- any other map g has a smaller difference: the lower limit is that of the mean with maps that were
  fitted to other rows (in five folds), whatever they are;
- its fit to the rows has a larger one: the upper limit is that of the mean with the fit itself.

Means are those of bounded variables. Both limits err on the safe side by what fitting costs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.pava import isotonic_fit
from veridical._core.sample import BinarySample, pool_scores
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._intervals.bounded import Masses, Support, upper_limit
from veridical.inference._intervals.rows import Rows
from veridical.inference._intervals.support import expected_support
from veridical.scores import ScoringRule

_FOLDS = 5


class PartLimits(NamedTuple):
    """Limits of both parts."""

    miscalibration: tuple[float, float]
    discrimination: tuple[float, float]


def part_limits(rows: Rows, rule: ScoringRule, level: float) -> PartLimits | None:
    """Limits of the parts of a mean score; None where it is infinite."""
    y, tail = rows.y.astype(np.intp), (1 - level) / 2
    own, base = _losses(rule, rows.p), _losses(rule, np.full(len(y), rows.mean(rows.y)))
    maps = _maps(rows)
    folds, fitted = maps.folds, _losses(rule, maps.fitted)
    mapped = [_losses(rule, each) for each in maps.mapped]
    if not all(np.isfinite(_of(each, y)).all() for each in (own, base, fitted, *mapped)):
        return None
    rate = np.array([(rows.shape @ rows.y + 1) / (rows.shape.sum() + 2)])  # none is known to be 0
    found = []
    for losses, possible in ((own, own), (base, np.vstack([base, _losses(rule, rate)]))):
        inside = _of(losses, y) - _of(fitted, y)
        effect = rows.design_effect(inside, level)
        if math.isinf(effect):
            return None
        most = _support(rule, rows, possible, inside).highest
        high = upper_limit(rows.masses(inside, effect), most, tail).value
        each = [_of(losses, y) - _of(other, y) for other in mapped]
        least = min(
            _support(rule, rows, _difference(losses, other), seen).lowest
            for other, seen in zip(mapped, each, strict=True)
        )
        shape = (rows.shape[:, None] * folds).T.ravel()
        masses = Masses(-np.concatenate(each), shape, np.tile(rows.scale, _FOLDS))
        held = masses.shape > 0
        masses = Masses(*(each[held] for each in masses)).thinned(effect).pooled()
        low = -upper_limit(masses, -least, tail).value
        found.append((min(max(0.0, low), high), high))
    return PartLimits(*found)


class _Maps(NamedTuple):
    """Shares of rows in folds, an isotonic fit of all rows, and those of all but a fold each."""

    folds: FloatArray
    fitted: FloatArray
    mapped: list[FloatArray]


def _maps(rows: Rows) -> _Maps:
    """The same for every rule."""
    if "maps" not in rows.kept:
        folds = _folds(rows)
        fitted = _isotonic(rows.p, rows.y.astype(np.intp), rows.total)[0]
        mapped = [_mapped(rows, rows.total * (1 - share)) for share in folds.T]
        rows.kept["maps"] = _Maps(folds, fitted, mapped)
    found: _Maps = rows.kept["maps"]
    return found


def _losses(rule: ScoringRule, p: FloatArray) -> FloatArray:
    """Score of both outcomes, (n, 2)."""
    each = (np.full(len(p), k, dtype=np.intp) for k in (0, 1))
    return np.column_stack([rule.per_row(BinarySample(y=y, p=p)) for y in each])


def _of(losses: FloatArray, y: IntArray) -> FloatArray:
    return np.where(y == 1, losses[:, 1], losses[:, 0])


def _difference(losses: FloatArray, other: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):  # an outcome that none expects: left out of the support
        return losses - other


def _support(rule: ScoringRule, rows: Rows, losses: FloatArray, seen: FloatArray) -> Support:
    """Ends of losses of both outcomes; of unbounded ones of most of them, see `score_support`."""
    if rule.name == "log" and len(losses) == len(rows.p):
        return expected_support(losses, np.column_stack([1 - rows.p, rows.p]), seen, rows.shape)
    finite = losses[np.isfinite(losses)]
    return Support(min(finite.min(), seen.min()), max(finite.max(), seen.max()))


def _isotonic(
    p: FloatArray, y: IntArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Isotonic fit at every row; and distinct scores with it."""
    fit = isotonic_fit(pool_scores(p, y, weight))
    return fit.at(p), fit.scores.value, fit.fitted


def _mapped(rows: Rows, weight: FloatArray) -> FloatArray:
    """An isotonic fit with these weights, each of its blocks given one more row, as predicted."""
    held = weight > 0
    if not held.any():
        return rows.p
    y = rows.y.astype(np.intp)
    fitted, value, levels = _isotonic(rows.p[held], y[held], weight[held])
    size = np.bincount(np.unique(fitted, return_inverse=True)[1], (weight / rows.scale)[held])
    found = np.interp(rows.p, value, levels)
    number = np.interp(found, np.unique(fitted), size)
    return (number * found + rows.p) / (number + 1)


def _folds(rows: Rows) -> FloatArray:
    """Share of every row or cell that is in each fold, by chance that knows values only."""
    rng = np.random.default_rng(0)
    if rows.clusters is not None:
        y, p = rows.each(rows.y), rows.each(rows.p)
        sums = [np.bincount(rows.clusters, each) for each in (y * p, y, p * p, p, np.ones(len(p)))]
        by_content = np.argsort(np.lexsort([np.round(each, 9) for each in sums]))  # not by name
        fold = (rng.permutation(len(by_content)) % _FOLDS)[by_content[rows.clusters]]
        cell = np.arange(len(rows.y)) if rows.cell is None else rows.cell
        held = np.bincount(cell * _FOLDS + fold, rows.weight, len(rows.y) * _FOLDS)
        return held.reshape(-1, _FOLDS) / rows.total[:, None]
    order = np.lexsort((rows.scale, rows.y, rows.p))
    keys = np.column_stack([rows.scale, rows.y, rows.p])[order]
    starts = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    counts = np.maximum(np.rint(np.add.reduceat(rows.shape[order], starts)), 1).astype(np.int64)
    drawn = rng.multinomial(counts, np.full(_FOLDS, 1 / _FOLDS)) / counts[:, None]
    shares = np.empty((len(order), _FOLDS))
    shares[order] = np.repeat(drawn, np.diff(starts, append=len(order)), axis=0)
    return shares
