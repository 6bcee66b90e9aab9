"""What calibrators are made of, for rooms that fit, wrap and choose them."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.calibrators._base.bases import BinaryCalibrator
    from veridical.calibrators._base.calibrator import Notes
    from veridical.calibrators._base.estimator import fresh
    from veridical.calibrators._base.exporting import has_formula
    from veridical.calibrators._base.features import FeatureCalibrator
    from veridical.calibrators._base.fitting import fit_rows, fit_settled, predict_rows
    from veridical.calibrators._base.folds import held_out_masses, row_masses, rows_of_mass
    from veridical.calibrators._base.memory import overlap_note
    from veridical.calibrators._base.persistence import Part
    from veridical.calibrators._base.rows import CheckedRows, check_rows, points_away
    from veridical.calibrators._base.scales import smallest_share
    from veridical.calibrators._base.words import share
    from veridical.calibrators._online.online import MAP_NAMES, ledger
    from veridical.calibrators._wrappers.cross_fitted import cross_fitted, fitted_to_itself
    from veridical.calibrators._wrappers.wrapping import fit_part, fresh_part

__all__ = [
    "MAP_NAMES",
    "BinaryCalibrator",
    "CheckedRows",
    "FeatureCalibrator",
    "Notes",
    "Part",
    "check_rows",
    "cross_fitted",
    "fit_part",
    "fit_rows",
    "fit_settled",
    "fitted_to_itself",
    "fresh",
    "fresh_part",
    "has_formula",
    "held_out_masses",
    "ledger",
    "overlap_note",
    "points_away",
    "predict_rows",
    "row_masses",
    "rows_of_mass",
    "share",
    "smallest_share",
]

__getattr__, __dir__ = late_names(__name__)
