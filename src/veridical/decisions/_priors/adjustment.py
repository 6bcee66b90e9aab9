"""Probabilities for a population in which classes are more or less frequent than in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical.decisions._priors.class_numbers import (
    ClassColumns,
    by_class,
    check_columns,
    check_priors,
    check_train,
)
from veridical.exceptions import invalid

_CALLER = "adjust_priors"


def adjust_priors(
    y_prob: ArrayLike,
    train: float | Sequence[float] | Mapping[Any, float],
    deploy: float | Sequence[float] | Mapping[Any, float],
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
) -> FloatArray:
    r"""Move probabilities from the class priors of training to those of deployment.

    Parameters
    ----------
    y_prob : array-like of shape (n,) or (n, K)
        Predicted probabilities, calibrated under the priors `train`.
    train, deploy : float, sequence or mapping
        Class priors: for two classes the share of the positive one, else a number per class in
        column order, or a mapping from label to number. Those of `train` are positive; a class
        that cannot occur has `deploy` 0.
    labels : array-like, optional
        Label of each column. Without it columns are 0, ..., K - 1, or the sorted keys of a
        mapping.
    pos_label : label, optional
        Class of a single column of probabilities; default the larger of two labels.

    Returns
    -------
    ndarray
        Float64 of the shape of `y_prob`. Zeros stay zero.

    Notes
    -----
    Saerens, Latinne and Decaestecker [1]_, equation 2.4: if only the priors change and the
    distribution of features within each class does not (label shift, prior shift), then

    .. math:: p'_k = \frac{p_k \pi'_k / \pi_k}{\sum_j p_j \pi'_j / \pi_j} .

    Exact for the true posterior. For a calibrated model that is not the true posterior it is also
    calibrated after the shift. If the distribution within classes changes too, it need not help.
    Time O(n K).

    References
    ----------
    .. [1] Saerens, Latinne & Decaestecker (2002), Adjusting the outputs of a classifier to new a
       priori probabilities, Neural Computation 14, doi 10.1162/089976602753284446.

    Examples
    --------
    Even odds, where positives were half of the training data but are a tenth in the field:

    >>> adjust_priors([0.5, 0.9], train=0.5, deploy=0.1)
    array([0.1, 0.5])
    """
    columns = check_columns(y_prob, labels=labels, pos_label=pos_label, caller=_CALLER)
    return move_priors(columns, train, deploy, caller=_CALLER)


def move_priors(
    columns: ClassColumns,
    train: Any,
    deploy: Any,
    *,
    caller: str,
    params: tuple[str, str] = ("train", "deploy"),
) -> FloatArray:
    """Move checked probabilities from some priors to others, which the parameters `params` gave."""
    before = check_train(train, columns, caller=caller, param=params[0])
    after = check_priors(deploy, columns, caller=caller, param=params[1])
    return reweight(columns, after / before, caller=caller)


def reweight(columns: ClassColumns, factor: FloatArray, *, caller: str) -> FloatArray:
    """Multiply class probabilities by `factor`, and let them sum to one again."""
    p = columns.p.astype(np.float64)  # a copy
    if (factor == factor[0]).all():
        return p  # as given, without rounding
    factor = factor / factor.max()
    if p.ndim == 1:
        kept = p * factor[columns.positive]
        total = kept + (1 - p) * factor[1 - columns.positive]
        _check_possible(total, caller)
        return kept / total
    p *= factor
    total = p.sum(axis=1)
    _check_possible(total, caller)
    p /= total[:, None]
    return p


def _check_possible(total: FloatArray, caller: str) -> None:
    bad = ~(total > 0)
    if bad.any():
        hint = "such a row belongs to a class of prior 0: let that prior be positive."
        got = f"all probability on impossible classes in row {int(bad.argmax())}"
        got += f" ({int(bad.sum())} of {len(bad)} rows)"
        raise invalid(caller, "y_prob", "possible under the new priors", got, hint=hint)


_DOWNSAMPLING_CALLER = "correct_downsampling"


def correct_downsampling(
    y_prob: ArrayLike,
    rate: float | Sequence[float] | Mapping[Any, float],
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
) -> FloatArray:
    r"""Undo what keeping only some rows of frequent classes did to probabilities.

    Parameters
    ----------
    y_prob : array-like of shape (n,) or (n, K)
        Probabilities of a model trained on the thinned sample, calibrated for such a sample.
    rate : float, sequence or mapping
        Share of rows kept, in (0, 1]: for two classes that of the negative one, else one number
        per class in column order, or a mapping from label to number in which classes not named
        are kept whole.
    labels, pos_label
        As in :func:`adjust_priors`.

    Returns
    -------
    ndarray
        Float64 of the shape of `y_prob`.

    Notes
    -----
    If rows of class k were kept at random with chance :math:`r_k`, then

    .. math:: p'_k = \frac{p_k / r_k}{\sum_j p_j / r_j} , \qquad
       p' = \frac{p}{p + (1 - p) / r} \text{ for two classes}

    (He et al. [1]_, section 6.3; Dal Pozzolo et al. [2]_, solved for the probability
    before). Exact whatever the model; an error of the model grows with it. Only ratios of rates
    matter, so for classes repeated in training divide all rates by the largest. Time O(n K).

    References
    ----------
    .. [1] He et al. (2014), Practical lessons from predicting clicks on ads at Facebook, ADKDD,
       doi 10.1145/2648584.2648589.
    .. [2] Dal Pozzolo, Caelen, Johnson & Bontempi (2015), Calibrating probability with
       undersampling for unbalanced classification, IEEE SSCI, doi 10.1109/SSCI.2015.33.

    Examples
    --------
    One negative in ten was kept, so even odds are really one to ten:

    >>> correct_downsampling([0.5], rate=0.1)
    array([0.09090909])
    """
    columns = check_columns(y_prob, labels=labels, pos_label=pos_label, caller=_DOWNSAMPLING_CALLER)
    negative = 1 - columns.positive
    kept = by_class(
        rate, columns, single=negative, caller=_DOWNSAMPLING_CALLER, param="rate", rest=1.0
    )
    bad = ~((kept > 0) & (kept <= 1))
    if bad.any():
        hint = "it is the share of rows kept; only ratios matter, so divide by the largest."
        got = f"{kept[int(bad.argmax())]:.6g} for class {int(bad.argmax())}"
        raise invalid(_DOWNSAMPLING_CALLER, "rate", "in (0, 1]", got, hint=hint)
    return reweight(columns, kept.min() / kept, caller=_DOWNSAMPLING_CALLER)
