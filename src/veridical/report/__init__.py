"""One page that answers: the report of a file of predictions, and that of a monitor."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.report._monitor.look import MonitorLook
    from veridical.report._monitor.monitor import MonitorReport, MonitorSettings, monitor_report
    from veridical.report._sections.make import make_report
    from veridical.report._sections.report import Report

__all__ = [
    "MonitorLook",
    "MonitorReport",
    "MonitorSettings",
    "Report",
    "make_report",
    "monitor_report",
]

__getattr__, __dir__ = late_names(__name__)
