"""What reliability curves say: words of their axes, a description, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veridical.report._chart_shapes import drawn
from veridical.report._chart_table import Table, count_words, short, table_of
from veridical.results import ReliabilityCurve

_HEADER = ("from", "to", "rows", "predicted", "observed", "gap", "low", "high")


def axis_words(curve: ReliabilityCurve) -> dict[str, str]:
    """Words of the axes, which depend on what was predicted."""
    sure = curve.lens == "confidence"
    return {
        "x": "confidence" if sure else "predicted probability",
        "y": "share that was right" if sure else "observed frequency",
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
