"""Many subgroups: the figures of a table of them in one pass, each in full when looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.data.validation import is_integer
from veridical._core.sample import BinarySample, weighted_mean
from veridical._core.typing import FloatArray, IntArray
from veridical.binning import UniformBins
from veridical.evaluation._data.null_levels import NullDraws
from veridical.evaluation._data.source import SampleSource, Source, default_error
from veridical.inference.draws import (
    are_drawn_exactly,
    l1_limits_of_problems,
    null_l1_errors,
    null_pvalues,
)
from veridical.inference.intervals import binned_limits, has_interval, has_vector_interval
from veridical.miscalibration import BinnedError
from veridical.results import Evaluation, GroupRow
from veridical.scores import get_rule
from veridical.summaries import Summary, VectorSummary

FEW_GROUPS = 20  # evaluated in full at once


class TableOptions(NamedTuple):
    """Bins of the error, level of its limits, draws of its null level."""

    n_bins: Any
    level: float
    n_resamples: int
    seed: int


@dataclass(frozen=True)
class GroupMaker:
    """Evaluates one of many groups in full.

    Attributes
    ----------
    source : all rows, of its own so that nobody changes them
    keys : of the groups
    evaluated : from the rows of a group, its key and its member of the family to an evaluation
    """

    source: Source
    keys: tuple[Any, ...]
    evaluated: Callable[[Source, Any], Evaluation]

    def __call__(self, index: int) -> Evaluation:
        """The evaluation of the group of this number."""
        key = self.keys[index]
        return self.evaluated(self.source.group(key), key)


def rows_of_groups(source: Source, options: TableOptions) -> list[GroupRow]:
    """The figures of every group for a table of them: at once where rows count one, else by turns.

    At once they are the same figures: sums to rounding, limits to about 1e-11, null levels of
    the same draws that the group alone would have.
    """
    at_once = _plain_problem(source, options.n_bins)
    if at_once is not None:
        assert isinstance(source, SampleSource)
        return _rows_at_once(source, at_once, options)
    return [_row_of(key, part, options) for key, part in source.groups()]


def _row_of(key: Any, source: Source, options: TableOptions) -> GroupRow:
    """The figures of one group."""
    problem, areas, scores = source.binary, source.areas, source.scores
    known = [area for area in areas if area is not None]
    whole = source.problem if isinstance(source, SampleSource) else problem
    estimator = default_error(whole, options.n_bins)
    summary = source.binned(estimator, source.lens)
    value = estimator.from_summary(summary)
    null = NullDraws(options.n_resamples, np.random.default_rng(options.seed))
    beside = null.level(estimator, source.null_of(source.lens), summary, value)
    vectors = isinstance(summary, VectorSummary)
    own = source.kind == "binary" and has_interval(estimator)
    if has_vector_interval(estimator) if vectors else own:
        limits = binned_limits(estimator, source.independent(summary), options.level)
        beside["low"], beside["high"] = limits
    return GroupRow(
        key=key,
        n_samples=source.n,
        mean_predicted=weighted_mean(problem.p, problem.weight),
        mean_observed=weighted_mean(problem.y, problem.weight),
        accuracy=1 - scores["zero-one"],
        auc=float(np.mean(known)) if len(known) == len(areas) else None,
        brier=scores["brier"],
        log=scores["log"],
        error=value,
        **beside,
    )


def _plain_problem(source: Source, n_bins: Any) -> BinarySample | None:
    """The binary problem of independent rows that count one; None if it is anything else."""
    if not isinstance(source, SampleSource) or source.by is None or not is_integer(n_bins):
        return None
    problem = source.problem
    if not isinstance(problem, BinarySample) or problem.n != source.n or source.has_classes:
        return None
    return problem if problem.weight is None and problem.clusters is None else None


def _rows_at_once(
    source: SampleSource, problem: BinarySample, options: TableOptions
) -> list[GroupRow]:
    assert source.by is not None
    groups = source.by.kept(np.ones(source.n, dtype=bool), "evaluate")
    codes, n_groups = groups.codes, len(groups.keys)
    count = np.bincount(codes, minlength=n_groups).astype(np.float64)

    def mean(values: FloatArray | IntArray) -> FloatArray:
        return np.bincount(codes, values, minlength=n_groups) / count

    p = problem.p.astype(np.float64, copy=False)
    scores = {
        rule: mean(get_rule(rule, caller="evaluate").per_row(source.sample))
        for rule in ("brier", "log", "zero-one")
    }
    figures: dict[str, Any] = {
        "mean_predicted": mean(p),
        "mean_observed": mean(problem.y),
        "accuracy": 1 - scores["zero-one"],
        "brier": scores["brier"],
        "log": scores["log"],
    }
    assert isinstance(source.sample, BinarySample)
    areas = _areas(source.sample, codes, n_groups)
    beside = _errors(problem, codes, n_groups, options)
    rows = []
    for g, key in enumerate(groups.keys):
        own: dict[str, Any] = {name: float(values[g]) for name, values in figures.items()}
        tested: dict[str, Any] = {name: float(values[g]) for name, values in beside.items()}
        if "pvalue" in tested:
            tested["n_resamples"] = options.n_resamples
        area = None if np.isnan(areas[g]) else float(areas[g])
        rows.append(GroupRow(key=key, n_samples=int(count[g]), auc=area, **own, **tested))
    return rows


def _areas(sample: BinarySample, codes: IntArray, n_groups: int) -> FloatArray:
    """Areas under the ROC curve of every group, NaN where one class is absent."""
    order = np.lexsort((sample.p, codes))
    group, p, y = codes[order], sample.p[order], sample.y[order].astype(np.float64)
    new = np.append(True, (group[1:] != group[:-1]) | (p[1:] != p[:-1]))
    starts = np.flatnonzero(new)
    positive, held = np.add.reduceat(y, starts), np.diff(starts, append=len(p))
    negative, own = held - positive, group[starts]
    n_negative = np.bincount(own, negative, minlength=n_groups)
    n_positive = np.bincount(own, positive, minlength=n_groups)
    before = np.cumsum(n_negative) - n_negative
    below = np.cumsum(negative) - negative / 2 - before[own]
    wins, pairs = np.bincount(own, positive * below, minlength=n_groups), n_positive * n_negative
    return np.divide(wins, pairs, out=np.full(n_groups, np.nan), where=pairs > 0)


def _errors(
    problem: BinarySample, codes: IntArray, n_groups: int, options: TableOptions
) -> dict[str, FloatArray]:
    """The error on bins of equal width of every group, with limits and null level."""
    binning = UniformBins(options.n_bins)
    partition = binning.fit(problem)
    bins, n_bins = partition.assign(problem.p), partition.n_cells
    p = problem.p.astype(np.float64, copy=False)
    cell = codes * n_bins + bins

    def by_bin(values: FloatArray | IntArray | None) -> FloatArray:
        sums = np.bincount(cell, values, minlength=n_groups * n_bins)
        return sums.reshape(n_groups, n_bins).astype(np.float64, copy=False)

    held = by_bin(None)
    summary = Summary(
        partitions=(partition,) * n_groups,
        names=tuple(range(n_groups)),
        count=held,
        sum_w=held,
        sum_w2=held,
        sum_wp=by_bin(p),
        sum_wy=by_bin(problem.y),
        sum_wpq=by_bin(p * (1 - p)),
    )
    value = BinnedError(binning).each(summary)
    low, high = l1_limits_of_problems(summary, options.level)
    found = {"error": value, "low": low, "high": high}
    if options.n_resamples:
        found |= _null_levels(problem, codes, bins, summary, value, options)
    return found


def _null_levels(
    problem: BinarySample,
    codes: IntArray,
    bins: IntArray,
    summary: Summary,
    value: FloatArray,
    options: TableOptions,
) -> dict[str, FloatArray]:
    """Means, 95 % quantiles and p-values on calibrated models, some groups at a time."""
    n, exact = options.n_resamples, are_drawn_exactly(summary)
    names = ("null_mean", "null_q95", "pvalue")
    found: dict[str, FloatArray] = {name: np.empty(len(value)) for name in names}
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(value) + 1))
    estimator = BinnedError(UniformBins(options.n_bins))
    for groups in _blocks(len(value), n):
        rows = order[ends[groups.start] : ends[groups.stop]]
        own = codes[rows] - groups.start
        some = _problems(summary, groups)
        if exact[groups].all():
            draws = Draws(n, np.random.default_rng(options.seed))
            p = problem.p[rows].astype(np.float64, copy=False)
            errors = null_l1_errors(p, own, bins[rows], some, draws)
        else:
            errors = np.empty((groups.stop - groups.start, n))
            for g in range(len(errors)):
                held = np.arange(g, g + 1)
                part = problem.take(rows[own == g])
                null = NullDraws(n, np.random.default_rng(options.seed))
                errors[g] = null.errors(estimator, part, _problems(some, held))
        found["null_mean"][groups] = errors.mean(axis=1)
        found["null_q95"][groups] = np.quantile(errors, 0.95, axis=1)
        found["pvalue"][groups] = null_pvalues(value[groups], errors)
    return found


def _blocks(n_groups: int, n_resamples: int, most: int = 1 << 20) -> Iterator[slice]:
    step = max(1, most // n_resamples)
    for first in range(0, n_groups, step):
        yield slice(first, min(first + step, n_groups))


def _problems(summary: Summary, which: slice | IntArray) -> Summary:
    """Some problems of a summary that are binned alike."""
    sums: Mapping[str, Any] = {
        name: getattr(summary, name)[which]
        for name in ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")
    }
    n = len(sums["count"])
    return replace(
        summary, partitions=summary.partitions[:n], names=tuple(range(n)), scores={}, **sums
    )
