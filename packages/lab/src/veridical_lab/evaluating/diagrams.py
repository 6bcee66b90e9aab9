"""Figures 1, 4 and 15 to 18: diagrams of the networks there are.

Figures 8, 11 and 14: diagrams beside the true gaps.

The paper's reliability diagram: gaps, and bars for what chance would do.
"""

from __future__ import annotations

import re

import numpy as np

from veridical.curves import reliability_curve
from veridical.lenses import Grouped
from veridical.plots import simplex
from veridical.results import ReliabilityCurve
from veridical.simulation import true_reliability, two_normals_model, two_normals_task
from veridical.summaries import VectorSummary
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.noise import apart, drawn, share_of
from veridical_lab._frame.page import Page
from veridical_lab._frame.predictions import Predictions
from veridical_lab.arrays import ArrayLike, FloatArray
from veridical_lab.evaluating import networks as shared
from veridical_lab.evaluating.convergence import MODELS
from veridical_lab.evaluating.networks import CALIBRATED, DATA, EQUAL, OVERCONFIDENT
from veridical_lab.plots.panels import Bars, Figure, Line, Mark, Panel, Points, draw_panels


def deviation_panel(curve: ReliabilityCurve, *, title: str, truth: Mark | None = None) -> Panel:
    """Return observed minus predicted by bin, with consistency bars around zero."""
    assert curve.low is not None
    assert curve.high is not None
    at = curve.predicted
    marks: list[Mark] = [Line([0, 1], [0, 0], muted=True)]
    if truth is not None:
        marks.append(truth)
    marks += [
        Points(at, 0 * at, "5 to 95 % if calibrated", 1, curve.low - at, curve.high - at, 2.0),
        Points(at, curve.gap, "gap found", 0),
    ]
    return Panel(marks, title, "prediction", "observed \N{MINUS SIGN} predicted", "probability x")


def n_outside(curve: ReliabilityCurve) -> int:
    """Return the number of bins that lie outside their consistency bar."""
    assert curve.low is not None
    assert curve.high is not None
    return int(np.sum((curve.observed < curve.low) | (curve.observed > curve.high)))


_MANY = 5000  # rows below which most arrows are noise
_GROUPS = [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
_TITLES = {EQUAL: "equal bins", DATA: "data-dependent bins"}


def diagram_section(page: Page, networks: list[Predictions]) -> None:
    """Add a diagram of the largest probability for every network, and of groups of classes."""
    page.section("Figures 4, 15 and 17: diagrams of the largest probability")
    curves = {one.name: {kind: _curve(one, kind) for kind in _TITLES} for one in networks}
    for network in networks:
        caption = f"""{network.name}: gaps of the largest probability, with consistency bars. |
            Deviation diagrams of {network.name}, equal and data-dependent bins, and spread"""
        page.figure(f"top-{_slug(network.name)}", _draw(network, curves[network.name]), caption)
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
        name: share_of(
            sum(map(n_outside, both.values())) / sum(map(len, both.values())),
            sum(map(len, both.values())),
        )
        for name, both in curves.items()
    }
    page.check(f"""
        - Figure 4 | the diagrams of an unsure, calibrated network do not rule it out |
          {shares[CALIBRATED]} < 0.5 | share of bins outside their bar, calibrated fake; by chance
          0.1
        - Figures 15 and 17 | those of a sure, over-confident network do, in most bins |
          {shares[OVERCONFIDENT]} as most | the same share, over-confident fake
    """)


def _draw(network: Predictions, curves: dict[str, ReliabilityCurve]) -> Figure:
    panels = [deviation_panel(curve, title=_TITLES[kind]) for kind, curve in curves.items()]
    edges = np.linspace(0, 1, 21)
    heights = np.histogram(network.p.max(axis=1), edges)[0] / len(network.y)
    panels.append(_shares_panel(edges, heights, "spread", "largest probability"))
    return draw_panels(panels, legend=True)


def _shares_panel(edges: ArrayLike, heights: ArrayLike, title: str, label: str) -> Panel:
    bars = Bars(edges, heights, colour=2)
    return Panel([bars], title, label, "share of rows", "probability x")


def _grouped(page: Page, networks: list[Predictions]) -> None:
    page.section("Figures 1, 16 and 18: three groups of classes on the simplex")
    page.text(
        """Ten classes are merged into three groups, as in the paper. Arrows go from the mean
        prediction of a cell to what happened there; cells of few rows have long arrows by
        chance."""
    )
    for network in networks:
        chart = simplex(network.y, network.p, lens=Grouped(_GROUPS), n_bins=10)
        caption = f"""{network.name}: classes 0 to 2, 3 to 5 and 6 to 9. | Triangle with arrows from
            predictions to outcomes of {network.name}"""
        page.figure(f"groups-{_slug(network.name)}", chart.figure, caption)
        if network.name == CALIBRATED:
            _judge_arrows(page, chart.summary)


def _judge_arrows(page: Page, cells: VectorSummary) -> None:
    length = np.abs(cells.mean_y - cells.mean_p).sum(axis=1) / 2
    half = cells.count >= np.median(cells.count)
    page.check(f"""Figure 1 | arrows are short, above all where predictions are frequent |
        {drawn(length[half])} as close and {apart(length[half], length[~half])} < 0 | mean total
        variation in the fuller half of the cells of the calibrated fake, and that less the mean of
        the other half, {length[~half].mean():.3f}""")


def _curve(network: Predictions, kind: str) -> ReliabilityCurve:
    binning = shared.bins_for(shared.seen_through("confidence", network), kind)
    rows = (network.y, network.p)
    return reliability_curve(
        *rows, lens="confidence", binning=binning, interval="consistency", confidence_level=0.9
    )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


_ROWS = 10_000
_BINS = 10


def normals_section(lab: Laboratory, page: Page) -> None:
    """Add the diagrams of the three models."""
    page.section("Figures 8, 11 and 14: diagrams beside the truth")
    curves = {model: _normal_curve(lab, model) for model in MODELS}
    distances = {model: _distance(model, curve) for model, curve in curves.items()}
    above = [
        deviation_panel(curve, title=f"{model} model", truth=_true_gap(model))
        for model, curve in curves.items()
    ]
    below = [
        _shares_panel([*curve.lower, curve.upper[-1]], curve.count / _ROWS, "", "prediction")
        for curve in curves.values()
    ]
    caption = f"""Observed minus predicted, {_ROWS:,} rows and {_BINS} bins: points are the gaps
        found, bars the 5th to 95th percentile if the model were calibrated, the line is the true
        gap (the constant model has one prediction only). | Deviation diagrams of three models with
        consistency bars, above their histograms"""
    page.figure("normals", draw_panels(above + below, columns=3, legend=True), caption)
    page.table(
        {
            "model": list(MODELS),
            "bins": [len(curve.count) for curve in curves.values()],
            "outside their bar": [n_outside(curve) for curve in curves.values()],
            "largest distance to the truth, standard errors": list(distances.values()),
        },
        digits=2,
    )
    worst = max(distances.values())
    page.check(f"""Figures 8, 11 and 14 | the gaps found closely match the true ones | {worst} < 4 |
        largest distance between a gap and the true one, in standard errors, over all bins""")


def _normal_curve(lab: Laboratory, model: str) -> ReliabilityCurve:
    sample = two_normals_task().sample(_ROWS, rng=lab.rng("diagram", model))
    p = two_normals_model(model)(sample.x)[:, 1]
    return reliability_curve(
        sample.y, p, n_bins=_BINS, interval="consistency", confidence_level=0.9
    )  # these limits are exact: nothing is drawn


def _true_frequency(model: str, scores: FloatArray) -> FloatArray:
    return true_reliability(two_normals_task(), two_normals_model(model), scores)


def _true_gap(model: str) -> Line | Points:
    if model == "constant":
        return Points([0.5], _true_frequency(model, np.array([0.5])) - 0.5, "true gap", 2)
    scores = np.linspace(0.005, 0.995, 199)
    return Line(scores, _true_frequency(model, scores) - scores, "true gap", 2)


def _distance(model: str, curve: ReliabilityCurve) -> float:
    """Largest distance of an observed frequency from the truth, in standard errors."""
    exact = _true_frequency(model, curve.predicted)
    noise = np.sqrt(exact * (1 - exact) / curve.count)
    return float(np.max(np.abs(curve.observed - exact) / noise))
