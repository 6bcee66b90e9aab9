"""Vector scaling: one slope and one intercept a class."""

from __future__ import annotations

from typing import Any

from veridical._core.typing import WeightType
from veridical.calibrators._linear_maps import PenalisedCalibrator


class VectorCalibrator(PenalisedCalibrator):
    r"""Scales and shifts the logit of each class: softmax(v * z + b).

    The parameters have the least penalised mean log loss,

    .. math:: \frac1n \sum_i -\log c_{y_i}(z_i) + \frac{\lambda K}{n}
              \Big(\sum_j (v_j - 1)^2 + \sum_j b_j^2\Big),

    which is convex: the optimum is checked by its gradient. Unlike a temperature, intercepts
    correct for class frequencies that differ, and the most probable class may change.

    Parameters
    ----------
    penalty : {"l2", "odir"} or None, default "l2"
        "l2" pulls slopes to 1 and intercepts to 0, as above. "odir" leaves slopes free, but for
        a thousandth of that ridge, without which separable rows have no optimum. None is the
        method as published [1]_; it fails on few rows of many classes.
    strength : float, default 1.0
        lambda; the penalty is scaled by K / n and fades as n grows.
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting.
        0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
        The penalty assumes that predictions are near right as they are; for scores on another
        scale use `StructuredVectorCalibrator`.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    coef_ : array of shape (K,)
        Slopes v.
    intercept_ : array of shape (K,)
        Intercepts b; without a penalty defined up to a constant.
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
    Eq. 14 of the survey [2]_ with its sign put right: as printed, exp(-w z) reverses the order
    of classes. Time O(n K^2) a step up to 300 classes and O(n K) a product with the Hessian
    beyond; memory O(n K).

    References
    ----------
    .. [1] Guo, Pleiss, Sun & Weinberger (2017), ICML, arXiv 1706.04599.
    .. [2] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.2.

    Examples
    --------
    Two classes predicted alike, of which one happens three times as often: without guards only
    the intercepts move, apart by log 3.

    >>> calibrator = VectorCalibrator(penalty=None, pseudo_rows=0)
    >>> calibrator = calibrator.fit([[0.5, 0.5]] * 4, [0, 1, 1, 1])
    >>> calibrator.predict_proba([[0.5, 0.5]]).round(6).tolist()
    [[0.25, 0.75]]
    """

    _full = False

    def __init__(
        self,
        *,
        penalty: str | None = "l2",
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
