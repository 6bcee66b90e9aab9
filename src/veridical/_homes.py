"""Where public names live."""

# Name -> package that holds it; resolved on first use, so that importing stays light.
HOMES = {
    name: package
    for package, names in {
        "binning": (
            "EdgeBins", "QuantileBins", "SimplexBins", "SweepBins", "UniformBins",
            "VarianceSplitBins",
        ),
        "calibrators": (
            "AveragedCalibrator", "BBQCalibrator", "BetaCalibrator", "Calibrator",
            "ClassConditionalCalibrator", "ConfidenceReducedCalibrator", "DensityCalibrator",
            "DirichletCalibrator", "EnsembleTemperatureCalibrator", "GroupedCalibrator",
            "HistogramCalibrator", "IdentityCalibrator", "IsotonicCalibrator", "MatrixCalibrator",
            "MixingCalibrator", "NearIsotonicCalibrator", "OneVsRestCalibrator", "PlattCalibrator",
            "QuadraticCalibrator", "ScalingBinningCalibrator", "SimplexHistogramCalibrator",
            "SplineCalibrator", "StructuredMatrixCalibrator", "StructuredVectorCalibrator",
            "TemperatureCalibrator", "VectorCalibrator", "VennAbersCalibrator",
        ),
        "decisions": (
            "adjust_priors", "allocate", "correct_downsampling", "cost_curve", "cost_threshold",
            "decide", "decision_curve", "estimate_priors", "expected_cost", "miscalibration_cost",
            "prior_threshold", "roc_hull",
        ),
        "simulation": (
            "BinaryFakeClassifier", "DirichletFakeClassifier", "FakeClassifier",
            "GaussianMixtureTask", "fake_classifier_for", "fit_fake_classifier",
            "survey_binary_task", "survey_three_class_task",
        ),
        "selection": (
            "AutoCalibrator", "CalibratedClassifier",
        ),
        "planning": (
            "AllocationProcess", "CostProcess", "HealthcareGame", "KellyProcess",
            "ThresholdProcess", "simulate_decisions",
        ),
        "export": (
            "load", "save", "to_onnx", "to_python", "to_sql", "to_torch",
        ),
        "monitoring": (
            "CalibrationMonitor", "merge_stores",
        ),
        "report": (
            "MonitorReport", "MonitorSettings", "Report", "make_report", "monitor_report",
        ),
        "experiments": (
            "Experiment", "list_experiments", "run_experiment",
        ),
        "curves": ("local_calibration_error", "reliability_curve"),
        "decomposition": ("decompose",),
        "evaluation": (
            "calibration_tests", "check_requirements", "compare", "evaluate", "grid_summary",
            "measure_summary", "summary_curve",
        ),
        "exceptions": (
            "InvalidInputError", "MissingDependencyError", "VeridicalError", "VeridicalWarning",
        ),
        "inference": (
            "EProcess", "adjust_pvalues", "bootstrap_interval", "consistency_test", "cox_test",
            "detectable_error", "equivalence_test", "hosmer_lemeshow_test", "kernel_test",
            "mean_ranks", "multiple_test", "null_level", "paired_difference", "pearson_test",
            "required_sample_size", "sequential_test", "spiegelhalter_test", "t_cal_test",
        ),
        "lenses": (
            "Binary", "Canonical", "ClassSpecific", "Classwise", "Confidence", "Grouped", "Lens",
            "Pooled", "TopK",
        ),
        "miscalibration": (
            "BinnedError", "BrierScore", "CostWeightedError", "CumulativeError", "DensityError",
            "DirichletKernelError", "IsotonicError", "KernelError", "LoessError", "LogScore",
            "RecalibrationError", "SmoothError", "SphericalScore", "UCMEError", "ZeroOneLoss",
            "classwise_calibration_error", "expected_calibration_error",
            "maximum_calibration_error",
        ),
        "results": (
            "ActionCost", "Allocation", "BayesFigures", "CalibrationTest", "CalibratorVersion",
            "CandidateEvidence", "Coefficient", "Comparison", "ConsistencyTest", "CostCurve",
            "CoxTest", "CurveReading", "DecisionCurve", "DecisionValue", "Decisions",
            "Decomposition", "Difference", "EquivalenceTest", "Evaluation", "Evidence",
            "ExactValue", "ExpectedCost", "ExperimentResult", "Fact", "GameSummary", "GateBaseline",
            "GateCheck", "GateFigure", "GateResult", "Interval", "MeasuredError",
            "MiscalibrationCost", "ModelDifference", "MonitorEpoch", "MonitorEstimate",
            "MonitorHistory", "MonitorSignals", "MonitorStatus", "MonitorUpdate", "MonitorVersions",
            "MultipleTest", "NullLevel", "PatientRound", "PlayerScore", "PriorEstimate",
            "RankComparison", "RefitSuggestion", "ReliabilityCurve", "Requirement",
            "RequirementTable", "Requirements", "RocHull", "RoundOutcome", "SampleSize",
            "SequentialTest", "ShadowStatus", "StreamEvidence", "TestReport",
        ),
        "scores": ("brier_score", "log_loss", "spherical_score", "zero_one_loss"),
        "summaries": (
            "GridSummary", "Summary", "VectorSummary", "summarise",
        ),
    }.items()
    for name in names
}  # fmt: skip
