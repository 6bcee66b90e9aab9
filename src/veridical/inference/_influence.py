"""What each row adds to a squared calibration error."""

from __future__ import annotations

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.lenses import ClasswiseProblem
from veridical.miscalibration import BinnedError
from veridical.summaries import Summary


def squared_error(
    estimator: BinnedError, problem: BinarySample | ClasswiseProblem
) -> tuple[float, FloatArray]:
    r"""Return the squared binned error (of norm 2), and the influence of each row on it.

    With :math:`\theta = \sum_b (W_b / W)\, g_b^2`, a row in bin b moves it in proportion to
    :math:`2 g_b (y - p) - g_b^2 - \theta` (the derivative of :math:`\sum_b S_b^2 / (W W_b)` with
    respect to the row's weight, where :math:`S_b = W_b g_b`). Over classes both are means.
    """
    summary = estimator.summarise(problem)
    assert isinstance(summary, Summary)
    value = float(estimator.powered(summary).mean())
    if isinstance(problem, BinarySample):
        return value, _influence(summary, 0, problem)
    total = np.zeros(problem.sample.n)
    for k in range(problem.n_problems):
        total += _influence(summary, k, problem.problem(k))
    return value, total / problem.n_problems


def _influence(summary: Summary, index: int, sample: BinarySample) -> FloatArray:
    gap = np.where(summary.occupied[index], summary.mean_y[index] - summary.mean_p[index], 0.0)
    theta = float(summary.share[index] @ gap**2)
    own = gap[summary.partitions[index].assign(sample.p)]
    residual = sample.y - sample.p.astype(np.float64)
    return 2 * own * residual - own**2 - theta
