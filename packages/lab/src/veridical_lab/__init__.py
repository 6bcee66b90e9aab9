"""Reproductions of the literature: its tables and figures, regenerated and judged."""

from veridical_lab._frame.catalogue import Experiment
from veridical_lab._frame.facts import ExperimentResult, Fact, FactCheck
from veridical_lab._frame.run import list_experiments, run_experiment

__all__ = [
    "Experiment",
    "ExperimentResult",
    "Fact",
    "FactCheck",
    "list_experiments",
    "run_experiment",
]
