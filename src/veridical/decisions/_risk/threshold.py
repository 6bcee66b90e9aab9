"""From which score on to answer, so that a risk is kept with a promised confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.validation import check_level, is_number
from veridical._core.runtime.text import two_digits_up
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.decisions._risk.answers import Answers, answers_of, least_rows, tie_ends
from veridical.exceptions import invalid, warn_of
from veridical.lenses.reading import RawData
from veridical.results import RiskThreshold
from veridical.results.library import answers_in_kind

_CALLER = "risk_threshold"
_MOST_STEPS = 100  # thresholds that are tried: each step is one more chance to stop by accident
_SURE = 0.99  # chance, if the scores are right, with which the first step should succeed
_POWER = 0.8  # chance with which the labels that are said to be needed would do
_CLOSE = 1 + 1e-12
_MOST_ROWS = 1e9  # beyond, a number of rows says nothing


@answers_in_kind
def risk_threshold(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    risk: Any = "error",
    at_most: float = 0.05,
    confidence: float = 0.9,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> RiskThreshold:
    r"""From which score on to answer, so that a risk is at most this with a promised confidence.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names. Neither the model nor
        the map behind `y_prob` may have seen these labels.
    risk : {"error", "fdr", "fnr"} or costs, default "error"
        "error": wrong answers among the rows answered by their most probable class. "fdr": false
        alarms among the rows called. "fnr": positives that are not called. Costs, as in
        :func:`decide`: mean cost of the rows answered by the decision of least expected cost.
    at_most : float, default 0.05
        The promise, between 0 and 1; for costs in their unit.
    confidence : float, default 0.9
        How often promises made in this way are kept, above 0.5.
    lens : lens, name or callable, optional
        Whose score is compared: default the confidence for "error", the positive class of two for
        "fdr" and "fnr"; ``ClassSpecific("cat")`` calls one of several classes.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (prompts, patients): limits count groups.

    Returns
    -------
    RiskThreshold
        With `threshold`, `coverage` (share answered) and its limits, the `observed` risk and its
        upper limit `high`. Where nothing can be promised `found` is False and the threshold
        infinite, and `labels_needed` says about how many labels would do.

    Notes
    -----
    For a threshold fixed beforehand, e errors in n answered rows have the exact p-value
    :math:`P(\mathrm{Bin}(n, \alpha) \le e)` of a risk of :math:`\alpha` or more. Thresholds are
    tried one after the other, at most 100 of them, downwards, and the last is taken before the
    first p-value above :math:`\delta = 1 -` `confidence`: whatever the order, if labels have no
    part in it, the chance of going too far is at most :math:`\delta` ([1]_, fixed sequence
    testing). **Where to start** is what scores are good for: the highest threshold at which, if
    the scores are right, the test would succeed with a chance of 99 %; if there is none, the one
    with the largest :math:`(\alpha - \bar q) / \sqrt{\alpha (1 - \alpha) / n}`, :math:`\bar q`
    the mean promised risk. Scores that are wrong cost coverage, never the promise. Walking down
    from the top instead is stopped by the first accidents among few rows: on n = 1,000 rows, a
    share of 12 % is answered where this rule answers 30 % (`evidence/risk.py`).

    What holds: given the scores, errors are independent with chances :math:`r_i`, and their number
    is more concentrated than a binomial one of the same mean ([2]_: below the mean less one, which
    is asked for), so with the promised confidence the *mean risk of the answered rows*,
    :math:`\sum r_i / n`, is at most `at_most`, for any order that scores alone decide. The risk of
    new rows differs from it by how scores vary from sample to sample; simulations show promises
    about it broken in at most the promised share.

    "fnr" rises with the threshold, so the largest threshold is taken whose p-value, over positives,
    is at most :math:`\delta`; there is nothing to order ([3]_). Costs take the inequality of
    Hoeffding and Bentkus ([1]_, [3]_). Importance weights and groups take the upper limit of a
    bounded mean, as :func:`evaluate` does.

    Time O(n log n).

    References
    ----------
    .. [1] Angelopoulos, Bates, Candes, Jordan & Lei (2021), Learn then test, arXiv 2110.01052.
    .. [2] Hoeffding (1956), On the distribution of the number of successes in independent trials,
       Ann. Math. Statist. 27, 713-721, theorem 4, doi 10.1214/aoms/1177728178.
    .. [3] Bates, Angelopoulos, Lei, Malik & Jordan (2021), Distribution-free, risk-controlling
       prediction sets, J. ACM 68, doi 10.1145/3478535.

    Examples
    --------
    100 rows at 0.9, of which two are wrong, and 100 at 0.6, of which 40 are: P(Bin(100, .1) <= 2)
    is .002, P(Bin(200, .1) <= 42) is 1.

    >>> y = [0] * 2 + [1] * 98 + [0] * 40 + [1] * 60
    >>> found = risk_threshold(y, [0.9] * 100 + [0.6] * 100, at_most=0.1)
    >>> found.threshold, found.coverage, found.observed
    (0.9, 0.5, 0.02)
    """
    sure = check_level(_CALLER, confidence, "confidence")
    if sure <= 0.5:
        hint = "a promise kept less often than not is none; 0.9 is usual."
        raise invalid(_CALLER, "confidence", "above 0.5", f"{confidence!r}", hint=hint)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    checked = data.weighted(sample_weight, weight_type).check(caller=_CALLER)
    answers = answers_of(checked, risk, lens, caller=_CALLER)
    alpha = _check_bound(at_most, answers)
    found = threshold_core(answers, alpha, sure, at_most=float(at_most))
    warn_of(checked.notes, caller=_CALLER)
    return found


def _check_bound(at_most: Any, answers: Answers) -> float:
    """The promise as a share of the largest loss."""
    low, high = answers.lowest, answers.lowest + answers.unit
    if not is_number(at_most) or not low < at_most < high:
        expected = f"between {low:g} and {high:g}"
        hint = "the largest share of wrong answers to put up with, such as 0.05."
        if answers.kind == "cost":
            hint = "the largest mean cost to put up with, in the unit of the costs."
        raise invalid(_CALLER, "at_most", expected, repr(at_most), hint=hint)
    return (float(at_most) - low) / answers.unit


def threshold_core(
    answers: Answers, alpha: float, confidence: float, *, at_most: float
) -> RiskThreshold:
    """The threshold of checked rows; `alpha` is the promise as a share of the largest loss."""
    delta = 1 - confidence
    walk = _upwards if answers.kind == "fnr" else _downwards
    first, started = walk(answers, alpha, delta)
    level = 1 - 2 * delta
    about: dict[str, Any] = {
        "risk": answers.kind,
        "at_most": at_most,
        "confidence": confidence,
        "meaning": answers.meaning,
        "classes": answers.classes,
        "lens": answers.lens,
        "n_samples": answers.n,
        "method": _method(answers),
        "started_at": None if started is None else _in_units(answers, started),
    }
    if first == 0:
        needed, why = _labels_needed(answers, alpha, delta)
        never = -math.inf if answers.kind == "cost" else math.inf
        return RiskThreshold(
            **about,
            threshold=never,
            coverage=0.0,
            coverage_low=0.0,
            coverage_high=0.0,
            observed=None,
            high=None,
            n_answered=0,
            labels_needed=needed,
            notes=why,
        )
    if answers.kind == "fnr":
        positives = answers.only(answers.loss == 0)
        called = int(np.searchsorted(-positives.score, -answers.score[first - 1], "right"))
        caught = positives.share(called, level)
        observed, high = 1 - caught.estimate, 1 - caught.low
    else:
        risk = answers.mean_loss(first, level)
        observed, high = risk.estimate, risk.high
    share = answers.share(first, confidence)
    return RiskThreshold(
        **about,
        threshold=_in_units(answers, _short(answers.score, first)),
        coverage=share.estimate,
        coverage_low=share.low,
        coverage_high=share.high,
        observed=answers.lowest + answers.unit * observed,
        high=answers.lowest + answers.unit * high,
        n_answered=first,
        labels_needed=None,
    )


def _short(score: FloatArray, first: int) -> float:
    """The last score that is answered, in as few decimals (four or more) as tell it from the next.

    Rounded downwards, so that the same rows are answered.
    """
    kind = score.dtype.type
    last = score[first - 1]
    below = score[first] if first < len(score) else kind(-math.inf)
    for digits in range(4, 17):
        value = math.floor(float(last) * 10**digits + 1e-9) / 10**digits
        if below < kind(value) <= last:
            return value
    return float(last)


def _in_units(answers: Answers, score: float) -> float:
    """A score as the user compares it: expected costs in their unit."""
    if answers.kind != "cost":
        return score
    return answers.lowest + answers.unit * (1 - score)


def _method(answers: Answers) -> str:
    if not answers.plain:
        return "bounded mean"
    return "Hoeffding-Bentkus" if answers.kind == "cost" else "exact binomial"


@dataclass(frozen=True)
class _Steps:
    """Thresholds in the order of scores: rows, how much they count, losses and promised losses."""

    first: IntArray
    size: FloatArray
    lost: FloatArray
    promised: FloatArray


def _steps(answers: Answers, least: float) -> _Steps | None:
    """At most 100 places to stop at, evenly by rows, each with rows enough to promise anything."""
    copies = answers.copies
    total = size = np.cumsum(copies)
    if not answers.plain:  # rows that count as fewer
        size = size**2 / np.cumsum(copies**2)
    ends = tie_ends(answers.score)
    ends = ends[size[ends - 1] >= least]
    if len(ends) == 0:
        return None
    if len(ends) > _MOST_STEPS:
        counted = total[ends - 1]
        wanted = np.linspace(counted[0], counted[-1], _MOST_STEPS)
        at = np.searchsorted(counted, wanted * (1 - 1e-12))
        ends = ends[np.unique(np.minimum(at, len(ends) - 1))]
    lost = np.cumsum(copies * answers.loss)[ends - 1]
    promised = np.cumsum(copies * answers.promise())[ends - 1] / total[ends - 1]
    return _Steps(ends, size[ends - 1], lost, promised)


def _downwards(answers: Answers, alpha: float, delta: float) -> tuple[int, float | None]:
    """Rows answered, and the score the walk began at."""
    steps = _steps(answers, least_rows(alpha, delta))
    if steps is None:
        return 0, None
    start = _start(steps, alpha, delta)
    began = float(answers.score[steps.first[start] - 1])
    if answers.plain:
        value = _binomial if answers.kind != "cost" else _hoeffding_bentkus
        size, lost = steps.size[start:], steps.lost[start:]
        passed = value(lost, size, alpha) <= delta * _CLOSE
        if answers.kind != "cost":
            passed &= lost <= size * alpha - 1
        stop = len(passed) if passed.all() else int(passed.argmin())
        return (int(steps.first[start + stop - 1]) if stop else 0), began
    found = 0
    for first in steps.first[start:]:
        if answers.mean_loss(int(first), 1 - 2 * delta).high > alpha:
            break
        found = int(first)
    return found, began


def _start(steps: _Steps, alpha: float, delta: float) -> int:
    """Where scores alone say to begin."""
    from scipy.stats import binom

    bad = binom.ppf(_SURE, np.floor(steps.size), np.clip(steps.promised, 0.0, 1.0))
    succeeds = np.flatnonzero(_binomial(bad, np.floor(steps.size), alpha) <= delta)
    if len(succeeds):
        return int(succeeds[0])
    return int(np.argmax((alpha - steps.promised) * np.sqrt(steps.size)))


def _binomial(lost: FloatArray, size: FloatArray, alpha: float) -> FloatArray:
    """P(Bin(size, alpha) <= lost), of counts that need not be whole."""
    from scipy.special import betainc

    lost = np.minimum(lost, size)
    some = lost < size
    value = betainc(np.where(some, size - lost, 1.0), lost + 1, 1 - alpha)
    return np.where(some, value, 1.0)


def _hoeffding_bentkus(lost: FloatArray, size: FloatArray, alpha: float) -> FloatArray:
    """P-value of a mean of losses in [0, 1] of alpha or more (Bates et al. 2021, section 3.1)."""
    from scipy.special import xlogy

    rate = np.minimum(lost / size, alpha)
    divergence = xlogy(rate, rate / alpha) + xlogy(1 - rate, (1 - rate) / (1 - alpha))
    hoeffding = np.exp(-size * divergence)
    bentkus = math.e * _binomial(np.ceil(lost - 1e-9), size, alpha)
    return np.minimum(np.minimum(hoeffding, bentkus), 1.0)


def _upwards(answers: Answers, alpha: float, delta: float) -> tuple[int, float | None]:
    """Rows called so that few positives are missed; the risk rises with the threshold."""
    positives = answers.only(answers.loss == 0)
    if positives.n == 0:
        return 0, None
    ends = tie_ends(positives.score)
    if positives.plain:
        copies = positives.copies
        size = float(copies.sum())
        missed = size - np.cumsum(copies)[ends - 1]
        passed = _binomial(missed, np.full(len(missed), size), alpha) <= delta * _CLOSE
        if not passed.any():
            return 0, None
        called = int(ends[passed.argmax()])
    else:
        level = 1 - 2 * delta
        low, high = 0, len(ends) - 1  # the limit falls as more are called
        if 1 - positives.share(int(ends[high]), level).low > alpha:
            return 0, None
        while low < high:
            middle = (low + high) // 2
            if 1 - positives.share(int(ends[middle]), level).low <= alpha:
                high = middle
            else:
                low = middle + 1
        called = int(ends[low])
    score = positives.score[called - 1]
    return int(np.searchsorted(-answers.score, -score, "right")), None


def _labels_needed(
    answers: Answers, alpha: float, delta: float
) -> tuple[int | None, tuple[str, ...]]:
    """About how many rows would do, if they go on as these do."""
    from scipy.special import ndtri

    least = least_rows(alpha, delta)
    if answers.clusters is not None:
        return None, ()
    if answers.kind == "fnr":
        share = float(np.mean(answers.loss == 0))
        if share == 0:
            return None, ("no row is positive",)
        return _more(least / share, answers), ()
    steps = _steps(answers, min(10.0, least))
    if steps is None:
        return _more(float(least), answers), ()
    total = np.cumsum(answers.copies)
    rate = np.maximum(steps.lost / total[steps.first - 1], steps.promised)
    share = total[steps.first - 1] / total[-1]
    hopeful = rate < alpha
    if not hopeful.any():
        return None, ("nowhere are losses both seen and promised to be so low",)
    rate, share = rate[hopeful], share[hopeful]
    reach = -ndtri(delta) * math.sqrt(alpha * (1 - alpha)) + ndtri(_POWER) * np.sqrt(
        rate * (1 - rate)
    )
    answered = np.maximum((reach / (alpha - rate)) ** 2, least)
    if not answers.plain:  # rows that count as fewer
        answered = answered * (steps.first / steps.size)[hopeful]
    return _more(float((answered / share).min()), answers), ()


def _more(count: float, answers: Answers) -> int | None:
    """So many rows, if they are more than there are; None where that is not known."""
    there = answers.copies.sum() if answers.plain else answers.n
    return two_digits_up(count) if there < count < _MOST_ROWS else None
