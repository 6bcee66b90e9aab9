"""What decisions should cost, and what they cost.

Intervals of mean costs and of their differences.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from veridical._core.data.randomness import check_resamples, check_rng
from veridical._core.data.validation import check_level, check_option, check_sample, kept_rows
from veridical._core.sample import Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, IntArray, WeightType
from veridical.decisions._costs.matrix import (
    Chosen,
    CostTable,
    Outcome,
    check_costs,
    choose,
    outcome_of,
)
from veridical.exceptions import invalid
from veridical.inference import check_groups
from veridical.inference.core import bootstrap_limits, make_units, standard_error, warn_of
from veridical.results import ActionCost, Difference, ExpectedCost, Interval

METHODS = ("analytic", "percentile", "basic", "bca")
_MANY_ROWS, _FEW_ROWS = 100, 10


class IntervalOptions(NamedTuple):
    """How an interval is made, checked."""

    method: str
    level: float
    n_resamples: int
    rng: np.random.Generator
    caller: str

    @property
    def fields(self) -> dict[str, Any]:
        """What a result keeps of them."""
        drawn = None if self.method == "analytic" else self.n_resamples
        return {"method": self.method, "confidence_level": self.level, "n_resamples": drawn}


class MeanCost(NamedTuple):
    """A mean cost (or difference of costs), its limits, and the p-value of its being zero."""

    estimate: float
    low: float
    high: float
    pvalue: float

    @property
    def limits(self) -> dict[str, Any]:
        """Estimate and limits as an interval keeps them."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}


def check_interval_options(
    method: str, confidence_level: float, n_resamples: int, rng: object, *, caller: str
) -> IntervalOptions:
    """Check the options of an interval on behalf of `caller`."""
    check_option(caller, "method", method, METHODS)
    return IntervalOptions(
        method,
        check_level(caller, confidence_level),
        check_resamples(n_resamples, caller=caller),
        check_rng(rng, caller=caller),
        caller,
    )


def mean_cost(
    by_row: FloatArray,
    weight: FloatArray | None,
    weight_type: WeightType,
    clusters: IntArray | None,
    options: IntervalOptions,
) -> MeanCost:
    """Weighted mean of costs of rows with its interval."""
    from scipy.special import ndtr, ndtri

    units = make_units(by_row, weight, weight_type == "frequency", clusters, None)
    if units.count < 2:
        hint = "one alone does not show how much costs vary."
        raise invalid(options.caller, "y_true", "more than one row or cluster", "one", hint=hint)
    spread, estimate = standard_error(units), units.estimate
    if options.method == "analytic":
        half = float(ndtri((1 + options.level) / 2)) * spread
        low, high = estimate - half, estimate + half
    else:
        low, high = bootstrap_limits(
            units, options.method, options.level, options.n_resamples, options.rng
        )
    away = math.inf if estimate != 0 else 0.0
    deviation = abs(estimate) / spread if spread > 0 else away
    return MeanCost(estimate, low, high, float(2 * ndtr(-deviation)))


def doubts_of_mean(
    by_row: FloatArray, weight: FloatArray | None, weight_type: WeightType
) -> list[str]:
    """Say if a few of many rows decide the interval.

    With deviations d from the mean, (sum d^2)^2 / sum d^4 is the number of rows that vary if all
    that vary do so equally: m for m rare costs of one size.
    """
    counted = weight is not None and weight_type == "frequency"
    copies = weight if counted and weight is not None else np.ones(len(by_row))
    scale = np.ones(len(by_row)) if counted or weight is None else weight
    away = scale * (by_row - float(copies @ (scale * by_row)) / float(copies @ scale))
    square = float(copies @ away**2)
    if float(copies.sum()) < _MANY_ROWS or square == 0:
        return []
    rows = square**2 / float(copies @ away**4)
    if rows >= _FEW_ROWS:
        return []
    count = max(1, round(rows))
    who = "1 row alone decides" if count == 1 else f"{count} rows alone decide"
    return [f"about {who} how uncertain the cost is"]


_CALLER = "expected_cost"


def expected_cost(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    costs: Any,
    *,
    actions: ArrayLike | None = None,
    abstain_cost: ArrayLike | None = None,
    method: Literal["analytic", "percentile", "basic", "bca"] = "analytic",
    groups: ArrayLike | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> ExpectedCost:
    r"""Mean cost of the decisions a model leads to: as it predicts, and as it came.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    costs, actions, abstain_cost
        As in :func:`decide`.
    method : {"analytic", "percentile", "basic", "bca"}, default "analytic"
        Interval: normal, or by a bootstrap of rows or clusters.
    groups : array-like of shape (n,), optional
        Cluster of each row: rows of one cluster may depend on each other.
    n_resamples, rng
        Of a bootstrap.
    confidence_level : float, default 0.95
        Between 0 and 1.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Returns
    -------
    ExpectedCost
        With `predicted` and `realised` (intervals), their `difference` (with p-value), the cost of
        perfect knowledge and of the best constant action, and the same for each action.

    Notes
    -----
    With the decisions a of :func:`decide`,

    .. math:: \text{predicted} = \tfrac1n \sum_i \sum_k p_{ik} C_{k a_i}, \qquad
        \text{realised} = \tfrac1n \sum_i C_{y_i a_i}

    both in the unit of the costs. For a calibrated model they agree on average, so the p-value is
    that of a test of calibration where it matters for these costs. It sees the decisions of all
    rows together: errors of opposite sign cancel, which `by_action` may show. The realised cost is
    that of new rows only if these are new to the model.

    Intervals are those of means over rows like these; rare but very costly outcomes need many rows.
    That of `predicted` covers what the model promises on average, right or wrong. Nothing is
    assumed about the model. Time O(n K A + n log n), memory O(n).

    Examples
    --------
    Alarm above 1/3. Two alarms promise (0.5 + 0.25) / 2 and one is false; one silence in two, which
    promises 2 * 0.25, is a miss of cost 2.

    >>> cost = expected_cost([0, 1, 0, 1], [0.5, 0.75, 0.25, 0.25], (1, 2))
    >>> cost.predicted.estimate, cost.realised.estimate  # (0.5 + 0.25 + 0.5 + 0.5) / 4, (1 + 2) / 4
    (0.4375, 0.75)
    >>> [(a.action, a.share, a.predicted, a.realised) for a in cost.by_action]
    [(0, 0.5, 0.5, 1.0), (1, 0.5, 0.375, 0.5)]
    """
    options = check_interval_options(method, confidence_level, n_resamples, rng, caller=_CALLER)
    sample, table = checked_decision_rows(
        y_true, y_prob, costs, actions, abstain_cost, labels, pos_label, sample_weight,
        weight_type, caller=_CALLER,
    )  # fmt: skip
    clusters = check_groups(groups, kept_rows(sample_weight, sample), caller=_CALLER)
    chosen = choose(sample, table)
    outcome = outcome_of(sample, table, chosen.action)
    parts = (sample.weight, sample.weight_type, clusters, options)
    realised = mean_cost(outcome.cost, *parts)
    gap = mean_cost(outcome.cost - chosen.promised, *parts)
    predicted = mean_cost(chosen.promised, *parts)
    about: dict[str, Any] = {
        "estimator": "cost",
        "definition": table.definition,
        "lens": "binary" if len(sample.classes) == 2 else "canonical",
        "n_samples": sample.n,
        **options.fields,
    }
    best = int(outcome.always.argmin())
    notes = tuple(doubts_of_mean(outcome.cost, sample.weight, sample.weight_type))
    warn_of(notes, caller=_CALLER)
    return ExpectedCost(
        predicted=Interval(**predicted.limits, **about),
        realised=Interval(**realised.limits, **about),
        difference=Difference(
            **gap._asdict(), first=realised.estimate, second=predicted.estimate, **about
        ),
        perfect=weighted_mean(outcome.least, sample.weight),
        constant=float(outcome.always[best]),
        constant_action=table.actions[best],
        by_action=_by_action(sample, table, chosen, outcome),
        n_decisions=number_of_decisions(sample),
        notes=notes,
    )


def checked_decision_rows(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    costs: Any,
    actions: ArrayLike | None,
    abstain_cost: ArrayLike | None,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
    weight_type: WeightType,
    *,
    caller: str,
) -> tuple[Sample, CostTable]:
    """Rows of positive weight and the costs that go with them."""
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    kept = kept_rows(sample_weight, sample)
    table = check_costs(
        costs, sample, len(kept), actions=actions, abstain_cost=abstain_cost, caller=caller
    )
    return sample, table if kept.all() else table.take(kept)


def number_of_decisions(sample: Sample) -> float:
    """Rows, or what they stand for if weights are frequencies."""
    counted = sample.weight is not None and sample.weight_type == "frequency"
    return sample.size if counted else float(sample.n)


def _by_action(
    sample: Sample, table: CostTable, chosen: Chosen, outcome: Outcome
) -> tuple[ActionCost, ...]:
    size = len(table.actions)
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    mass = np.bincount(chosen.action, weight, size)
    promised = np.bincount(chosen.action, weight * chosen.promised, size)
    came = np.bincount(chosen.action, weight * outcome.cost, size)
    rows = np.bincount(chosen.action, minlength=size)
    return tuple(
        ActionCost(
            action=name,
            share=float(mass[a] / mass.sum()),
            predicted=float(promised[a] / mass[a]) if rows[a] else None,
            realised=float(came[a] / mass[a]) if rows[a] else None,
            n_samples=int(rows[a]),
        )
        for a, name in enumerate(table.actions)
    )
