"""Fitted calibrators as formulas, for rooms that write them down elsewhere."""

from veridical.calibrators._base.calibrator import check_exportable, formula_of

__all__ = ["check_exportable", "formula_of"]
