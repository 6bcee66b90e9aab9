"""Reproductions of the literature: its tables and figures, regenerated and judged."""

from veridical.experiments._frame.catalogue import Experiment
from veridical.experiments._frame.run import list_experiments, run_experiment

__all__ = ["Experiment", "list_experiments", "run_experiment"]
