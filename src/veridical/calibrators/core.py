"""What calibrators are made of, for rooms that fit, wrap and choose them."""

from veridical.calibrators._base.bases import BinaryCalibrator
from veridical.calibrators._base.direction import direction_known, points_away
from veridical.calibrators._base.scales import check_flag, positive_column, smallest_share
from veridical.calibrators._wrappers.wrapping import (
    CheckedRows,
    WrappingCalibrator,
    cross_fitted,
    fitted_part,
    held_masses,
    masses,
    some,
)

__all__ = [
    "BinaryCalibrator",
    "CheckedRows",
    "WrappingCalibrator",
    "check_flag",
    "cross_fitted",
    "direction_known",
    "fitted_part",
    "held_masses",
    "masses",
    "points_away",
    "positive_column",
    "smallest_share",
    "some",
]
