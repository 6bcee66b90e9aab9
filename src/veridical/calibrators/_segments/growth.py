"""Trees that split rows where lines of their own lower the loss, the best split first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from veridical._core.data.features import Features
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._segments.ridge import CellRows, Ridge, Scale, line_sums

_ALIKE = 1e-9  # relative: splits so close in worth are one, and the first is taken


@dataclass
class Leaf:
    """Rows of a leaf, the values that lead there, and its line.

    Attributes
    ----------
    rows : numbers of rows
    allowed : of each feature, which codes lead here
    theta : contrasts of the offsets, and the slope
    worth, feature, left : fall of the loss by the best split, its feature, and codes of one side
    """

    rows: IntArray
    allowed: tuple[BoolArray, ...]
    theta: FloatArray
    worth: float = 0.0
    feature: int = -1
    left: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))


class Growth:
    """Grows one tree.

    Parameters
    ----------
    rows : scores, outcomes and weights
    codes : (n, features)
    features : of the codes
    scale : of slopes
    penalty : ridge of a line, in rows
    min_rows : weight of a leaf at least
    """

    def __init__(
        self,
        rows: CellRows,
        codes: IntArray,
        features: Features,
        scale: Scale,
        *,
        penalty: float,
        min_rows: float,
    ) -> None:
        self._rows, self._codes, self._features = rows, codes, features
        self._scale, self._penalty, self._min_rows = scale, penalty, min_rows

    def trees(self, most: int) -> Iterator[list[Leaf]]:
        """Leaves of trees of 2, 3, ... leaves, up to `most`; as long as some split is worth it."""
        every = tuple(np.ones(size, dtype=bool) for size in self._features.n_codes)
        # All rows together have the line of m: what they would gain by another is not a split's.
        n_classes = self._rows.scores.shape[1]
        root = Leaf(np.arange(len(self._rows.y)), every, np.zeros(n_classes))
        leaves = [self._judged(root)]
        while len(leaves) < most:
            place = int(np.argmax([leaf.worth for leaf in leaves]))
            if leaves[place].worth <= 0:
                return
            leaves[place : place + 1] = self._split(leaves[place])
            yield list(leaves)

    def _split(self, leaf: Leaf) -> list[Leaf]:
        inside = leaf.left[self._codes[leaf.rows, leaf.feature]]
        found = []
        for rows, codes in ((leaf.rows[inside], leaf.left), (leaf.rows[~inside], ~leaf.left)):
            allowed = list(leaf.allowed)
            allowed[leaf.feature] = allowed[leaf.feature] & codes
            found.append(self._judged(Leaf(rows, tuple(allowed), self._line(rows))))
        return found

    def _line(self, rows: IntArray) -> FloatArray:
        """Line of a leaf; slopes are penalised until it does not fall."""
        own = self._rows.take(rows)
        alone = CellRows(own.scores, own.y, own.weight, np.zeros(len(rows), dtype=np.intp))
        ridge, more, theta = Ridge(alone, np.ones((1, 1)), self._scale), 1.0, None
        while more < 1e9:
            theta = ridge.fit(self._penalty, theta, slopes=more)
            if 1 + self._scale.lines(theta)[1][0] >= 0:
                return np.asarray(theta[0])
            more *= 4
        return np.zeros(own.scores.shape[1])

    def _judged(self, leaf: Leaf) -> Leaf:
        """The leaf with its best split, by Newton steps of both sides."""
        rows = self._rows.take(leaf.rows)
        codes = self._codes[leaf.rows]
        best = 0.0
        for k, feature in enumerate(self._features):
            sums = line_sums(rows, codes[:, k], feature.n_codes, leaf.theta, self._scale)
            present = np.flatnonzero(np.bincount(codes[:, k], minlength=feature.n_codes))
            if len(present) < 2:
                continue
            for left in _sides(feature.kind, present, feature.n_codes):
                worth = self._worth(left, *sums, leaf.theta)
                if worth > best * (1 + _ALIKE):
                    best = worth
                    leaf.worth, leaf.feature, leaf.left = worth, k, left
        return leaf

    def _worth(
        self,
        left: BoolArray,
        gradient: FloatArray,
        curvature: FloatArray,
        weight: FloatArray,
        theta: FloatArray,
    ) -> float:
        sides = (left, ~left)
        if min(float(weight[side].sum()) for side in sides) < self._min_rows * (1 - 1e-9):
            return 0.0
        found = 0.0
        for side in sides:
            first = gradient[side].sum(axis=0) + self._penalty * theta
            second = curvature[side].sum(axis=0) + self._penalty * np.eye(len(theta))
            found += 0.5 * float(first @ np.linalg.solve(second, first))
        return found


def _sides(kind: str, present: IntArray, n_codes: int) -> Iterator[BoolArray]:
    """Codes of one side of each split: up to one of ordered values, one alone of others."""
    codes = np.arange(n_codes)
    if kind in ("number", "date"):
        for code in present[:-1].tolist():
            yield codes <= code
    elif len(present) == 2:
        yield codes == present[0]
    else:
        for code in present.tolist():
            yield codes == code
