"""Fitted calibrators as formulas, for rooms that write them down elsewhere."""

from veridical.calibrators._base.formulas import check_exportable, formula_of, probe_scores

__all__ = ["check_exportable", "formula_of", "probe_scores"]
