"""In words: which rows calibrated which models."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.typing import IntArray
from veridical.calibrators import OneVsRestCalibrator
from veridical.selection._classifier_labels import LabelwiseMaps
from veridical.selection._classifier_pairs import Pair
from veridical.selection._classifier_response import innermost


def summary_of(pairs: list[Pair], rows: list[IntArray], n_rows: int, scheme: str) -> str:
    """Two sentences about a fitted classifier; `scheme` is "ensemble", "single" or "prefit"."""
    used = len(np.unique(np.concatenate(rows)))
    share = f"{used:,} of {n_rows:,} rows calibrate"
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    model = type(innermost(pairs[0].estimator)).__name__
    readings = " or ".join(sorted({str(pair.reading) for pair in pairs}))
    who = f"{count} of {model} and {_map_name(pairs[0].calibrator)}, read by {readings}."
    how = {
        "ensemble": "a model that never saw them; probabilities are averaged",
        "single": "models that never saw them; a model trained on all rows predicts",
        "prefit": "a model that was fitted before; whether it had seen them is not known",
    }
    return f"{who}\n{share} {how[scheme]}."


def _map_name(fitted: Any) -> str:
    if isinstance(fitted, LabelwiseMaps):
        return f"one {type(fitted.parts[0]).__name__} a label"
    if isinstance(fitted, OneVsRestCalibrator):
        return f"one {type(fitted.calibrator).__name__} a class"
    return type(fitted).__name__
