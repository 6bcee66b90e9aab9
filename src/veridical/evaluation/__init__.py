"""Evaluate predictions in one call, and compare models."""

from veridical.evaluation._compare import compare
from veridical.evaluation._evaluate import evaluate
from veridical.evaluation._tests import calibration_tests

__all__ = ["calibration_tests", "compare", "evaluate"]
