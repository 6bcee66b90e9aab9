"""Net benefit and expected cost of acting on a model, and a slider for the costs of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.report._charts import chart, parts
from veridical.report._charts.chart import Chart, Layout, Table, table_of
from veridical.report._charts.curves import Columns, joined, series_columns
from veridical.report._charts.parts import by_series, layer, mark, number
from veridical.results import CostCurve, DecisionCurve

_LAYOUT = Layout(width=560, height=300, beside=parts.BESIDE + 18, max_width=720)
_OUTPUTS = {
    "ratio": "false negative : false positive",
    "threshold": "act from this probability on",
    "called": "rows acted on",
    "model": "expected cost a row, by the model",
    "all": "... if acting always",
    "none": "... if acting never",
    "benefit": "net benefit of the model",
}
_DEAREST = 199.0  # ratio of costs at the ends of the slider


def decision_chart(
    curves: DecisionCurve | Mapping[str, DecisionCurve],
    *,
    title: str = "Net benefit of acting on the prediction",
) -> Chart:
    """Net benefit against the threshold probability.

    Parameters
    ----------
    curves : DecisionCurve or mapping of name to DecisionCurve
        One curve, or one for each model on the same rows.
    title : str
        Heading.

    Returns
    -------
    Chart
        To be read at the thresholds users would take: there a model is worth using if its line is
        above both "treat all" and "treat none". The band is for each threshold by itself. What
        lies far below zero is cut off.

    Examples
    --------
    >>> from veridical import decision_curve
    >>> curve = decision_curve([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.8], thresholds=[0.2, 0.5])
    >>> rows = decision_chart(curve).spec["datasets"]["curves"]
    >>> [round(row["net_benefit"], 12) for row in rows]  # 2/5 - 2/5 * 1/4 and 1/5 - 1/5
    [0.3, 0.0]
    """
    shown = parts.named(curves, DecisionCurve, caller="decision_chart")
    return Chart(
        spec=_specification(shown),
        title=title,
        description=" ".join(_reading(name, curve) for name, curve in shown.items()),
        table=_numbers(shown),
        layout=_LAYOUT,
    )


def cost_slider(curve: DecisionCurve, *, title: str = "Costs of errors") -> Chart:
    """Net benefit with a slider for what a false negative costs in false positives.

    Parameters
    ----------
    curve : DecisionCurve
        At the thresholds the slider can take, all between 0 and 1, at most 400; those of
        `slider_thresholds` are spread evenly over the ratios of costs.
    title : str
        Heading.

    Returns
    -------
    Chart
        The page shows the threshold the costs imply, t = 1 / (1 + ratio), and for it the share of
        rows acted on, the expected cost a row (of the model, of acting always and never; a false
        positive costs one) and the net benefit. All of it is exact: the slider moves from one
        threshold of the curve to the next.

    Notes
    -----
    With cost 1 for a false positive and r for a false negative the cost a row is FP + r FN, where
    FP and FN are shares of all rows; at t = 1 / (1 + r) it equals r (prevalence - net benefit),
    also with the harm of the curve, so the least cost is the largest net benefit (Vickers & Elkin
    2006, doi 10.1177/0272989X06295361). Shares of rows follow from the curve: called = TP + FP
    and net benefit = TP - FP t / (1 - t) - harm.

    Examples
    --------
    At a threshold of one half errors cost the same: one false positive in five rows.

    >>> from veridical import decision_curve
    >>> curve = decision_curve([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.8], thresholds=[0.2, 0.5])
    >>> table = cost_slider(curve).slider
    >>> table["threshold"], [round(share, 6) for share in table["false_positive"]]
    ([0.5, 0.2], [0.2, 0.4])
    """
    parts.only(curve, DecisionCurve, caller="cost_slider")
    t = curve.threshold
    if not (1 <= len(t) <= 400 and t.min() > 0 and t.max() < 1):
        hint = "e.g. `decision_curve(..., thresholds=slider_thresholds())`."
        got = f"{len(t)} from {t.min():g} to {t.max():g}" if len(t) else "none"
        expected = "at 1 to 400 thresholds inside (0, 1)"
        raise invalid("cost_slider", "curve", expected, got, hint=hint)
    # From the threshold of dear false positives to that of dear false negatives.
    order = np.arange(len(t))[::-1]
    odds = t / (1 - t)
    true = (curve.net_benefit + curve.harm + curve.called * odds) / (1 + odds)
    slider = {
        "threshold": t[order].tolist(),
        "true_positive": true[order].tolist(),
        "false_positive": (curve.called - true)[order].tolist(),
        "prevalence": curve.prevalence,
        "harm": curve.harm,
        "start": int(np.argmin(np.abs(t[order] - 0.5))),
        "outputs": _OUTPUTS,
    }
    drawn = decision_chart(curve, title=title)
    chosen = {"x": {"datum": {"expr": "chosen"}, "type": "quantitative"}}
    drawn.spec["layer"].append(layer(mark("rule", "alarm"), chosen, data=[{}]))
    drawn.spec["params"] = [{"name": "chosen", "value": slider["threshold"][slider["start"]]}]
    said = f"Net benefit with a line at the threshold chosen. {drawn.description}"
    return replace(drawn, description=said, slider=slider)


def slider_thresholds(count: int = 201) -> FloatArray:
    """Thresholds for `cost_slider`, evenly spread over the logarithm of the ratio of costs.

    From 1 : 199 to 199 : 1; with an odd count errors that cost the same are among them.

    Examples
    --------
    >>> slider_thresholds(3).round(12).tolist()
    [0.005, 0.5, 0.995]
    """
    reach = float(np.log(_DEAREST))
    return 1 / (1 + np.exp(np.linspace(reach, -reach, count)))


def _specification(curves: Mapping[str, DecisionCurve]) -> dict[str, Any]:
    names = list(curves)
    first = next(iter(curves.values()))
    fields = ("threshold", "net_benefit", "low", "high", "called", "treat_all")
    columns = [
        series_columns(name, {field: getattr(curve, field) for field in fields})
        for name, curve in curves.items()
    ]
    # No net benefit is above the prevalence; where few rows are treated, limits can be far above.
    top = max(float(curve.high.max()) for curve in curves.values())
    top = max(min(top, 1.5 * first.prevalence), first.prevalence, 1e-6)
    ends = [float(end) for c in curves.values() for end in (c.threshold.min(), c.threshold.max())]
    reach = [min(ends), max(ends)]
    axis = parts.x_axis("threshold probability", tickCount=6)
    x = number("threshold", axis, domain=reach, nice=False)
    axis = parts.y_axis("net benefit (true positives a row)", grid=True)
    y = number("net_benefit", axis, domain=[-0.25 * top, 1.06 * top], nice=False)
    tip = parts.tips(
        ("threshold", "threshold", ".4~f"),
        ("net_benefit", "net benefit", ".4f"),
        *parts.limit_tips(".4f"),
        ("treat_all", "treating all", ".4f"),
        ("called", "rows acted on", ".1%"),
        several=len(names) > 1,
    )
    place = {"x": x, "y": y}
    limits = {"x": x, "y": number("low", None), "y2": {"field": "high"}}
    layers = [
        layer(
            mark("line", "reference", strokeDash=[7, 3], clip=True),
            {"x": x, "y": number("treat_all", None)},
            where={"field": "series", "equal": names[0]},
        ),
        layer(mark("rule", "reference"), {"y": {"datum": 0}}, data=[{}]),
        layer(parts.AREA | {"clip": True}, limits | by_series(names, lines=True)),
        layer(
            mark("line", "series", strokeWidth=1.8, clip=True),
            place | by_series(names, dash=True, lines=True),
        ),
        layer(parts.touch(160) | {"clip": True}, place | {"tooltip": tip}),
        _label("treat none", {"x": {"value": 0}, "y": {"datum": 0}}, "left", 10),
        *_treat_all_label(first, -0.25 * top, reach),
    ]
    return _plot(columns, layers)


def _plot(columns: list[Columns], layers: list[dict[str, Any]]) -> dict[str, Any]:
    return chart.one_plot("curves", chart.rows_of(joined(columns)), _LAYOUT, layer=layers)


def _treat_all_label(
    curve: DecisionCurve, bottom: float, reach: list[float]
) -> list[dict[str, Any]]:
    """Words left of where the line of treating all leaves the chart, if there is room."""
    if curve.prevalence >= 1:
        return []
    odds = (curve.prevalence - bottom) / (1 - curve.prevalence)
    left = odds / (1 + odds)
    if not reach[0] + 0.3 * (reach[1] - reach[0]) < left <= reach[1]:
        return []
    return [_label("treat all", {"x": {"datum": left}, "y": {"value": "height"}}, "right", -8)]


def _label(text: str, place: dict[str, Any], align: str, dy: int) -> dict[str, Any]:
    inward = -10 if align == "right" else 4
    words = mark("text", "hint", text=text, align=align, dx=inward, dy=dy)
    return layer(words, place, data=[{}])


def _reading(name: str, curve: DecisionCurve) -> str:
    who = f"{chart.short(name)}: " if name else ""
    return f"{who}{str(curve).splitlines()[0]}."


def _numbers(curves: Mapping[str, DecisionCurve]) -> Table:
    several = len(curves) > 1
    header = ("threshold", "net benefit", "low", "high", "treat all", "advantage", "rows acted on")
    rows = []
    for name, curve in curves.items():
        columns = (curve.net_benefit, curve.low, curve.high, curve.treat_all, curve.advantage)
        for i in range(len(curve)):
            acted = chart.count_words(curve.called[i] * curve.n_samples)
            row = (f"{curve.threshold[i]:.4g}", *(f"{c[i]:.4f}" for c in columns), acted)
            rows.append((name, *row) if several else row)
    return table_of(("series", *header) if several else header, rows)


_MOST = 400  # corners drawn; a curve of a million predictions has two million


def cost_curve_chart(
    curves: CostCurve | Mapping[str, CostCurve],
    *,
    title: str = "Expected cost, whatever errors cost",
) -> Chart:
    """Normalised expected cost against the share of positives in the costs at stake.

    Parameters
    ----------
    curves : CostCurve or mapping of name to CostCurve
        One curve, or one for each model on the same rows.
    title : str
        Heading.

    Returns
    -------
    Chart
        The solid line takes the thresholds the costs imply, the dashed one those that would have
        been best on these rows: between them lies the cost of miscalibration. Where the solid line
        is above the grey area, deciding without the model is cheaper. At most 400 corners of a
        curve are drawn.

    Examples
    --------
    >>> from veridical import cost_curve
    >>> chart = cost_curve_chart(cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]))
    >>> max(row["model"] for row in chart.spec["datasets"]["curves"])
    0.5
    """
    shown = parts.named(curves, CostCurve, caller="cost_curve_chart")
    names = list(shown)
    axis = parts.x_axis("probability cost: share of positives in the costs at stake")
    x = parts.probability("place", axis)
    y = number("model", parts.y_axis("normalised expected cost", grid=True), zero=True)
    apart = by_series(names, lines=True) | {"order": None}
    tip = parts.tips(
        ("place", "probability cost", ".3f"),
        ("threshold", "threshold", ".4~f"),
        ("model", "cost", ".4f"),
        ("envelope", "at the best threshold", ".4f"),
        several=len(names) > 1,
    )
    trivial: list[dict[str, Any]] = [
        {"place": 0, "cost": 0},
        {"place": 0.5, "cost": 0.5},
        {"place": 1, "cost": 0},
    ]
    layers = [
        layer(
            mark("area", "null", opacity=0.35),
            {"x": number("place", None), "y": number("cost", None)},
            data=trivial,
        ),
        layer(
            mark("line", "series", strokeWidth=1.1, strokeDash=[5, 3]),
            {"x": x, "y": number("envelope", None)} | apart,
        ),
        layer(mark("line", "series", strokeWidth=1.8), {"x": x, "y": y} | apart),
        layer(parts.touch(120), {"x": x, "y": y, "tooltip": tip}),
    ]
    said = [
        f"{chart.short(name)}: {curve}." if name else f"{curve}." for name, curve in shown.items()
    ]
    columns = [series_columns(name, _corners(curve)) for name, curve in shown.items()]
    return Chart(
        spec=_plot(columns, layers),
        title=title,
        description=" ".join(said),
        table=_cost_numbers(shown),
        layout=_LAYOUT,
    )


def _corners(curve: CostCurve) -> dict[str, FloatArray]:
    """Corners of a curve that are drawn: all, or evenly spread ones with both ends."""
    n = len(curve)
    at = np.linspace(0, n - 1, min(n, _MOST)).astype(np.intp)
    return {
        "place": curve.probability_cost[at],
        "threshold": curve.cost_share[at],
        "model": curve.model[at],
        "envelope": curve.envelope[at],
    }


def _cost_numbers(curves: Mapping[str, CostCurve]) -> Table:
    header = ("series", "area", "area, best", "Brier", "refinement", "miscalibration")
    return table_of(
        header,
        [
            (name or "model", c.area, c.envelope_area, c.brier, c.refinement, c.miscalibration)
            for name, c in curves.items()
        ],
    )
