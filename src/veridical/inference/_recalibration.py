"""Slope and level of a recalibration line, in one pass over any number of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.inference._cox_binary import fit_binary
from veridical.inference._likelihood import likelihood_weight
from veridical.results import Coefficient

_CLIP = 1e-12
_WIDEST = 28.0  # log-odds of the clip, rounded up
_N_CELLS = 1 << 12
_EXACT_UP_TO = 1 << 15


class Recalibration(NamedTuple):
    """Coefficients of Cox's regression of the outcomes on the log-odds of the predictions."""

    slope: Coefficient
    in_the_large: Coefficient


def recalibration_line(sample: BinarySample, confidence_level: float) -> Recalibration:
    """Return what `cox_test` finds, without testing.

    Beyond 32,768 rows those with log-odds within 0.014 of each other are fitted as one, which
    moves coefficients by far less than their standard error.
    """
    from scipy.special import ndtri

    fit = fit_binary(
        sample if sample.n <= _EXACT_UP_TO else _in_cells(sample),
        _CLIP,
        float(ndtri((1 + confidence_level) / 2)),
    )
    return Recalibration(fit.slopes[0], fit.in_the_large[0])


def _in_cells(sample: BinarySample) -> BinarySample:
    p = sample.p.astype(np.float64, copy=False).clip(_CLIP, 1 - _CLIP)
    odds = np.log(p / (1 - p))
    cell = ((odds + _WIDEST) * (_N_CELLS / (2 * _WIDEST))).astype(np.intp)
    weight = likelihood_weight(sample)

    def by_cell(values: FloatArray) -> FloatArray:
        return np.bincount(cell, weights=values, minlength=_N_CELLS).astype(np.float64)

    total, positive = by_cell(weight), by_cell(weight * sample.y)
    held = total > 0
    mean = by_cell(weight * p)[held] / total[held]
    # A count that rounding leaves below zero is none.
    outcomes = np.concatenate([positive[held], np.maximum(total[held] - positive[held], 0.0)])
    y = np.repeat([1, 0], len(mean))
    rows = outcomes > 1e-9
    return BinarySample(
        y=y[rows], p=np.tile(mean, 2)[rows], weight=outcomes[rows], weight_type="frequency"
    )
