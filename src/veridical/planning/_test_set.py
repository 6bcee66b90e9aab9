"""Value of a decision process on real predictions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from veridical._core.sample import BinarySample, Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical._core.validation import check_sample
from veridical.calibrators._cross_fitted import cross_fitted
from veridical.decisions._cost_intervals import (
    IntervalOptions,
    doubts_of_mean,
    mean_cost,
)
from veridical.decisions._miscalibration_cost import default_calibrator
from veridical.exceptions import invalid
from veridical.miscalibration._functions import expected_calibration_error
from veridical.planning._processes import DecisionProcess
from veridical.planning._value import Limits
from veridical.results._planning import DecisionValue

_FOLDS = 5


class Labelled(NamedTuple):
    """Columns, labels and weights as the user means them; the same for all predictions."""

    labels: ArrayLike | None
    pos_label: Any
    sample_weight: ArrayLike | None
    weight_type: WeightType


class Evaluated(NamedTuple):
    """Value of predictions, the shares of the classes, and doubts."""

    value: DecisionValue
    prior: FloatArray
    notes: list[str]


def value_of_predictions(
    process: DecisionProcess,
    name: str,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labelled: Labelled,
    level: float,
    *,
    caller: str,
) -> Evaluated:
    """Value on a test set, without a model, and after cross-fitted recalibration."""
    sample = check_sample(y_true, y_prob, caller=caller, **labelled._asdict())
    if sample.n < 2 * _FOLDS:
        hint = "a handful of rows says nothing about decisions."
        raise invalid(caller, "source", f"of {2 * _FOLDS} rows or more", f"{sample.n}", hint=hint)
    if process.coupled and sample.weight is not None:
        hint = "repeat rows instead, or leave the weights out."
        expected = "unset for a process that sees all rows at once"
        raise invalid(caller, "sample_weight", expected, "weights", hint=hint)
    p, y = _matrix(sample), sample.y
    prior = np.array([weighted_mean(y == k, sample.weight) for k in range(p.shape[1])])
    value = process.value(y, p)
    without = process.without_model(y, prior)
    dealt = cross_fitted(sample, default_calibrator(sample), _FOLDS)
    calibrated = process.value(y[dealt.rows], dealt.p)
    before = value if dealt.in_order else process.value(y[dealt.rows], p[dealt.rows])
    mean = _limits(value, sample.weight, sample.weight_type, level, caller)
    with np.errstate(invalid="ignore"):
        gain = np.where(value == without, 0.0, value - without)
        loss = np.where(calibrated == before, 0.0, calibrated - before)
    gains = _limits(gain, sample.weight, sample.weight_type, level, caller)
    losses = _limits(loss, dealt.weight, sample.weight_type, level, caller)
    right = p.argmax(axis=1) == y
    notes = []
    if np.isfinite(value).all():
        notes = doubts_of_mean(value, sample.weight, sample.weight_type)
    found = DecisionValue(
        name=name,
        accuracy=weighted_mean(right, sample.weight),
        ece=expected_calibration_error(
            y_true, y_prob, lens="confidence", **labelled._asdict()
        ),
        value=mean.estimate, low=mean.low, high=mean.high,
        baseline=weighted_mean(without, sample.weight),
        gain=gains.estimate, gain_low=gains.low, gain_high=gains.high,
        calibrated=weighted_mean(calibrated, dealt.weight),
        loss=losses.estimate, loss_low=losses.low, loss_high=losses.high,
        basis="recalibrated",
        n_samples=sample.n,
    )  # fmt: skip
    return Evaluated(found, prior, notes)


def _matrix(sample: Sample) -> FloatArray:
    """Probabilities (n, K) in double precision; for two classes (negative, positive)."""
    if not isinstance(sample, BinarySample):
        return sample.p.astype(np.float64, copy=False)
    if sample.pair is not None:
        return sample.pair.astype(np.float64, copy=False)
    p = sample.p.astype(np.float64, copy=False)
    return np.column_stack([1 - p, p])


def _limits(
    by_row: FloatArray,
    weight: FloatArray | None,
    weight_type: WeightType,
    level: float,
    caller: str,
) -> Limits:
    """Weighted mean of rows and normal limits; all infinite after ruin."""
    estimate = weighted_mean(by_row, weight)
    if not math.isfinite(estimate):
        return Limits(estimate, estimate, estimate)
    options = IntervalOptions("analytic", level, 1, np.random.default_rng(0), caller)
    found = mean_cost(by_row, weight, weight_type, None, options)
    return Limits(found.estimate, found.low, found.high)
