"""Predictions of rows that a map has not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.sample import Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.folds import held_out_masses, row_masses, rows_of_mass
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._wrappers.wrapping import fit_part, fresh_part


class CrossFitted(NamedTuple):
    """Numbers of rows, increasing, what maps fitted to other rows say of them, and weights.

    With frequency weights a row may come several times, with a part of its weight each. `notes`
    are what the fits leave in doubt.
    """

    rows: IntArray
    p: FloatArray
    weight: FloatArray | None
    notes: Notes = ()

    @property
    def in_order(self) -> bool:
        """Whether every row comes once, in its place."""
        return bool(np.array_equal(self.rows, np.arange(len(self.rows))))


def cross_fitted(sample: Sample, calibrator: Calibrator, n_folds: int) -> CrossFitted:
    """Recalibrate every row by a copy of `calibrator` fitted to the other folds."""
    rows = _rows_of(sample)
    taken: list[IntArray] = []
    predicted: list[FloatArray] = []
    weights: list[FloatArray] = []
    notes: Notes = ()
    for mass in held_out_masses(rows, n_folds):
        kept, held = rows_of_mass(rows, row_masses(rows) - mass), rows_of_mass(rows, mass)
        part = _part_of(calibrator, rows)
        notes += fit_part(part, kept)
        taken.append(np.flatnonzero(mass))
        predicted.append(part.predict_proba(held.values))
        weights.append(np.ones(len(held.y)) if held.weight is None else held.weight)
    order = np.argsort(np.concatenate(taken), kind="stable")
    weight = None if sample.weight is None else np.concatenate(weights)[order]
    return CrossFitted(
        np.concatenate(taken)[order], np.concatenate(predicted)[order], weight, notes
    )


def fitted_to_itself(sample: Sample, calibrator: Calibrator) -> FloatArray:
    """Recalibrate every row by a copy of `calibrator` fitted to all, (n, K)."""
    rows = _rows_of(sample)
    part = _part_of(calibrator, rows)
    fit_part(part, rows)
    return part.predict_proba(rows.values)


def _rows_of(sample: Sample) -> CheckedRows:
    return CheckedRows(sample.p, sample.y, sample.weight, sample.weight_type, sample.classes)


def _part_of(calibrator: Calibrator, rows: CheckedRows) -> Calibrator:
    labels = list(range(len(rows.classes)))
    return fresh_part(calibrator, labels=labels, weight_type=rows.weight_type)
