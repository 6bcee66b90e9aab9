"""Calibrators: maps from scores to probabilities, as scikit-learn estimators."""

from veridical.calibrators._averaged import AveragedCalibrator
from veridical.calibrators._base import Calibrator, NotFittedError
from veridical.calibrators._bbq import BBQCalibrator
from veridical.calibrators._beta import BetaCalibrator
from veridical.calibrators._class_conditional import ClassConditionalCalibrator
from veridical.calibrators._confidence_reduced import ConfidenceReducedCalibrator
from veridical.calibrators._density import DensityCalibrator
from veridical.calibrators._dirichlet import DirichletCalibrator
from veridical.calibrators._ensemble_temperature import EnsembleTemperatureCalibrator
from veridical.calibrators._grouped import GroupedCalibrator
from veridical.calibrators._histogram import HistogramCalibrator
from veridical.calibrators._identity import IdentityCalibrator
from veridical.calibrators._isotonic import IsotonicCalibrator
from veridical.calibrators._matrix import MatrixCalibrator
from veridical.calibrators._memory import overlap_note
from veridical.calibrators._mixing import MixingCalibrator
from veridical.calibrators._near_isotonic import NearIsotonicCalibrator
from veridical.calibrators._one_vs_rest import OneVsRestCalibrator
from veridical.calibrators._platt import PlattCalibrator
from veridical.calibrators._quadratic import QuadraticCalibrator
from veridical.calibrators._scaling_binning import ScalingBinningCalibrator
from veridical.calibrators._simplex_histogram import SimplexHistogramCalibrator
from veridical.calibrators._spline import SplineCalibrator
from veridical.calibrators._structured import (
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
)
from veridical.calibrators._temperature import TemperatureCalibrator
from veridical.calibrators._vector import VectorCalibrator
from veridical.calibrators._venn_abers import VennAbersCalibrator

__all__ = [
    "AveragedCalibrator",
    "BBQCalibrator",
    "BetaCalibrator",
    "Calibrator",
    "ClassConditionalCalibrator",
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
    "PlattCalibrator",
    "QuadraticCalibrator",
    "ScalingBinningCalibrator",
    "SimplexHistogramCalibrator",
    "SplineCalibrator",
    "StructuredMatrixCalibrator",
    "StructuredVectorCalibrator",
    "TemperatureCalibrator",
    "VectorCalibrator",
    "VennAbersCalibrator",
    "overlap_note",
]
