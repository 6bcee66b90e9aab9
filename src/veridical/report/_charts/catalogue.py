"""Charts of results: each takes results, computes nothing, and returns a `Chart`.

A page shows them with ``chart.to_html(identifier)``, and needs once the text of `chart_style` in a
``<style>`` and that of `runtime_script` in a ``<script>`` at the end of its body. Figures that are
put on the page later are brought to life by ``veridicalCharts.mount(figure)``.
"""

from veridical.report._charts.chart import (
    Chart,
    Control,
    Frame,
    Table,
    chart_style,
    runtime_script,
    script_json,
    table_html,
)
from veridical.report._charts.decisions import (
    cost_curve_chart,
    cost_slider,
    decision_chart,
    slider_thresholds,
)
from veridical.report._charts.estimates import (
    comparison_chart,
    errors_chart,
    evidence_chart,
    groups_chart,
)
from veridical.report._charts.parts import decomposition_chart, simplex_chart
from veridical.report._charts.reliability import (
    classwise_chart,
    reliability_chart,
    score_histogram,
    switchable_reliability,
)
from veridical.report._charts.segments import segment_map_chart, segments_chart
from veridical.report._charts.timeline import evidence_panel, timeline_chart
from veridical.results.pictures import TimePanel

__all__ = [
    "Chart",
    "Control",
    "Frame",
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
    "segment_map_chart",
    "segments_chart",
    "simplex_chart",
    "slider_thresholds",
    "switchable_reliability",
    "table_html",
    "timeline_chart",
]
