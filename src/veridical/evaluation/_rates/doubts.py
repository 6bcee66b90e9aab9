"""Whether labels are what an estimate takes them for: a random sample that covers the scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veridical._core.typing import FloatArray
from veridical.evaluation._rates.limits import Design
from veridical.evaluation._rates.rows import CALLER, RateRows
from veridical.exceptions import InvalidInputError, invalid
from veridical.results.base import say_pvalue

_LEVEL = 0.01  # of the test of transport
_STRICT = 0.001  # of the test of random labels, which is approximate where labels are few
_IMPOSSIBLE = 1e-6  # chance of a gap among random labels, below which they are none
_MARGIN = 0.05  # mean residuals of strata that differ by less are alike
_NAMED = 4


def check_strata(rows: RateRows) -> None:
    """Raise unless every stratum has two labels, which say how much its rows differ."""
    if rows.strata is None:
        return
    labelled = np.bincount(rows.strata[: rows.m], minlength=len(rows.keys))
    present = np.bincount(rows.strata, minlength=len(rows.keys))
    few = np.flatnonzero((labelled < 2) & (present > 0))
    if len(few):
        key = rows.keys[int(few[0])]
        hint = "label rows there, or join strata."
        got = f"{labelled[few[0]]} among {present[few[0]]} rows of {key!r}"
        raise invalid(CALLER, "strata", "of two labels or more each", got, hint=hint)


def check_support(rows: RateRows, design: Design) -> None:
    """Raise if a range of scores holds more rows without a label than chance leaves.

    Of m random labels among m + N rows none is one of the k smallest with chance
    (N! / (N - k)!) / ((N + m)! / (N + m - k)!), the same for k rows between two labels, and there
    are m + 1 such ranges.
    """
    from scipy.special import gammaln

    if design.planned or rows.n == rows.m:
        return
    n_units = design.n_clusters
    n_others = rows.n - rows.m
    if design.clusters is not None:
        n_others = len(np.unique(design.clusters[rows.m :]))
    for c, label in enumerate(rows.classes):
        known = np.unique(rows.score[: rows.m, c])
        others = rows.score[rows.m :, c]
        place = np.searchsorted(known, others)
        between = known[np.minimum(place, len(known) - 1)] != others
        held = np.bincount(place[between], minlength=len(known) + 1) / len(others)
        worst = int(held.argmax())
        left = n_others * (1 - held[worst])
        chance = gammaln(n_others + 1) - gammaln(left + 1)
        chance -= gammaln(n_others + n_units + 1) - gammaln(left + n_units + 1)
        if chance + np.log(n_units + 1) > np.log(_IMPOSSIBLE):
            continue
        raise _uncovered(known, worst, float(held[worst]), label, rows)


def _uncovered(
    known: FloatArray, worst: int, share: float, label: Any, rows: RateRows
) -> InvalidInputError:
    where = f"between {known[worst - 1]:.4g} and {known[min(worst, len(known) - 1)]:.4g}"
    if worst == 0:
        where = f"below {known[0]:.4g}"
    elif worst == len(known):
        where = f"above {known[-1]:.4g}"
    of_class = "" if rows.score.shape[1] == 1 else f" of {label!r}"
    got = f"none where {100 * share:.0f} % of the others have their score{of_class}, {where}"
    hint = (
        "label rows at random among all of them, or with chances given as `label_prob`;"
        " or leave out the rows that labels say nothing of."
    )
    return invalid(CALLER, "y_true", "labels wherever there are scores", got, hint=hint)


def random_labels_doubt(rows: RateRows, design: Design) -> list[str]:
    """A note where scores of labelled rows differ from those of all by more than chance.

    Hotelling's test of two means, of the ranks of scores and of their squared distance from the
    middle, so that labels of high, of low and of doubtful scores are all noticed.
    """
    if rows.n == rows.m:
        return []
    pvalues = [_difference(rank, design, rows.m) for rank in rows.ranks]
    pvalue = min(1.0, min(pvalues) * len(pvalues))
    if pvalue >= _STRICT:
        return []
    if design.planned:
        advice = "chances or strata of labels are not what was given"
    else:
        advice = "they are no random sample: give the chances they were drawn with as `label_prob`"
    return [f"labelled rows have other scores than the others ({say_pvalue(pvalue)}): {advice}"]


def _difference(rank: FloatArray, design: Design, m: int) -> float:
    from scipy.special import fdtrc

    parts, apart = [], []
    for values in (rank, (rank - 0.5) ** 2):
        of_rows = design.parts(np.zeros(m), values)[1]
        clusters = design.clusters
        parts.append(of_rows if clusters is None else np.bincount(clusters, of_rows))
        apart.append(float(design.a @ values[:m] - design.b @ values))
    covariance = np.array([[one @ two for two in parts] for one in parts])
    if not design.planned and design.clusters is None:
        # If labels are random, all rows say how much scores vary, not only the few with a label.
        spread = np.cov(np.stack([rank, (rank - 0.5) ** 2]))
        covariance = spread * float(design.a @ design.a + design.b @ design.b)
    scale = np.sqrt(np.diag(covariance))
    if not scale.all():
        return 1.0
    values, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    used = values > 1e-6
    along = (axes.T @ (np.array(apart) / scale))[used]
    # Hotelling's T^2: the covariance is known from as many units as have labels.
    size, freedom = int(used.sum()), max(design.n_clusters - 1, 2)
    statistic = float(along @ (along / values[used])) * (freedom - size + 1) / (freedom * size)
    return float(fdtrc(size, freedom - size + 1, statistic))


class Transport(NamedTuple):
    """Whether scores are wrong by the same amount everywhere, and a note if they are not."""

    word: str | None
    notes: list[str]


def transport(rows: RateRows, mapped: FloatArray) -> Transport:
    """Compare mean held-out residuals of strata: alike within a margin, different, or unknown.

    "shown" if every stratum differs from the mean of all by less than 0.05 with certainty (two
    one-sided tests at 5 % over the strata, Bonferroni), "differs" if a test of equal means (Welch's
    chi-square) rejects at 1 %.
    """
    from scipy.special import chdtrc, ndtri

    if rows.strata is None or len(np.unique(rows.strata)) < 2:
        return Transport(None, [])
    strata = rows.strata[: rows.m]
    shown, smallest = True, 1.0
    worst: FloatArray = np.zeros(0)
    size = np.bincount(strata, minlength=len(rows.keys)).astype(float)
    used = size > 0
    for c in range(rows.score.shape[1]):
        residual = rows.outcome[:, c] - mapped[: rows.m, c]
        mean = np.bincount(strata, residual, len(size))[used] / size[used]
        away = residual - (np.bincount(strata, residual, len(size)) / np.maximum(size, 1))[strata]
        # One more residual of 1 in each: that none was seen does not mean there are none.
        squares = np.bincount(strata, away**2, len(size))[used] + 1
        error = squares / (size[used] * np.maximum(size[used] - 1, 1))
        centre = float((mean / error).sum() / (1 / error).sum())
        statistic = float(((mean - centre) ** 2 / error).sum())
        pvalue = float(chdtrc(used.sum() - 1, statistic)) * rows.score.shape[1]
        reach = np.abs(mean - centre) + ndtri(1 - 0.05 / len(mean)) * np.sqrt(error)
        shown = shown and bool((reach < _MARGIN).all())
        if pvalue < smallest:
            smallest, worst = pvalue, mean
    if smallest < _LEVEL:
        keys = [rows.keys[k] for k in np.flatnonzero(used)]
        far = np.argsort(-np.abs(worst), kind="stable")[:_NAMED]
        listed = ", ".join(f"{worst[k]:+.3f} in {keys[k]!r}" for k in far)
        note = (
            f"scores are not wrong by the same amount everywhere ({say_pvalue(smallest)}; outcomes"
            f" less mapped scores {listed}): what labels say of one stratum does not hold in others"
        )
        return Transport("differs", [note])
    return Transport("shown" if shown else "not shown", [])
