"""Matrix scaling: every class's logit may depend on every other."""

from __future__ import annotations

from typing import Any

from veridical._core.typing import WeightType
from veridical.calibrators._linear_maps import PenalisedCalibrator


class MatrixCalibrator(PenalisedCalibrator):
    r"""Maps logits linearly: softmax(W z + b) with a full matrix.

    The parameters have the least penalised mean log loss,

    .. math:: \frac1n \sum_i -\log c_{y_i}(z_i) + \frac{\lambda K}{n} \Big((K - 1)
              \sum_{j \ne k} W_{jk}^2 + \sum_j b_j^2 + \epsilon \sum_j (W_{jj} - 1)^2\Big),

    which is convex: the optimum is checked by its gradient. The identity costs nothing.

    Parameters
    ----------
    penalty : {"odir", "l2"} or None, default "odir"
        "odir" (off-diagonal and intercept regularisation [1]_) has epsilon = 0.001; it is zero
        as published, but then separable rows have no optimum. "l2" has epsilon = 1. None is the
        method as published [2]_: K (K + 1) free parameters, which fail on few rows.
    strength : float, default 1.0
        lambda; the penalty is scaled by 1 / n and fades as n grows.
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting.
        0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
        The penalty assumes that predictions are near right as they are; for scores on another
        scale use `StructuredMatrixCalibrator`.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    coef_ : array of shape (K, K)
        W; without a penalty defined up to a constant in each column.
    intercept_ : array of shape (K,)
        b; without a penalty defined up to a constant.
    mix_ : float
        u, the share of the uniform distribution.
    n_iter_ : int
        Newton steps.
    gradient_norm_ : float
        Largest derivative of the penalised mean loss, in units of the logits; below 1e-9, or a
        `VeridicalWarning` was given.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Eq. 16 of the survey [3]_ with its sign put right: as printed, exp(-w'z) reverses the order of
    classes. Logits are used as given, so with `input="logit"` a constant added to all logits of
    a row matters, as it does for a linear layer; `DirichletCalibrator` normalises first. From
    probabilities both start from log p and are the same map.

    Time O(n K^4) a step up to 24 classes, where the Hessian is formed, and O(n K^2) a product
    with the Hessian beyond; memory O(n K).

    References
    ----------
    .. [1] Kull et al. (2019), NeurIPS, arXiv 1910.12656, eq. 6.
    .. [2] Guo, Pleiss, Sun & Weinberger (2017), ICML, arXiv 1706.04599.
    .. [3] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.3.

    Examples
    --------
    Two classes predicted alike, of which one happens three times as often:

    >>> calibrator = MatrixCalibrator(penalty=None, pseudo_rows=0)
    >>> calibrator = calibrator.fit([[0.5, 0.5]] * 4, [0, 1, 1, 1])
    >>> calibrator.predict_proba([[0.5, 0.5]]).round(6).tolist()
    [[0.25, 0.75]]
    """

    _full = True

    def __init__(
        self,
        *,
        penalty: str | None = "odir",
        strength: float = 1.0,
        pseudo_rows: float = 1.0,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.penalty = penalty
        self.strength = strength
        self.pseudo_rows = pseudo_rows
        self.input = input
        self.labels = labels
        self.weight_type = weight_type
