"""Figures 1, 4 and 15 to 18: diagrams of the networks there are."""

from __future__ import annotations

import re

import numpy as np

from veridical.curves import reliability_curve
from veridical.experiments._evaluating_networks import (
    CALIBRATED,
    DATA,
    EQUAL,
    OVERCONFIDENT,
    bins_for,
    seen_through,
)
from veridical.experiments._evaluating_panels import deviation_panel, n_outside
from veridical.experiments._page import Page
from veridical.experiments._predictions import Predictions
from veridical.lenses import Grouped
from veridical.plots import simplex
from veridical.plots._panels import Bars, Figure, Panel, draw_panels
from veridical.results import ReliabilityCurve
from veridical.summaries import VectorSummary

_MANY = 5000  # rows below which most arrows are noise
_GROUPS = [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
_TITLES = {EQUAL: "equal bins", DATA: "data-dependent bins"}


def diagram_section(page: Page, networks: list[Predictions]) -> None:
    """Add a diagram of the largest probability for every network, and of groups of classes."""
    page.section("Figures 4, 15 and 17: diagrams of the largest probability")
    curves = {one.name: {kind: _curve(one, kind) for kind in _TITLES} for one in networks}
    for network in networks:
        page.figure(
            f"top-{_slug(network.name)}", _draw(network, curves[network.name]),
            caption=f"{network.name}: gaps of the largest probability, with consistency bars.",
            alt=f"Deviation diagrams of {network.name}, equal and data-dependent bins, and spread",
        )  # fmt: skip
    outside = {
        kind: [f"{n_outside(both[kind])} of {len(both[kind])}" for both in curves.values()]
        for kind in _TITLES
    }
    page.table(
        {
            "network": list(curves),
            "equal bins outside their bar": outside[EQUAL],
            "data-dependent bins outside": outside[DATA],
        },
        caption="A bar holds nine of ten bins of a calibrated model",
    )
    _judge_diagrams(page, curves)
    _grouped(page, [one for one in networks if one.p.shape[1] == 10 and len(one.y) >= _MANY])


def _judge_diagrams(page: Page, curves: dict[str, dict[str, ReliabilityCurve]]) -> None:
    shares = {
        name: sum(map(n_outside, both.values())) / sum(map(len, both.values()))
        for name, both in curves.items()
    }
    page.claim(
        "Figure 4", "the diagrams of an unsure, calibrated network do not rule it out",
        holds=shares[CALIBRATED] < 0.3, value=shares[CALIBRATED],
        reason="share of bins outside their bar, calibrated fake; by chance 0.1",
    )  # fmt: skip
    page.claim(
        "Figures 15 and 17", "those of a sure, over-confident network do",
        holds=shares[OVERCONFIDENT] > 0.5, value=shares[OVERCONFIDENT],
        reason="the same share, over-confident fake",
    )  # fmt: skip


def _draw(network: Predictions, curves: dict[str, ReliabilityCurve]) -> Figure:
    panels = [deviation_panel(curve, title=_TITLES[kind]) for kind, curve in curves.items()]
    edges = np.linspace(0, 1, 21)
    heights = np.histogram(network.p.max(axis=1), edges)[0] / len(network.y)
    spread = Panel(
        [Bars(edges, heights, colour=2)], title="spread", x_label="largest probability",
        y_label="share of rows", x_scale="probability",
    )  # fmt: skip
    return draw_panels([*panels, spread], legend=True)


def _grouped(page: Page, networks: list[Predictions]) -> None:
    page.section("Figures 1, 16 and 18: three groups of classes on the simplex")
    page.text(
        """Ten classes are merged into three groups, as in the paper. Arrows go from the mean
        prediction of a cell to what happened there; cells of few rows have long arrows by
        chance."""
    )
    for network in networks:
        drawn = simplex(network.y, network.p, lens=Grouped(_GROUPS), n_bins=10)
        page.figure(
            f"groups-{_slug(network.name)}", drawn.figure,
            caption=f"{network.name}: classes 0 to 2, 3 to 5 and 6 to 9.",
            alt=f"Triangle with arrows from predictions to outcomes of {network.name}",
        )  # fmt: skip
        if network.name == CALIBRATED:
            _judge_arrows(page, drawn.summary)


def _judge_arrows(page: Page, cells: VectorSummary) -> None:
    length = np.abs(cells.mean_y - cells.mean_p).sum(axis=1) / 2
    half = cells.count >= np.median(cells.count)
    frequent, rare = float(length[half].mean()), float(length[~half].mean())
    page.claim(
        "Figure 1", "arrows are short, above all where predictions are frequent",
        holds=frequent < rare / 2 and frequent < 0.05, value=frequent,
        reason=(
            "mean total variation in the fuller half of the cells of the calibrated fake; "
            f"{rare:.3f} in the other half"
        ),
    )  # fmt: skip


def _curve(network: Predictions, kind: str) -> ReliabilityCurve:
    binning = bins_for(seen_through("confidence", network), kind)
    return reliability_curve(
        network.y, network.p, lens="confidence", binning=binning,
        interval="consistency", confidence_level=0.9,
    )  # fmt: skip


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
