"""Curves on a grid: ratios of kernel densities, and kernel regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.data.validation import check_option, is_number
from veridical._core.numeric.beta_density import (
    BETA_KERNELS,
    WIDEST,
    BetaSmoother,
    resolve_beta_bandwidth,
    smoothing_parameter,
)
from veridical._core.numeric.density import (
    KERNELS,
    RULES,
    absolute_integral,
    bin_linearly,
    choose_bandwidth,
    cosine_spectrum,
    score_density,
    smoothed_density,
)
from veridical._core.numeric.roots import root_between
from veridical._core.sample import BinarySample, PooledScores
from veridical._core.typing import BoolArray, FloatArray
from veridical.curves._curve.points import Points, Refit
from veridical.exceptions import invalid

CELLS = 200
FIXED_POINT = "fixed-point"
_FINE = 128 * CELLS  # steps of the inner grid; an even number in a cell, so one is its middle
_RESOLVED = 64  # steps in a bandwidth that are enough for limits: binning errs by 3e-5 of the curve
_HELD = 1e-3  # share of the mean density below which a cell is left out


def check_bandwidth(caller: str, method: str, bandwidth: Any) -> float | str:
    """Return the bandwidth of a smooth method, its default rule if there is none."""
    rules = RULES if method == "density" else (FIXED_POINT,)
    if bandwidth is None:
        return rules[0]
    if isinstance(bandwidth, str):
        check_option(caller, "bandwidth", bandwidth, rules)
        return bandwidth
    if not (is_number(bandwidth) and 1 / CELLS <= bandwidth <= 1):
        hint = f"leave it out for {rules[0]!r}, or give a number such as 0.05."
        expected = f"a rule or from {1 / CELLS:g}, the width of a cell, to 1"
        raise invalid(caller, "bandwidth", expected, repr(bandwidth), hint=hint)
    return float(bandwidth)


def density_points(sample: BinarySample, bandwidth: float | str, kernel: str) -> Points:
    """Bayes' rule with kernel densities of the scores and of those of positive rows."""
    rule = bandwidth if isinstance(bandwidth, str) else None
    beta = kernel in BETA_KERNELS
    choose = resolve_beta_bandwidth if beta else choose_bandwidth
    width = choose(sample, bandwidth) if isinstance(bandwidth, str) else bandwidth
    width = max(width, 1 / CELLS)
    in_cells = _beta_densities(width, kernel) if beta else _mirrored_densities(width, kernel)

    def refit(drawn: PooledScores) -> FloatArray:
        p = np.concatenate([drawn.value, drawn.value])
        y = np.repeat(np.array([0, 1], dtype=np.uint8), len(drawn.value))
        weight = np.concatenate([np.maximum(drawn.weight - drawn.positive, 0.0), drawn.positive])
        rows = BinarySample(y=y, p=p, weight=weight)
        return in_cells(rows, _steps(width))[1][held]

    density, frequency = in_cells(sample, _FINE)
    held = density > _HELD
    if not held.any():
        hint = "use a mirrored kernel, such as the default one."
        got = "scores at the very ends only"
        raise invalid("reliability_curve", "kernel", "one that sees the scores", got, hint=hint)
    plain = density
    if sample.weight is not None:
        plain = in_cells(replace(sample, weight=None), _FINE)[0]
    return _grid_points(
        sample,
        held,
        density=density,
        rows=plain,
        frequency=frequency,
        definition=f"{kernel} kernel, {_width(width, rule)}",
        refit=refit,
    )


_Densities = Callable[[BinarySample, int], tuple[FloatArray, FloatArray]]


def _mirrored_densities(width: float, kernel: str) -> _Densities:
    """Density and frequency in the cells, from a grid of so many steps."""

    def in_cells(rows: BinarySample, n_grid: int) -> tuple[FloatArray, FloatArray]:
        found = score_density(rows, bandwidth=width, kernel=kernel, n_grid=n_grid)
        return _in_cells(found.density), _in_cells(found.frequency)

    return in_cells


def _beta_densities(width: float, kernel: str) -> _Densities:
    """The same for beta kernels, which are evaluated once; their grid depends on the width only."""
    if width > WIDEST:
        hint = "a wider beta kernel is none: it would be flat."
        expected = f"at most {WIDEST:g} for a beta kernel"
        raise invalid("reliability_curve", "bandwidth", expected, repr(width), hint=hint)
    smoother = BetaSmoother(smoothing_parameter(width), kernel)
    heights = smoother.heights((np.arange(CELLS) + 0.5) / CELLS)

    def in_cells(rows: BinarySample, _: int) -> tuple[FloatArray, FloatArray]:
        negative, positive = smoother.mass(rows) @ heights.T
        density = negative + positive
        total = density.mean()
        if total == 0:  # all scores at the very ends, which no cell sees
            return density, np.full(CELLS, np.nan)
        return density / total, _ratio(positive / total, density / total)

    return in_cells


def smooth_points(sample: BinarySample, bandwidth: float | str) -> Points:
    """Nadaraya-Watson regression with a Gaussian kernel reflected at 0 and 1."""
    rule = bandwidth if isinstance(bandwidth, str) else None
    scores = sample.pooled
    width = _fixed_point(scores) if isinstance(bandwidth, str) else bandwidth
    width = max(width, 1 / CELLS)

    def smooth(
        value: FloatArray, mass: FloatArray, total: float, n_grid: int = _FINE
    ) -> FloatArray:
        spectrum = cosine_spectrum(bin_linearly(value, mass, n_grid) / total)
        return _in_cells(smoothed_density(spectrum, width))

    def both(drawn: PooledScores, n_grid: int = _FINE) -> tuple[FloatArray, FloatArray]:
        total = float(drawn.weight.sum())
        density = smooth(drawn.value, drawn.weight, total, n_grid)
        joint = smooth(drawn.value, drawn.positive, total, n_grid)
        return density, _ratio(joint, density)

    density, frequency = both(scores)
    held = density > _HELD
    rows = density
    if sample.weight is not None:
        rows = smooth(sample.p, np.ones(sample.n), float(sample.n))
    return _grid_points(
        sample,
        held,
        density=density,
        rows=rows,
        frequency=frequency,
        definition=f"reflected Gaussian kernel, {_width(width, rule)}",
        refit=lambda drawn: both(drawn, _steps(width))[1][held],
    )


def check_kernel(caller: str, kernel: Any) -> str:
    """Return the name of a kernel, the default one if there is none."""
    if kernel is None:
        return "triweight"
    check_option(caller, "kernel", kernel, (*KERNELS, *BETA_KERNELS))
    return str(kernel)


def _in_cells(nodes: FloatArray) -> FloatArray:
    """Values at the middle of the cells of a function given at the nodes of a finer grid."""
    step = (len(nodes) - 1) // CELLS
    return nodes[step // 2 :: step]


def _ratio(joint: FloatArray, density: FloatArray) -> FloatArray:
    """Frequency of the positive class; NaN where there is no density to speak of."""
    frequency = np.full(density.shape, np.nan)
    np.divide(joint, density, out=frequency, where=density > 1e-9)
    return np.clip(frequency, 0.0, 1.0)


def _steps(width: float) -> int:
    """Size of a grid that is fast to smooth on again and again."""
    n_grid = 2 * CELLS
    while n_grid * width < _RESOLVED:
        n_grid *= 2
    return n_grid


def _width(width: float, rule: str | None) -> str:
    return f"bandwidth {width:.4g}" + ("" if rule is None else f" ({rule})")


def _grid_points(
    sample: BinarySample,
    held: BoolArray,
    *,
    density: FloatArray,
    rows: FloatArray,
    frequency: FloatArray,
    definition: str,
    refit: Refit,
) -> Points:
    edges = np.arange(CELLS + 1) / CELLS
    total = float(sample.n if sample.weight is None else sample.weight.sum())
    return Points(
        lower=edges[:-1][held],
        upper=edges[1:][held],
        count=sample.n * np.maximum(rows, 0.0)[held] / CELLS,
        weight=total * density[held] / CELLS,
        predicted=((np.arange(CELLS) + 0.5) / CELLS)[held],
        observed=frequency[held],
        definition=definition,
        refit=refit,
    )


def _fixed_point(scores: PooledScores) -> float:
    """Bandwidth that equals the smooth calibration error at that bandwidth; at least a cell.

    Błasiok & Nakkiran (2023), arXiv 2309.12236: the error falls as the bandwidth grows.
    """
    residual = scores.positive - scores.weight * scores.value.astype(np.float64)
    nodes = bin_linearly(scores.value, residual, _FINE) / scores.weight.sum()
    spectrum = cosine_spectrum(nodes)

    def excess(width: float) -> float:
        return absolute_integral(smoothed_density(spectrum, width)) - width

    low, high = 1 / CELLS, 1.0
    if excess(low) <= 0 or excess(high) >= 0:
        return low if excess(low) <= 0 else high
    return root_between(excess, low, high, xtol=1e-12)
