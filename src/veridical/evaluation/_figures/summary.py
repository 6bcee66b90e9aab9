"""The table of sufficient statistics of any data, and single errors and curves of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.data.validation import is_integer
from veridical._core.typing import ArrayLike
from veridical.curves.core import check_curve_options, curve_of_summary
from veridical.evaluation._data.read import DataRequest
from veridical.evaluation._data.sums import SumsSource
from veridical.exceptions import invalid
from veridical.frames.grid import RESOLUTION
from veridical.inference.core import as_estimator
from veridical.lenses import Binary
from veridical.lenses.reading import RawData
from veridical.miscalibration import BinnedError, Estimator
from veridical.miscalibration.core import MeanScore
from veridical.results import ReliabilityCurve
from veridical.summaries import GridSummary

_CALLER = "grid_summary"


def grid_summary(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: str | list[str] | tuple[str, ...] | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: int = 15,
    sample_weight: Any = None,
    by: Any = None,
    by_bins: int = 4,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    resolution: int = RESOLUTION,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> GridSummary:
    """Sum up rows once, so that everything can be asked of the sums later.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight, by, by_bins
    scale, missing, normalize
        As in :func:`evaluate`: arrays, or a frame, query or file with column names.
    lens : lens or name, optional
        What the summary is to answer. Two classes: "binary" (default), "confidence", "classwise"
        or ``ClassSpecific(label)``. More classes: any of the last three, whichever is given.
    n_bins : int, default 15
        Equal-width bins whose sums are exact, and with them those of any divisor of their number.
    resolution : int, default 2048
        Cells are no wider than 1/resolution in probability, and 64/resolution in log-odds; a
        multiple of 64.
    engine : {"auto", "memory", "pushdown"}
        Who sums up: the engine of a query or a large file, or this process; "pushdown" asks the
        engine of any frame or file.

    Returns
    -------
    GridSummary
        `print` it, save it, merge it with others made alike, and pass it to :func:`evaluate` or
        :func:`calibration_tests`.

    Notes
    -----
    One pass, O(n) for each problem; at most about 4.5 x `resolution` entries for each problem and
    group, whatever n is. Summaries can be merged only if they were made with the same classes: pass
    `labels` where a part may lack one.

    Examples
    --------
    >>> summary = grid_summary([0, 1, 1, 1], [0.25, 0.25, 0.75, 1.0], n_bins=2)
    >>> summary.n_samples, summary.problems
    (4, ('binary',))
    >>> from veridical.binning import UniformBins
    >>> summary.summary(UniformBins(2)).sum_wy.tolist()
    [[1.0, 2.0]]
    """
    if not (is_integer(n_bins) and n_bins >= 1):
        hint = "bins must be known before the rows are; 15 is the default."
        raise invalid(_CALLER, "n_bins", "a positive integer", repr(n_bins), hint=hint)
    if not (is_integer(resolution) and resolution >= 64 and resolution % 64 == 0):
        hint = f"{RESOLUTION} is the default."
        raise invalid(_CALLER, "resolution", "a multiple of 64", repr(resolution), hint=hint)
    reading = Reading(scale, missing, normalize, by_bins).checked(caller=_CALLER)
    data = RawData(
        y_true,
        y_prob,
        y=y,
        prob=prob,
        labels=labels,
        pos_label=pos_label,
        by=by,
        reading=reading,
    )
    request = DataRequest(
        data.weighted(sample_weight),
        lens=lens,
        n_bins=int(n_bins),
        caller=_CALLER,
        resolution=int(resolution),
    )
    return request.summed(engine).grid


def measure_summary(
    estimator: Estimator, summary: GridSummary, *, lens: Any = None, group: Any = None
) -> float:
    """Measure a calibration error or mean score from sums alone.

    Parameters
    ----------
    estimator : Estimator
        Any, e.g. ``SmoothError()``.
    summary : GridSummary
        What :func:`grid_summary` made.
    lens : lens or name, optional
        Default the binary lens for two classes; for more the confidence, of a score the whole
        prediction.
    group : object, optional
        Key of one of its groups; default all rows.

    Returns
    -------
    float
        Exactly that of the rows for errors of the bins of the summary and for scores of whole
        predictions; otherwise that of rows moved to the mean of their cell.

    Notes
    -----
    O(number of cells) for most estimators, its square for kernel estimators: a few thousand cells
    stand for any number of rows.

    Examples
    --------
    >>> from veridical.evaluation import grid_summary
    >>> summary = grid_summary([0, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    >>> measure_summary(BinnedError(), summary)
    0.25
    """
    caller = "measure_summary"
    estimator = as_estimator(estimator, caller=caller)
    source = _source(summary, lens, group, caller)
    if lens is None and isinstance(estimator, MeanScore):
        return source.scores[estimator.name]
    if lens is None and estimator.whole and len(source.classes) > 2:
        hint = "pass the rows to it, or a lens of one probability."
        expected = "one of sums, which hold no whole vectors"
        got = f"{estimator.name} of {len(source.classes)} classes"
        raise invalid(caller, "estimator", expected, got, hint=hint)
    return measure_source(estimator, source)


def measure_source(estimator: Estimator, source: SumsSource) -> float:
    """Measure a checked estimator from sums."""
    if isinstance(estimator, MeanScore) and isinstance(source.lens, Binary):
        return source.scores[estimator.name]
    hard = isinstance(estimator, BinnedError) and estimator.assignment == "hard"
    if isinstance(estimator, BinnedError) and hard and estimator.region is None:
        return estimator.from_summary(source.binned(estimator, source.lens))
    if source.kind == "classwise":
        hint = "measure one class at a time with `lens=ClassSpecific(label)`."
        expected = "of one problem for this estimator"
        raise invalid(source.caller, "lens", expected, "'classwise'", hint=hint)
    return estimator.measure(source.binary)


def summary_curve(
    summary: GridSummary,
    *,
    lens: Any = None,
    group: Any = None,
    method: Literal["bins", "isotonic", "density", "smooth"] = "bins",
    n_bins: Any = None,
    strategy: Literal["uniform", "quantile"] = "uniform",
    bandwidth: float | str | None = None,
    kernel: str | None = None,
    interval: str | None = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
) -> ReliabilityCurve:
    """Reliability curve from sums alone.

    Parameters
    ----------
    summary : GridSummary
        What :func:`grid_summary` made.
    lens, group
        As in :func:`measure_summary`.
    n_bins : int, "sqrt", "cbrt" or "cv", optional
        Number of bins; default those of the summary, which are exact.
    method, strategy, bandwidth, kernel, interval, confidence_level, n_resamples, rng
        As in :func:`reliability_curve`. Weighted rows cannot be drawn from sums, so intervals
        that draw them, or count rows, are refused for weights.

    Returns
    -------
    ReliabilityCurve
        `count` and `n_samples` are of rows.

    Examples
    --------
    >>> from veridical.evaluation import grid_summary
    >>> summary = grid_summary([0, 1, 1, 1], [0.25, 0.25, 0.75, 1.0], n_bins=2)
    >>> curve = summary_curve(summary)
    >>> curve.predicted.tolist(), curve.observed.tolist(), curve.count.tolist()
    ([0.25, 0.875], [0.5, 1.0], [2.0, 2.0])
    """
    caller = "summary_curve"
    source = _source(summary, lens, group, caller)
    if source.kind == "classwise":
        hint = "use `ClassSpecific(label)` for one class."
        raise invalid(caller, "lens", "of one problem", "'classwise'", hint=hint)
    options = check_curve_options(
        caller,
        method=method,
        n_bins=summary.n_bins if n_bins is None else n_bins,
        strategy=strategy,
        bandwidth=bandwidth,
        kernel=kernel,
        interval=interval,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
    )
    return curve_of_summary(source.grid, source.lens, options, caller=caller)


def _source(summary: Any, lens: Any, group: Any, caller: str) -> SumsSource:
    if not isinstance(summary, GridSummary):
        hint = "make one with `grid_summary`."
        raise invalid(caller, "summary", "a GridSummary", type(summary).__name__, hint=hint)
    source = DataRequest(RawData(summary), lens=lens, caller=caller).read("auto")
    assert isinstance(source, SumsSource)
    if group is not None:
        source = replace(source, grid=summary.group(group))
    if source.kind != "classwise":
        _ = source.cells  # refuses a lens that sums cannot answer
    return source
