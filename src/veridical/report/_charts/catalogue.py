"""Charts of results: each takes results, computes nothing, and returns a `Chart`.

A page shows them with ``chart.to_html(identifier)``, and needs once the text of `chart_style` in a
``<style>`` and that of `runtime_script` in a ``<script>`` at the end of its body. What is put on
the page later is drawn by ``veridicalCharts.mountAll(element)``.
"""

from veridical.report._charts.chart import (
    Chart,
    Control,
    Frame,
    Layout,
    Table,
    script_json,
    table_html,
)
from veridical.report._charts.classwise import classwise_chart
from veridical.report._charts.decisions import (
    cost_curve_chart,
    cost_slider,
    decision_chart,
    slider_thresholds,
)
from veridical.report._charts.decomposition import decomposition_chart
from veridical.report._charts.errors import errors_chart, groups_chart
from veridical.report._charts.histogram import score_histogram
from veridical.report._charts.models import comparison_chart, evidence_chart
from veridical.report._charts.parts import chart_style, runtime_script
from veridical.report._charts.reliability import reliability_chart, switchable_reliability
from veridical.report._charts.simplex import simplex_chart
from veridical.report._charts.timeline import TimePanel, evidence_panel, timeline_chart

__all__ = [
    "Chart",
    "Control",
    "Frame",
    "Layout",
    "Table",
    "TimePanel",
    "chart_style",
    "classwise_chart",
    "comparison_chart",
    "cost_curve_chart",
    "cost_slider",
    "decision_chart",
    "decomposition_chart",
    "errors_chart",
    "evidence_chart",
    "evidence_panel",
    "groups_chart",
    "reliability_chart",
    "runtime_script",
    "score_histogram",
    "script_json",
    "simplex_chart",
    "slider_thresholds",
    "switchable_reliability",
    "table_html",
    "timeline_chart",
]
