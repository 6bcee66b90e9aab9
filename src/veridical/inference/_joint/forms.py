"""What can be wrong, as quadratic forms of residuals: level, spread, shape, vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray
from veridical.inference._joint.cells import Cells, contrasts
from veridical.inference._joint.simplex import similarity_roots

_WAVES = 12  # cosines of the shape
_WAVES_OF_ALL = 6  # cosines of what looks at level, spread and shape at once
_TOLD = 1.96  # standard deviations from which a level says which way it is off


class Form(NamedTuple):
    """Weighted sums of the squares of linear combinations of residuals, of m parts at once.

    Attributes
    ----------
    weights : (m, cells, J) or (1, cells, J)
    share : (J,) how much the square of each counts
    told : standard deviations that the first must be off to give a direction; inf for none
    """

    weights: FloatArray
    share: FloatArray
    told: float = np.inf

    def values(self, residuals: FloatArray) -> FloatArray:
        """The statistics of residuals (draws, m, cells), (draws, m)."""
        z = residuals.swapaxes(0, 1) @ self.weights
        return np.asarray((np.square(z, out=z) @ self.share).T)

    def directions(self, residuals: FloatArray) -> FloatArray:
        """Sign of the first combination of what was observed, (m, cells); 0 if it has none."""
        first = np.einsum("mc,mc->m", residuals, self.weights[..., 0])
        return np.where(np.abs(first) > self.told, np.sign(first), 0.0)


def _wave_share(waves: int) -> FloatArray:
    """How much each cosine counts: the slower, the more, as most of what is wrong is smooth."""
    return 1 / np.maximum(1.0, np.arange(1, waves + 1) / 2)


def three_forms(cells: Cells) -> dict[str, Form]:
    """Level, spread and shape."""
    weights = contrasts(cells.variance, cells.odds, _WAVES)[None]
    return {
        "level": Form(weights[..., :1], np.ones(1), 0.0),
        "spread": Form(weights[..., 1:2], np.ones(1), 0.0),
        "shape": Form(weights[..., 2:], _wave_share(_WAVES)),
    }


def form_of_all(cells: Cells) -> Form:
    """Level, spread and shape together, for classes or groups; sums are (m, cells)."""
    weights = contrasts(cells.variance, cells.odds, _WAVES_OF_ALL)
    return Form(weights, np.append([1.0, 1.0], _wave_share(_WAVES_OF_ALL) / 2), _TOLD)


def form_of_totals(mean: FloatArray) -> Form:
    """Pearson's sum of squared residuals of classes over what was expected, (m, classes)."""
    scale = np.divide(1.0, np.sqrt(mean), out=np.zeros_like(mean), where=mean > 0)
    return Form(scale[..., None] * np.eye(mean.shape[-1]), np.ones(mean.shape[-1]))


def form_of_vectors(centres: FloatArray, mass: FloatArray) -> Form:
    """Residuals of every class in cells of vectors, similar cells together; sum over classes.

    The squared kernel calibration error of Widmann, Lindsten & Zachariah (2019), arXiv 1910.11385,
    of predictions moved to the centre of their cell, all pairs.
    """
    roots = similarity_roots(centres, mass)
    return Form(roots[None], np.ones(roots.shape[1]))
