"""Figures of papers: convergence, critical differences, training, probability paper, simplexes."""

from veridical_lab.plots.convergence import ConvergenceArtists, convergence
from veridical_lab.plots.critical_difference import CriticalDifferenceArtists, critical_difference
from veridical_lab.plots.probability_paper import probability_paper
from veridical_lab.plots.simplex_function import SimplexFunctionArtists, simplex_function
from veridical_lab.plots.trajectory import TrajectoryArtists, trajectory

__all__ = [
    "ConvergenceArtists",
    "CriticalDifferenceArtists",
    "SimplexFunctionArtists",
    "TrajectoryArtists",
    "convergence",
    "critical_difference",
    "probability_paper",
    "simplex_function",
    "trajectory",
]
