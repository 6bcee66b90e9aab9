"""What the page "Calibrate" asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical._core.data.validation import check_option
from veridical.calibrators.core import BinaryCalibrator
from veridical.exceptions import invalid
from veridical.report.charts import reliability_chart
from veridical.results import Comparison, ReliabilityCurve, ReliabilityDisplay
from veridical.selection.core import ALIASES, calibrator_names
from veridical.studio._api.evaluate import error_data, unbinned_figures
from veridical.studio._data.answers import (
    CALLER,
    Refused,
    chart_data,
    names,
    values_of,
    whole_number,
)
from veridical.studio._data.fit import BEFORE, Fit
from veridical.studio._data.session import Dataset, Session, lens_of

_SUGGESTED = ("auto", "temperature", "platt", "beta", "isotonic")
_SUGGESTED_SEVERAL = ("auto", "temperature", "structured-matrix", "isotonic")
_NOT_OFFERED = {"identity", *ALIASES}


def methods(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Calibrators to choose from."""
    data = session.data
    offered = [name for name in calibrator_names() if name not in _NOT_OFFERED]
    suggested = _SUGGESTED if data.is_binary else _SUGGESTED_SEVERAL
    return {"methods": [_described(n, n in suggested, data) for n in offered]}


def start(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Begin to fit."""
    data = session.data
    chosen = names(body.get("methods"), "methods")
    if not chosen:
        hint = "tick one or more; `auto` is a good start."
        raise invalid(CALLER, "methods", "at least one calibrator", "none", hint=hint)
    for name in chosen:
        check_option(CALLER, "methods", name, calibrator_names())
    folds = whole_number(body.get("folds", 5), "folds", 2, 20)
    with session.lock:
        if session.fit is not None and session.fit.progress()["state"] == "running":
            raise Refused(409, "a fit is running", "wait for it, or cancel it.")
        session.fit = Fit(data, list(dict.fromkeys(chosen)), folds)
        session.fit.start()
        return session.fit.progress()


def progress(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """How far the fit is, with its result once it is done."""
    fit = session.fit
    if fit is None:
        return {"state": "none"}
    known = fit.progress()
    if known["state"] == "done":
        known["result"] = _result(session.data, fit)
    return known


def cancel(session: Session, query: Mapping[str, str]) -> dict[str, Any]:
    """Stop the fit."""
    session.end()
    return {"state": "cancelled"}


def pick(session: Session, body: dict[str, Any]) -> dict[str, Any]:
    """Choose a fitted calibrator, which the other pages then use."""
    data, name = session.data, str(body.get("method", ""))
    if name not in data.fitted:
        raise Refused(409, f"{name[:40]!r} is not fitted", "fit it first.")
    data.pick(name)
    return _picked_data(data)


def _described(name: str, suggested: bool, data: Dataset) -> dict[str, Any]:  # noqa: FBT001
    kind = calibrator_names()[name]
    about = "averages several maps, or leaves the model alone"
    if kind is not None:
        about = (kind.__doc__ or "").strip().splitlines()[0].rstrip(".")
        if not data.is_binary and issubclass(kind, BinaryCalibrator):
            about += "; each class against the rest"
    return {"name": name, "about": about, "suggested": suggested}


def _result(data: Dataset, fit: Fit) -> dict[str, Any]:
    comparison = data.comparison
    assert comparison is not None
    return {
        "rows": [_compared(comparison, name) for name in comparison.models],
        "left_out": fit.left_out,
        "folds": fit.n_folds,
        "n_samples": comparison.n_samples,
        "lens": comparison.lens,
        "picked": None if data.picked is None else _picked_data(data),
        "charts": {
            name: chart_data(
                reliability_chart(
                    {model: _diagram(comparison, model) for model in (BEFORE, name)},
                    classes=("before", "after"),
                    title=f"Held out: {name}{data.about and ', ' + data.about}",
                ),
                "held-out-chart",
            )
            for name in comparison.models[1:]
        },
        "notes": list(comparison.notes),
    }


def _diagram(comparison: Comparison, model: str) -> ReliabilityCurve | ReliabilityDisplay:
    found = comparison.evaluation(model)
    return found.curve if found.display is None else found.display


def _compared(comparison: Comparison, name: str) -> dict[str, Any]:
    found, test = comparison.evaluation(name), comparison.test(name)
    row: dict[str, Any] = {
        "method": name,
        "log": found.scores["log"],
        "brier": found.scores["brier"],
        "ece": error_data(found.default),
        "pvalue": test.pvalue,
        "difference": None,
    }
    if name != BEFORE:
        known = {d.difference.estimator for d in comparison.differences}
        row["figure"] = "log" if "log" in known else "brier"  # infinite losses have no difference
        gap = comparison.difference(name, BEFORE, row["figure"])
        row["difference"] = {"value": gap.estimate, **values_of(gap, "low", "high")}
    return row


def _picked_data(data: Dataset) -> dict[str, Any]:
    figures = {}
    for stage in ("before", "after"):
        view = data.view(lens_of(data.stage(stage), None), stage)
        figures[stage] = unbinned_figures(view) | {"ece": error_data(view.full.default)}
    words = data.chosen.calibrator.explain()
    return {"method": data.chosen.method, "explanation": words, **figures}
