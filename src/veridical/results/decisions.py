"""Decisions, what they cost, budgets, and class priors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veridical._core.typing import Array, ArrayLike, BoolArray, FloatArray, IntArray
from veridical.results._forms.html import html_headline, html_list, html_table
from veridical.results._forms.text import note_lines, number_or_blank, text_row
from veridical.results.base import ArrayResult, Difference, Interval, Result, columns_of, say_pvalue

_NO_JUMP = 1e-9  # neighbouring numbers differ by less on any piece that is not absurdly steep


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Decisions(ArrayResult):
    """The action of least expected cost, row by row.

    Attributes
    ----------
    choice : index of the action of each row among `actions`
    expected_cost : cost the action is expected to have, by the model's probabilities
    actions : names of the actions
    share : share of the rows each action was chosen for
    mean_expected_cost : mean of `expected_cost`
    definition, n_samples : size of the costs, number of rows
    notes : doubts in words
    """

    choice: IntArray
    expected_cost: FloatArray
    actions: tuple[Any, ...]
    share: FloatArray
    mean_expected_cost: float
    definition: str
    n_samples: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Arrays are read back from JSON as floats.
        object.__setattr__(self, "choice", np.asarray(self.choice, dtype=np.intp))
        super().__post_init__()

    def __len__(self) -> int:
        return self.n_samples

    @property
    def action(self) -> Array:
        """Name of the action of each row."""
        plain = len({type(name) for name in self.actions}) == 1
        names = np.asarray(self.actions) if plain else np.array(self.actions, dtype=object)
        return names[self.choice]

    def _text(self) -> str:
        shares = ", ".join(
            f"{action!r} {share:.1%}"
            for action, share in zip(self.actions, self.share, strict=True)
        )
        text = (
            f"{self.n_samples:,} decisions of expected cost {self.mean_expected_cost:.6g} each:"
            f" {shares} ({self.definition})"
        )
        return "\n".join([text, *note_lines(self.notes, apart=False)])

    def _columns(self) -> dict[str, list[Any]]:
        """One row a decision."""
        action = self.action
        if action.dtype == object:  # a column holds one type
            action = action.astype(np.str_)
        return {"action": action.tolist(), "expected_cost": self.expected_cost.tolist()}


@dataclass(frozen=True, kw_only=True, repr=False)
class Cutoff(Result):
    """The raw score from which on a calibrated probability is at least a threshold.

    Attributes
    ----------
    threshold : calibrated probability that is to be reached
    score : the cut-off: a row reaches the threshold exactly if its score is at least this, or at
        most this where the map falls; infinite if no row does, or if every row does
    low, high : scores between which the probability is the threshold itself, where the map is level
        there; else both are `score`
    before, after : calibrated probability just before the cut-off and at it; the ends of the map
        where it is infinite
    falling : whether probabilities fall with the score, so that low scores reach the threshold
    monotone : whether they rise or fall throughout; if not, the cut-off is the smallest score from
        which on the threshold is reached throughout
    reached_before : of a map that is not monotone, whether it is reached at some scores below, too
    meaning : which probability
    input : what scores are
    """

    threshold: float
    score: float
    low: float
    high: float
    before: float
    after: float
    falling: bool
    monotone: bool
    reached_before: bool
    meaning: str
    input: str

    @property
    def reached(self) -> bool:
        """Whether scores decide: neither all of them reach the threshold, nor none."""
        return math.isfinite(self.score)

    @property
    def jumps(self) -> bool:
        """Whether the map jumps past the threshold."""
        return self.reached and abs(self.after - self.before) > _NO_JUMP

    def applies_to(self, scores: ArrayLike) -> BoolArray:
        """Whether each of these scores reaches the threshold."""
        values = np.asarray(scores, dtype=np.float64)
        return np.asarray(values <= self.score if self.falling else values >= self.score)

    def _where(self, name: str) -> str:
        """On which side of which score, in digits that decide as the score itself does.

        The number just beside the cut-off is named where it is much shorter: above 0.5.
        """
        beside = math.nextafter(self.score, math.inf if self.falling else -math.inf)
        at, past = repr(self.score), repr(beside)
        if len(past) + 2 < len(at):
            return f"{'below' if self.falling else 'above'} a {name} of {past.removesuffix('.0')}"
        at = at.removesuffix(".0")
        return f"up to a {name} of {at}" if self.falling else f"from a {name} of {at} on"

    def _text(self) -> str:
        text = f"the {self.meaning} is at least {self.threshold:.12g}"
        name = {"probability": "score"}.get(self.input, self.input)
        if not self.reached:
            all_of_them = (self.score < 0) != self.falling
            low, high = sorted((self.before, self.after))
            where = "everywhere" if all_of_them else "nowhere"
            if not self.monotone and not all_of_them:
                return f"{text} from no {name} on: the map, not monotone, ends at {self.after:.6g}"
            return f"{text} {where}: the map goes from {low:.6g} to {high:.6g}"
        text += f" {self._where(name)}"
        if self.low < self.high:
            text += f"; it is {self.after:.6g} from {self.low:.6g} to {self.high:.6g}"
        elif self.jumps:
            text += f", where it jumps to {self.after:.6g}"
        if self.monotone:
            return text
        also = ": some lower scores reach it, too" if self.reached_before else ""
        return f"{text} (the map is not monotone{also or ', but no lower score reaches it'})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ActionCost(Result):
    """What one action promised and cost in the rows it was chosen for.

    Attributes
    ----------
    action : its name
    share : weighted share of the rows it was chosen for
    predicted, realised : mean cost a row, expected and come; None if it was never chosen
    n_samples : rows it was chosen for
    """

    action: Any
    share: float
    predicted: float | None
    realised: float | None
    n_samples: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ExpectedCost(Result):
    """What decisions were expected to cost, and what they cost.

    Attributes
    ----------
    predicted : mean cost a decision as the model's probabilities promise, with its interval
    realised : mean cost that came, with its interval
    difference : realised minus predicted, with interval and p-value; above 0 the model promises
        too much
    perfect : mean cost if the class of every row were known
    constant, constant_action : mean cost of the one action that would be cheapest if always taken
    by_action : the same for the rows of each action
    n_decisions : number of decisions the totals are of
    notes : statistical doubts in words
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("action",)
    _number_columns: ClassVar[tuple[str, ...]] = ("predicted", "realised")

    predicted: Interval
    realised: Interval
    difference: Difference
    perfect: float
    constant: float
    constant_action: Any
    by_action: tuple[ActionCost, ...]
    n_decisions: float
    notes: tuple[str, ...] = ()

    @property
    def total_predicted(self) -> float:
        """Predicted cost of all decisions."""
        return self.predicted.estimate * self.n_decisions

    @property
    def total_realised(self) -> float:
        """Realised cost of all decisions."""
        return self.realised.estimate * self.n_decisions

    def _text(self) -> str:
        header, rows = self._table()
        table = [f"  {name:<16}{text_row(cells, 12)}" for name, *cells in (header, *rows)]
        return "\n".join([*self._sentences(), *table, *note_lines(self.notes, apart=False)])

    def _repr_html_(self) -> str:
        header, rows = self._table()
        first, *rest = self._sentences()
        lines = html_list(line.strip() for line in rest)
        return html_headline(first, lines, html_table(header, rows), notes=self.notes)

    def _sentences(self) -> list[str]:
        r, p, d = self.realised, self.predicted, self.difference
        level = f"{100 * r.confidence_level:g} % interval"
        word = "more" if d.estimate >= 0 else "less"
        return [
            f"cost a decision {r.estimate:.6g} ({level} {r.low:.6g} to {r.high:.6g}),"
            f" predicted {p.estimate:.6g} ({p.low:.6g} to {p.high:.6g})",
            f"  {abs(d.estimate):.6g} {word} than predicted ({d.low:+.6g} to {d.high:+.6g},"
            f" {say_pvalue(d.pvalue)})",
            f"  always {self.constant_action!r} would cost {self.constant:.6g}, knowing every"
            f" outcome {self.perfect:.6g} ({r.definition}, n={r.n_samples})",
        ]

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        rows: list[tuple[str, ...]] = [
            (
                str(a.action),
                f"{a.share:.1%}",
                number_or_blank(a.predicted, ".6g"),
                number_or_blank(a.realised, ".6g"),
            )
            for a in self.by_action
        ]
        return ("action", "share", "predicted", "realised"), rows

    def _columns(self) -> dict[str, list[Any]]:
        """One row an action."""
        names = ("share", "predicted", "realised", "n_samples")
        actions: dict[str, list[Any]] = {"action": [str(a.action) for a in self.by_action]}
        return actions | columns_of(self.by_action, names)


@dataclass(frozen=True, kw_only=True, repr=False)
class MiscalibrationCost(Difference):
    """Realised cost of decisions minus that of decisions after recalibration.

    Attributes
    ----------
    estimate, low, high, confidence_level : cost of miscalibration a decision; above 0
        recalibration saves, below 0 it does harm
    pvalue : of the hypothesis that recalibration changes nothing, two-sided
    first, second : mean cost a decision before and after
    changed : share of the decisions that recalibration changes
    calibrator : name of the map
    n_decisions : number of decisions the total is of
    notes : statistical doubts in words
    """

    changed: float
    calibrator: str
    n_decisions: float
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Cost of miscalibration over all decisions."""
        return self.estimate * self.n_decisions

    def _text(self) -> str:
        lines = [
            f"miscalibration costs {self.estimate:.6g} a decision"
            f" ({100 * self.confidence_level:g} % interval {self.low:.6g} to {self.high:.6g},"
            f" {say_pvalue(self.pvalue)}): {self.first:.6g} as it is, {self.second:.6g}"
            f" after recalibration, which changes {self.changed:.1%} of the decisions"
            f" ({self.definition}, n={self.n_samples})"
        ]
        return "\n".join(lines + note_lines(self.notes, apart=False))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Allocation(ArrayResult):
    """One option for every row, and how good that is at most.

    Attributes
    ----------
    choice : option of each row, an index into the columns of the values
    total_value, total_cost : sums over the chosen options
    budget : what the total cost may not exceed
    upper_bound : no allocation within the budget is worth more; if options could be split between
        two, exactly this much could be had (the bound of the linear relaxation)
    shadow_price : what one more unit of budget would be worth in that relaxation
    optimal : whether it is proved that no allocation is worth more than this one
    gap : by how much a better one could exceed `total_value`; 0 if `optimal`
    n_core : rows whose option the bound alone did not settle

    Examples
    --------
    >>> print(Allocation(choice=np.array([1, 0]), total_value=3.0, total_cost=2.0, budget=2.0,
    ...     upper_bound=3.0, shadow_price=1.0, optimal=True, gap=0.0, n_core=0))
    2 rows: value 3, cost 2 of 2; proved optimal (relaxation 3, one more unit is worth 1)
    """

    choice: IntArray
    total_value: float
    total_cost: float
    budget: float
    upper_bound: float
    shadow_price: float
    optimal: bool
    gap: float
    n_core: int

    def __post_init__(self) -> None:
        # Indices, also after a journey through JSON.
        object.__setattr__(self, "choice", np.asarray(self.choice).astype(np.intp))
        super().__post_init__()

    def counts(self, n_options: int) -> tuple[int, ...]:
        """How many rows get each of `n_options` options."""
        return tuple(np.bincount(self.choice, minlength=n_options).tolist())

    def _text(self) -> str:
        proof = "proved optimal" if self.optimal else f"within {self.gap:.6g} of the optimum"
        return (
            f"{len(self.choice):,} rows: value {self.total_value:.6g}, cost {self.total_cost:.6g}"
            f" of {self.budget:.6g}; {proof} (relaxation {self.upper_bound:.6g}, one more unit is"
            f" worth {self.shadow_price:.6g})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        """One row for each row allocated."""
        return {"row": list(range(len(self.choice))), "choice": self.choice.tolist()}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PriorEstimate(ArrayResult):
    """Class priors estimated from predictions alone.

    Attributes
    ----------
    classes : labels in column order
    priors : estimated share of each class in deployment, summing to one
    low, high : limits for each share, each at `confidence_level` by itself
    train : shares in training that the estimate starts from
    confidence_level : how often such an interval covers the true share
    method : "em", "bbse" or "bbse_soft"
    interval : "bootstrap" or "analytic"
    iterations : steps to the largest likelihood, None for the other methods
    n_samples : deployment rows
    n_reference : labelled rows, None if there were none
    n_resamples : resamples drawn, None for an analytic interval
    definition : what is estimated and supposed, in words
    notes : statistical doubts in words
    """

    classes: tuple[Any, ...]
    priors: FloatArray
    low: FloatArray
    high: FloatArray
    train: FloatArray
    confidence_level: float
    method: str
    interval: str
    iterations: int | None
    n_samples: int
    n_reference: int | None
    n_resamples: int | None
    definition: str
    notes: tuple[str, ...] = ()

    def _text(self) -> str:
        width = max(8, *(len(str(label)) + 2 for label in self.classes))
        table = (_HEADER, *self._rows())
        lines = [f"  {label:<{width}}{text_row(cells, 10)}" for label, *cells in table]
        return "\n".join([self._headline(), "", *lines, *note_lines(self.notes)])

    def _repr_html_(self) -> str:
        table = html_table(_HEADER, self._rows())
        return html_headline(self._headline(), table, notes=self.notes)

    def _headline(self) -> str:
        drawn = "" if self.n_resamples is None else f", {self.n_resamples:,} resamples"
        return (
            f"Class priors of {self.n_samples:,} rows ({self.definition};"
            f" {100 * self.confidence_level:g} % {self.interval} intervals{drawn})"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        table = zip(self.classes, self.train, self.priors, self.low, self.high, strict=True)
        return [(str(label), *(f"{x:.4f}" for x in numbers)) for label, *numbers in table]

    def _columns(self) -> dict[str, list[Any]]:
        """One row a class."""
        return {
            "class": [str(label) for label in self.classes],
            "train": self.train.tolist(),
            "prior": self.priors.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
        }


_HEADER = ("class", "train", "prior", "low", "high")
