"""The verdict in one line: which way predictions are wrong, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.sample import BinarySample, weighted_mean
from veridical._core.typing import BoolArray
from veridical.report._content.content import Headline
from veridical.results import Coefficient, Evaluation

_LEVEL = 0.05

RULE = (
    "The verdict is about the error that speaks for the lens: beyond what 95 % of calibrated"
    " models with these predictions would show, or not (p at most 0.05); then about the"
    " recalibration line. Slope below 1: over-confident, too extreme. Slope above 1:"
    " under-confident, too timid. Level (intercept with slope 1) below 0: over-predicts, points"
    " below the diagonal; above 0: under-predicts. Either counts where the interval excludes"
    " the neutral value. Through the confidence lens over-confident means that the mean"
    " confidence is above the accuracy. Says and happens: for the level, the mean prediction and"
    " the observed frequency of all rows. For the slope, rows are split at the observed"
    " frequency of all rows (predictions above it, and the rest), and the numbers are the two"
    " means of that side which differs more in the direction of the word. If both level and slope"
    " are off, the larger comes first: the absolute difference of the means of all rows against"
    " the mean absolute difference of the sides from it, weighted by rows."
)


@dataclass(frozen=True)
class _Part:
    """Mean prediction and observed frequency of some rows."""

    says: float
    happens: float
    share: float
    where: str

    @property
    def gap(self) -> float:
        return self.says - self.happens


def headline_of(e: Evaluation, problem: BinarySample, pvalue: float | None) -> Headline:
    """Return the verdict of an evaluation.

    `problem` is the binary problem of its curve, `pvalue` that of the error which speaks for the
    lens.
    """
    everything = _part(problem, np.ones(problem.n, dtype=bool), "all rows")
    of_confidence = e.curve.lens == "confidence"
    words = _Words(of_confidence=of_confidence)
    if pvalue is None:
        return words.headline("untested", everything)
    level = _off(e.intercept, 0.0)
    slope = _off(e.slope, 1.0)
    if pvalue > _LEVEL and not slope:
        elsewhere = any(m.lens != e.default.lens and (m.pvalue or 1.0) <= _LEVEL for m in e.errors)
        return words.headline("calibrated in part" if elsewhere else "calibrated", everything)
    found = []
    sides = _sides(problem, everything)
    if e.slope is not None and slope:
        word = _slope_word(e.slope)
        extreme = word != "under-confident"
        found.append((_spread(sides, everything), word, _worst(sides, everything, extreme=extreme)))
    if e.intercept is not None and level:
        word = _level_word(e.intercept, of_confidence=of_confidence)
        # The mean confidence against the accuracy is what over-confidence means for a reader.
        size = np.inf if of_confidence else abs(everything.gap)
        found.append((size, word, everything))
    if not found:
        return words.headline("miscalibrated", everything)
    found.sort(key=lambda each: -each[0])
    first, second = found[0], found[1] if len(found) > 1 else None
    also = "" if second is None else words.also(second[1], second[2], e)
    return words.headline(first[1], first[2], also)


class _Words:
    """Sentences, in the words of the lens."""

    def __init__(self, *, of_confidence: bool) -> None:
        self.of_confidence = of_confidence
        self.happens = "is right" if of_confidence else "happens"

    def headline(self, word: str, part: _Part, also: str = "") -> Headline:
        numbers = f"says {part.says:.2f}, {self.happens} {part.happens:.2f}"
        where = "" if part.where == "all rows" else f" ({part.where})"
        text = f"{_TITLES[word]}: {numbers}{where or _on_average(word)}."
        return Headline(word=word, text=text, also=also, **vars(part))

    def also(self, word: str, part: _Part, e: Evaluation) -> str:
        if self.of_confidence and word in ("over-confident", "under-confident"):
            too = "large" if word == "over-confident" else "small"
            assert e.slope is not None
            return f"Differences between confidences are too {too} as well ({_limits(e.slope)})."
        numbers = f"says {part.says:.2f}, {self.happens} {part.happens:.2f}"
        where = "on average" if part.where == "all rows" else part.where
        return f"Also {word}: {numbers} ({where})."


_TITLES = {
    "calibrated": "No miscalibration found",
    "calibrated in part": "Not calibrated in every respect",
    "untested": "Not tested",
    "miscalibrated": "Miscalibrated, neither in level nor in spread",
    "over-confident": "Over-confident",
    "under-confident": "Under-confident",
    "over-predicting": "Over-predicts",
    "under-predicting": "Under-predicts",
    "reversed": "Reversed",
}


_WITHOUT_SIDE = ("calibrated", "calibrated in part", "untested", "miscalibrated")


def _on_average(word: str) -> str:
    return " on average" if word in _WITHOUT_SIDE else ""


def _part(problem: BinarySample, rows: BoolArray, where: str) -> _Part:
    weight = None if problem.weight is None else problem.weight[rows]
    total = problem.n if problem.weight is None else float(problem.weight.sum())
    own = int(rows.sum()) if weight is None else float(weight.sum())
    says, happens = (weighted_mean(v[rows], weight) for v in (problem.p, problem.y))
    return _Part(says, happens, own / total, where)


def _sides(problem: BinarySample, everything: _Part) -> list[_Part]:
    above = problem.p > everything.happens
    rate = f"{everything.happens:.2f}"
    sides = ((above, f"predictions above {rate}"), (~above, f"predictions up to {rate}"))
    return [_part(problem, rows, where) for rows, where in sides if rows.any()]


def _spread(sides: list[_Part], everything: _Part) -> float:
    return sum(side.share * abs(side.gap - everything.gap) for side in sides)


def _worst(sides: list[_Part], everything: _Part, *, extreme: bool) -> _Part:
    """The side that is wrong in the direction of the word, by most; all rows if neither is."""
    signs = {True: 1.0 if extreme else -1.0, False: -1.0 if extreme else 1.0}
    wrong = [(signs[side.where.startswith("predictions above")] * side.gap, side) for side in sides]
    largest = max(wrong, key=lambda each: each[0])
    return largest[1] if largest[0] > 0 else everything


def _off(coefficient: Coefficient | None, neutral: float) -> bool:
    return coefficient is not None and neutral not in coefficient


def _slope_word(slope: Coefficient) -> str:
    if slope.high < 0:
        return "reversed"
    return "over-confident" if slope.high < 1 else "under-confident"


def _level_word(level: Coefficient, *, of_confidence: bool) -> str:
    side = "over" if level.high < 0 else "under"
    return f"{side}-confident" if of_confidence else f"{side}-predicting"


def _limits(slope: Coefficient) -> str:
    estimate = "" if slope.estimate is None else f" {slope.estimate:.2f}"
    return f"recalibration slope{estimate}, {slope.low:.2f} to {slope.high:.2f}"
