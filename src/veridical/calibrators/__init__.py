"""Calibrators: maps from scores to probabilities, as scikit-learn estimators."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.calibrators._base.bases import Calibrator, IdentityCalibrator
    from veridical.calibrators._base.unfitted import NotFittedError
    from veridical.calibrators._compact.compact import CompactCalibrator
    from veridical.calibrators._logistic.beta import BetaCalibrator
    from veridical.calibrators._logistic.platt import PlattCalibrator
    from veridical.calibrators._logistic.quadratic import QuadraticCalibrator
    from veridical.calibrators._logistic.spline import SplineCalibrator
    from veridical.calibrators._online.online import OnlineCalibrator
    from veridical.calibrators._segments.segment import SegmentCalibrator
    from veridical.calibrators._segments.tree import CalibrationTree
    from veridical.calibrators._softmax.dirichlet import DirichletCalibrator
    from veridical.calibrators._softmax.linear import MatrixCalibrator, VectorCalibrator
    from veridical.calibrators._softmax.structured import (
        StructuredMatrixCalibrator,
        StructuredVectorCalibrator,
    )
    from veridical.calibrators._softmax.temperature import (
        EnsembleTemperatureCalibrator,
        TemperatureCalibrator,
    )
    from veridical.calibrators._steps.bbq import BBQCalibrator
    from veridical.calibrators._steps.density import DensityCalibrator
    from veridical.calibrators._steps.histogram import (
        HistogramCalibrator,
        SimplexHistogramCalibrator,
    )
    from veridical.calibrators._steps.isotonic import IsotonicCalibrator
    from veridical.calibrators._steps.near_isotonic import NearIsotonicCalibrator
    from veridical.calibrators._steps.venn_abers import VennAbersCalibrator
    from veridical.calibrators._trees.boosted import BoostedCalibrator
    from veridical.calibrators._wrappers.chained import ChainedCalibrator
    from veridical.calibrators._wrappers.grouped import GroupedCalibrator
    from veridical.calibrators._wrappers.mixtures import AveragedCalibrator, MixingCalibrator
    from veridical.calibrators._wrappers.reductions import (
        ClassConditionalCalibrator,
        ConfidenceReducedCalibrator,
        OneVsRestCalibrator,
    )
    from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator

__all__ = [
    "AveragedCalibrator",
    "BBQCalibrator",
    "BetaCalibrator",
    "BoostedCalibrator",
    "CalibrationTree",
    "Calibrator",
    "ChainedCalibrator",
    "ClassConditionalCalibrator",
    "CompactCalibrator",
    "ConfidenceReducedCalibrator",
    "DensityCalibrator",
    "DirichletCalibrator",
    "EnsembleTemperatureCalibrator",
    "GroupedCalibrator",
    "HistogramCalibrator",
    "IdentityCalibrator",
    "IsotonicCalibrator",
    "MatrixCalibrator",
    "MixingCalibrator",
    "NearIsotonicCalibrator",
    "NotFittedError",
    "OneVsRestCalibrator",
    "OnlineCalibrator",
    "PlattCalibrator",
    "QuadraticCalibrator",
    "ScalingBinningCalibrator",
    "SegmentCalibrator",
    "SimplexHistogramCalibrator",
    "SplineCalibrator",
    "StructuredMatrixCalibrator",
    "StructuredVectorCalibrator",
    "TemperatureCalibrator",
    "VectorCalibrator",
    "VennAbersCalibrator",
]

__getattr__, __dir__ = late_names(__name__)
