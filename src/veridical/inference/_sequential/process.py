"""Bets against a forecaster, whose wealth is evidence that may be looked at after every row."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np

from veridical._core.data.validation import check_option, check_sample, is_integer
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, BoolArray, FloatArray, IntArray
from veridical.exceptions import invalid

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")

_SHIFTS = np.array([0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0])  # of the log odds, either way
_SLOPES = np.exp([0.05, 0.1, 0.2, 0.4, 0.8])  # and their inverses
_JOINT_SHIFTS = np.array([0.2, 0.6])
_JOINT_SLOPES = np.exp([0.2, 0.4])
_LOCAL_SHIFTS = np.array([0.35, 0.9])
# Ranges of predictions for local bets: finer at both ends, where log odds change fast.
_EDGES = np.array([0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99])
_N_RANGES = len(_EDGES) + 1


class Bets:
    """A fixed family of rival forecasts of a prediction p, each a simple map of its log odds.

    Shifts ``logit q = logit p + a``, slopes ``logit q = b logit p``, both together, and shifts
    within one range of predictions only. Each kind has an equal part of the prior. One-sided
    families hold the shifts to that side alone, since a bet against "outcomes are at most as
    frequent as predicted" is fair only if q >= p everywhere.

    In order: the maps of all predictions first, then the local ones, range by range.
    """

    def __init__(self, alternative: Alternative) -> None:
        self.alternative = alternative
        shifts, local = (_sides(values, alternative) for values in (_SHIFTS, _LOCAL_SHIFTS))
        self._shift, self._slope = shifts, np.ones(len(shifts))
        kinds = [np.zeros(len(shifts))]
        if alternative == "two-sided":
            slopes = np.concatenate([1 / _SLOPES[::-1], _SLOPES])
            joint = np.concatenate([1 / _JOINT_SLOPES[::-1], _JOINT_SLOPES])
            sides = _sides(_JOINT_SHIFTS, alternative)
            self._shift = np.concatenate([shifts, 0 * slopes, np.repeat(sides, len(joint))])
            self._slope = np.concatenate([self._slope, slopes, np.tile(joint, len(sides))])
            kinds += [np.full(len(slopes), 1), np.full(len(sides) * len(joint), 2)]
        self._local = local
        kind = np.concatenate([*kinds, np.full(_N_RANGES * len(local), 3)])
        counts = np.unique(kind, return_inverse=True, return_counts=True)
        self.log_prior: FloatArray = -np.log(len(counts[0]) * counts[2][counts[1]])

    def __len__(self) -> int:
        return len(self.log_prior)

    @property
    def maps(self) -> tuple[FloatArray, FloatArray]:
        """Shifts and slopes of the maps of all predictions, which come first."""
        return self._shift, self._slope

    def log_factors(self, y: IntArray, p: FloatArray) -> FloatArray:
        """Log likelihood ratio of each rival to the prediction, (rivals, rows).

        A prediction of 0 or 1 leaves nothing to bet on: the ratio is 1 if it comes true, and
        infinite if not, since that refutes the forecaster.
        """
        p = p.astype(np.float64, copy=False)
        certain = (p == 0) | (p == 1)
        inner = np.where(certain, 0.5, p)
        sign = np.where(y == 1, 1.0, -1.0)
        odds = sign * (np.log(inner) - np.log1p(-inner))
        surprise = _softplus(-odds)  # minus the log probability of what happened
        n_maps, n_local = len(self._shift), len(self._local)
        factors = np.zeros((len(self), len(p)))
        maps = -(np.multiply.outer(self._slope, odds) + np.multiply.outer(self._shift, sign))
        factors[:n_maps] = surprise - _softplus(maps)
        local = -(odds + np.multiply.outer(self._local, sign))
        first = n_maps + np.searchsorted(_EDGES, p, side="left") * n_local
        rivals = first + np.arange(n_local)[:, None]
        factors[rivals, np.arange(len(p))] = surprise - _softplus(local)
        if certain.any():
            factors[:, certain] = 0.0
            factors[:, self._refuted(y, p)] = np.inf
        return factors

    def _refuted(self, y: IntArray, p: FloatArray) -> BoolArray:
        """Rows whose outcome had probability zero under the hypothesis."""
        above, below = (p == 0) & (y == 1), (p == 1) & (y == 0)
        return {"two-sided": above | below, "greater": above, "less": below}[self.alternative]

    @cached_property
    def words(self) -> list[str]:
        """What each rival says is wrong with the predictions."""
        words = []
        for shift, slope in zip(self._shift, self._slope, strict=True):
            frequent = _frequency(shift) if shift else ""
            extreme = "" if slope == 1 else f"predictions {_extreme(slope)}"
            words.append(" and ".join(filter(None, (frequent, extreme))))
        ends = [0.0, *_EDGES.tolist(), 1.0]
        for low, high in pairwise(ends):
            where = f"where predictions are between {low:g} and {high:g}"
            words += [f"{_frequency(shift)} {where}" for shift in self._local]
        return words


def _sides(values: FloatArray, alternative: Alternative) -> FloatArray:
    """Shifts up, down or both."""
    up, down = values, -values[::-1]
    return {"two-sided": np.concatenate([down, up]), "greater": up, "less": down}[alternative]


def _softplus(x: FloatArray) -> FloatArray:
    """Return log(1 + exp(x)) without overflow."""
    result = np.abs(x)
    np.negative(result, out=result)
    np.exp(result, out=result)
    result += 1.0  # the absolute error of 1e-16 is what adding logs costs anyway
    np.log(result, out=result)
    result += np.maximum(x, 0.0)
    return result


def _frequency(shift: float) -> str:
    return f"outcomes {'more' if shift > 0 else 'less'} frequent than predicted"


def _extreme(slope: float) -> str:
    return "too extreme" if slope < 1 else "not extreme enough"


ONSET_ROWS = 100  # miscalibration may begin at any multiple of so many rows
_ROWS = 1024  # rows a stream at a time: the rivals' wealth fits in the second-level cache
_VERSION = 1  # of the saved state: another family of bets is another process


class EProcess:
    r"""Wealth of a gambler who bets against the predictions, row by row.

    Parameters
    ----------
    lag : int, default 1
        The outcome of a row is known before the prediction of the row `lag` later is made.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        What is bet on: "greater" that outcomes are more frequent than predicted.

    Attributes
    ----------
    n_rows : rows seen
    log_e : log of the average wealth of the streams after the last row
    log_max : log of the largest evidence so far, at least 0

    Notes
    -----
    The rival forecast q multiplies wealth by :math:`(q/p)^y ((1-q)/(1-p))^{1-y}`, which is 1 on
    average if p is right [1]_. Wealth is spread over a fixed family of rivals (shifts and slopes
    of the log odds, and shifts within a range of predictions) and over the moment at which
    miscalibration begins, any multiple j of 100 rows with prior
    :math:`(1+j)^{-1/2} - (2+j)^{-1/2}`; what has not begun is kept aside. A mixture of fair bets
    is fair: under calibration :math:`P(\sup_t e_t \ge 1/\alpha) \le \alpha` (Ville's inequality)
    for any order, dependence and distribution of predictions.

    With lag h > 1 each of h interleaved streams of rows is a game of its own and e is the mean of
    their wealth. That mean is an e-value at a row fixed in advance, or fixed h - 1 rows before,
    but not at any stopping time [2]_. What `update` returns is therefore guarded as in [2]_: it
    counts the last h - 1 rows with the outcome that pays less, so that P(sup >= 1 / alpha) <=
    alpha again holds at every look.

    Rows in batches of any sizes give the same path. Time O(n G) for G = 88 rivals (two-sided),
    state O(lag G).

    References
    ----------
    .. [1] Henzi & Ziegel (2022), Biometrika 109, 647-663, arXiv 2103.08402; Arnold, Henzi &
       Ziegel (2023), Annals of Applied Statistics 17, 1909-1935, arXiv 2109.11761.
    .. [2] Henzi & Ziegel (2022), Correction, Biometrika 109, 1181-1182 (Proposition 2).

    Examples
    --------
    >>> process = EProcess()
    >>> process.update([1, 0], [1.0, 0.0]).round(9).tolist()  # certain and right: nothing to win
    [0.0, 0.0]
    >>> process.update([1], [0.0]).tolist()  # certain and wrong
    [inf]
    """

    def __init__(self, *, lag: int = 1, alternative: Alternative = "two-sided") -> None:
        caller = "EProcess"
        self.lag = check_lag(lag, caller=caller)
        check_option(caller, "alternative", alternative, ALTERNATIVES)
        self.alternative = alternative
        self.n_rows = 0
        self.log_e = 0.0
        self.log_max = 0.0
        self._bets = Bets(alternative)
        self._wealth = np.full((self.lag, len(self._bets)), -np.inf)  # logs; none has begun
        # Wealth of the streams after each of the last rows, as it was and with the worse outcome.
        self._recent = np.zeros((2, self.lag - 1))

    def update(self, y: ArrayLike, p: ArrayLike) -> FloatArray:
        """Play on with outcomes 0/1 and predictions; log evidence after each of these rows."""
        caller = "EProcess.update"
        sample = check_sample(y, p, caller=caller, labels=(0, 1))
        if not isinstance(sample, BinarySample):
            hint = "pass the probability of outcome 1."
            raise invalid(caller, "p", "of shape (n,)", f"{sample.p.shape}", hint=hint)
        return self.advance(sample.y, sample.p)

    def advance(self, y: IntArray, p: FloatArray) -> FloatArray:
        """`update` for checked data."""
        path = np.empty(len(y))
        for block in row_blocks(len(y), _ROWS * min(self.lag, 16)):
            path[block] = self._advance(y[block], p[block])
        return path

    def _advance(self, y: IntArray, p: FloatArray) -> FloatArray:
        n, lag = len(y), self.lag
        actual, least = np.empty(n), np.empty(n)
        for offset in range(min(lag, n)):
            rows = slice(offset, None, lag)
            played, stream = divmod(self.n_rows + offset, lag)
            actual[rows], least[rows] = self._play(stream, played, y[rows], p[rows])
        actual, least = (
            np.concatenate([before, now])
            for before, now in zip(self._recent, (actual, least), strict=True)
        )
        # After each row: the oldest of the last `lag` rows as it was, younger ones at their least.
        window = np.lib.stride_tricks.sliding_window_view(least, lag).copy()
        window[:, 0] = actual[:n]
        path = _log_sum(window.T) - math.log(lag)
        self.n_rows += n
        self.log_e = float(_log_sum(actual[n - 1 :, None])[0]) - math.log(lag)
        self.log_max = max(self.log_max, float(path.max()))
        self._recent = np.stack([actual[n:], least[n:]])
        return path

    def _play(
        self, stream: int, played: int, y: IntArray, p: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log wealth of a stream after each of its next rows: as it is, and at its least."""
        factors = self._bets.log_factors(y, p)
        before = np.zeros_like(factors)
        np.cumsum(factors[:, :-1], axis=1, out=before[:, 1:])
        number = played + np.arange(len(y))
        begins = np.flatnonzero(number % ONSET_ROWS == 0)
        onset = number // ONSET_ROWS
        begun = self._bets.log_prior[:, None] + _log_begun(onset[begins]) - before[:, begins]
        held = np.concatenate([self._wealth[stream][:, None], begun], axis=1)
        np.logaddexp.accumulate(held, axis=1, out=held)
        before += held[:, np.searchsorted(begins, np.arange(len(y)), side="right")]
        aside = -0.5 * np.log(onset + 2.0)
        factors += before
        self._wealth[stream] = factors[:, -1]
        actual = np.logaddexp(aside, _log_sum(factors))
        if self.lag == 1:
            return actual, actual
        before += self._bets.log_factors(1 - y, p)
        return actual, np.minimum(actual, np.logaddexp(aside, _log_sum(before)))

    @property
    def direction(self) -> str:
        """What the rivals that hold most of the wealth say is wrong."""
        wealth = np.logaddexp.reduce(self._wealth, axis=0)
        total: dict[str, float] = {}
        for words, value in zip(self._bets.words, wealth.tolist(), strict=True):
            total[words] = float(np.logaddexp(total.get(words, -np.inf), value))
        return max(total, key=total.__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe state; `from_dict` goes on from there."""
        return {
            "version": _VERSION,
            "lag": self.lag,
            "alternative": self.alternative,
            "n_rows": self.n_rows,
            "log_e": _encode(self.log_e),
            "log_max": _encode(self.log_max),
            "wealth": [[_encode(value) for value in row] for row in self._wealth.tolist()],
            "recent": [[_encode(value) for value in row] for row in self._recent.tolist()],
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """Read back what `to_dict` wrote."""
        if state.get("version") != _VERSION:
            hint = "start a new process; wealth of other bets cannot be carried on."
            got = repr(state.get("version"))
            raise invalid("EProcess.from_dict", "state", f"of version {_VERSION}", got, hint=hint)
        process = cls(lag=state["lag"], alternative=state["alternative"])
        process.n_rows = int(state["n_rows"])
        process.log_e, process.log_max = float(state["log_e"]), float(state["log_max"])
        process._wealth = np.array(state["wealth"], dtype=np.float64)
        process._recent = np.array(state["recent"], dtype=np.float64).reshape(2, -1)
        return process


def check_lag(lag: Any, *, caller: str) -> int:
    """Return the lag as a positive integer."""
    if not (is_integer(lag) and lag >= 1):
        hint = "1 if each outcome is known before the next prediction is made."
        raise invalid(caller, "lag", "a positive integer", repr(lag), hint=hint)
    return int(lag)


def _log_begun(onset: IntArray) -> FloatArray:
    """Log of (1 + j)^(-1/2) - (2 + j)^(-1/2), without cancellation."""
    first, second = np.sqrt(onset + 1.0), np.sqrt(onset + 2.0)
    return -np.log(first * second * (first + second))


def _log_sum(logs: FloatArray) -> FloatArray:
    """Log of the sum of exponentials of each column; infinite where one is."""
    top = logs.max(axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    return shift + np.log(np.exp(logs - shift).sum(axis=0))


def _encode(value: float) -> float | str:
    return value if math.isfinite(value) else repr(value)
