"""What the true posterior scores on its own task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.typing import FloatArray
from veridical.results._simulated import BayesFigures

if TYPE_CHECKING:
    from veridical.simulation._gaussian import GaussianMixtureTask

NODES = 1 << 16  # trapezoids; the kinks of the accuracy cost about (range / nodes)^2
REACH = 12.0  # standard deviations; what lies beyond weighs less than 1e-32
BLOCK = 1 << 15


def bayes_figures(
    task: GaussianMixtureTask, n_draws: int, rng: np.random.Generator
) -> BayesFigures:
    """Expected figures of the posterior; by quadrature on a line, by Monte Carlo in space."""
    if task.n_features == 1:
        nodes = line_nodes(task, NODES)
        values = expected_figures(task.posterior(nodes)) * task.density(nodes)[:, None]
        figures = _trapezoids(values, nodes)
        change = np.abs(figures - _trapezoids(values[::2], nodes[::2]))
        return _figures(figures, change, "quadrature", len(nodes))
    total: FloatArray = np.zeros(3)
    squares: FloatArray = np.zeros(3)
    for block in row_blocks(n_draws, BLOCK):
        drawn: FloatArray = expected_figures(
            task.sample(block.stop - block.start, rng=rng).posterior
        )
        total += drawn.sum(axis=0)
        squares += (drawn**2).sum(axis=0)
    mean = total / n_draws
    error = np.sqrt(np.maximum(squares / n_draws - mean**2, 0) / n_draws)
    return _figures(mean, error, "monte carlo", n_draws)


def expected_figures(posterior: FloatArray) -> FloatArray:
    """Accuracy, Brier score and log loss a row of posteriors expects of itself, (n, 3)."""
    brier = 1 - (posterior**2).sum(axis=1)
    if posterior.shape[1] == 2:
        brier = brier / 2  # of the one probability
    log = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    return np.column_stack([posterior.max(axis=1), brier, -(posterior * log).sum(axis=1)])


def line_nodes(task: GaussianMixtureTask, count: int) -> FloatArray:
    """About `count` ascending nodes on a line, dense wherever a mode is narrow."""
    modes = task.modes
    z = np.linspace(-REACH, REACH, max(count // modes.size[0], 256))
    nodes = modes.means[:, :1] + modes.factors[:, 0, :1] * z
    return np.unique(nodes)


def _trapezoids(values: FloatArray, nodes: FloatArray) -> FloatArray:
    return np.diff(nodes) @ (values[1:] + values[:-1]) / 2


def _figures(figures: FloatArray, error: FloatArray, method: str, count: int) -> BayesFigures:
    accuracy, brier, log_loss = (float(value) for value in figures)
    accuracy_error, brier_error, log_loss_error = (float(value) for value in error)
    return BayesFigures(
        accuracy=accuracy,
        brier=brier,
        log_loss=log_loss,
        accuracy_error=accuracy_error,
        brier_error=brier_error,
        log_loss_error=log_loss_error,
        method=method,
        n_nodes=count,
    )
