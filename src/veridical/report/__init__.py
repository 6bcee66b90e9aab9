"""One page that answers: the report of a file of predictions, and that of a monitor."""

from veridical.report._make import make_report
from veridical.report._monitor_page import monitor_report
from veridical.report._monitor_report import MonitorReport, MonitorSettings
from veridical.report._report import Report

__all__ = ["MonitorReport", "MonitorSettings", "Report", "make_report", "monitor_report"]
