"""What the page "Decide" asks for: what costs and priors make of the predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from veridical._core.sample import BinarySample, weighted_mean
from veridical._core.typing import FloatArray, IntArray, WeightType
from veridical.decisions import (
    adjust_priors,
    cost_threshold,
    decision_curve,
    expected_cost,
    prior_threshold,
)
from veridical.exceptions import invalid
from veridical.report.charts import decision_chart
from veridical.studio._data.answers import CALLER, chart_data, number, values_of, whole_number
from veridical.studio._data.session import Session

_FEW = 20_000
_CELLS = 1000


class DecisionRows(NamedTuple):
    """Outcomes, predictions and weights, and what the weights mean."""

    y: IntArray
    p: FloatArray
    weight: FloatArray | None
    weight_type: WeightType

    def options(self) -> dict[str, Any]:
        """What functions on decisions take beside outcomes and predictions."""
        weights = {"sample_weight": self.weight, "weight_type": self.weight_type}
        return {"labels": [0, 1], **weights}


def decision_rows(rows: BinarySample, p: FloatArray, threshold: float) -> DecisionRows:
    """Rows with predictions `p`; of very many, those of an outcome in a cell are counted as one.

    Cells end at the threshold and at every thousandth, so every row stays on its side of the
    thresholds that are drawn: costs and benefits are the same, and their intervals as good as.
    Weighted rows stay as they are.
    """
    if rows.n <= _FEW or rows.weight is not None:
        return DecisionRows(rows.y, p, rows.weight, rows.weight_type)
    edges = np.union1d(np.arange(_CELLS + 1) / _CELLS, [threshold])
    cell = 2 * np.searchsorted(edges, p, side="right") + rows.y
    count = np.bincount(cell).astype(np.float64)
    held = np.flatnonzero(count)
    mean = np.bincount(cell, weights=p)[held] / count[held]
    return DecisionRows(held % 2, mean, count[held], "frequency")


_THRESHOLDS = np.arange(1, 100) / 100


def decide(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Threshold, costs and net benefit for these costs and this share of positives."""
    data = session.data
    costs = (_cost(query, "cost_fp"), _cost(query, "cost_fn"))
    last = len(data.classes) - 1
    label = data.classes[whole_number(query.get("class", last), "class", 0, last)]
    asked = query.get("prior") or None
    prior = None if asked is None else number(asked, "prior", 0.001, 0.999)
    rows = data.binary(query.get("stage", "before"), label)
    share = weighted_mean(rows.y, rows.weight)
    if not 0 < share < 1:
        hint = "choose a class that occurs in some rows and not in others."
        raise invalid(CALLER, "class", "one that occurs", f"a share of {share:g}", hint=hint)
    prior = share if prior is None else prior
    threshold = float(cost_threshold(*costs))
    adjusted = rows.p if prior == share else adjust_priors(rows.p, share, prior)
    used = _shifted(decision_rows(rows, adjusted, threshold), share, prior)
    cost = expected_cost(used.y, used.p, costs, **used.options())
    kept = cost
    if prior != share:
        same = _shifted(decision_rows(rows, rows.p, threshold), share, prior)
        kept = expected_cost(same.y, same.p, costs, **same.options())
    thresholds = np.union1d(_THRESHOLDS, [threshold])
    every = decision_curve(used.y, used.p, thresholds=thresholds, **used.options())
    at = int(np.searchsorted(thresholds, threshold))
    return {
        "label": str(label),
        "share": share,
        "prior": prior,
        "threshold": threshold,
        "threshold_as_given": float(prior_threshold(share, prior, threshold=threshold)),
        "called": float(every.called[at]),
        "promised": cost.predicted.estimate,
        "cost": values_of(cost.realised, "estimate", "low", "high"),
        "not_adjusted": kept.realised.estimate,
        "constant": cost.constant,
        "constant_action": "act always" if cost.constant_action == 1 else "never act",
        "perfect": cost.perfect,
        "pvalue": cost.difference.pvalue,
        "benefit": {
            "value": float(every.net_benefit[at]),
            "low": float(every.low[at]),
            "high": float(every.high[at]),
            "all": float(every.treat_all[at]),
        },
        "chart": chart_data(
            decision_chart(every, title=f"Net benefit of acting where {label} is predicted"),
            "benefit-chart",
        ),
        "notes": list(cost.notes),
    }


def _cost(query: Mapping[str, str], name: str) -> float:
    return number(query.get(name, 1), name, 1e-6, 1e9)


def _shifted(rows: DecisionRows, share: float, prior: float) -> DecisionRows:
    """Rows weighted so that they have another share of positives: label shift."""
    if prior == share:
        return rows
    factor = np.where(rows.y == 1, prior / share, (1 - prior) / (1 - share))
    return rows._replace(weight=factor if rows.weight is None else factor * rows.weight)
