"""Small seeded inputs on which the packages are recorded.

Packages close their bins on different sides and round their edges differently, so the `clear_*`
inputs keep every value (and every float32 rounding of it) away from all edges: the side does not
matter there. The `dyadic_*` inputs sit exactly on the edges of 8 bins, which every package
represents exactly, so that there only the side matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SEED = 20240611
BIN_COUNTS = (5, 8, 10, 15)  # the edges k / B that clear inputs keep away from
MARGIN = 1e-4


@dataclass(frozen=True)
class Input:
    """One sample: labels 0..K-1, probabilities of class 1 or of all classes, maybe weights."""

    y_true: np.ndarray
    y_prob: np.ndarray
    note: str
    sample_weight: np.ndarray | None = None

    @property
    def matrix(self) -> np.ndarray:
        """The probabilities with one column for each class."""
        if self.y_prob.ndim == 2:
            return self.y_prob
        return np.column_stack([1 - self.y_prob, self.y_prob])

    @property
    def correct(self) -> np.ndarray:
        """1 where the most probable class (the first one on ties) is the true class."""
        return (self.matrix.argmax(axis=1) == self.y_true).astype(np.int64)

    def to_json(self) -> dict[str, object]:
        """Lists of numbers that read back to exactly the same floats."""
        fields: dict[str, object] = {
            "note": self.note,
            "y_true": self.y_true.tolist(),
            "y_prob": self.y_prob.tolist(),
        }
        if self.sample_weight is not None:
            fields["sample_weight"] = self.sample_weight.tolist()
        return fields


def make_inputs() -> dict[str, Input]:
    """Build all inputs, the same on every call and machine."""
    binary, multiclass, dyadic, tied = np.random.default_rng(SEED).spawn(4)
    clear_binary = _clear_binary(binary, 200)
    clear_multiclass = _clear_multiclass(multiclass, 150, 4)
    return {
        "clear_binary": clear_binary,
        "clear_binary_weighted": _weighted(clear_binary, binary),
        "clear_multiclass": clear_multiclass,
        "clear_multiclass_weighted": _weighted(clear_multiclass, multiclass),
        "dyadic_binary": _dyadic_binary(dyadic, 120),
        "tied_binary": _tied_binary(tied, 100),
    }


def _clear_binary(rng: np.random.Generator, n: int) -> Input:
    scores = rng.beta(1.2, 1.5, size=3 * n)
    scores = scores[_clear_of_edges(scores)][:n]
    y_true = (rng.random(n) < scores**1.4).astype(np.int64)
    note = "no ties; no value within 1e-4 of k/B for B in 5, 8, 10, 15; over-forecast"
    return Input(y_true, scores, note)


def _clear_multiclass(rng: np.random.Generator, n: int, n_classes: int) -> Input:
    logits = rng.normal(scale=1.2, size=(4 * n, n_classes))
    p = np.exp(1.6 * logits)
    p /= p.sum(axis=1, keepdims=True)
    keep = np.flatnonzero(_clear_of_edges(p).all(axis=1))[:n]
    y_true = (logits[keep] + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    note = "no ties; no entry within 1e-4 of k/B for B in 5, 8, 10, 15; overconfident"
    return Input(y_true, p[keep], note)


def _dyadic_binary(rng: np.random.Generator, n: int) -> Input:
    scores = rng.integers(1, 16, size=n) / 16
    y_true = (rng.random(n) < scores).astype(np.int64)
    note = "multiples of 1/16 from 1/16 to 15/16: half of them on the edges of 8 bins"
    return Input(y_true, scores, note)


def _tied_binary(rng: np.random.Generator, n: int) -> Input:
    scores = rng.integers(1, 10, size=n) / 10
    y_true = (rng.random(n) < scores).astype(np.int64)
    note = "nine distinct values, with weights"
    return Input(y_true, scores, note, rng.exponential(size=n))


def _weighted(sample: Input, rng: np.random.Generator) -> Input:
    weights = rng.exponential(size=len(sample.y_true))
    return Input(sample.y_true, sample.y_prob, sample.note + "; weighted", weights)


def _clear_of_edges(p: np.ndarray) -> np.ndarray:
    far = np.ones(p.shape, dtype=bool)
    for n_bins in BIN_COUNTS:
        far &= np.abs(p - np.rint(p * n_bins) / n_bins) > MARGIN
    return far
