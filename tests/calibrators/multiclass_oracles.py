"""Naive formulas and samples for the tests of multiclass calibrators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax


def draw(posterior: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One label a row from a matrix of probabilities."""
    return (rng.random(len(posterior))[:, None] > posterior.cumsum(axis=1)[:, :-1]).sum(axis=1)


def overconfident(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True posteriors, labels and predictions twice too sharp and off towards the last class."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, k)) * 1.5
    posterior = softmax(logits, axis=1)
    shift = np.linspace(-0.5, 0.5, k)
    return posterior, draw(posterior, rng), softmax(2 * logits + shift, axis=1)


def recorded_input() -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities the other packages' recorded numbers are about."""
    rng = np.random.default_rng(12345)
    z = rng.normal(size=(200, 3)) * 1.5
    y = (z + np.array([0.5, 0, -0.5]) + rng.gumbel(size=z.shape)).argmax(axis=1)
    return y, softmax(2 * z, axis=1)


def three_class_task(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and true posteriors of the task of doi 10.1007/s10994-023-06336-7, §5.4."""
    rng = np.random.default_rng(seed)
    means = np.array([[-4, 64], [4, -72], [0, 0]])
    variances = np.array([[960, 1280], [980, 1024], [8, 8]])
    y = rng.integers(3, size=n)
    half = rng.integers(2, size=n)
    x = rng.normal(means[y, half], np.sqrt(variances[y, half]))
    gap = x[:, None, None] - means
    density = (np.exp(-(gap**2) / (2 * variances)) / np.sqrt(variances)).sum(axis=2)
    return y, density / density.sum(axis=1, keepdims=True)


def log_loss(p: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Weighted mean log loss."""
    return float(np.average(-np.log(p[np.arange(len(y)), y]), weights=weight))


def objective(
    features: np.ndarray,
    y: np.ndarray,
    matrix: np.ndarray,
    intercept: np.ndarray,
    ridge: tuple[float, float, float],
    weight: np.ndarray | None = None,
) -> float:
    """Mean log loss of softmax(W z + b) plus ridges on diagonal, off-diagonal and intercept."""
    scores = log_softmax(features @ matrix.T + intercept, axis=1)
    loss = np.average(-scores[np.arange(len(y)), y], weights=weight)
    own = np.diag(matrix)
    rest = matrix[~np.eye(len(own), dtype=bool)]
    diagonal, off, bias = ridge
    penalty = diagonal * ((own - 1) ** 2).sum() + off * (rest**2).sum()
    return float(loss + penalty + bias * (intercept**2).sum())


def slopes(function: Any, point: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function at a point."""
    result = np.empty(len(point))
    for i in range(len(point)):
        shift = np.zeros(len(point))
        shift[i] = step
        result[i] = (function(point + shift) - function(point - shift)) / (2 * step)
    return result
