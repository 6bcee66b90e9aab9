"""What an evaluation is made from: rows in memory, or sums that an engine made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from veridical._core.data.groups import Groups
from veridical._core.data.left_out import LeftOut
from veridical._core.resampling.hypothesis import independent_rows
from veridical._core.sample import BinarySample, MulticlassSample, Sample, weighted_mean
from veridical._core.typing import Array, BoolArray, IntArray
from veridical.binning import Binning, UniformBins, VarianceSplitBins
from veridical.evaluation._data.areas import auc_by_class, auc_of_pooled
from veridical.evaluation._data.null_levels import NullSource
from veridical.frames.inputs import UNNAMED, Named
from veridical.inference.core import KeptScores, difference_core
from veridical.inference.intervals import IntervalOptions, Rows, rows_of
from veridical.lenses import Binary, Canonical, ClasswiseProblem, Confidence, Lens, Problem
from veridical.lenses.reading import Induced
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import Difference
from veridical.scores import RULES, get_rule
from veridical.summaries import Summary, VectorSummary, summarise
from veridical.summaries.core import independent_sums

Kind = Literal["binary", "classwise", "vector"]


class Source(ABC):
    """Data seen through a lens, read once.

    Attributes
    ----------
    lens : the lens of the calibration errors
    guessed : what was guessed about the columns, or None
    named : what outcome and prediction are called
    asked : whether the user asked for this lens; whole predictions are judged otherwise
    said : what was done to values when they were read, or accepted of them
    """

    lens: Lens
    guessed: str | None
    named: Named
    asked: bool
    said: tuple[str, ...]

    @property
    @abstractmethod
    def binary(self) -> BinarySample:
        """One binary problem to be drawn and averaged: the lens's own, or the confidence."""

    @property
    def binary_lens(self) -> Lens:
        """The lens of `binary`."""
        return self.lens if self.kind == "binary" else Confidence()

    @cached_property
    def rows(self) -> Rows:
        """The rows of `binary` as limits take them."""
        return rows_of(self.binary)

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What the lens induces."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def sum_weight(self) -> float:
        """Sum of weights, the number of rows without weights."""

    @property
    @abstractmethod
    def weighted(self) -> bool:
        """Whether rows have weights."""

    @property
    @abstractmethod
    def classes(self) -> tuple[Any, ...]:
        """Labels; of two the positive one is last."""

    @property
    def has_classes(self) -> bool:
        """Whether there are more than two."""
        return len(self.classes) > 2

    @property
    @abstractmethod
    def base_rate(self) -> tuple[float, ...]:
        """Share of each class."""

    @property
    @abstractmethod
    def mean_by_class(self) -> tuple[float, ...]:
        """Mean probability of each class."""

    @property
    @abstractmethod
    def scores(self) -> dict[str, float]:
        """Mean scores of whole predictions by rule."""

    @property
    @abstractmethod
    def areas(self) -> tuple[float | None, ...]:
        """Areas under the ROC curve of every class."""

    @abstractmethod
    def score_of_binary(self, rule: str) -> float | None:
        """Mean score of `binary`, where it is known without looking at it."""

    @abstractmethod
    def through(self, lens: Lens) -> BinarySample | None:
        """The problem of a lens of one probability a row; None if that is not known.

        Its rows may be cells that stand for many: `n` is the number of rows.
        """

    @abstractmethod
    def summary(self, binning: Binning) -> Summary:
        """Sums by bin of `binary`."""

    @abstractmethod
    def binned(self, estimator: BinnedError, through: Lens) -> Summary | VectorSummary:
        """Sums that a binned error is a function of, through this lens or the classwise one."""

    @abstractmethod
    def independent(
        self, summary: Summary | VectorSummary, *, each: bool = False
    ) -> Summary | VectorSummary:
        """Sums of the lens's own problem, or of whole vectors, as independent rows would vary.

        All bins together, or `each` by itself.
        """

    @property
    @abstractmethod
    def size(self) -> float:
        """Independent rows that would tell as much."""

    @abstractmethod
    def null_of(self, through: Lens) -> NullSource | None:
        """What outcomes are drawn from; None if that is not known."""

    @abstractmethod
    def groups(self) -> Iterator[tuple[Any, Source]]:
        """Every subgroup by itself, with its key."""

    @property
    @abstractmethod
    def keys(self) -> tuple[Any, ...]:
        """Keys of the subgroups."""

    @abstractmethod
    def group(self, key: Any) -> Source:
        """One subgroup by itself."""

    @abstractmethod
    def copied(self) -> Source:
        """The same data of its own, for what is looked at later."""

    @abstractmethod
    def some_rows(self, most: int, seed: int) -> tuple[SampleSource, str] | LeftOut:
        """Rows for what needs rows, at most so many, and a note if they are not all."""


@dataclass(frozen=True)
class SampleSource(Source):
    """A checked sample in memory.

    Attributes
    ----------
    sample : checked rows
    lens : through which they are seen
    by : subgroup of each row, or None
    guessed : what was guessed about the columns, or None
    named : what outcome and prediction are called
    asked : whether the user asked for this lens; whole predictions are judged otherwise
    said : what was done to values when they were read, or accepted of them
    left : which of the rows given these are, if some were dropped for want of a value
    features : columns of what segments are made of, by name; None if none were asked for
    """

    sample: Sample
    lens: Lens
    by: Groups | None = None
    guessed: str | None = None
    left: BoolArray | None = None
    named: Named = UNNAMED
    asked: bool = False
    said: tuple[str, ...] = ()
    features: dict[str, Array] | None = None

    @cached_property
    def problem(self) -> Problem:
        """What the lens induces."""
        return self.lens.induce(self.sample)

    @property
    def induced(self) -> Induced:
        """The same as tests take it."""
        return self.induced_by(self.lens)

    def induced_by(self, lens: Lens) -> Induced:
        """The same through another lens."""
        problem = self.problem if lens is self.lens else lens.induce(self.sample)
        return Induced(self.sample, lens, problem)

    @cached_property
    def binary(self) -> BinarySample:
        """The problem itself, or the confidence."""
        if isinstance(self.problem, BinarySample):
            return self.problem
        return Confidence().induce(self.sample)

    @property
    def kind(self) -> Kind:
        """What the lens induces."""
        if isinstance(self.problem, BinarySample):
            return "binary"
        return "classwise" if isinstance(self.problem, ClasswiseProblem) else "vector"

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.n

    @property
    def sum_weight(self) -> float:
        """Sum of weights."""
        return float(self.n if self.sample.weight is None else self.sample.weight.sum())

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.sample.weight is not None

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels."""
        return self.sample.classes

    @cached_property
    def base_rate(self) -> tuple[float, ...]:
        """Share of each class."""
        if self.sample.weight is None and isinstance(self.sample, BinarySample):
            share = int(np.count_nonzero(self.sample.y)) / self.n
            return 1 - share, share
        counts = np.bincount(self.sample.y, weights=self.sample.weight, minlength=len(self.classes))
        return tuple(float(share) for share in counts / counts.sum())

    @property
    def mean_by_class(self) -> tuple[float, ...]:
        """Mean probability of each class."""
        if isinstance(self.sample, BinarySample):
            mean = weighted_mean(self.sample.p, self.sample.weight)
            return 1 - mean, mean
        means = np.average(self.sample.p, axis=0, weights=self.sample.weight)
        return tuple(float(mean) for mean in means)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Mean scores by rule."""
        return {rule: get_rule(rule, caller="evaluate").mean(self.sample) for rule in RULES}

    @cached_property
    def areas(self) -> tuple[float | None, ...]:
        """Areas under the ROC curve."""
        if isinstance(self.sample, MulticlassSample):
            return auc_by_class(self.sample)
        return (auc_of_pooled(self.sample.pooled),) * 2

    def score_of_binary(self, rule: str) -> float | None:
        """Known if the whole prediction is what is looked at."""
        return self.scores[rule] if self.binary is self.sample else None

    def through(self, lens: Lens) -> BinarySample:
        """The rows through another lens."""
        problem = lens.induce(self.sample)
        assert isinstance(problem, BinarySample)
        return problem

    def summary(self, binning: Binning) -> Summary:
        """Sums by bin of `binary`."""
        if binning not in self._summaries:
            self._summaries[binning] = summarise(self.binary, binning)
        return self._summaries[binning]

    @cached_property
    def _summaries(self) -> dict[Binning, Summary]:
        return {}

    def binned(self, estimator: BinnedError, through: Lens) -> Summary | VectorSummary:
        """Sums by bin of the problem of a lens."""
        if through is self.lens and self.kind == "binary" and estimator.assignment == "hard":
            return self.summary(estimator.binning)
        return estimator.summarise(self._problem_of(through))

    def independent(
        self, summary: Summary | VectorSummary, *, each: bool = False
    ) -> Summary | VectorSummary:
        """Bins of sizes that weights and groups leave."""
        if isinstance(summary, VectorSummary):
            return independent_sums(summary, self.sample)
        known = self._independent.get((id(summary), each))
        if known is None or known[0] is not summary:
            known = summary, independent_sums(summary, self.binary, each=each)
            self._independent[id(summary), each] = known
        return known[1]

    @cached_property
    def _independent(self) -> dict[tuple[int, bool], tuple[Summary, Summary | VectorSummary]]:
        return {}

    @cached_property
    def size(self) -> float:
        """Effective number of rows over their design effect."""
        return independent_rows(self.binary)

    def null_of(self, through: Lens) -> NullSource:
        """The rows themselves."""
        return NullSource(self._problem_of(through))

    def groups(self) -> Iterator[tuple[Any, SampleSource]]:
        """Rows of every subgroup."""
        for key, part in self.samples_by_group():
            yield key, SampleSource(part, self.lens, named=self.named, asked=self.asked)

    @property
    def keys(self) -> tuple[Any, ...]:
        """Keys of the subgroups that have rows."""
        if self.by is None:
            return ()
        held = np.bincount(self.by.codes, minlength=len(self.by.keys)) > 0
        return tuple(key for key, some in zip(self.by.keys, held, strict=True) if some)

    def copied(self) -> SampleSource:
        """A copy of the rows, which nobody else can change."""
        return self.take(np.arange(self.n))

    def group(self, key: Any) -> SampleSource:
        """Rows of one subgroup."""
        assert self.by is not None
        rows = np.flatnonzero(self.by.codes == self.by.keys.index(key))
        return SampleSource(self.sample.take(rows), self.lens, named=self.named, asked=self.asked)

    def samples_by_group(self) -> list[tuple[Any, Sample]]:
        """Checked rows of every subgroup."""
        if self.by is None:
            return []
        return list(self.by.of(self.sample, np.ones(self.n, dtype=bool), "evaluate"))

    def take(self, rows: IntArray) -> SampleSource:
        """Keep some rows."""
        by = None if self.by is None else replace(self.by, codes=self.by.codes[rows])
        columns = self.features
        if columns is not None:
            columns = {name: column[rows] for name, column in columns.items()}
        return replace(self, sample=self.sample.take(rows), by=by, features=columns)

    def some_rows(self, most: int, seed: int) -> tuple[SampleSource, str]:
        """These rows, or a random choice of `most` of them in their order."""
        if self.n <= most:
            return self, ""
        chosen = np.random.default_rng(seed).choice(self.n, most, replace=False)
        note = f"measured on a random sample of {most:,} of {self.n:,} rows (seed {seed})"
        return self.take(np.sort(chosen)), note

    def _problem_of(self, through: Lens) -> Problem:
        if through is self.lens:
            return self.problem
        return through.induce(self.sample)


def on_same_rows(*sources: SampleSource) -> tuple[SampleSource, ...]:
    """The same data without the rows that any of them lacks, which all of them then say."""
    found = [source.left for source in sources if source.left is not None]
    if not found:
        return sources
    common: BoolArray = np.logical_and.reduce(found)
    said = tuple(dict.fromkeys(note for source in sources for note in source.said))
    if not all(left.sum() == common.sum() for left in found) or len(found) < len(sources):
        said += (f"{int(common.sum()):,} of {len(common):,} rows lack nothing and are compared",)
    result = []
    for source in sources:
        rows = common if source.left is None else common[source.left]
        result.append(replace(source.take(np.flatnonzero(rows)), left=common, said=said))
    return tuple(result)


def lens_of(estimator: Estimator, source: SampleSource) -> Lens:
    """The lens's own problem for errors, the whole prediction for scores."""
    if not isinstance(estimator, BinnedError):
        return Binary() if len(source.classes) == 2 else Canonical()
    return Confidence() if source.kind == "vector" else source.lens


def paired_difference_of(
    estimator: Estimator,
    pair: tuple[SampleSource, SampleSource],
    level: float,
    kept: KeptScores | None = None,
) -> Difference:
    """Difference of a score or an error between two models of the same rows."""
    return noted_difference(estimator, pair, IntervalOptions("analytic", level), kept)[0]


def noted_difference(
    estimator: Estimator,
    pair: tuple[SampleSource, SampleSource],
    options: IntervalOptions,
    kept: KeptScores | None = None,
) -> tuple[Difference, tuple[str, ...]]:
    """Difference between two models of the same rows, and what is in doubt about it."""
    lens = lens_of(estimator, pair[0])
    first, second = (each.induced_by(lens) for each in pair)
    return difference_core(estimator, (first, second), options, kept)


def default_error_name(source: Source) -> str:
    """Name of `default_error` in an evaluation."""
    if source.kind != "vector":
        return "ECE"
    return "canonical ECE" if isinstance(source.lens, Canonical) else "ECE variance-split"


def default_error(problem: Problem, n_bins: Any) -> BinnedError:
    """Return the error a verdict is about: ECE, for whole vectors with cells that hold rows."""
    if isinstance(problem, MulticlassSample):
        return BinnedError(VarianceSplitBins(max(20, int(problem.size) // 15)))
    return BinnedError(UniformBins(n_bins))
