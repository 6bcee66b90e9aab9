"""Normal modes: checked parameters, log densities, draws and masses of intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical._core.validation import float_array
from veridical.exceptions import invalid


@dataclass(frozen=True, eq=False)
class Modes:
    """Means (M, d), lower Cholesky factors (M, d, d) of the covariances, and their inverses."""

    means: FloatArray
    covariances: FloatArray
    factors: FloatArray
    whitening: FloatArray
    log_scales: FloatArray  # log of (2 pi)^(d/2) |factor|

    @property
    def size(self) -> tuple[int, int]:
        """Number of modes and of features."""
        return self.means.shape[0], self.means.shape[1]

    def log_density(self, x: FloatArray) -> FloatArray:
        """Log density of every mode at every row, (n, M)."""
        result = np.empty((len(x), len(self.means)))
        for mode, (mean, whiten) in enumerate(zip(self.means, self.whitening, strict=True)):
            white = (x - mean) @ whiten.T
            result[:, mode] = -0.5 * np.einsum("nd,nd->n", white, white) - self.log_scales[mode]
        return result

    def draw(self, mode: IntArray, rng: np.random.Generator) -> FloatArray:
        """One row of each mode named."""
        x = rng.standard_normal((len(mode), self.means.shape[1]))
        for index, (mean, factor) in enumerate(zip(self.means, self.factors, strict=True)):
            rows = np.flatnonzero(mode == index)
            x[rows] = mean + x[rows] @ factor.T
        return x

    def interval_mass(self, edges: FloatArray) -> FloatArray:
        """Mass of every mode between consecutive edges on the line, (len(edges) - 1, M)."""
        from scipy.special import ndtr

        z = (edges[:, None] - self.means[:, 0]) / self.factors[:, 0, 0]
        tail = ndtr(-np.abs(z))  # differences of tails keep digits where mass is small
        across = (z[:-1] < 0) & (z[1:] > 0)
        low, high = tail[:-1], tail[1:]
        return np.where(across, 1 - low - high, np.abs(high - low))


def check_modes(means: Any, covariances: Any, *, caller: str) -> Modes:
    """Return the modes, or say what is wrong with their parameters."""
    centre = float_array(means, caller=caller, param="means").astype(np.float64)
    if centre.ndim == 1:
        centre = centre[:, None]
    if centre.ndim != 2 or centre.size == 0 or not np.isfinite(centre).all():
        expected, got = "finite, of shape (M,) or (M, d)", f"shape {np.shape(means)}"
        hint = "give one mean a mode."
        raise invalid(caller, "means", expected, got, hint=hint)
    m, d = centre.shape
    spread = float_array(covariances, caller=caller, param="covariances").astype(np.float64)
    if d == 1 and spread.shape == (m,):
        spread = spread[:, None, None]
    if spread.shape != (m, d, d):
        expected = f"of shape ({m}, {d}, {d})" + (f" or ({m},)" if d == 1 else "")
        hint = "give one covariance matrix a mode, or one variance where there is one feature."
        raise invalid(caller, "covariances", expected, f"shape {spread.shape}", hint=hint)
    symmetric = np.isfinite(spread).all() and np.allclose(spread, spread.transpose(0, 2, 1))
    try:
        factors = np.linalg.cholesky(spread) if symmetric else None
    except np.linalg.LinAlgError:
        factors = None
    if factors is None or not (np.diagonal(factors, axis1=1, axis2=2) > 0).all():
        expected, hint = "symmetric and positive definite", "give variances, larger than zero."
        raise invalid(caller, "covariances", expected, "a matrix that is not", hint=hint)
    logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1) + d / 2 * np.log(2 * np.pi)
    return Modes(centre, spread, factors, np.linalg.inv(factors), logs)
