"""A status as text, for the command line."""

from veridical.monitoring._judge.prometheus import prometheus_text

__all__ = ["prometheus_text"]
