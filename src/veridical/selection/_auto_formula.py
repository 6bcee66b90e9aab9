"""The formula of an `AutoCalibrator`: that of the calibrator it chose."""

from __future__ import annotations

from veridical.calibrators.formulas import Nodes, outputs_of, positive_last
from veridical.selection._auto import AutoCalibrator


@outputs_of.register
def _auto(calibrator: AutoCalibrator, inputs: Nodes) -> Nodes:
    whole = outputs_of(calibrator.calibrator_, positive_last(calibrator, inputs))
    return positive_last(calibrator, whole)
