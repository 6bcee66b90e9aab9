"""Evidence against calibration that may be looked at after every row."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical._core.validation import check_option, check_sample, is_integer
from veridical.exceptions import invalid
from veridical.inference._sequential_bets import ALTERNATIVES, Alternative, Bets

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
