"""Decision processes: from reported probabilities to what each row is worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from veridical._core.data.validation import float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.decisions.core import CostTable, allocate_rows, choose_actions
from veridical.exceptions import invalid


class DecisionProcess(ABC):
    """Base of decision processes: decides on probabilities alone, then is paid by what occurs.

    A subclass says what every row would be worth under every class (`payoffs`). As the decision
    never sees the class, the worth of a row is known for all of them at once, and with a known
    truth its expectation needs no draw of the class.

    Attributes
    ----------
    kind : {"cost", "value"}
        Whether values are costs with a minus sign, which is a matter of words only.
    coupled : bool
        Whether what one row gets depends on the other rows, as under a common budget.
    """

    kind: ClassVar[str] = "value"
    coupled: ClassVar[bool] = False

    @property
    @abstractmethod
    def definition(self) -> str:
        """The process in words."""

    @abstractmethod
    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Value (n, K) of the decision on each row if each class occurs; higher is better."""

    def value(
        self, y: IntArray, y_prob: FloatArray, *, truth: FloatArray | None = None
    ) -> FloatArray:
        """Value of each row; higher is better.

        Parameters
        ----------
        y : integer array of shape (n,)
            Class that occurred, an index into the columns of `y_prob`.
        y_prob : array of shape (n, K)
            What is decided on; for two classes the second is the positive one.
        truth : array of shape (n, K), optional
            True probabilities: then the value expected under them, whatever `y` is.

        Returns
        -------
        array of shape (n,)
        """
        payoffs = self.payoffs(y_prob)
        if truth is None:
            return np.asarray(payoffs[np.arange(len(y)), y])
        return _expected(payoffs, truth)

    def without_model(
        self, y: IntArray, prior: FloatArray, *, truth: FloatArray | None = None
    ) -> FloatArray:
        """Value of each row if all that is known are the shares of the classes.

        Rows that cannot be told apart share what a budget gives to some of them.
        """
        each = self.payoffs(np.tile(prior, (len(y), 1))).mean(axis=0)
        return np.asarray(each[y]) if truth is None else _expected(each, truth)


@dataclass(frozen=True, eq=False)
class CostProcess(DecisionProcess):
    """Takes in each row the action of least expected cost; the value is minus the cost that came.

    Parameters
    ----------
    costs : array-like of shape (K, A), or (false_positive, false_negative)
        Cost of each action (columns) if each class (rows) is the true one, in any unit.
    abstain_cost : float, optional
        What it costs to leave a row undecided, whatever its class.

    Notes
    -----
    The Bayes decision of :func:`decide`; no rule does better on true probabilities. For two
    classes it compares the probability with one threshold, so a miscalibrated model loses only on
    rows it moves across it: with equal costs and a map that keeps the largest component, on none.

    Examples
    --------
    A miss costs 5, a false alarm 1, so alarm above 1/6; reported 0.1 is no alarm.

    >>> import numpy as np
    >>> process = CostProcess((1, 5))
    >>> process.payoffs(np.array([[0.9, 0.1], [0.4, 0.6]])).tolist()
    [[0.0, -5.0], [-1.0, 0.0]]
    """

    costs: Any
    abstain_cost: float | None = None
    _table: FloatArray = field(init=False, repr=False)
    kind = "cost"

    def __post_init__(self) -> None:
        caller = "CostProcess"
        table = float_array(self.costs, caller=caller, param="costs").astype(np.float64)
        if table.shape == (2,):
            table = np.array([[0.0, table[0]], [table[1], 0.0]])
        hint = "one row for each class, one column for each action."
        if table.ndim != 2 or len(table) < 2 or table.shape[1] == 0 or not np.isfinite(table).all():
            expected = "finite, of shape (K, A) or (false_positive, false_negative)"
            raise invalid(caller, "costs", expected, f"{self.costs!r}", hint=hint)
        if self.abstain_cost is not None:
            check_finite(caller, "abstain_cost", self.abstain_cost)
            table = np.column_stack([table, np.full(len(table), float(self.abstain_cost))])
        object.__setattr__(self, "_table", read_only(table))

    @property
    def definition(self) -> str:
        """Size of the costs in words."""
        n_classes, n_actions = self._table.shape
        abstain = "" if self.abstain_cost is None else ", the last to abstain"
        return f"least expected cost of {n_classes} classes x {n_actions} actions{abstain}"

    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Minus the cost of the chosen action under each class."""
        check_class_count("CostProcess", "costs", len(self._table), y_prob)
        n_actions = self._table.shape[1]
        costs = CostTable(self._table, None, tuple(range(n_actions)))
        choice = choose_actions(y_prob, costs, single=y_prob.dtype == np.float32).action
        return np.asarray(0.0 - self._table.T[choice])  # no minus zeros


@dataclass(frozen=True)
class ThresholdProcess(DecisionProcess):
    """Acts on a row if its probability reaches a fixed threshold; the value is minus the cost.

    Parameters
    ----------
    threshold : float
        Act where the probability of the second class is at least this.
    cost_fp, cost_fn : float, default 1
        Cost of acting on a negative, and of not acting on a positive.

    Notes
    -----
    A rule as users write it. Where the threshold is not that of :func:`cost_threshold`, a
    miscalibrated model may by chance do better than a calibrated one.

    Examples
    --------
    >>> import numpy as np
    >>> process = ThresholdProcess(0.3, cost_fp=1, cost_fn=4)
    >>> process.value(np.array([0, 1]), np.array([[0.7, 0.3], [0.8, 0.2]])).tolist()
    [-1.0, -4.0]
    """

    threshold: float
    cost_fp: float = 1.0
    cost_fn: float = 1.0
    kind = "cost"

    def __post_init__(self) -> None:
        caller = "ThresholdProcess"
        for name in ("threshold", "cost_fp", "cost_fn"):
            check_finite(caller, name, getattr(self, name))
        if not 0 <= self.threshold <= 1:
            hint = "a threshold is a probability."
            raise invalid(caller, "threshold", "in [0, 1]", f"{self.threshold:.6g}", hint=hint)

    @property
    def definition(self) -> str:
        """The rule in words."""
        return f"acts from {self.threshold:g} on, costs {self.cost_fp:g} : {self.cost_fn:g}"

    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Minus the cost of a false alarm, and of a miss."""
        check_class_count("ThresholdProcess", "threshold", 2, y_prob)
        acts = y_prob[:, 1] >= self.threshold
        negative, positive = np.where(acts, -self.cost_fp, 0.0), np.where(acts, 0.0, -self.cost_fn)
        return np.column_stack([negative, positive])


@dataclass(frozen=True)
class CallableProcess(DecisionProcess):
    """Any function of classes and probabilities that returns the value of each row.

    Parameters
    ----------
    function : callable
        Takes `y` (n,) of class indices and `y_prob` (n, K), returns n values; higher is better.
        It must decide on `y_prob` alone.

    Examples
    --------
    >>> import numpy as np
    >>> profit = CallableProcess(lambda y, p: np.where(p[:, 1] > 0.5, 3.0 * y - 1, 0.0))
    >>> profit.value(np.array([0, 1]), np.array([[0.2, 0.8], [0.1, 0.9]])).tolist()
    [-1.0, 2.0]
    """

    function: Callable[[IntArray, FloatArray], ArrayLike]
    coupled = True  # as far as is known

    @property
    def definition(self) -> str:
        """Name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Values if the same class occurs in all rows."""
        n, k = y_prob.shape
        return np.column_stack([self.value(np.full(n, j), y_prob) for j in range(k)])

    def value(
        self, y: IntArray, y_prob: FloatArray, *, truth: FloatArray | None = None
    ) -> FloatArray:
        """Answer of the function for the classes that occurred; `truth` is not used."""
        values = np.asarray(self.function(y, y_prob), dtype=np.float64)
        if values.shape != (len(y),) or np.isnan(values).any():
            hint = "return one number for each row."
            got = f"shape {values.shape}, {int(np.isnan(values).sum())} not a number"
            raise invalid("simulate_decisions", "process", f"{len(y)} values", got, hint=hint)
        return values

    def without_model(
        self, y: IntArray, prior: FloatArray, *, truth: FloatArray | None = None
    ) -> FloatArray:
        """Answer of the function if every row has the shares of the classes."""
        return self.value(y, np.tile(prior, (len(y), 1)))


def _expected(payoffs: FloatArray, truth: FloatArray) -> FloatArray:
    """Mean payoff of each row; what cannot happen adds nothing, even if it would be ruin."""
    return np.asarray((truth * np.where(truth > 0, payoffs, 0.0)).sum(axis=1))


def as_process(process: Any, *, caller: str) -> DecisionProcess:
    """Return the process; a function becomes one."""
    if isinstance(process, DecisionProcess):
        return process
    if callable(process) and not isinstance(process, type):
        return CallableProcess(process)
    hint = "e.g. `CostProcess((1, 5))`, or a function of (y, y_prob)."
    raise invalid(caller, "process", "a decision process or a function", repr(process), hint=hint)


def check_class_count(caller: str, param: str, n_classes: int, y_prob: FloatArray) -> None:
    """Raise unless the probabilities are of as many classes as the process is for."""
    if y_prob.shape[1] != n_classes:
        hint = "the process and the predictions must have the same classes."
        got = f"{n_classes} for predictions of {y_prob.shape[1]} classes"
        raise invalid(caller, param, f"for {y_prob.shape[1]} classes", got, hint=hint)


def check_finite(caller: str, param: str, value: object) -> None:
    """Raise unless the value is a finite number."""
    if not is_number(value):
        hint = "pass a number in the unit of your costs."
        raise invalid(caller, param, "a finite number", repr(value), hint=hint)


def read_only(table: FloatArray) -> FloatArray:
    """The same array, protected."""
    table.setflags(write=False)
    return table


_CALLER = "AllocationProcess"


@dataclass(frozen=True, eq=False)
class AllocationProcess(DecisionProcess):
    """Gives every row one option so that the expected benefit is largest within a budget.

    Parameters
    ----------
    benefits : array-like of shape (K, A)
        What each option (columns) is worth if each class (rows) is the true one.
    action_costs : array-like of shape (A,)
        What each option takes from the budget; let one cost nothing if rows may be left alone.
    budget : float
        Mean cost a row that may be spent, so that it means the same for any number of rows.

    Notes
    -----
    The options are those of :func:`allocate` on ``y_prob @ benefits``; the value is the benefit
    that came, without what was spent. Rows compete: with two classes, two options and a budget
    for some of the rows only their order counts, which an increasing map of the probabilities
    leaves as it is. With more of either, distances count too, and miscalibration may cost much.

    Examples
    --------
    Three rows, and budget for one treatment, which helps the ill by 10:

    >>> import numpy as np
    >>> process = AllocationProcess([[0, 0], [0, 10]], [0, 1], budget=1 / 3)
    >>> process.payoffs(np.array([[0.8, 0.2], [0.1, 0.9], [0.4, 0.6]])).tolist()
    [[0.0, 0.0], [0.0, 10.0], [0.0, 0.0]]
    """

    benefits: ArrayLike
    action_costs: ArrayLike
    budget: float
    coupled = True

    def __post_init__(self) -> None:
        table = float_array(self.benefits, caller=_CALLER, param="benefits").astype(np.float64)
        if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
            hint = "one row for each class, one column for each option."
            got = f"shape {table.shape}"
            raise invalid(_CALLER, "benefits", "finite, of shape (K, A)", got, hint=hint)
        price = float_array(self.action_costs, caller=_CALLER, param="action_costs")
        price = price.astype(np.float64)
        if price.shape != table.shape[1:] or not (price >= 0).all():
            hint = "give one cost of zero or more for each column of `benefits`."
            expected = f"{table.shape[1]} numbers of zero or more"
            raise invalid(_CALLER, "action_costs", expected, f"{self.action_costs!r}", hint=hint)
        check_finite(_CALLER, "budget", self.budget)
        if self.budget < price.min():
            hint = "raise the budget, or add an option of cost 0."
            expected = f"at least {price.min():.6g}, the cost of the cheapest option"
            raise invalid(_CALLER, "budget", expected, f"{self.budget:.6g}", hint=hint)
        object.__setattr__(self, "benefits", read_only(table))
        object.__setattr__(self, "action_costs", read_only(price))

    @property
    def definition(self) -> str:
        """Size and budget in words."""
        n_classes, n_options = np.shape(self.benefits)
        return (
            f"largest benefit of {n_classes} classes x {n_options} options"
            f" within {self.budget:g} a row"
        )

    def payoffs(self, y_prob: FloatArray) -> FloatArray:
        """Benefit of the option of each row under each class."""
        benefits = np.asarray(self.benefits)
        check_class_count(_CALLER, "benefits", len(benefits), y_prob)
        expected = np.asarray(y_prob, dtype=np.float64) @ benefits
        price_list = np.broadcast_to(np.asarray(self.action_costs), expected.shape)
        choice = allocate_rows(expected, price_list, self.budget * len(y_prob)).choice
        return np.asarray(benefits.T[choice])


_KELLY = "KellyProcess"
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
        odds = float_array(self.odds, caller=_KELLY, param="odds").astype(np.float64)
        if odds.ndim != 1 or len(odds) < 2 or not (np.isfinite(odds) & (odds >= 0)).all():
            hint = "decimal odds: 2 is even money, 0 no bet."
            expected = "one non-negative number for each class"
            raise invalid(_KELLY, "odds", expected, f"{self.odds!r}", hint=hint)
        if not (is_number(self.fraction) and 0 < self.fraction <= 1):
            hint = "1 bets what grows fastest, 0.5 half of it."
            raise invalid(_KELLY, "fraction", "in (0, 1]", repr(self.fraction), hint=hint)
        object.__setattr__(self, "odds", read_only(odds))

    @property
    def definition(self) -> str:
        """Odds and fraction in words."""
        odds = ", ".join(f"{o:g}" for o in np.asarray(self.odds)[:6])
        return f"log growth of wealth at odds {odds}, fraction {self.fraction:g}"

    def stakes(self, y_prob: FloatArray) -> FloatArray:
        """Share of wealth staked on each class, (n, K)."""
        odds = np.asarray(self.odds)
        check_class_count(_KELLY, "odds", len(odds), y_prob)
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
