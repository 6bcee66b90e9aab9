"""Bets sized for the fastest growth of wealth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.validation import float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid
from veridical.planning._value.processes import DecisionProcess, check_class_count, read_only

_CALLER = "KellyProcess"
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class KellyProcess(DecisionProcess):
    r"""Bets the shares of wealth that make it grow fastest; the value is the log of its growth.

    Parameters
    ----------
    odds : array-like of shape (K,)
        What one unit staked on each class pays back, the stake included, if the class occurs; 0
        where no bet is offered.
    fraction : float, default 1
        Part of the optimal stakes that is bet, in (0, 1]; half is common prudence.

    Notes
    -----
    With stakes :math:`f_k` wealth is multiplied by :math:`1 - \sum_j f_j + f_k o_k` if class k
    occurs. Its expected logarithm is largest for [1]_ [2]_

    .. math:: f_k = \max(0, p_k - b / o_k), \qquad
       b = \min_S \frac{1 - \sum_{k \in S} p_k}{1 - \sum_{k \in S} 1 / o_k}

    over sets S of the largest :math:`p_k o_k` with :math:`\sum_S 1 / o_k < 1`; for odds that are
    fair or better, :math:`\sum_k 1 / o_k \le 1`, everything is staked, :math:`f = p`. At fair
    odds :math:`o_k = 1 / q_k` the growth is :math:`\log p_k / q_k`: with true probabilities its
    mean is the divergence KL(p, q) and a reported c loses KL(p, c) of it. So this process pays for
    calibration all over the simplex, as the log score does, and an outcome that was given no
    chance is ruin, a value of minus infinity; any `fraction` below 1 avoids that.

    References
    ----------
    .. [1] Kelly (1956), A new interpretation of information rate, Bell System Technical Journal
       35, doi 10.1002/j.1538-7305.1956.tb03809.x.
    .. [2] Smoczynski & Tomkins (2010), An explicit solution to the problem of optimizing the
       allocations of a bettor's wealth when wagering on horse races, Mathematical Scientist 35.

    Examples
    --------
    Even money on the second class only, believed at 0.6: the stake is 2 * 0.6 - 1 = 0.2.

    >>> import numpy as np
    >>> process = KellyProcess([0, 2])
    >>> process.stakes(np.array([[0.4, 0.6]])).round(12).tolist()
    [[0.0, 0.2]]
    >>> np.exp(process.payoffs(np.array([[0.4, 0.6]]))).round(12).tolist()
    [[0.8, 1.2]]
    """

    odds: ArrayLike
    fraction: float = 1.0

    def __post_init__(self) -> None:
        odds = float_array(self.odds, caller=_CALLER, param="odds").astype(np.float64)
        if odds.ndim != 1 or len(odds) < 2 or not (np.isfinite(odds) & (odds >= 0)).all():
            hint = "decimal odds: 2 is even money, 0 no bet."
            expected = "one non-negative number for each class"
            raise invalid(_CALLER, "odds", expected, f"{self.odds!r}", hint=hint)
        if not (is_number(self.fraction) and 0 < self.fraction <= 1):
            hint = "1 bets what grows fastest, 0.5 half of it."
            raise invalid(_CALLER, "fraction", "in (0, 1]", repr(self.fraction), hint=hint)
        object.__setattr__(self, "odds", read_only(odds))

    @property
    def definition(self) -> str:
        """Odds and fraction in words."""
        odds = ", ".join(f"{o:g}" for o in np.asarray(self.odds)[:6])
        return f"log growth of wealth at odds {odds}, fraction {self.fraction:g}"

    def stakes(self, y_prob: FloatArray) -> FloatArray:
        """Share of wealth staked on each class, (n, K)."""
        odds = np.asarray(self.odds)
        check_class_count(_CALLER, "odds", len(odds), y_prob)
        p = np.asarray(y_prob, dtype=np.float64)
        with np.errstate(divide="ignore"):
            price = 1 / odds  # infinite where no bet is offered
        if price.sum() <= 1 + _ROUNDING:
            return self.fraction * p
        order = np.argsort(-p * odds, axis=1, kind="stable")
        spent = np.cumsum(price[order], axis=1)
        left = np.maximum(1 - np.cumsum(np.take_along_axis(p, order, axis=1), axis=1), 0)
        rate = np.full(p.shape, np.inf)
        np.divide(left, 1 - spent, out=rate, where=spent < 1 - _ROUNDING)
        reserve = np.minimum(rate.min(axis=1), 1.0)  # 1: the empty set
        with np.errstate(invalid="ignore"):  # nothing left, nothing offered
            stake = p - np.where(np.isinf(price), 1.0, reserve[:, None] * price)
        return self.fraction * np.maximum(stake, 0)

    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Logarithm of what wealth is multiplied by under each class."""
        stake = self.stakes(y_prob)
        kept = 1 - stake.sum(axis=1, keepdims=True)
        kept[kept < _ROUNDING] = 0  # nothing is kept, up to rounding
        with np.errstate(divide="ignore"):
            return np.log(kept + stake * np.asarray(self.odds))
