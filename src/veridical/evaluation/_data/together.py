"""Rows that belong together: what they tell, and signs of it where nobody said so."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.resampling.hypothesis import design_effect
from veridical._core.sample import BinarySample, Sample
from veridical.lenses import Confidence

_FEW = 10  # groups that say little of how much they differ
_LEAST_ROWS = 50
_REPEATED = 0.2  # share of rows with the prediction of the row before, beyond chance
_ALIKE, _SURELY = 0.1, 6.0  # correlation of neighbours, and its standard deviations from none
_LOOKED_AT = 1000
_SORTED = 0.02  # changes of the outcome a row, below which rows are sorted by it


def notes_on_groups(sample: Sample) -> list[str]:
    """What groups leave of the rows; without groups, a hint if rows look as if there were some."""
    if sample.clusters is None:
        return _signs(sample)
    wider = design_effect(sample)
    n_groups = len(np.unique(sample.clusters))
    notes = [
        f"{sample.n:,} rows in {n_groups:,} groups tell as much of the level as"
        f" {sample.size / wider:,.0f} independent ones (design effect {wider:.2f})"
    ]
    if n_groups < _FEW:
        notes.append(
            f"{n_groups} groups hardly say how much groups differ: limits and p-values are rough"
        )
    return notes


def _signs(sample: Sample) -> list[str]:
    """Repeated predictions one after the other, or neighbours that are wrong together."""
    rows = sample if isinstance(sample, BinarySample) else Confidence().induce(sample)
    p, y = rows.p, rows.y
    if len(p) < _LEAST_ROWS or _is_sorted(p) or np.mean(y[1:] != y[:-1]) < _SORTED:
        return []
    hint = "if rows belong together (patients, prompts, days), say so by `groups`"
    repeated = float(np.mean(p[1:] == p[:-1]))
    if repeated > _REPEATED and repeated > _by_chance(p) + _REPEATED:
        return [f"{100 * repeated:.0f} % of the rows have the prediction of the row before: {hint}"]
    residual = (y - p).astype(np.float64, copy=False)
    residual -= residual.mean()
    variance = float(residual @ residual)
    if variance == 0:
        return []
    alike = float(residual[1:] @ residual[:-1]) / variance
    if alike > _ALIKE and alike * math.sqrt(len(p)) > _SURELY:
        return [f"neighbouring rows are wrong together (correlation {alike:.2f}): {hint}"]
    return []


def _by_chance(p: np.ndarray) -> float:
    """How often two rows have the same prediction."""
    share = np.unique(p, return_counts=True)[1] / len(p)
    return float(share @ share)


def _is_sorted(p: np.ndarray) -> bool:
    few = np.sign(np.diff(p[:_LOOKED_AT]))
    if few.min() < 0 < few.max():  # few rows tell most often
        return False
    return bool((p[1:] >= p[:-1]).all() or (p[1:] <= p[:-1]).all())
