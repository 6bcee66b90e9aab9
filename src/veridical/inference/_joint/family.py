"""Parts on one scale of surprise, and the test that considers all of them at once.

Row 0 of every array is what was observed, the others are draws under the null hypothesis. All of
them are treated alike, so they are exchangeable if the hypothesis is true, and a rank among them
is a p-value that holds exactly, however well the scale fits: the scale only decides how the
members share the level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.results import JointPart, JointTest

_MOST_SURPRISE = 700.0  # beyond is less than the smallest number
# Share of the draws that are the tail, which is smoothed. A few members share the level in larger
# pieces, which can be counted if draws are many: then what Holm's method rejects is rejected.
_TAIL, _TAIL_OF_FEW, _FEW, _COUNTED = 0.1, 0.01, 5, 5
_DIGITS = 9  # of a statistic relative to its mean: beyond is rounding of sums
_TIE = 1e-9
_LEAST = 1e-300


class Members(NamedTuple):
    """Statistics that are large where something is wrong, and the part each belongs to.

    Attributes
    ----------
    values : (1 + R, m), what was observed first
    part : (m,) index of the part of each
    share : (m,) weight of each in the level
    impossible : (m,) whether outcomes were seen that have no probability at all
    """

    values: FloatArray
    part: IntArray
    share: FloatArray
    impossible: FloatArray


class Judged(NamedTuple):
    """P-values of parts, by themselves and with all considered; the smallest is the test's.

    `surprise` is the score of each, minus the logarithm of a smooth p-value.
    """

    own: FloatArray
    adjusted: FloatArray
    surprise: FloatArray


def tail_scores(values: FloatArray, tail: float = _TAIL) -> FloatArray:
    """Minus the logarithm of the share of draws at least as large, smooth in the tail.

    In the body it is counted. In the tail it falls as the gamma law does that has the mean and the
    variance of all but the largest: the law of the square of a normal variable, and
    Satterthwaite's approximation to sums of such (1946, Biometrics Bulletin 2, 110-114).

    Examples
    --------
    >>> tail_scores(np.array([[3.0], [1.0], [2.0], [0.0]]))[1:].round(3).ravel().tolist()
    [0.288, 0.693, 0.0]
    """
    from scipy.special import gammaincc

    mean = values.mean(axis=0)
    scaled = np.round(values / np.where(mean > 0, mean, 1.0), _DIGITS)
    n = len(scaled)
    ordered = np.sort(scaled, axis=0)
    most = ordered[:-1]  # what was observed, if far out, must not widen its own scale
    mean, variance = most.mean(axis=0), most.var(axis=0)
    start = ordered[n - 1 - int(tail * n)]
    scores = np.zeros_like(scaled)
    for m in np.flatnonzero(ordered[-1] > ordered[0]):
        column = scaled[:, m]
        counted = n - np.searchsorted(ordered[:, m], column)
        scores[:, m] = np.log(n / counted)
        if not variance[m] > 0:
            continue
        beyond = column > start[m]
        shape, size = mean[m] ** 2 / variance[m], variance[m] / mean[m]
        anchor = max(float(gammaincc(shape, start[m] / size)), _LEAST)
        falls = gammaincc(shape, column[beyond] / size) / anchor
        held = (n - int(np.searchsorted(ordered[:, m], start[m]))) / n
        scores[beyond, m] = -np.log(np.maximum(held * falls, _LEAST))
    return scores


def judge(members: Members, n_parts: int) -> Judged:
    """P-values of the parts by stepping down from the clearest (Westfall & Young 1993, 2.6).

    The clearest part is compared with the largest of all in every draw, the next with the largest
    of the others, and so on; none becomes clearer than the one before.
    """
    few = len(members.part) <= _FEW and _TAIL_OF_FEW * len(members.values) >= _COUNTED
    scores = tail_scores(members.values, _TAIL_OF_FEW if few else _TAIL) + np.log(members.share)
    scores[0, members.impossible] = np.inf
    parts = np.full((len(scores), n_parts), -np.inf)
    for m, part in enumerate(members.part):
        np.maximum(parts[:, part], scores[:, m], out=parts[:, part])
    observed, drawn = parts[0], parts[1:]
    own = (1 + (drawn >= observed - _TIE).sum(axis=0)) / len(parts)
    own[np.isneginf(observed)] = 1.0
    adjusted = np.ones(n_parts)
    order = np.argsort(-observed, kind="stable")
    largest = np.full(len(drawn), -np.inf)
    at_least = np.empty(n_parts)
    for part in order[::-1]:
        np.maximum(largest, drawn[:, part], out=largest)
        at_least[part] = (1 + (largest >= observed[part] - _TIE).sum()) / len(parts)
    adjusted[order] = np.maximum.accumulate(at_least[order])
    return Judged(own, np.maximum(adjusted, own), np.maximum(observed, 0.0))


@dataclass(frozen=True)
class Found:
    """Statistics of one part, observed and drawn.

    Attributes
    ----------
    name, lens, label, n_samples, direction : as in `JointPart`
    values : (1 + R, m) statistics that are large where it is wrong, what was observed first
    impossible : whether something happened that had no probability
    """

    name: str
    lens: str
    values: FloatArray
    n_samples: int
    direction: float = 0.0
    label: Any = None
    impossible: bool = False


def joint_test_of(found: list[Found], **about: Any) -> JointTest:
    """The test of all parts at once, whose draws are of the same outcomes."""
    values = np.hstack([part.values for part in found])
    widths = np.array([part.values.shape[1] for part in found])
    index = np.repeat(np.arange(len(found)), widths)
    impossible = np.repeat([part.impossible for part in found], widths)
    judged = judge(Members(values, index, (1 / widths)[index], impossible), len(found))
    return _test_of(found, judged, about)


def holm_test_of(found: list[Found], **about: Any) -> JointTest:
    """The test of parts of which it is not known how they go together, corrected by Holm's method.

    So many parts need p-values smaller than a number of draws can show: they are those of the
    smooth tails.
    """
    smallest = [np.exp(-tail_scores(part.values)[0].max()) for part in found]
    least = 1 / len(found[0].values)
    # Of several statistics of a part the clearest counts, corrected for their number.
    own = np.minimum(1.0, np.array([part.values.shape[1] for part in found]) * smallest)
    own[[part.impossible for part in found]] = least / len(found)
    order = np.argsort(own, kind="stable")
    adjusted = np.empty(len(own))
    steps = np.arange(len(own), 0, -1) * own[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return _test_of(found, Judged(own, adjusted, -np.log(own)), about)


def _test_of(found: list[Found], judged: Judged, about: dict[str, Any]) -> JointTest:
    n_resamples = len(found[0].values) - 1
    parts = tuple(
        JointPart(
            name=part.name,
            lens=part.lens,
            label=part.label,
            statistic=float(part.values[0, 0]),
            direction=part.direction,
            pvalue=float(own),
            adjusted=float(adjusted),
            surprise=float(min(surprise, _MOST_SURPRISE)),
            n_samples=part.n_samples,
            n_resamples=n_resamples,
        )
        for part, own, adjusted, surprise in zip(found, *judged, strict=True)
    )
    smallest = float(judged.adjusted.min())
    return JointTest(pvalue=smallest, parts=parts, n_resamples=n_resamples, **about)
