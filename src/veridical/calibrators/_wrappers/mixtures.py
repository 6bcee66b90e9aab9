"""Averages of other calibrators, and of one with the uniform distribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

from veridical._core.data.options import check_folds
from veridical._core.data.schema import Fields, Number, Numbers, Several
from veridical._core.data.validation import is_number
from veridical._core.formula import Linear, Nodes
from veridical._core.numeric.blocks import row_blocks
from veridical._core.numeric.roots import root_between
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.estimator import fresh
from veridical.calibrators._base.folds import folds
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._base.scales import Shared
from veridical.calibrators._base.words import number
from veridical.calibrators._wrappers.wrapping import (
    WrappingCalibrator,
    check_calibrators,
    fit_part,
    fit_part_if_possible,
    predict_part,
)
from veridical.exceptions import invalid

_BLOCK_VALUES = 1 << 17  # what parts share stays in the cache, and memory does not grow with rows


@dataclass(eq=False, repr=False)
class AveragedCalibrator(WrappingCalibrator):
    r"""Weighted average of the probabilities of several maps (linear opinion pool).

    .. math:: c(p) = \sum_m w_m g_m(p), \quad w_m \ge 0, \; \sum_m w_m = 1

    The log loss of an average is at most the average of the log losses [1]_, and less the more the
    maps differ. A weighted sum of maps is as easy to ship as the maps are.

    Parameters
    ----------
    calibrators : sequence of Calibrator
        What is fitted and averaged.
    weights : sequence of float, optional
        Their weights, which are divided by their sum; default all alike.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as the averaged calibrators take them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    parts_ : list of calibrators
        Fitted maps.
    weights_ : array of shape (number of maps,)
        Weights, of sum 1.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    The weights are given, not fitted: `AutoCalibrator` finds them on held-out rows. An average of
    calibrated maps that differ is itself slightly under-confident [2]_, by about the variance of
    the maps around their mean.

    References
    ----------
    .. [1] Jensen's inequality: -log is convex.
    .. [2] Ranjan & Gneiting (2010), Combining probability forecasts, JRSS B 72, 71-91,
       doi 10.1111/j.1467-9868.2009.00726.x.

    Examples
    --------
    Temperature 2 turns odds of 9 into 3, so 0.9 into 0.75; half of it and half of the identity:

    >>> from veridical.calibrators import IdentityCalibrator, TemperatureCalibrator
    >>> parts = [IdentityCalibrator(), TemperatureCalibrator(pseudo_rows=0)]
    >>> pool = AveragedCalibrator(parts).fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> pool.predict_proba([0.9]).round(6).tolist()
    [[0.175, 0.825]]
    """

    _fitted = Fields(
        parts_=Several(Part(), "m"), weights_=Numbers("m", low=0, least=1, shares=True)
    )

    calibrators: Sequence[Calibrator]
    _: KW_ONLY
    weights: Sequence[float] | None = None

    @classmethod
    def of_fitted(cls, parts: Iterable[Calibrator], weights: FloatArray, classes: Any) -> Self:
        """Average maps that were fitted elsewhere, all to the same classes in the same order.

        They must know the classes as 0..K-1, of two classes the positive one last.
        """
        fitted = list(parts)
        shares = weights / weights.sum()
        unfitted = [fresh(part) for part in fitted]
        made = cls(unfitted, weights=shares.tolist(), input=fitted[0].input)
        made.parts_, made.weights_ = fitted, shares
        made.classes_, made.positive_index_ = np.asarray(classes), 1
        return made

    def _check_parameters(self) -> None:
        check_calibrators(self)
        for part in self.calibrators:
            self._check_part(part)
        self._checked_weights()

    def _checked_weights(self) -> FloatArray:
        given = self.weights
        weights = [1.0] * len(self.calibrators) if given is None else _listed(given)
        good = all(is_number(w) and 0 <= w < np.inf for w in weights) and sum(weights) > 0
        if not good or len(weights) != len(self.calibrators):
            hint = "leave them out to weight all maps alike."
            expected = f"{len(self.calibrators)} non-negative numbers, not all zero"
            raise invalid("AveragedCalibrator", "weights", expected, repr(weights), hint=hint)
        return np.asarray(weights, dtype=np.float64) / sum(weights)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        self.parts_ = [self._part(part) for part in self.calibrators]
        notes: Notes = ()
        for part in self.parts_:
            notes += fit_part(part, rows)
        self.weights_ = self._checked_weights()
        return notes

    def _combine(self, values: FloatArray) -> FloatArray:
        n_classes = len(self.classes_)
        total = np.zeros((len(values), n_classes))
        for block in row_blocks(len(values), max(256, _BLOCK_VALUES // n_classes)):
            shared: Shared = {}
            for weight, part in zip(self.weights_.tolist(), self.parts_, strict=True):
                total[block] += weight * predict_part(part, values[block], shared)
        return total

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        pairs = zip(self.weights_.tolist(), self.parts_, strict=True)
        outputs = [(weight, part._formula(inputs)) for weight, part in pairs if weight]
        return tuple(
            Linear(tuple((weight, each[k]) for weight, each in outputs)) for k in range(len(inputs))
        )

    def _in_words(self) -> str:
        shares: dict[str, float] = {}
        for weight, part in zip(self.weights_.tolist(), self.parts_, strict=True):
            name = type(part).__name__
            shares[name] = shares.get(name, 0.0) + weight
        most = sorted(shares.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{number(weight)} {name}" for name, weight in most)
        return f"Averages the probabilities of {len(self.parts_):,} maps: {listed}."


def _listed(values: Any) -> list[Any]:
    return list(values) if hasattr(values, "__iter__") else [values]


_LOWEST = 1e-300  # stands for a share of zero where the loss is infinite there


@dataclass(eq=False, repr=False)
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
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
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

    _fitted = Fields(part_=Part(), mix_=Number(low=0, high=1))

    calibrator: Calibrator
    _: KW_ONLY
    mix: float | Literal["fit"] = "fit"
    cv: int = 5

    def _check_parameters(self) -> None:
        super()._check_parameters()
        caller = type(self).__name__
        if self.mix != "fit" and not (is_number(self.mix) and 0 <= self.mix <= 1):
            hint = 'use "fit" to let the data decide.'
            raise invalid(caller, "mix", 'in [0, 1] or "fit"', repr(self.mix), hint=hint)
        check_folds(caller, self.cv)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        self.part_ = self._part()
        notes = fit_part(self.part_, rows)
        if self.mix != "fit":
            self.mix_ = float(self.mix)
            return notes
        judged = []
        for kept, held in folds(rows, self.cv):
            part = self._part()
            found = fit_part_if_possible(part, kept)
            if found is not None:
                judged.append((part, held))
                notes += found
        self.mix_ = _mix_of(judged or [(self.part_, rows)], len(rows.classes))
        return notes

    def _combine(self, values: FloatArray) -> FloatArray:
        p = self.part_.predict_proba(values)
        return (1 - self.mix_) * p + self.mix_ / p.shape[1]

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        mix, outputs = self.mix_, self.part_._formula(inputs)
        return tuple(Linear(((1 - mix, each),), mix / len(outputs)) for each in outputs)

    def _in_words(self) -> str:
        words = self.part_._in_words().rstrip(".")
        return f"{words}; then mixes in {number(self.mix_)} of the uniform distribution."


def _mix_of(judged: list[tuple[Calibrator, CheckedRows]], n_classes: int) -> float:
    """Share of least log loss on the rows that each map is judged by."""
    given = [part.predict_proba(r.values)[np.arange(len(r.y)), r.y] for part, r in judged]
    weight = [np.ones(len(r.y)) if r.weight is None else r.weight for _, r in judged]
    return best_mix(np.concatenate(given), np.concatenate(weight), n_classes)


def best_mix(given: FloatArray, weight: FloatArray, n_classes: int) -> float:
    """Share m of least log loss sum w log((1 - m) p + m / K), p being given to what happened."""
    away = 1 / n_classes - given

    def slope(m: float) -> float:
        return -float(weight @ (away / (given + m * away)))

    low = 0.0 if given.min() > 0 else _LOWEST
    if slope(low) >= 0:
        return 0.0
    if slope(1.0) <= 0:
        return 1.0
    return root_between(slope, low, 1.0, xtol=1e-14, rtol=1e-14)
