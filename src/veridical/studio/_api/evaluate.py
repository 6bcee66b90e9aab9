"""What the page "Evaluate" asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from veridical._core.data.validation import check_option
from veridical.evaluation.core import Measuring, judge_source, measure_figures
from veridical.report.charts import reliability_chart
from veridical.results import Evaluation, MeasuredError, ReliabilityCurve, ReliabilityDisplay
from veridical.studio._data.answers import CALLER, chart_data, values_of, whole_number
from veridical.studio._data.live import LEVEL, OPTIONS, LensView, without_bins
from veridical.studio._data.session import Dataset, Session, lens_of

METHODS = ("auto", "bins", "isotonic", "smooth", "density")
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
    shown: ReliabilityCurve | ReliabilityDisplay = found.curve
    if method != "bins":
        shown = view.display if method == "auto" else view.curve(method)
    title = _title(session.data, found.curve.lens)
    return {
        "verdict": found.verdict.text,
        "default": found.default_error,
        "errors": [error_data(error) for error in found.errors],
        "means": means_of(found),
        "chart": chart_data(reliability_chart(shown, title=title), "reliability-chart"),
    }


def _title(data: Dataset, lens: str) -> str:
    """Heading of the diagram: which class is predicted, or through which lens it is seen."""
    about = data.about if data.about and lens == "binary" else f"{lens} lens"
    return f"Reliability diagram, {about}"


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
    """Every group by itself, those that stand out most first, tested as one family."""
    data = session.data
    source = replace(data.source, lens=lens_of(data.sample, query.get("lens")))
    tested = judge_source(source, **OPTIONS).of_group
    options = Measuring(15, LEVEL, 500, 0)
    parts = list(source.groups())
    rows = []
    for key, part in parts[:_MOST_GROUPS]:
        e, member = measure_figures(part, options), tested.get(key)
        rows.append(
            {
                "group": str(key),
                "rows": e.n_samples,
                "predicted": e.mean_predicted,
                "observed": e.mean_observed,
                "log": e.scores["log"],
                "adjusted": None if member is None else member.adjusted,
                **error_data(e.default),
            }
        )
    rows.sort(key=lambda row: (1.0 if row["adjusted"] is None else row["adjusted"], -row["value"]))
    return {"groups": rows, "left_out": max(len(parts) - _MOST_GROUPS, 0)}
