"""Smooth calibration error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from veridical._core.data.validation import is_integer, is_number
from veridical._core.numeric import density
from veridical._core.numeric.roots import root_between
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray
from veridical.exceptions import invalid
from veridical.miscalibration._errors.base import CellEstimator, ScoreEstimator

# A bandwidth of this many cells is resolved: the error is below 0.121 / 64^2 = 3e-5 of the figure.
CELLS_A_BANDWIDTH = 64
COARSEST = 1024


@dataclass(frozen=True)
class SmoothError(ScoreEstimator, CellEstimator):
    r"""Smooth calibration error (smECE): residuals smoothed along the scores, in absolute value.

    Parameters
    ----------
    bandwidth : "fixed-point" or float > 0, default "fixed-point"
        Standard deviation of the kernel. "fixed-point" takes the one that equals the error itself,
        so nothing is left to choose.
    n_grid : int, default 65536
        Cells of the finest grid, a power of two from 1024 on. Coarser ones are used where they
        resolve the bandwidth.

    Notes
    -----
    .. math::

       \mathrm{smECE}_\sigma = \int_0^1 \Bigl| \frac{1}{W} \sum_i w_i (y_i - p_i)
       \tilde K_\sigma(t, p_i) \Bigr| \, dt, \qquad \mathrm{smECE} = \sigma^* :
       \mathrm{smECE}_{\sigma^*} = \sigma^*

    with a Gaussian kernel reflected at 0 and 1. The error falls as the bandwidth grows, so the
    fixed point is unique. Lower is better; in [0, 1]; 0 if and only if the frequency equals the
    score at every score. It lies between :math:`|\bar y - \bar p|` and the error of equal scores.

    It is a consistent calibration measure: continuous in the predictions, and bounded on both
    sides by the distance to the nearest calibrated predictor (up to a square root) [1]_. Biased
    upwards, like every absolute error: a calibrated model reads about 0.047 at n = 200 and 0.0215
    at n = 2000 (0.051 and 0.024 when scores are spread evenly), falling like :math:`n^{-1/3}`.
    Compare it with its null level.

    Residuals are binned linearly onto a grid and smoothed by a cosine transform: time
    O(n + g log g) without sorting, memory O(n + g). Binning with cells of width h moves
    :math:`\mathrm{smECE}_\sigma` by at most :math:`0.121\,(h/\sigma)^2 \sum w |y - p| / W`; the
    grid keeps :math:`h \le \sigma / 64`, down to :math:`\sigma` = 64 / `n_grid` (about 0.001).
    Below that residuals closer than a cell cancel, and the figure is right to within a cell.

    Equal scores count together. With one class only, or one score only, the figure is
    :math:`|\bar y - \bar p|`. It does not depend on n: an integer weight equals repetition.

    References
    ----------
    .. [1] Błasiok & Nakkiran (2023), Smooth ECE, arXiv 2309.12236.

    Examples
    --------
    One score, so smoothing cancels nothing: the error is the gap between 0.25 and 0.5.

    >>> round(SmoothError()([0, 0, 1, 0], [0.5, 0.5, 0.5, 0.5]), 12)
    0.25
    """

    bandwidth: float | Literal["fixed-point"] = "fixed-point"
    n_grid: int = 65536
    n_cells: ClassVar[int] = 1 << 12

    def __post_init__(self) -> None:
        caller = type(self).__name__
        width: Any = self.bandwidth
        if width != "fixed-point" and not (is_number(width) and width > 0):
            expected, got = 'a positive number or "fixed-point"', repr(self.bandwidth)
            hint = 'leave it at "fixed-point" if unsure.'
            raise invalid(caller, "bandwidth", expected, got, hint=hint)
        size = int(self.n_grid) if is_integer(self.n_grid) else 0
        if size < COARSEST or size & (size - 1):
            expected = f"a power of two from {COARSEST} on"
            hint = "65536 resolves errors down to 0.001."
            raise invalid(caller, "n_grid", expected, repr(self.n_grid), hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        return "smECE"

    @property
    def definition(self) -> str:
        """Kernel and bandwidth in words."""
        fixed = self.bandwidth == "fixed-point"
        width = "equal to the error" if fixed else f"{self.bandwidth:g}"
        return f"reflected Gaussian kernel, bandwidth {width}"

    def measure_binary(self, sample: BinarySample) -> float:
        """Smooth the residuals and integrate their absolute value."""
        residual: FloatArray = np.subtract(sample.y, sample.p, dtype=np.float64)
        total = float(sample.n)
        if sample.weight is not None:
            residual *= sample.weight
            total = float(sample.weight.sum())
        grids = _nested_grids(density.bin_linearly(sample.p, residual, int(self.n_grid)) / total)
        if self.bandwidth != "fixed-point":
            width = float(self.bandwidth)
            return _error_at(density.cosine_spectrum(_resolving(grids, width)), width)
        for nodes in grids:
            error = _fixed_point(nodes)
            if _resolves(nodes, error):
                break
        return error

    def measure_cells(
        self, value: FloatArray, weight: FloatArray, positive: FloatArray
    ) -> FloatArray:
        """Smooth the residuals of all rows at once, on one grid.

        It has as many cells as resolve what noise reads, at most 2,048: figures are within about a
        hundredth of those of `measure`.
        """
        residual = (positive - weight * value) / float(weight.sum())
        fixed = self.bandwidth == "fixed-point"
        expected = _of_noise(residual) if fixed else float(self.bandwidth)
        size = _FEWEST
        while size * expected < _NODES_A_BANDWIDTH and size < 2 * COARSEST:
            size *= 2
        nodes = _nodes_of(value, residual, size)
        spectrum = density.cosine_spectrum(nodes)
        if fixed:
            return _fixed_points(nodes, spectrum, expected)
        return _errors_at(spectrum, np.full(len(nodes), expected))


_FEWEST, _NODES_A_BANDWIDTH = 64, 24
_STEPS = 5  # towards the fixed point
_NARROWEST = 1e-6  # a kernel has some width


def _of_noise(residual: FloatArray) -> float:
    """What independent residuals of about this size read.

    Their smoothed sum has the variance sum r^2 / (2 sqrt(pi) s), so its mean absolute value is
    sqrt(2 / pi) times the root of that, which equals s at the fixed point.
    """
    square = float(np.median(np.square(residual).sum(axis=1)))
    return max(float(np.cbrt(square / np.pi**1.5)), _NARROWEST)


def _nodes_of(value: FloatArray, residual: FloatArray, size: int) -> FloatArray:
    """Residuals of every row shared between the nodes of a grid, (R, size + 1)."""
    position = value * size
    left = np.minimum(position.astype(np.intp), size - 1)
    right = (position - left) * residual
    nodes = np.zeros((len(residual), size + 1))
    starts = np.flatnonzero(np.diff(left, prepend=-1))
    at = left[starts]
    nodes[:, at] += np.add.reduceat(residual - right, starts, axis=1)
    nodes[:, at + 1] += np.add.reduceat(right, starts, axis=1)
    return nodes


def _errors_at(spectrum: FloatArray, bandwidth: FloatArray) -> FloatArray:
    """Integrals of the absolute smoothed densities of rows, each with its own bandwidth."""
    from scipy.fft import dct

    n_cells = spectrum.shape[1] - 1
    kept = int(min(n_cells, 9 / (np.pi * bandwidth.min()))) + 1  # the rest is damped below exp(-40)
    damping = np.exp(-((np.pi * bandwidth[:, None] * np.arange(kept)) ** 2) / 2)
    damped = np.zeros_like(spectrum)
    damped[:, :kept] = spectrum[:, :kept] * damping
    size = np.abs(dct(damped, type=1, axis=1))
    return (size.sum(axis=1) - (size[:, 0] + size[:, -1]) / 2) / n_cells


def _fixed_points(nodes: FloatArray, spectrum: FloatArray, start: float) -> FloatArray:
    """Bandwidths that equal the errors there, all rows together.

    The error falls with the bandwidth s, by a power between 0 and 1 and for noise by about 1/2, so
    each step s <- s^(1/3) error(s)^(2/3) takes at least two thirds off the distance (of the
    logarithms), and for noise nearly all of it.
    """
    high = np.abs(nodes).sum(axis=1)
    low = np.abs(nodes.sum(axis=1))
    width = np.maximum(np.clip(np.full(len(nodes), start), low, high), _NARROWEST)
    for _ in range(_STEPS):
        width = np.cbrt(width * _errors_at(spectrum, width) ** 2)
        width = np.maximum(width, _NARROWEST)
    return np.clip(width, low, high)


def _nested_grids(finest: FloatArray) -> list[FloatArray]:
    """The masses on grids of a quarter of the cells each, the coarsest first."""
    grids = [finest]
    while len(grids[0]) > 4 * COARSEST:
        grids.insert(0, density.halve_cells(density.halve_cells(grids[0])))
    return grids


def _resolves(nodes: FloatArray, bandwidth: float) -> bool:
    return bandwidth * (len(nodes) - 1) >= CELLS_A_BANDWIDTH


def _resolving(grids: list[FloatArray], bandwidth: float) -> FloatArray:
    """The coarsest grid that resolves the bandwidth, or the finest there is."""
    return next((nodes for nodes in grids if _resolves(nodes, bandwidth)), grids[-1])


def _error_at(spectrum: FloatArray, bandwidth: float) -> float:
    return density.absolute_integral(density.smoothed_density(spectrum, bandwidth))


def _fixed_point(nodes: FloatArray) -> float:
    """Bandwidth that equals the error there: between the errors at infinity and at zero."""
    spectrum = density.cosine_spectrum(nodes)
    high = float(np.abs(nodes).sum())
    low = max(abs(float(nodes.sum())), high * 1e-12)  # a kernel has some width
    if high - low <= 1e-15 or _error_at(spectrum, high) >= high:
        return high
    if _error_at(spectrum, low) <= low:
        return low
    return root_between(lambda width: _error_at(spectrum, width) - width, low, high, xtol=1e-15)
