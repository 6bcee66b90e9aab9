"""What an evaluation found, in words."""

from __future__ import annotations

from veridical.results import Coefficient, Evaluation, MeasuredError
from veridical.results._test import format_pvalue

_LEVEL = 0.05


def verdict_of(e: Evaluation) -> str:
    """Return a sentence or two: is it calibrated, and if not, which way is it wrong?"""
    error = e.default
    if error.pvalue is None:
        return f"{error.name} is {error.value:.4f}; whether that is noise was not tested."
    if error.pvalue > _LEVEL:
        return _not_rejected(error)
    return " ".join([_rejected(error, e.confidence_level), *_direction(e)])


def _not_rejected(error: MeasuredError) -> str:
    text = (
        f"No miscalibration found: {error.name} {error.value:.4f} is within what a calibrated model"
        f" would read ({_null(error)})"
    )
    if error.high is None:
        return f"{text}."
    return f"{text}; an error up to {error.high:.4f} cannot be excluded."


def _rejected(error: MeasuredError, level: float) -> str:
    interval = ""
    if error.low is not None:
        interval = f"{level:.0%} interval {error.low:.4f} to {error.high:.4f}; ".replace("%", " %")
    null = f"a calibrated model would read {_null(error)}"
    return f"Miscalibrated: {error.name} {error.value:.4f} ({interval}{null})."


def _null(error: MeasuredError) -> str:
    assert error.pvalue is not None
    return (
        f"{error.null_mean:.4f} on average, up to {error.null_q95:.4f} in 95 % of samples;"
        f" p = {format_pvalue(error.pvalue)}"
    )


def _direction(e: Evaluation) -> list[str]:
    """Say which way level and slope are wrong, where that is beyond chance."""
    said = []
    level, slope = e.intercept, e.slope
    means = f"{e.mean_predicted:.4f} on average, observed {e.mean_observed:.4f}"
    of_confidence = e.curve.lens == "confidence"
    if level is not None and 0.0 not in level:
        if of_confidence:
            word = "Over-confident" if level.high < 0 else "Under-confident"
        else:
            word = "Over-predicts" if level.high < 0 else "Under-predicts"
        said.append(f"{word}: predicted {means}.")
    if slope is not None and 1.0 not in slope:
        said.append(_of_slope(slope, of_confidence=of_confidence))
    return said or ["Neither the level nor the slope is off: see the reliability curve for where."]


def _of_slope(slope: Coefficient, *, of_confidence: bool) -> str:
    shown = "" if slope.estimate is None else f" {slope.estimate:.3f}"
    limits = f"{slope.low:.3f} to {slope.high:.3f}"
    if slope.high < 0:
        word = "Reversed: outcomes are rarer where the prediction is higher"
    elif of_confidence:
        word = "Differences between confidences are "
        word += "too large" if slope.high < 1 else "too small"
    else:
        word = "Over-confident: too extreme" if slope.high < 1 else "Under-confident: too timid"
    return f"{word} (recalibration slope{shown}, {limits})."
