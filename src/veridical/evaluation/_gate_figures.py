"""Figures by the names that requirements use, with the limits that are known."""

from __future__ import annotations

import math
from importlib import metadata
from typing import Any

from veridical._core.sample import Sample
from veridical.evaluation._gate_language import spelt
from veridical.exceptions import InvalidInputError
from veridical.inference._bootstrap import scores_by_row
from veridical.inference._mean_interval import make_units, normal_limits
from veridical.lenses import Binary, Canonical
from veridical.miscalibration import (
    BrierScore,
    LogScore,
    MeanScore,
    SphericalScore,
    ZeroOneLoss,
)
from veridical.results import Coefficient, Evaluation
from veridical.results._gate import GateBaseline, GateFigure

SCORES: dict[str, MeanScore] = {
    "brier": BrierScore(),
    "log": LogScore(),
    "spherical": SphericalScore(),
    "zero_one": ZeroOneLoss(),
}


def figures_of(
    evaluation: Evaluation, *, group: str | None = None, sample: Sample | None = None
) -> dict[str, GateFigure]:
    """Every figure of an evaluation; with its rows also limits of scores and accuracy."""
    beside: dict[str, dict[str, Any]] = {
        spelt(m.name): {
            "low": m.low, "high": m.high, "null_mean": m.null_mean, "null_q95": m.null_q95,
            "pvalue": m.pvalue,
        }
        for m in evaluation.errors
    }  # fmt: skip
    if sample is not None:
        beside |= _score_limits(sample, evaluation.confidence_level)
    found: dict[str, GateFigure] = {}
    rows = [row for row in evaluation.figures() if not row[0].startswith("base rate ")]
    for quantity, definition, lens, n, value in rows:
        name = spelt(quantity)
        found[name] = GateFigure(
            name=name,
            group=group,
            value=value,
            definition=definition,
            lens=lens,
            n_samples=n,
            unbiased=name in SCORES or name == "accuracy",
            **beside.get(name, {}),
        )
    for name in ("slope", "intercept"):
        coefficient = getattr(evaluation, name)
        if coefficient is not None:
            found[name] = _of_line(name, coefficient, evaluation, group)
    return found


def baseline_of(
    parts: list[tuple[str | None, dict[str, GateFigure]]], evaluation: Evaluation
) -> GateBaseline:
    """All figures of all parts; `evaluation` is that of all rows."""
    return GateBaseline(
        figures=tuple(figure for _, figures in parts for figure in figures.values()),
        classes=tuple(map(str, evaluation.classes)),
        lens=evaluation.lens,
        n_samples=evaluation.n_samples,
        confidence_level=evaluation.confidence_level,
        version=_version(),
    )


def _version() -> str:
    try:
        return metadata.version("veridical")
    except metadata.PackageNotFoundError:  # run from a folder
        return "unknown"


def _of_line(
    name: str, coefficient: Coefficient, evaluation: Evaluation, group: str | None
) -> GateFigure:
    estimate = coefficient.estimate
    return GateFigure(
        name=name,
        group=group,
        value=estimate,
        low=coefficient.low,
        high=coefficient.high,
        definition=f"recalibration {name}",
        lens=evaluation.curve.lens,
        n_samples=evaluation.n_samples,
        unbiased=estimate is not None and math.isfinite(estimate),
    )


def _score_limits(sample: Sample, level: float) -> dict[str, dict[str, Any]]:
    """Normal limits of the mean scores of the whole prediction, and of the accuracy."""
    lens = Binary() if len(sample.classes) == 2 else Canonical()
    limits: dict[str, dict[str, Any]] = {}
    for name, score in SCORES.items():
        try:
            by_row = scores_by_row(score, lens.induce(sample), sample, caller="check_requirements")
        except InvalidInputError:  # an infinite mean has no limits
            continue
        if len(by_row) < 2:
            continue
        low, high = normal_limits(make_units(by_row, sample.weight, False, None, None), level)  # noqa: FBT003
        limits[name] = {"low": max(low, min(0.0, float(by_row.min()))), "high": high}
    if "zero_one" in limits:
        wrong = limits["zero_one"]
        limits["accuracy"] = {"low": 1 - wrong["high"], "high": 1 - wrong["low"]}
    return limits
