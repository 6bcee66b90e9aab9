"""Curves to draw, and what charts of them hold: columns of the table, marks, words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from veridical.report._charts.catalogue import Chart
from veridical.results import ReliabilityCurve


def curve_of(**arrays: Any) -> ReliabilityCurve:
    """Curve of two bins with an empty one between them, changed as asked."""
    given: dict[str, Any] = {
        "lower": [0.0, 0.5],
        "upper": [0.25, 0.75],
        "count": [3.0, 1.0],
        "weight": [3.0, 1.0],
        "predicted": [0.125, 0.625],
        "observed": [1 / 3, 1.0],
        "low": [0.25, 0.5],
        "high": [0.5, 1.0],
    }
    words: dict[str, Any] = {"lens": "binary", "method": "bins", "definition": "4 bins",
                             "interval": "binomial", "confidence_level": 0.95}  # fmt: skip
    for name, value in arrays.items():
        (given if name in given else words)[name] = value
    made = {name: None if v is None else np.array(v, dtype=float) for name, v in given.items()}
    gap = made["observed"] - made["predicted"]
    return ReliabilityCurve(**made, **words, gap=gap, n_samples=int(made["count"].sum()))


def column(chart: Chart, name: str) -> list[str]:
    return [row[chart.table.header.index(name)] for row in chart.table.rows]


def drawn(chart: Chart, css: str, width: float = 460) -> list[dict[str, str]]:
    """Attributes of the marks of a class, in order; those of a group have its class, too."""
    found, looks = [], []
    for name, text in re.findall(r"<(/?\w+)([^>]*)>", chart.to_svg(width=width)):
        given = dict(re.findall(r'([\w-]+)="([^"]*)"', text))
        if name == "g":
            looks.append(given["class"])
        elif name == "/g":
            looks.pop()
        elif css in given.get("class", "").split():
            found.append(given | {"look": " ".join(looks)})
    return found


def numbers(mark: dict[str, str]) -> list[float]:
    return [float(number) for number in re.findall(r"[\d.]+", mark["d"])]


def words(chart: Chart, width: float = 460) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", chart.to_svg(width=width))
