"""Fitted calibrators as formulas and as JSON, for rooms that write them down elsewhere."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.calibrators._base.exporting import check_exportable, formula_of, probe_scores
    from veridical.calibrators._base.persistence import check_saved, decode
    from veridical.calibrators._wrappers.grouped import GroupFormula, group_formulas

__all__ = [
    "GroupFormula",
    "check_exportable",
    "check_saved",
    "decode",
    "formula_of",
    "group_formulas",
    "probe_scores",
]

__getattr__, __dir__ = late_names(__name__)
