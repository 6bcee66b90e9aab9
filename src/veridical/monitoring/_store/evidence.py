"""E-processes of several streams of rows, advanced a batch at a time."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical.inference.core import Bets
from veridical.monitoring._store.counts import Tally, centres
from veridical.monitoring._store.plan import aside, log_prior


class EProcesses:
    r"""Wealth of gamblers who bet against the predictions, one for each stream.

    The bets are those of `EProcess`, taken a batch at a time: the rival forecast is a function of
    the cell of a prediction, so the wealth of a batch is a function of its counts,

    .. math:: \log W_g = \sum_c n_{c1} \log q_g(c) + n_{c0} \log(1 - q_g(c)) - \ell,

    with :math:`\ell` the log likelihood of the predictions as they were, not of their cells. Each
    row's factor has mean 1 if its prediction is right, whatever the rival says, so wealth is a
    martingale and P(it ever reaches 1 / alpha) <= alpha (Ville); that rivals are constant within
    a cell of width 1/32 in log odds costs them about 1e-5 nats a row and validity nothing.

    A rival may begin at any batch: what a batch of known size takes from what is set aside
    (`plan.aside`) is spread over the rivals before the batch is looked at.

    Attributes
    ----------
    edition : of the bets
    scale : of what is set aside, shape (S,)
    wealth : log wealth of each rival, shape (S, G)
    n_rows : rows of each stream, shape (S,)
    log_e, log_max : log of the evidence after the last batch, and its largest value ever
    """

    def __init__(self, scale: ArrayLike = (), *, edition: int = 2) -> None:
        rivals = len(_bets())
        self.edition = edition
        self.scale: FloatArray = np.asarray(scale, dtype=np.float64)
        n_streams = len(self.scale)
        self.wealth: FloatArray = np.full((n_streams, rivals), -np.inf)
        self.n_rows: FloatArray = np.zeros(n_streams)
        self.log_e: FloatArray = np.zeros(n_streams)
        self.log_max: FloatArray = np.zeros(n_streams)

    def add_stream(self, scale: float) -> None:
        """Open one more stream, without rows yet."""
        more = EProcesses([scale])
        for name in ("scale", "wealth", "n_rows", "log_e", "log_max"):
            setattr(self, name, np.concatenate([getattr(self, name), getattr(more, name)]))

    def advance(self, batch: Tally) -> FloatArray:
        """Bet on a batch; returns each stream's log factors, (S, G), zero without rows."""
        factors = log_factors(batch)
        self.bet(factors, batch.rows)
        return factors

    def bet(self, factors: FloatArray, rows: FloatArray) -> None:
        """Bet on a batch with so many rows of each stream and these log factors, (S, G)."""
        before, after = (aside(n, self.scale) for n in (self.n_rows, self.n_rows + rows))
        with np.errstate(divide="ignore"):
            begun = log_prior(self.edition) + np.log(before - after)[:, None]
        self.wealth = np.logaddexp(self.wealth, begun) + factors
        self.n_rows = self.n_rows + rows
        self.log_e = np.logaddexp(np.log(after), np.logaddexp.reduce(self.wealth, axis=1))
        self.log_max = np.maximum(self.log_max, self.log_e)

    def direction(self, stream: int) -> str:
        """What the rivals that hold most of a stream's wealth say is wrong."""
        total: dict[str, float] = {}
        for words, value in zip(_bets().words, self.wealth[stream].tolist(), strict=True):
            total[words] = float(np.logaddexp(total.get(words, -np.inf), value))
        return max(total, key=total.__getitem__)


def log_factors(batch: Tally) -> FloatArray:
    """Log likelihood ratio of every rival to the predictions over a batch, (S, G)."""
    happened, missed = log_rivals()
    total = batch.counts.sum(axis=0)
    seen = np.flatnonzero(total[:, 0] + total[:, 1])  # a tenth of the time of `any`
    counts = batch.counts[:, seen]
    # Not a matrix product: for so few rows threads of the linear algebra only wait for each other.
    gained = np.einsum("sc,cg->sg", counts[:, :, 1], happened[seen])
    gained += np.einsum("sc,cg->sg", counts[:, :, 0], missed[seen])
    return gained - batch.log_likelihood[:, None]


@cache
def _bets() -> Bets:
    return Bets("two-sided")


@cache
def log_rivals() -> tuple[FloatArray, FloatArray]:
    """Log probability of each outcome by cell and rival, two arrays (N_CELLS, G)."""
    p = centres()
    one, none = np.ones(len(p), dtype=np.intp), np.zeros(len(p), dtype=np.intp)
    happened = _bets().log_factors(one, p) + np.log(p)
    missed = _bets().log_factors(none, p) + np.log1p(-p)
    return np.ascontiguousarray(happened.T), np.ascontiguousarray(missed.T)


def n_rivals() -> int:
    """How many rivals bet against the predictions of each stream."""
    return len(_bets())


def exp_or_inf(log: float) -> float:
    """Exponential, infinite where it is too large for a float."""
    return math.exp(log) if log < 700 else math.inf
