"""Estimators of miscalibration: parameters only, data at call time."""

from veridical.miscalibration._base import Estimator
from veridical.miscalibration._binned import BinnedError, doubts_of_summary
from veridical.miscalibration._cost import CostWeightedError
from veridical.miscalibration._cumulative import CumulativeError
from veridical.miscalibration._density import DensityError
from veridical.miscalibration._dirichlet_kernel import DirichletKernelError
from veridical.miscalibration._functions import (
    classwise_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from veridical.miscalibration._isotonic import IsotonicError
from veridical.miscalibration._kernel import KernelError, UCMEError
from veridical.miscalibration._loess import LoessError
from veridical.miscalibration._recalibration import RecalibrationError
from veridical.miscalibration._scores import (
    BrierScore,
    LogScore,
    MeanScore,
    SphericalScore,
    ZeroOneLoss,
)
from veridical.miscalibration._smooth import SmoothError

__all__ = [
    "BinnedError",
    "BrierScore",
    "CostWeightedError",
    "CumulativeError",
    "DensityError",
    "DirichletKernelError",
    "Estimator",
    "IsotonicError",
    "KernelError",
    "LoessError",
    "LogScore",
    "MeanScore",
    "RecalibrationError",
    "SmoothError",
    "SphericalScore",
    "UCMEError",
    "ZeroOneLoss",
    "classwise_calibration_error",
    "doubts_of_summary",
    "expected_calibration_error",
    "maximum_calibration_error",
]
