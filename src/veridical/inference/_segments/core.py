"""Calibration of checked rows in all segments at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veridical._core.data.features import Features
from veridical._core.data.randomness import Draws
from veridical._core.data.segments import Segments, cross, find_segments
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import REDRAWN, Redraw, Sharing, most_draws
from veridical._core.resampling.rows import counts_rows, repeated_rows
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.inference._segments.cells import Question, drawn_question, redrawn_question
from veridical.inference._segments.describe import Reading, found_segments, read_segments
from veridical.inference._segments.search import null_ranges, observed_ranges, standardised
from veridical.lenses import ClasswiseProblem, Problem
from veridical.results import SegmentAudit

_TIE = 1e-9  # relative: sums in another order are the same value
_KEPT = 500  # segments that a result holds


@dataclass(frozen=True)
class SearchOptions:
    """How far a search goes, and how sure it is.

    Attributes
    ----------
    depth, min_rows : most features of a segment, and fewest rows
    level : confidence level
    draws : how often outcomes are drawn, and from where
    """

    depth: int
    min_rows: int
    level: float
    draws: Draws


@dataclass(frozen=True)
class Table:
    """Rows as crosses of codes: all that a search needs.

    Attributes
    ----------
    features : what the codes mean
    codes : of each cross that occurs
    rows : rows of each cross
    questions : of each binary problem
    redraw : how outcomes are drawn if not from the predictions, one by one
    lens, event : what was asked, in words
    n_samples : rows
    """

    features: Features
    codes: IntArray
    rows: FloatArray
    questions: list[Question]
    redraw: Redraw | None
    lens: str
    event: str
    n_samples: int


def table_of(
    problem: Problem, features: Features, codes: IntArray, *, lens: str, event: str, caller: str
) -> Table:
    """The table of a problem and of the codes of its rows."""
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    pooled = isinstance(problem, BinarySample) and problem.n != len(codes)  # a row K times
    if isinstance(problem, MulticlassSample) or pooled:
        hint = 'use lens="confidence", "classwise" or `ClassSpecific(label)`.'
        raise invalid(caller, "lens", "one that asks binary questions", f"{lens!r}", hint=hint)
    copies = sample.weight if sample.weight is not None and counts_rows(sample) else None
    cells = cross(codes, features.n_codes, copies)
    redraw = _redraw(problem, caller)
    if redraw is None:
        assert isinstance(problem, BinarySample)
        questions = [drawn_question(cells.place, problem.p, problem.y, copies)]
    else:
        weight = None if copies is not None else sample.weight
        y = sample.y
        several = isinstance(problem, ClasswiseProblem)
        asked = range(redraw.p.shape[1]) if several else [1]
        questions = [
            redrawn_question(
                redraw,
                k,
                cells.place,
                y,
                weight,
                problem.sample.classes[k] if several else None,  # type: ignore[union-attr]
            )
            for k in asked
        ]
    rows = float(copies.sum()) if copies is not None else float(sample.n)
    return Table(features, cells.codes, cells.rows, questions, redraw, lens, event, round(rows))


def _redraw(problem: Problem, caller: str) -> Redraw | None:
    """How rows are redrawn; rows of several classes have one outcome for all of their questions."""
    sample: Sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    made = redraw_of(sample)
    if made is not None or isinstance(problem, BinarySample):
        return made
    index = repeated_rows(sample)
    if index is None:
        if sample.weight is not None and counts_rows(sample):
            hint = "divide them, or ask about one class."
            raise invalid(
                caller, "sample_weight", "of fewer rows", f"{sample.size:,.0f}", hint=hint
            )
        index = np.arange(sample.n)
    index = index[np.lexsort(tuple(sample.p[index].T))]
    p = sample.p[index].astype(np.float64)
    return Redraw(p, p / p.sum(axis=1, keepdims=True), np.ones_like(p), None, REDRAWN, index)


def telling_features(
    features: Features, codes: IntArray, counts: FloatArray | None, min_rows: int
) -> tuple[Features, IntArray, tuple[str, ...]]:
    """Features without those that name nobody: no value has enough rows, or one has all."""
    kept: list[int] = []
    left_out: dict[str, list[str]] = {}
    for k, feature in enumerate(features):
        rows = np.bincount(codes[:, k], weights=counts, minlength=feature.n_codes)
        named = rows[: feature.n_named].max(initial=0) >= min_rows
        if (rows > 0).sum() < 2:
            left_out.setdefault("all rows have one value", []).append(feature.name)
        elif named or rows[feature.missing] >= min_rows:
            kept.append(k)
        else:
            left_out.setdefault(f"no value has {min_rows:,} rows", []).append(feature.name)
    if not left_out:
        return features, codes, ()
    if not kept:  # all rows are tested even so
        return features, np.zeros_like(codes), ()
    notes = tuple(f"left out, as {why}: {', '.join(names)}" for why, names in left_out.items())
    return Features(tuple(features.of[k] for k in kept)), codes[:, np.array(kept)], notes


def audit_core(table: Table, options: SearchOptions) -> SegmentAudit:
    """Search all segments of a table."""
    segments = find_segments(
        table.codes,
        table.rows,
        table.features.n_codes,
        depth=options.depth,
        min_rows=options.min_rows,
    )
    reading = read_segments(table.questions, table.codes, segments, _design(table, segments))
    observed = np.stack(
        [observed_ranges(q, table.codes, segments).range[:, 0] for q in table.questions], axis=1
    )
    statistic = standardised(observed, reading.error)
    null = _null(table, segments, reading, statistic.max(axis=1), options.draws)
    limits = reading.limits(_tail(null, statistic.size, options.level))
    critical = _quantile(null.largest, options.level)
    asked = statistic.argmax(axis=1)
    order = np.lexsort((np.arange(len(segments)), -statistic.max(axis=1)))
    describe = reading.describer(
        table.features, segments, observed, statistic, asked, null.adjusted, limits, table.questions
    )
    sure = np.flatnonzero(null.adjusted <= (1 - options.level) * (1 + _TIE))
    found = found_segments(
        table.questions,
        table.codes,
        segments,
        sure,
        critical,
        reading.design,
        describe,
        options.min_rows,
    )
    return SegmentAudit(
        pvalue=null.pvalue,
        statistic=float(statistic.max()),
        critical=critical,
        found=tuple(found),
        segments=tuple(describe(int(number)) for number in order[:_KEPT]),
        worst=reading.worst(limits, segments, table.features, table.questions),
        n_segments=len(segments),
        n_samples=table.n_samples,
        features=tuple(table.features.names),
        depth=min(options.depth, len(table.features)),
        min_rows=options.min_rows,
        event=table.event,
        lens=table.lens,
        n_resamples=null.n_resamples,
        confidence_level=options.level,
        null=REDRAWN if table.redraw is None else table.redraw.said,
        notes=("no feature value has enough rows: only all rows were tested",)
        if len(segments) == 1
        else (),
    )


@dataclass(frozen=True)
class _Null:
    """What draws say: p-values, largest statistics and largest levels."""

    pvalue: float
    adjusted: FloatArray
    largest: FloatArray
    levels: FloatArray
    n_resamples: int


def _null(
    table: Table, segments: Segments, reading: Reading, statistic: FloatArray, draws: Draws
) -> _Null:
    """Draw outcomes for all segments at once.

    Adjusted p-values compare a segment with the largest of those that deviate no more than it does
    (Westfall & Young 1993, Resampling-based multiple testing, algorithm 2.8).
    """
    if table.redraw is not None:
        draws = most_draws(draws, table.redraw.n)
    order = np.argsort(-statistic, kind="stable")
    ranked = statistic[order] * (1 - _TIE)
    reached = np.zeros(len(order))
    largest, levels = [], []
    for questions in null_ranges(table.questions, table.codes, segments, draws, table.redraw):
        drawn = np.zeros((len(segments), questions[0].end.shape[1]))
        level = np.zeros(drawn.shape[1])
        for k, ranges in enumerate(questions):
            error = reading.error[:, k, None]
            np.maximum(drawn, standardised(ranges.range, error), out=drawn)
            known = error[:, 0] > 0
            level = np.maximum(
                level, (np.abs(ranges.end[known]) / error[known]).max(axis=0, initial=0)
            )
        rest = np.maximum.accumulate(drawn[order][::-1], axis=0)[::-1]  # of those no larger
        reached += (rest >= ranked[:, None]).sum(axis=1)
        largest.append(rest[0])
        levels.append(level)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + draws.n_resamples))
    return _Null(
        float(adjusted[order[0]]),
        adjusted,
        np.concatenate(largest),
        np.concatenate(levels),
        draws.n_resamples,
    )


def _quantile(values: FloatArray, level: float) -> float:
    """The value that draws and what was observed, if it is one more of them, stay below."""
    rank = math.ceil(level * (1 + len(values)) - _TIE)
    return float("inf") if rank > len(values) else float(np.sort(values)[rank - 1])


def _tail(null: _Null, n_gaps: int, level: float) -> float:
    """Chance at each end at which limits of all gaps hold at once.

    That of the largest studentised gap of any segment; never less than Bonferroni's. Draws of
    predictions near 0 and 1 may have no spread, and say nothing: then it is Bonferroni's.
    """
    from scipy.special import ndtr

    each = (1 - level) / (2 * n_gaps)
    tail = float(ndtr(-_quantile(null.levels, level)))
    return each if tail > (1 - level) / 2 else max(tail, each)


def _design(table: Table, segments: Segments) -> FloatArray:
    """How much larger the variance of the sum of residuals of each segment is, by groups of rows.

    Rows of a group have the correlation of the data: 1 + r (m - 1), m the rows of its group that a
    row of the segment is among, on average (Kish 1965, Survey Sampling, section 5.4).
    """
    made = table.redraw
    if made is None or made.sharing is None:
        return np.ones(len(segments))
    sharing: Sharing = made.sharing
    question = table.questions[0]
    assert question.rows is not None
    group, codes = sharing.group[question.rows], table.codes[question.cross]
    rows, squares = np.zeros(len(segments)), np.zeros(len(segments))
    n_groups = int(group.max()) + 1
    for member in segments.of(codes).T:
        inside = member >= 0
        key = member[inside].astype(np.int64) * n_groups + group[inside]
        pairs, count = np.unique(key, return_counts=True)
        where = pairs // n_groups
        rows += np.bincount(where, count, minlength=len(segments))
        squares += np.bincount(where, count**2, minlength=len(segments))
    together = squares / np.maximum(rows, 1)
    correlation = min(sharing.correlation + abs(sharing.slope), 1.0)
    return np.asarray(1 + correlation * np.maximum(together - 1, 0.0))
