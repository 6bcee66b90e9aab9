"""What an evaluation found, in words."""

from __future__ import annotations

from veridical.evaluation._direction import words_of_level, words_of_slope
from veridical.results import Evaluation, MeasuredError
from veridical.results._test import format_pvalue

_LEVEL = 0.05


def verdict_of(e: Evaluation) -> str:
    """Return a sentence or two: is it calibrated, and if not, which way is it wrong?"""
    error = e.default
    if error.pvalue is None:
        return f"{error.name} is {error.value:.4f}; whether that is noise was not tested."
    if error.pvalue > _LEVEL:
        return _not_rejected(error, _beside(e))
    return " ".join([_rejected(error, e.confidence_level), *_direction(e)])


def _beside(e: Evaluation) -> list[str]:
    """What other figures find although the error itself is not beyond chance."""
    said = words_of_slope(e.slope, of_confidence=e.curve.lens == "confidence")
    found = [m for m in e.errors if m.lens != e.default.lens and (m.pvalue or 1.0) <= _LEVEL]
    for m in found:
        assert m.pvalue is not None
        said.append(
            f"{m.name} {m.value:.4f} is more than a calibrated model would read"
            f" (p = {format_pvalue(m.pvalue)})."
        )
    return said


def _not_rejected(error: MeasuredError, beside: list[str]) -> str:
    what = f"{error.name} {error.value:.4f} is within what a calibrated model would read"
    null = f"({_null(error)})"
    if beside:
        return f"Not calibrated in every respect: {what} {null}, but: {' '.join(beside)}"
    text = f"No miscalibration found: {what} {null}"
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
    of_confidence = e.curve.lens == "confidence"
    said = words_of_level(
        e.intercept, e.mean_predicted, e.mean_observed, of_confidence=of_confidence
    )
    said += words_of_slope(e.slope, of_confidence=of_confidence)
    return said or ["Neither the level nor the slope is off: see the reliability curve for where."]
