"""Figures: every one takes a result or raw data and an `ax`, and returns what it drew.

Needs matplotlib, which ``pip install matplotlib`` brings. No figure changes matplotlib's
settings.
"""

from veridical._core.runtime.optional import require

require("matplotlib", extra="plots", purpose="veridical.plots")

from veridical.plots._charts.comparison import ComparisonArtists, comparison
from veridical.plots._charts.convergence import ConvergenceArtists, convergence
from veridical.plots._charts.cost_curve import CostCurveArtists, cost_curve
from veridical.plots._charts.critical_difference import (
    CriticalDifferenceArtists,
    critical_difference,
)
from veridical.plots._charts.decision_curve import DecisionCurveArtists, decision_curve
from veridical.plots._charts.decomposition import DecompositionArtists, decomposition
from veridical.plots._charts.evidence import EvidenceArtists, evidence
from veridical.plots._charts.null import NullArtists, null
from veridical.plots._charts.requirements import RequirementArtists, requirements
from veridical.plots._charts.risk_coverage import RiskCoverageArtists, risk_coverage
from veridical.plots._charts.segments import (
    SegmentArtists,
    SegmentMapArtists,
    segment_map,
    segments,
)
from veridical.plots._diagrams.calibration_map import (
    MapLineArtists,
    MapSimplexArtists,
    calibration_map,
)
from veridical.plots._diagrams.classwise import ClasswiseArtists, classwise
from veridical.plots._diagrams.deviation import deviation
from veridical.plots._diagrams.estimator import from_estimator
from veridical.plots._diagrams.probability_paper import probability_paper
from veridical.plots._diagrams.reliability import reliability
from veridical.plots._diagrams.scores import ScoresArtists, scores
from veridical.plots._diagrams.simplex import SimplexArtists, TetrahedronArtists, simplex
from veridical.plots._diagrams.simplex_function import SimplexFunctionArtists, simplex_function
from veridical.plots._diagrams.trajectory import TrajectoryArtists, trajectory
from veridical.plots._drawing.artists import CurveArtists, DiagramArtists

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
    "RiskCoverageArtists",
    "ScoresArtists",
    "SegmentArtists",
    "SegmentMapArtists",
    "SimplexArtists",
    "SimplexFunctionArtists",
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
    "from_estimator",
    "null",
    "probability_paper",
    "reliability",
    "requirements",
    "risk_coverage",
    "scores",
    "segment_map",
    "segments",
    "simplex",
    "simplex_function",
    "trajectory",
]
