"""Evaluate predictions in one call."""

from veridical.evaluation._evaluate import evaluate

__all__ = ["evaluate"]
