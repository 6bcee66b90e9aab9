"""What maps are judged with on rows held out: what belongs together, copies, paths of ridges."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.calibrators._softmax.path import RidgePath, fit_path, paths_of
    from veridical.calibrators._wrappers.copies import warnings_of, without_copies
    from veridical.calibrators._wrappers.together import JudgingCalibrator

__all__ = [
    "JudgingCalibrator",
    "RidgePath",
    "fit_path",
    "paths_of",
    "warnings_of",
    "without_copies",
]

__getattr__, __dir__ = late_names(__name__)
