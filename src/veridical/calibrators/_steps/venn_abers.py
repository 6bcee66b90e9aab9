"""Venn-Abers prediction: two isotonic fits for every prediction, one for each possible outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_folds
from veridical._core.data.schema import ANY, Fields, Numbers, Relations, Several, Together
from veridical._core.formula import Linear, Nodes, Quotient, step
from veridical._core.numeric.pava import isotonic_blocks
from veridical._core.sample import effective_size
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.binning.counts import SortedScores
from veridical.calibrators._base.bases import BinaryCalibrator, WeightedOutcomes
from veridical.calibrators._base.nodes import (
    outputs_from_log_odds,
    outputs_from_positive,
    positive_value,
)
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._steps.pieces import pool_rows, steps
from veridical.exceptions import invalid

Steps = tuple[FloatArray, FloatArray]  # scores and values


def _steps(**limits: float) -> Together:
    """What the steps of a fold must be."""
    scores = Numbers("m", low=-ANY, high=ANY, increasing=True, least=1)
    return Together((scores, Numbers("m", **limits)))  # type: ignore[arg-type]


@dataclass(kw_only=True, eq=False, repr=False)
class VennAbersCalibrator(BinaryCalibrator):
    r"""Inductive Venn-Abers predictor: probability intervals that hold without a model.

    For a new score s an isotonic map is fitted to the calibration rows and (s, 0), and another
    one to the calibration rows and (s, 1); their values at s are :math:`p_0 \le p_1`. If rows are
    exchangeable, the one that belongs to the true outcome is perfectly calibrated ([1]_, theorem
    1), whatever the scores are. `predict_interval` returns both, `predict_proba` the value

    .. math:: p = \frac{p_1}{1 - p_0 + p_1}

    whose log loss in the worse case is least ([2]_, section 4). It is never 0 or 1.

    Parameters
    ----------
    cv : int, optional
        Divide the calibration rows into this many folds, make one predictor of each, and merge
        them: :math:`G(p_1) / (G(1 - p_0) + G(p_1))` with geometric means G, as cross-Venn-Abers
        predictors are [2]_. That smooths the map; the guarantee is only the single predictor's.
        Default: one predictor.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; only their order matters.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean. The new row counts as one: with "frequency" as one of the sum of
        weights, with "importance" as one of the effective size. The guarantee is for equal weights.

    Attributes
    ----------
    lower_ : tuple of (scores, values) for each fold
        Steps of p0: the k-th value from the k-th score on, 0 before the first.
    upper_ : tuple of (scores, values) for each fold
        Steps of p1: the k-th value up to the k-th score, 1 after the last.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Both are step functions of s, found for all s at once: a row (1, 1) moves through the
    diagram of cumulated outcomes and only the tangent at its place changes, as in algorithms 1
    to 4 of [2]_. Time O(n log n) to fit, O(m log k) to predict, with k steps; k is far below n.

    Folds do not depend on the order of rows: rows sorted by score are dealt out in turn. A
    weighted row is in one fold, so with `cv` an integer weight is not the same as repetition.

    References
    ----------
    .. [1] Vovk & Petej (2014), UAI, arXiv 1211.0025.
    .. [2] Vovk, Petej & Fedorova (2015), NeurIPS, arXiv 1511.00213.

    Examples
    --------
    With (0.5, 0) added the frequencies are 0, 0, 1; with (0.5, 1) they are 0, 1, 1.

    >>> map = VennAbersCalibrator().fit([0.3, 0.7], [0, 1])
    >>> map.predict_interval([0.5]).tolist()
    [[0.0, 1.0]]
    >>> map.predict_proba([0.5]).tolist()
    [[0.5, 0.5]]
    """

    _fitted = Fields(
        lower_=Several(_steps(low=0, below=1), "f", tuple),
        upper_=Several(_steps(above=0, high=1), "f", tuple),
    )

    cv: int | None = None

    def predict_interval(self, y_prob: ArrayLike) -> FloatArray:
        """Return (p0, p1) for the positive class, the larger label; shape (n, 2), p0 <= p1.

        With `cv` they are :math:`1 - G(1 - p_0)` and :math:`G(p_1)`.
        """
        return np.column_stack(self._limits(self._checked_scores(y_prob)))

    def _check_parameters(self) -> None:
        if self.cv is not None:
            hint = "5 or 10 folds are usual; leave it out for a single predictor."
            check_folds("VennAbersCalibrator", self.cv, hint=hint)

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "lower_", len(self.lower_) == (self.cv or 1), "one pair of steps for each fold"

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> None:
        folds = [(scores.value, rows)]
        if self.cv is not None:
            if len(rows.y) < self.cv:
                hint = "leave `cv` out, or pass more rows."
                got = f"{self.cv} folds for {len(rows.y)} rows"
                raise invalid("VennAbersCalibrator", "cv", "at most n", got, hint=hint)
            order = np.lexsort((rows.y, scores.value))
            parts = [order[k :: self.cv] for k in range(self.cv)]
            folds = [(scores.value[part], self._some(rows, part)) for part in parts]
        fits = [_step_functions(pool_rows(value, part)) for value, part in folds]
        self.lower_ = tuple(lower for lower, _ in fits)
        self.upper_ = tuple(upper for _, upper in fits)

    def _some(self, rows: WeightedOutcomes, part: IntArray) -> WeightedOutcomes:
        weight = None if rows.weight is None else rows.weight[part]
        size = effective_size(weight, len(part), self.weight_type)
        return WeightedOutcomes(rows.y[part], weight, size, rows.n_classes)

    def _map(self, scores: BinaryScores) -> FloatArray:
        low, high = self._limits(scores)
        return high / (1 - low + high)

    def _limits(self, scores: BinaryScores) -> tuple[FloatArray, FloatArray]:
        s, lows, highs = scores.value, [], []
        for (from_score, low), (to_score, high) in zip(self.lower_, self.upper_, strict=True):
            lows.append(steps(from_score, np.append(0.0, low), s, side="right"))
            highs.append(steps(to_score, np.append(high, 1.0), s, side="left"))
        if len(lows) == 1:
            return lows[0], highs[0]
        # p0 < 1 and p1 > 0 always, so the logarithms are finite.
        low = -np.expm1(np.mean(np.log1p(-np.array(lows)), axis=0))
        return low, np.exp(np.mean(np.log(np.array(highs)), axis=0))

    def _formula(self, inputs: Nodes) -> Nodes:
        s = positive_value(self, inputs)
        fits = [
            (edges0, np.append(0.0, low), edges1, np.append(high, 1.0))
            for (edges0, low), (edges1, high) in zip(self.lower_, self.upper_, strict=True)
        ]
        if len(fits) == 1:
            edges0, low, edges1, high = fits[0]
            p0, p1 = step(s, edges0, low, "right"), step(s, edges1, high, "left")
            return outputs_from_positive(self, Quotient(p1, Linear(((-1.0, p0), (1.0, p1)), 1.0)))
        # G(p1) / (G(1 - p0) + G(p1)) is a logistic function of mean logarithms
        share = 1 / len(fits)
        terms = [(share, step(s, edges1, np.log(high), "left")) for *_, edges1, high in fits]
        terms += [(-share, step(s, edges0, np.log1p(-low), "right")) for edges0, low, *_ in fits]
        return outputs_from_log_odds(self, Linear(tuple(terms)))


def _step_functions(scores: SortedScores) -> tuple[Steps, Steps]:
    """Steps of p0 and of p1, each as scores and values."""
    m = len(scores.value)
    ends = np.append(isotonic_blocks(scores.weight, scores.positive).start, m)
    last, upper = _moving_one(scores.cum_w, scores.cum_wy, ends[1:])
    # p0 is p1 seen from the other side: scores turned round, outcomes exchanged.
    weight, missed = scores.weight[::-1], (scores.weight - scores.positive)[::-1]
    turned = SortedScores(scores.value[::-1], weight, missed)
    turned_last, turned_upper = _moving_one(turned.cum_w, turned.cum_wy, (m - ends[:-1])[::-1])
    lower = (scores.value[m - turned_last][::-1], 1 - turned_upper[::-1])
    return lower, (scores.value[last - 1], upper)


_MANY, _LONGEST_PART = 20_000, 1 << 14


def _moving_one(
    width: FloatArray, height: FloatArray, ends: IntArray
) -> tuple[IntArray, FloatArray]:
    """Isotonic value of a row of outcome 1 and weight 1 added at each distinct score in turn.

    Points P_j = (cumulated weight, cumulated outcomes) after j scores. The added row moves all
    points before it by (-1, -1), relative to those after it; its isotonic value is the slope of
    the line that touches both groups from below. As it moves on, points pass from the right to the
    left group; they change the line only if they then lie below it. The points on the right that a
    line can touch are corners of the greatest convex minorant of all, i.e. ends of blocks.

    Returns the number of scores after which each value ends, and the values, increasing.
    """
    m, corner, corners = len(width) - 1, 0, ends.tolist()
    # Numbers of Python are fast one by one; of many rows they are slow, and large.
    many = m > _MANY
    w: Any = width if many else width.tolist()
    k: Any = height if many else height.tolist()
    last: list[int] = []
    slopes: list[float] = []
    i = 0
    while i < m:
        while corners[corner] <= i:
            corner += 1
        at_w, at_k = w[i] - 1, k[i] - 1
        slope = (k[corners[corner]] - at_k) / (w[corners[corner]] - at_w)
        while corner + 1 < len(corners):
            next_slope = (k[corners[corner + 1]] - at_k) / (w[corners[corner + 1]] - at_w)
            if next_slope > slope:
                break
            corner, slope = corner + 1, next_slope
        lowest = k[i] - slope * w[i]
        if many:
            i = _first_below(width, height, slope, lowest, i + 1, m)
        else:
            i = next((j for j in range(i + 1, m) if k[j] - slope * w[j] < lowest), m)
        last.append(i)
        slopes.append(slope)
    values = np.maximum.accumulate(np.minimum(slopes, 1.0))
    kept = np.append(values[1:] > values[:-1], True)
    return np.asarray(last)[kept], values[kept]


def _first_below(
    width: FloatArray, height: FloatArray, slope: float, lowest: float, start: int, end: int
) -> int:
    """First point from `start` on below a line, or `end`; looked for in longer and longer parts."""
    size = 64
    while start < end:
        part = slice(start, min(start + size, end))
        found = np.flatnonzero(height[part] - slope * width[part] < lowest)
        if len(found):
            return start + int(found[0])
        start, size = start + size, min(2 * size, _LONGEST_PART)
    return end
