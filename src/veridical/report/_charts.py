"""Charts of results: each takes results, computes nothing, and returns a `Chart`.

A page shows them with ``chart.to_html(identifier)``, and needs once the text of `chart_style` in a
``<style>`` and that of `runtime_script` in a ``<script>`` at the end of its body. What is put on
the page later is drawn by ``veridicalCharts.mountAll(element)``.
"""

from veridical.report._chart import Chart, Control, Frame, Layout
from veridical.report._chart_classwise import classwise_chart
from veridical.report._chart_cost_curve import cost_curve_chart
from veridical.report._chart_decisions import cost_slider, decision_chart, slider_thresholds
from veridical.report._chart_decomposition import decomposition_chart
from veridical.report._chart_errors import errors_chart, groups_chart
from veridical.report._chart_histogram import score_histogram
from veridical.report._chart_markup import script_json, table_html
from veridical.report._chart_models import comparison_chart, evidence_chart
from veridical.report._chart_reliability import reliability_chart
from veridical.report._chart_simplex import simplex_chart
from veridical.report._chart_table import Table
from veridical.report._chart_timeline import TimePanel, evidence_panel, timeline_chart
from veridical.report._chart_variants import switchable_reliability
from veridical.report._vega import chart_style, runtime_script

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
