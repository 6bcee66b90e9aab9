"""Evaluate predictions in one call, and compare models."""

from veridical.evaluation._compare import compare
from veridical.evaluation._evaluate import evaluate

__all__ = ["compare", "evaluate"]
