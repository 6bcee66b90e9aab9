"""What is to be compared: arrays, columns to be read, or columns left to their engine.

Differences of models from sums that their engine made.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.binning import UniformBins
from veridical.evaluation._data.sums import Sums
from veridical.evaluation._figures.pushed import ENGINES, Pushed, Request
from veridical.exceptions import invalid
from veridical.frames import column_names, expand_columns, is_frame
from veridical.frames.grid import PairedSums, paired_sums
from veridical.frames.inputs import gather_inputs, name_columns
from veridical.lenses import Binary
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import Difference
from veridical.summaries import Summary


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


_CALLER = "compare"


@dataclass(frozen=True)
class PairedArrays:
    """Everything as arrays, and what was guessed."""

    predictions: Mapping[str, Any]
    y_true: Any
    sample_weight: Any
    groups: Any
    labels: ArrayLike | None
    said: list[str]


@dataclass(frozen=True, kw_only=True)
class ComparisonRequest:
    """Models and data as the user gave them."""

    predictions: Mapping[str, Any]
    y_true: Any
    y: str | None
    lens: Any
    labels: ArrayLike | None
    pos_label: Any
    n_bins: Any
    sample_weight: Any
    weight_type: WeightType
    groups: Any

    @property
    def _by_name(self) -> bool:
        """Whether predictions are columns of a frame or file."""
        if isinstance(self.y_true, (str, os.PathLike)) or is_frame(self.y_true):
            return True
        if self.y is None:
            return False
        got = f"a column and a {type(self.y_true).__name__}"
        hint = "pass the frame of the columns as second argument."
        raise invalid(_CALLER, "y_true", "a frame or a file if `y` is given", got, hint=hint)

    def arrays(self) -> PairedArrays:
        """Read every model's predictions."""
        if not self._by_name:
            models, weight = self.predictions, self.sample_weight
            return PairedArrays(models, self.y_true, weight, self.groups, self.labels, [])
        groups = self.groups
        inputs = {
            name: gather_inputs(
                self.y_true,
                None,
                y=self.y,
                prob=_columns(prob, name),
                sample_weight=self.sample_weight,
                by=groups if isinstance(groups, str) else None,
                labels=self.labels,
                caller=_CALLER,
            )
            for name, prob in self.predictions.items()
        }
        first = next(iter(inputs.values()))
        if isinstance(groups, str) and first.by is not None:
            groups = first.by.codes
        return PairedArrays(
            {name: each.y_prob for name, each in inputs.items()},
            first.y_true,
            first.sample_weight,
            groups,
            first.labels,
            [] if first.said is None else [first.said],
        )

    def pushed(self, engine: str, level: float) -> Pairs | None:
        """Return sums if they are what is to be used, None if rows are to be read."""
        check_option(_CALLER, "engine", engine, ENGINES)
        if engine == "memory" or not self._by_name:
            return None
        requests = {
            name: self._request(_columns(prob, name)) for name, prob in self.predictions.items()
        }
        why = self._needs_rows()
        if why is None:
            pushed = {name: request.pushed(engine) for name, request in requests.items()}
            made = {name: each for name, each in pushed.items() if each is not None}
            return self._pairs(made, level) if len(made) == len(pushed) else None
        if engine == "pushdown":
            hint = 'use engine="memory".'
            raise invalid(_CALLER, "engine", '"auto" or "memory" here', why, hint=hint)
        return None

    def _needs_rows(self) -> str | None:
        """What sums cannot serve, if anything."""
        if self.groups is not None:
            return "clusters"
        if self.weight_type != "importance":
            return "frequencies"
        if self.sample_weight is not None and not isinstance(self.sample_weight, str):
            return "weights beside the frame"
        lens = "binary" if self.lens is None else getattr(self.lens, "name", self.lens)
        if lens != "binary":
            return f"the {lens} lens"
        names = column_names(self.y_true, caller=_CALLER, param="y_true")
        for model, prob in self.predictions.items():
            wanted = _columns(prob, model)
            listed = [wanted] if isinstance(wanted, str) else list(wanted)
            if len(expand_columns(listed, names, caller=_CALLER, param="predictions")) > 2:
                return "more than two classes"
        return None

    def _request(self, prob: str | list[str]) -> Request:
        return Request(
            y_true=self.y_true,
            y_prob=None,
            y=self.y,
            prob=prob,
            lens=self.lens,
            labels=self.labels,
            pos_label=self.pos_label,
            n_bins=self.n_bins,
            sample_weight=self.sample_weight,
            by=None,
            caller=_CALLER,
        )

    def _pairs(self, pushed: dict[str, Pushed], level: float) -> Pairs:
        columns = {}
        for name, prob in self.predictions.items():
            names = name_columns(
                self.y_true,
                y=self.y,
                prob=_columns(prob, name),
                sample_weight=self.sample_weight,
                by=None,
                caller=_CALLER,
            )
            positive = pushed[name].grid.table.positive
            columns[name] = names.prob[positive if len(names.prob) == 2 else 0]
        cells = next(iter(pushed.values())).grid.cells("binary")
        rule: Any = "sqrt" if self.n_bins == "cv" else self.n_bins  # as in memory
        bins = UniformBins(rule).fit(cells.sample).n_cells
        return Pairs(self.y_true, names.y, columns, names.sample_weight, pushed, bins, level)


def _columns(prob: Any, model: str) -> str | list[str]:
    listed = isinstance(prob, (list, tuple)) and all(isinstance(one, str) for one in prob)
    if isinstance(prob, str):
        return prob
    if listed:
        return list(prob)
    hint = "with a frame, name the columns of each model."
    got = f"a {type(prob).__name__} for {model!r}"
    raise invalid(_CALLER, "predictions", "names of columns", got, hint=hint)
