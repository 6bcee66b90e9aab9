"""How many rows to label, and which."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.data.arrays import missing_values, to_numpy
from veridical._core.data.randomness import check_rng
from veridical._core.data.reading import Reading, Scale
from veridical._core.data.validation import (
    check_level,
    check_probabilities,
    check_sample,
    float_array,
    is_number,
)
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, BoolArray, FloatArray, IntArray
from veridical.evaluation._rates.limits import UNSEEN, exact_limits
from veridical.evaluation._rates.maps import fit_ridge, score_columns
from veridical.evaluation._rates.rows import ranks_of
from veridical.exceptions import invalid, warn_of
from veridical.results import LabelPlan
from veridical.results.library import answers_in_kind

_CALLER = "plan_labels"
_EVENLY = 0.5  # share of labels that is spread evenly, whatever scores say
_FEWEST = 20


@answers_in_kind
def plan_labels(
    y_prob: ArrayLike,
    *,
    half_width: float,
    known: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    scale: Scale = "probability",
    confidence_level: float = 0.95,
    rng: Any = None,
) -> LabelPlan:
    r"""Plan how many rows to label so that limits of a rate are narrow, and which rows.

    Parameters
    ----------
    y_prob : array-like of shape (n,)
        Scores of all rows, as probabilities of the positive class.
    half_width : float
        Wanted distance from the estimate to its limits.
    known : array-like of shape (n,), optional
        Labels there are already, missing where there are none: the scores are mapped by them, and
        they count. They must not have been chosen by what they turned out to be.
    labels, pos_label, scale
        As in :func:`estimate_rate`.
    confidence_level : float, default 0.95
        Of the limits.
    rng : seed or generator, optional
        Which rows are drawn.

    Returns
    -------
    LabelPlan
        With `n_labels`, `rows` to label and `label_prob`, which :func:`estimate_rate` takes
        together with the labels.

    Notes
    -----
    The variance is least where the chance of a label is proportional to :math:`\sqrt{p (1 - p)}`
    (Neyman 1934): doubtful rows say more. Half of the labels are spread evenly all the same, so
    that no row weighs more than twice as much as at random, however wrong the scores are. Rows are
    drawn systematically from a random order, so their number is the one planned.

    The plan supposes that mapped scores are calibrated. Without labels nobody knows: plan with some
    50 random ones, given as `known`, and again after more.

    References
    ----------
    Neyman (1934), On the two different aspects of the representative method, Journal of the Royal
    Statistical Society 97, doi 10.2307/2342192.

    Examples
    --------
    Of 1,000 rows 40 have a label; doubtful rows are labelled more often from now on.

    >>> scores, known = [0.02] * 800 + [0.5] * 200, [None] * 1000
    >>> known[:40:2], known[-40::2] = [0] * 20, [0, 1] * 10
    >>> plan = plan_labels(scores, half_width=0.03, known=known, rng=0)
    >>> len(plan.rows) == plan.n_labels < plan.n_random
    True
    >>> bool(plan.label_prob[-1] > plan.label_prob[1])
    True
    """
    level = check_level(_CALLER, confidence_level)
    generator = check_rng(rng, caller=_CALLER)
    if not (is_number(half_width) and 0 < half_width < 0.5):
        hint = "0.03 means limits three points to either side."
        raise invalid(_CALLER, "half_width", "between 0 and 0.5", repr(half_width), hint=hint)
    score = _scores(y_prob, scale)
    labelled, y = _known(known, score, labels, pos_label)
    mapped, notes = _mapped(score, labelled, y)
    rate = float(mapped.mean())
    n_labels = _fewest(mapped, labelled, half_width, level)
    if n_labels is None:
        best = _half_width(mapped, labelled, int((~labelled).sum()), level)
        hint = "ask for wider limits, or score more rows."
        got = f"{half_width:g} with {len(score):,} rows, of which all labelled give {best:.3g}"
        raise invalid(_CALLER, "half_width", "one that these rows allow", got, hint=hint)
    chance = _chances(mapped, labelled, n_labels)
    plan = LabelPlan(
        n_labels=n_labels,
        rows=_drawn(np.where(labelled, 0.0, chance), generator),
        label_prob=chance,
        half_width=_half_width(mapped, labelled, n_labels, level),
        rate=rate,
        n_random=_random_labels(rate, half_width, level),
        confidence_level=level,
        notes=tuple(notes),
    )
    warn_of(plan.notes, caller=_CALLER)
    return plan


def _scores(y_prob: ArrayLike, scale: Scale) -> FloatArray:
    values = float_array(y_prob, caller=_CALLER, param="y_prob")
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1 or len(values) == 0:
        hint = "pass one score per row, of the class whose share is asked for."
        raise invalid(_CALLER, "y_prob", "a score per row", f"shape {values.shape}", hint=hint)
    how = Reading(scale=scale).checked(caller=_CALLER)
    values = how.probabilities(values, caller=_CALLER, param="y_prob")
    checked = check_probabilities(values, caller=_CALLER, option="scale")
    return checked.astype(np.float64, copy=False)


def _known(
    given: Any, score: FloatArray, labels: Any, pos_label: Any
) -> tuple[BoolArray, FloatArray]:
    """Which rows have a label, and the outcomes of these."""
    if given is None:
        return np.zeros(len(score), dtype=bool), np.zeros(0)
    values = to_numpy(given, caller=_CALLER, param="known")
    if values.shape != score.shape:
        hint = "pass one label per row, None where there is none."
        got = f"shape {values.shape}"
        raise invalid(_CALLER, "known", f"of shape {score.shape}", got, hint=hint)
    known = ~missing_values(values)
    if not known.any():
        return known, np.zeros(0)
    sample = check_sample(
        values[known], score[known], caller=_CALLER, labels=labels, pos_label=pos_label
    )
    assert isinstance(sample, BinarySample)
    return known, sample.y.astype(np.float64)


def _mapped(score: FloatArray, known: BoolArray, y: FloatArray) -> tuple[FloatArray, list[str]]:
    """Scores as probabilities, by the labels there are."""
    if known.sum() < _FEWEST:
        note = f"scores are taken as calibrated: plan again with {_FEWEST} random labels or more"
        return score, [note]
    from scipy.special import expit

    columns = score_columns(score, ranks_of(score))
    fit = fit_ridge(columns[:, known], y, np.ones(len(y)))
    return np.asarray(expit(fit @ columns)), []


def _chances(p: FloatArray, known: BoolArray, n_labels: int) -> FloatArray:
    """Chance of each row to have a label: 1 for those that have one, `n_labels` over the others."""
    spread = np.where(known, 0.0, np.sqrt(p * (1 - p)))
    even = np.where(known, 0.0, 1.0)
    total = spread.sum()
    mixed = even / max(even.sum(), 1.0)
    if total > 0:
        mixed = _EVENLY * mixed + (1 - _EVENLY) * spread / total
    chance = np.minimum(n_labels * mixed, 1.0)
    for _ in range(50):  # what is above 1 goes to the others
        missing = n_labels - chance.sum()
        free = (chance < 1) & ~known
        if missing < 1e-9 * max(n_labels, 1) or not free.any():
            break
        chance[free] = np.minimum(chance[free] * (1 + missing / chance[free].sum()), 1.0)
    return np.where(known, 1.0, chance)


def _half_width(p: FloatArray, known: BoolArray, n_labels: int, level: float) -> float:
    """Half of the distance between limits that is expected with so many new labels."""
    chance = _chances(p, known, n_labels)
    if not (chance > 0).all():
        return 0.5
    n, rate = len(p), float(p.mean())
    total = rate * (1 - rate)
    if total < 1e-12:
        low, high = exact_limits(rate, float(chance.sum()), level, None)
        return (high - low) / 2
    within = p * (1 - p)
    drawn = float(((1 / chance - 1) * within).sum()) / n**2 + total / n
    unseen = UNSEEN * float((1 / chance**2).mean()) / n**2
    kish = float((1 / chance).sum()) / n**2  # of labels drawn so: the expected sum of squares
    worth = (total * kish + unseen) / (drawn + unseen) / kish
    low, high = exact_limits(rate, worth, level, None)
    return (high - low) / 2


def _fewest(p: FloatArray, known: BoolArray, half_width: float, level: float) -> int | None:
    """Fewest new labels whose limits are narrow enough; None if all are not enough."""
    least, most = 0 if known.sum() >= _FEWEST else _FEWEST, int((~known).sum())
    if most < least or _half_width(p, known, most, level) > half_width:
        return None
    while least < most:
        middle = (least + most) // 2
        if _half_width(p, known, middle, level) <= half_width:
            most = middle
        else:
            least = middle + 1
    return most


def _random_labels(rate: float, half_width: float, level: float) -> int:
    """Labels alone with limits this narrow."""
    least, most = 1, 1 << 40
    while least < most:
        middle = (least + most) // 2
        low, high = exact_limits(rate, float(middle), level, None)
        if (high - low) / 2 <= half_width:
            most = middle
        else:
            least = middle + 1
    return most


def _drawn(chance: FloatArray, rng: np.random.Generator) -> IntArray:
    """Rows drawn systematically with these chances from a random order."""
    order = rng.permutation(len(chance))
    sums = np.cumsum(chance[order])
    ticks = np.arange(rng.random(), sums[-1] * (1 + 1e-12), 1.0) if len(sums) else np.zeros(0)
    place = np.searchsorted(sums, ticks[: round(sums[-1])], side="right")
    return np.sort(order[np.minimum(place, len(order) - 1)])
