"""Risk against coverage, with a band that holds for all thresholds together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.data.validation import check_level
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.decisions._risk.answers import Answers, answers_of, tie_ends
from veridical.exceptions import warn_of
from veridical.inference.intervals import (
    IntervalOptions,
    Support,
    make_units,
    mean_interval,
    standard_error,
)
from veridical.lenses.reading import RawData
from veridical.results import Interval, RiskCoverageCurve
from veridical.results.library import answers_in_kind

_CALLER = "risk_coverage_curve"
_MOST_POINTS = 1000  # of the curve
_GROWTH = 1.03  # of the numbers of rows at which limits are computed; between them they are carried


@answers_in_kind
def risk_coverage_curve(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    confidence_level: float = 0.95,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> RiskCoverageCurve:
    r"""Share of wrong answers against the share of rows that is answered.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight, weight_type, groups
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    confidence_level : float, default 0.95
        Of the band, at all thresholds together, and of the intervals of the areas.
    lens : lens, name or callable, optional
        Whose score decides what is answered, and whose event is a right answer; default the most
        probable class.

    Returns
    -------
    RiskCoverageCurve
        With `coverage`, `risk`, `low` and `high` at each `threshold`; `area` (AURC) and `excess`
        (E-AURC), both better if lower.

    Notes
    -----
    AURC is the mean over k of the risk of the k surest rows; E-AURC is what is above that of a
    perfect order, in which all wrong answers come last ([1]_). Rows of equal scores are answered
    together; between them the risk is that of a random order.

    The band is made of exact limits (Clopper & Pearson) of the risk at numbers of rows that grow by
    3 % each, with the confidence shared equally among them; in between, errors can only have
    grown, so limits of the sum of risks are carried on. Given the scores it covers the mean risk of
    the answered rows at all thresholds together: the number of errors is more concentrated than a
    binomial one ([2]_).

    Limits of AURC are the wider ones of two: of the weighted mean of errors that it is given the
    scores, which are not empty where no answer was wrong, and of its influence values. Time
    O(n log n).

    References
    ----------
    .. [1] Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
       classifiers, ICLR, arXiv 1805.08206.
    .. [2] Hoeffding (1956), doi 10.1214/aoms/1177728178, theorem 4.

    Examples
    --------
    Risks of the first one to four answers are 0, 1/2, 1/3, 1/2: their mean is 1/3. With both
    errors last they would be 0, 0, 1/3, 1/2.

    >>> curve = risk_coverage_curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], lens="binary")
    >>> curve.risk.round(4).tolist()
    [0.0, 0.5, 0.3333, 0.5]
    >>> round(curve.area.estimate, 7), round(curve.excess.estimate, 7)
    (0.3333333, 0.125)
    """
    level = check_level(_CALLER, confidence_level)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    checked = data.weighted(sample_weight, weight_type).check(caller=_CALLER)
    curve = coverage_core(answers_of(checked, "error", lens, caller=_CALLER), level)
    warn_of(checked.notes, caller=_CALLER)
    return curve


def coverage_core(answers: Answers, level: float) -> RiskCoverageCurve:
    """The curve of checked rows."""
    from scipy.special import ndtri

    ends = tie_ends(answers.score)
    shown = ends
    if len(ends) > _MOST_POINTS:
        wanted = np.linspace(0, len(ends) - 1, _MOST_POINTS)
        shown = ends[np.unique(np.round(wanted).astype(np.intp))]
    counted = np.cumsum(answers.copies)
    risk = np.cumsum(answers.copies * answers.loss)[shown - 1] / counted[shown - 1]
    low, high = _band(answers, ends, shown, level)
    area, excess = _areas(answers, ends, level, float(ndtri((1 + level) / 2)))
    return RiskCoverageCurve(
        threshold=answers.score[shown - 1].astype(np.float64),
        coverage=counted[shown - 1] / counted[-1],
        risk=risk,
        low=np.minimum(low, risk),
        high=np.maximum(high, risk),
        area=area,
        excess=excess,
        confidence_level=level,
        meaning=answers.meaning,
        lens=answers.lens,
        n_samples=answers.n,
    )


def _band(
    answers: Answers, ends: IntArray, shown: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Limits of the risk at the rows `shown`, from exact ones at some of the `ends`."""
    places = []
    count = 1.0
    counted = np.cumsum(answers.copies)
    reached = counted[ends - 1] if answers.plain else ends.astype(np.float64)
    while count < reached[-1]:
        places.append(int(np.searchsorted(reached, count * (1 - 1e-12))))
        count = max(count * _GROWTH, count + 1)
    knots = ends[np.unique([*places, len(ends) - 1])]
    each = 1 - (1 - level) / len(knots)
    mass = counted[knots - 1]
    least, most = (limit * mass for limit in answers.loss_limits(knots, each))
    # The sum of risks grows with rows, by at most one a row.
    least = np.maximum.accumulate(least)
    most = np.minimum.accumulate(most[::-1])[::-1]
    at = counted[shown - 1]
    after = np.searchsorted(knots, shown, "left")  # first knot that is not before
    before = np.searchsorted(knots, shown, "right") - 1
    some = before >= 0
    from_before = np.where(some, most[before] + at - mass[before], at)
    high = np.minimum(most[after], from_before) / at
    low_before = np.where(some, least[before], 0.0)
    low = np.maximum(low_before, least[after] - (mass[after] - at)) / at
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _areas(answers: Answers, ends: IntArray, level: float, z: float) -> tuple[Interval, Interval]:
    """AURC and E-AURC with intervals; `z` is the normal quantile of the level.

    With W the number of answers so far and R the risk so far, A is the mean of R over answers. Of
    m equal scores after W of which E are wrong, a share s being wrong, in a random order: the sum
    of (E + s j) / (W + j) over j = 1 .. m is s m + (E - s W) (psi(W + m + 1) - psi(W + 1)), which
    needs no whole numbers. A is a mean of losses with weights a = sum of 1 / W over the answers not
    before a row, and its limits are those of a weighted mean. That takes the scores as given; how
    they vary is in the influence of a row, R + sum (e - R) / W, and the wider limit of both counts.
    """
    starts = np.concatenate([[0], ends[:-1]])
    rows = np.diff(ends, prepend=0)
    copies = answers.copies
    if answers.weight is not None and answers.weight_type == "importance":
        copies = copies * (answers.n / copies.sum())
    size = np.add.reduceat(copies, starts)
    wrong = np.add.reduceat(copies * answers.loss, starts)
    total, lost = float(size.sum()), float(wrong.sum())
    after = np.cumsum(size)
    before = after - size
    steps = _harmonic(before, after)
    share = wrong / size
    risk = share + (np.cumsum(wrong) - wrong - share * before) * steps / size
    own = 1 - before * steps / size  # mean of the sums of 1 / W within equal scores
    weight = own + np.cumsum(steps[::-1])[::-1] - steps
    drag = own * risk + np.cumsum((steps * risk)[::-1])[::-1] - steps * risk
    area = float(size @ risk) / total
    right = total - lost
    oracle = (lost - right * float(_harmonic(right, total))) / total
    weight, base = (np.repeat(each, rows) for each in (weight, risk - drag))
    influence = base + weight * answers.loss
    slope = -math.log1p(-lost / total) if lost < total else 0.0  # of the oracle in the rate
    first = _spread(answers, influence)
    second = _spread(answers, influence - slope * answers.loss)
    low, high = _weighted_limits(answers, weight, level)
    down, up = max(area - low, z * first), max(high - area, z * first)
    ratio = second / first if first > 0 else 1.0
    both = ratio * max(down, up)
    best = "mean risk over coverages, less that of the best order"
    found = [
        Interval(
            estimate=estimate,
            low=max(estimate - below, min(0.0, estimate)),
            high=min(estimate + above, 1.0),
            confidence_level=level,
            method="analytic",
            estimator=name,
            definition=definition,
            lens=answers.lens,
            n_samples=answers.n,
            n_resamples=None,
        )
        for estimate, below, above, name, definition in (
            (area, down, up, "AURC", "mean risk over coverages"),
            (area - oracle, both, both, "E-AURC", best),
        )
    ]
    return found[0], found[1]


def _harmonic(before: Any, after: Any) -> Any:
    """Sum of 1 / k from `before` + 1 to `after`, which need not be whole."""
    from scipy.special import digamma

    return digamma(np.asarray(after) + 1) - digamma(np.asarray(before) + 1)


def _groups(answers: Answers) -> IntArray | None:
    if answers.clusters is None:
        return None
    return np.unique(answers.clusters, return_inverse=True)[1].reshape(-1)


def _spread(answers: Answers, influence: FloatArray) -> float:
    """Standard error of a figure whose value by row this is."""
    counted = answers.weight_type == "frequency"
    groups = _groups(answers)
    return standard_error(
        make_units(influence, answers.weight, by_frequency=counted, groups=groups)
    )


def _weighted_limits(answers: Answers, weight: FloatArray, level: float) -> tuple[float, float]:
    """Limits of the mean loss with these weights of rows."""
    counted = answers.weight is not None and answers.weight_type == "frequency"
    groups = _groups(answers)
    own = weight if answers.weight is None else weight * answers.weight
    loss = answers.loss
    if counted:  # copies are rows of their own
        times = np.maximum(np.round(answers.copies), 1).astype(np.intp)
        own, loss = np.repeat(weight, times), np.repeat(loss, times)
        groups = None if groups is None else np.repeat(groups, times)
    units = make_units(loss, own, groups=groups)
    options = IntervalOptions("analytic", level)
    found = mean_interval(units, options, support=Support(0.0, 1.0))
    return found.low, found.high
