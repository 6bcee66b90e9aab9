"""Value of a decision process on fake classifiers and on real predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.validation import check_sample
from veridical._core.sample import BinarySample, Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.binning import UniformBins
from veridical.calibrators.core import cross_fitted
from veridical.decisions.core import default_calibrator, doubts_of_mean, mean_cost
from veridical.exceptions import invalid
from veridical.inference.intervals import IntervalOptions
from veridical.lenses import Confidence
from veridical.miscalibration import BinnedError
from veridical.planning._value.processes import DecisionProcess
from veridical.planning._value.targets import SimulationTarget
from veridical.results import DecisionValue
from veridical.simulation import BinaryFakeClassifier, FakeClassifier, FakeSample
from veridical.simulation.core import draw_labels


@dataclass(frozen=True)
class SimulationPlan:
    """How much is simulated.

    Attributes
    ----------
    n_samples : rows of a repeat
    seeds : one seed a repeat, the same for every classifier, so that their rows correspond
    level : confidence level of limits
    """

    n_samples: int
    seeds: tuple[int, ...]
    level: float


class Limits(NamedTuple):
    """A mean over repeats or rows and its limits."""

    estimate: float
    low: float
    high: float

    def fields(self, name: str, prefix: str = "") -> dict[str, float]:
        """What a `DecisionValue` calls them."""
        return {name: self.estimate, f"{prefix}low": self.low, f"{prefix}high": self.high}


def values_of_targets(
    process: DecisionProcess,
    targets: Sequence[SimulationTarget],
    plan: SimulationPlan,
    steps: Iterator[int],
) -> list[DecisionValue]:
    """Values at the calibration errors of one accuracy; `steps` is advanced once a repeat.

    The same truths and labels serve all of them, only the map differs, so that differences between
    calibration errors are free of the noise of sampling.
    """
    known = [target.fake for target in targets if target.fake is not None]
    n = len(plan.seeds)
    value = np.full((len(targets), n), np.nan)
    calibrated, baseline = np.full(n, np.nan), np.full(n, np.nan)
    for r, seed in enumerate(plan.seeds):
        next(steps, None)
        if not known:
            continue
        prior = np.array(known[0].alpha) / sum(known[0].alpha)  # exact, the mean of the truth
        generator = np.random.default_rng(seed)
        log_p = known[0].draw_log_truth(plan.n_samples, generator)
        truth = np.exp(log_p)
        y = draw_labels(truth, generator)
        calibrated[r] = process.value(y, truth, truth=truth).mean()
        # The expected truth is the prior, so its mean needs no rows unless they are looked at.
        same = np.broadcast_to(prior, truth.shape)
        baseline[r] = process.without_model(y, prior, truth=same).mean()
        for i, target in enumerate(targets):
            if target.fake is not None:
                reported = target.fake.map.from_log(log_p)
                value[i, r] = process.value(y, reported, truth=truth).mean()
    return [
        DecisionValue(
            name="",
            accuracy=target.accuracy,
            ece=target.ece,
            n_samples=plan.n_samples,
            n_repeats=n,
            reason=target.reason,
            **(_fields(value[i], calibrated, baseline, plan.level) if target.fake else {}),
        )
        for i, target in enumerate(targets)
    ]


def value_of_fake(
    process: DecisionProcess,
    name: str,
    fake: FakeClassifier | BinaryFakeClassifier,
    plan: SimulationPlan,
    steps: Iterator[int],
) -> DecisionValue:
    """Value on a given fake classifier; the shares of classes are those of the drawn truth."""
    value, calibrated, baseline = [], [], []
    for seed in plan.seeds:
        next(steps, None)
        drawn = _columns(fake.sample(plan.n_samples, rng=seed))
        y, truth = drawn.y, drawn.p_true
        value.append(process.value(y, drawn.y_prob, truth=truth).mean())
        calibrated.append(process.value(y, truth, truth=truth).mean())
        prior = truth.mean(axis=0)
        baseline.append(process.without_model(y, prior / prior.sum(), truth=truth).mean())
    error = (
        fake.confidence_error()
        if isinstance(fake, BinaryFakeClassifier)
        else fake.expected_calibration_error()
    )
    return DecisionValue(
        name=name,
        accuracy=fake.accuracy().value,
        ece=error.value,
        n_samples=plan.n_samples,
        n_repeats=len(plan.seeds),
        **_fields(np.array(value), np.array(calibrated), np.array(baseline), plan.level),
    )


def _fields(
    value: FloatArray, calibrated: FloatArray, baseline: FloatArray, level: float
) -> dict[str, Any]:
    mean = over_repeats(value, level)
    gain = over_repeats(value - baseline, level)
    with np.errstate(invalid="ignore"):  # ruin minus ruin
        loss = over_repeats(np.where(value == calibrated, 0.0, calibrated - value), level)
    means = {"baseline": float(baseline.mean()), "calibrated": float(calibrated.mean())}
    return _named_limits(mean, gain, loss) | means


def _named_limits(mean: Limits, gain: Limits, loss: Limits) -> dict[str, Any]:
    gains, losses = gain.fields("gain", "gain_"), loss.fields("loss", "loss_")
    return mean.fields("value") | gains | losses


def over_repeats(means: FloatArray, level: float) -> Limits:
    """Mean of independent repeats with limits by Student's t; all infinite after ruin."""
    from scipy.special import stdtrit

    estimate = float(means.mean())
    if not math.isfinite(estimate):
        return Limits(estimate, estimate, estimate)
    n = len(means)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * float(means.std(ddof=1)) / math.sqrt(n)
    return Limits(estimate, estimate - half, estimate + half)


def _columns(drawn: FakeSample) -> FakeSample:
    """The same rows with one column for each class."""
    if drawn.y_prob.ndim == 2:
        return drawn
    pair = [np.column_stack([1 - p, p]) for p in (drawn.y_prob, drawn.p_true)]
    return FakeSample(drawn.y, *pair)


_FOLDS = 5


class Labelled(NamedTuple):
    """Columns, labels and weights as the user means them; the same for all predictions."""

    labels: ArrayLike | None
    pos_label: Any
    sample_weight: ArrayLike | None
    weight_type: WeightType


class Evaluated(NamedTuple):
    """Value of predictions, the shares of the classes, doubts, and those of the fitted maps."""

    value: DecisionValue
    prior: FloatArray
    notes: list[str]
    map_notes: tuple[str, ...]


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
    folded = cross_fitted(sample, default_calibrator(sample), _FOLDS)
    calibrated = process.value(y[folded.rows], folded.p)
    before = value if folded.in_order else process.value(y[folded.rows], p[folded.rows])
    mean = _limits(value, sample.weight, sample.weight_type, level, caller)
    with np.errstate(invalid="ignore"):
        gain = np.where(value == without, 0.0, value - without)
        loss = np.where(calibrated == before, 0.0, calibrated - before)
    gains = _limits(gain, sample.weight, sample.weight_type, level, caller)
    losses = _limits(loss, folded.weight, sample.weight_type, level, caller)
    right = p.argmax(axis=1) == y
    ece, notes = BinnedError(UniformBins(15)).measure_with_doubts(Confidence().induce(sample))
    if np.isfinite(value).all():
        notes += doubts_of_mean(value, sample.weight, sample.weight_type)
    found = DecisionValue(
        name=name,
        accuracy=weighted_mean(right, sample.weight),
        ece=ece,
        baseline=weighted_mean(without, sample.weight),
        calibrated=weighted_mean(calibrated, folded.weight),
        basis="recalibrated",
        n_samples=sample.n,
        **_named_limits(mean, gains, losses),
    )
    return Evaluated(found, prior, notes, folded.notes)


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
    options = IntervalOptions("analytic", level)
    found = mean_cost(by_row, weight, weight_type, None, options, caller=caller)
    return Limits(found.estimate, found.low, found.high)
