"""Smaller pools that say nearly the same."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import BoolArray, FloatArray

_SAME = 3e-5  # nats: what the maps that are left out may change, all together
_SAME_JUMPS = 1e-4  # and those that jump, which cost most where a map is shipped
_MOST_TIME = 2.55  # of maps that are shipped: what they share comes to it, three matrices in all
_WORTH = 1e-4  # nats: what a map that jumps has to gain on held-out rows
_ALONE = 1e-5  # nats: below, the model is left alone
_RIDGE = 1e-12  # maps that agree share their weight
_EQUAL = 1e-10  # nats: smaller distances are rounding


class Neighbours:
    """How far other weights of the same maps are from a pool, by what each gave to the outcomes.

    With r the ratio of what both give to an outcome, the distance is the mean of (r - 1)^2 / 2:
    the Kullback-Leibler divergence to second order, where outcomes follow the pool. It is about
    the two pools, not about which of them the outcomes favour, so chance in these plays no part.
    """

    def __init__(self, given: FloatArray, weights: FloatArray, rows: FloatArray) -> None:
        ratios = given / (given @ weights)[:, None]
        shares = rows / rows.sum()
        self.products = ratios.T @ (ratios * shares[:, None])
        self.means = shares @ ratios

    def distance(self, weights: FloatArray) -> float:
        """Mean squared change of probabilities of outcomes, halved, relative to the pool."""
        square = weights @ self.products @ weights - 2 * weights @ self.means + 1
        return max(float(square) / 2, 0.0)

    def nearest(self, kept: list[int]) -> FloatArray:
        """Weights of some of the maps that are nearest to the pool, on the simplex.

        Least squares under a sum of one; while a weight is negative, the lowest goes.
        """
        kept, found = list(kept), np.ones(1)
        while len(kept) > 1:
            size = len(kept)
            system = np.ones((size + 1, size + 1))
            system[:size, :size] = self.products[np.ix_(kept, kept)] + _RIDGE * np.eye(size)
            system[size, size] = 0.0
            target = np.append(self.means[kept], 1.0)
            found = np.linalg.lstsq(system, target, rcond=None)[0][:size]
            if (found >= 0).all():
                break
            del kept[int(found.argmin())]
            found = np.ones(1)
        weights = np.zeros(len(self.means))
        weights[kept] = found / found.sum()
        return weights


def without_needless(
    given: FloatArray,
    weights: FloatArray,
    rows: FloatArray,
    times: FloatArray | None = None,
    *,
    same: float = _SAME,
) -> FloatArray:
    """Leave out maps one by one as long as the others can say the same, within 3e-5 nats.

    `given` (n, M) is what maps gave to the outcomes, `rows` the weights of the rows, `times` what
    predictions take of the time of a structured matrix: maps also go, each time the one that is
    missed least, until the rest takes no more than 2.55.

    Examples
    --------
    The second map is the mean of the two others, and says alone what this pool says:

    >>> import numpy as np
    >>> given = np.array([[0.2, 0.4, 0.6], [0.8, 0.7, 0.6]])
    >>> without_needless(given, np.array([0.25, 0.5, 0.25]), np.ones(2)).round(6).tolist()
    [0.0, 1.0, 0.0]
    >>> without_needless(given, np.array([0.0, 0.5, 0.5]), np.ones(2)).round(6).tolist()
    [0.0, 0.5, 0.5]
    """
    near = Neighbours(given, weights, rows)
    times = np.zeros(len(weights)) if times is None else times
    while (weights > 0).sum() > 1:
        alive = np.flatnonzero(weights).tolist()
        others = {i: near.nearest([j for j in alive if j != i]) for i in alive}
        distances = {i: near.distance(each) for i, each in others.items()}
        # of those that are missed as little, within rounding, the last goes
        best = min(alive, key=lambda i: (max(distances[i], _EQUAL), -i))
        if distances[best] > max(same, _EQUAL):
            if times[alive].sum() <= _MOST_TIME:
                break
            best = min((i for i in alive if times[i] > 0), key=distances.__getitem__)
        weights = others[best]
    return weights


def without_jumps(
    given: FloatArray, weights: FloatArray, rows: FloatArray, jumps: BoolArray
) -> FloatArray:
    """Leave out maps that jump where the others say the same and are no worse.

    Within 1e-4 nats each. The last of them goes first. What remains is nearest to the pool as it
    was. That others are no worse on held-out rows is not enough: of few rows it says little, and
    where predictions are nearly certain it is the steps that keep the pool from being surer than it
    may be.
    """
    near = Neighbours(given, weights, rows)
    before = float(np.average(np.log(given @ weights), weights=rows))
    for number in np.flatnonzero(jumps)[::-1].tolist():
        kept = [i for i in np.flatnonzero(weights).tolist() if i != number]
        if weights[number] == 0 or not kept:
            continue
        tried = near.nearest(kept)
        worse = before - float(np.average(np.log(given @ tried), weights=rows))
        if worse <= _WORTH and near.distance(tried) <= _SAME_JUMPS:
            weights = tried
    return weights


def hardly_changes(given: FloatArray, weights: FloatArray, rows: FloatArray) -> bool:
    """Whether the first map alone says the same as the pool."""
    first = np.eye(len(weights))[0]
    return Neighbours(given, weights, rows).distance(first) <= _ALONE
