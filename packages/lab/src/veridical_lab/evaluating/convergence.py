"""Figures 6, 7, 9, 10, 12 and 13: estimates against the number of rows.

Section 5.1: true errors, and what fixed bins converge to.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from veridical.binning import UniformBins
from veridical.miscalibration import BinnedError
from veridical.simulation import true_calibration_error, two_normals_model, two_normals_task
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import apart, share_of, with_error
from veridical_lab._frame.page import Page, by_column
from veridical_lab.plots.panels import Band, Figure, Line, Panel, draw_panels

BINS = (10, 100)
_CELLS, _REACH = 1 << 14, 9.0  # quadrature: cells of equal width on [-9, 9], cut at bin edges
_COUNTS = (1, 2, 5, 10, 20, 50, 100, 1000)


@cache
def true_error(model: str) -> float:
    """Return the expected miscalibration of a model of section 5.1, total variation."""
    return true_calibration_error(two_normals_task(), two_normals_model(model))


@cache
def bin_limit(n_bins: int, *, distance: str = "tv") -> float:
    """Return what the estimate of the uncalibrated model tends to as rows are added, bins fixed.

    The population is written as weighted rows: the midpoints of narrow cells, with the exact
    masses of both classes there. A plug-in error is a function of the weighted distribution.
    """
    task, model = two_normals_task(), two_normals_model("uncalibrated")
    inner = np.arange(1, n_bins) / n_bins
    cuts = (np.log(inner / (1 - inner)) - model.intercept) / model.slope  # no cell is in two bins
    edges = np.union1d(np.linspace(-_REACH, _REACH, _CELLS + 1), cuts)
    mass = task.interval_mass(edges)
    p = model((edges[:-1] + edges[1:]) / 2)
    y = np.repeat(task.labels, len(p))
    estimator = BinnedError(UniformBins(n_bins), distance=distance)
    return estimator(y, np.vstack([p, p]), sample_weight=mass.T.ravel())


def limit_section(page: Page) -> None:
    """Add the true errors of section 5.1 and Theorems 1 and 2 in numbers."""
    page.section("Section 5.1: true errors, and what fixed bins converge to")
    page.text(
        """Two standard normal classes at -1 and 1, and three logistic models: the true posterior, a
        constant, and one that leans the wrong way. The true errors are integrals. With bins held
        fixed, an estimate converges too, to at most the truth (Theorem 2); only with ever finer
        bins does the limit reach it (Theorem 1)."""
    )
    truth = true_error("uncalibrated")
    page.check(f"Section 5.1, uncalibrated model | {truth} = 0.56 ± 0.005")
    for model in ("perfect", "constant"):
        page.check(f"Section 5.1, {model} model | {true_error(model)} = 0 ± 1e-6")
    task, uncalibrated = two_normals_task(), two_normals_model("uncalibrated")
    confidence = true_calibration_error(task, uncalibrated, lens="confidence")
    squared = 2 * true_calibration_error(task, uncalibrated, norm=2) ** 2
    page.check(f"""
        - Section 5.1, uncalibrated model, maximum lens | {confidence}
        - Section 5.1, uncalibrated model, squared Euclidean distance | {squared}
    """)
    limits = {count: bin_limit(count) for count in _COUNTS}
    page.table(
        {
            "bins": list(_COUNTS),
            "limit of the estimate": list(limits.values()),
            "below the truth by": [truth - limit for limit in limits.values()],
        },
        digits=7,
    )
    for count in BINS:
        page.check(f"Section 5.1, limit with {count} bins | {limits[count]}")
    page.check(f"""Theorem 2 | with fixed bins the limit is at most the truth |
        {truth - max(limits.values())} >= 0 | truth minus the largest limit of the numbers of bins
        tried; with 10 bins {truth - limits[10]:.6f}""")
    rest = [truth - limits[count] for count in _COUNTS]
    rise = max(after - before for before, after in itertools.pairwise(rest))
    page.check(f"""Theorem 1 | with finer bins the limit tends to the truth | {rest[-1]} < 1e-6 and
        {rise} <= 1e-9 | truth minus limit with 1,000 bins, and its largest rise by a
        refinement""")
    page.text(
        f"""Two columns, p and 1 - p, are equally far off, so the Euclidean distance of two classes
        is √2 = {math.sqrt(2):.4f} times the total variation, for any model and any bins:
        {bin_limit(100, distance="l2"):.6f} with 100 bins. Squared, it is
        {bin_limit(100, distance="sqeuclidean"):.6f} here. The model is so far off that the two
        happen to be close; for a model that is nearly calibrated they are not (see below)."""
    )


Column = Callable[[str, int, str], list[float]]
MODELS = ("perfect", "constant", "uncalibrated")
_MANY = 1000  # rows from which on "almost always" is asked


def estimates(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Estimate the error of one model on many samples of one size, with few and many bins."""
    task, model = two_normals_task(), two_normals_model(cell["model"])
    found: dict[int, list[float]] = {count: [] for count in BINS}
    for _ in range(cell["series"]):
        sample = task.sample(cell["rows"], rng=rng)
        p = model(sample.x)[:, 1]
        for count in BINS:
            found[count].append(BinnedError(UniformBins(count))(sample.y, p, labels=task.labels))
    truth = true_error(cell["model"])
    summary: dict[str, Any] = {}
    for count, values in found.items():
        gap = np.array(values) - truth
        low, high = np.quantile(gap, (0.05, 0.95))
        shares = {"over": np.mean(gap > 1e-9), "under": np.mean(gap < -1e-9)}
        error = gap.std(ddof=1) / math.sqrt(len(gap))
        summary[str(count)] = {
            "low": low,
            "mean": gap.mean(),
            "high": high,
            "error": error,
        } | shares
    return summary


def convergence_section(lab: Laboratory, page: Page) -> None:
    """Add Figures 6, 7, 9, 10, 12 and 13 and the sentences about them."""
    page.section("Figures 6 to 13: estimates against the number of rows")
    series = 100 if lab.quick else 1000
    sizes = (100, 1000, 10_000) if lab.quick else (30, 100, 300, 1000, 3000, 10_000, 30_000)
    cells = [{"model": m, "rows": n, "series": series} for m in MODELS for n in sizes]
    answers = lab.map("estimates", estimates, cells)
    by = {(c["model"], c["rows"]): a for c, a in zip(cells, answers, strict=True)}

    def column(model: str, count: int, what: str) -> list[float]:
        return [by[model, rows][str(count)][what] for rows in sizes]

    caption = f"""Estimate minus truth: mean, and 5th to 95th percentile of {series:,} samples of
        each size, with 10 bins (above) and 100 bins (below). Calibrated models are overestimated,
        the more so the fewer rows a bin holds. For the uncalibrated model 10 bins end up below the
        truth however many rows there are; the dashed line is their limit. | Six panels: estimate
        minus truth against rows, for three models and two bin counts"""
    page.figure("estimates", _draw_estimates(sizes, column), caption)
    page.data("estimates", _long(sizes, column), caption="All numbers of the figure (CSV)")
    _judge_estimates(page, sizes, column, series)


def _judge_estimates(page: Page, sizes: tuple[int, ...], column: Column, series: int) -> None:
    large = [index for index, rows in enumerate(sizes) if rows >= _MANY]
    calibrated = [column(m, b, "over")[i] for m in MODELS[:2] for b in BINS for i in large]
    page.check(f"""Figures 6, 7, 9 and 10, sign | estimates almost always exceed the true error, 0 |
        {share_of(min(calibrated), series)} as almost always | smallest share of samples, from
        {_MANY:,} rows on; the rest read exactly 0, as the constant model does when half of the
        outcomes are of each class""")
    last, error = max(
        (column(m, b, "mean")[-1], column(m, b, "error")[-1]) for m in MODELS[:2] for b in BINS
    )
    page.check(f"""Figures 6, 7, 9 and 10, size | estimates are close to zero |
        {with_error(last, error)} as close | largest mean at {sizes[-1]:,} rows""")
    most = [max(max(column("uncalibrated", b, what)) for b in BINS) for what in ("over", "under")]
    asked = [f"{share_of(part, series)} as occurs" for part in most]
    page.check(f"""Figures 12 and 13, sign | both over- and underestimation occur |
        {" and ".join(asked)} | largest shares of over- and of underestimates over all sizes and
        both bin counts""")
    few, many = (column("uncalibrated", bins, "under") for bins in BINS)
    page.check(f"""Figures 12 and 13, more rows | underestimation becomes more likely with more rows
        | {_difference(few[-1], few[0], series)} > 0 | 10 bins: a share of {few[0]:.2f} at
        {sizes[0]:,} rows, {few[-1]:.2f} at {sizes[-1]:,}""")
    page.check(f"""Figures 12 and 13, more rows a bin | and, maybe more importantly, with more rows
        a bin | {_difference(few[-1], many[-1], series)} > 0 | share at {sizes[-1]:,} rows with 10
        bins, {few[-1]:.2f}, less that with 100, {many[-1]:.2f}""")
    rest, error = (column("uncalibrated", BINS[0], what)[-1] for what in ("mean", "error"))
    page.check(f"""Section 4.3 | with fixed bins the estimate is inconsistent, from below |
        {with_error(rest, error)} < 0 and {share_of(few[-1], series)} as most | mean estimate minus
        truth with 10 bins at {sizes[-1]:,} rows, and share of underestimates; the limit is
        {bin_limit(BINS[0]) - true_error("uncalibrated"):.6f}""")


def _difference(one: float, other: float, n: int) -> str:
    """Difference of two shares of n draws each."""
    hits = [np.arange(n) < round(part * n) for part in (one, other)]
    return apart(*hits)


def _draw_estimates(sizes: tuple[int, ...], column: Column) -> Figure:
    panels = []
    for count in BINS:
        for model in MODELS:
            low, mean, high = (column(model, count, what) for what in ("low", "mean", "high"))
            marks: list[Any] = [
                Line([sizes[0], sizes[-1]], [0, 0], muted=True),
                Band(sizes, low, high, "5th to 95th percentile", 0),
                Line(sizes, mean, "mean", 0, markers=True),
            ]
            if model == "uncalibrated":
                rest = bin_limit(count) - true_error(model)
                marks.append(Line([sizes[0], sizes[-1]], [rest, rest], "limit", 1, dash=1))
            title = f"{model} model, {count} bins"
            panels.append(Panel(marks, title, "rows", "estimate \N{MINUS SIGN} truth", "log x"))
    return draw_panels(panels, columns=3, legend=True)


def _long(sizes: tuple[int, ...], column: Column) -> dict[str, list[Any]]:
    names = ("low", "mean", "high", "error", "over", "under")
    rows = [
        (m, b, n, *(round(column(m, b, name)[i], 6) for name in names))
        for m, b, (i, n) in itertools.product(MODELS, BINS, enumerate(sizes))
    ]
    return by_column(("model", "bins", "rows", *names), rows)
