"""Figures: every one takes a result or raw data and an `ax`, and returns what it drew.

Needs matplotlib, which ``pip install matplotlib`` brings. No figure changes matplotlib's
settings.
"""

from typing import TYPE_CHECKING

from veridical._core.runtime.moved import moved_error
from veridical._core.runtime.optional import require

require("matplotlib", extra="plots", purpose="veridical.plots")

from veridical.plots._charts.comparison import ComparisonArtists, comparison
from veridical.plots._charts.cost_curve import CostCurveArtists, cost_curve
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
from veridical.plots._diagrams.reliability import reliability
from veridical.plots._diagrams.scores import ScoresArtists, scores
from veridical.plots._diagrams.simplex import SimplexArtists, TetrahedronArtists, simplex
from veridical.plots._drawing.artists import CurveArtists, DiagramArtists

__all__ = [
    "ClasswiseArtists",
    "ComparisonArtists",
    "CostCurveArtists",
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
    "TetrahedronArtists",
    "calibration_map",
    "classwise",
    "comparison",
    "cost_curve",
    "decision_curve",
    "decomposition",
    "deviation",
    "evidence",
    "from_estimator",
    "null",
    "reliability",
    "requirements",
    "risk_coverage",
    "scores",
    "segment_map",
    "segments",
    "simplex",
]

if not TYPE_CHECKING:  # type checkers refuse names that are not here

    def __getattr__(name: str) -> object:
        moved = moved_error(f"{__name__}.{name}")
        if moved is not None:
            raise moved
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
