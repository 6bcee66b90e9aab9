"""Decision curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.validation import check_level, float_array, is_number
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, WeightType
from veridical.decisions._costs.cost_curve import one_problem
from veridical.exceptions import invalid, warn_of
from veridical.lenses.reading import RawData
from veridical.results import DecisionCurve
from veridical.results.library import answers_in_kind

_CALLER = "decision_curve"


@answers_in_kind
def decision_curve(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    thresholds: ArrayLike | None = None,
    harm: float = 0.0,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> DecisionCurve:
    r"""Net benefit of acting on a model, against acting always or never.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    thresholds : array-like, optional
        Threshold probabilities in [0, 1); default 0.01, 0.02, ..., 0.99. Report those that users
        might reasonably choose.
    harm : float, default 0
        What obtaining the prediction costs, e.g. of a biopsy, in true positives a row.
    prevalence : float, optional
        Share of positives where the model is used, if the sample does not show it (case-control
        data); error rates then come from the sample.
    confidence_level : float, default 0.95
        Between 0 and 1; limits are for each threshold by itself.
    lens : lens, name or callable, optional
        For three classes or more, one that induces one binary problem, e.g.
        ``ClassSpecific("cat")``; default the confidence lens.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, day): limits count groups.

    Returns
    -------
    DecisionCurve
        With `net_benefit`, `low`, `high`, `treat_all`, the `advantage` over the better of treating
        all and none, and `avoided` interventions, at each `threshold`.

    Notes
    -----
    At the threshold t a false positive weighs t / (1 - t) true positives (:func:`cost_threshold`),
    and [1]_ counts

    .. math:: NB(t) = \frac{TP(t)}{n} - \frac{FP(t)}{n} \cdot \frac{t}{1 - t}

    with rows of p >= t positive. Higher is better; the prevalence is the most there can be.
    A model that ranks well but is not calibrated can be worse than treating all or none. It is the
    realised cost of :func:`expected_cost` with costs t and 1 - t, divided by 1 - t and taken from
    the prevalence.

    NB is a mean over rows, so its limits are normal with the variance of that mean (with
    `prevalence`, of rates in two independent classes, and the prevalence taken as known); the
    limits of the advantage are paired. Where a handful of rows is above t they are too narrow. The
    default the advantage is against is the better one in the sample, which near the prevalence
    makes the advantage a little too small. `avoided` is (NB - NB of all) (1 - t) / t, infinite at
    t = 0 unless both agree. Time O(n log n).

    References
    ----------
    .. [1] Vickers & Elkin (2006), Decision curve analysis, doi 10.1177/0272989X06295361; variances,
       also for a known prevalence: Pfeiffer & Gail (2020), doi 10.1002/bimj.201800240.

    Examples
    --------
    At 0.5 two of five are called, one falsely: 1/5 - 1/5. At 0.2 four, two falsely, which count a
    quarter: 2/5 - 2/5 * 1/4; treating all has 2/5 - 3/5 * 1/4.

    >>> curve = decision_curve([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.8], thresholds=[0.2, 0.5])
    >>> curve.net_benefit.round(12).tolist(), curve.treat_all.round(12).tolist()
    ([0.3, 0.0], [0.25, -0.2])
    """
    level = check_level(_CALLER, confidence_level)
    at = _check_thresholds(thresholds)
    cost = _check_number(harm, "harm", "a finite number")
    if prevalence is not None and not 0 < _check_number(prevalence, "prevalence", "a share") < 1:
        hint = "pass the share of positives where the model is used."
        raise invalid(_CALLER, "prevalence", "between 0 and 1", repr(prevalence), hint=hint)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER)
    problem = one_problem(induced, caller=_CALLER)
    curve = decision_curve_of(problem, at, harm=cost, prevalence=prevalence, level=level)
    warn_of((*induced.notes, *curve.notes), caller=_CALLER)
    return curve


def decision_curve_of(
    sample: BinarySample,
    at: FloatArray,
    *,
    harm: float = 0.0,
    prevalence: float | None = None,
    level: float = 0.95,
) -> DecisionCurve:
    """Net benefit of checked rows at ascending thresholds."""
    from scipy.special import ndtri

    notes = []
    if sample.y.min() == sample.y.max():
        notes.append(f"only {sample.classes[int(sample.y[0])]!r} occurred")
        if prevalence is not None:
            hint = "rates in a class that did not occur are unknown."
            raise invalid(_CALLER, "y_true", "of two classes", notes[0], hint=hint)
    rates = _rates(sample, at, prevalence)
    odds = at / (1 - at)
    benefit, spread = rates.net_benefit(odds, hit=1.0, missed=0.0)
    against_all, all_spread = rates.net_benefit(odds, hit=0.0, missed=-1.0)
    if sample.clusters is not None:
        spread = _spread_of_groups(sample, at, rates, hit=1.0, missed=0.0)
        all_spread = _spread_of_groups(sample, at, rates, hit=0.0, missed=-1.0)
    treat_all = rates.prevalence - (1 - rates.prevalence) * odds
    better_all = treat_all > 0
    advantage = np.where(better_all, against_all, benefit) - harm
    half, side = (
        float(ndtri((1 + level) / 2)) * each
        for each in (spread, np.where(better_all, all_spread, spread))
    )
    spared = against_all - harm
    with np.errstate(divide="ignore"):
        avoided = np.where(spared == 0, 0.0, spared / np.where(spared == 0, 1.0, odds))
    return DecisionCurve(
        threshold=at,
        net_benefit=benefit - harm,
        low=benefit - harm - half,
        high=benefit - harm + half,
        treat_all=treat_all,
        advantage=advantage,
        advantage_low=advantage - side,
        advantage_high=advantage + side,
        avoided=avoided,
        called=rates.prevalence * rates.tpr + (1 - rates.prevalence) * rates.fpr,
        confidence_level=level,
        harm=harm,
        prevalence=rates.prevalence,
        n_samples=sample.n,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Rates:
    """Rates of positives called in each class, and what the variance of sums needs.

    `square` holds, for the (positive, negative) class, the sum of squared shares of rows that are
    called at each threshold, and of all rows; shares add up to one over both classes, or in each
    if the prevalence is known.
    """

    tpr: FloatArray
    fpr: FloatArray
    prevalence: float
    square: tuple[tuple[FloatArray, float], tuple[FloatArray, float]]
    known: bool

    def net_benefit(
        self, odds: FloatArray, *, hit: float, missed: float
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and standard error of a benefit of `hit` if called and `missed` if not.

        A positive counts one, a negative -odds times as much.
        """
        classes = (
            (self.prevalence, self.tpr, np.ones_like(odds)),
            (1 - self.prevalence, self.fpr, -odds),
        )
        means = [unit * (rate * hit + (1 - rate) * missed) for _, rate, unit in classes]
        benefit = sum(share * mean for (share, *_), mean in zip(classes, means, strict=True))
        variance = np.zeros_like(odds)
        for (share, _, unit), mean, (called, every) in zip(
            classes, means, self.square, strict=True
        ):
            centre = mean if self.known else benefit
            scale = share if self.known else 1.0
            deviation = called * (unit * hit - centre) ** 2
            deviation += (every - called) * (unit * missed - centre) ** 2
            variance += scale**2 * deviation
        return np.asarray(benefit), np.sqrt(np.maximum(variance, 0.0))


def _spread_of_groups(
    sample: BinarySample, at: FloatArray, rates: _Rates, *, hit: float, missed: float
) -> FloatArray:
    """Standard errors from sums over groups, which are independent where rows are not.

    Of a mean, Liang & Zeger (1986), doi 10.1093/biomet/73.1.13, with G / (G - 1) for G groups.
    """
    assert sample.clusters is not None
    group = np.unique(sample.clusters, return_inverse=True)[1].reshape(-1)
    n_groups = int(group.max()) + 1
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    positive = sample.y == 1
    share = weight / weight.sum()
    if rates.known:
        for kind, mass in ((positive, rates.prevalence), (~positive, 1 - rates.prevalence)):
            share = np.where(kind, mass * weight / weight[kind].sum(), share)
    spread = np.empty(len(at))
    for index, threshold in enumerate(at):
        unit = np.where(positive, 1.0, -threshold / (1 - threshold))
        value = unit * np.where(sample.p >= sample.p.dtype.type(threshold), hit, missed)
        kinds = (positive, ~positive) if rates.known else (np.ones(sample.n, dtype=bool),)
        for kind in kinds:
            value = np.where(kind, value - value[kind] @ share[kind] / share[kind].sum(), value)
        sums = np.bincount(group, share * value)
        spread[index] = np.sqrt(n_groups / max(n_groups - 1, 1) * (sums @ sums))
    return spread


def _rates(sample: BinarySample, at: FloatArray, prevalence: float | None) -> _Rates:
    """Count rows at or above each threshold by class. O(n log n)."""
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    counted = sample.weight is not None and sample.weight_type == "frequency"
    order = np.argsort(sample.p)
    first = np.searchsorted(sample.p[order], at.astype(sample.p.dtype), side="left")
    all_rows = float(weight.sum())
    rates, squares, totals = [], [], []
    for of_class in (sample.y == 1, sample.y == 0):
        mass = np.where(of_class, weight, 0.0)[order]
        above, total = _above(mass, first)
        base = all_rows if prevalence is None else total
        called, every = (above, total) if counted else _above(mass**2, first)
        rates.append(above / total if total > 0 else np.zeros_like(at))
        squares.append((called / base**2, every / base**2))
        totals.append(total)
    share = totals[0] / all_rows if prevalence is None else float(prevalence)
    return _Rates(rates[0], rates[1], share, (squares[0], squares[1]), prevalence is not None)


def _above(mass: FloatArray, first: Any) -> tuple[FloatArray, float]:
    """Sum of `mass` from each index on, and of all."""
    before = np.concatenate([[0.0], np.cumsum(mass)])
    return before[-1] - before[first], float(before[-1])


def _check_thresholds(thresholds: ArrayLike | None) -> FloatArray:
    if thresholds is None:
        return np.arange(1, 100) / 100
    values = [thresholds] if is_number(thresholds) else thresholds
    at = float_array(values, caller=_CALLER, param="thresholds").astype(np.float64)
    if at.ndim != 1 or at.size == 0 or not ((at >= 0) & (at < 1)).all():
        hint = "e.g. `thresholds=[0.05, 0.1, 0.2]`."
        got = f"{at.tolist()[:6]}" if at.ndim == 1 else f"shape {at.shape}"
        raise invalid(_CALLER, "thresholds", "probabilities in [0, 1)", got, hint=hint)
    return np.unique(at)


def _check_number(value: Any, param: str, expected: str) -> float:
    if not is_number(value):
        raise invalid(_CALLER, param, expected, repr(value), hint="pass a number.")
    return float(value)
