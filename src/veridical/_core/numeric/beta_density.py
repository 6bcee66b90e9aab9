"""Density of scores with beta kernels, which end where the interval does and need no mirror.

Both kernels of Chen (1999), Beta kernel estimators for density functions, Computational Statistics
& Data Analysis 31, 131-145, doi 10.1016/S0167-9473(99)00010-9. At the place x a score s counts the
density at s of a beta distribution whose parameters depend on x and the smoothing parameter b:

- "beta" (his first): (x / b + 1, (1 - x) / b + 1);
- "beta-modified" (his second, which 001 section 6 names): (x / b, (1 - x) / b), where the first is
  rho(x) if x < 2 b, the second rho(1 - x) if x > 1 - 2 b, and rho(x) =
  2 b^2 + 2.5 - sqrt(4 b^4 + 6 b^2 + 2.25 - x^2 - x / b). This needs b <= 1/4.

Either has a variance of about b x (1 - x), which is the same everywhere after the arcsine
transform s = sin^2(pi u / 2): scores are shared between nodes equally spaced in u. Near the ends a
kernel is a power of s with any exponent from 0 on, so the nodes go on as a geometric series.
"""

from __future__ import annotations

import math

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.numeric.density import ScoreDensity, choose_bandwidth
from veridical._core.sample import BinarySample, weighted_mean
from veridical._core.typing import FloatArray

BETA_KERNELS = ("beta", "beta-modified")
WIDEST = 0.25  # standard deviation at the middle of a support of length one: b = 1/4

_STEPS = 32  # between places in one standard deviation, at least; of the nodes twice as many
_COARSEST, _FINEST = 1024, 1 << 15  # steps between places
_POWERS = 32  # steps from an end where squares of whole numbers grow by less than a sixteenth
_NEAREST = 1e-18  # node next to an end
# A beta kernel is below exp(-(d / 2)^2) of its peak at a distance of d standard deviations in u,
# because a Kullback-Leibler divergence is at least the square of the distance in arcsines. The
# modified one has its peak up to 0.83 standard deviations beside x.
_REACH = 14.0
_BLOCK = 64  # places whose kernels are evaluated together
_LOG_ZERO = -1e290  # times nothing it is nothing, times anything else it is the end of a kernel


def beta_score_density(
    sample: BinarySample,
    *,
    bandwidth: float | str,
    kernel: str,
    support: tuple[float, float] = (0.0, 1.0),
) -> ScoreDensity:
    """Density of the scores at places spaced by arcsines; both parts are divided by its mass.

    Beta kernels have mass one over the scores, not over the places, so the sum over rows has a
    mass near one only. Time O(n log g + g r) for g places with r nodes in reach of each, about
    g^2 sqrt(b).
    """
    low, high = support
    h = resolve_beta_bandwidth(sample, bandwidth, support)
    smoother = BetaSmoother(smoothing_parameter(h, support), kernel)
    places = arcsine_places(smoother.n_steps)
    negative, positive = smoother(smoother.mass(sample, support), places)
    found = ScoreDensity(low + (high - low) * places, negative + positive, positive, h)
    total = float(found.quadrature @ found.density)
    return ScoreDensity(found.grid, found.density / total, found.joint / total, h)


def resolve_beta_bandwidth(
    sample: BinarySample, bandwidth: float | str, support: tuple[float, float] = (0.0, 1.0)
) -> float:
    """Standard deviation of the kernel in the middle of the support, given or found by a rule.

    With the rule's h and the mean score m on a support of length one, b = h^2 / (m (1 - m)): the
    kernel at the mean score has the standard deviation of the rule. b is at most 1/4, also if all
    scores are at one end.
    """
    low, high = support
    widest = WIDEST * (high - low)
    if not isinstance(bandwidth, str):
        return min(float(bandwidth), widest)
    h = choose_bandwidth(sample, bandwidth, support)
    mean = (weighted_mean(sample.p, sample.weight) - low) / (high - low)
    spread = math.sqrt(max(mean * (1 - mean), 0.0))
    return widest if h >= 2 * spread * widest else h / (2 * spread)


def smoothing_parameter(h: float, support: tuple[float, float] = (0.0, 1.0)) -> float:
    """Chen's b for a kernel of standard deviation `h` in the middle of the support: 4 h^2."""
    return 4 * (h / (support[1] - support[0])) ** 2


def arcsine_places(n_steps: int) -> FloatArray:
    """The places sin^2(pi k / (2 n_steps)), symmetric about 1/2, for an even number of steps."""
    half = np.sin(math.pi / 2 * np.arange(n_steps // 2 + 1) / n_steps) ** 2
    return _both_halves(half)


class BetaSmoother:
    """Beta kernels of one b, and the nodes between which scores are shared for them."""

    def __init__(self, b: float, kernel: str) -> None:
        self.b, self._kernel = b, kernel
        self._deviation = math.sqrt(b) / math.pi  # of a kernel as a function of u
        self.n_steps = _COARSEST
        while self.n_steps * self._deviation < _STEPS and self.n_steps < _FINEST:
            self.n_steps *= 2
        squares = arcsine_places(2 * self.n_steps)[_POWERS : self.n_steps + 1]
        length = math.ceil(math.log(squares[0] / _NEAREST) * _POWERS / 2)
        powers = np.geomspace(_NEAREST, squares[0], length, endpoint=False)
        self._half = np.concatenate([[0.0], powers, squares])  # from an end to the middle
        self.nodes = _both_halves(self._half)
        self._logs = np.full(len(self.nodes), _LOG_ZERO)
        np.log(self.nodes, out=self._logs, where=self.nodes > 0)

    def mass(self, sample: BinarySample, support: tuple[float, float] = (0.0, 1.0)) -> FloatArray:
        """Share of the total weight at each node, (2, nodes) by outcome."""
        low, high = support
        half, last = self._half, len(self.nodes) - 1
        p = np.clip((sample.p.astype(np.float64) - low) / (high - low), 0.0, 1.0)
        upper = p > 0.5
        nearer = np.where(upper, 1 - p, p)  # distance from the nearer end
        outer = np.clip(np.searchsorted(half, nearer, side="right") - 1, 0, len(half) - 2)
        share = (nearer - half[outer]) / (half[outer + 1] - half[outer])
        weight = np.ones(sample.n) if sample.weight is None else sample.weight
        row = sample.y.astype(np.intp) * len(self.nodes)
        size = 2 * len(self.nodes)
        mass = np.bincount(row + np.where(upper, last - outer, outer), weight * (1 - share), size)
        inner = outer + 1
        mass += np.bincount(row + np.where(upper, last - inner, inner), weight * share, size)
        return mass.reshape(2, -1) / weight.sum()

    def __call__(self, mass: FloatArray, places: FloatArray) -> FloatArray:
        """Sum of kernels at increasing places, (2, places), for masses at the nodes."""
        smooth = np.empty((2, len(places)))
        for block in row_blocks(len(places), _BLOCK):
            near = self._in_reach(places[block])
            smooth[:, block] = mass[:, near] @ self.heights(places[block], near).T
        return smooth

    def heights(self, places: FloatArray, near: slice = slice(None)) -> FloatArray:
        """Height of the kernel of each place at the nodes of a slice, (places, nodes)."""
        from scipy.special import betaln

        first, second = _parameters(places, self.b, self._kernel)
        height = np.multiply.outer(first - 1, self._logs[near])
        height += np.multiply.outer(second - 1, self._logs[::-1][near])  # of 1 - s, opposite
        height -= betaln(first, second)[:, None]
        return np.exp(height, out=height)

    def _in_reach(self, places: FloatArray) -> slice:
        reach = _REACH * math.pi / 2 * self._deviation
        angles = np.arcsin(np.sqrt(places[[0, -1]])) + np.array([-reach, reach])
        ends = np.sin(np.clip(angles, 0.0, math.pi / 2)) ** 2
        first = int(np.searchsorted(self.nodes, ends[0]))
        last = int(np.searchsorted(self.nodes, ends[1], side="right"))  # many nodes round to 1
        return slice(max(0, first - 1), last + 1)


def _both_halves(half: FloatArray) -> FloatArray:
    """Places from 0 to 1/2 and their images, so that s and 1 - s are opposite exactly."""
    return np.concatenate([half[:-1], [0.5], 1 - half[-2::-1]])


def _parameters(x: FloatArray, b: float, kernel: str) -> tuple[FloatArray, FloatArray]:
    if kernel == "beta":
        return x / b + 1, (1 - x) / b + 1
    return _modified(x, b), _modified(1 - x, b)


def _modified(x: FloatArray, b: float) -> FloatArray:
    """Return x / b, but below 2 b rho(x), which is 1 at 0 and meets the other at 2."""
    near = np.minimum(x, 2 * b)  # beyond, what is under the root may be negative
    root = np.sqrt(np.maximum(4 * b**4 + 6 * b**2 + 2.25 - near**2 - near / b, 0.0))
    rho = np.where(x > 0, np.maximum(2 * b**2 + 2.5 - root, 1.0), 1.0)  # 1 to the last digit
    return np.where(x < 2 * b, rho, x / b)
