"""Predictions, outcomes and known distortions for simulations of tests.

Predictions are drawn first and the truth follows from them, so that every distortion is met by the
same predictions. Two classes: probabilities (n,) of the positive one; else rows (n, K).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Parameters of Beta(a, b), and of the Dirichlet distribution in its place for more classes.
SHAPES: dict[str, tuple[float, float]] = {
    "uniform": (1.0, 1.0),
    "skewed": (0.5, 5.0),
    "near 0 and 1": (0.05, 0.05),
}


def draw_predictions(
    shape: str, n: int, n_classes: int, rng: np.random.Generator, *, grid: bool = False
) -> np.ndarray:
    """Predictions of this shape; on a coarse grid, where they repeat, if asked."""
    a, b = SHAPES[shape]
    if n_classes == 2:
        p = rng.beta(a, b, n)
        return rng.binomial(10, p) / 10 if grid else p
    p = rng.dirichlet([a] * (n_classes - 1) + [b], n)
    p /= p.sum(axis=1, keepdims=True)
    return rng.multinomial(3, p) / 3 if grid else p


def draw_outcomes(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Classes drawn from the true probabilities, never one of probability zero."""
    uniform = rng.random(len(truth))
    if truth.ndim == 1:
        return (uniform < truth).astype(int)
    cumulated = truth.cumsum(axis=1)
    drawn = (uniform * cumulated[:, -1])[:, None] >= cumulated
    return drawn.sum(axis=1)


def cooled(p: np.ndarray, temperature: float) -> np.ndarray:
    """Truth where predictions are over-confident: log-odds too large by this factor."""
    power = as_rows(p) ** (1 / temperature)
    return like(p, power / power.sum(axis=1, keepdims=True))


def lowered(p: np.ndarray, log_odds: float) -> np.ndarray:
    """Truth where the log-odds of one class (the positive, or the first) are too high by this."""
    rows = as_rows(p).copy()
    rows[:, 1 if p.ndim == 1 else 0] *= np.exp(-log_odds)
    return like(p, rows / rows.sum(axis=1, keepdims=True))


def dented(p: np.ndarray, size: float) -> np.ndarray:
    """Truth where predictions from 0.6 to 0.8 (of the positive, or the top class) are too high."""
    rows = as_rows(p).copy()
    at = np.ones(len(p), dtype=int) if p.ndim == 1 else rows.argmax(axis=1)
    every = np.arange(len(p))
    top = rows[every, at]
    lower = np.where((top >= 0.6) & (top <= 0.8), top - size, top)
    rest = np.divide(1 - lower, 1 - top, out=np.ones(len(p)), where=top < 1)
    rows *= rest[:, None]
    rows[every, at] = lower
    return like(p, rows)


DISTORTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "temperature 1.25": lambda p: cooled(p, 1.25),
    "temperature 1.5": lambda p: cooled(p, 1.5),
    "bias 0.3": lambda p: lowered(p, 0.3),
    "local 0.1": lambda p: dented(p, 0.1),
}


def as_rows(p: np.ndarray) -> np.ndarray:
    """Return a row of probabilities for each prediction, also with two classes."""
    return np.column_stack([1 - p, p]) if p.ndim == 1 else p


def like(p: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows of probabilities in the form of these predictions."""
    return rows[:, 1] if p.ndim == 1 else rows


def distance(p: np.ndarray, truth: np.ndarray) -> float:
    """Mean total-variation distance of predictions from the truth: the size of a distortion."""
    return float(np.abs(as_rows(p) - as_rows(truth)).sum(axis=1).mean() / 2)
