"""Laws of predictions and ways to be wrong, for simulations of the joint test.

Predictions are drawn first and the truth follows from them. Two classes: probabilities (n,) of the
positive one; else rows (n, K).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from _predictions import cooled

from veridical_lab.evaluating.examples import TABLE_1

Draw = Callable[[int, np.random.Generator], np.ndarray]
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray | None]  # predictions, truth, groups

BINARY_LAWS: dict[str, Draw] = {
    "uniform": lambda n, rng: rng.random(n),
    "skewed": lambda n, rng: rng.beta(0.5, 5, n),
    "rare": lambda n, rng: rng.beta(0.5, 50, n),
    "two-point": lambda n, rng: rng.choice([0.2, 0.7], n),
    "rounded": lambda n, rng: rng.random(n).round(1),
    "saturated": lambda n, rng: rng.beta(0.05, 0.05, n),
    "nearly constant": lambda n, rng: 0.3 + 0.02 * rng.random(n),
    "heavy at 1": lambda n, rng: np.where(rng.random(n) < 0.5, 1.0, rng.beta(5, 1, n)),
}


def predictions(law: str, n: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Predictions of a law, (n,) of two classes and (n, K) of more."""
    if n_classes == 2:
        return BINARY_LAWS[law](n, rng)
    ones = np.ones(n_classes)
    if law == "rounded":
        return rng.multinomial(10, rng.dirichlet(ones, n)) / 10
    if law == "two-point":
        return np.random.default_rng(5).dirichlet(ones, 2)[rng.integers(2, size=n)]
    concentration = {
        "uniform": ones,
        "skewed": np.append(0.3 * ones[1:], 3.0),
        "rare": np.append(0.3 * ones[1:] / (n_classes - 1), 20.0),
        "saturated": 0.03 * ones,
        "nearly constant": 500 * np.linspace(1, 2, n_classes),
        "heavy at 1": 0.3 * ones,
    }
    # Gamma variables, as small ones may all be zero: then all classes are alike.
    mass = rng.gamma(concentration[law], size=(n, n_classes))
    mass[mass.sum(axis=1) <= 0] = 1.0
    p = mass / mass.sum(axis=1, keepdims=True)
    if law == "heavy at 1":
        sure = rng.random(n) < 0.5
        p[sure] = np.eye(n_classes)[rng.integers(n_classes, size=int(sure.sum()))]
    return p


def interior(n: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Uniform predictions away from 0 and 1, which powers would leave alone."""
    if n_classes == 2:
        return 0.01 + 0.98 * rng.random(n)
    return rng.dirichlet(np.ones(n_classes), n)


def shifted(p: np.ndarray, log_odds: float) -> np.ndarray:
    """Truth where the positive (or first) class has log odds too high by this."""
    rows = np.column_stack([p, 1 - p]) if p.ndim == 1 else p.copy()
    rows[:, 0] *= np.exp(-log_odds)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows[:, 0] if p.ndim == 1 else rows


def waved(p: np.ndarray, waves: float) -> np.ndarray:
    """Truth that goes up and down around the prediction by 0.08."""
    return np.clip(p + 0.08 * np.sin(2 * np.pi * waves * p), 0, 1)


def _all(change: Callable[[np.ndarray], np.ndarray], n_classes: int) -> Callable[..., Drawn]:
    def draw(n: int, rng: np.random.Generator) -> Drawn:
        p = interior(n, n_classes, rng)
        return p, change(p), None

    return draw


def _example_1(n: int, rng: np.random.Generator) -> Drawn:
    row = rng.integers(len(TABLE_1), size=n)
    predicted, true = np.array(TABLE_1).transpose(1, 0, 2)
    return predicted[row], true[row], None


def _bad_group(change: Callable[[np.ndarray], np.ndarray], n_classes: int) -> Callable[..., Drawn]:
    def draw(n: int, rng: np.random.Generator) -> Drawn:
        p, group = interior(n, n_classes, rng), rng.integers(10, size=n)
        truth = p.copy()
        truth[group == 3] = change(p[group == 3])
        return p, truth, group

    return draw


# What is wrong: number of classes, numbers of rows, predictions and truth (and groups).
WRONGS: dict[str, tuple[int, tuple[int, ...], Callable[..., Drawn]]] = {
    "temperature 1.3": (2, (300, 1000), _all(lambda p: cooled(p, 1.3), 2)),
    "temperature 1.5": (2, (300, 500), _all(lambda p: cooled(p, 1.5), 2)),
    "level 0.2": (2, (1000, 2000), _all(lambda p: shifted(p, 0.2), 2)),
    "level 0.5": (2, (100, 300), _all(lambda p: shifted(p, 0.5), 2)),
    "two waves": (2, (300, 1000), _all(lambda p: waved(p, 2), 2)),
    "three waves": (2, (300, 1000), _all(lambda p: waved(p, 3), 2)),
    "temperature 1.3, K = 3": (3, (300, 1000), _all(lambda p: cooled(p, 1.3), 3)),
    "temperature 1.5, K = 3": (3, (300, 600), _all(lambda p: cooled(p, 1.5), 3)),
    "level 0.3, K = 3": (3, (600, 1000), _all(lambda p: shifted(p, 0.3), 3)),
    "Example 1 of 002": (3, (300, 1000, 2000), _example_1),
    "temperature 1.3, K = 10": (10, (300, 600), _all(lambda p: cooled(p, 1.3), 10)),
    "one class of ten halved": (10, (600, 1000), _all(lambda p: shifted(p, 0.7), 10)),
    "one class of ten less 30 %": (10, (2000, 3000), _all(lambda p: shifted(p, 0.36), 10)),
    "level of one group of ten": (2, (1500, 2000), _bad_group(lambda p: shifted(p, 0.8), 2)),
    "temperature of one group of ten": (2, (1000, 1500), _bad_group(lambda p: cooled(p, 2.2), 2)),
    "temperature of one group, K = 3": (3, (1000, 1500), _bad_group(lambda p: cooled(p, 2.2), 3)),
}
