"""What the page "Learn" asks for: a fake classifier whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from veridical._core.data.validation import check_sample
from veridical.decisions import cost_threshold, expected_cost
from veridical.evaluation.core import evaluate_source
from veridical.evaluation.data import read_rows
from veridical.report.charts import reliability_chart
from veridical.results import ReliabilityCurve
from veridical.simulation import DirichletFakeClassifier, TemperatureMap
from veridical.studio._api.evaluate import error_data
from veridical.studio._data.answers import chart_data, number, whole_number
from veridical.studio._data.session import Session

_EDGES = np.linspace(0, 1, 101)


def learn(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Rows of a fake classifier at a temperature, and what is measured on them."""
    temperature = number(query.get("temperature", 1), "temperature", 0.2, 5)
    spread = number(query.get("spread", 1), "spread", 0.2, 10)
    rows = whole_number(query.get("rows", 2000), "rows", 50, 20_000)
    n_bins = whole_number(query.get("n_bins", 10), "n_bins", 1, 50)
    seed = whole_number(query.get("seed", 0), "seed", 0, 10**6)
    cost_fn = number(query.get("cost_fn", 1), "cost_fn", 0.02, 50)
    fake = DirichletFakeClassifier((spread, spread), TemperatureMap(temperature))
    drawn = fake.sample(rows, rng=seed)  # the same truth at every temperature
    predicted, truth = drawn.y_prob[:, 1], drawn.p_true[:, 1]
    source = read_rows(drawn.y, predicted, labels=[0, 1], caller="learn")
    found = evaluate_source(source, n_bins=n_bins, confidence_level=0.95, n_resamples=200, rng=0)
    curves = {"measured": found.curve, "truth": _true_curve(temperature)}
    title = "Reliability diagram of the fake classifier"
    threshold = float(cost_threshold(1, cost_fn))
    cost = expected_cost(drawn.y, predicted, (1, cost_fn), labels=[0, 1])
    best = expected_cost(drawn.y, truth, (1, cost_fn), labels=[0, 1])
    return {
        "verdict": found.verdict,
        "chart": chart_data(reliability_chart(curves, title=title)),
        "ece": error_data(found.default),
        "true_ece": float(np.mean(np.abs(truth - predicted))),
        "scores": {name: found.scores[name] for name in ("log", "brier")},
        "best_scores": _scores_of_truth(drawn.y, truth),
        "accuracy": found.accuracy,
        "auc": found.auc,
        "threshold": threshold,
        "acts": float(np.mean(predicted > threshold)),
        "should_act": float(np.mean(truth > threshold)),
        "cost": cost.realised.estimate,
        "promised": cost.predicted.estimate,
        "best_cost": best.realised.estimate,
    }


def _true_curve(temperature: float) -> ReliabilityCurve:
    """What is true of each prediction: its log-odds times the temperature."""
    predicted = (_EDGES[1:] + _EDGES[:-1]) / 2
    truth = 1 / (1 + np.exp(-temperature * np.log(predicted / (1 - predicted))))
    # Known everywhere, so no rows are counted; every part weighs the same.
    count, weight = np.zeros(len(predicted)), np.ones(len(predicted))
    return ReliabilityCurve(
        lower=_EDGES[:-1].copy(),
        upper=_EDGES[1:].copy(),
        count=count,
        weight=weight,
        predicted=predicted,
        observed=truth,
        gap=truth - predicted,
        lens="binary",
        method="smooth",
        definition="known, not estimated",
        n_samples=0,
    )


def _scores_of_truth(y: Any, truth: Any) -> dict[str, float]:
    from veridical.scores import get_rule

    sample = check_sample(y, truth, caller="learn", labels=[0, 1])
    return {name: get_rule(name, caller="learn").mean(sample) for name in ("log", "brier")}
