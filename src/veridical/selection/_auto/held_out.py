"""One automatic fit, and what it said of the rows it left out on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.left_out import LeftOut
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators import Calibrator
from veridical.calibrators.core import CheckedRows
from veridical.calibrators.judging import without_copies
from veridical.results import Evidence
from veridical.selection._auto.candidates import default_candidates
from veridical.selection._auto.choice import choose
from veridical.selection._auto.evidence import cross_weighted, evidence_of


@dataclass(frozen=True)
class AutoFit:
    """What `AutoCalibrator` makes of rows, with one partition of them seen from outside.

    Attributes
    ----------
    calibrator : the map, fitted to all rows
    evidence : its table
    y, weight : outcomes and weights of the rows held out, fold after fold
    before, after, own : (m, K) probabilities of these rows: as they came, by maps and weights found
        without them, and by the map fitted to all
    n_folds : number of the folds
    """

    calibrator: Calibrator
    evidence: Evidence
    y: IntArray
    weight: FloatArray | None
    before: FloatArray
    after: FloatArray
    own: FloatArray
    n_folds: int

    @property
    def left_alone(self) -> bool:
        """Whether predictions stay as they came."""
        return self.evidence.candidates[0].weight == 1


def auto_fit(rows: CheckedRows, *, confidence_level: float) -> AutoFit | LeftOut:
    """Fit once, as `AutoCalibrator` does to probabilities; no further fits are made to hold out.

    Maps of the folds that the weights were found on have not seen the rows of their fold, and of
    every two folds the weights are found on the others: what is held out costs nothing more.
    """
    rows, copies = without_copies(rows)
    candidates = default_candidates(len(rows.classes), rows.units, "probability", "pool")
    choice = choose(
        candidates, rows, input="probability", strategy="pool", max_seconds=None, every_fold=True
    )
    if not choice.partitions or choice.identity is None:
        return LeftOut("too few rows to hold any out")
    first = slice(0, choice.judge.ends[0])
    before = choice.identity[first]
    weighed = None
    if choice.identity_weight < 1 and choice.fitted:
        weighed = cross_weighted(choice, "pool")
    return AutoFit(
        calibrator=choice.calibrator,
        evidence=evidence_of(
            choice, rows, "pool", confidence_level, held_out=weighed, copies=copies
        ),
        y=choice.judge.y[first],
        weight=None if rows.weight is None else choice.judge.weight[first],
        before=before,
        after=before if weighed is None else weighed[first],
        own=np.asarray(choice.calibrator.predict_proba(before)),
        n_folds=choice.partitions[0],
    )
