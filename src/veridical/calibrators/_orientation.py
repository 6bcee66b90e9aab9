"""Two classes: which column is the positive one, and scores that point to it."""

from __future__ import annotations

from veridical._core.score_border import ScoredRows
from veridical._core.typing import FloatArray, IntArray


def positive_column(classes: tuple[object, ...]) -> int:
    """Column of the positive class, the larger of two labels."""
    return int(classes[1] > classes[0])  # type: ignore[operator]


def difference(scores: FloatArray, positive: int) -> FloatArray:
    """Logit of the positive class from one or two columns."""
    if scores.ndim == 1:
        return scores
    return scores[:, positive] - scores[:, 1 - positive]


def oriented(rows: ScoredRows) -> tuple[FloatArray, IntArray]:
    """Scores and class indices; of two classes one score for the positive one, and y in 0, 1."""
    if len(rows.classes) > 2:
        return rows.scores, rows.y
    positive = positive_column(rows.classes)
    return difference(rows.scores, positive), rows.y if positive else 1 - rows.y
