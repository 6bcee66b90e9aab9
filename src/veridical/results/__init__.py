"""Results: frozen records that carry their definition, print themselves and lose nothing."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.results._forms.groups import EvaluatedGroups, GroupRow
    from veridical.results.base import CalibrationTest, Difference, Interval, NullLevel, Result
    from veridical.results.comparison import Comparison, ModelDifference
    from veridical.results.curves import CurveReading, ReliabilityCurve, ReliabilityDisplay
    from veridical.results.decision_curves import CostCurve, DecisionCurve, RocHull
    from veridical.results.decisions import (
        ActionCost,
        Allocation,
        Cutoff,
        Decisions,
        ExpectedCost,
        MiscalibrationCost,
        PriorEstimate,
    )
    from veridical.results.evaluation import Evaluation
    from veridical.results.export import ExportedMap
    from veridical.results.figures import (
        BayesFigures,
        Coefficient,
        CoxTest,
        Decomposition,
        ExactValue,
        MeasuredError,
    )
    from veridical.results.game import GameSummary, PatientRound, PlayerScore, RoundOutcome
    from veridical.results.gate import GateBaseline, GateCheck, GateFigure, GateResult
    from veridical.results.inference import RankComparison, SampleSize
    from veridical.results.monitoring import (
        CalibratorVersion,
        MonitorEpoch,
        MonitorEstimate,
        MonitorHistory,
        MonitorSignals,
        MonitorStatus,
        MonitorUpdate,
        MonitorVersions,
        RefitSuggestion,
        ShadowStatus,
        StreamEvidence,
    )
    from veridical.results.planning import (
        DecisionValue,
        Requirement,
        Requirements,
        RequirementTable,
    )
    from veridical.results.rates import ClassRate, LabelPlan, RateEstimate
    from veridical.results.risk import (
        CoverageRow,
        PromiseStatus,
        PromiseWindow,
        RiskCoverageCurve,
        RiskThreshold,
        SetCoverage,
    )
    from veridical.results.segments import Segment, SegmentAudit, WorstGap
    from veridical.results.selection import CandidateEvidence, Evidence, OnlineStatus
    from veridical.results.tests import (
        ConsistencyTest,
        EquivalenceTest,
        MultipleTest,
        SequentialTest,
        TestReport,
    )
    from veridical.results.verdict import JointPart, JointTest, Verdict

__all__ = [
    "ActionCost",
    "Allocation",
    "BayesFigures",
    "CalibrationTest",
    "CalibratorVersion",
    "CandidateEvidence",
    "ClassRate",
    "Coefficient",
    "Comparison",
    "ConsistencyTest",
    "CostCurve",
    "CoverageRow",
    "CoxTest",
    "CurveReading",
    "Cutoff",
    "DecisionCurve",
    "DecisionValue",
    "Decisions",
    "Decomposition",
    "Difference",
    "EquivalenceTest",
    "EvaluatedGroups",
    "Evaluation",
    "Evidence",
    "ExactValue",
    "ExpectedCost",
    "ExportedMap",
    "GameSummary",
    "GateBaseline",
    "GateCheck",
    "GateFigure",
    "GateResult",
    "GroupRow",
    "Interval",
    "JointPart",
    "JointTest",
    "LabelPlan",
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
    "OnlineStatus",
    "PatientRound",
    "PlayerScore",
    "PriorEstimate",
    "PromiseStatus",
    "PromiseWindow",
    "RankComparison",
    "RateEstimate",
    "RefitSuggestion",
    "ReliabilityCurve",
    "ReliabilityDisplay",
    "Requirement",
    "RequirementTable",
    "Requirements",
    "Result",
    "RiskCoverageCurve",
    "RiskThreshold",
    "RocHull",
    "RoundOutcome",
    "SampleSize",
    "Segment",
    "SegmentAudit",
    "SequentialTest",
    "SetCoverage",
    "ShadowStatus",
    "StreamEvidence",
    "TestReport",
    "Verdict",
    "WorstGap",
]

__getattr__, __dir__ = late_names(__name__)
