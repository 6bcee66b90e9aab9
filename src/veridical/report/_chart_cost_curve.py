"""Expected cost of acting on a model, whatever errors cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.report._chart import Chart, Layout, top_level
from veridical.report._chart_parts import (
    BESIDE,
    by_series,
    named,
    number,
    probability,
    tips,
    x_axis,
    y_axis,
)
from veridical.report._chart_shapes import Columns, joined, numbers
from veridical.report._chart_table import Table, rows_of, short, table_of
from veridical.results import CostCurve

_WIDTH, _HEIGHT = 560, 300
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
    shown = named(curves, CostCurve, caller="cost_curve_chart")
    names = list(shown)
    columns = joined([_columns(name, curve) for name, curve in shown.items()])
    x = probability("place", x_axis("probability cost: share of positives in the costs at stake"))
    y = number("model", y_axis("normalised expected cost", grid=True), zero=True)
    trivial = [{"place": 0, "cost": 0}, {"place": 0.5, "cost": 0.5}, {"place": 1, "cost": 0}]
    layers = [
        {
            "data": {"values": trivial},
            "mark": {"type": "area", "style": "null", "opacity": 0.35},
            "encoding": {"x": number("place", None), "y": number("cost", None)},
        },
        {
            "mark": {"type": "line", "style": "series", "strokeWidth": 1.1, "strokeDash": [5, 3]},
            "encoding": {
                "x": x,
                "y": number("envelope", None),
                **by_series(names, lines=True),
                "order": None,
            },
        },
        {
            "mark": {"type": "line", "style": "series", "strokeWidth": 1.8},
            "encoding": {"x": x, "y": y, **by_series(names, lines=True), "order": None},
        },
        {
            "mark": {"type": "point", "filled": True, "opacity": 0, "size": 120},
            "encoding": {"x": x, "y": y, "tooltip": _tips(several=len(names) > 1)},
        },
    ]
    said = [f"{short(name)}: {curve}." if name else f"{curve}." for name, curve in shown.items()]
    return Chart(
        spec=top_level(
            {"curves": rows_of(columns)},
            data={"name": "curves"},
            width=_WIDTH,
            height=_HEIGHT,
            layer=layers,
        ),
        title=title,
        description=" ".join(said),
        table=_numbers(shown),
        layout=Layout(width=_WIDTH, height=_HEIGHT, beside=BESIDE + 18, max_width=720),
    )


def _columns(name: str, curve: CostCurve) -> Columns:
    at = _thinned(len(curve))
    fields: dict[str, FloatArray] = {
        "place": curve.probability_cost,
        "threshold": curve.cost_share,
        "model": curve.model,
        "envelope": curve.envelope,
    }
    count = len(at)
    return {"series": [name] * count} | {
        field: numbers(values[at], count) for field, values in fields.items()
    }


def _tips(*, several: bool) -> list[dict[str, Any]]:
    return tips(
        *([("series", "series", None)] if several else []),
        ("place", "probability cost", ".3f"),
        ("threshold", "threshold", ".4~f"),
        ("model", "cost", ".4f"),
        ("envelope", "at the best threshold", ".4f"),
    )


def _numbers(curves: Mapping[str, CostCurve]) -> Table:
    header = ("series", "area", "area, best", "Brier", "refinement", "miscalibration")
    return table_of(
        header,
        [
            (name or "model", c.area, c.envelope_area, c.brier, c.refinement, c.miscalibration)
            for name, c in curves.items()
        ],
    )


def _thinned(count: int) -> IntArray:
    """Indices of the corners drawn: all, or evenly spread ones with both ends."""
    if count <= _MOST:
        return np.arange(count)
    return np.linspace(0, count - 1, _MOST).astype(np.intp)
