"""Results: frozen records that carry their definition, print themselves and lose nothing."""

from veridical.results._allocation import Allocation
from veridical.results._base import Result
from veridical.results._comparison import Comparison, ModelDifference
from veridical.results._consistency import ConsistencyTest
from veridical.results._cost_curve import CostCurve
from veridical.results._cox import Coefficient, CoxTest
from veridical.results._curve import CurveReading, ReliabilityCurve
from veridical.results._decision_curve import DecisionCurve
from veridical.results._decisions import ActionCost, Decisions, ExpectedCost, MiscalibrationCost
from veridical.results._difference import Difference
from veridical.results._equivalence import EquivalenceTest
from veridical.results._evaluation import Evaluation
from veridical.results._evidence import CandidateEvidence, Evidence
from veridical.results._experiment import ExperimentResult, Fact
from veridical.results._fake import ExactValue
from veridical.results._figures import Decomposition, MeasuredError
from veridical.results._game import GameSummary, PatientRound, PlayerScore, RoundOutcome
from veridical.results._gate import GateBaseline, GateCheck, GateFigure, GateResult
from veridical.results._interval import Interval
from veridical.results._monitor_action import (
    CalibratorVersion,
    MonitorEpoch,
    MonitorSignals,
    MonitorVersions,
    RefitSuggestion,
    ShadowStatus,
)
from veridical.results._monitoring import (
    MonitorEstimate,
    MonitorHistory,
    MonitorStatus,
    MonitorUpdate,
    StreamEvidence,
)
from veridical.results._multiple import MultipleTest
from veridical.results._null import NullLevel
from veridical.results._planning import DecisionValue, RequirementTable
from veridical.results._priors import PriorEstimate
from veridical.results._ranks import RankComparison
from veridical.results._requirements import Requirement, Requirements
from veridical.results._roc_hull import RocHull
from veridical.results._sample_size import SampleSize
from veridical.results._sequential import SequentialTest
from veridical.results._simulated import BayesFigures
from veridical.results._test import CalibrationTest
from veridical.results._test_report import TestReport

__all__ = [
    "ActionCost",
    "Allocation",
    "BayesFigures",
    "CalibrationTest",
    "CalibratorVersion",
    "CandidateEvidence",
    "Coefficient",
    "Comparison",
    "ConsistencyTest",
    "CostCurve",
    "CoxTest",
    "CurveReading",
    "DecisionCurve",
    "DecisionValue",
    "Decisions",
    "Decomposition",
    "Difference",
    "EquivalenceTest",
    "Evaluation",
    "Evidence",
    "ExactValue",
    "ExpectedCost",
    "ExperimentResult",
    "Fact",
    "GameSummary",
    "GateBaseline",
    "GateCheck",
    "GateFigure",
    "GateResult",
    "Interval",
    "MeasuredError",
    "MiscalibrationCost",
    "ModelDifference",
    "MonitorEpoch",
    "MonitorEstimate",
    "MonitorHistory",
    "MonitorSignals",
    "MonitorStatus",
    "MonitorUpdate",
    "MonitorVersions",
    "MultipleTest",
    "NullLevel",
    "PatientRound",
    "PlayerScore",
    "PriorEstimate",
    "RankComparison",
    "RefitSuggestion",
    "ReliabilityCurve",
    "Requirement",
    "RequirementTable",
    "Requirements",
    "Result",
    "RocHull",
    "RoundOutcome",
    "SampleSize",
    "SequentialTest",
    "ShadowStatus",
    "StreamEvidence",
    "TestReport",
]
