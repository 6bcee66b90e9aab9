"""Dirichlet calibration; held-out rows may choose its penalties of off-diagonals and intercepts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical._core.data.options import check_folds, check_non_negative
from veridical._core.data.schema import Fields, Number, Numbers
from veridical._core.formula import Nodes
from veridical._core.runtime.progress import track
from veridical._core.typing import FloatArray
from veridical.calibrators._base import nodes
from veridical.calibrators._base.bases import Notes, WeightedOutcomes
from veridical.calibrators._base.estimator import fresh
from veridical.calibrators._base.folds import held_out_masses, row_masses, rows_of_mass
from veridical.calibrators._base.frames import FitColumns
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._softmax.linear import MatrixCalibrator, as_matrix, full_objective
from veridical.calibrators._softmax.softmax import log_softmax_in_place, softmax_in_place
from veridical.calibrators._softmax.truncated_newton import truncated_newton
from veridical.exceptions import invalid

GRID = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01)
_LEAST = 1e-300  # what a probability of zero costs

Strength = float | Sequence[float] | Literal["auto"] | None


@dataclass(kw_only=True, eq=False, repr=False)
class DirichletCalibrator(MatrixCalibrator):
    r"""Maps log-probabilities linearly: softmax(W log p + b).

    The map that is right when, within each class, predicted vectors have a Dirichlet
    distribution; the multiclass form of beta calibration. It is `MatrixCalibrator` on log p:
    equal to it for `input="probability"`, while for `input="logit"` logits are first turned into
    log-probabilities, so that a constant added to all logits of a row changes nothing.

    Parameters
    ----------
    penalty : {"odir", "l2"} or None, default "odir"
        As in `MatrixCalibrator`: "odir" penalises off-diagonals by strength K (K - 1) / n and
        intercepts by strength K / n each [1]_, and the diagonal by a thousandth of that.
    strength : float, default 1.0
        Multiple of the usual penalty.
    off_diagonal_strength, intercept_strength : float, sequence of float or "auto", optional
        Multiples of their own for the two parts, lambda and mu of [1]_ in the units of `strength`;
        default `strength`. Of several values the pair is taken whose maps have the least log loss
        on held-out rows, the larger strengths if several have; "auto" tries 1000, 100, ..., 0.01.
        If both are given, `penalty` and `strength` are about the diagonal alone; `strength=0` is
        then the objective of [1]_.
    cv : int, default 5
        Folds that choose among several strengths. They follow the data, neither the order of the
        rows nor that of the classes.
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting.
        0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; scores are read as logits.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    off_diagonal_strength_, intercept_strength_ : float
        Those that the map was fitted with.
    held_out_losses_ : array of shape (off-diagonal strengths, intercept strengths)
        Mean log loss of held-out rows, largest strengths first; only after a search.
    coef_, intercept_, mix_, n_iter_, gradient_norm_, classes_
        As in `MatrixCalibrator`.

    Notes
    -----
    Kull et al. [1]_ minimise

    .. math:: \frac1n \sum_i -\log c_{y_i}(p_i) + \frac{\lambda}{K (K - 1)} \sum_{j \ne k}
              W_{jk}^2 + \frac{\mu}{K} \sum_j b_j^2

    and tune lambda and mu by cross-validation. In these units off-diagonals of strength s have
    lambda = s K^2 (K - 1)^2 / n and intercepts mu = s K^2 / n: strengths stay of one size as
    rows become more.

    Eq. 18 of the survey [2]_ prints exp(-b - w' log s), which reverses the order of classes for
    positive weights; here the identity matrix is the identity map, and costs no penalty. (The
    reference implementation subtracts the last row of W before it penalises, so it charges the
    identity K - 1 units and its answer depends on the order of classes.)

    A search fits as many maps as there are pairs of strengths, times folds, each from the
    optimum of the one before.

    References
    ----------
    .. [1] Kull et al. (2019), NeurIPS, arXiv 1910.12656, section 4.
    .. [2] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.4.

    Examples
    --------
    Two classes predicted alike, of which one happens three times as often:

    >>> calibrator = DirichletCalibrator(penalty=None, pseudo_rows=0)
    >>> calibrator = calibrator.fit([[0.5, 0.5]] * 4, [0, 1, 1, 1])
    >>> calibrator.predict_proba([[0.5, 0.5]]).round(6).tolist()
    [[0.25, 0.75]]

    Predictions that are right on average in every class need no intercepts, so that held-out rows
    ask for the strongest penalty:

    >>> p = [[0.75, 0.25]] * 40 + [[0.25, 0.75]] * 40
    >>> y = [0] * 30 + [1] * 10 + [1] * 30 + [0] * 10
    >>> DirichletCalibrator(intercept_strength=[0.1, 100]).fit(p, y).intercept_strength_
    100.0
    """

    _fitted = Fields(
        off_diagonal_strength_=Number(low=0, optional=True),  # older files do not have them
        intercept_strength_=Number(low=0, optional=True),
        held_out_losses_=Numbers("g", "h", low=0, least=1, optional=True),
    )
    _later = (*MatrixCalibrator._later, "off_diagonal_strength", "intercept_strength", "cv")

    off_diagonal_strength: Strength = None
    intercept_strength: Strength = None
    cv: int = 5

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_folds(type(self).__name__, self.cv)
        for name in ("off_diagonal_strength", "intercept_strength"):
            _values(type(self).__name__, name, getattr(self, name), self.strength)

    def _ridge(self, n_classes: int, size: float) -> tuple[float, float, float]:
        diagonal, off, intercept = super()._ridge(n_classes, size)
        unit = n_classes / size
        if self.off_diagonal_strength is not None:
            off = self.off_diagonal_strength_ * unit * (n_classes - 1)
        if self.intercept_strength is not None:
            intercept = self.intercept_strength_ * unit
        return diagonal, off, intercept

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        # folds are made of rows, not of cells
        return super()._fits_pooled_rows(n_columns) and math.prod(map(len, self._grid())) == 1

    def _grid(self) -> tuple[list[float], list[float]]:
        """Strengths to be tried, of off-diagonals and of intercepts, the largest first."""
        caller, strength = type(self).__name__, self.strength
        return (
            _values(caller, "off_diagonal_strength", self.off_diagonal_strength, strength),
            _values(caller, "intercept_strength", self.intercept_strength, strength),
        )

    def _fit_checked(self, rows: CheckedRows) -> Notes | None:
        offs, intercepts = self._grid()
        self.__dict__.pop("held_out_losses_", None)
        i = j = 0
        if len(offs) * len(intercepts) > 1:
            losses = self._held_out_losses(rows.by_index(), offs, intercepts)
            if losses is not None:
                i, j = divmod(int(losses.argmin()), len(intercepts))
                self.held_out_losses_ = losses
        self.off_diagonal_strength_, self.intercept_strength_ = offs[i], intercepts[j]
        return super()._fit_checked(rows)

    def _fit_sums(self, columns: FitColumns) -> Notes | None:
        offs, intercepts = self._grid()
        if len(offs) * len(intercepts) > 1:  # folds are made of rows
            return None
        self.off_diagonal_strength_, self.intercept_strength_ = offs[0], intercepts[0]
        return super()._fit_sums(columns)

    def _held_out_losses(
        self, rows: CheckedRows, offs: list[float], intercepts: list[float]
    ) -> FloatArray | None:
        """Mean log loss of each pair on rows its maps have not seen; None if no fold can be."""
        losses, weight = np.zeros((len(offs), len(intercepts))), 0.0
        logits, _ = self._logits_to_fit(rows)  # zeros are taken for what all rows say
        features, masses, n_classes = self._features(logits), row_masses(rows), logits.shape[1]
        part = fresh(self)
        steps = track(self.cv * losses.size, "trying strengths on held-out rows")
        for mass in held_out_masses(rows, self.cv):
            kept, held = rows_of_mass(rows, masses - mass), rows_of_mass(rows, mass)
            old, new = features[masses > mass], features[mass > 0]
            outcomes = WeightedOutcomes(kept.y, kept.weight, kept.size, n_classes)
            own = np.ones(len(held.y)) if held.weight is None else held.weight
            weight += float(own.sum())
            theta: FloatArray = np.eye(n_classes, n_classes + 1).ravel()
            theta = theta * part._start(old, outcomes)
            for i, off in enumerate(offs):
                # To and fro, so that neighbours come after each other.
                for j in range(len(intercepts))[:: 1 if i % 2 == 0 else -1]:
                    next(steps)
                    part.off_diagonal_strength_ = off
                    part.intercept_strength_ = intercepts[j]
                    penalty = part._penalty(n_classes, outcomes.size)
                    minimum = truncated_newton(
                        full_objective(old, outcomes, penalty), theta, roughly=True
                    )
                    theta = minimum.theta
                    part._take(*as_matrix(theta, n_classes), minimum, old, outcomes)
                    p = softmax_in_place(part._scores(new), part.mix_)
                    given = p[np.arange(len(held.y)), held.y]
                    losses[i, j] -= float(own @ np.log(np.maximum(given, _LEAST)))
        return losses / weight if weight else None

    def _features(self, logits: FloatArray) -> FloatArray:
        if self.input == "probability":
            return logits
        return log_softmax_in_place(np.array(logits))

    def _feature_nodes(self, logits: Nodes) -> Nodes:
        return logits if self.input == "probability" else nodes.log_softmax_of(logits)


def _values(caller: str, param: str, given: Any, otherwise: float) -> list[float]:
    """Strengths that a parameter stands for, the largest first."""
    if given is None:
        return [float(otherwise)]
    if isinstance(given, str) and given == "auto":
        return list(GRID)
    expected, hint = 'numbers from 0 on, "auto" or None', 'use "auto" to let held-out rows choose.'
    values = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given]
    for each in values:
        check_non_negative(caller, param, each, hint=hint, expected=expected)
    if not values:
        raise invalid(caller, param, expected, repr(given), hint=hint)
    return sorted({float(each) for each in values}, reverse=True)
