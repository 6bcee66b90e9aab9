"""Dirichlet calibration: matrix scaling of log-probabilities."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.calibrators._matrix import MatrixCalibrator
from veridical.calibrators._softmax import log_softmax_in_place


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
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting.
        0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; scores are read as logits.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    coef_, intercept_, mix_, n_iter_, gradient_norm_, classes_
        As in `MatrixCalibrator`.

    Notes
    -----
    Eq. 18 of the survey [2]_ prints exp(-b - w' log s), which reverses the order of classes for
    positive weights; here the identity matrix is the identity map, and costs no penalty. (The
    reference implementation subtracts the last row of W before it penalises, so it charges the
    identity K - 1 units and its answer depends on the order of classes.) Strengths in [1]_ are
    per mean square and tuned by cross-validation; here they shrink as 1 / n by themselves.

    References
    ----------
    .. [1] Kull et al. (2019), NeurIPS, arXiv 1910.12656.
    .. [2] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.4.

    Examples
    --------
    Two classes predicted alike, of which one happens three times as often:

    >>> calibrator = DirichletCalibrator(penalty=None, pseudo_rows=0)
    >>> calibrator = calibrator.fit([[0.5, 0.5]] * 4, [0, 1, 1, 1])
    >>> calibrator.predict_proba([[0.5, 0.5]]).round(6).tolist()
    [[0.25, 0.75]]
    """

    def _features(self, logits: FloatArray) -> FloatArray:
        if self.input == "probability":
            return logits
        return log_softmax_in_place(np.array(logits))
