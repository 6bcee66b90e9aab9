"""What can be wrong, as quadratic forms of residuals: level, spread, shape, vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.inference._joint.cells import Cells, contrasts
from veridical.inference._joint.simplex import similarity_roots

_WAVES = 12  # cosines of the shape
_WAVES_OF_ALL = 6  # cosines of what looks at level, spread and shape at once
_TOLD = 1.96  # standard deviations from which a level says which way it is off


class Form(NamedTuple):
    """Weighted sum of the squares of linear combinations of residuals.

    Attributes
    ----------
    weights : (cells, J)
    share : (J,) how much the square of each counts
    told : standard deviations that the first must be off to give a direction; inf for none
    """

    weights: FloatArray
    share: FloatArray
    told: float = np.inf

    def values(self, residuals: FloatArray) -> FloatArray:
        """The statistic of each row of residuals, (draws, cells) or (draws, classes, cells)."""
        if not self.share.size:
            return np.zeros(len(residuals))
        z = residuals @ self.weights
        squares = np.square(z, out=z) @ self.share
        return squares if squares.ndim == 1 else squares.sum(axis=1)

    def direction(self, residuals: FloatArray) -> float:
        """Sign of the first combination of what was observed, 0 if it has none."""
        if not np.isfinite(self.told) or not self.share.size:
            return 0.0
        first = float(residuals @ self.weights[:, 0])
        return float(np.sign(first)) if abs(first) > self.told else 0.0


NO_FORM = Form(np.zeros((1, 0)), np.zeros(0))  # of a part that these predictions cannot show


def wave_share(number: IntArray) -> FloatArray:
    """How much each cosine counts: the slower, the more, as most of what is wrong is smooth."""
    return 1 / np.maximum(1.0, (number - 1) / 2)


def three_forms(cells: Cells) -> dict[str, Form]:
    """Level, spread and shape, those there are."""
    weights, number = contrasts(cells.variance, cells.odds, _WAVES)
    forms = {}
    for index, name in enumerate(("level", "spread")):
        if index in number:
            forms[name] = Form(weights[:, number == index], np.ones(1), 0.0)
    if (number > 1).any():
        forms["shape"] = Form(weights[:, number > 1], wave_share(number[number > 1]))
    return forms


def form_of_all(cells: Cells) -> Form:
    """Level, spread and shape together, for a class or a group."""
    weights, number = contrasts(cells.variance, cells.odds, _WAVES_OF_ALL)
    return Form(weights, np.where(number > 1, wave_share(number) / 2, 1.0), _TOLD)


def form_of_totals(mean: FloatArray) -> Form:
    """Pearson's sum of squared residuals of classes over what was expected."""
    scale = np.divide(1.0, np.sqrt(mean), out=np.zeros_like(mean), where=mean > 0)
    return Form(np.diag(scale), np.ones(len(mean)))


def form_of_vectors(centres: FloatArray, mass: FloatArray) -> Form:
    """Residuals of all classes in cells of vectors, similar cells together.

    The squared kernel calibration error of Widmann, Lindsten & Zachariah (2019), arXiv 1910.11385,
    of predictions moved to the centre of their cell, all pairs.
    """
    roots = similarity_roots(centres, mass)
    return Form(roots, np.ones(roots.shape[1]))
