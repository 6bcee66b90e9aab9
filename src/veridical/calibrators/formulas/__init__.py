"""Fitted calibrators as formulas, which every export and every engine is written from."""

import veridical.calibrators.formulas.binary_maps  # noqa: F401 - makes its formulas known
from veridical.calibrators.formulas.maps import (
    Nodes,
    check_exportable,
    formula_of,
    outputs_of,
    positive_last,
)

__all__ = [
    "Nodes",
    "check_exportable",
    "formula_of",
    "outputs_of",
    "positive_last",
]
