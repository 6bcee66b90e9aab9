"""The convex hull of the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.pava import isotonic_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike
from veridical.decisions._binary_rows import check_two_classes
from veridical.results._roc_hull import RocHull

_CALLER = "roc_hull"


def roc_hull(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> RocHull:
    r"""Operating points of a score that are best for some costs: the ROC convex hull.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    lens : lens, name or callable, optional
        For three classes or more, one that induces one binary problem, e.g.
        ``ClassSpecific("cat")``; default the confidence lens.

    Returns
    -------
    RocHull
        With `threshold`, `fpr` and `tpr` of each vertex, and `best_threshold(cost_fp=, cost_fn=)`.

    Notes
    -----
    Choosing a threshold on the hull is the alternative to calibration (000 section 2.1): it needs
    no probabilities, but outcomes, and a new choice for each change of costs or priors. A segment
    of the hull is a block of the isotonic fit, and its slope gives the frequency of the block:
    f / (1 - f) = slope * prior / (1 - prior) [1]_. So thresholding isotonic probabilities at the
    :func:`cost_threshold` makes the same decisions, and the hull is found by isotonic regression.

    The hull is fitted to the sample: its area and the costs at its vertices are too good for new
    rows. Time O(n log n).

    References
    ----------
    .. [1] Fawcett & Niculescu-Mizil (2007), PAV and the ROC convex hull, doi
       10.1007/s10994-007-5011-0; Provost & Fawcett (2001), doi 10.1023/A:1007601015854.

    Examples
    --------
    >>> hull = roc_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    >>> hull.threshold.tolist(), hull.fpr.tolist(), hull.tpr.tolist()
    ([inf, 0.4, 0.2, 0.1], [0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])

    If misses cost twice as much as false alarms, one false alarm buys the other positive:

    >>> hull.best_threshold(cost_fp=1, cost_fn=2)
    0.2
    """
    sample = check_two_classes(
        y_true,
        y_prob,
        caller=_CALLER,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type="importance",
    )
    return hull_of(sample)


def hull_of(sample: BinarySample) -> RocHull:
    """Hull of checked rows of two classes that both occur."""
    scores = sample.pooled
    blocks = isotonic_blocks(scores.weight, scores.positive)
    negative = blocks.weight - blocks.positive
    tpr = _shares(blocks.positive)
    fpr = _shares(np.maximum(negative, 0.0))  # weights may leave less than nothing by rounding
    first_score = scores.value[blocks.start][::-1].astype(np.float64)
    return RocHull(
        threshold=np.concatenate([[np.inf], first_score]),
        fpr=fpr,
        tpr=tpr,
        frequency=blocks.frequency[::-1].copy(),
        prior=float(blocks.positive.sum() / blocks.weight.sum()),
        auc=float(np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2),
        n_samples=sample.n,
    )


def _shares(amount: Any) -> Any:
    """Cumulated shares of blocks from the last to the first, from 0 to 1."""
    total = np.cumsum(amount[::-1])
    return np.concatenate([[0.0], total / total[-1]])
