"""Probabilities that mean what they say.

`veridical` measures how far predicted class probabilities are from the truth. Start with
:func:`evaluate`; every name below is also importable from here directly.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from veridical.binning import (
        EdgeBins,
        QuantileBins,
        SimplexBins,
        SweepBins,
        UniformBins,
        VarianceSplitBins,
    )
    from veridical.calibrators import (
        BBQCalibrator,
        BetaCalibrator,
        Calibrator,
        ClassConditionalCalibrator,
        ConfidenceReducedCalibrator,
        DensityCalibrator,
        DirichletCalibrator,
        EnsembleTemperatureCalibrator,
        GroupedCalibrator,
        HistogramCalibrator,
        IdentityCalibrator,
        IsotonicCalibrator,
        MatrixCalibrator,
        MixingCalibrator,
        NearIsotonicCalibrator,
        OneVsRestCalibrator,
        PlattCalibrator,
        QuadraticCalibrator,
        ScalingBinningCalibrator,
        SimplexHistogramCalibrator,
        SplineCalibrator,
        StructuredMatrixCalibrator,
        StructuredVectorCalibrator,
        TemperatureCalibrator,
        VectorCalibrator,
        VennAbersCalibrator,
    )
    from veridical.curves import local_calibration_error, reliability_curve
    from veridical.decomposition import decompose
    from veridical.evaluation import (
        calibration_tests,
        compare,
        evaluate,
    )
    from veridical.exceptions import (
        InvalidInputError,
        MissingDependencyError,
        VeridicalError,
        VeridicalWarning,
    )
    from veridical.inference import (
        EProcess,
        adjust_pvalues,
        bootstrap_interval,
        consistency_test,
        cox_test,
        detectable_error,
        equivalence_test,
        hosmer_lemeshow_test,
        kernel_test,
        multiple_test,
        null_level,
        paired_difference,
        pearson_test,
        required_sample_size,
        sequential_test,
        spiegelhalter_test,
        t_cal_test,
    )
    from veridical.lenses import (
        Binary,
        Canonical,
        ClassSpecific,
        Classwise,
        Confidence,
        Grouped,
        Lens,
        Pooled,
        TopK,
    )
    from veridical.miscalibration import (
        BinnedError,
        BrierScore,
        CostWeightedError,
        CumulativeError,
        DensityError,
        DirichletKernelError,
        IsotonicError,
        KernelError,
        LoessError,
        LogScore,
        RecalibrationError,
        SmoothError,
        SphericalScore,
        UCMEError,
        ZeroOneLoss,
        classwise_calibration_error,
        expected_calibration_error,
        maximum_calibration_error,
    )
    from veridical.results import (
        CalibrationTest,
        Coefficient,
        Comparison,
        ConsistencyTest,
        CoxTest,
        CurveReading,
        Decomposition,
        Difference,
        EquivalenceTest,
        Evaluation,
        Interval,
        MeasuredError,
        ModelDifference,
        MultipleTest,
        NullLevel,
        ReliabilityCurve,
        SampleSize,
        SequentialTest,
        TestReport,
    )
    from veridical.scores import brier_score, log_loss, spherical_score, zero_one_loss
    from veridical.summaries import Summary, VectorSummary, summarise

# Name -> package that holds it; resolved on first use, so that importing stays light.
_HOMES = {
    name: package
    for package, names in {
        "binning": (
            "EdgeBins", "QuantileBins", "SimplexBins", "SweepBins", "UniformBins",
            "VarianceSplitBins",
        ),
        "calibrators": (
            "BBQCalibrator", "BetaCalibrator", "Calibrator", "ClassConditionalCalibrator",
            "ConfidenceReducedCalibrator", "DensityCalibrator", "DirichletCalibrator",
            "EnsembleTemperatureCalibrator", "GroupedCalibrator", "HistogramCalibrator",
            "IdentityCalibrator", "IsotonicCalibrator", "MatrixCalibrator", "MixingCalibrator",
            "NearIsotonicCalibrator", "OneVsRestCalibrator", "PlattCalibrator",
            "QuadraticCalibrator", "ScalingBinningCalibrator", "SimplexHistogramCalibrator",
            "SplineCalibrator", "StructuredMatrixCalibrator", "StructuredVectorCalibrator",
            "TemperatureCalibrator", "VectorCalibrator", "VennAbersCalibrator",
        ),
        "curves": ("local_calibration_error", "reliability_curve"),
        "decomposition": ("decompose",),
        "evaluation": (
            "calibration_tests", "compare", "evaluate",
        ),
        "exceptions": (
            "InvalidInputError", "MissingDependencyError", "VeridicalError", "VeridicalWarning",
        ),
        "inference": (
            "EProcess", "adjust_pvalues", "bootstrap_interval", "consistency_test", "cox_test",
            "detectable_error", "equivalence_test", "hosmer_lemeshow_test", "kernel_test",
            "multiple_test", "null_level", "paired_difference", "pearson_test",
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
            "CalibrationTest", "Coefficient", "Comparison", "ConsistencyTest", "CoxTest",
            "CurveReading", "Decomposition", "Difference", "EquivalenceTest", "Evaluation",
            "Interval", "MeasuredError", "ModelDifference", "MultipleTest", "NullLevel",
            "ReliabilityCurve", "SampleSize", "SequentialTest", "TestReport",
        ),
        "scores": ("brier_score", "log_loss", "spherical_score", "zero_one_loss"),
        "summaries": ("Summary", "VectorSummary", "summarise"),
    }.items()
    for name in names
}  # fmt: skip

__all__ = [
    "BBQCalibrator",
    "BetaCalibrator",
    "Binary",
    "BinnedError",
    "BrierScore",
    "CalibrationTest",
    "Calibrator",
    "Canonical",
    "ClassConditionalCalibrator",
    "ClassSpecific",
    "Classwise",
    "Coefficient",
    "Comparison",
    "Confidence",
    "ConfidenceReducedCalibrator",
    "ConsistencyTest",
    "CostWeightedError",
    "CoxTest",
    "CumulativeError",
    "CurveReading",
    "Decomposition",
    "DensityCalibrator",
    "DensityError",
    "Difference",
    "DirichletCalibrator",
    "DirichletKernelError",
    "EProcess",
    "EdgeBins",
    "EnsembleTemperatureCalibrator",
    "EquivalenceTest",
    "Evaluation",
    "Grouped",
    "GroupedCalibrator",
    "HistogramCalibrator",
    "IdentityCalibrator",
    "Interval",
    "InvalidInputError",
    "IsotonicCalibrator",
    "IsotonicError",
    "KernelError",
    "Lens",
    "LoessError",
    "LogScore",
    "MatrixCalibrator",
    "MeasuredError",
    "MissingDependencyError",
    "MixingCalibrator",
    "ModelDifference",
    "MultipleTest",
    "NearIsotonicCalibrator",
    "NullLevel",
    "OneVsRestCalibrator",
    "PlattCalibrator",
    "Pooled",
    "QuadraticCalibrator",
    "QuantileBins",
    "RecalibrationError",
    "ReliabilityCurve",
    "SampleSize",
    "ScalingBinningCalibrator",
    "SequentialTest",
    "SimplexBins",
    "SimplexHistogramCalibrator",
    "SmoothError",
    "SphericalScore",
    "SplineCalibrator",
    "StructuredMatrixCalibrator",
    "StructuredVectorCalibrator",
    "Summary",
    "SweepBins",
    "TemperatureCalibrator",
    "TestReport",
    "TopK",
    "UCMEError",
    "UniformBins",
    "VarianceSplitBins",
    "VectorCalibrator",
    "VectorSummary",
    "VennAbersCalibrator",
    "VeridicalError",
    "VeridicalWarning",
    "ZeroOneLoss",
    "__version__",
    "adjust_pvalues",
    "bootstrap_interval",
    "brier_score",
    "calibration_tests",
    "classwise_calibration_error",
    "compare",
    "consistency_test",
    "cox_test",
    "decompose",
    "detectable_error",
    "equivalence_test",
    "evaluate",
    "expected_calibration_error",
    "hosmer_lemeshow_test",
    "kernel_test",
    "local_calibration_error",
    "log_loss",
    "maximum_calibration_error",
    "multiple_test",
    "null_level",
    "paired_difference",
    "pearson_test",
    "reliability_curve",
    "required_sample_size",
    "sequential_test",
    "spherical_score",
    "spiegelhalter_test",
    "summarise",
    "t_cal_test",
    "zero_one_loss",
]


_PACKAGES = frozenset({*_HOMES.values(), "binning", "frames"})


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"veridical.{name}")
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'veridical' has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(f"veridical.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
