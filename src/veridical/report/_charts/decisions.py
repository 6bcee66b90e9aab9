"""Net benefit and expected cost of acting on a model, and a slider for the costs of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from veridical._core.drawing.words import count_text
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, Table, named, only, short, table_of
from veridical.results import CostCurve, DecisionCurve
from veridical.results.pictures import Picture, cost_curve, decision_curve

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
    >>> [row[1] for row in decision_chart(curve).table.rows]  # 2/5 - 2/5 * 1/4 and 1/5 - 1/5
    ['0.3000', '0.0000']
    """
    shown = named(curves, DecisionCurve, caller="decision_chart")
    return _decisions(shown, title, None)


def _decisions(shown: Mapping[str, DecisionCurve], title: str, chosen: float | None) -> Chart:
    said = " ".join(f"{_who(name)}{str(curve).splitlines()[0]}." for name, curve in shown.items())

    def draw(width: float) -> Picture:
        return decision_curve(shown, width=width, chosen=chosen, title=title, description=said)

    return Chart(title, said, _numbers(shown), draw)


def _who(name: str) -> str:
    return f"{short(name)}: " if name else ""


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
    only(curve, DecisionCurve, caller="cost_slider")
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
    drawn = _decisions({"": curve}, title, slider["threshold"][slider["start"]])
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


def _numbers(curves: Mapping[str, DecisionCurve]) -> Table:
    several = len(curves) > 1
    header = ("threshold", "net benefit", "low", "high", "treat all", "advantage", "rows acted on")
    rows = []
    for name, curve in curves.items():
        columns = (curve.net_benefit, curve.low, curve.high, curve.treat_all, curve.advantage)
        for i in range(len(curve)):
            acted = count_text(curve.called[i] * curve.n_samples)
            row = (f"{curve.threshold[i]:.4g}", *(f"{c[i]:.4f}" for c in columns), acted)
            rows.append((name, *row) if several else row)
    return table_of(("series", *header) if several else header, rows)


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
    >>> chart.table.header[1], chart.table.rows[0][1]  # the Brier score: 2 (0.1^2 + 0.6^2) / 4
    ('area', '0.1850')
    """
    shown = named(curves, CostCurve, caller="cost_curve_chart")
    said = " ".join(f"{_who(name)}{curve}." for name, curve in shown.items())

    def draw(width: float) -> Picture:
        return cost_curve(shown, width=width, title=title, description=said)

    return Chart(title, said, _cost_numbers(shown), draw)


def _cost_numbers(curves: Mapping[str, CostCurve]) -> Table:
    header = ("series", "area", "area, best", "Brier", "refinement", "miscalibration")
    return table_of(
        header,
        [
            (name or "model", c.area, c.envelope_area, c.brier, c.refinement, c.miscalibration)
            for name, c in curves.items()
        ],
    )
