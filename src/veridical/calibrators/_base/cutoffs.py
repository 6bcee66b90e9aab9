"""From a calibrated probability back to the raw score that reaches it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.data.validation import is_number
from veridical._core.formula import probability_of
from veridical._core.numeric.bisection import last_within
from veridical._core.typing import FloatArray
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.exporting import probe_scores
from veridical.exceptions import invalid
from veridical.results import Cutoff

_CALLER = "inverse"
_ROUNDING = 1e-12  # falls that are no more than this are rounding
_LEVEL = 1e-9  # relative: a shorter level piece is the rounding of a map that rises

Map = Callable[[FloatArray], FloatArray]


def cutoff_of(calibrator: Calibrator, threshold: float, map: Map | None = None) -> Cutoff:
    """Where the probability of the positive class reaches a threshold; see `Calibrator.inverse`.

    `map` gives that probability from scores, where `predict_proba` needs more than them.
    """
    if len(calibrator.classes_) != 2:
        hint = "of several classes, decide by all of them: `decide(predict_proba(p), costs)`."
        got = f"one of {len(calibrator.classes_)}"
        raise invalid(_CALLER, "calibrator", "a map of two classes", got, hint=hint)
    if not is_number(threshold) or not 0 < threshold < 1:
        hint = "a probability, e.g. `cost_threshold(cost_fp, cost_fn)`."
        raise invalid(_CALLER, "threshold", "between 0 and 1", repr(threshold), hint=hint)
    place = calibrator.positive_index_
    given = map or (lambda s: calibrator.predict_proba(s)[:, place])

    def probability(scores: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return given(scores)

    scores = probe_scores(calibrator)
    values = probability(scores)
    rises = np.diff(values)
    rising, falling = bool((rises >= -_ROUNDING).all()), bool((rises <= _ROUNDING).all())
    if falling and not rising:  # seen in a mirror it rises
        found = _reached(lambda s: probability(-s), -scores[::-1], values[::-1], threshold)
        score, low, high, before, after = found
        score, low, high = -score, -high, -low
    else:
        score, low, high, before, after = _reached(probability, scores, values, threshold)
    return Cutoff(
        threshold=float(threshold),
        score=score,
        low=low,
        high=high,
        before=before,
        after=after,
        falling=falling and not rising,
        monotone=rising or falling,
        reached_before=not (rising or falling)
        and bool((values[scores < score] >= threshold).any()),
        meaning=probability_of(
            calibrator.positive_label, getattr(calibrator, "outcome_name_", None)
        ),
        input=calibrator.input,
    )


def _reached(
    map: Map, scores: FloatArray, values: FloatArray, threshold: float
) -> tuple[float, float, float, float, float]:
    """Cut-off, level piece, and probabilities before and at it, of a map that rises at its end."""
    below = np.flatnonzero(values < threshold)
    ends = float(values[0]), float(values[-1])
    if not len(below):
        return (-np.inf, -np.inf, -np.inf, *ends)
    last = int(below[-1])
    if last == len(scores) - 1:
        return (np.inf, np.inf, np.inf, *ends)
    bracket = float(scores[last]), float(scores[last + 1])
    before = float(last_within(map, np.array([np.nextafter(threshold, 0)]), *bracket)[0])
    score = float(np.nextafter(before, np.inf))
    values_there = map(np.array([before, score]))
    low = high = score
    if values_there[1] == threshold:
        level = np.flatnonzero(values[last + 1 :] > threshold)
        end = float(scores[last + 1 + level[0]] if len(level) else scores[-1])
        high = float(last_within(map, np.array([threshold]), score, end)[0])
        if high - low <= _LEVEL * max(abs(low), abs(high)):
            high = low
    return score, low, high, float(values_there[0]), float(values_there[1])
