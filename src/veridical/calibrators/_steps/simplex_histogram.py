"""Histogram binning of whole probability vectors, for few classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.validation import is_integer
from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray
from veridical.binning import GridPartition, IntervalPartition, SimplexBins
from veridical.calibrators._base.bases import MulticlassCalibrator, WeightedOutcomes
from veridical.calibrators._steps.pieces import check_laplace
from veridical.exceptions import invalid

_DIGITS = 12  # probabilities come back from their logarithms with an error in the last digits


@dataclass(kw_only=True, eq=False, repr=False)
class SimplexHistogramCalibrator(MulticlassCalibrator):
    r"""Observed class frequencies of the cell of the simplex a prediction falls into.

    The only histogram that can calibrate whole probability vectors (002 section 2.1); the number
    of cells grows as `n_bins` to the power K - 1, so it is for three or four classes.

    Parameters
    ----------
    n_bins : int, default 5
        Bins per class, for every class but the first, as `SimplexBins`.
    laplace : float, default 1
        Imagined rows in each cell that occur just as predicted; 0 turns the guard off.
    input : {"probability", "logit"}, default "probability"
        What predictions are.
    labels : array-like, optional
        Classes in column order.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters: for `laplace`.

    Attributes
    ----------
    keys_ : array of shape (cells, K - 1)
        Bin numbers of the cells that held rows.
    values_ : array of shape (cells, K)
        Probabilities of each cell.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    With N rows in a cell, n_k of class k, mean prediction :math:`\bar p` and a = `laplace`,

    .. math:: q_k = (n_k + a\,\bar p_k) / (N + a)

    A prediction in a cell that held no row is left as it is. Probabilities are rounded to 12
    digits before cells are found. Time O(n K + n log n).

    Examples
    --------
    >>> p = [[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    >>> map = SimplexHistogramCalibrator(n_bins=2).fit(p, [0, 1, 2])
    >>> map.predict_proba([[0.7, 0.2, 0.1]]).round(3).tolist()  # (1 + .8, 1 + .1, 0 + .1) / 3
    [[0.6, 0.367, 0.033]]
    """

    _inputs = ("probability", "logit")

    n_bins: int = 5
    laplace: float = 1.0

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_laplace(caller, self.laplace)
        if not (is_integer(self.n_bins) and 1 <= self.n_bins <= 10_000):
            hint = "cells multiply with every class: 5 or 10 is usual."
            expected = "an integer from 1 to 10,000"
            raise invalid(caller, "n_bins", expected, repr(self.n_bins), hint=hint)

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> None:
        p = _probabilities(logits)
        classes = tuple(range(rows.n_classes))
        partition = SimplexBins(int(self.n_bins)).fit(
            MulticlassSample(y=rows.y, p=p, classes=classes)
        )
        cell, weights = partition.assign(p), rows.weights
        total = np.bincount(cell, weights, minlength=partition.n_cells)
        values = np.empty((partition.n_cells, rows.n_classes))
        for k in classes:
            hits = np.bincount(cell, weights * (rows.y == k), minlength=partition.n_cells)
            predicted = np.bincount(cell, weights * p[:, k], minlength=partition.n_cells) / total
            values[:, k] = hits + self.laplace * predicted
        self.keys_ = partition.keys
        self.values_ = values / values.sum(axis=1, keepdims=True)

    def _map(self, logits: FloatArray) -> FloatArray:
        p = _probabilities(logits)
        axis = IntervalPartition(np.arange(self.n_bins + 1) / self.n_bins, uniform=True)
        cell = GridPartition(axis, self.keys_).assign(p)
        return np.where(cell[:, None] >= 0, self.values_[cell], p)


def _probabilities(logits: FloatArray) -> FloatArray:
    from scipy.special import softmax

    return np.clip(np.round(softmax(logits, axis=1), _DIGITS), 0.0, 1.0)
