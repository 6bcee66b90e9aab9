"""Calibration error by kernel density estimation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical._core.data.validation import check_option, is_integer, is_number
from veridical._core.numeric.beta_density import (
    BETA_KERNELS,
    WIDEST,
    beta_score_density,
    resolve_beta_bandwidth,
    smoothing_parameter,
)
from veridical._core.numeric.density import KERNELS, RULES, SMALLEST, ScoreDensity, score_density
from veridical._core.sample import BinarySample, weighted_mean
from veridical.exceptions import invalid
from veridical.lenses import Problem
from veridical.miscalibration._errors.base import NormedEstimator, ScoreEstimator

_MEANINGFUL = 0.01  # share of the mean density below which a point cannot be the largest gap
_AT_END = 1e-4  # share of b: nearer to an end a score has an eighth of its mass, or a third
_MANY_AT_END = 0.05


@dataclass(frozen=True)
class DensityError(NormedEstimator, ScoreEstimator):
    r"""Mean gap between the reliability curve of kernel densities and the diagonal (ECE_d).

    Parameters
    ----------
    bandwidth : "silverman", "scott", "isj" or float, default "silverman"
        Standard deviation of the kernel, between 0.0001 and 1, or the rule that finds it from all
        scores of the problem; the same one serves both densities (001 section 4.5).

        - "silverman": 1.06 A n^(-1/5) with A = min(standard deviation, interquartile range /
          1.349) (Silverman 1986, eq. 3.28 with his robust spread; what KDEpy calls Silverman's
          rule). A is the standard deviation if the middle half of the scores are all equal.
        - "scott": A n^(-1/5).
        - "isj": improved Sheather-Jones (Botev, Grotowski & Kroese 2010), for scores that pile up
          at several places; "silverman" where its equation has no root.
    kernel : {"triweight", "gaussian", "cosine", "beta", "beta-modified"}, default "triweight"
        Shape of the kernel. The first three are mirrored at the ends; a beta kernel changes its
        shape from place to place and ends there by itself, see Notes.
    norm : float >= 1 or "max", default 1
        1 averages absolute gaps over the density of scores, 2 squared ones (and takes the root);
        "max" is the largest gap where the density is at least a hundredth of its mean.
    n_grid : int, default 4096
        Steps of the grid over the support; doubled until a bandwidth spans 32 of them (or to 2^16).
        Beta kernels have a grid of their own.
    support : (float, float), default (0, 1)
        Interval at whose ends the scores are mirrored, or beta kernels end; ``(1 / K, 1)`` is what
        the authors take for confidences. Scores outside count at the ends.

    Notes
    -----
    .. math::

        \left(\int f(s)\, |P(y{=}1 \mid s) - s|^p\, ds\right)^{1/p}, \qquad
        P(y{=}1 \mid s) = \frac{f(s \mid y{=}1)\, P(y{=}1)}{f(s)}

    Lower is better; in [0, 1]. Both densities are sums of kernels mirrored at 0 and 1, so their
    mass is exactly one (the authors' program loses a quarter of it). Where f is below 1e-9 of its
    mean a point does not count.

    Beta kernels [4]_: at the place x a score s counts the density at s of a beta distribution, for
    "beta" with parameters (x / b + 1, (1 - x) / b + 1), for "beta-modified" with (x / b,
    (1 - x) / b) but for x within 2 b of an end; the second is the one 001 section 6 hopes for. The
    variance is about b x (1 - x): narrow near the ends, where scores of good classifiers are. A
    number as bandwidth is the standard deviation at 1/2, b = 4 bandwidth^2, and at most 0.25; a
    rule finds the h that a kernel of fixed shape would get, and b such that the standard deviation
    at the mean score m is h: b = h^2 / (m (1 - m)), at most 1/4. The density is divided by its
    mass, which is near one but for scores next to 0 or 1: **a score of exactly 0 or 1 is seen by no
    place but the end itself and all but lost**, so there is a warning if they are more than one in
    twenty; keep to a mirrored kernel then.

    Bias: upwards by noise, which falls with n times the bandwidth; and by smoothing, which grows
    with the bandwidth h, in either direction. Near 0 and 1 mirrored kernels look inwards only, so
    that a perfect model with uniform scores reads h^2 however large n is. So does "beta", with a
    mean beside x: b / (2 + 4 b), about 2 h^2 in terms of h at 1/2. "beta-modified" is off within
    2 b of the ends only, and reads of the order b^2.

    If only one class occurs the curve is 0 or 1 and the error the mean distance of the (smoothed)
    scores from it. If all scores are equal the bandwidth is 0.0001 and the error :math:`|\bar y -
    s|`, with a warning.

    Weights: n is the effective size, so repetition is exact with ``weight_type="frequency"`` (and
    always with a number as bandwidth). Time O(n + g log g) for g grid points after finding
    quartiles, for beta kernels O(n + g^2 sqrt(b)) with g of the order 1 / sqrt(b), 10^2 to 10^4;
    memory O(g) beside a copy of the scores. For a classwise lens the mean over the classes, each
    with a bandwidth of its own.

    References
    ----------
    .. [1] Posocco & Bonnefoy (2021), Estimating expected calibration errors, arXiv 2109.03480,
       section 4.5 (document 001).
    .. [2] Silverman (1986), Density Estimation for Statistics and Data Analysis, section 3.4.
    .. [3] Botev, Grotowski & Kroese (2010), Annals of Statistics 38, 2916-2957,
       doi 10.1214/10-AOS799.
    .. [4] Chen (1999), Beta kernel estimators for density functions, Computational Statistics &
       Data Analysis 31, 131-145, doi 10.1016/S0167-9473(99)00010-9.

    Examples
    --------
    Nothing happens around 0.25, everything around 0.75: the gap is 0.25 on average.

    >>> error = DensityError(bandwidth=0.02)([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75])
    >>> round(error, 6)
    0.25
    """

    bandwidth: float | str = "silverman"
    kernel: str = "triweight"
    norm: float | Literal["max"] = 1
    n_grid: int = 4096
    support: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        caller = "DensityError"
        check_option(caller, "kernel", self.kernel, (*KERNELS, *BETA_KERNELS))
        if isinstance(self.bandwidth, str):
            check_option(caller, "bandwidth", self.bandwidth, RULES)
        elif not (is_number(self.bandwidth) and SMALLEST <= self.bandwidth <= 1):
            hint = 'scores are in [0, 1]: "silverman", or a number such as 0.05.'
            expected, got = f"a rule or from {SMALLEST:g} to 1", repr(self.bandwidth)
            raise invalid(caller, "bandwidth", expected, got, hint=hint)
        elif self._beta and self.bandwidth > WIDEST:
            hint = "a wider beta kernel is none: it would be flat."
            expected, got = f"at most {WIDEST:g} for a beta kernel", repr(self.bandwidth)
            raise invalid(caller, "bandwidth", expected, got, hint=hint)
        if self.norm != "max" and not (is_number(self.norm) and self.norm >= 1):
            hint = '1 averages absolute gaps, 2 squared ones, "max" is the largest gap.'
            raise invalid(caller, "norm", 'a number >= 1 or "max"', repr(self.norm), hint=hint)
        if not (is_integer(self.n_grid) and 16 <= self.n_grid <= 1 << 18):
            hint = "leave it out, or give a power of two."
            expected, got = "a whole number from 16 to 262144", repr(self.n_grid)
            raise invalid(caller, "n_grid", expected, got, hint=hint)
        pair = isinstance(self.support, (tuple, list)) and len(self.support) == 2
        if not (pair and 0 <= self.support[0] < self.support[1] <= 1):
            hint = "e.g. `support=(1 / n_classes, 1)` for confidences."
            got = repr(self.support)
            raise invalid(caller, "support", "(low, high) within [0, 1]", got, hint=hint)

    @property
    def name(self) -> str:
        """Short name."""
        known = {1.0: "density ECE", 2.0: "density RMSCE", math.inf: "density MCE"}
        return known.get(self.power, f"density L{self.power:g} error")

    @property
    def definition(self) -> str:
        """Kernel, bandwidth and support in words."""
        text = f"{self.kernel} kernel, bandwidth {self.bandwidth}"
        if tuple(self.support) != (0.0, 1.0):
            how = "between" if self._beta else "mirrored at"
            text += f", {how} {self.support[0]:.4g} and {self.support[1]:.4g}"
        return text

    @property
    def _beta(self) -> bool:
        return self.kernel in BETA_KERNELS

    def density(self, sample: BinarySample) -> ScoreDensity:
        """Return the densities the error is computed from."""
        if self._beta:
            return beta_score_density(
                sample, bandwidth=self.bandwidth, kernel=self.kernel, support=self.support
            )
        return score_density(
            sample,
            bandwidth=self.bandwidth,
            kernel=self.kernel,
            n_grid=int(self.n_grid),
            support=self.support,
        )

    def measure_binary(self, sample: BinarySample) -> float:
        """Integrate the gap over the density of scores."""
        found = self.density(sample)
        if self.power == 1:  # without the division: |f(s, y=1) - s f(s)|
            gap = np.abs(found.joint - found.grid * found.density)
            return float(found.quadrature @ gap)
        held = found.held(_MEANINGFUL if self.norm == "max" else 1e-9)
        gap = np.abs(found.frequency - found.grid)[held]
        if self.norm == "max":
            return float(gap.max())
        powered = (found.quadrature * found.density)[held] @ gap**self.power
        return float(powered ** (1 / self.power))

    def measure_with_doubts(self, problem: Problem) -> tuple[float, list[str]]:
        """Also say if scores have no spread, or are where a beta kernel does not look."""
        value, doubts = self.measure(problem), []
        if isinstance(self.bandwidth, str) and isinstance(problem, BinarySample):
            equal = bool(problem.p.min() == problem.p.max())
            doubts = [f"all scores are equal, so the bandwidth is {SMALLEST:g}"] * equal
        if self._beta and isinstance(problem, BinarySample):
            share = self._share_at_ends(problem)
            text = f"{share:.1%} of the scores are so close to 0 or 1 that a beta kernel loses them"
            doubts += [text] * (share > _MANY_AT_END)
        return value, doubts

    def _share_at_ends(self, sample: BinarySample) -> float:
        low, high = self.support
        width = resolve_beta_bandwidth(sample, self.bandwidth, self.support)
        b = smoothing_parameter(width, self.support)
        inner = _AT_END * b * (high - low)
        at_end = (sample.p < low + inner) | (sample.p > high - inner)
        return weighted_mean(at_end, sample.weight)
