"""Charts and pages, for the studio and the command line."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.report._charts.catalogue import (
        Chart,
        chart_style,
        decision_chart,
        reliability_chart,
        runtime_script,
    )
    from veridical.report._content.request import ReportRequest
    from veridical.report._monitor.monitor import since_page
    from veridical.report._sections.make import build_report

__all__ = [
    "Chart",
    "ReportRequest",
    "build_report",
    "chart_style",
    "decision_chart",
    "reliability_chart",
    "runtime_script",
    "since_page",
]

__getattr__, __dir__ = late_names(__name__)
