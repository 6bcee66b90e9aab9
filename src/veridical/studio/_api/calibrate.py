"""Handlers of the page "Calibrate"."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from veridical._core.data.validation import check_option
from veridical.calibrators.core import BinaryCalibrator
from veridical.exceptions import invalid
from veridical.results import Comparison
from veridical.selection.core import ALIASES, calibrator_names
from veridical.studio._api.evaluate import error_data, unbinned_figures
from veridical.studio._data.answers import (
    CALLER,
    Refused,
    answer,
    body_of,
    chart_data,
    curve_chart,
    in_thread,
    whole_number,
)
from veridical.studio._data.dataset import Dataset, lens_of
from veridical.studio._data.fit import BEFORE, Fit
from veridical.studio._data.session import Session

_SUGGESTED = ("auto", "temperature", "platt", "beta", "isotonic")
_SUGGESTED_SEVERAL = ("auto", "temperature", "structured-matrix", "isotonic")
_NOT_OFFERED = {"identity", *ALIASES}


async def methods(request: Request) -> Response:
    """Calibrators to choose from."""
    data: Dataset = request.app.state.session.data
    names = [name for name in calibrator_names() if name not in _NOT_OFFERED]
    suggested = _SUGGESTED if data.is_binary else _SUGGESTED_SEVERAL
    return answer({"methods": [_described(n, n in suggested, data) for n in names]})


async def start(request: Request) -> Response:
    """Begin to fit."""
    session: Session = request.app.state.session
    data, body = session.data, await body_of(request)
    names = [str(name) for name in body.get("methods") or []]
    if not names:
        hint = "tick one or more; `auto` is a good start."
        raise invalid(CALLER, "methods", "at least one calibrator", "none", hint=hint)
    for name in names:
        check_option(CALLER, "methods", name, calibrator_names())
    folds = whole_number(body.get("folds", 5), "folds", 2, 20)
    with session.lock:
        if session.fit is not None and session.fit.progress()["state"] == "running":
            raise Refused(409, "a fit is running", "wait for it, or cancel it.")
        session.fit = Fit(data, list(dict.fromkeys(names)), folds)
        session.fit.start()
    return answer(session.fit.progress())


async def progress(request: Request) -> Response:
    """How far the fit is, with its result once it is done."""
    session: Session = request.app.state.session
    fit = session.fit
    if fit is None:
        return answer({"state": "none"})
    known = fit.progress()
    if known["state"] == "done":
        known["result"] = await in_thread(_result, session.data, fit)
    return answer(known)


async def cancel(request: Request) -> Response:
    """Stop the fit."""
    session: Session = request.app.state.session
    if session.fit is not None:
        session.fit.cancel()
    return answer({"state": "cancelled"})


async def pick(request: Request) -> Response:
    """Choose a fitted calibrator, which the other pages then use."""
    session: Session = request.app.state.session
    data, name = session.data, str((await body_of(request)).get("method", ""))
    if name not in data.fitted:
        raise Refused(409, f"{name[:40]!r} is not fitted", "fit it first.")
    return answer(await in_thread(_picked, data, name))


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
            name: chart_data(curve_chart(_curves(comparison, name), f"Held out: {name}"))
            for name in comparison.models[1:]
        },
        "notes": list(comparison.notes),
    }


def _curves(comparison: Comparison, name: str) -> dict[str, Any]:
    return {model: comparison.evaluation(model).curve for model in (BEFORE, name)}


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
        row["difference"] = {"value": gap.estimate, "low": gap.low, "high": gap.high}
    return row


def _picked(data: Dataset, name: str) -> dict[str, Any]:
    data.pick(name)
    return _picked_data(data)


def _picked_data(data: Dataset) -> dict[str, Any]:
    assert data.picked is not None
    figures = {}
    for stage in ("before", "after"):
        view = data.view(lens_of(data.stage(stage), None), stage)
        figures[stage] = unbinned_figures(view) | {"ece": error_data(view.full.default)}
    return {"method": data.picked.method, **figures}
