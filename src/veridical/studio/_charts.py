"""Charts as the pages draw them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical.report._charts import (
    Chart,
    chart_style,
    decision_chart,
    reliability_chart,
    runtime_script,
)
from veridical.results import ReliabilityCurve

__all__ = ["chart_data", "chart_style", "curve_chart", "decision_chart", "runtime_script"]


def curve_chart(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve], title: str | None = None
) -> Chart:
    """Reliability diagram of one curve or of several."""
    return reliability_chart(curves, title=title)


def chart_data(chart: Chart) -> dict[str, Any]:
    """A chart as JSON: what the runtime draws, words and numbers."""
    return {
        "payload": chart.to_payload(),
        "title": chart.title,
        "description": chart.description,
        "table": {"header": list(chart.table.header), "rows": [list(r) for r in chart.table.rows]},
    }
