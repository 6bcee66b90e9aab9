"""What rows would be answered by, from which score on, and what the answers lose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.validation import check_option
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import BoolArray, FloatArray, IntArray, WeightType
from veridical.curves import binomial_interval
from veridical.decisions._costs.cost_curve import one_problem
from veridical.decisions._costs.matrix import check_costs, choose, outcome_of
from veridical.exceptions import invalid
from veridical.inference.intervals import (
    IntervalOptions,
    MeanInterval,
    Support,
    make_units,
    mean_interval,
)
from veridical.lenses import Confidence
from veridical.lenses.reading import CheckedData, Induced, event_of

_SHARE = Support(0.0, 1.0)


@dataclass(frozen=True)
class Answers:
    """Rows by the score from which on they are answered, best first.

    Attributes
    ----------
    score : what is compared with a threshold, in decreasing order
    loss : of answering each row, in [0, 1]
    weight, weight_type, clusters : as in `BinarySample`
    kind : "error", "fdr", "fnr" or "cost"
    lens, meaning : which question is answered, and what a score is
    classes : labels, of two the positive one last
    lowest, unit : smallest cost, and how much a loss of 1 is above it
    """

    score: FloatArray
    loss: FloatArray
    weight: FloatArray | None
    weight_type: WeightType
    clusters: IntArray | None
    kind: str
    lens: str
    meaning: str
    classes: tuple[Any, ...] = ()
    lowest: float = 0.0
    unit: float = 1.0

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.score)

    @property
    def plain(self) -> bool:
        """Whether rows count one each and are independent, or are counted copies of such."""
        return self.clusters is None and (self.weight is None or self.weight_type == "frequency")

    @property
    def copies(self) -> FloatArray:
        """How much each row counts in shares."""
        return np.ones(self.n) if self.weight is None else self.weight

    def only(self, rows: BoolArray) -> Answers:
        """Some of the rows."""
        return replace(
            self,
            score=self.score[rows],
            loss=self.loss[rows],
            weight=None if self.weight is None else self.weight[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
        )

    def promise(self) -> FloatArray:
        """Loss of each row that is expected if the predictions are right."""
        return 1 - self.score.astype(np.float64)

    def mean_loss(self, first: int, level: float) -> MeanInterval:
        """Mean loss of the first rows with limits at equal tails; exact for errors."""
        return self._mean(self.loss[:first], slice(0, first), level)

    def loss_limits(self, firsts: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Limits of the mean loss of the first rows, for several numbers of them."""
        if self.plain and self.kind != "cost":
            size = np.cumsum(self.copies)[firsts - 1]
            lost = np.cumsum(self.copies * self.loss)[firsts - 1]
            return exact_limits(lost, size, level)
        found = [self.mean_loss(int(first), level) for first in firsts]
        return np.array([each.low for each in found]), np.array([each.high for each in found])

    def share(self, first: int, level: float) -> MeanInterval:
        """Share of the rows that the first ones are, with limits."""
        answered = (np.arange(self.n) < first).astype(np.float64)
        return self._mean(answered, slice(0, self.n), level)

    def _mean(self, values: FloatArray, rows: slice, level: float) -> MeanInterval:
        weight = None if self.weight is None else self.weight[rows]
        groups = None
        if self.clusters is not None:
            groups = np.unique(self.clusters[rows], return_inverse=True)[1].reshape(-1)
            if groups.max() == 0:  # one alone does not show how much they differ
                mean = float(np.average(values, weights=weight))
                return MeanInterval(mean, 0.0, 1.0, 1.0)
        counted = self.weight_type == "frequency"
        units = make_units(values, weight, by_frequency=counted, groups=groups)
        return mean_interval(units, IntervalOptions("analytic", level), support=_SHARE)


def answers_of(data: CheckedData, risk: Any, lens: Any, *, caller: str) -> Answers:
    """Rows of checked data as a kind of risk looks at them.

    Errors are those of the most probable class by default; `fdr` and `fnr` are about one class.
    """
    if isinstance(risk, str):
        check_option(caller, "risk", risk, ("error", "fdr", "fnr"))
        return _of_errors(data, risk, lens, caller)
    if lens is not None:
        hint = "costs are of whole predictions."
        raise invalid(caller, "lens", "unset with costs", repr(lens), hint=hint)
    return _of_costs(data.sample, risk, caller)


def _of_errors(data: CheckedData, kind: str, lens: Any, caller: str) -> Answers:
    induced, problem = _problem(data, kind, lens, caller)
    event = event_of(induced.lens, data.sample.classes, data.named.y)
    found = ranked(problem, kind, induced.lens.name, f"probability that {event}")
    return replace(found, classes=tuple(data.sample.classes))


def compared_scores(data: CheckedData, kind: str, lens: Any, *, caller: str) -> FloatArray:
    """What a threshold of this kind of risk is compared with, row by row."""
    return _problem(data, kind, lens, caller)[1].p


def _problem(data: CheckedData, kind: str, lens: Any, caller: str) -> tuple[Induced, BinarySample]:
    """The one problem that rows are answered by: of errors by default the most probable class."""
    if lens is None and kind == "error":
        lens = Confidence()
    if lens is None and not isinstance(data.sample, BinarySample):
        hint = "say which class rows are called by: `ClassSpecific(label)`."
        got = f"{len(data.sample.classes)} classes"
        raise invalid(caller, "lens", f"given for {kind!r} of several classes", got, hint=hint)
    induced = data.through(lens, caller=caller)
    return induced, one_problem(induced, caller=caller)


def ranked(problem: BinarySample, kind: str, lens: str, meaning: str) -> Answers:
    """Rows of a binary problem, the highest scores first; an answer is wrong if the event fails."""
    return _sorted(
        problem.p,
        (problem.y == 0).astype(np.float64),
        problem,
        kind=kind,
        lens=lens,
        meaning=meaning,
    )


def _of_costs(sample: Sample, costs: Any, caller: str) -> Answers:
    """Answers are the decisions of least expected cost; losses are shares of the largest cost."""
    table = check_costs(costs, sample, sample.n, actions=None, abstain_cost=None, caller=caller)
    chosen = choose(sample, table)
    lowest, highest = float(table.matrix.min()), float(table.matrix.max())
    unit = highest - lowest
    if not unit > 0:
        hint = "costs that are all equal leave nothing to promise."
        raise invalid(caller, "risk", "costs that differ", f"{lowest:g} throughout", hint=hint)
    loss = (outcome_of(sample, table, chosen.action).cost - lowest) / unit
    score = 1 - (chosen.promised - lowest) / unit
    return _sorted(
        score,
        loss,
        sample,
        kind="cost",
        lens="binary" if len(sample.classes) == 2 else "canonical",
        meaning="expected cost",
        classes=tuple(sample.classes),
        lowest=lowest,
        unit=unit,
    )


def _sorted(score: FloatArray, loss: FloatArray, sample: Sample, **about: Any) -> Answers:
    order = np.argsort(-score, kind="stable")
    return Answers(
        score[order],
        loss[order],
        None if sample.weight is None else sample.weight[order],
        sample.weight_type,
        None if sample.clusters is None else sample.clusters[order],
        **about,
    )


def tie_ends(score: FloatArray) -> IntArray:
    """Numbers of rows at which one may stop: after equal scores, which are answered together."""
    return np.flatnonzero(np.append(score[1:] != score[:-1], True)) + 1


class AnswerRisk(NamedTuple):
    """Share of wrong answers with its limits, and the share of the rows that is answered."""

    mean: MeanInterval
    share: float


def answer_risk(sample: Sample, threshold: float, level: float) -> AnswerRisk | None:
    """Wrong answers where the most probable class is given at least `threshold`.

    Limits are at equal tails; None where no row is answered.
    """
    answers = ranked(Confidence().induce(sample), "error", "confidence", "")
    first = int(np.searchsorted(-answers.score, -answers.score.dtype.type(threshold), "right"))
    if first == 0:
        return None
    share = float(answers.copies[:first].sum() / answers.copies.sum())
    return AnswerRisk(answers.mean_loss(first, level), share)


def exact_limits(count: Any, size: Any, level: float) -> tuple[FloatArray, FloatArray]:
    """Limits of Clopper & Pearson of shares, of counts that need not be whole."""
    size = np.asarray(size, dtype=np.float64)
    return binomial_interval(count / size, size, method="clopper-pearson", confidence_level=level)


def least_rows(alpha: float, delta: float) -> int:
    """Rows without an error that are needed to promise anything: (1 - alpha)^n <= delta."""
    return max(1, math.ceil(math.log(delta) / math.log1p(-alpha) - 1e-9))
