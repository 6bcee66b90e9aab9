"""Predictions of every row by a calibrator that was fitted to other rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from veridical._core.sample import Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._direction import direction_known
from veridical.calibrators._folds import held_masses, masses, some
from veridical.calibrators._wrapping import CheckedRows


class CrossFitted(NamedTuple):
    """Numbers of rows, increasing, what maps fitted to other rows say of them, and weights.

    With frequency weights a row may come several times, with a part of its weight each.
    """

    rows: IntArray
    p: FloatArray
    weight: FloatArray | None

    @property
    def in_order(self) -> bool:
        """Whether every row comes once, in its place."""
        return bool(np.array_equal(self.rows, np.arange(len(self.rows))))


def cross_fitted(sample: Sample, calibrator: Calibrator, n_folds: int) -> CrossFitted:
    """Recalibrate every row by a copy of `calibrator` fitted to the other folds."""
    rows = CheckedRows(sample.p, sample.y, sample.weight, sample.weight_type, sample.classes)
    labels = list(range(len(sample.classes)))
    taken: list[IntArray] = []
    predicted: list[FloatArray] = []
    weights: list[FloatArray] = []
    for mass in held_masses(rows, n_folds):
        kept, held = some(rows, masses(rows) - mass), some(rows, mass)
        part: Calibrator = clone(calibrator)
        part.set_params(labels=labels, weight_type=sample.weight_type)
        part.keeps_fingerprint = False
        with direction_known():
            part.fit(kept.values, kept.y, sample_weight=kept.weight)
        taken.append(np.flatnonzero(mass))
        predicted.append(part.predict_proba(held.values))
        weights.append(np.ones(len(held.y)) if held.weight is None else held.weight)
    order = np.argsort(np.concatenate(taken), kind="stable")
    weight = None if sample.weight is None else np.concatenate(weights)[order]
    return CrossFitted(np.concatenate(taken)[order], np.concatenate(predicted)[order], weight)
