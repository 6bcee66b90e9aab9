"""Isotonic regression: the best non-decreasing map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.data.options import check_flag
from veridical._core.data.schema import ANY, Fields, Number, Numbers, Relations
from veridical._core.formula import Clip, Linear, Nodes, Quotient, interpolation
from veridical._core.numeric.pava import IsotonicBlocks, isotonic_blocks
from veridical._core.typing import FloatArray
from veridical.binning.counts import SortedScores
from veridical.calibrators._base.bases import BinaryCalibrator, WeightedOutcomes
from veridical.calibrators._base.nodes import outputs_from_positive, positive_value
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._base.words import share
from veridical.calibrators._steps.pieces import check_laplace, interpolate, mix, pool_rows

_RANK_KNOTS = 1000
_ROUNDING = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class IsotonicCalibrator(BinaryCalibrator):
    r"""Non-decreasing map closest to the outcomes, by pool-adjacent-violators.

    Any monotone distortion can be undone; the price is variance, of order :math:`n^{-1/3}`, so it
    needs a few thousand rows (004 section 86.5.2). Distinct scores may get equal probabilities.

    Parameters
    ----------
    centered : bool, default False
        Put the frequency of each block at the mean score of its rows and interpolate between
        blocks (centred isotonic regression [2]_): no long flat steps. Blocks of frequency 0 or 1
        keep both ends, as in the authors' R package `cir`.
    strict : bool, default False
        Increase strictly, so that ranks, and with them the AUC, stay exactly as they were.
    laplace : float, default 1
        Imagined rows of each class, which keep the map off 0 and 1; 0 turns the guard off.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; only their order matters, and distances between blocks.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters: for `laplace` and `strict`.

    Attributes
    ----------
    knots_, values_ : arrays of shape (k,)
        Scores and probabilities between which the map is linear; constant outside.
    tail_ : float
        How far a strict map still moves outside its knots, else 0.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Equal scores are pooled first. Of

    .. math:: \min_{g \text{ non-decreasing}} \sum_i w_i (g(s_i) - y_i)^2

    the solution is constant on blocks; between the last score of a block and the first of the next
    it is interpolated linearly, outside the scores seen it is constant, as in scikit-learn's
    `IsotonicRegression`. The same map is optimal under every proper score [1]_.

    The guard turns g into (n g + a) / (n + 2 a), with a = `laplace`: without it a held-out
    outcome on an end step costs an infinite log loss.

    The strict map is :math:`(1 - u)\,g(s) + u\,r(s)` with :math:`u = 1 / (1 + n^{2/3})`, the
    square of the map's own error and thus small beside it. r is strictly increasing from 0 to 1:
    the share of scores below s, from 1/4 to 3/4, linear between 1,000 quantiles; outside the
    scores seen it goes on as d / (d + range) with the distance d. Scores may still meet if they
    differ by less than floating point can show.

    Time O(n log n).

    References
    ----------
    .. [1] Dimitriadis, Gneiting & Jordan (2021), PNAS 118, e2016191118,
       doi 10.1073/pnas.2016191118.
    .. [2] Oron & Flournoy (2017), Statistics in Biopharmaceutical Research 9, 258-267,
       arXiv 1701.05964.
    .. [3] Zadrozny & Elkan (2002), KDD, doi 10.1145/775047.775151.

    Examples
    --------
    >>> p, y = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]  # 0.2 and 0.3 are pooled: 0, 1/2, 1/2, 1
    >>> IsotonicCalibrator(laplace=0).fit(p, y).predict_proba([0.05, 0.15, 0.25])[:, 1]
    array([0.  , 0.25, 0.5 ])
    >>> IsotonicCalibrator().fit(p, y).predict_proba([0.05])[:, 1]  # (4 * 0 + 1) / (4 + 2)
    array([0.16666667])
    """

    _fitted = Fields(
        knots_=Numbers("m", low=-ANY, high=ANY, increasing=True, least=1),
        values_=Numbers("m", low=0, high=1),
        tail_=Number(low=0, high=1),
    )

    centered: bool = False
    strict: bool = False
    laplace: float = 1.0

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_laplace(caller, self.laplace)
        check_flag(caller, "centered", self.centered)
        check_flag(caller, "strict", self.strict)

    def _relations(self) -> Relations:
        yield from super()._relations()
        rises = bool((np.diff(self.values_) >= -_ROUNDING).all())
        yield "values_", rises, "non-decreasing"
        room = min(float(self.values_[0]), 1 - float(self.values_[-1]))
        yield "tail_", self.tail_ <= room + _ROUNDING, "no larger than what is left to 0 and 1"

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> None:
        pooled = pool_rows(scores.value, rows)
        blocks = isotonic_blocks(pooled.weight, pooled.positive)
        knots, values = (_centred if self.centered else _step_ends)(pooled, blocks)
        tail = 0.0
        if self.strict:
            share = 1 / (1 + rows.size ** (2 / 3))
            rank_knots, ranks = _ranks(pooled)
            both = np.union1d(knots, rank_knots)
            rank = share * interpolate(rank_knots, ranks, both)
            knots, values = both, (1 - share) * interpolate(knots, values, both) + rank
            tail = share / 4
        self.knots_ = knots
        self.values_ = mix(values, rows.size, self.laplace)
        self.tail_ = tail * rows.size / (rows.size + 2 * self.laplace)

    def _map(self, scores: BinaryScores) -> FloatArray:
        p = interpolate(self.knots_, self.values_, scores.value)
        if self.tail_:
            low, high = self.knots_[0], self.knots_[-1]
            width = high - low if high > low else 1.0
            for sign, distance in ((-1, low - scores.value), (1, scores.value - high)):
                distance = np.maximum(distance, 0.0)
                p += sign * self.tail_ * (distance / (distance + width))
        return p

    def _formula(self, inputs: Nodes) -> Nodes:
        value, knots = positive_value(self, inputs), self.knots_
        p = interpolation(value, knots, self.values_)
        if self.tail_:
            low, high = float(knots[0]), float(knots[-1])
            width, tail = (high - low if high > low else 1.0), self.tail_
            below = Clip(Linear(((-1.0, value),), low), 0.0)
            above = Clip(Linear(((1.0, value),), -high), 0.0)
            outside = ((sign * tail, away) for sign, away in ((-1, below), (1, above)))
            tails = ((w, Quotient(away, Linear(((1.0, away),), width))) for w, away in outside)
            p = Linear(((1.0, p), *tails))
        return outputs_from_positive(self, p)

    def _in_words(self) -> str:
        levels = np.unique(self.values_)
        low, high = share(float(levels[0])), share(float(levels[-1]))
        if self.tail_ and low == high:
            return f"Rises everywhere, but hardly: it is {low} where it was fitted."
        if self.tail_:
            return f"Rises everywhere, from {low} to {high} between the scores it was fitted to."
        if len(levels) == 1:
            return f"Says {low} whatever the score."
        return (
            f"Rises through {len(levels):,} levels, from {low} to {high}, joined by straight lines."
        )


def _step_ends(pooled: SortedScores, blocks: IsotonicBlocks) -> tuple[FloatArray, FloatArray]:
    """First and last score of each block, with its frequency at both."""
    last = np.append(blocks.start[1:], len(pooled.value)) - 1
    index = np.column_stack([blocks.start, last]).reshape(-1)
    kept = np.concatenate([[True], index[1:] != index[:-1]])
    return pooled.value[index[kept]], np.repeat(blocks.frequency, 2)[kept]


def _centred(pooled: SortedScores, blocks: IsotonicBlocks) -> tuple[FloatArray, FloatArray]:
    """Mean score of each block with its frequency; both ends where that is 0 or 1."""
    frequency = blocks.frequency
    centre = np.add.reduceat(pooled.weight * pooled.value, blocks.start) / blocks.weight
    first = pooled.value[blocks.start]
    last = pooled.value[np.append(blocks.start[1:], len(pooled.value)) - 1]
    centre = np.clip(centre, first, last)  # rounding must not leave the block
    certain = (frequency == 0) | (frequency == 1)
    knots = np.concatenate([np.where(certain, first, centre), last[certain]])
    values = np.concatenate([frequency, frequency[certain]])
    knots, index = np.unique(knots, return_index=True)
    return knots, values[index]


def _ranks(pooled: SortedScores) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the scores, with shares that increase from 1/4 to 3/4."""
    last = pooled.equal_mass(_RANK_KNOTS)
    index = np.unique(np.concatenate([[0], last]))
    if len(index) == 1:
        return pooled.value[index], np.array([0.5])
    below = pooled.cum_w[index + 1] - pooled.weight[0]
    return pooled.value[index], 0.25 + 0.5 * below / below[-1]
