"""Softmax of rows, block by block, and maps that a mix with the uniform distribution guards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.options import check_non_negative
from veridical._core.data.schema import Fields, Number, Relations
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.bases import MulticlassCalibrator
from veridical.calibrators._base.scales import SMALLEST

_FEW = 32
_VALUES = 1 << 15  # values of a block: with its copy they stay in the second-level cache


def rows_of(n_classes: int) -> int:
    """Rows of a block of that many columns."""
    return max(16, _VALUES // n_classes)


def row_sums(values: FloatArray) -> FloatArray:
    """Sums of rows; for few columns several times faster than `sum(axis=1)`."""
    return np.asarray(np.einsum("ij->i", values))


def row_maxima(values: FloatArray) -> FloatArray:
    """Maxima of rows; for few columns several times faster than `max(axis=1)`."""
    return _fold_rows(np.maximum, values)


def row_minima(values: FloatArray) -> FloatArray:
    """Minima of rows."""
    return _fold_rows(np.minimum, values)


def _fold_rows(fold: np.ufunc, values: FloatArray) -> FloatArray:
    if values.shape[1] > _FEW:
        return np.asarray(fold.reduce(values, axis=1))
    result = values[:, 0].copy()
    for column in values.T[1:]:
        fold(result, column, out=result)
    return result


def softmax_in_place(scores: FloatArray, mix: float = 0.0, scale: float = 1.0) -> FloatArray:
    """Turn rows of scores into (1 - mix) softmax(scale z) + mix / K; returns the same array."""
    n, n_classes = scores.shape
    for block in row_blocks(n, rows_of(n_classes)):
        part = scores[block]
        part -= row_maxima(part)[:, None]
        if scale != 1:
            part *= scale
        np.exp(part, out=part)
        part *= ((1 - mix) / row_sums(part))[:, None]
        if mix:
            part += mix / n_classes
    return scores


def softmax_and_losses(scores: FloatArray, y: IntArray) -> FloatArray:
    """Turn rows of scores into their softmax; returns the log loss of each row.

    Losses come from scores, so they are right where probabilities underflow.
    """
    n, n_classes = scores.shape
    losses = np.empty(n)
    for block in row_blocks(n, rows_of(n_classes)):
        part = scores[block]
        part -= row_maxima(part)[:, None]
        target = part[np.arange(len(part)), y[block]]
        np.exp(part, out=part)
        mass = row_sums(part)
        part /= mass[:, None]
        losses[block] = np.log(mass) - target
    return losses


def log_softmax_in_place(scores: FloatArray, mix: float = 0.0) -> FloatArray:
    """Turn rows of scores into log((1 - mix) softmax + mix / K), finite also for mix = 0."""
    if mix:
        softmax_in_place(scores, mix)
        return np.log(scores, out=scores)
    n, n_classes = scores.shape
    for block in row_blocks(n, rows_of(n_classes)):
        part = scores[block]
        part -= row_maxima(part)[:, None]
        part -= np.log(row_sums(np.exp(part)))[:, None]
    return scores


@dataclass(kw_only=True, eq=False, repr=False)
class GuardedCalibrator(MulticlassCalibrator):
    """A softmax map that a share of the uniform distribution is mixed into."""

    _fitted = Fields(
        mix_=Number(low=0, high=1),
        n_iter_=Number(low=0, whole=True),
        gradient_norm_=Number(low=0),
    )

    pseudo_rows: float = 1.0

    def _relations(self) -> Relations:
        yield from super()._relations()
        floored = self.input != "probability" or self.floor_ >= SMALLEST
        yield "floor_", floored, f"at least {SMALLEST:g}, so that logarithms are finite"

    def _check_parameters(self) -> None:
        caller, hint = type(self).__name__, "1 is usual, 0 turns mixing off."
        check_non_negative(caller, "pseudo_rows", self.pseudo_rows, hint=hint)

    def _mixing_share(self, size: float) -> float:
        """Share of the uniform distribution mixed in: pseudo_rows / (n + pseudo_rows).

        As if `pseudo_rows` of the rows had had a label drawn at random; 1 gives the 1 / (n + 1) of
        Berta, Holzmüller, Jordan & Bach (2025), arXiv 2501.19195.
        """
        return self.pseudo_rows / (size + self.pseudo_rows)

    def _guard_in_words(self) -> str:
        """What is mixed in at the end, to go on a sentence."""
        return f", then mixes in {self.mix_:.2g} of the uniform distribution" if self.mix_ else ""

    def _logits_in_words(self) -> str:
        return "log odds" if len(self.classes_) == 2 else "logits"
