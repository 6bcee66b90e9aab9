"""What trees ask of predictions: probabilities of classes and ratios of pairs, and where to cut.

Trees only see the order of a feature, so a probability serves as well as its logarithm. Ratios and
probabilities are compared with numbers directly: every engine rounds a quotient alike, while their
logarithms may differ in the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.formula import Clip, Code, Node, Nodes, Quotient, minus
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.nodes import log_softmax_of
from veridical.calibrators._softmax.softmax import log_softmax_in_place

ALONE = -1  # in the place of a second class: the feature is the first one's own probability
_MANY_CLASSES = 8  # beyond, pairs are too many
_ALIKE = 1e-9  # neighbours that differ by less, relatively, may do so by rounding alone
_PARTS = 33  # odd: as many cuts from below as from above


@dataclass(frozen=True)
class Scale:
    """How features are made of predictions.

    Attributes
    ----------
    input : probabilities are compared as they are, and by ratios; logits by their logarithms of
        probabilities, and by differences
    floor : what probabilities are raised to
    """

    input: str
    floor: float

    def features(
        self,
        values: FloatArray,
        first: IntArray,
        second: IntArray,
        codes: IntArray | None = None,
    ) -> list[FloatArray]:
        """Features of (n, K) predictions, each of shape (n,); from class K on, columns of codes."""
        if codes is not None:
            of_class = first < values.shape[1]
            scores = iter(self.features(values, first[of_class], second[of_class]))
            columns = (first - values.shape[1]).tolist()
            return [next(scores) if k < 0 else codes[:, k].astype(np.float64) for k in columns]
        if self.input == "probability":
            own = np.maximum(values, self.floor).T
            return [
                own[j] if k == ALONE else own[j] / own[k]
                for j, k in zip(first.tolist(), second.tolist(), strict=True)
            ]
        logs = log_softmax_in_place(values.copy()).T if ALONE in second else values.T
        return [
            logs[j] if k == ALONE else values[:, j] - values[:, k]
            for j, k in zip(first.tolist(), second.tolist(), strict=True)
        ]

    def nodes(self, inputs: Nodes, first: IntArray, second: IntArray) -> list[Node]:
        """Formulas of `features`."""
        if (first >= len(inputs)).any():
            of_class = first < len(inputs)
            scores = iter(self.nodes(inputs, first[of_class], second[of_class]))
            columns = (first - len(inputs)).tolist()
            return [next(scores) if k < 0 else Code(k) for k in columns]
        pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        if self.input == "probability":
            own: Nodes = tuple(Clip(each, self.floor) for each in inputs)
            return [own[j] if k == ALONE else Quotient(own[j], own[k]) for j, k in pairs]
        logs = log_softmax_of(inputs) if ALONE in second else inputs
        return [logs[j] if k == ALONE else minus(inputs[j], inputs[k]) for j, k in pairs]


def candidate_features(order: IntArray, input: str) -> tuple[IntArray, IntArray]:
    """First and second class of each feature, in an order that is not that of the columns.

    Of two classes the positive one, which is last; of up to eight each class and each pair; of more
    each class.
    """
    count = len(order)
    if count == 2:
        return np.array([1]), np.array([ALONE if input == "probability" else 0])
    if count > _MANY_CLASSES:
        return order, np.full(count, ALONE)
    i, j = np.triu_indices(count, 1)
    return np.append(order, order[j]), np.append(np.full(count, ALONE), order[i])


def cuts_of(feature: FloatArray, weight: FloatArray) -> FloatArray:
    """Numbers between neighbours that share rows out to at most 33 parts alike in weight.

    Equal values stay together, rows of zero weight count for nothing, and a feature that is turned
    round has its cuts at the same rows.
    """
    kept = weight > 0
    values, place = np.unique(feature[kept], return_inverse=True)
    mass = np.bincount(place, weight[kept])
    ends = np.arange(len(values) - 1)
    if len(values) > _PARTS:
        aims = mass.sum() * np.arange(1, _PARTS // 2 + 1) / _PARTS * (1 - 1e-9)
        lower = np.searchsorted(np.cumsum(mass), aims)
        upper = len(values) - 2 - np.searchsorted(np.cumsum(mass[::-1]), aims)
        ends = np.intersect1d(ends, np.append(lower, upper))
    low, high = values[ends], values[ends + 1]
    apart = high - low > _ALIKE * np.abs(high)
    return _short_between(low[apart], high[apart])


def _short_between(low: FloatArray, high: FloatArray) -> FloatArray:
    """Numbers of few digits near the middle: they have to be written down."""
    middle, quarter = low / 2 + high / 2, high / 4 - low / 4
    unit = 10.0 ** np.clip(np.ceil(-np.log10(quarter)), -300, 300)
    with np.errstate(over="ignore"):
        short = np.rint(middle * unit) / unit
    return np.where((low < short) & (short < high), short, middle)


def codes_of(features: list[FloatArray], cuts: list[FloatArray]) -> IntArray:
    """Number of the part each row is in, (features, n)."""
    return np.stack(
        [np.searchsorted(cut, each, "left") for each, cut in zip(features, cuts, strict=True)]
    )
