"""Net benefit and expected cost of acting on predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from veridical._core.drawing.look import series_class
from veridical._core.drawing.picture import Panel, Picture, draw_key, key_height, room_left
from veridical._core.drawing.scales import Scale
from veridical._core.drawing.words import LINE, wrap
from veridical.results.decision_curves import CostCurve, DecisionCurve

_HEIGHT = 300.0
_MOST = 400  # corners drawn; a curve of a million predictions has two million


def decision_curve(
    curves: DecisionCurve | Mapping[str, DecisionCurve],
    *,
    width: float = 640,
    classes: Sequence[str] | None = None,
    chosen: float | None = None,
    title: str = "Net benefit of acting on the prediction",
    description: str = "",
) -> Picture:
    """Net benefit against the threshold, beside treating all and none.

    Parameters
    ----------
    curves : DecisionCurve or mapping of name to DecisionCurve
        One, or several on the same rows.
    width : float, default 640
        Pixels.
    classes : sequence of str, optional
        Look of each, as in `reliability`.
    chosen : float, optional
        A threshold to be marked; a script finds the line by its class "chosen".
    """
    every: dict[str, DecisionCurve] = (
        {"": curves} if isinstance(curves, DecisionCurve) else dict(curves)
    )
    first = next(iter(every.values()))
    # No net benefit is above the prevalence; where few rows are treated, limits can be far above.
    top = max(float(curve.high.max()) for curve in every.values())
    top = max(min(top, 1.5 * first.prevalence), first.prevalence, 1e-6)
    ends = [float(end) for c in every.values() for end in (c.threshold.min(), c.threshold.max())]
    x = Scale(min(ends), max(max(ends), min(ends) + 1e-6))
    y = Scale(-0.25 * top, 1.06 * top)
    looks = _looks(len(every), classes)
    panel = _panel(every, looks, (width, x, y), "net benefit: true positives a row", title)
    panel.picture.description = description
    with panel.clipped():
        panel.line([x.low, x.high], [0.0, 0.0], "reference")
        panel.line(first.threshold, first.treat_all, "reference dash")
        for curve, look in zip(every.values(), looks, strict=True):
            with panel.picture.group(look):
                panel.band(curve.threshold, curve.low, curve.high)
                panel.line(curve.threshold, curve.net_benefit)
        if chosen is not None:
            # A script moves the line: it is told how numbers become pixels.
            scale = f"{panel.left:.1f} {panel.width:.1f} {x.low} {x.high}"
            moved = f"translate({float(panel.across(chosen)):.1f})"
            line = f"M0 {panel.top:.1f}v{panel.height:.1f}"
            with panel.picture.group("alarm"):
                panel.picture.add("path", "line chosen", d=line, transform=moved, data_scale=scale)
    for (name, curve), look in zip(every.items(), looks, strict=True):
        with panel.picture.group(look):
            _decision_tips(panel, name, curve)
    _strategies(panel, first)
    panel.axis_below("threshold: act from this probability on")
    return panel.picture


def cost_curve(
    curves: CostCurve | Mapping[str, CostCurve],
    *,
    width: float = 640,
    title: str = "Expected cost, whatever errors cost",
    description: str = "",
) -> Picture:
    """Normalised expected cost against the share of positives in the costs at stake."""
    every: dict[str, CostCurve] = {"": curves} if isinstance(curves, CostCurve) else dict(curves)
    top = max(0.5, max(float(curve.model.max()) for curve in every.values()))
    looks = _looks(len(every), None)
    scales = (width, Scale(0.0, 1.0), Scale(0.0, 1.05 * top))
    panel = _panel(every, looks, scales, "normalised expected cost", title)
    panel.picture.description = description
    panel.band([0.0, 0.5, 1.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0], "null")
    for curve, look in zip(every.values(), looks, strict=True):
        at = np.linspace(0, len(curve) - 1, min(len(curve), _MOST)).astype(np.intp)
        place = curve.probability_cost[at]
        with panel.picture.group(look):
            panel.line(place, curve.envelope[at], "line thin dash")
            panel.line(place, curve.model[at])
    panel.axis_below("share of positives in the costs at stake")
    return panel.picture


def _looks(count: int, classes: Sequence[str] | None) -> list[str]:
    if classes is not None:
        return list(classes)
    return ["after"] if count == 1 else [series_class(i) for i in range(count)]


def _panel(
    every: Mapping[str, object],
    looks: Sequence[str],
    scales: tuple[float, Scale, Scale],
    words: str,
    title: str,
) -> Panel:
    width, x, y = scales
    names = list(every)
    key = key_height(names, width) if len(names) > 1 else 0.0
    left = room_left(y, _HEIGHT)
    head = LINE * len(wrap(words, width)) + 14
    picture = Picture(width, key + head + _HEIGHT + 3 * LINE + 8, title)
    if len(names) > 1:
        draw_key(picture, names, looks, 0.0)
    panel = Panel(picture, left, key + head, width - left - 10, _HEIGHT, x, y)
    panel.axis_left(words)
    return panel


def _decision_tips(panel: Panel, name: str, curve: DecisionCurve) -> None:
    for i in np.unique(np.linspace(0, len(curve) - 1, 40).astype(np.intp)):
        value = float(curve.net_benefit[i])
        if not panel.y.low <= value <= panel.y.high:
            continue
        tip = (
            (f"{name}\n" if name else "")
            + f"threshold {curve.threshold[i]:.3g}: net benefit {value:.4f}\n"
            + f"limits {curve.low[i]:.4f} to {curve.high[i]:.4f}\n"
            + f"treating all {curve.treat_all[i]:.4f}; rows acted on {curve.called[i]:.1%}"
        )
        at = float(panel.across(curve.threshold[i])), float(panel.down(value))
        panel.picture.add("circle", "touch", tip=tip, cx=at[0], cy=at[1], r=10.0)


def _strategies(panel: Panel, curve: DecisionCurve) -> None:
    """Names of the two lines without a model, where nothing else is written."""
    zero = float(panel.down(0.0))
    panel.picture.text_where_free([(panel.left + 4, zero + LINE, "start")], "treat none", "muted")
    bottom = panel.y.low
    inside = np.flatnonzero(curve.treat_all > bottom)
    if not len(inside):
        return
    x, y = float(panel.across(curve.threshold[inside[-1]])), panel.top + panel.height - 8
    places = [(x - 12, y, "end"), (x + 8, y, "start")]
    fits = [place for place in places if place[2] == "start" or x - panel.left > 80]
    panel.picture.text_where_free(fits, "treat all", "muted")  # type: ignore[arg-type]
