"""From an induced problem and a binning to a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from veridical._core.sample import BinarySample, MulticlassSample
from veridical._core.typing import FloatArray, WeightType
from veridical._core.validation import check_option
from veridical.binning import (
    Binning,
    IntervalBinning,
    IntervalPartition,
    SimplexBinning,
    SimplexBins,
    UniformBins,
    root_count,
)
from veridical.exceptions import invalid
from veridical.lenses import ClasswiseProblem
from veridical.scores import ScoringRule, get_rule
from veridical.summaries._classwise import matrix_sums
from veridical.summaries._summary import Summary
from veridical.summaries._sums import Sums, hard_sums, linear_sums, stack
from veridical.summaries._vector import VectorSummary, vector_summary

Assignment = Literal["hard", "linear", "linear-inverted"]


@overload
def summarise(
    problem: BinarySample | ClasswiseProblem,
    binning: Binning,
    *,
    assignment: Assignment = ...,
    rules: Sequence[str] = ...,
) -> Summary: ...
@overload
def summarise(
    problem: MulticlassSample,
    binning: Binning,
    *,
    assignment: Assignment = ...,
    rules: Sequence[str] = ...,
) -> VectorSummary: ...


def summarise(
    problem: BinarySample | ClasswiseProblem | MulticlassSample,
    binning: Binning,
    *,
    assignment: Assignment = "hard",
    rules: Sequence[str] = (),
) -> Summary | VectorSummary:
    """Bin an induced problem and sum over its rows, in one blocked pass.

    Parameters
    ----------
    problem : BinarySample, ClasswiseProblem or MulticlassSample
        What a lens induced.
    binning : Binning
        Interval bins for binary and classwise problems. A vector problem takes simplex bins;
        `UniformBins(n)` stands for the grid `SimplexBins(n)` there.
    assignment : {"hard", "linear", "linear-inverted"}
        One bin a row, or two neighbours (001 Definition 5; "linear-inverted" with the printed,
        swapped weights).
    rules : sequence of str
        Scoring rules whose sums are wanted too; Brier sums of binary problems are always there.

    Examples
    --------
    Three rows in two bins; two of them in the first one, where one was positive.

    >>> from veridical._core.validation import check_sample
    >>> from veridical.binning import UniformBins
    >>> rows = check_sample([0, 1, 1], [0.25, 0.5, 0.75], caller="example")
    >>> sums = summarise(rows, UniformBins(2))
    >>> sums.count.tolist(), sums.sum_wp.tolist(), sums.sum_wy.tolist()
    ([[2.0, 1.0]], [[0.75, 0.75]], [[1.0, 1.0]])
    """
    check_option("summarise", "assignment", assignment, ("hard", "linear", "linear-inverted"))
    scored = [get_rule(name, caller="summarise") for name in rules]
    if isinstance(problem, MulticlassSample):
        if assignment != "hard":
            hint = 'linear assignment is defined on an interval; use assignment="hard".'
            got = repr(assignment)
            raise invalid("summarise", "assignment", '"hard" on the simplex', got, hint=hint)
        return vector_summary(problem, _simplex_binning(binning, problem).fit(problem), scored)
    if not isinstance(binning, IntervalBinning):
        hint = 'use UniformBins or QuantileBins, or lens="canonical" for vectors.'
        got = binning.name
        raise invalid("summarise", "binning", "bins of an interval", got, hint=hint)
    if isinstance(problem, BinarySample):
        partition = binning.fit(problem)
        sums, scores = _sums(problem, partition, scored, assignment)
        return _summary([(sums, scores)], [partition], (problem.classes[1],), problem.weight_type)
    return _classwise_summary(problem, binning, scored, assignment)


def _classwise_summary(
    problem: ClasswiseProblem,
    binning: IntervalBinning,
    rules: Sequence[ScoringRule],
    assignment: Assignment,
) -> Summary:
    names, weight_type = problem.sample.classes, problem.sample.weight_type
    if _ignores_scores(binning) and assignment == "hard" and not rules:
        shared = binning.fit(problem.problem(0))
        sums = matrix_sums(problem.sample, shared)
        brier = sums.pop("brier")
        return Summary(
            partitions=(shared,) * len(names),
            names=names,
            weight_type=weight_type,
            scores={"brier": brier},
            **sums,
        )
    parts, partitions = [], []
    for index in range(problem.n_problems):
        single = problem.problem(index)
        partition = binning.fit(single)
        partitions.append(partition)
        parts.append(_sums(single, partition, rules, assignment))
    return _summary(parts, partitions, names, weight_type)


def _sums(
    sample: BinarySample,
    partition: IntervalPartition,
    rules: Sequence[ScoringRule],
    assignment: Assignment,
) -> tuple[Sums, dict[str, FloatArray]]:
    other = [rule for rule in rules if rule.name != "brier"]
    if assignment == "hard":
        return hard_sums(sample, partition, other)
    return linear_sums(sample, partition, other, inverted=assignment == "linear-inverted")


def _summary(
    parts: Sequence[tuple[Sums, dict[str, FloatArray]]],
    partitions: Sequence[IntervalPartition],
    names: tuple[object, ...],
    weight_type: WeightType,
) -> Summary:
    sums = stack([part[0] for part in parts])
    scores = {"brier": sums.pop("brier")}
    if parts[0][1]:
        scores |= stack([{"count": part[0]["count"], **part[1]} for part in parts])
        scores.pop("count")
    return Summary(
        partitions=tuple(partitions), names=names, weight_type=weight_type, scores=scores, **sums
    )


def _ignores_scores(binning: IntervalBinning) -> bool:
    """Whether every class gets the same bins, whatever its scores."""
    return isinstance(binning, UniformBins) and binning.n != "cv" and binning.min_count is None


def _simplex_binning(binning: Binning, problem: MulticlassSample) -> SimplexBinning:
    if isinstance(binning, SimplexBinning):
        return binning
    if isinstance(binning, UniformBins) and binning.n != "cv":
        if not isinstance(binning.n, str):
            return SimplexBins(int(binning.n))
        # The rules count cells: as many to an axis as make so many cells of K - 1 axes.
        cells = root_count(binning.n, problem.size)
        return SimplexBins(max(1, int(cells ** (1 / (len(problem.classes) - 1)) + 1e-9)))
    hint = "use SimplexBins(n), VarianceSplitBins(min_size) or UniformBins(n) for vectors."
    raise invalid("summarise", "binning", "cells of the simplex", binning.name, hint=hint)
