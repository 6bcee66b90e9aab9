"""Estimators of miscalibration: parameters only, data at call time."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.miscalibration._errors.base import Estimator
    from veridical.miscalibration._errors.binned import BinnedError
    from veridical.miscalibration._errors.cost import CostWeightedError
    from veridical.miscalibration._errors.density import DensityError
    from veridical.miscalibration._errors.dirichlet_kernel import DirichletKernelError
    from veridical.miscalibration._errors.function import FunctionMeasure
    from veridical.miscalibration._errors.functions import (
        classwise_calibration_error,
        expected_calibration_error,
        maximum_calibration_error,
    )
    from veridical.miscalibration._errors.kernel import KernelError, UCMEError
    from veridical.miscalibration._errors.loess import LoessError
    from veridical.miscalibration._errors.ordered import CumulativeError, IsotonicError
    from veridical.miscalibration._errors.recalibration import RecalibrationError
    from veridical.miscalibration._errors.scores import (
        BrierScore,
        LogScore,
        SphericalScore,
        ZeroOneLoss,
    )
    from veridical.miscalibration._errors.smooth import SmoothError

__all__ = [
    "BinnedError",
    "BrierScore",
    "CostWeightedError",
    "CumulativeError",
    "DensityError",
    "DirichletKernelError",
    "Estimator",
    "FunctionMeasure",
    "IsotonicError",
    "KernelError",
    "LoessError",
    "LogScore",
    "RecalibrationError",
    "SmoothError",
    "SphericalScore",
    "UCMEError",
    "ZeroOneLoss",
    "classwise_calibration_error",
    "expected_calibration_error",
    "maximum_calibration_error",
]

__getattr__, __dir__ = late_names(__name__)
