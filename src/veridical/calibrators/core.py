"""What calibrators are made of, for rooms that fit, wrap and choose them."""

from veridical.calibrators._base.bases import BinaryCalibrator
from veridical.calibrators._base.calibrator import Notes, fit_rows, fit_settled, warn_of
from veridical.calibrators._base.direction import points_away
from veridical.calibrators._base.rows import CheckedRows, check_rows
from veridical.calibrators._base.scales import check_flag, positive_column, smallest_share
from veridical.calibrators._wrappers.wrapping import (
    WrappingCalibrator,
    cross_fitted,
    fit_part,
    fit_part_if_possible,
    held_masses,
    masses,
    some,
)

__all__ = [
    "BinaryCalibrator",
    "CheckedRows",
    "Notes",
    "WrappingCalibrator",
    "check_flag",
    "check_rows",
    "cross_fitted",
    "fit_part",
    "fit_part_if_possible",
    "fit_rows",
    "fit_settled",
    "held_masses",
    "masses",
    "points_away",
    "positive_column",
    "smallest_share",
    "some",
    "warn_of",
]
