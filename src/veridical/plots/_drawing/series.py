"""What a diagram draws: reliability curves with names, from results or from raw data.

The true frequency, where a simulation knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from veridical._core.data.randomness import check_draws
from veridical._core.data.validation import check_level, check_probabilities, float_array
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.binning import Binning, QuantileBins, UniformBins
from veridical.curves import reliability_curve
from veridical.curves.display import display_of_sample
from veridical.exceptions import invalid
from veridical.inference.core import recalibration_line
from veridical.inference.draws import null_sample
from veridical.inference.intervals import binned_limits, has_interval
from veridical.lenses import Lens
from veridical.lenses.reading import RawData, event_of
from veridical.miscalibration import BinnedError
from veridical.plots._drawing.style import Style
from veridical.results import (
    Coefficient,
    Evaluation,
    MeasuredError,
    ReliabilityCurve,
    ReliabilityDisplay,
)
from veridical.summaries import Summary

_DEPENDENT = "pooled"  # the lens whose rows are not independent: K of them share an outcome


@dataclass(frozen=True)
class Series:
    """One curve, and what is known about it beyond its points.

    Attributes
    ----------
    name : name of the model, empty if there is only one
    curve : the reliability curve
    error : ECE with its interval and null level, or None
    in_the_large, slope : mean observed - mean predicted, and Cox's slope, or None
    sample : the rows, or None if only a result was given
    display : the choice of bins and axes, or None if the user chose
    """

    name: str
    curve: ReliabilityCurve
    error: MeasuredError | None = None
    in_the_large: float | None = None
    slope: Coefficient | None = None
    sample: BinarySample | None = None
    display: ReliabilityDisplay | None = None


@dataclass(frozen=True)
class PlotOptions:
    """How curves are made of raw data: options of `reliability_curve`."""

    lens: Any = None
    method: Any = None
    n_bins: Any = None
    strategy: Any = None
    binning: Binning | None = None
    interval: str | None = "auto"
    confidence_level: float = 0.95
    n_resamples: int = 1000
    rng: Any = None
    labels: ArrayLike | None = None
    pos_label: Any = None
    sample_weight: ArrayLike | None = None
    weight_type: WeightType = "importance"

    @property
    def chosen(self) -> bool:
        """Whether rows and events decide about curve and bins, as nobody asked for others."""
        asked = (self.method, self.n_bins, self.strategy, self.binning)
        return all(each is None for each in asked) and self.interval == "auto"

    @property
    def count(self) -> Any:
        """How many bins, where bins are asked for or an error has some."""
        return 15 if self.n_bins is None else self.n_bins

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> PlotOptions:
        """Return the options among the arguments of a function, which have the same names."""
        known = {option.name for option in fields(cls)}
        return cls(**{name: value for name, value in arguments.items() if name in known})

    def refuse(self, caller: str) -> None:
        """Raise if an option was given that a finished result would ignore."""
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not option.default and (option.default is None or value != option.default):
                hint = "give it to `reliability_curve` or `evaluate`, which made the result."
                got = type(value).__name__ if hasattr(value, "__len__") else repr(value)
                raise invalid(caller, option.name, "left out for a result", got, hint=hint)


def gather_series(
    y_true: Any,
    y_prob: Any,
    options: PlotOptions,
    *,
    caller: str,
    detail: str | None,
    binned: bool = False,
) -> list[Series]:
    """Return the curves to draw; `detail` is what to measure beside them, as `measured`.

    Of evaluations that is the diagram chosen for their rows, or with `binned` the bins asked for.
    """
    if y_prob is None:
        options.refuse(caller)
        return _from_results(y_true, caller, binned=binned)
    predictions = y_prob if isinstance(y_prob, Mapping) else {"": y_prob}
    if not predictions:
        hint = 'give {"name": y_prob}.'
        raise invalid(caller, "y_prob", "one model or more", "an empty mapping", hint=hint)
    return [
        raw_series(str(name), y_true, given, options, caller=caller, detail=detail)
        for name, given in predictions.items()
    ]


def raw_series(
    name: str,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    options: PlotOptions,
    *,
    caller: str,
    detail: str | None,
) -> Series:
    """Return the curve of one model from its predictions."""
    data = RawData(y_true, y_prob, labels=options.labels, pos_label=options.pos_label)
    induced = data.weighted(options.sample_weight, options.weight_type).through(
        options.lens, caller=caller
    )
    if not isinstance(induced.problem, BinarySample):
        hint = "use `plots.classwise`, or `ClassSpecific(label)` for one class."
        expected = "one that induces a single binary problem"
        raise invalid(caller, "lens", expected, induced.lens.name, hint=hint)
    y = induced.named.y
    return sample_series(
        name, induced.problem, induced.lens, induced.sample.classes, options, detail=detail, y=y
    )


def sample_series(
    name: str,
    sample: BinarySample,
    lens: Lens,
    classes: tuple[Any, ...],
    options: PlotOptions,
    *,
    detail: str | None,
    y: str | None = None,
) -> Series:
    """Return the curve of the binary problem that a lens shows of these classes of `y`."""
    event = event_of(lens, classes, y)
    if options.chosen:
        level = check_level("plots", options.confidence_level)
        display = display_of_sample(sample, lens=lens.name, event=event, confidence_level=level)
        series = Series(name, display.curve, sample=sample, display=display)
        return measured(series, options, detail)
    curve = reliability_curve(
        sample.y,
        sample.p,
        method=options.method or "bins",
        n_bins=options.count,
        strategy=options.strategy or "uniform",
        binning=options.binning,
        interval=options.interval,
        confidence_level=options.confidence_level,
        n_resamples=options.n_resamples,
        rng=_seed(options.rng),
        labels=(0, 1),
        sample_weight=sample.weight,
        weight_type=sample.weight_type,
    )
    named = replace(curve, lens=lens.name, event=event)
    series = Series(name, named, sample=sample)
    return measured(series, options, detail)


def measured(series: Series, options: PlotOptions, detail: str | None) -> Series:
    """Add the ECE for `detail` "value", with interval and null level for "error" and "all".

    For "all" also the recalibration line.
    """
    sample = series.sample
    if sample is None or detail not in ("value", "error", "all"):
        return series
    level = check_level("plots", options.confidence_level)
    estimator = BinnedError(options_binning(options))
    summary = estimator.summarise(sample)
    assert isinstance(summary, Summary)
    limits: dict[str, Any] = {}
    if detail != "value" and series.curve.lens != _DEPENDENT:
        if has_interval(estimator):
            limits["low"], limits["high"] = binned_limits(estimator, summary, level)
        draws = check_draws(options.n_resamples, _seed(options.rng), caller="plots")
        limits["null_mean"] = float(null_sample(estimator, sample, draws).mean())
    error = MeasuredError(
        name="ECE",
        value=estimator.from_summary(summary),
        definition=estimator.definition,
        lens=series.curve.lens,
        n_samples=sample.n,
        **limits,
    )
    if detail != "all":
        return replace(series, error=error)
    weight = summary.sum_w.sum()
    gap = float((summary.sum_wy.sum() - summary.sum_wp.sum()) / weight)
    slope = recalibration_line(sample, level).slope
    return replace(series, error=error, in_the_large=gap, slope=slope)


def options_binning(options: PlotOptions) -> Binning:
    """Bins of the ECE: those of the curve, or of `n_bins` if the curve has none."""
    if options.binning is not None:
        return options.binning
    if options.strategy == "quantile":
        return QuantileBins(options.count)
    return UniformBins(options.count)


def _from_results(given: Any, caller: str, *, binned: bool) -> list[Series]:
    results = given if isinstance(given, Mapping) else {"": given}
    if not results:
        hint = 'give {"name": result}.'
        raise invalid(caller, "y_true", "one result or more", "an empty mapping", hint=hint)
    return [_from_result(str(name), each, caller, binned=binned) for name, each in results.items()]


def _from_result(name: str, result: Any, caller: str, *, binned: bool) -> Series:
    if isinstance(result, ReliabilityCurve):
        return Series(name, result)
    if isinstance(result, Evaluation):
        shown = result.curve.lens
        ece = next((e for e in result.errors if e.name == "ECE" and e.lens == shown), None)
        large = result.calibration_in_the_large
        display = None if binned else result.display
        curve = result.curve if display is None else display.curve
        return Series(name, curve, ece, large, result.slope, display=display)
    if isinstance(result, ReliabilityDisplay):
        return Series(name, result.curve, display=result)
    expected = "a ReliabilityCurve, an Evaluation, a mapping of them, or labels with `y_prob`"
    hint = "give the predictions as the second argument."
    raise invalid(caller, "y_true", expected, type(result).__name__, hint=hint)


def _seed(rng: Any) -> Any:
    """None is a fixed seed: the same data give the same picture."""
    return 0 if rng is None else rng


Truth: TypeAlias = Callable[[FloatArray], ArrayLike] | tuple[ArrayLike, ArrayLike]

_GRID = 201


def true_points(truth: Any, *, caller: str) -> tuple[FloatArray, FloatArray]:
    """Scores and true frequencies of a function, or of a pair of arrays in order of the scores."""
    if callable(truth):
        s: FloatArray = np.linspace(0.0, 1.0, _GRID)
        given = truth(s)
    elif isinstance(truth, (tuple, list)) and len(truth) == 2:
        s = float_array(truth[0], caller=caller, param="truth")
        given = truth[1]
    else:
        hint = "give `truth=lambda s: ...`, or `truth=(s, r)`."
        expected = "a function of the scores or a pair of arrays"
        raise invalid(caller, "truth", expected, type(truth).__name__, hint=hint)
    r = float_array(given, caller=caller, param="truth")
    if r.shape != s.shape or s.ndim != 1:
        hint = "one true frequency is needed for every score."
        got = f"shapes {s.shape} and {r.shape}"
        raise invalid(caller, "truth", "two arrays of the same length", got, hint=hint)
    r = check_probabilities(r, caller=caller, param="truth")
    order = np.argsort(s, kind="stable")
    return s[order], r[order]


def draw_truth(
    ax: Axes, truth: Any, style: Style, *, caller: str, minus_score: bool = False
) -> Any:
    """Line of the true frequency, or of its distance to the score."""
    s, r = true_points(truth, caller=caller)
    y = r - s if minus_score else r
    (line,) = ax.plot(s, y, color=style.ink, linestyle=(0, (4, 1.5, 1, 1.5)), lw=1.4, zorder=3)
    return line
