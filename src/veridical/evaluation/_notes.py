"""Statistical doubts about an evaluation, in words."""

from __future__ import annotations

import math

from veridical.results import Evaluation

_NEAR_CHANCE = 0.05
_FEW_ROWS = 20


def doubts_of(e: Evaluation) -> list[str]:
    """Return what a careful reader should know before using the figures."""
    notes: list[str] = []
    absent = [repr(label) for label, rate in zip(e.classes, e.base_rate, strict=True) if rate == 0]
    if absent:
        shown = ", ".join(absent[:5]) + (", ..." if len(absent) > 5 else "")
        notes.append(f"{len(absent)} of {len(e.classes)} classes did not occur: {shown}")
    if e.auc is not None and abs(e.auc - 0.5) < _NEAR_CHANCE:
        notes.append(
            f"AUC {e.auc:.3f} is near 0.5: the predictions hardly tell the classes apart, and"
            " calibration cannot help with that"
        )
    elif e.auc is not None and e.auc < 0.5:
        notes.append(
            f"AUC {e.auc:.3f} is below 0.5: is the right class taken as positive? See `pos_label`"
        )
    rows = e.n_samples / max(len(e.curve), 1)
    if rows < _FEW_ROWS:
        notes.append(f"{rows:.1f} rows a bin on average: binned errors are biased upwards")
    if math.isinf(e.scores["log"]):
        notes.append("log score is infinite: something happened that was given probability 0")
    return notes
