"""The share behind the answers of a judge that says yes or no and is wrong at known rates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid


class JudgedShare(NamedTuple):
    """The share and its limits."""

    estimate: float
    low: float
    high: float


def rogan_gladen(
    y: FloatArray, judged: FloatArray, rest: FloatArray, level: float, caller: str
) -> JudgedShare:
    r"""Share among rows without a label, whose class shares may be others than those of labels.

    With p the share judged positive, q0 and q1 the specificity and the sensitivity, the share is
    (p + q0 - 1) / (q0 + q1 - 1) (Rogan & Gladen 1978, doi 10.1093/oxfordjournals.aje.a112510).
    Limits are those of Lang & Reiczigel (2014, doi 10.1016/j.prevetmed.2013.09.015), which Lee et
    al. (2025, arXiv 2511.21140) take for language models as judges.
    """
    from scipy.special import ndtri

    m0, m1, n = float(np.sum(y == 0)), float(np.sum(y == 1)), len(rest)
    if m0 == 0 or m1 == 0 or n == 0:
        hint = 'label rows of both classes, or use method="labels".'
        got = f"{m1:.0f} positives, {m0:.0f} negatives and {n} rows without a label"
        expected = 'of both classes beside rows without a label for method="rogan-gladen"'
        raise invalid(caller, "y_true", expected, got, hint=hint)
    q0, q1, p = 1 - judged[y == 0].mean(), judged[y == 1].mean(), float(rest.mean())
    z = float(ndtri((1 + level) / 2))
    estimate = _corrected(p, q0, q1, caller)
    # As if z^2 more rows without a label, and one more of either answer for each class.
    p, n_more = (n * p + z * z / 2) / (n + z * z), n + z * z
    q0, q1 = (m0 * q0 + 1) / (m0 + 2), (m1 * q1 + 1) / (m1 + 2)
    centre = _corrected(p, q0, q1, caller)
    v0, v1 = q0 * (1 - q0) / (m0 + 2), q1 * (1 - q1) / (m1 + 2)
    centre_by = 2 * z * z * (-(1 - centre) * v0 + centre * v1)
    variance = p * (1 - p) / n_more + (1 - centre) ** 2 * v0 + centre**2 * v1
    width = z * np.sqrt(variance) / (q0 + q1 - 1)
    low, high = np.clip([centre + centre_by - width, centre + centre_by + width], 0, 1)
    return JudgedShare(float(np.clip(estimate, 0, 1)), float(low), float(high))


def _corrected(p: float, q0: float, q1: float, caller: str) -> float:
    if q0 + q1 <= 1:
        hint = 'use method="labels": such a judge says nothing.'
        got = f"specificity {q0:.3f} and sensitivity {q1:.3f}"
        expected = 'right more often than wrong for method="rogan-gladen"'
        raise invalid(caller, "y_prob", expected, got, hint=hint)
    return (p + q0 - 1) / (q0 + q1 - 1)
