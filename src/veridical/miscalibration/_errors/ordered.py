"""Errors of scores in order: cumulative (Kolmogorov-Smirnov, Kuiper) and isotonic (CORP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import FloatArray
from veridical.decomposition.core import isotonic_parts
from veridical.miscalibration._errors.base import CellEstimator, ScoreEstimator
from veridical.scores import RULES, get_rule


@dataclass(frozen=True)
class CumulativeError(ScoreEstimator, CellEstimator):
    r"""Largest excess of outcomes over predictions, summed along the scores.

    Parameters
    ----------
    statistic : {"ks", "kuiper"}, default "ks"
        "ks" is the largest cumulated difference from the lowest score on, in absolute value (the
        Kolmogorov-Smirnov error, ECCE-MAD); "kuiper" the largest over any interval of scores
        (ECCE-R).

    Notes
    -----
    .. math:: C(s) = \frac{1}{W} \sum_{i : p_i \le s} w_i (y_i - p_i), \qquad
       \mathrm{KS} = \max_s |C(s)|, \qquad
       \mathrm{Kuiper} = \max(0, \max_s C(s)) - \min(0, \min_s C(s))

    No bins, no bandwidth. C is looked at only after all rows of equal score, so ties need no
    order and no jitter. (Breaking ties at random, as other packages do, can only raise the figure,
    and makes it random.)

    Lower is better; both in [0, 1], KS <= Kuiper <= 2 KS; 0 if and only if the frequency equals
    the score at every score. Neither exceeds the mean absolute difference between frequency and
    score: excesses of opposite sign cancel along the way, in KS more than in Kuiper. Biased
    upwards: on a calibrated model C is close to a Brownian motion run for mean p (1 - p), so the
    figures read about :math:`1.25\,\bar\sigma/\sqrt n` and :math:`1.60\,\bar\sigma/\sqrt n` with
    :math:`\bar\sigma^2` the mean of p (1 - p), less with heavy ties: at most 0.044 and 0.056 for
    n = 200.

    With one class only, or one score only, both are :math:`|\bar y - \bar p|`. Time O(n log n),
    memory O(n). An integer weight equals repetition.

    References
    ----------
    .. [1] Gupta et al. (2021), Calibration of neural networks using splines, arXiv 2006.12800.
    .. [2] Arrieta-Ibarra et al. (2022), Metrics of calibration for probabilistic predictions,
       arXiv 2205.09680.

    Examples
    --------
    The residuals 3/4, -1/2, -3/4, 0 have the sums 3/4, 1/4, -1/2, -1/2, over n = 4.

    >>> y, p = [1, 0, 0, 1], [0.25, 0.5, 0.75, 1.0]
    >>> CumulativeError()(y, p)
    0.1875
    >>> CumulativeError("kuiper")(y, p)
    0.3125

    Equal scores count together: 1/2 and -1/2 are never seen apart.

    >>> CumulativeError()([1, 0], [0.5, 0.5])
    0.0
    """

    statistic: Literal["ks", "kuiper"] = "ks"

    def __post_init__(self) -> None:
        check_option(type(self).__name__, "statistic", self.statistic, ("ks", "kuiper"))

    @property
    def name(self) -> str:
        """Short name."""
        return "KS" if self.statistic == "ks" else "Kuiper"

    @property
    def definition(self) -> str:
        """The statistic in words."""
        what = "largest absolute value" if self.statistic == "ks" else "range, with zero,"
        return f"{what} of the cumulated differences, no bins"

    def measure_binary(self, sample: BinarySample) -> float:
        """Cumulate over distinct scores."""
        scores = sample.pooled
        if scores.alone:
            return self._of_many(scores)
        value = scores.value.astype(np.float64)
        return float(self.measure_cells(value, scores.weight, scores.positive[None, :])[0])

    def _of_many(self, scores: PooledScores) -> float:
        """The same, stretch by stretch."""
        before = high = low = 0.0
        for value, _, positive in scores.blocks():
            excess = positive - value
            np.cumsum(excess, out=excess)
            high = max(high, before + float(excess.max()))
            low = min(low, before + float(excess.min()))
            before += float(excess[-1])
        largest = max(high, -low) if self.statistic == "ks" else high - low
        return abs(largest) / len(scores.value)

    def measure_cells(
        self, value: FloatArray, weight: FloatArray, positive: FloatArray
    ) -> FloatArray:
        """Cumulate the outcomes of every row."""
        excess = np.cumsum(positive - weight * value, axis=1)
        high, low = np.maximum(excess.max(axis=1), 0.0), np.minimum(excess.min(axis=1), 0.0)
        largest = np.maximum(high, -low) if self.statistic == "ks" else high - low
        return np.abs(largest) / weight.sum()  # never a negative zero


@dataclass(frozen=True)
class IsotonicError(ScoreEstimator):
    r"""Score lost to miscalibration: the mean score minus that of the isotonic fit (CORP).

    Parameters
    ----------
    rule : {"brier", "log", "spherical", "zero-one"}, default "brier"
        The proper score.

    Notes
    -----
    .. math:: \mathrm{MCB} = \bar S(p, y) - \bar S(c, y), \qquad
       c = \arg\min_{c \text{ non-decreasing in } p} \sum_i w_i (y_i - c_i)^2

    For binary outcomes the same fit c minimises every proper score, so the figure is what the
    best increasing recalibration of these very rows would gain. It is the `miscalibration` of
    :func:`decompose` with ``method="isotonic"``. In units of the score, not of probability: for
    the Brier score at least the mean squared distance between p and c.

    Lower is better; 0 for a model whose scores equal the isotonic fit; at most the mean score,
    so in [0, 1] for all rules but "log", which is infinite when an outcome of probability 0
    occurs. Biased upwards: c is fitted to the rows it is judged on (a calibrated model with
    scores spread evenly reads about 0.015 at n = 200 and 0.0034 at n = 2000 for the Brier score).
    It sees only what an increasing map can mend.

    No bins and nothing to choose. Equal scores share one fitted value. With one class only c is
    that class, and the figure is the whole score. Time O(n log n), memory O(n). An integer weight
    equals repetition.

    References
    ----------
    .. [1] Dimitriadis, Gneiting & Jordan (2021), doi 10.1073/pnas.2016191118.

    Examples
    --------
    The fit is 0.5 throughout: the Brier score is 0.3125, that of the fit 0.25.

    >>> IsotonicError()([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])
    0.0625
    """

    rule: Literal["brier", "log", "spherical", "zero-one"] = "brier"

    def __post_init__(self) -> None:
        check_option(type(self).__name__, "rule", self.rule, RULES)

    @property
    def name(self) -> str:
        """Short name."""
        return f"MCB {self.rule}"

    @property
    def definition(self) -> str:
        """The score and what it is compared with, in words."""
        return (
            f"mean {self.rule} score minus that of the isotonic fit to the same rows (CORP); "
            "in-sample, biased upwards"
        )

    def measure_binary(self, sample: BinarySample) -> float:
        """Fit, and compare the scores."""
        rule = get_rule(self.rule, caller=type(self).__name__)
        return isotonic_parts(sample, rule).miscalibration
