"""Which way predictions are wrong, in words."""

from __future__ import annotations

from veridical.results import Coefficient


def words_of_level(
    level: Coefficient | None, predicted: float, observed: float, *, of_confidence: bool
) -> list[str]:
    """Say if predictions are too high or too low on the whole, where that is beyond chance."""
    if level is None or 0.0 in level:
        return []
    side, what = "Over" if level.high < 0 else "Under", "predicts"
    if of_confidence:
        what = "confident"
    means = f"predicted {predicted:.4f} on average, observed {observed:.4f}"
    return [f"{side}-{what}: {means}."]


def words_of_slope(slope: Coefficient | None, *, of_confidence: bool) -> list[str]:
    """Say if predictions are too extreme or too timid, where that is beyond chance."""
    if slope is None or 1.0 in slope:
        return []
    shown = "" if slope.estimate is None else f" {slope.estimate:.3f}"
    if slope.high < 0:
        word = "Reversed: outcomes are rarer where the prediction is higher"
    elif of_confidence:
        word = f"Differences between confidences are too {'large' if slope.high < 1 else 'small'}"
    elif slope.high < 1:
        word = "Over-confident: too extreme"
    else:
        word = "Under-confident: too timid"
    return [f"{word} (recalibration slope{shown}, {slope.low:.3f} to {slope.high:.3f})."]
