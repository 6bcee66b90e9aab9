"""Intervals of binned calibration errors that hold at calibration and away from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.roots import root_between
from veridical._core.typing import FloatArray
from veridical.inference._intervals.bounded import Masses, upper_limit
from veridical.inference._intervals.gaps import gap_upper_limit
from veridical.summaries import Summary, VectorSummary

_SQRT_2_PI = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class _Bins:
    """Occupied bins: shares, sizes, mean predictions and gaps; `n` rows in all."""

    share: FloatArray
    size: FloatArray
    mean_p: FloatArray
    gap: FloatArray  # observed minus predicted
    n: float

    @classmethod
    def of(cls, summary: Summary) -> _Bins:
        held = summary.occupied[0]
        weight, mean_p = summary.sum_w[0, held], summary.mean_p[0, held]
        total = float(weight.sum())
        by_weight = summary.weight_type == "frequency"
        n = total if by_weight else total**2 / float(summary.sum_w2[0, held].sum())
        gap = summary.mean_y[0, held] - mean_p
        return cls(weight / total, summary.size[0, held], mean_p, gap, n)

    @property
    def cells(self) -> _Cells:
        """The same with both outcomes."""
        observed = self.mean_p + self.gap
        predicted, frequency = (np.column_stack([1 - v, v]) for v in (self.mean_p, observed))
        return _Cells(self.share, self.size, predicted, frequency)

    @property
    def error(self) -> FloatArray:
        """Standard errors of the frequencies as observed, with one more row at the prediction."""
        return self.error_at(np.abs(self.gap) * self.size / (self.size + 1))

    def error_at(self, size_of_gap: FloatArray) -> FloatArray:
        """Standard errors of the frequencies if the gaps were that large, on the side observed.

        The side is the other one where a frequency would leave [0, 1] on this one.
        """
        inward = np.where(self.mean_p > 0.5, -1.0, 1.0)
        side = np.where(self.gap == 0, inward, np.sign(self.gap))
        rate = self.mean_p + side * size_of_gap
        rate = np.where((rate < 0) | (rate > 1), self.mean_p + inward * size_of_gap, rate)
        edge = 0.5 / (self.size + 1)  # a bin without hits does not have a known frequency
        rate = np.clip(rate, edge, 1 - edge)
        return np.sqrt(rate * (1 - rate) / self.size)


class _Cells(NamedTuple):
    """Cells that hold rows, with mean predictions and frequencies of all classes, (C, K)."""

    share: FloatArray
    size: FloatArray
    predicted: FloatArray
    observed: FloatArray

    @property
    def gap(self) -> FloatArray:
        return self.observed - self.predicted

    def bet_limit(self, bet: FloatArray, tail: float, cost: FloatArray | float = 0.0) -> float:
        """Upper limit of the mean of bet (y - p) - cost, as of a bounded variable.

        Bets are vectors, one for each cell. One row more is in a cell that holds rows.
        """
        won = bet - (bet * self.predicted).sum(axis=1, keepdims=True)
        value = (won - np.reshape(cost, (-1, 1))).ravel()
        shape = (self.size[:, None] * np.clip(self.observed, 0.0, 1.0)).ravel()
        scale = np.repeat(self.share / self.size, bet.shape[1])
        held = shape > 0
        masses = Masses(value[held], shape[held], scale[held])
        return upper_limit(masses, float(value.max()), tail).value

    def with_bets(
        self, low: float, high: float, deviation: FloatArray, tail: float
    ) -> tuple[float, float]:
        r"""Limits of a root-mean-square gap that hold with few rows in few cells, too.

        It is the largest mean of bets,

        .. math:: \sum_c \pi_c |g_c|^2 = \max_b E[2 b_c (y - p) - |b_c|^2], \qquad
           \Bigl(\sum_c \pi_c |g_c|^2\Bigr)^{1/2} = \max_{E |b_c|^2 = 1} E[b_c (y - p)]

        and bets on the gaps observed have limits as of bounded variables (of one bin, those of
        Clopper & Pearson): upwards on gaps of more than two standard errors (`deviation`), and on
        the one that may matter most.
        """
        gap = self.gap
        size = np.sqrt((gap**2).sum(axis=1))
        observed = math.sqrt(float(self.share @ size**2))
        if observed == 0:
            return low, high
        sure = size > 2 * deviation
        sure[(self.share * (size + 2 * deviation) ** 2).argmax()] = True
        bet = np.where(sure[:, None], gap, 0.0)
        most = self.bet_limit(2 * bet, tail, (bet**2).sum(axis=1))
        low = max(0.0, min(low, -self.bet_limit(-gap / observed, tail)))
        return low, max(high, math.sqrt(max(0.0, most)))


def l2_limits(summary: Summary, level: float) -> tuple[float, float]:
    """Limits of the root-mean-square gap, from the distribution of the mean squared gap."""
    bins = _Bins.of(summary)
    share = bins.share
    observed = float(share @ bins.gap**2)
    # Squared gaps are spread over the bins as they were observed, and sum to theta.
    squares = bins.gap**2 / observed if observed > 0 else np.ones(len(share))
    known = np.maximum(bins.gap**2 - 4 * bins.error**2, 0.0)  # gaps beyond two standard errors
    between = max(0.0, float(share @ known**2) - float(share @ known) ** 2)  # shares vary too

    def cumulants(theta: float) -> tuple[float, float, float]:
        variance = bins.error_at(np.sqrt(theta * squares)) ** 2
        scale, ratio = share * variance, theta * squares / variance
        return (
            float(scale.sum()) + theta,
            2 * float(scale**2 @ (1 + 2 * ratio)) + between / bins.n,
            8 * float(scale**3 @ (1 + 3 * ratio)),
        )

    low, high = squared_limits(observed, cumulants, level)
    # As of two classes, whose distance is larger by the root of two.
    root = math.sqrt(2)
    tail = (1 - level) / 2
    low, high = bins.cells.with_bets(root * low, root * high, root * bins.error, tail)
    return low / root, high / root


def squared_limits(
    observed: float,
    cumulants: Callable[[float], tuple[float, float, float]],
    level: float,
    largest: float = 1.0,
) -> tuple[float, float]:
    """Roots of the limits of a mean squared gap theta, whose reading has these cumulants.

    Inverts tests of equal tails; `largest` is the largest possible theta.
    """

    def below(value: float, theta: float) -> float:
        return cumulant_cdf(value, *cumulants(theta))

    tail, low, high = (1 - level) / 2, 0.0, largest
    if 1 - below(observed, 0.0) < tail:
        low = find_root(lambda theta: 1 - below(observed, theta) - tail, 0.0, observed)
    typical = observed
    if below(observed, 0.0) < 0.5:
        most = max(observed, cumulants(0.0)[0])
        typical = find_root(lambda value: below(value, 0.0) - 0.5, observed, most)
    if below(typical, largest) < tail:
        high = find_root(lambda theta: below(typical, theta) - tail, 0.0, largest)
    return math.sqrt(low), math.sqrt(high)


def l1_limits(summary: Summary, level: float) -> tuple[float, float]:
    """Limits of the mean absolute gap, whatever the spread of the gaps.

    The lower one supposes a sparse spread (small gaps are noise) and is at most that of the bet on
    the signs observed, which holds with few events in few bins; for the upper one see
    :func:`gap_upper_limit`.
    """
    bins = _Bins.of(summary)
    share, gap, error = bins.share, np.abs(bins.gap), bins.error
    observed = float(share @ gap)
    squared = max(0.0, float(share @ (gap**2 - error**2)))

    def below(value: float, gaps: FloatArray) -> float:
        at = bins.error_at(gaps)
        mean, variance, third = folded_cumulants(gaps / at)
        scale = share * at
        between = max(0.0, squared - float(share @ gaps) ** 2)  # shares are estimated too
        return cumulant_cdf(
            value,
            float(scale @ mean),
            float(scale**2 @ variance) + between / bins.n,
            float(scale**3 @ third),
        )

    def shrunk(threshold: float) -> FloatArray:
        return np.clip(2 * (gap - threshold * error), 0.0, gap)

    tail, low = (1 - level) / 2, 0.0
    most = float((gap / error).max())
    if 1 - below(observed, shrunk(most)) < tail:
        threshold = find_root(lambda t: 1 - below(observed, shrunk(t)) - tail, 0.0, most)
        low = float(share @ shrunk(threshold))
        sign = np.sign(bins.gap) / 2
        low = max(0.0, min(low, -bins.cells.bet_limit(np.column_stack([sign, -sign]), tail)))
    return low, max(low, gap_upper_limit(summary, level))


def folded_cumulants(ratio: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """First three cumulants of abs(ratio + Z), Z standard normal."""
    from scipy.special import ndtr

    density = _SQRT_2_PI * np.exp(-(ratio**2) / 2)
    sure = 1 - 2 * ndtr(-ratio)
    mean = density + ratio * sure
    second = 1 + ratio**2
    third = (ratio**2 + 2) * density + (ratio**3 + 3 * ratio) * sure
    return mean, second - mean**2, third - 3 * mean * second + 2 * mean**3


def cumulant_cdf(value: float, mean: float, variance: float, third: float) -> float:
    """Probability of at most `value`, by a shifted chi-square with these three cumulants."""
    from scipy.special import gammainc, ndtr

    standard = (value - mean) / math.sqrt(variance)
    skew = third / variance**1.5
    if skew < 1e-3:
        return float(ndtr(standard))
    half = 4 / skew**2  # half the degrees of freedom
    return float(gammainc(half, max(0.0, half + standard * math.sqrt(half))))


def find_root(function: Callable[[float], float], first: float, last: float) -> float:
    """Root of a monotone function between two points; an end if it does not change sign."""
    function = cache(function)  # the ends are asked for twice
    at_first, at_last = function(first), function(last)
    if at_first * at_last >= 0:  # by rounding no change of sign: an end is the root
        return first if abs(at_first) < abs(at_last) else last
    return root_between(function, first, last, xtol=1e-12, rtol=1e-10)


# The squared Euclidean distance of two probability vectors is at most two.
_LARGEST = 2.0


def l2_vector_limits(summary: VectorSummary, level: float) -> tuple[float, float]:
    r"""Limits of :math:`(\sum_c (W_c / W)\,\|\bar y_c - \bar p_c\|_2^2)^{1/2}`.

    As for a binary problem (see :func:`bootstrap_interval`), with the multinomial covariance
    :math:`\Sigma_c = \mathrm{diag}(r_c) - r_c r_c^\top` of an outcome in the place of r (1 - r):
    the squared length of a normal vector of mean d and covariance S / n has the cumulants
    :math:`\mathrm{tr} S / n + d^\top d`, :math:`2\,\mathrm{tr} S^2 / n^2 + 4 d^\top S d / n` and
    :math:`8\,\mathrm{tr} S^3 / n^3 + 24 d^\top S^2 d / n^2`.
    """
    share, size, gap = summary.share, summary.size, summary.mean_y - summary.mean_p
    total = float(summary.sum_w.sum())
    frequency = summary.weight_type == "frequency"
    n = total if frequency else total**2 / float(summary.sum_w2.sum())
    squares = (gap**2).sum(axis=1)
    observed = float(share @ squares)
    # Gaps are spread as they were observed; if there are none, away from the largest prediction.
    direction = gap / math.sqrt(observed) if observed > 0 else _away(summary.mean_p)
    noise = _traces(_inside(summary.mean_y, size))[0] / size
    known = np.maximum(squares - 4 * noise, 0.0)
    between = max(0.0, float(share @ known**2) - float(share @ known) ** 2)

    def cumulants(theta: float) -> tuple[float, float, float]:
        shift = math.sqrt(theta) * direction
        rate = _inside(summary.mean_p + shift, size)
        one, two, three = _traces(rate)
        dot = (rate * shift).sum(axis=1)
        image = rate * shift - rate * dot[:, None]  # S d
        mean = share @ (one / size) + theta
        variance = share**2 @ (2 * two / size**2 + 4 * (image * shift).sum(axis=1) / size)
        third = share**3 @ (8 * three / size**3 + 24 * (image**2).sum(axis=1) / size**2)
        return float(mean), float(variance) + between / n, float(third)

    low, high = squared_limits(observed, cumulants, level, largest=_LARGEST)
    cells = _Cells(share, size, summary.mean_p, summary.mean_y)
    return cells.with_bets(low, high, np.sqrt(noise), (1 - level) / 2)


def _inside(rate: FloatArray, size: FloatArray) -> FloatArray:
    """Rates moved into the simplex: a class that did not occur does not have a known rate."""
    n_classes = rate.shape[1]
    edge = 0.5 / (size + 1)[:, None]
    moved = np.clip(rate, edge / n_classes, None)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def _traces(rate: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Traces of S, S^2 and S^3 for S = diag(r) - r r'."""
    second, third, fourth = ((rate**power).sum(axis=1) for power in (2, 3, 4))
    one = 1 - second
    two = second - 2 * third + second**2
    three = third - 3 * fourth + 3 * second * third - second**3
    return one, two, three


def _away(mean_p: FloatArray) -> FloatArray:
    direction = np.full(mean_p.shape, 1 / (mean_p.shape[1] - 1))
    direction[np.arange(len(mean_p)), mean_p.argmax(axis=1)] = -1.0
    return direction / np.linalg.norm(direction, axis=1, keepdims=True)
