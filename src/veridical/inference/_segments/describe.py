"""Segments in numbers and words: what is said, what happens, and which few carry the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from veridical._core.data.features import Features
from veridical._core.data.segments import Segments
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._segments.cells import Question, sums_by_segment
from veridical.inference._segments.search import observed_ranges, standardised
from veridical.results import Segment, WorstGap

_NEARLY = 0.9  # of the largest statistic: a shorter description with as much is preferred
_LEFT = 0.8  # share of its rows that a segment must have left to be described
_MOST = 8  # descriptions


@dataclass(frozen=True)
class Reading:
    """Sums of every segment, by question: arrays of shape (segments, questions).

    Attributes
    ----------
    mass, said, happened : sums of w, w p and w y
    size : independent rows of one weight that would tell as much
    error : standard deviation of the sum of residuals, if predictions are right
    design : how much larger its variance is by groups of rows, (segments,)
    """

    mass: FloatArray
    said: FloatArray
    happened: FloatArray
    size: FloatArray
    error: FloatArray
    design: FloatArray

    @property
    def says(self) -> FloatArray:
        """Mean prediction."""
        return np.asarray(self.said / self.mass)

    @property
    def happens(self) -> FloatArray:
        """Share of events."""
        return np.asarray(self.happened / self.mass)

    def limits(self, tail: float) -> tuple[FloatArray, FloatArray]:
        """Limits of what happens, each missed with a chance of at most `tail`.

        Those of Clopper & Pearson (1934), doi 10.1093/biomet/26.4.404, which hold for rows of
        different chances, too (Hoeffding 1956, doi 10.1214/aoms/1177728178); rows of different
        weights and groups count with their effective number (Korn & Graubard 1998, Survey
        Methodology 24, 193-201).
        """
        from scipy.special import betaincinv

        share = np.clip(self.happens, 0.0, 1.0)
        hits, misses = self.size * share, self.size * (1 - share)
        low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-300), misses + 1, tail), 0.0)
        high = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1e-300), 1 - tail), 1.0)
        return low, high

    def worst(
        self,
        limits: tuple[FloatArray, FloatArray],
        segments: Segments,
        features: Features,
        questions: list[Question],
    ) -> WorstGap:
        """The largest absolute gap of any segment."""
        low, high = (limit - self.says for limit in limits)
        most, least = np.maximum(high, -low), np.maximum(np.maximum(low, -high), 0.0)

        def name(sizes: FloatArray) -> str:
            number, asked = np.unravel_index(int(sizes.argmax()), sizes.shape)
            words = features.words(segments.parts[number])
            rows = f"{words}, {segments.rows[number]:,.0f} rows"
            label = questions[asked].label
            return rows if label is None else f"{rows}, class {label!r}"

        return WorstGap(
            estimate=float(np.abs(self.happens - self.says).max()),
            low=float(least.max()),
            high=float(most.max()),
            low_segment=name(least),
            high_segment=name(most),
        )

    def describer(
        self,
        features: Features,
        segments: Segments,
        observed: FloatArray,
        statistic: FloatArray,
        asked: IntArray,
        adjusted: FloatArray,
        limits: tuple[FloatArray, FloatArray],
        questions: list[Question],
    ) -> Callable[[int], Segment]:
        """A function that makes the record of a segment, by its number."""

        def describe(number: int) -> Segment:
            k = int(asked[number])
            parts = segments.parts[number]
            at = (number, k)
            gap = self.happened[at] - self.said[at]
            z = gap / self.error[at] if self.error[at] > 0 else 0.0
            return Segment(
                name=features.words(parts),
                values=tuple(features.words((part,)) for part in parts),
                features=tuple(features.of[each].name for each, _ in parts),
                n_samples=round(float(segments.rows[number])),
                says=float(self.says[at]),
                happens=float(self.happens[at]),
                low=float(limits[0][at]),
                high=float(limits[1][at]),
                range=float(observed[at] / self.mass[at]),
                statistic=float(statistic[at]),
                z=float(z),
                pvalue=float(adjusted[number]),
                label=questions[k].label,
            )

        return describe


def read_segments(
    questions: list[Question], codes: IntArray, segments: Segments, design: FloatArray
) -> Reading:
    """Sums of every segment."""
    sums = [
        sums_by_segment(
            (q.mass, q.said, q.happened, q.squares, q.variance), q.cross, codes, segments
        )
        for q in questions
    ]
    mass, said, happened, squares, variance = np.stack(sums, axis=2)
    wider = design[:, None]
    size = mass**2 / np.maximum(squares, 1e-300) / wider
    return Reading(mass, said, happened, size, np.sqrt(variance * wider), design)


def found_segments(
    questions: list[Question],
    codes: IntArray,
    segments: Segments,
    sure: IntArray,
    critical: float,
    design: FloatArray,
    describe: Callable[[int], Segment],
    min_rows: int,
) -> list[Segment]:
    """The shortest descriptions that carry what was found.

    Of the segments whose adjusted p-value is small, the shortest one with at least 90 % of the
    largest statistic; then again without its rows, as long as what is left of a segment (most of
    it) deviates by more than chance would have let any do.
    """
    found: list[Segment] = []
    left = np.ones(len(codes), dtype=bool)
    while len(sure) and len(found) < _MOST:
        some = segments.subset(sure)
        rest = [question.without(~left) for question in questions] if found else questions
        reading = read_segments(rest, codes, some, design[sure])
        moved = np.stack([observed_ranges(q, codes, some).range[:, 0] for q in rest], axis=1)
        statistic = standardised(moved, reading.error)
        largest = statistic.max(axis=1)
        if found:  # what is left must be enough, and still be what its name says
            [rows] = sums_by_segment((rest[0].count,), rest[0].cross, codes, some)
            largest[rows < np.maximum(min_rows, _LEFT * some.rows)] = 0.0
        if largest.max() < critical:
            break
        near = np.flatnonzero(largest >= _NEARLY * largest.max())
        length = np.array([len(some.parts[number]) for number in near])
        best = near[np.lexsort((-largest[near], length))[0]]
        asked = int(statistic[best].argmax())
        inside: BoolArray = some.subset(np.array([best])).of(codes)[:, 0] >= 0
        record = describe(int(sure[best]))
        found.append(_with_stretch(record, questions[asked], inside))
        left &= ~inside
        largest[best] = 0.0
        sure = sure[largest >= critical]  # rows only become fewer
        if not left.any():
            break
    return found


def _with_stretch(segment: Segment, question: Question, inside: BoolArray) -> Segment:
    """Between which predictions the sum of residuals of a segment moves by its range."""
    kept = question.without(~inside)
    cell = np.repeat(np.arange(kept.n_cells), np.diff(kept.bounds))

    def along(values: FloatArray) -> FloatArray:
        return np.append(0.0, np.cumsum(np.bincount(cell, values, minlength=kept.n_cells)))

    path = along(kept.residual)
    first, last = sorted((int(path.argmin()), int(path.argmax())))
    mass, said, happened = (
        float(np.diff(along(v)[[first, last]])[0]) for v in (kept.mass, kept.said, kept.happened)
    )
    if mass <= 0:
        return segment
    held = np.flatnonzero(np.diff(kept.bounds))  # scores that the segment has
    held = held[(held >= first) & (held < last)]
    return replace(
        segment,
        from_score=float(kept.lowest[held[0]]),
        to_score=float(kept.highest[held[-1]]),
        part_says=said / mass,
        part_happens=happened / mass,
    )
