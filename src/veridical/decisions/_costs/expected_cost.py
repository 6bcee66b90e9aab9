"""What decisions should cost, and what they cost."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from veridical._core.sample import Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, IntArray, WeightType
from veridical.decisions._costs.matrix import (
    ChosenActions,
    CostOutcome,
    CostTable,
    check_costs,
    choose,
    outcome_of,
)
from veridical.exceptions import invalid, warn_of
from veridical.inference.intervals import (
    IntervalOptions,
    MeanInterval,
    check_interval_options,
    make_units,
    mean_interval,
)
from veridical.lenses.reading import RawData
from veridical.results import ActionCost, Difference, ExpectedCost, Interval
from veridical.results.library import answers_in_kind

_CALLER = "expected_cost"
_MANY_ROWS, _FEW_ROWS = 100, 10


def mean_cost(
    by_row: FloatArray,
    weight: FloatArray | None,
    weight_type: WeightType,
    clusters: IntArray | None,
    options: IntervalOptions,
    *,
    caller: str,
) -> MeanInterval:
    """Weighted mean of costs of rows with its interval."""
    units = make_units(by_row, weight, by_frequency=weight_type == "frequency", groups=clusters)
    if units.count < 2:
        hint = "one alone does not show how much costs vary."
        raise invalid(caller, "y_true", "more than one row or cluster", "one", hint=hint)
    return mean_interval(units, options)


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
    np.square(away, out=away)
    square = float(copies @ away)
    if float(copies.sum()) < _MANY_ROWS or square == 0:
        return []
    rows = square**2 / float(copies @ np.square(away))
    if rows >= _FEW_ROWS:
        return []
    count = max(1, round(rows))
    who = "1 row alone decides" if count == 1 else f"{count} rows alone decide"
    return [f"about {who} how uncertain the cost is"]


@answers_in_kind
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
    data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label, groups=groups)
    data = data.weighted(sample_weight, weight_type)
    sample, table = checked_decision_rows(
        data, costs, actions=actions, abstain_cost=abstain_cost, caller=_CALLER
    )
    cost = cost_of_decisions(sample, table, options)
    warn_of(cost.notes, caller=_CALLER)
    return cost


def cost_of_decisions(sample: Sample, table: CostTable, options: IntervalOptions) -> ExpectedCost:
    """Predicted and realised cost of the decisions on checked rows."""
    choices = choose(sample, table)
    outcome = outcome_of(sample, table, choices.action)

    def mean(by_row: FloatArray) -> MeanInterval:
        weights = (sample.weight, sample.weight_type)
        return mean_cost(by_row, *weights, sample.clusters, options, caller=_CALLER)

    realised, gap = mean(outcome.cost), mean(outcome.cost - choices.promised)
    predicted = mean(choices.promised)
    about: dict[str, Any] = {
        "estimator": "cost",
        "definition": table.definition,
        "lens": "binary" if len(sample.classes) == 2 else "canonical",
        "n_samples": sample.n,
        **options.fields,
    }
    best = int(outcome.always.argmin())
    return ExpectedCost(
        predicted=Interval(**predicted.limits, **about),
        realised=Interval(**realised.limits, **about),
        difference=Difference(
            **gap._asdict(), first=realised.estimate, second=predicted.estimate, **about
        ),
        perfect=weighted_mean(outcome.least, sample.weight),
        constant=float(outcome.always[best]),
        constant_action=table.actions[best],
        by_action=_by_action(sample, table, choices, outcome),
        n_decisions=number_of_decisions(sample),
        notes=tuple(doubts_of_mean(outcome.cost, sample.weight, sample.weight_type)),
    )


def checked_decision_rows(
    data: RawData,
    costs: Any,
    *,
    actions: ArrayLike | None,
    abstain_cost: ArrayLike | None,
    caller: str,
) -> tuple[Sample, CostTable]:
    """Rows of positive weight and the costs that go with them."""
    checked = data.check_arrays(caller=caller)
    sample, kept = checked.sample, checked.kept
    table = check_costs(
        costs, sample, len(kept), actions=actions, abstain_cost=abstain_cost, caller=caller
    )
    return sample, table if kept.all() else table.take(kept)


def number_of_decisions(sample: Sample) -> float:
    """Rows, or what they stand for if weights are frequencies."""
    counted = sample.weight is not None and sample.weight_type == "frequency"
    return sample.size if counted else float(sample.n)


def _by_action(
    sample: Sample, table: CostTable, choices: ChosenActions, outcome: CostOutcome
) -> tuple[ActionCost, ...]:
    size = len(table.actions)
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    mass = np.bincount(choices.action, weight, size)
    promised = np.bincount(choices.action, weight * choices.promised, size)
    realised = np.bincount(choices.action, weight * outcome.cost, size)
    rows = np.bincount(choices.action, minlength=size)
    return tuple(
        ActionCost(
            action=name,
            share=float(mass[a] / mass.sum()),
            predicted=float(promised[a] / mass[a]) if rows[a] else None,
            realised=float(realised[a] / mass[a]) if rows[a] else None,
            n_samples=int(rows[a]),
        )
        for a, name in enumerate(table.actions)
    )
