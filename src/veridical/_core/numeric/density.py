"""Kernel densities and smoothed masses on an interval, reflected at its ends, on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import BoolArray, FloatArray

# A kernel narrower than this is not resolved by any grid below, and no rule gives less.
SMALLEST = 1e-4
RULES = ("silverman", "scott", "isj")

_STEPS = 32  # of the grid in one bandwidth, at least
_FINEST = 1 << 16  # steps, unless the caller asks for more
_QUARTILES = 1.3489795003921634  # interquartile range of the standard normal distribution
_COSINE = 1 / math.sqrt(1 - 8 / math.pi**2)  # half width of a cosine of variance one


def _gaussian(u: FloatArray) -> FloatArray:
    return np.exp(-(u**2) / 2)


def _triweight(u: FloatArray) -> FloatArray:
    return np.maximum(1 - (u / 3) ** 2, 0.0) ** 3


def _cosine(u: FloatArray) -> FloatArray:
    return np.where(u < _COSINE, np.cos(np.minimum(u / _COSINE, 1.0) * (math.pi / 2)), 0.0)


# Shape as a function of distance in standard deviations, and where it ends.
KERNELS: dict[str, tuple[Callable[[FloatArray], FloatArray], float]] = {
    "triweight": (_triweight, 3.0),
    "gaussian": (_gaussian, 9.0),
    "cosine": (_cosine, _COSINE),
}


def roughness(kernel: str) -> float:
    """Integral of the squared kernel of standard deviation one.

    With bandwidth h and density f, about n f h / roughness rows count at a point: the effective
    size of weights K((s - s_i) / h).

    Examples
    --------
    >>> round(roughness("gaussian") - 1 / (2 * np.pi**0.5), 9)
    0.0
    """
    function, reach = KERNELS[kernel]
    u = np.linspace(-reach, reach, 20_001)
    values = function(u)
    return float((values**2).sum() / values.sum() ** 2 / (u[1] - u[0]))


@dataclass(frozen=True)
class ScoreDensity:
    """Density of scores, and jointly with the positive class, on increasing points.

    Attributes
    ----------
    grid : array of shape (g + 1,)
        Points from the low to the high end of the support, both included.
    density : array of shape (g + 1,)
        Density of all scores; its trapezoidal integral is 1.
    joint : array of shape (g + 1,)
        Density of the scores of positive rows times their share; at most `density`.
    bandwidth : float
        Standard deviation of the kernel.
    """

    grid: FloatArray
    density: FloatArray
    joint: FloatArray
    bandwidth: float

    @property
    def quadrature(self) -> FloatArray:
        """Weights of the trapezoidal rule on the grid."""
        half = np.diff(self.grid) / 2
        weight = np.zeros(len(self.grid))
        weight[:-1] += half
        weight[1:] += half
        return weight

    def held(self, share: float) -> BoolArray:
        """Mask of points where the density is more than `share` of its mean over the support."""
        return self.density > share / (self.grid[-1] - self.grid[0])

    @property
    def frequency(self) -> FloatArray:
        """P(positive | score), by Bayes' rule; NaN where there is no density to speak of."""
        held = self.held(1e-9)
        ratio = np.divide(
            self.joint, self.density, out=np.full(self.grid.shape, np.nan), where=held
        )
        return np.clip(ratio, 0.0, 1.0)


def score_density(
    sample: BinarySample,
    *,
    bandwidth: float | str,
    kernel: str,
    n_grid: int,
    support: tuple[float, float] = (0.0, 1.0),
) -> ScoreDensity:
    """Density of the scores of a sample on `n_grid` steps, or more if the bandwidth asks for it.

    Scores are shared linearly between the two nearest grid points, mirrored at both ends of the
    support as often as the kernel reaches, and convolved with the kernel. Scores outside count at
    the ends. Time O(n + g log g).
    """
    low, high = support
    named = isinstance(bandwidth, str)
    h = choose_bandwidth(sample, str(bandwidth), support) if named else float(bandwidth)
    while n_grid * h < _STEPS * (high - low) and n_grid < _FINEST:
        n_grid *= 2
    mass = grid_mass(sample, n_grid, support)
    step = (high - low) / n_grid
    half = _sampled_kernel(kernel, n_grid, step, h)
    ring = np.fft.rfft(_mirrored(half, ends=1.0))
    smooth = np.fft.irfft(np.fft.rfft(_mirrored(mass, ends=2.0)) * ring, 2 * n_grid)
    # Rounding of the transforms may leave -1e-16 where nothing is.
    negative, positive = np.maximum(smooth[:, : n_grid + 1], 0.0)
    grid = low + step * np.arange(n_grid + 1)
    return ScoreDensity(grid, negative + positive, positive, h)


def grid_mass(
    sample: BinarySample, n_grid: int, support: tuple[float, float] = (0.0, 1.0)
) -> FloatArray:
    """Share of the total weight at each of `n_grid` + 1 points, (2, n_grid + 1) by outcome."""
    low, high = support
    counts, shifts = np.zeros(2 * n_grid), np.zeros(2 * n_grid)
    for block in row_blocks(sample.n, max(ROWS, 4 * n_grid)):
        place = (sample.p[block].astype(np.float64) - low) * (n_grid / (high - low))
        np.clip(place, 0.0, n_grid, out=place)
        cell = np.minimum(place.astype(np.intp), n_grid - 1)
        place -= cell
        cell += n_grid * sample.y[block].astype(np.intp)
        if sample.weight is None:
            counts += np.bincount(cell, minlength=2 * n_grid)
        else:
            place *= sample.weight[block]
            counts += np.bincount(cell, sample.weight[block], minlength=2 * n_grid)
        shifts += np.bincount(cell, place, minlength=2 * n_grid)
    mass = np.zeros((2, n_grid + 1))
    mass[:, :-1] = (counts - shifts).reshape(2, n_grid)
    mass[:, 1:] += shifts.reshape(2, n_grid)
    return mass / counts.sum()


def choose_bandwidth(
    sample: BinarySample, rule: str, support: tuple[float, float] = (0.0, 1.0)
) -> float:
    """Bandwidth of all scores by a rule; never below `SMALLEST`, also if all scores are equal.

    With A = min(standard deviation, interquartile range / 1.349), or the standard deviation if
    the middle half of the scores are all equal, and n the effective size:

    - "silverman": A (3 n / 4)^(-1/5) = 1.06 A n^(-1/5). Silverman (1986), Density Estimation for
      Statistics and Data Analysis, eq. 3.28 with his robust spread A; KDEpy's `silvermans_rule`.
      His eq. 3.31 has 0.9 instead of 1.06.
    - "scott": A n^(-1/5), KDEpy's `scotts_rule`.
    - "isj": improved Sheather-Jones, no normal reference: Botev, Grotowski & Kroese (2010), Annals
      of Statistics 38, 2916-2957, doi 10.1214/10-AOS799, algorithm 1 with 7 stages on the support
      itself; "silverman" where its equation has no root.
    """
    size = sample.size
    spread = _robust_spread(sample, size)
    if rule == "isj" and spread > 1e-9:  # what rounding leaves of equal scores is no spread
        found = _improved_sheather_jones(grid_mass(sample, 1 << 12, support).sum(axis=0), size)
        if found is not None:
            return max(SMALLEST, found * (support[1] - support[0]))
    return max(SMALLEST, spread * (size if rule == "scott" else 0.75 * size) ** -0.2)


def _robust_spread(sample: BinarySample, size: float) -> float:
    if size <= 1:
        return 0.0
    if sample.weight is None:
        variance = float(np.var(sample.p, dtype=np.float64))
    else:
        p, total = sample.p.astype(np.float64), sample.weight.sum()
        p -= sample.weight @ p / total
        variance = float(sample.weight @ p**2 / total)
    deviation = math.sqrt(variance * size / (size - 1))
    lower, upper = _quartiles(sample, size)
    return min(deviation, (upper - lower) / _QUARTILES) if upper > lower else deviation


def _quartiles(sample: BinarySample, size: float) -> tuple[float, float]:
    """Linear interpolation between order statistics, as `numpy.quantile`; weights are counts.

    Importance weights are scaled to add up to the effective size.
    """
    places = 0.25 * (size - 1), 0.75 * (size - 1)
    ranks = [rank for place in places for rank in (math.floor(place), math.floor(place) + 1)]
    values: FloatArray
    if sample.weight is None:
        ranks = [min(rank, sample.n - 1) for rank in ranks]
        values = np.partition(sample.p, ranks)[ranks].astype(np.float64)
    else:
        values = _weighted_order(sample.p, sample.weight, ranks, size)
    low, high = (
        float(values[2 * i] + (place - math.floor(place)) * (values[2 * i + 1] - values[2 * i]))
        for i, place in enumerate(places)
    )
    return low, high


def _weighted_order(p: FloatArray, weight: FloatArray, ranks: list[int], size: float) -> FloatArray:
    """Smallest scores whose cumulated weight exceeds each rank, sorting only where it happens."""
    cell = np.minimum(p * 1024, 1023).astype(np.int16)
    reached = np.cumsum(np.bincount(cell, weight))
    scale = size / reached[-1]
    values = np.empty(len(ranks))
    for i, rank in enumerate(ranks):
        wanted = (rank + 1e-12 * size) / scale  # a weight that misses by rounding is not reached
        last = int(np.searchsorted(reached, wanted, side="right"))
        last = min(last, int(cell.max()))
        rows = np.flatnonzero(cell == last)
        rows = rows[np.argsort(p[rows])]
        before = reached[last - 1] if last else 0.0
        at = int(np.searchsorted(before + np.cumsum(weight[rows]), wanted, side="right"))
        values[i] = p[rows[min(at, len(rows) - 1)]]
    return values


def _mirrored(half: FloatArray, ends: float) -> FloatArray:
    """Values at 0..g continued evenly to a period of 2 g; a point on a mirror is its own image."""
    full = np.concatenate([half, half[..., -2:0:-1]], axis=-1)
    full[..., 0] *= ends
    full[..., half.shape[-1] - 1] *= ends
    return full


def _sampled_kernel(kernel: str, n_grid: int, step: float, h: float) -> FloatArray:
    """Kernel around 0 and its images two supports apart; one period of it has mass one."""
    shape, reach = KERNELS[kernel]
    half, period = np.zeros(n_grid + 1), 2 * step * n_grid
    images = math.ceil(reach * h / period)
    near = n_grid + 1 if images > 1 else min(n_grid, math.ceil(reach * h / step)) + 1
    place = step * np.arange(near)
    for m in range(-images, images + 1):
        half[:near] += shape(np.abs(place + period * m) / h)
    return half / (step * _mirrored(half, ends=1.0).sum())


def _improved_sheather_jones(mass: FloatArray, size: float) -> float | None:
    """Bandwidth on a support of length one; None if there is no fixed point below 0.3."""
    n_grid = len(mass) - 1
    cosines = np.fft.rfft(_mirrored(mass, ends=2.0)).real[1:] / 2
    squares = np.arange(1.0, n_grid + 1) ** 2

    def excess(t: float) -> float:
        return t - diffusion_time(t, size, squares, cosines**2)

    low = high = 1e-9
    while excess(high) < 0:  # the smallest root, as in the authors' program
        low, high = high, 2 * high
        if high > 0.1:
            return None
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return math.sqrt(high)


def diffusion_time(t: float, size: float, squares: FloatArray, power: FloatArray) -> float:
    """Optimal squared bandwidth given the pilot `t`: the map whose fixed point is wanted.

    Botev, Grotowski & Kroese (2010), eq. 29, for squared frequencies 1, 4, 9, ... and squared
    cosine coefficients of the data on [0, 1].
    """
    scaled = math.pi**2 * squares
    logs = np.log(scaled)
    for s in range(7, 1, -1):
        norm = 2 * float(power @ np.exp(s * logs - t * scaled))
        if norm <= 0:  # flat: the wider the better
            return math.inf
        if s > 2:
            odd = math.prod(range(1, 2 * s - 2, 2)) / math.sqrt(2 * math.pi)
            constant = (1 + 0.5 ** (s - 0.5)) / 3
            t = (2 * constant * odd / (size * norm)) ** (2 / (1 + 2 * s))
    return float((2 * size * math.sqrt(math.pi) * norm) ** -0.4)


def bin_linearly(p: FloatArray, mass: FloatArray, n_cells: int) -> FloatArray:
    """Share the mass of each row between the two nearest of the nodes k / n_cells. O(n).

    Nodes of nested grids nest too, so this is the same as binning on a finer grid and halving it.
    """
    nodes = np.zeros(n_cells + 1)
    for block in row_blocks(len(p)):
        position = p[block].astype(np.float64) * n_cells
        left = np.minimum(position.astype(np.intp), n_cells - 1)
        right_mass = (position - left) * mass[block]
        nodes[:-1] += np.bincount(left, mass[block] - right_mass, minlength=n_cells)
        nodes[1:] += np.bincount(left, right_mass, minlength=n_cells)
    return nodes


def halve_cells(nodes: FloatArray) -> FloatArray:
    """Masses on a grid with half as many cells."""
    kept, between = nodes[::2].copy(), nodes[1::2] / 2
    kept[:-1] += between
    kept[1:] += between
    return kept


def cosine_spectrum(nodes: FloatArray) -> FloatArray:
    """Coefficients of cos(pi k t), k = 0..n_cells, of masses on a grid (the last axis)."""
    from scipy.fft import dct

    doubled = nodes.copy()
    doubled[..., [0, -1]] *= 2  # the transform counts its ends once and the rest twice
    return dct(doubled, type=1) / 2


def smoothed_density(spectrum: FloatArray, bandwidth: float) -> FloatArray:
    """Density at the nodes after smoothing with a reflected Gaussian.

    The reflected kernel is 1 + 2 sum_k exp(-(pi k h)^2 / 2) cos(pi k s) cos(pi k t), so smoothing
    damps each coefficient: no truncation, exact at the ends, whatever the bandwidth h.
    """
    from scipy.fft import dct

    n_cells = len(spectrum) - 1
    kept = int(min(n_cells, 9 / (math.pi * bandwidth))) + 1  # the rest is damped below exp(-40)
    damped = np.zeros(n_cells + 1)
    damped[:kept] = spectrum[:kept] * np.exp(-((math.pi * bandwidth * np.arange(kept)) ** 2) / 2)
    return dct(damped, type=1)


def absolute_integral(density: FloatArray) -> float:
    """Integral over [0, 1] of the absolute value of a function given at the nodes."""
    size = np.abs(density)
    return float((size.sum() - (size[0] + size[-1]) / 2) / (len(density) - 1))
