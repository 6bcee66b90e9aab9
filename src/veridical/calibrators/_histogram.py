"""Histogram binning: the frequency of a score's bin."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, WeightType
from veridical._core.validation import check_option
from veridical.binning import UniformBins, root_count
from veridical.calibrators._base import BinaryCalibrator, Rows
from veridical.calibrators._bin_count import check_bins
from veridical.calibrators._kmeans import cluster_ends
from veridical.calibrators._laplace import check_laplace
from veridical.calibrators._lookup import located, steps
from veridical.calibrators._pooling import pool_rows
from veridical.calibrators._scales import BinaryScores
from veridical.calibrators._selection import selected_edges

_FEW, _MANY = 64, 1 << 14  # bins and rows for which selecting ends is faster than sorting


class HistogramCalibrator(BinaryCalibrator):
    r"""Histogram binning: the observed frequency of the bin a score falls into.

    Simple, and its calibration error can be measured without bias; it forgets the order of scores
    within a bin, and its values err by about 1 / sqrt(rows in the bin).

    Parameters
    ----------
    n_bins : int, "sqrt" or "cbrt", default 10
        Number of bins, or the root of the (effective) sample size rounded down.
    strategy : {"quantile", "uniform", "kmeans"}, default "quantile"
        Bins of equal mass, as `QuantileBins`; of equal width on [0, 1], as `UniformBins`; or
        clusters of least variance, with borders halfway between neighbouring scores. Equal scores
        are never parted, so fewer bins may come out of "quantile" and "kmeans".
    laplace : float, default 1
        Imagined rows of each class in each bin, a in the formula below; 0 turns the guard off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. "uniform" reads scores as logits.
    labels : array-like, optional
        Classes in column order.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters: for `laplace` and the roots.

    Attributes
    ----------
    edges_ : array of shape (k - 1,)
        Scores that end a bin, the last bin's left out; they belong to the bin below.
    values_ : array of shape (k,)
        Probability of each bin.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    With N rows and m positives in a bin (weights scaled to the sample size) its value is

    .. math:: (m + a) / (N + 2 a)

    Without the guard (a = 0) a bin of one class says 0 or 1, and one contrary outcome later costs
    an infinite log loss. A bin that had no row (equal width only) keeps its own middle: nothing was
    learnt there. Time O(n) for "uniform", O(n log n) otherwise.

    References
    ----------
    .. [1] Zadrozny & Elkan (2001), ICML, 609-616.
    .. [2] Kumar, Liang & Ma (2019), NeurIPS, arXiv 1909.10155: error of histogram binning.

    Examples
    --------
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> map = HistogramCalibrator(n_bins=2, laplace=0).fit(p, y)
    >>> map.predict_proba([0.25, 0.75])[:, 1]  # 1 of 3 and 3 of 3
    array([0.33333333, 1.        ])
    >>> HistogramCalibrator(n_bins=2).fit(p, y).predict_proba([0.25, 0.75])[:, 1]  # 2/5 and 4/5
    array([0.4, 0.8])
    """

    def __init__(
        self,
        *,
        n_bins: int | Literal["sqrt", "cbrt"] = 10,
        strategy: Literal["quantile", "uniform", "kmeans"] = "quantile",
        laplace: float = 1.0,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.laplace = laplace
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_bins(caller, self.n_bins)
        check_option(caller, "strategy", self.strategy, ("quantile", "uniform", "kmeans"))
        check_laplace(caller, self.laplace)

    def _fit_map(self, scores: BinaryScores, rows: Rows) -> None:
        by_rule = isinstance(self.n_bins, str)
        wanted = root_count(str(self.n_bins), rows.size) if by_rule else int(self.n_bins)
        value = self._on_scale(scores)
        self.edges_ = self._edges(value, rows, wanted)
        sums = np.zeros(2 * len(self.edges_) + 2)
        weights = None if rows.weight is None else rows.weights
        for block, index in located(self.edges_, value, "left"):
            part = None if weights is None else weights[block]
            sums += np.bincount(2 * index + rows.y[block], part, minlength=len(sums))
        missed, positive = sums.reshape(-1, 2).T
        middle = (np.append(0.0, self.edges_) + np.append(self.edges_, 1.0)) / 2
        imagined = np.where(missed + positive > 0, self.laplace, 1.0)  # an empty bin is not 0 / 0
        share = (positive + imagined) / (missed + positive + 2 * imagined)
        self.values_ = np.where(missed + positive > 0, share, middle)

    def _edges(self, value: FloatArray, rows: Rows, n_bins: int) -> FloatArray:
        if self.strategy == "uniform":
            return UniformBins(n_bins).fit(BinarySample(y=rows.y, p=value)).edges[1:-1]
        few = rows.weight is None and n_bins <= _FEW and len(value) >= _MANY
        if self.strategy == "quantile" and few:
            return selected_edges(value, n_bins)
        pooled = pool_rows(value, rows)
        clusters = self.strategy == "kmeans"
        ends = cluster_ends(pooled, n_bins) if clusters else pooled.equal_mass(n_bins)
        return pooled.edges_after(ends)[1:-1]

    def _on_scale(self, scores: BinaryScores) -> FloatArray:
        return scores.p if self.strategy == "uniform" else scores.value

    def _map(self, scores: BinaryScores) -> FloatArray:
        return steps(self.edges_, self.values_, self._on_scale(scores))
