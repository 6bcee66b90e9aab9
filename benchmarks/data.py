"""Synthetic predictions for the benchmarks: seeded, a little overconfident, no exact 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SEED = 20240611


@dataclass(frozen=True)
class Sample:
    """Labels and probabilities, of class 1 (1-d) or of all classes (2-d)."""

    y: np.ndarray
    p: np.ndarray

    @property
    def nbytes(self) -> int:
        """Size of the input in bytes."""
        return self.y.nbytes + self.p.nbytes


def make_sample(n_rows: int, n_classes: int) -> Sample:
    """Draw `n_rows` predictions; with two classes, the probability of class 1 alone."""
    rng = np.random.default_rng([SEED, n_rows, n_classes])
    return _binary(rng, n_rows) if n_classes == 2 else _multiclass(rng, n_rows, n_classes)


def _binary(rng: np.random.Generator, n_rows: int) -> Sample:
    p = rng.random(n_rows)
    np.clip(p, 1e-9, 1 - 1e-9, out=p)
    draws = rng.random(n_rows)
    draws *= 1.1  # outcomes happen a little less often than predicted
    return Sample((draws < p).astype(np.int64), p)


def _multiclass(rng: np.random.Generator, n_rows: int, n_classes: int) -> Sample:
    logits = rng.standard_normal((n_rows, n_classes))
    logits *= np.log(n_classes)
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    logits *= 1.3
    p = np.exp(logits, out=logits)
    p /= p.sum(axis=1, keepdims=True)
    return Sample(y, p)
