"""Models compared by sums that their engine made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning import UniformBins
from veridical.evaluation._battery.pushed import battery_of
from veridical.evaluation._data.sums import SumsSource
from veridical.frames.grid import PairedSums, paired_sums
from veridical.inference.intervals import IntervalOptions, normal_interval
from veridical.lenses import Binary
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import ConsistencyTest, Difference
from veridical.summaries import Summary

_CALLER = "compare"
_LEVEL = 0.05  # a consistency test does not depend on it


@dataclass(frozen=True)
class SumModels:
    """Models whose rows stay in their engine.

    Attributes
    ----------
    sources : the table of sums of each model
    frame, y, columns, sample_weight : the data, and the column of each model
    n_bins : equal-width bins of the calibration errors
    """

    sources: Mapping[str, SumsSource]
    frame: Any
    y: str
    columns: Mapping[str, str]
    sample_weight: str | None
    n_bins: int

    def tests(self, n_bins: Any, n_resamples: int, seed: int) -> tuple[ConsistencyTest, ...]:
        """Is the calibration error of each more than a calibrated model would show?"""
        tests = []
        for source in self.sources.values():
            battery = battery_of(
                source, n_bins=n_bins, level=_LEVEL, n_resamples=n_resamples, seed=seed
            )
            test = battery.run("consistency")
            assert isinstance(test, ConsistencyTest)
            tests.append(test)
        return tuple(tests)

    def differences(
        self, figures: Sequence[Estimator], pairs: Sequence[tuple[str, str]], level: float
    ) -> list[list[Difference]]:
        """Differences of all figures between the models of every pair."""
        return [self._of_pair(figures, *pair, level) for pair in pairs]

    def _of_pair(
        self, figures: Sequence[Estimator], first: str, second: str, level: float
    ) -> list[Difference]:
        """Differences of all figures between two models, from one scan of their columns."""
        table = self.sources[first].grid.table
        sums = paired_sums(
            self.frame,
            y=self.y,
            prob=(self.columns[first], self.columns[second]),
            sample_weight=self.sample_weight,
            positive=table.classes[table.positive],
            positive_first=table.positive == 0,
            n_bins=self.n_bins,
            rules=[one.name for one in figures if not isinstance(one, BinnedError)],
            caller=_CALLER,
        )
        return [self._difference(estimator, first, second, sums, level) for estimator in figures]

    def _difference(
        self, estimator: Estimator, first: str, second: str, sums: PairedSums, level: float
    ) -> Difference:
        """Difference of two models, with the normal interval of `paired_difference`."""
        if isinstance(estimator, BinnedError):
            return self._of_errors(first, second, sums, level)
        values = [self.sources[name].scores[estimator.name] for name in (first, second)]
        w_d, w2_d, w2_d2 = sums.scores[estimator.name].sum(axis=1)
        moments = (float(w_d), float(w2_d), float(w2_d2))
        return self._record(
            estimator.name, estimator.definition, values, moments, sums, Binary().name, level
        )

    def _of_errors(self, first: str, second: str, sums: PairedSums, level: float) -> Difference:
        """Squared errors, debiased; rows move them by 2 g (y - p) - g^2 - theta each.

        As the gaps g are those of bins, sums of squares of that are sums of moments of p and q by
        pairs of bins.
        """
        binned = BinnedError(UniformBins(self.n_bins), norm=2, debias=True)
        values, gaps, thetas = [], [], []
        for name in (first, second):
            summary = self.sources[name].cells.summary(UniformBins(self.n_bins))
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
            c * c * one
            + 4 * a * a * pp
            + 4 * b * b * qq
            - 4 * a * c * p
            + 4 * b * c * q
            - 8 * a * b * pq
        )
        # Sums of w (y - p) by bin are w g, so the influences of a model sum to nothing.
        moments = (0.0, float(w2_d.sum()), float(w2_d2.sum()))
        name = f"squared {binned.name}"
        lens = self.sources[first].lens.name
        return self._record(name, binned.definition, values, moments, sums, lens, level)

    def _record(
        self,
        name: str,
        definition: str,
        values: Sequence[float],
        moments: tuple[float, float, float],
        sums: PairedSums,
        lens: str,
        level: float,
    ) -> Difference:
        total, square = float(sums.w.sum()), float(sums.moments[0].sum())
        w_d, w2_d, w2_d2 = moments
        mean = w_d / total
        spread = math.sqrt(max(w2_d2 - 2 * mean * w2_d + mean**2 * square, 0.0)) / total
        interval = normal_interval(values[0] - values[1], spread, level)
        return Difference(
            **interval.drop_rounding(*values)._asdict(),
            **IntervalOptions("analytic", level).fields,
            estimator=name,
            definition=definition,
            lens=lens,
            n_samples=next(iter(self.sources.values())).n,
            first=values[0],
            second=values[1],
        )


def _gaps(summary: Summary) -> tuple[FloatArray, float]:
    """Observed minus predicted by bin, and the mean of its square."""
    gap = np.where(summary.occupied[0], summary.mean_y[0] - summary.mean_p[0], 0.0)
    return gap, float(summary.share[0] @ gap**2)
