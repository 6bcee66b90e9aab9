"""Sums over all pairs of predictions of a kernel times inner products, without an n x n matrix.

Points are scalars, shape (n,), or probability vectors, shape (n, K); a vector (or scalar) charge
belongs to each. Kernels are functions of a distance d in units of the bandwidth:

- "laplacian": exp(-d), d Euclidean;
- "gaussian": exp(-d^2 / 2), d Euclidean;
- "total-variation": exp(-d), d half the sum of absolute differences, which for a scalar
  probability is its absolute difference too.

Or a function of two arrays of points that returns the matrix of its values; it has no bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from veridical._core.numeric.blocks import ROWS, row_blocks
from veridical._core.runtime.threads import map_in_order
from veridical._core.sample import BinarySample, Sample, one_hot
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid

KERNELS = ("laplacian", "gaussian", "total-variation")
Kernel = str | Callable[[FloatArray, FloatArray], Any]

_CROWDED = 1 / 20  # of the mean distance: a median below says nothing of most differences
_PAIRS_OF = 1000  # points from whose distances the median is taken
_WIDE_TILE = 512  # rows of a tile that is multiplied by many columns at once
_WAVES = 16  # frequencies taken at a time
_SMALL_TILE = 64  # rows whose values with each other are found to know those with themselves
_FAR = 8.7  # standard deviations at which a Gaussian is below 1e-16


def residuals(sample: Sample) -> FloatArray:
    """Outcome minus prediction, (n,) for a binary sample or (n, K), in double precision."""
    if isinstance(sample, BinarySample):
        return np.subtract(sample.y, sample.p, dtype=np.float64)
    return one_hot(sample) - sample.p


def pooled_residuals(sample: Sample) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct predictions in order, and the weighted residuals and the weight at each."""
    if isinstance(sample, BinarySample):
        pooled = sample.pooled
        value = pooled.value.astype(np.float64)
        return value, pooled.positive - pooled.weight * value, pooled.weight
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    charge = residuals(sample) * weight[:, None]
    return pool_points(sample.p.astype(np.float64), charge, weight)


def equal_pairs(sample: Sample, kernel: Kernel) -> tuple[float, float]:
    """Sums over rows of v k(p, p) |e|^2 and of v: what pairs of a row with itself contribute.

    v is the square of an importance weight, a frequency itself.
    """
    square = np.square(residuals(sample)).reshape(sample.n, -1).sum(axis=1)
    square *= self_values(sample.p, kernel)
    if sample.weight is None:
        return float(square.sum()), float(sample.n)
    v = sample.weight if sample.weight_type == "frequency" else sample.weight**2
    return float(v @ square), float(v.sum())


def pool_points(
    points: FloatArray, charge: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Distinct points in lexicographic order, and the sums of charge and weight over equal ones."""
    order = _lexicographic(points)
    points = points[order]
    changed = points[1:] != points[:-1]
    if points.ndim == 2:
        changed = changed.any(axis=1)
    starts = np.flatnonzero(np.concatenate([[True], changed]))
    charge = np.add.reduceat(charge[order], starts, axis=0)
    return points[starts], charge, np.add.reduceat(weight[order], starts)


def _lexicographic(points: FloatArray) -> IntArray:
    if points.ndim == 1:
        return np.argsort(points)
    order = np.argsort(points[:, 0])
    equal = np.diff(points[order, 0]) == 0
    if equal.any():  # the other columns matter to these rows only
        among = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        rows = order[among]
        order[among] = rows[np.lexsort(points[rows].T[::-1])]
    return order


def median_distance(points: FloatArray, weight: FloatArray, kernel: str) -> float:
    """Median distance between two predictions that differ, pairs weighted by products.

    Where it is less than a twentieth of the mean distance, nearly all predictions are crowded
    where hardly anything is in doubt, and a kernel so narrow would compare no two of the others:
    then pairs are also weighted by the variances of their outcomes, p (1 - p) or 1 - sum p_k^2.

    Examples
    --------
    >>> crowd = np.append(np.arange(8) * 1e-9, [0.2, 0.5])
    >>> round(median_distance(crowd, np.ones(10), "laplacian"), 6)
    0.3
    """
    middle, mean = _middle_and_mean(points, weight, kernel)
    if middle >= mean * _CROWDED:
        return middle
    square = np.square(points)
    variance = points - square if points.ndim == 1 else 1 - square.sum(axis=1)
    doubted = weight * np.maximum(variance, 0.0)
    if np.count_nonzero(doubted) < 2:
        return middle
    held = doubted > 0
    return _middle_and_mean(points[held], doubted[held], kernel)[0]


def _middle_and_mean(points: FloatArray, weight: FloatArray, kernel: str) -> tuple[float, float]:
    """Median and mean distance.

    Of more than 1000 distinct points it takes those at 1000 evenly spaced shares of the total
    weight, in the order of the probability, or of the largest of a vector, so that no class comes
    first. 1 if there is one point only: then the kernel is 1 anyway.
    """
    if len(points) == 1:
        return 1.0, 1.0
    if len(points) > _PAIRS_OF:
        if points.ndim == 2:
            order = np.argsort(points.max(axis=1), kind="stable")
            points, weight = points[order], weight[order]
        reached = np.cumsum(weight)
        shares = (np.arange(_PAIRS_OF) + 0.5) / _PAIRS_OF
        rows = np.searchsorted(reached, reached[-1] * (shares - 1e-12))
        rows, times = np.unique(np.minimum(rows, len(points) - 1), return_counts=True)
        points, weight = points[rows], times.astype(np.float64)
        if len(points) == 1:
            return 1.0, 1.0
    first, second = np.triu_indices(len(points), 1)
    if points.ndim == 1:
        distance = points[second] - points[first]
    else:
        from scipy.spatial.distance import pdist

        half = kernel == "total-variation"
        distance = pdist(points, "cityblock") / 2 if half else pdist(points, "euclidean")
    if (weight == weight[0]).all():
        middle = (len(distance) - 1) // 2
        return float(np.partition(distance, middle)[middle]), float(distance.mean())
    order = np.argsort(distance)
    both = weight[first] * weight[second]
    reached = np.cumsum(both[order])
    middle = int(np.searchsorted(reached, reached[-1] * (0.5 - 1e-12)))
    return float(distance[order[middle]]), float(both @ distance / reached[-1])


def self_values(points: FloatArray, kernel: Kernel) -> FloatArray:
    """Kernel of every point with itself: one, unless the kernel is the user's."""
    values = np.ones(len(points))
    if not isinstance(kernel, str):
        points = points.astype(np.float64, copy=False)
        for rows in row_blocks(len(points), _SMALL_TILE):
            values[rows] = np.diagonal(_given_values(kernel, points[rows], points[rows]))
    return values


def _given_values(kernel: Callable[..., Any], a: FloatArray, b: FloatArray) -> FloatArray:
    """What the user's kernel says, checked."""
    values = np.array(kernel(a, b), dtype=np.float64)
    if values.shape != (len(a), len(b)) or not np.isfinite(values).all():
        expected = "a function of two arrays of predictions that gives a matrix of numbers"
        hint = f"for {len(a)} and {len(b)} predictions return ({len(a)}, {len(b)}) finite values."
        got = f"shape {values.shape}" if values.shape != (len(a), len(b)) else "NaN or infinity"
        raise invalid("KernelError", "kernel", expected, got, hint=hint)
    return values


def kernel_values(a: FloatArray, b: FloatArray, kernel: Kernel, bandwidth: float) -> FloatArray:
    """Kernel of every point of `a` with every point of `b`, (len(a), len(b))."""
    return _tile(_factors(a / bandwidth, kernel)[0], _factors(b / bandwidth, kernel)[1], kernel)


def _factors(x: FloatArray, kernel: Kernel) -> tuple[FloatArray, FloatArray]:
    """What to multiply for squared Euclidean distances; points themselves for other distances."""
    if x.ndim == 1 or not isinstance(kernel, str):
        return x, x
    if kernel == "total-variation":
        return x / 2, x / 2
    square, one = np.square(x).sum(axis=1, keepdims=True), np.ones((len(x), 1))
    return np.hstack([-2 * x, square, one]), np.hstack([x, one, square])


def _tile(left: FloatArray, right: FloatArray, kernel: Kernel) -> FloatArray:
    if not isinstance(kernel, str):
        return _given_values(kernel, left, right)
    if left.ndim == 1:
        values = left[:, None] - right
        np.square(values, out=values) if kernel == "gaussian" else np.abs(values, out=values)
    elif kernel == "total-variation":
        from scipy.spatial.distance import cdist

        values = cdist(left, right, "cityblock")
    else:
        values = left @ right.T
        np.maximum(values, 0.0, out=values)  # rounding may leave -1e-16
        if kernel == "laplacian":
            np.sqrt(values, out=values)
    values *= -0.5 if kernel == "gaussian" else -1.0
    return np.exp(values, out=values)


def pair_sum(points: FloatArray, charge: FloatArray, kernel: Kernel, bandwidth: float) -> float:
    """Sum over all ordered pairs, i = j included, of k(x_i, x_j) <c_i, c_j>.

    Takes distinct points in lexicographic order. Scalars: O(n) for exp(-d), O(n / bandwidth) for
    the Gaussian unless it is very narrow. Vectors: O(n^2 K), in tiles, so memory O(n K).
    """
    columns = charge.reshape(len(charge), -1)
    return float(pair_sums(points, columns, kernel, bandwidth).sum())


def pair_sums(
    points: FloatArray,
    charges: FloatArray,
    kernel: Kernel,
    bandwidth: float,
    factor: FloatArray | None = None,
) -> FloatArray:
    """Sum over all ordered pairs of k(x_i, x_j) c_i c_j, for every column c of `charges`.

    With a `factor`, (n,) or (n, K), every pair counts <f_i, f_j> times as much. Kernel values are
    found once for all columns; cost of each as in `pair_sum`.
    """
    x = points / bandwidth
    named = isinstance(kernel, str)
    if factor is not None and factor.ndim == 1:
        charges, factor = charges * factor[:, None], None
    if x.ndim == 1 and factor is None and named:
        if kernel != "gaussian":
            return _exponential_sums(x, charges)
        period = float(x[-1] - x[0]) + _FAR
        if _FAR * period / math.tau < len(x) / 4:
            return _gaussian_sums(x, charges, period)
    left, right = _factors(x, kernel)
    side = _tile_side(x.size // len(x)) if charges.shape[1] < 64 else _WIDE_TILE

    def strip(rows: slice) -> FloatArray:
        """Pairs of these rows with themselves and with all that follow."""
        total = np.zeros(charges.shape[1])
        for columns in row_blocks(len(x), side):
            if columns.start < rows.start:
                continue
            tile = _tile(left[rows], right[columns], kernel)
            if columns.start == rows.start and named:
                np.fill_diagonal(tile, 1.0)
            if factor is not None:
                tile *= factor[rows] @ factor[columns].T
            part = np.einsum("ij,ij->j", charges[rows], tile @ charges[columns])
            total += part if columns.start == rows.start else 2 * part
        return total

    strips = map_in_order(strip, list(row_blocks(len(x), side)))
    return np.add.reduce(list(strips), axis=0)


def _tile_side(width: int) -> int:
    """Rows and columns of kernel values held at a time.

    Products of up to 2^18 multiplications stay on one thread, and the tile in cache; wider
    points make products worth several threads, if few and large.
    """
    return math.isqrt((1 << 18) // (width + 2)) if width < 64 else 1024


def _exponential_sums(x: FloatArray, charges: FloatArray) -> FloatArray:
    """Pair sums of exp(-|x_i - x_j|) for increasing x, by sums from the left.

    With L_i = sum_{j < i} c_j exp(-(x_i - x_j)) the sum is sum_i c_i (c_i + 2 L_i). Within a
    stretch short enough for exp not to overflow, L is a cumulative sum times exp(-x).
    """
    charges = np.ascontiguousarray(charges.T)  # sums run along the rows of memory
    totals = np.einsum("ij,ij->i", charges, charges)
    stretch = np.floor((x - x[0]) / 300)
    ends = np.append(np.flatnonzero(np.diff(stretch)) + 1, len(x))
    carried, start = np.zeros(len(charges)), 0
    for end in ends:
        rise = x[start:end] - x[start]
        if start:
            carried = (carried + charges[:, start - 1]) * math.exp(x[start - 1] - x[start])
        # Before each point of the stretch: what was carried into it, and its points so far.
        left = np.empty((len(charges), end - start))
        left[:, 0] = carried
        np.multiply(charges[:, start : end - 1], np.exp(rise[:-1]), out=left[:, 1:])
        np.cumsum(left, axis=1, out=left)
        left *= np.exp(-rise)
        totals += 2 * np.einsum("ij,ij->i", charges[:, start:end], left)
        carried, start = left[:, -1], end
    return totals


def _gaussian_sums(x: FloatArray, charges: FloatArray, period: float) -> FloatArray:
    """Pair sums of exp(-(x_i - x_j)^2 / 2) as sums over frequencies.

    The Gaussian repeated with a period that exceeds the range of x by `_FAR` has the Fourier
    coefficients sqrt(2 pi) / period exp(-f^2 / 2) at multiples f of 2 pi / period; those beyond
    `_FAR` are nil. Exact to rounding, and never negative.
    """
    step = math.tau / period
    turn = np.exp(1j * step * (x - x[0]))
    wave, totals = np.ones(len(x), dtype=complex), charges.sum(axis=0) ** 2
    for batch in row_blocks(math.ceil(_FAR / step), _WAVES):
        waves = np.empty((2, batch.stop - batch.start, len(x)))
        for row in range(waves.shape[1]):
            wave *= turn
            waves[0, row], waves[1, row] = wave.real, wave.imag
        frequency = step * np.arange(batch.start + 1, batch.stop + 1)
        parts = waves.reshape(-1, len(x)) @ charges
        square = np.square(parts).reshape(2, -1, charges.shape[1]).sum(axis=0)
        totals += 2 * np.exp(-(frequency**2) / 2) @ square
    return math.sqrt(math.tau) / period * totals


def block_sums(
    sample: Sample, size: int, kernel: Kernel, bandwidth: float
) -> tuple[FloatArray, FloatArray]:
    """Within each run of `size` rows: sums over pairs i < j of w_i w_j h_ij, and of w_i w_j.

    An incomplete last run is left out. O(n size K).
    """
    points = sample.p.reshape(sample.n, -1)
    residual = residuals(sample).reshape(sample.n, -1)
    n_blocks = len(points) // size
    sums, norms = np.zeros(n_blocks), np.zeros(n_blocks)
    most = _SMALL_TILE // size if not isinstance(kernel, str) else ROWS // (size * points.shape[1])
    for some in row_blocks(n_blocks, max(1, most)):
        rows = slice(some.start * size, some.stop * size)
        x = points[rows].reshape(-1, size, points.shape[1]).astype(np.float64) / bandwidth
        e = residual[rows].reshape(-1, size, residual.shape[1])
        w = np.ones(e.shape[:2]) if sample.weight is None else sample.weight[rows].reshape(-1, size)
        given = None
        if not isinstance(kernel, str):  # of all rows of some blocks, of which those within remain
            flat = x.reshape(-1, *sample.p.shape[1:])
            within = _given_values(kernel, flat, flat).reshape(len(x), size, len(x), size)
            given = within[np.arange(len(x)), :, np.arange(len(x))]
        for lag in range(1, size):
            gap = x[:, lag:] - x[:, :-lag]
            if given is not None:
                value = np.diagonal(given, lag, axis1=1, axis2=2)
            elif kernel == "total-variation":
                scale = 1.0 if gap.shape[2] == 1 else 0.5
                value = np.exp(-scale * np.abs(gap).sum(axis=2))
            else:
                square = np.square(gap).sum(axis=2)
                value = np.exp(-square / 2 if kernel == "gaussian" else -np.sqrt(square))
            both = w[:, lag:] * w[:, :-lag]
            inner = np.einsum("bik,bik->bi", e[:, lag:], e[:, :-lag])
            sums[some] += (both * value * inner).sum(axis=1)
            norms[some] += both.sum(axis=1)
    return sums, norms


def even_places(width: int, count: int) -> tuple[FloatArray, list[int]]:
    """Predictions that give each of `width` classes the probabilities (j + 1/2) / count, and which.

    The other classes share the rest equally. Scalars, of one class, for a width of one.
    """
    levels = (np.arange(count) + 0.5) / count
    if width == 1:
        return levels, [0] * count
    level, column = np.tile(levels, width), np.repeat(np.arange(width), count)
    places = np.repeat((1 - level)[:, None] / (width - 1), width, axis=1)
    places[np.arange(len(level)), column] = level
    return places, column.tolist()
