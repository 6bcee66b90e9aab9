"""Streams of predictions whose calibration drifts in a known way."""

from veridical_lab.simulation.drift import DriftBatch, DriftStream, LabelDelay
from veridical_lab.simulation.kinds import GroupDrift, PriorShift, TaskPredictions, TemperatureDrift

__all__ = [
    "DriftBatch",
    "DriftStream",
    "GroupDrift",
    "LabelDelay",
    "PriorShift",
    "TaskPredictions",
    "TemperatureDrift",
]
