"""Probabilities of a model that was trained on a thinned sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veridical._core.typing import ArrayLike, FloatArray
from veridical.decisions._class_numbers import by_class, check_columns
from veridical.decisions._prior_adjustment import reweight
from veridical.exceptions import invalid

_CALLER = "correct_downsampling"


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
    columns = check_columns(y_prob, labels=labels, pos_label=pos_label, caller=_CALLER)
    negative = 1 - columns.positive
    kept = by_class(rate, columns, single=negative, caller=_CALLER, param="rate", rest=1.0)
    bad = ~((kept > 0) & (kept <= 1))
    if bad.any():
        hint = "it is the share of rows kept; only ratios matter, so divide by the largest."
        got = f"{kept[int(bad.argmax())]:.6g} for class {int(bad.argmax())}"
        raise invalid(_CALLER, "rate", "in (0, 1]", got, hint=hint)
    return reweight(columns, kept.min() / kept, caller=_CALLER)
