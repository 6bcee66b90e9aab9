"""Parts of a joint test: their statistics before they are compared, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._joint.scale import Judged, Members, judge, tail_scores
from veridical.results import JointPart, JointTest

_MOST_SURPRISE = 700.0  # beyond is less than the smallest number


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
    scores = np.concatenate([tail_scores(part.values)[0] for part in found])
    least = 1 / len(found[0].values)
    own = np.exp(-scores)
    own[[part.impossible for part in found]] = least / len(found)
    order = np.argsort(own, kind="stable")
    adjusted = np.empty(len(own))
    steps = np.arange(len(own), 0, -1) * own[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return _test_of(found, Judged(own, adjusted, -np.log(own)), about)


def _test_of(found: list[Found], judged: Judged, about: dict[str, Any]) -> JointTest:
    parts = tuple(
        JointPart(
            name=part.name,
            lens=part.lens,
            label=part.label,
            statistic=float(part.values[0].max()),
            direction=part.direction,
            pvalue=float(own),
            adjusted=float(adjusted),
            surprise=float(min(surprise, _MOST_SURPRISE)),
            n_samples=part.n_samples,
        )
        for part, own, adjusted, surprise in zip(found, *judged, strict=True)
    )
    n_resamples = len(found[0].values) - 1
    smallest = float(judged.adjusted.min())
    return JointTest(pvalue=smallest, parts=parts, n_resamples=n_resamples, **about)
