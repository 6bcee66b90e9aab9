"""One page that answers: the report of a file of predictions."""

from veridical.report._make import make_report
from veridical.report._report import Report

__all__ = ["Report", "make_report"]
