"""Colours and lines of charts, on a light and on a dark ground.

Specifications name styles ("series", "reference", ...); what these look like is said here, once
for each ground, so that a page can change from light to dark without a new specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# Okabe & Ito (2008), "Color universal design": the same hues and the same order as in the figures.
_ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#FFFFFF")
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")
DASHES = ((1, 0), (7, 3), (6, 2, 1, 2), (2, 2))
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def _config(colours: tuple[str, ...], ink: str, muted: str, faint: str, grid: str,
            ground: str) -> dict[str, Any]:  # fmt: skip
    """Vega-Lite configuration of one ground."""
    text = {"labelColor": ink, "titleColor": ink, "labelFontSize": 11, "titleFontSize": 12}
    return {
        "background": "transparent",
        "font": FONT,
        "aria": False,  # the figure around the picture has the words
        "view": {"stroke": None},
        "axis": text | {"titleFontWeight": "normal", "gridColor": grid, "domainColor": muted,
                        "tickColor": muted},
        "legend": text | {"titleFontWeight": "normal", "orient": "top", "symbolType": "circle",
                          "labelLimit": 240, "symbolStrokeWidth": 2, "symbolOpacity": 1},
        "title": {"color": ink, "fontSize": 13, "anchor": "start"},
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 11, "labelLimit": 150},
        "range": {"category": list(colours), "symbol": list(_SYMBOLS)},
        "style": {
            "series": {"color": colours[0]},
            "second": {"color": colours[1]},
            "mark": {"color": ink},
            "note": {"color": ink, "fontSize": 11},
            "hint": {"color": muted, "fontSize": 11},
            "reference": {"color": muted, "strokeWidth": 1},
            "other": {"color": muted},
            "null": {"color": faint},
            "lifted": {"stroke": ground, "strokeWidth": 0.7},
            "alarm": {"color": colours[1], "strokeWidth": 1.5},
        },
    }  # fmt: skip


THEMES: Mapping[str, dict[str, Any]] = MappingProxyType({
    "light": _config(_ON_LIGHT, "#1A1A1A", "#6B6B6B", "#CFCFCF", "#E8E8E8", "#FFFFFF"),
    "dark": _config(_ON_DARK, "#F2F2F2", "#B0B0B0", "#5A5A5A", "#343434", "#161616"),
})  # fmt: skip
