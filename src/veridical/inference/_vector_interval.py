"""Interval of the root-mean-square error of whole vectors (canonical calibration)."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._binned_interval import squared_limits
from veridical.summaries import VectorSummary

# The squared Euclidean distance of two probability vectors is at most two.
_LARGEST = 2.0


def l2_vector_limits(summary: VectorSummary, level: float) -> tuple[float, float]:
    r"""Limits of :math:`(\sum_c (W_c / W)\,\|\bar y_c - \bar p_c\|_2^2)^{1/2}`.

    As for a binary problem (see :func:`bootstrap_interval`), with the multinomial covariance
    :math:`\Sigma_c = \mathrm{diag}(r_c) - r_c r_c^\top` of an outcome in the place of r (1 - r):
    the squared length of a normal vector of mean d and covariance S / n has the cumulants
    :math:`\mathrm{tr} S / n + d^\top d`, :math:`2\,\mathrm{tr} S^2 / n^2 + 4 d^\top S d / n` and
    :math:`8\,\mathrm{tr} S^3 / n^3 + 24 d^\top S^2 d / n^2`.
    """
    share, size, gap = summary.share, summary.size, summary.mean_y - summary.mean_p
    total = float(summary.sum_w.sum())
    frequency = summary.weight_type == "frequency"
    n = total if frequency else total**2 / float(summary.sum_w2.sum())
    squares = (gap**2).sum(axis=1)
    observed = float(share @ squares)
    # Gaps are spread as they were observed; if there are none, away from the largest prediction.
    direction = gap / math.sqrt(observed) if observed > 0 else _away(summary.mean_p)
    noise = _traces(_inside(summary.mean_y, size))[0] / size
    known = np.maximum(squares - 4 * noise, 0.0)
    between = max(0.0, float(share @ known**2) - float(share @ known) ** 2)

    def cumulants(theta: float) -> tuple[float, float, float]:
        shift = math.sqrt(theta) * direction
        rate = _inside(summary.mean_p + shift, size)
        one, two, three = _traces(rate)
        dot = (rate * shift).sum(axis=1)
        image = rate * shift - rate * dot[:, None]  # S d
        mean = share @ (one / size) + theta
        variance = share**2 @ (2 * two / size**2 + 4 * (image * shift).sum(axis=1) / size)
        third = share**3 @ (8 * three / size**3 + 24 * (image**2).sum(axis=1) / size**2)
        return float(mean), float(variance) + between / n, float(third)

    return squared_limits(observed, cumulants, level, largest=_LARGEST)


def _inside(rate: FloatArray, size: FloatArray) -> FloatArray:
    """Rates moved into the simplex: a class that did not occur does not have a known rate."""
    n_classes = rate.shape[1]
    edge = 0.5 / (size + 1)[:, None]
    moved = np.clip(rate, edge / n_classes, None)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def _traces(rate: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Traces of S, S^2 and S^3 for S = diag(r) - r r'."""
    second, third, fourth = ((rate**power).sum(axis=1) for power in (2, 3, 4))
    one = 1 - second
    two = second - 2 * third + second**2
    three = third - 3 * fourth + 3 * second * third - second**3
    return one, two, three


def _away(mean_p: FloatArray) -> FloatArray:
    direction = np.full(mean_p.shape, 1 / (mean_p.shape[1] - 1))
    direction[np.arange(len(mean_p)), mean_p.argmax(axis=1)] = -1.0
    return direction / np.linalg.norm(direction, axis=1, keepdims=True)
