"""Scores for methods beside `predict_proba`, through the same border."""

from __future__ import annotations

import copy

from veridical._core.typing import ArrayLike, FloatArray
from veridical.calibrators._base import BinaryCalibrator
from veridical.calibrators._scales import BinaryScores


def checked_scores(calibrator: BinaryCalibrator, y_prob: ArrayLike) -> BinaryScores:
    """Scores of the positive class as the fitted map of `calibrator` gets them."""
    seen: list[BinaryScores] = []

    def look(scores: BinaryScores) -> FloatArray:
        seen.append(scores)
        return scores.value

    onlooker = copy.copy(calibrator)
    onlooker.__dict__["_map"] = look  # hides the method, in this copy only
    onlooker.predict_proba(y_prob)
    return seen[0]
