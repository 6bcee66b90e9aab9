"""Differences of models from sums that their engine made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning import UniformBins
from veridical.evaluation._pushed import Pushed
from veridical.evaluation._pushed_sums import Sums
from veridical.frames._paired_sums import PairedSums, paired_sums
from veridical.lenses import Binary
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import Difference
from veridical.summaries import Summary

_CALLER = "compare"


@dataclass(frozen=True)
class Pairs:
    """Differences of models whose rows stay in their engine.

    Attributes
    ----------
    source, y, columns, sample_weight : the data, and the column of each model
    pushed : the table of sums of each model
    n_bins : equal-width bins of the calibration errors
    level : confidence level
    """

    source: Any
    y: str
    columns: dict[str, str]
    sample_weight: str | None
    pushed: dict[str, Pushed]
    n_bins: int
    level: float

    def differ(self, figures: Sequence[Estimator], first: str, second: str) -> list[Difference]:
        """Differences of all figures between two models, from one scan of their columns."""
        table = self.pushed[first].grid.table
        sums = paired_sums(
            self.source,
            y=self.y,
            prob=(self.columns[first], self.columns[second]),
            sample_weight=self.sample_weight,
            positive=table.classes[table.positive],
            positive_first=table.positive == 0,
            n_bins=self.n_bins,
            rules=[one.name for one in figures if not isinstance(one, BinnedError)],
            caller=_CALLER,
        )
        return [self._difference(estimator, first, second, sums) for estimator in figures]

    def _difference(
        self, estimator: Estimator, first: str, second: str, sums: PairedSums
    ) -> Difference:
        """Difference of two models, with the normal interval of `paired_difference`."""
        if isinstance(estimator, BinnedError):
            return self._of_errors(estimator, first, second, sums)
        values = [
            Sums(self.pushed[name].grid, self.pushed[name].lens).scores[estimator.name]
            for name in (first, second)
        ]
        w_d, w2_d, w2_d2 = sums.scores[estimator.name].sum(axis=1)
        moments = (float(w_d), float(w2_d), float(w2_d2))
        return self._record(
            estimator.name, estimator.definition, values, moments, sums, Binary().name
        )

    def _of_errors(
        self, estimator: BinnedError, first: str, second: str, sums: PairedSums
    ) -> Difference:
        """Squared errors, debiased; rows move them by 2 g (y - p) - g^2 - theta each.

        As the gaps g are those of bins, sums of squares of that are sums of moments of p and q by
        pairs of bins.
        """
        binned = BinnedError(UniformBins(self.n_bins), norm=2, debias=True)
        values, gaps, thetas = [], [], []
        for name in (first, second):
            pushed = self.pushed[name]
            summary = Sums(pushed.grid, pushed.lens).cells.summary(UniformBins(self.n_bins))
            values.append(float(binned.powered(summary).mean()))
            gap, theta = _gaps(summary)
            gaps.append(gap)
            thetas.append(theta)
        a, b = gaps[0][sums.first], gaps[1][sums.second]
        # The influence of a row is c - 2 a p + 2 b q.
        c = 2 * (a - b) * sums.outcome - a**2 + b**2 - thetas[0] + thetas[1]
        one, p, q, pp, qq, pq = sums.moments
        w2_d = c * one - 2 * a * p + 2 * b * q
        w2_d2 = (
            c * c * one + 4 * a * a * pp + 4 * b * b * qq
            - 4 * a * c * p + 4 * b * c * q - 8 * a * b * pq
        )  # fmt: skip
        # Sums of w (y - p) by bin are w g, so the influences of a model sum to nothing.
        moments = (0.0, float(w2_d.sum()), float(w2_d2.sum()))
        name = f"squared {binned.name}"
        lens = self.pushed[first].lens.name
        return self._record(name, binned.definition, values, moments, sums, lens)

    def _record(
        self,
        name: str,
        definition: str,
        values: Sequence[float],
        moments: tuple[float, float, float],
        sums: PairedSums,
        lens: str,
    ) -> Difference:
        from scipy.special import ndtr, ndtri

        total, square = float(sums.w.sum()), float(sums.moments[0].sum())
        w_d, w2_d, w2_d2 = moments
        mean = w_d / total
        spread = math.sqrt(max(w2_d2 - 2 * mean * w2_d + mean**2 * square, 0.0)) / total
        estimate = values[0] - values[1]
        half = float(ndtri((1 + self.level) / 2)) * spread
        away = math.inf if spread == 0 and estimate != 0 else 0.0
        return Difference(
            estimate=estimate,
            low=estimate - half,
            high=estimate + half,
            confidence_level=self.level,
            method="analytic",
            estimator=name,
            definition=definition,
            lens=lens,
            n_samples=next(iter(self.pushed.values())).grid.n_samples,
            n_resamples=None,
            pvalue=float(2 * ndtr(-(abs(estimate) / spread if spread > 0 else away))),
            first=values[0],
            second=values[1],
        )


def _gaps(summary: Summary) -> tuple[FloatArray, float]:
    """Observed minus predicted by bin, and the mean of its square."""
    gap = np.where(summary.occupied[0], summary.mean_y[0] - summary.mean_p[0], 0.0)
    return gap, float(summary.share[0] @ gap**2)
