"""What the Hessian of a softmax of linear functions is like, for steps that are nearly Newton's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from veridical._core.typing import FloatArray

Inverse = Callable[[FloatArray], FloatArray]


class Scale(Protocol):
    """A likeness of the Hessian but for the penalty, which is added to it."""

    def inverse(self, penalty: FloatArray) -> Inverse:
        """The function r -> (likeness + 2 penalty)^-1 r."""


@dataclass(frozen=True)
class Spectrum:
    """Mean of z z' with z = (logits, 1), in coordinates of its eigenvectors.

    Attributes
    ----------
    vectors, values : eigenvectors in columns, and eigenvalues
    column : what each column of (W | b) is multiplied by so that one ridge is that of all
    """

    vectors: FloatArray
    values: FloatArray
    column: FloatArray

    @classmethod
    def of(cls, logits: FloatArray, share: FloatArray, ridges: FloatArray) -> Spectrum:
        """Of rows whose weights sum to one; `ridges` are those of the columns of (W | b)."""
        column = np.sqrt(ridges[0] / ridges)
        z = np.hstack([logits, np.ones((len(logits), 1))]) * column
        values, vectors = np.linalg.eigh(z.T @ (z * share[:, None]))
        return cls(vectors, np.maximum(values, 0.0), column)


@dataclass(frozen=True)
class KroneckerScale:
    """S x A, the product of two means: S of diag(P) - P P', A of z z' with z = (logits, 1).

    The Hessian of W z + b is the mean over rows of such products (Kronecker factors as in Martens
    & Grosse 2015, arXiv 1503.05671, exact if P and z were independent). With both factors in the
    coordinates of their eigenvectors its inverse is a division, whatever the ridge. The ridge on
    the diagonal, which is smaller, is taken for that off it: K of K (K + 1) parameters.
    """

    classes: FloatArray
    spread: FloatArray
    features: Spectrum

    @classmethod
    def of(cls, p: FloatArray, share: FloatArray, features: Spectrum) -> KroneckerScale:
        """Likeness at probabilities p, of rows whose weights sum to one."""
        weighted = p * share[:, None]
        values, vectors = np.linalg.eigh(np.diag(weighted.sum(axis=0)) - p.T @ weighted)
        return cls(vectors, np.maximum(values, 0.0), features)

    def inverse(self, penalty: FloatArray) -> Inverse:
        """Division in the coordinates of the eigenvectors."""
        products = np.outer(self.spread, self.features.values)
        ridge = float(penalty.reshape(products.shape)[:, 0].max())  # off the diagonal
        divided = 1 / (products + 2 * ridge)
        vectors, column = self.features.vectors, self.features.column

        def apply(residual: FloatArray) -> FloatArray:
            inner = self.classes.T @ (residual.reshape(products.shape) * column) @ vectors
            return np.asarray(self.classes @ (inner * divided) @ vectors.T * column).ravel()

        return apply


@dataclass(frozen=True)
class HessianScale:
    """A Hessian that was formed for other rows, or another ridge, without its penalty."""

    hessian: FloatArray

    def inverse(self, penalty: FloatArray) -> Inverse:
        """Cholesky factors of the sum; rounding is damped as where the Hessian is the own one."""
        from scipy.linalg import cho_factor, cho_solve

        damped = self.hessian.copy()
        diagonal = np.diag_indices(len(penalty))
        damped[diagonal] += 2 * penalty + 1e-9 * max(float(damped[diagonal].max()), 1e-300)
        factor = cho_factor(damped, overwrite_a=True, check_finite=False)
        return lambda residual: np.asarray(cho_solve(factor, residual, check_finite=False))
