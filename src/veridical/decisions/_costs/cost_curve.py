"""Cost curves, Brier curves, and the convex hull of the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.numeric.pava import isotonic_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray
from veridical.exceptions import invalid, warn_of
from veridical.lenses.reading import Induced, RawData
from veridical.results import CostCurve, RocHull
from veridical.results.library import answers_in_kind


def one_problem(induced: Induced, *, caller: str) -> BinarySample:
    """The binary problem of a lens that induces one."""
    if isinstance(induced.problem, BinarySample):
        return induced.problem
    hint = 'use lens="confidence" or `ClassSpecific(label)`.'
    got = induced.lens.name
    raise invalid(caller, "lens", "one that induces one binary problem", got, hint=hint)


def _rows_of_two_classes(data: RawData, lens: Any, *, caller: str) -> BinarySample:
    """Checked rows of one binary problem in which both classes occur."""
    induced = data.through(lens, caller=caller)
    warn_of(induced.notes, caller=caller)
    sample = one_problem(induced, caller=caller)
    if sample.y.min() == sample.y.max():
        hint = "error rates of a class that did not occur are unknown."
        got = f"only {sample.classes[int(sample.y[0])]!r}"
        raise invalid(caller, "y_true", "of two classes", got, hint=hint)
    return sample


@answers_in_kind
def roc_hull(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> RocHull:
    r"""Operating points of a score that are best for some costs: the ROC convex hull.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
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
    data = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    data = data.weighted(sample_weight)
    return hull_of(_rows_of_two_classes(data, lens, caller="roc_hull"))


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


@answers_in_kind
def cost_curve(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CostCurve:
    r"""Expected cost of a model's decisions for every ratio of costs, and of the best decisions.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        For three classes or more, one that induces one binary problem, e.g.
        ``ClassSpecific("cat")``; default the confidence lens.

    Returns
    -------
    CostCurve
        With `probability_cost`, `model` and `envelope` at every corner of the curve, the areas
        under both, the ROC `hull`, and `loss`, the Brier curve.

    Notes
    -----
    With costs :math:`C_{fp}, C_{fn}` and a share :math:`\pi` of positives [1]_ draws

    .. math:: NE = FNR \cdot PC + FPR \cdot (1 - PC), \qquad
        PC = \frac{\pi C_{fn}}{\pi C_{fn} + (1 - \pi) C_{fp}}

    the expected cost in units of the largest possible one. A threshold is a straight line, and the
    lower envelope of all lines is the ROC convex hull in other coordinates. `model` takes at each
    point the threshold a user of the probabilities would take, the share
    :math:`c = C_{fp} / (C_{fp} + C_{fn})` (:func:`cost_threshold`), so its distance to `envelope`
    is what miscalibration costs there. The smaller of PC and 1 - PC is the cost of deciding without
    a model.

    Over c instead of PC, with costs that add up to 2, the same curve is the Brier curve [2]_:
    the area under `loss` is the Brier score, the area under `envelope_loss` the Brier score after
    isotonic recalibration, so the area between is the miscalibration that
    ``decompose(method="isotonic")`` reports.

    The envelope is fitted to the sample, hence a little too good; a calibrated model stays above it
    by about the null level of the isotonic miscalibration. The curve is exact: linear between its
    corners, which are the distinct predictions and isotonic frequencies. Time O(n log n).

    References
    ----------
    .. [1] Drummond & Holte (2006), Cost curves, Machine Learning 65, 95-130, doi
       10.1007/s10994-006-8199-5.
    .. [2] Hernández-Orallo, Flach & Ferri (2011), Brier curves: a new cost-based visualisation of
       classifier performance, ICML.

    Examples
    --------
    Four rows, a false alarm at 0.6 and a miss at 0.4:

    >>> curve = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])
    >>> round(curve.brier, 12), round(curve.refinement, 12)  # (0.01 + 0.36 + 0.36 + 0.01) / 4
    (0.185, 0.125)
    """
    data = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    data = data.weighted(sample_weight)
    return cost_curve_of(_rows_of_two_classes(data, lens, caller="cost_curve"))


def cost_curve_of(sample: BinarySample) -> CostCurve:
    """Cost curve of checked rows of two classes that both occur."""
    scores, hull = sample.pooled, hull_of(sample)
    value = scores.value.astype(np.float64)
    # At the share of positives the two constant decisions change places.
    ends = np.unique(np.concatenate([[0.0, hull.prior, 1.0], value, hull.frequency]))
    # Between two ends no prediction lies: the decisions are those of any threshold inside.
    first_called = np.searchsorted(value, ends[:-1], side="right")
    fnr = _share_before(scores.positive)[first_called]
    fpr = 1 - _share_before(scores.weight - scores.positive)[first_called]
    c = np.repeat(ends, 2)[1:-1]
    at_stake = hull.prior * (1 - c) + (1 - hull.prior) * c
    pc = hull.prior * (1 - c) / at_stake
    model = _line(pc, np.repeat(fnr, 2), np.repeat(fpr, 2))
    # A block is worth calling positive if its frequency is at least the threshold.
    n_called = len(hull.frequency) - np.searchsorted(hull.frequency[::-1], c, side="left")
    envelope = _line(pc, 1 - hull.tpr[n_called], hull.fpr[n_called])
    loss, least = (2 * at_stake * cost for cost in (model, envelope))
    kept = np.concatenate([[True], (np.diff(c) != 0) | (np.diff(model) != 0)])[::-1]
    c, pc, at_stake, model, envelope, loss, least = (
        each[::-1][kept] for each in (c, pc, at_stake, model, envelope, loss, least)
    )
    return CostCurve(
        probability_cost=pc,
        cost_share=c,
        model=model,
        envelope=envelope,
        scale=2 * at_stake,
        area=_area(pc, model),
        envelope_area=_area(pc, envelope),
        brier=_area(c[::-1], loss[::-1]),
        refinement=_area(c[::-1], least[::-1]),
        hull=hull,
        prior=hull.prior,
        n_samples=sample.n,
    )


def _share_before(amount: FloatArray) -> FloatArray:
    """Share of the total before each index, from 0 to 1."""
    total = np.cumsum(np.maximum(amount, 0.0))
    return np.concatenate([[0.0], total / total[-1]])


def _line(pc: FloatArray, fnr: FloatArray, fpr: FloatArray) -> FloatArray:
    return fnr * pc + fpr * (1 - pc)


def _area(x: FloatArray, height: FloatArray) -> float:
    """Area under straight lines between points."""
    return float(np.diff(x) @ (height[1:] + height[:-1]) / 2)
