"""Mixing with the uniform distribution, also known as label smoothing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from veridical._core.typing import FloatArray, WeightType
from veridical._core.validation import is_integer, is_number
from veridical.calibrators._calibrator import Calibrator
from veridical.calibrators._folds import folds
from veridical.calibrators._wrapping import CheckedRows, WrappingCalibrator, fitted_part
from veridical.exceptions import invalid

_LOWEST = 1e-300  # stands for a share of zero where the loss is infinite there


class MixingCalibrator(WrappingCalibrator):
    r"""Mixes a share of the uniform distribution into the output of another calibrator.

    .. math:: c(p) = (1 - m)\, g(p) + m / K

    A guard for maps that say 0 or 1, and the right answer if a share m of the labels was drawn at
    random while g is right about the others. Training on smoothed labels (1 - m) y + m / K [1]_
    leads to the same place, since the mean of such labels is this mixture.

    Parameters
    ----------
    calibrator : Calibrator
        The map g; `IdentityCalibrator()` to mix into predictions as they are.
    mix : float in [0, 1] or "fit", default "fit"
        The share m, or the one of least log loss on held-out rows.
    cv : int, default 5
        Folds for fitting m: each fold is predicted by a map fitted to the others. On the rows it
        was fitted to, a flexible map would seem to need no mixing.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as the wrapped calibrator takes them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    part_ : Calibrator
        The map, fitted to all rows.
    mix_ : float
        m.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    The log loss is convex in m. It has its minimum at 0 if the map never was too sure of itself;
    then nothing guards against a first surprise, and a given m or the guard of the map itself is
    the safer choice. Folds are dealt from sorted rows, so nothing is random. With too few rows
    to hold any out, m is fitted to the same rows as the map. Time: cv + 1 fits.

    References
    ----------
    .. [1] Szegedy, Vanhoucke, Ioffe, Shlens & Wojna (2016), CVPR, arXiv 1512.00567, section 7.

    Examples
    --------
    Always sure and wrong in one of four rows: m / 2 = 1 / 4.

    >>> from veridical.calibrators import IdentityCalibrator
    >>> calibrator = MixingCalibrator(IdentityCalibrator()).fit([1.0] * 4, [1, 1, 1, 0])
    >>> round(calibrator.mix_, 6)
    0.5
    >>> calibrator.predict_proba([1.0]).round(6).tolist()
    [[0.25, 0.75]]
    """

    def __init__(
        self,
        calibrator: Calibrator,
        *,
        mix: float | Literal["fit"] = "fit",
        cv: int = 5,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.calibrator = calibrator
        self.mix = mix
        self.cv = cv
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    def _check_parameters(self) -> None:
        self._part()
        caller = type(self).__name__
        if self.mix != "fit" and not (is_number(self.mix) and 0 <= self.mix <= 1):
            hint = 'use "fit" to let the data decide.'
            raise invalid(caller, "mix", 'in [0, 1] or "fit"', repr(self.mix), hint=hint)
        if not (is_integer(self.cv) and self.cv >= 2):
            hint = "5 or 10 folds are usual."
            raise invalid(caller, "cv", "an integer of 2 or more", repr(self.cv), hint=hint)

    def _fit_checked(self, rows: CheckedRows) -> None:
        self.part_ = self._part().fit(rows.values, rows.y, rows.weight)
        self.mix_ = self._fitted_mix(rows) if self.mix == "fit" else float(self.mix)

    def _fitted_mix(self, rows: CheckedRows) -> float:
        pairs = ((fitted_part(self._part(), kept), held) for kept, held in folds(rows, self.cv))
        judged = [(part, held) for part, held in pairs if part is not None]
        judged = judged or [(self.part_, rows)]
        given = [part.predict_proba(r.values)[np.arange(len(r.y)), r.y] for part, r in judged]
        weight = [np.ones(len(r.y)) if r.weight is None else r.weight for _, r in judged]
        return best_mix(np.concatenate(given), np.concatenate(weight), len(rows.classes))

    def _combine(self, values: FloatArray) -> FloatArray:
        p = self.part_.predict_proba(values)
        return (1 - self.mix_) * p + self.mix_ / p.shape[1]


def best_mix(given: FloatArray, weight: FloatArray, n_classes: int) -> float:
    """Share m of least log loss sum w log((1 - m) p + m / K), p being given to what happened."""
    from scipy.optimize import brentq

    away = 1 / n_classes - given

    def slope(m: float) -> float:
        return -float(weight @ (away / (given + m * away)))

    low = 0.0 if given.min() > 0 else _LOWEST
    if slope(low) >= 0:
        return 0.0
    if slope(1.0) <= 0:
        return 1.0
    return float(brentq(slope, low, 1.0, xtol=1e-14, rtol=1e-14))
