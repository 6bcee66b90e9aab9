"""The registry is complete: no public figure, lens or binning escapes the laws."""

from __future__ import annotations

from public_names import NAMES

# Public names that are no figure, lens or binning.
NOT_METRICS = {
    "ActionCost": "result",
    "adjust_priors": "takes no outcomes",
    "adjust_pvalues": "takes p-values",
    "allocate": "takes no outcomes",
    "Allocation": "result",
    "AllocationProcess": "decision process",
    "BayesFigures": "result",
    "BinaryFakeClassifier": "generator",
    "CalibratedClassifier": "fits models, tests/selection",
    "calibration_tests": "runs tests that are here one by one",
    "CalibrationMonitor": "depends on the order of rows, tests/monitoring",
    "CalibrationScorer": "asks models, tests/selection",
    "CalibrationTest": "result",
    "CalibratorVersion": "result",
    "CandidateEvidence": "result",
    "check_requirements": "asks of figures that are here",
    "ClassRate": "result",
    "Coefficient": "result",
    "Comparison": "result",
    "ConsistencyTest": "result",
    "correct_downsampling": "takes no outcomes",
    "cost_threshold": "takes no outcomes",
    "CostCurve": "result",
    "CostProcess": "decision process",
    "CoverageRow": "result",
    "CoxTest": "result",
    "CurveReading": "result",
    "decide": "takes no outcomes",
    "DecisionCurve": "result",
    "Decisions": "result",
    "DecisionValue": "result",
    "Decomposition": "result",
    "detectable_error": "takes no outcomes",
    "Difference": "result",
    "DirichletFakeClassifier": "generator",
    "EProcess": "depends on the order of rows",
    "EquivalenceTest": "result",
    "estimate_priors": "takes no outcomes",
    "estimate_rate": "needs rows without labels, tests/evaluation/test_rates.py",
    "Evaluation": "result",
    "Evidence": "result",
    "ExactValue": "result",
    "ExpectedCost": "result",
    "fake_classifier_for": "generator",
    "FakeClassifier": "generator",
    "fit_fake_classifier": "generator",
    "GameSummary": "result",
    "GateBaseline": "result",
    "GateCheck": "result",
    "GateFigure": "result",
    "GateResult": "result",
    "GaussianMixtureTask": "generator",
    "grid_summary": "makes sums, tests/evaluation/test_pushed.py",
    "GridSummary": "sums",
    "HealthcareGame": "a game",
    "Interval": "result",
    "InvalidInputError": "error",
    "KellyProcess": "decision process",
    "LabelPlan": "result",
    "Lens": "base class",
    "load": "reads a calibrator",
    "make_report": "writes a page, tests/report",
    "mean_ranks": "takes scores of methods",
    "measure_summary": "takes sums, tests/evaluation/test_pushed.py",
    "MeasuredError": "result",
    "merge_stores": "takes stores, tests/monitoring",
    "MiscalibrationCost": "result",
    "MissingDependencyError": "error",
    "ModelDifference": "result",
    "monitor_report": "writes a page, tests/report",
    "MonitorEpoch": "result",
    "MonitorEstimate": "result",
    "MonitorHistory": "result",
    "MonitorLook": "part of a page",
    "MonitorReport": "a page",
    "MonitorSettings": "settings of a page",
    "MonitorSignals": "result",
    "MonitorStatus": "result",
    "MonitorUpdate": "result",
    "MonitorVersions": "result",
    "MultipleTest": "result",
    "NullLevel": "result",
    "PatientRound": "result",
    "plan_labels": "takes no outcomes",
    "PlayerScore": "result",
    "PredictionSets": "sets, tests/decisions",
    "prior_threshold": "takes no outcomes",
    "PriorEstimate": "result",
    "PromiseStatus": "result",
    "PromiseWindow": "result",
    "RankComparison": "result",
    "RateEstimate": "result",
    "RefitSuggestion": "result",
    "ReliabilityCurve": "result",
    "Report": "a page",
    "required_sample_size": "takes no outcomes",
    "Requirement": "result",
    "Requirements": "result",
    "RequirementTable": "result",
    "risk_threshold": "a threshold that jumps with n, tests/decisions",
    "RiskCoverageCurve": "result",
    "RiskThreshold": "result",
    "RocHull": "result",
    "RoundOutcome": "result",
    "SampleSize": "result",
    "save": "takes a calibrator",
    "scorer": "asks models, tests/selection",
    "sequential_test": "depends on the order of rows and takes no weights",
    "SequentialTest": "result",
    "SetCoverage": "result",
    "ShadowStatus": "result",
    "simulate_decisions": "takes a process, tests/planning",
    "StreamEvidence": "result",
    "summarise": "takes a checked problem, not data",
    "Summary": "sufficient statistics, tested by properties/test_summaries",
    "summary_curve": "takes sums, tests/evaluation/test_pushed.py",
    "audit_segments": "needs features, tested by tests/inference/test_segments",
    "CalibrationTree": "a map, held to the laws of tests/calibrators",
    "OnlineStatus": "result",
    "Segment": "result",
    "SegmentAudit": "result",
    "survey_binary_task": "generator",
    "survey_three_class_task": "generator",
    "TestReport": "result",
    "ThresholdProcess": "decision process",
    "to_onnx": "takes a calibrator",
    "to_python": "takes a calibrator",
    "to_sql": "takes a calibrator",
    "to_torch": "takes a calibrator",
    "UnknownNameError": "error",
    "VectorSummary": "sufficient statistics, tested by properties/test_summaries",
    "VeridicalError": "error",
    "VeridicalWarning": "warning",
}


def is_calibrator(name):
    """Whether it fits maps rather than measures: tests/calibrators holds those to their laws."""
    return name.endswith("Calibrator")


def test_every_public_figure_lens_and_binning_is_in_the_registry(registry):
    covered = {name for metric in registry.values() for name in metric.covers}
    missing = {name for name in NAMES if not is_calibrator(name)}
    missing -= covered | set(NOT_METRICS)
    assert not missing, f"add a line to tests/common/conftest.py for {sorted(missing)}"


def test_the_exceptions_are_public_names_outside_the_registry(registry):
    covered = {name for metric in registry.values() for name in metric.covers}
    assert set(NOT_METRICS) <= set(NAMES)
    assert not set(NOT_METRICS) & covered


def test_the_registry_names_only_public_things(registry):
    covered = {name for metric in registry.values() for name in metric.covers}
    assert covered <= set(NAMES)


def test_every_figure_takes_the_weight_type_it_claims_to(registry, binary, multiclass):
    data = {"binary": binary, "multiclass": multiclass}
    for metric in registry.values():
        assert metric.typed or metric.repetition != "frequency", metric.name
        if metric.typed:
            own = data[metric.kind]
            assert metric(own.y, own.p, weight_type="frequency").size, metric.name
