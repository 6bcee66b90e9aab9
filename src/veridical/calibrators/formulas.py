"""Fitted calibrators as formulas and as JSON, for rooms that write them down elsewhere."""

from veridical.calibrators._base.exporting import check_exportable, formula_of
from veridical.calibrators._base.persistence import check_saved, decode

__all__ = ["check_exportable", "check_saved", "decode", "formula_of"]
