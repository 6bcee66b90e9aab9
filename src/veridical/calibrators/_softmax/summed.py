"""Softmax maps fitted by Newton steps, each from one pass of an engine over its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from veridical._core.data.classes import arranged_names
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import MulticlassCalibrator
from veridical.calibrators._base.frames import FitColumns
from veridical.calibrators._base.scales import smallest_share
from veridical.calibrators._softmax.inverse_temperature import (
    TemperatureFit,
    inverse_temperature_of,
)

if TYPE_CHECKING:
    from veridical.frames.grid import SoftmaxMap, SoftmaxSums


class TemperatureOfSums(NamedTuple):
    """A temperature, the sample size that counts, and columns in the order of the classes."""

    fit: TemperatureFit
    size: float
    named: dict[str, Any]
    fitted_on: str


def temperature_of_sums(calibrator: MulticlassCalibrator, columns: FitColumns) -> TemperatureOfSums:
    """Find the temperature of rows elsewhere; the calibrator takes classes and floor from them."""
    from veridical.frames.grid import TemperatureSums

    # Of the coarsest grid only the check of the columns, the labels and the totals are wanted.
    table = columns.grid("confidence", calibrator, n_bins=1, resolution=64)
    prob = arranged_names(columns.prob, table.classes, caller=columns.caller)
    named = columns.named | {"prob": prob, "classes": table.classes}
    gaps = TemperatureSums(columns.source, **named)
    calibrator.floor_ = smallest_share(np.array([gaps.least, gaps.least_positive]))
    gaps.raise_to(calibrator.floor_)
    total, squares = float(table.total_w[0]), float(table.total_w2[0])
    size = total if calibrator.weight_type == "frequency" else total * total / squares
    calibrator.classes_ = np.asarray(table.classes)
    calibrator.positive_index_ = table.positive
    words = f"all {int(table.rows[0]):,} rows, by sums of an engine"
    return TemperatureOfSums(inverse_temperature_of(gaps, size), size, named, words)


class Pass(NamedTuple):
    """What one pass found: mean loss, its derivatives and the mean squares of the features."""

    loss: float
    squares: FloatArray
    gradient: FloatArray
    hessian: FloatArray


class SummedObjective:
    """The objective of `truncated_newton` where rows are elsewhere; few parameters only.

    What it takes for the probabilities of all rows is what a pass found.
    """

    exact_up_to = 1 << 30

    def __init__(
        self,
        sums: SoftmaxSums,
        asked: SoftmaxMap,
        n_features: int,
        centre: FloatArray,
        penalty: FloatArray,
    ) -> None:
        self._sums, self._asked, self._n_features = sums, asked, n_features
        self.centre, self.penalty = centre, penalty
        self._last: tuple[FloatArray, Pass] | None = None

    def value(self, theta: FloatArray) -> tuple[float, Pass]:
        """Return the penalised mean loss, and all else that the pass found."""
        found = self._pass(theta)
        away = theta - self.centre
        return found.loss + float(self.penalty @ (away * away)), found

    def gradient(self, theta: FloatArray, found: Pass) -> FloatArray:
        """Gradient of the penalised mean loss."""
        return found.gradient + 2 * self.penalty * (theta - self.centre)

    def hessian(self, found: Pass) -> FloatArray:
        """Its Hessian."""
        result = found.hessian.copy()
        result[np.diag_indices(len(result))] += 2 * self.penalty
        return result

    def feature_scales(self) -> FloatArray:
        """Root mean square of what each parameter multiplies, at least one."""
        scales = np.maximum(np.sqrt(self._pass(self.centre).squares), 1.0)
        if not self._asked.full:
            return np.concatenate([scales, np.ones(self._n_features)])
        return np.tile(np.append(scales, 1.0), len(self.centre) // (self._n_features + 1))

    def _pass(self, theta: FloatArray) -> Pass:
        if self._last is None or not np.array_equal(self._last[0], theta):
            found = self._sums.of(replace(self._asked, theta=theta))
            m, size = self._n_features, len(theta)
            mean = found / found[0]
            last = 2 + m + size
            made = Pass(
                float(mean[1]), mean[2 : 2 + m], mean[2 + m : last], mean[last:].reshape(size, size)
            )
            self._last = theta.copy(), made
        return self._last[1]
