"""What the page "Evaluate" asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from veridical._core.data.validation import check_option
from veridical.evaluation.core import evaluate_source
from veridical.inference import adjust_pvalues
from veridical.report.charts import reliability_chart
from veridical.results import Evaluation, MeasuredError
from veridical.studio._data.answers import CALLER, chart_data, values_of, whole_number
from veridical.studio._data.live import LEVEL, LensView, without_bins
from veridical.studio._data.session import Session, lens_of

METHODS = ("bins", "isotonic", "smooth", "density")
STRATEGIES = ("uniform", "quantile")
MOST_BINS = 50
_MOST_GROUPS = 50


def live(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Verdict, diagram and binned errors: what follows every move."""
    view = _view(session, query)
    method, strategy = query.get("method", "bins"), query.get("strategy", "uniform")
    check_option(CALLER, "method", method, METHODS)
    check_option(CALLER, "strategy", strategy, STRATEGIES)
    n_bins = whole_number(query.get("n_bins", 15), "n_bins", 1, MOST_BINS)
    found = view.evaluation(n_bins, strategy)
    curve = found.curve if method == "bins" else view.curve(method)
    return {
        "verdict": found.verdict,
        "default": found.default_error,
        "errors": [error_data(error) for error in found.errors],
        "means": means_of(found),
        "chart": chart_data(reliability_chart(curve)),
    }


def figures(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """What does not depend on bins: scores, their parts, areas, notes."""
    return unbinned_figures(_view(session, query))


def _view(session: Session, query: Mapping[str, str]) -> LensView:
    """Rows of the lens and the stage that are asked for."""
    data, stage = session.data, query.get("stage", "before")
    return data.view(lens_of(data.stage(stage), query.get("lens")), stage)


def unbinned_figures(view: LensView) -> dict[str, Any]:
    """Figures of the whole prediction, and errors without bins."""
    found = view.full
    return {
        "scores": [
            {"name": name, "value": value, "parts": _parts(found, name)}
            for name, value in found.scores.items()
        ],
        "accuracy": found.accuracy,
        "auc": found.auc,
        "several": len(found.classes) > 2,
        "n_samples": found.n_samples,
        "errors": [error_data(error) for error in without_bins(found.errors)],
        "notes": list(found.notes),
    }


def error_data(error: MeasuredError) -> dict[str, Any]:
    """One error and what it is compared with."""
    names = ("name", "value", "definition", "low", "high", "null_mean", "null_q95", "pvalue")
    return values_of(error, *names)


def means_of(found: Evaluation) -> dict[str, Any]:
    """Mean prediction and frequency, and the recalibration line."""
    line = {}
    for name in ("slope", "intercept"):
        value = getattr(found, name)
        line[name] = value and {"value": value.estimate, "low": value.low, "high": value.high}
    means = {"predicted": found.mean_predicted, "observed": found.mean_observed}
    return {"lens": found.curve.lens, **means, **line}


def _parts(found: Evaluation, rule: str) -> dict[str, float] | None:
    for parts in found.decompositions:
        # The parts are of the diagram's problem; only of two classes is that the whole prediction.
        if parts.rule == rule and len(found.classes) == 2 and found.lens == "binary":
            return values_of(parts, "miscalibration", "discrimination", "uncertainty")
    return None


def groups(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Every group by itself, the worst first."""
    data, found = session.data, []
    source = replace(data.source, lens=lens_of(data.sample, query.get("lens")))
    for key, part in source.groups():
        measured = evaluate_source(part, n_bins=15, confidence_level=LEVEL, n_resamples=500, rng=0)
        found.append((str(key), measured))
        if len(found) > _MOST_GROUPS:
            break
    listed = found[:_MOST_GROUPS]
    known = [e.default.pvalue for _, e in listed if e.default.pvalue is not None]
    adjusted = iter(adjust_pvalues(known).tolist() if known else [])
    rows = [
        {
            "group": key,
            "rows": e.n_samples,
            "predicted": e.mean_predicted,
            "observed": e.mean_observed,
            "log": e.scores["log"],
            "adjusted": None if e.default.pvalue is None else next(adjusted),
            **error_data(e.default),
        }
        for key, e in listed
    ]
    rows.sort(key=lambda row: -row["value"])
    return {"groups": rows, "left_out": len(found) - len(listed)}
