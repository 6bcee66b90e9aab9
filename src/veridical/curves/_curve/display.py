"""Which curve, which bins and which axes a reliability diagram has: one choice for all who draw.

Predictions and the numbers of rows and events decide, never how far off the curve is; the one
look at outcomes is whether they rise with the predictions at all, as an isotonic fit assumes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.drawing.scales import Scale, rounded_ends
from veridical._core.resampling.hypothesis import independent_rows
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import FloatArray
from veridical.binning import Binning, EdgeBins, QuantileBins, UniformBins
from veridical.curves._curve.options import check_curve_options
from veridical.curves._curve.reliability import curve_core
from veridical.curves.shapes import band_corners, curve_pieces, line_corners
from veridical.results import ReliabilityCurve, ReliabilityDisplay

ROWS, EVENTS = 30, 8  # that a bin should have, of the rarer outcome the second
LEAST, MOST = 5, 15  # bins; with fewer than the least a curve is drawn instead
_EXTREME, _NEARLY_ALL = 0.1, 0.9  # a logit axis, where so many predictions are so close to an end
_INSIDE = 0.5  # share of predictions that are neither 0 nor 1, for such an axis
_BARS = 30
_ROUNDING = 1e-12
_MOST_OF_ALL = [0.005, 0.995]  # shares of the predictions between which the axis is
_PLACES = 200  # of a curve without bins that are drawn: more cannot be told apart


def display_of_sample(
    sample: BinarySample,
    *,
    lens: str,
    event: str = "",
    confidence_level: float = 0.95,
    n_samples: int | None = None,
) -> ReliabilityDisplay:
    """What a reliability diagram of a checked binary problem shows.

    Parameters
    ----------
    sample : BinarySample
        Rows, or cells of a summary that stand for them.
    lens : str
        Name of the lens.
    event : str
        What the predictions are the probability of, as `event_of` says it.
    confidence_level : float, default 0.95
        Of the limits, at each point by itself.
    n_samples : int, optional
        Rows, where those of the sample stand for others.

    Notes
    -----
    With at least 30 rows and 8 of the rarer outcome for each of 5 bins there are bins, at most 15:
    of equal width over the range of the predictions, or, where nine of ten predictions are within
    0.1 of an end, with equal numbers expected of the rarer outcome (the sum of min(p, 1 - p)), on
    an axis of log-odds. Few different predictions have a bin each. With fewer rows an isotonic fit
    is drawn with its pointwise band, which holds for every n; where rows have weights or groups, or
    outcomes fall as predictions rise, it would not, and 2 to 4 bins are drawn.
    """
    scores = sample.pooled
    axis = _axis_of(scores)
    size = independent_rows(sample)
    share = float(scores.positive.sum() / scores.weight.sum())
    rarer = size * min(share, 1 - share)
    count = min(MOST, int(min(size / ROWS, rarer / EVENTS)))
    method, interval, reason = "bins", "wilson", ""
    binning: Binning | None = None
    if len(scores.value) <= MOST:
        binning = QuantileBins(MOST)
        reason = "a point for each prediction made"
    elif count >= LEAST:
        binning, reason = _bins(sample, count, axis)
    else:
        few = f"{_few(size, rarer)}: "
        counted = sample.weight is None or sample.weight_type == "frequency"
        if counted and sample.clusters is None and _rises(scores):
            method, interval = "isotonic", "pointwise"
            reason = few + "an isotonic curve instead of bins"
        else:
            binning = _few_bins(scores, axis, size)
            reason = few + "few bins"
    if axis == "logit":
        end = "0" if _near_zero(scores) else "1"
        reason += f"; log-odds axes, as nearly all predictions are close to {end}"
    options = check_curve_options(
        "reliability_curve",
        method=method,
        binning=binning,
        interval=interval,
        confidence_level=confidence_level,
    )
    curve = replace(curve_core(sample, lens, options, caller="reliability_curve"), event=event)
    if n_samples is not None and n_samples != curve.n_samples:
        rows = curve.weight * (n_samples / float(curve.weight.sum()))
        curve = replace(curve, count=rows, n_samples=n_samples)
    return _display(curve, axis, scores, reason)


def display_of_curve(curve: ReliabilityCurve) -> ReliabilityDisplay:
    """What a diagram of a given curve shows: the curve as it is, on axes that fit it.

    For curves a user asked for, and where rows are not at hand.
    """
    places = PooledScores(np.clip(curve.predicted, 0.0, 1.0), curve.weight, curve.observed)
    axis = _axis_of(places)
    shown = _display(curve, axis, places, curve.definition)
    return replace(shown, bar_counts=_spread(curve, shown.bar_edges))


def _spread(curve: ReliabilityCurve, edges: FloatArray) -> FloatArray:
    """Rows between edges, if those of a bin, a block or a cell are spread evenly over it."""
    before = np.concatenate([[0.0], np.cumsum(curve.count)])
    ends = np.ravel([curve.lower, curve.upper], "F")
    reached = np.interp(edges, ends, np.repeat(before, 2)[1:-1])
    reached[0], reached[-1] = 0.0, before[-1]
    return np.diff(reached)


def shared_axes(displays: Mapping[str, ReliabilityDisplay]) -> dict[str, ReliabilityDisplay]:
    """The same diagrams on axes that hold them all: log-odds only if each would have them."""
    every = list(displays.values())
    logit = all(each.axis == "logit" for each in every)
    low, high = min(each.low for each in every), max(each.high for each in every)
    if not logit:
        low, high = _linear_ends(low, high)
    axis = "logit" if logit else "linear"
    return {name: each.on_axis(axis, low, high) for name, each in displays.items()}


def _few(size: float, rarer: float) -> str:
    if size < ROWS * LEAST:
        return f"only {size:,.0f} rows"
    return f"only {rarer:,.0f} rows of the rarer outcome"


def _near_zero(scores: PooledScores) -> bool:
    weight = None if scores.alone else scores.weight
    return float(np.average(scores.value.astype(np.float64, copy=False), weights=weight)) < 0.5


def _axis_of(scores: PooledScores) -> str:
    if scores.alone:  # rows, in order
        ends = np.array([0.0, _EXTREME]).astype(scores.value.dtype)
        above = np.array([1 - _EXTREME, 1.0]).astype(scores.value.dtype)
        zero, low = np.searchsorted(scores.value, ends, side="right") / len(scores.value)
        high, one = np.searchsorted(scores.value, above) / len(scores.value)
        small, large, inside = low, 1 - high, one - zero >= _INSIDE
        return "logit" if inside and max(small, large) >= _NEARLY_ALL else "linear"
    value, weight = scores.value.astype(np.float64, copy=False), scores.weight
    total = float(weight.sum())
    small = float(weight[value <= _EXTREME].sum()) / total
    large = float(weight[value >= 1 - _EXTREME].sum()) / total
    # 0 and 1 themselves are not on such an axis: most predictions have to be.
    inside = float(weight[(value > 0) & (value < 1)].sum()) / total >= _INSIDE
    return "logit" if inside and max(small, large) >= _NEARLY_ALL else "linear"


def _rises(scores: PooledScores) -> bool:
    """Whether outcomes go with predictions: the covariance is not negative."""
    value = scores.value.astype(np.float64)
    mean = np.average(value, weights=scores.weight)
    return float((value - mean) @ scores.positive) >= 0


def _bins(sample: BinarySample, count: int, axis: str) -> tuple[Binning, str]:
    scores = sample.pooled
    if axis == "logit":
        edges = _equal_events(scores, count)
        return EdgeBins(edges), f"{len(edges) + 1} bins of equal expected numbers"
    ends = _linear_ends(*scores.at_share(_MOST_OF_ALL).astype(np.float64).tolist())
    uniform = UniformBins(count, support=ends, min_count=10)
    if uniform.fit(sample).n_cells >= LEAST:
        return uniform, "bins of equal width"
    return QuantileBins(count), f"{count} bins of equal mass"


def _few_bins(scores: PooledScores, axis: str, size: float) -> Binning:
    count = min(max(int(size / 10), 2), LEAST - 1)
    return QuantileBins(count) if axis == "linear" else EdgeBins(_equal_events(scores, count))


def _equal_events(scores: PooledScores, count: int) -> FloatArray:
    """Inner edges of bins with the same expected number of the rarer outcome."""
    value = scores.value.astype(np.float64)
    mass = np.cumsum(scores.weight * np.minimum(value, 1 - value))
    at = np.searchsorted(mass, mass[-1] * np.arange(1, count) / count)
    at = np.unique(at[at < len(value) - 1])
    # Between two predictions, so that the type of the scores does not matter.
    edges = (value[at] + value[at + 1]) / 2
    return np.unique(edges[(edges > 0) & (edges < 1)])


def _linear_ends(low: float, high: float) -> tuple[float, float]:
    """Round ends within [0, 1]; all of it where most would be seen anyway."""
    if high - low >= 0.6:
        return 0.0, 1.0
    pad = max(0.04 * (high - low), 1e-6)
    return rounded_ends(low - pad, high + pad, bottom=0.0, top=1.0)


def _display(
    curve: ReliabilityCurve, axis: str, scores: PooledScores, reason: str
) -> ReliabilityDisplay:
    low, high = _ends(curve, axis, scores)
    shown = _thinned(curve)
    line_x, line_y = _line(shown)
    band: tuple[FloatArray, FloatArray, FloatArray] = (np.empty(0), np.empty(0), np.empty(0))
    if shown.method != "bins" and shown.low is not None:
        band = band_corners(shown, shown.predicted)
    edges = Scale(low, high, "logit" if axis == "logit" else "linear").value(
        np.linspace(0.0, 1.0, _BARS + 1)
    )
    counts = _counts(scores, edges) * (curve.n_samples / float(scores.weight.sum()))
    says, happens = axis_words(curve)
    return ReliabilityDisplay(
        curve=shown,
        axis=axis,
        low=low,
        high=high,
        line_x=line_x,
        line_y=line_y,
        band_x=band[0],
        band_low=band[1],
        band_high=band[2],
        bar_edges=edges,
        bar_counts=counts,
        says=says,
        happens=happens,
        reason=reason,
    )


def _counts(scores: PooledScores, edges: FloatArray) -> FloatArray:
    """Weight between edges, what is beyond them in the first and the last bar."""
    # Means of equal predictions differ from them by rounding, which an edge must not tell.
    inner = (edges[1:-1] - _ROUNDING).astype(scores.value.dtype)
    cuts = np.searchsorted(scores.value, inner)
    return np.diff(scores.cum_w[np.concatenate([[0], cuts, [len(scores.value)]])])


def axis_words(curve: ReliabilityCurve) -> tuple[str, str]:
    """Words of both axes, which name the class.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> axis_words(reliability_curve(["good", "bad"], [0.2, 0.9], pos_label="bad"))
    ('predicted probability of y = bad', 'observed share of y = bad')
    """
    if curve.lens == "confidence":
        return "confidence: probability of the most probable class", "share of rows it was right"
    if not curve.event:
        return "predicted probability", "observed share"
    name, equals, label = curve.event.partition(" = ")
    event = f"{name}{equals}{label.strip(chr(39))}"
    return f"predicted probability of {event}", f"observed share of {event}"


def _ends(curve: ReliabilityCurve, axis: str, scores: PooledScores) -> tuple[float, float]:
    """Ends that hold nearly all predictions, the points and their limits."""
    ends = scores.at_share(_MOST_OF_ALL).astype(np.float64).tolist()
    held = curve.weight > 0.002 * curve.weight.sum()
    seen = [*ends, *curve.predicted[held].tolist(), *curve.observed[held].tolist()]
    limits: list[float] = []
    if curve.low is not None and curve.high is not None:
        held = curve.weight > 0.02 * curve.weight.sum()  # limits of thin bins are cut off
        limits = [*curve.low[held].tolist(), *curve.high[held].tolist()]
    if axis == "linear":
        return _linear_ends(min(*seen, *limits), max(*seen, *limits))
    # On a logit axis 0 and 1 are infinitely far: what cannot be told from them is left out.
    edge = min(0.1 / max(curve.n_samples, 1), 0.01)
    inside = [float(v) for v in [*seen, *limits] if edge < v < 1 - edge] or [0.5]
    low, high = min(inside), max(inside)
    if _near_zero(scores):
        low = max(low, min(v for v in seen if v > edge) / 3) if any(v > edge for v in seen) else low
    else:
        most = [v for v in seen if v < 1 - edge]
        high = min(high, 1 - (1 - max(most)) / 3) if most else high
    return _round_below(low), round(1 - _round_below(1 - high), 12)


def _round_below(p: float) -> float:
    """The next probability below that is 1, 2 or 5 in a power of ten, or the complement of such."""
    small = [float(f"{m}e-{k}") for k in range(1, 10) for m in (5, 2, 1)]
    round_ones = [*(1 - each for each in reversed(small)), *small[1:]]
    return next(each for each in round_ones if each <= p * (1 + 1e-9))


def _thinned(curve: ReliabilityCurve) -> ReliabilityCurve:
    """Of a curve without bins at most 200 places, the ends among them."""
    n = len(curve)
    if curve.method == "bins" or n <= _PLACES:
        return curve
    keep = np.linspace(0, n - 1, _PLACES).astype(np.intp)
    names = ("lower", "upper", "count", "weight", "predicted", "observed", "gap", "low", "high")
    kept: dict[str, Any] = {
        name: None if (values := getattr(curve, name)) is None else values[keep] for name in names
    }
    return replace(curve, **kept)


def _line(curve: ReliabilityCurve) -> tuple[FloatArray, FloatArray]:
    """Corners of the line, NaN where bins are left out."""
    x, y = line_corners(curve, curve.predicted)
    if curve.method == "isotonic":
        return x, y
    breaks = np.flatnonzero(np.diff(curve_pieces(curve))) + 1
    return np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan)
