"""Temperature scaling: one number makes predictions sharper or flatter.

What a temperature is fitted to, where the rows stay in an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.formula import Nodes
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._base.frames import FitColumns
from veridical.calibrators._base.nodes import logits_of, mixed_with_uniform, softmax_of
from veridical.calibrators._base.scales import positive_column, smallest_share
from veridical.calibrators._softmax.inverse_temperature import (
    TemperatureFit,
    fit_inverse_temperature,
    inverse_temperature_of,
)
from veridical.calibrators._softmax.softmax import GuardedCalibrator, softmax_in_place

if TYPE_CHECKING:
    from veridical.calibrators._base.calibrator import Calibrator
    from veridical.frames.grid import TemperatureSums


@dataclass(frozen=True)
class EngineSums:
    """Rows of an engine, known by sums.

    Attributes
    ----------
    gaps : the loss and its derivatives, each by one query
    floor : what probabilities are raised to before logarithms
    classes : labels in column order
    n_rows, size : number of rows, and the sample size that counts
    """

    gaps: TemperatureSums
    floor: float
    classes: tuple[Any, ...]
    n_rows: int
    size: float


def sums_of_columns(calibrator: Calibrator, columns: FitColumns) -> EngineSums:
    """Check the columns in the engine, find their classes, and get ready to sum."""
    from veridical.frames import grid_table
    from veridical.frames.grid import TemperatureSums

    caller = columns.caller
    table = grid_table(
        columns.source,
        y=columns.y,
        prob=columns.prob,
        sample_weight=columns.weight,
        labels=calibrator.labels,
        problems=["confidence"],
        n_bins=1,
        resolution=64,  # the coarsest: only the check, the labels and the totals are wanted
        scores=False,
        caller=caller,
    )
    gaps = TemperatureSums(
        columns.source,
        y=columns.y,
        prob=columns.prob,
        sample_weight=columns.weight,
        classes=table.classes,
        caller=caller,
    )
    floor = smallest_share(np.array([gaps.least, gaps.least_positive]))
    gaps.raise_to(floor)
    total, squares = float(table.total_w[0]), float(table.total_w2[0])
    size = total if calibrator.weight_type == "frequency" else total * total / squares
    return EngineSums(gaps, floor, table.classes, int(table.rows[0]), size)


class TemperatureCalibrator(GuardedCalibrator):
    r"""Divides logits by one temperature: softmax(z / T).

    .. math:: c_j(z) = (1 - u) \frac{\exp(z_j / T)}{\sum_k \exp(z_k / T)} + \frac{u}{K}

    T > 1 flattens predictions, T < 1 sharpens them. T has the least mean log loss on the fitted
    rows, found to a derivative below 1e-9; the loss is convex in 1/T, so the minimum is the only
    one. The order of classes within a row, hence accuracy, never changes.

    Parameters
    ----------
    pseudo_rows : float, default 1.0
        Guard: a share u = pseudo_rows / (n + pseudo_rows) of the uniform distribution is mixed in
        after fitting,
        so that no outcome gets probability zero. 0 turns it off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Probabilities become their logarithms; scores are read as logits.
        One column of a binary problem gives the same temperature as its two columns.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What n is with weights: (sum w)^2 / sum w^2, or sum w (then integer weight = repetition).

    Attributes
    ----------
    temperature_, inverse_temperature_ : float
        T and 1/T.
    mix_ : float
        u, the share of the uniform distribution.
    n_iter_ : int
        Passes over all rows.
    gradient_norm_ : float
        Absolute derivative of the mean log loss in log T at the solution, or a bound of it.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Eq. 12 of the survey [1]_ prints exp(-z_j / t), which reverses the order of classes; the sign
    here is that of Guo et al. [2]_. The mix follows [3]_.

    Where no optimum exists the answer is still defined. Scores that point away from the truth
    on average (the loss falls towards 1/T = 0): 1/T is 1e-6 over the widest range of logits in
    a row, uniform to six digits but in the same order. Separable rows (the true class is always
    on top, T would fall to 0): T stops where the mean log loss is 1 / (n + 1) above its limit.
    All scores equal: T = 1.

    A single number cannot repair errors that differ between classes; see `VectorCalibrator` and
    `StructuredMatrixCalibrator`. Time O(n K) a pass, 3 to 10 passes; memory O(n K).

    References
    ----------
    .. [1] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.4.1.
    .. [2] Guo, Pleiss, Sun & Weinberger (2017), ICML, arXiv 1706.04599.
    .. [3] Berta, Holzmüller, Jordan & Bach (2025), arXiv 2501.19195.

    Examples
    --------
    Predictions of 0.9 that are right three times out of four: 9^(1/T) = 3, so T = 2.

    >>> y = [1, 1, 1, 0]
    >>> calibrator = TemperatureCalibrator(pseudo_rows=0).fit([0.9, 0.9, 0.9, 0.9], y)
    >>> round(calibrator.temperature_, 6)
    2.0
    >>> calibrator.predict_proba([0.9]).round(6).tolist()
    [[0.25, 0.75]]
    """

    def _fit_map(self, logits: FloatArray, rows: WeightedOutcomes) -> None:
        self._keep(fit_inverse_temperature(logits, rows), rows.size)

    def _fit_sums(self, columns: FitColumns) -> None:
        sums = sums_of_columns(self, columns)
        self._keep(inverse_temperature_of(sums.gaps, sums.size), sums.size)
        self.floor_, self.classes_ = sums.floor, np.asarray(sums.classes)
        self.positive_index_ = positive_column(sums.classes)
        self.fitted_on_ = f"all {sums.n_rows:,} rows, by sums of an engine"

    def _keep(self, fit: TemperatureFit, size: float) -> None:
        self.inverse_temperature_ = fit.inverse
        self.temperature_ = 1 / fit.inverse
        self.n_iter_ = fit.n_iter
        self.gradient_norm_ = abs(fit.gradient)
        self.mix_ = self._mixing_share(size)

    def _map(self, logits: FloatArray) -> FloatArray:
        # logarithms of probabilities were made for this call; logits are the caller's
        scores = logits if self.input == "probability" else logits.copy()
        return softmax_in_place(scores, self.mix_, self.inverse_temperature_)

    def _formula(self, inputs: Nodes) -> Nodes:
        scaled = softmax_of(logits_of(self, inputs), self.inverse_temperature_)
        return mixed_with_uniform(scaled, self.mix_)
