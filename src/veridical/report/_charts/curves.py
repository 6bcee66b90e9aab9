"""Reliability curves as charts need them: rows of data, words, descriptions and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.curves.shapes import band_corners, bins_alike, curve_pieces, line_corners
from veridical.report._charts.chart import Table, count_words, plain, short, table_of
from veridical.results import ReliabilityCurve

Columns = dict[str, list[Any]]
_BARS = 40
MOST = 200  # places of a curve without bins that are drawn: more cannot be told apart


def series_columns(name: str, fields: Mapping[str, FloatArray | None], **same: Any) -> Columns:
    """Columns of a series, which each row names: arrays for JSON, None where there is none.

    `same` are fields whose value is the same in each row.
    """
    count = max(len(values) for values in fields.values() if values is not None)
    repeated = {field: [value] * count for field, value in ({"series": name} | same).items()}
    return repeated | {
        field: [None] * count if values is None else [plain(value) for value in values.tolist()]
        for field, values in fields.items()
    }


def drawn(curve: ReliabilityCurve) -> ReliabilityCurve:
    """Return the curve, or of a curve without bins at most 200 places, the ends among them."""
    n = len(curve)
    if curve.method == "bins" or n <= MOST:
        return curve
    keep = np.linspace(0, n - 1, MOST).astype(np.intp)
    fields = ("lower", "upper", "count", "weight", "predicted", "observed", "gap", "low", "high")
    kept: dict[str, Any] = {
        name: None if (values := getattr(curve, name)) is None else values[keep] for name in fields
    }
    return replace(curve, **kept)


def point_columns(name: str, curve: ReliabilityCurve) -> Columns:
    """One row a bin, block or cell, as measured."""
    curve = drawn(curve)
    fields = ("lower", "upper", "count", "predicted", "observed", "low", "high")
    values = {field: getattr(curve, field) for field in fields}
    return series_columns(name, values, dot=curve.method == "bins")


def line_columns(name: str, curve: ReliabilityCurve) -> Columns:
    """Corners of the line through a curve, and of the band around it, in order.

    `piece` changes where the curve leaves out bins or cells, so that lines break there. An
    isotonic fit is flat over its blocks; between blocks a simultaneous band keeps the lower limit
    of the block before and the upper limit of the one after.
    """
    curve = drawn(curve)
    x, low, high = band_corners(curve, curve.predicted)
    y = line_corners(curve, curve.predicted)[1]
    if len(y) < len(x):  # a band that steps between blocks
        y = np.repeat(y, 2)[1:-1]
    flat = curve.method == "isotonic"
    piece = np.zeros(len(x), dtype=np.intp) if flat else curve_pieces(curve)
    values = {"predicted": x, "observed": y, "low": low, "high": high}
    columns = series_columns(name, values, band=curve.method != "bins")
    return columns | {"piece": piece.tolist()}


def bar_columns(name: str, curve: ReliabilityCurve) -> Columns:
    """How predictions are spread: bins as they are if alike in width, else 40 bars.

    Rows of a bin, a block or a cell count as evenly spread over it; a density is right to the
    width of its cells.
    """
    lower, upper, count = curve.lower, curve.upper, curve.count
    if not (curve.method == "bins" and bins_alike(curve)):
        edges = np.linspace(0.0, 1.0, _BARS + 1)
        before = np.concatenate([[0.0], np.cumsum(count)])
        reached = np.interp(edges, np.ravel([lower, upper], "F"), np.repeat(before, 2)[1:-1])
        reached[0], reached[-1] = 0.0, before[-1]
        lower, upper, count = edges[:-1], edges[1:], np.diff(reached)
    return series_columns(name, {"lower": lower, "upper": upper, "count": count})


def joined(parts: list[Columns]) -> Columns:
    """Append the columns of several series."""
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


_HEADER = ("from", "to", "rows", "predicted", "observed", "gap", "low", "high")


def axis_words(curve: ReliabilityCurve) -> dict[str, str]:
    """Words of the axes, which depend on what was predicted."""
    sure = curve.lens == "confidence"
    return {
        "x": curve.says,
        "y": curve.happens,
        "above": "above: under-confident" if sure else "above: under-prediction",
        "below": "below: over-confident" if sure else "below: over-prediction",
    }


def description_of(curves: Mapping[str, ReliabilityCurve]) -> str:
    """Say what the curves show, in words."""
    first = next(iter(curves.values()))
    words = axis_words(first)
    said = [f"{words['y'].capitalize()} against {words['x']}, {short(first.lens)} lens."]
    return " ".join(said + [_reading(name, curve) for name, curve in curves.items()])


def numbers_of(curves: Mapping[str, ReliabilityCurve]) -> Table:
    """Return the bins, blocks or cells of every curve, as many as are drawn."""
    several = len(curves) > 1
    header = ("series", *_HEADER) if several else _HEADER
    rows = []
    for name, every in curves.items():
        curve = drawn(every)
        n = len(curve)
        low = [None] * n if curve.low is None else curve.low.tolist()
        high = [None] * n if curve.high is None else curve.high.tolist()
        middle = (curve.predicted, curve.observed, curve.gap)
        for i in range(n):
            row = (
                f"{curve.lower[i]:.4g}",
                f"{curve.upper[i]:.4g}",
                count_words(curve.count[i]),
                *(f"{values[i]:.4f}" for values in middle),
                low[i],
                high[i],
            )
            rows.append((name, *row) if several else row)
    return table_of(header, rows)


def _reading(name: str, curve: ReliabilityCurve) -> str:
    """Say where one curve is furthest from the diagonal, and how often it is off it."""
    who = f"{short(name)}: " if name else ""
    weight = curve.weight / curve.weight.sum()
    size = weight * np.abs(curve.gap)
    worst = int(np.argmax(size))
    said = (
        f"{who}{count_words(curve.n_samples)} rows, on average {size.sum():.3f} off the diagonal;"
        f" the gap that counts most is where it says {curve.predicted[worst]:.2f} and"
        f" {curve.observed[worst]:.2f} is observed"
    )
    if curve.low is None or curve.high is None:
        return f"{said}."
    around = curve.interval == "consistency"
    inside = curve.observed if around else curve.predicted
    outside = int(np.sum((inside < curve.low) | (inside > curve.high)))
    what = {"bins": "bins", "isotonic": "blocks"}.get(curve.method, "places")
    level = f"{100 * (curve.confidence_level or 0):g} %"
    return f"{said}; {outside} of {len(curve)} {what} lie off the diagonal beyond {level} limits."
