"""Figures: every one takes a result or raw data and an `ax`, and returns what it drew.

Needs matplotlib, which ``pip install "veridical[plots]"`` brings. No figure changes matplotlib's
settings.
"""

from veridical._core.optional import require

require("matplotlib", extra="plots", purpose="veridical.plots")

from veridical.plots._artists import CurveArtists, DiagramArtists  # noqa: E402
from veridical.plots._calibration_map import calibration_map  # noqa: E402
from veridical.plots._calibration_map_line import MapLineArtists  # noqa: E402
from veridical.plots._calibration_map_simplex import MapSimplexArtists  # noqa: E402
from veridical.plots._classwise import ClasswiseArtists, classwise  # noqa: E402
from veridical.plots._comparison import ComparisonArtists, comparison  # noqa: E402
from veridical.plots._convergence import ConvergenceArtists, convergence  # noqa: E402
from veridical.plots._cost_curve import CostCurveArtists, cost_curve  # noqa: E402
from veridical.plots._critical_difference import CriticalDifferenceArtists, critical_difference  # noqa: E402
from veridical.plots._decision_curve import DecisionCurveArtists, decision_curve  # noqa: E402
from veridical.plots._decomposition import DecompositionArtists, decomposition  # noqa: E402
from veridical.plots._deviation import deviation  # noqa: E402
from veridical.plots._evidence import EvidenceArtists, evidence  # noqa: E402
from veridical.plots._null import NullArtists, null  # noqa: E402
from veridical.plots._probability_paper import probability_paper  # noqa: E402
from veridical.plots._reliability import reliability  # noqa: E402
from veridical.plots._requirements import RequirementArtists, requirements  # noqa: E402
from veridical.plots._scores import ScoresArtists, scores  # noqa: E402
from veridical.plots._simplex import SimplexArtists, simplex  # noqa: E402
from veridical.plots._tetrahedron import TetrahedronArtists  # noqa: E402
from veridical.plots._trajectory import TrajectoryArtists, trajectory  # noqa: E402

__all__ = [
    "ClasswiseArtists",
    "ComparisonArtists",
    "ConvergenceArtists",
    "CostCurveArtists",
    "CriticalDifferenceArtists",
    "CurveArtists",
    "DecisionCurveArtists",
    "DecompositionArtists",
    "DiagramArtists",
    "EvidenceArtists",
    "MapLineArtists",
    "MapSimplexArtists",
    "NullArtists",
    "RequirementArtists",
    "ScoresArtists",
    "SimplexArtists",
    "TetrahedronArtists",
    "TrajectoryArtists",
    "calibration_map",
    "classwise",
    "comparison",
    "convergence",
    "cost_curve",
    "critical_difference",
    "decision_curve",
    "decomposition",
    "deviation",
    "evidence",
    "null",
    "probability_paper",
    "reliability",
    "requirements",
    "scores",
    "simplex",
    "trajectory",
]
