r"""The difference of the squared binned errors of two models of the same rows.

The debiased squared error is a sum over pairs of rows of one bin, :math:`\sum_{i \ne j} h_{ij}`
with :math:`h_{ij} = w_i w_j d_i d_j / (W W_b)` and d = y - p, and so is the difference of two. Its
variance is that of the influences of the rows, :math:`4 \sum_i (\sum_{j \ne i} h_{ij})^2` as it is
estimated, less :math:`2 \sum_{i \ne j} h_{ij}^2`: in squares of sums of noise the pairs are counted
twice as often as they vary (Hoeffding 1948, doi 10.1214/aoms/1177730196). They are all there is
where both models are calibrated.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._intervals.mean import make_units, standard_error
from veridical.lenses import ClasswiseProblem
from veridical.miscalibration import BinnedError
from veridical.summaries import Summary

_MOST_PAIRS = 1 << 12  # of bins
_MOST_CLASSES = 10  # pairs of classes are summed up for two models


class SquaredDifference(NamedTuple):
    """Debiased squared errors of two models, and the standard error of their difference."""

    first: float
    second: float
    standard_error: float


class _Term(NamedTuple):
    """Squared error of one binary problem: bin and residual of each row, weight of each bin."""

    bins: IntArray
    residual: FloatArray
    weight: FloatArray
    factor: float


def squared_difference(
    estimator: BinnedError,
    pair: tuple[BinarySample | ClasswiseProblem, BinarySample | ClasswiseProblem],
) -> SquaredDifference:
    """Both errors, which are means over classes if there are several, and how sure they differ."""
    first, second = pair
    if isinstance(first, BinarySample) and isinstance(second, BinarySample):
        plain = first.weight is None and first.clusters is None
        found = _of_plain_rows(estimator, (first, second)) if plain else None
        if found is not None:
            return found
    sample = first.sample if isinstance(first, ClasswiseProblem) else first
    values, terms = [], []
    influences: list[FloatArray] = []
    for problem, sign in zip(pair, (1.0, -1.0), strict=True):
        summary = estimator.summarise(problem)
        assert isinstance(summary, Summary)
        values.append(float(estimator.powered(summary).mean()))
        influences.append(np.zeros(sample.n))
        for index, part in enumerate(_problems(problem)):
            influences[-1] += _influence(summary, index, part) / len(summary.names)
            terms.append(_term(summary, index, part, sign / len(summary.names)))
    counted = sample.weight_type == "frequency"
    units = make_units(
        influences[0] - influences[1], sample.weight, by_frequency=counted, groups=sample.clusters
    )
    error = standard_error(units)
    if sample.clusters is None and len(terms) <= 2 * _MOST_CLASSES:
        noise = max(0.0, _squares_of_pairs(terms, sample.weight, counted=counted))
        error = math.sqrt(max(error**2 - 2 * noise, min(2 * noise, error**2)))
    return SquaredDifference(values[0], values[1], error)


def _of_plain_rows(
    estimator: BinnedError, pair: tuple[BinarySample, BinarySample]
) -> SquaredDifference | None:
    """The same of two binary problems without weights or groups, from sums by pair of bins.

    None if these are very many.
    """
    one, two = (estimator.summarise(sample) for sample in pair)
    assert isinstance(one, Summary)
    assert isinstance(two, Summary)
    if one.sum_w.size * two.sum_w.size > _MOST_PAIRS:
        return None
    sums = _sums_of_products(pair, (one, two))
    count, mean1, mean2, square1, square2, product, product2, fourth1, fourth2 = sums
    gaps, thetas = [], []
    for summary in (one, two):
        gap = np.where(summary.occupied[0], summary.mean_y[0] - summary.mean_p[0], 0.0)
        gaps.append(gap)
        thetas.append(float(summary.share[0] @ gap**2))
    a, b = 2 * gaps[0][:, None], 2 * gaps[1]
    c = (a**2 - b**2) / 4 + thetas[0] - thetas[1]
    # Influence of a row: a r_1 - b r_2 - c, see `_influence`.
    influence = float((a * mean1 - b * mean2 - c * count).sum())
    square = (
        a**2 * square1 + b**2 * square2 + c**2 * count
        - 2 * (a * b * product + c * (a * mean1 - b * mean2))
    ).sum()  # fmt: skip
    n = len(pair[0].y)
    variance = max(float(square) - influence**2 / n, 0.0) / n**2
    noise = 0.0
    for summary, total, fourth, axis in ((one, square1, fourth1, 1), (two, square2, fourth2, 0)):
        weight = summary.sum_w[0]
        held = weight > 0
        noise += _noise(total.sum(axis=axis)[held], fourth.sum(axis=axis)[held], weight[held] ** 2)
    both = np.multiply.outer(one.sum_w[0], two.sum_w[0])
    held = count > 0
    noise -= 2 * _noise(product[held], product2[held], both[held])
    noise = max(0.0, noise / n**2)
    error = math.sqrt(max(variance - 2 * noise, min(2 * noise, variance)))
    values = [float(estimator.powered(summary).mean()) for summary in (one, two)]
    return SquaredDifference(values[0], values[1], error)


def _noise(sums: FloatArray, squares: FloatArray, scale: FloatArray) -> float:
    return float(((sums**2 - squares) / scale).sum())


def _sums_of_products(
    pair: tuple[BinarySample, BinarySample], summaries: tuple[Summary, Summary]
) -> FloatArray:
    """By bins of both models, (9, B, B'): rows; residuals r and r'; r^2, r'^2, r r', (r r')^2, ...

    The last two are r^4 and r'^4.
    """
    first, second = (summary.partitions[0] for summary in summaries)
    shape = (first.n_cells, second.n_cells)
    sums = np.zeros((9, shape[0] * shape[1]))
    for block in row_blocks(pair[0].n):
        cell = first.assign(pair[0].p[block]) * shape[1] + second.assign(pair[1].p[block])
        y = pair[0].y[block].astype(np.float64)
        one, two = y - pair[0].p[block], y - pair[1].p[block]
        squares, product = (one * one, two * two), one * two
        values = (one, two, *squares, product, product**2, squares[0] ** 2, squares[1] ** 2)
        sums[0] += np.bincount(cell, minlength=sums.shape[1])
        for total, value in zip(sums[1:], values, strict=True):
            total += np.bincount(cell, value, sums.shape[1])
    return sums.reshape(9, *shape)


def _problems(problem: BinarySample | ClasswiseProblem) -> list[BinarySample]:
    if isinstance(problem, BinarySample):
        return [problem]
    return [problem.problem(k) for k in range(problem.n_problems)]


def _influence(summary: Summary, index: int, sample: BinarySample) -> FloatArray:
    r"""What each row adds to :math:`\theta = \sum_b (W_b / W)\, g_b^2`, but for its weight.

    The derivative of :math:`\sum_b S_b^2 / (W W_b)` with respect to the weight of a row in bin b,
    where :math:`S_b = W_b g_b`, is in proportion to :math:`2 g_b (y - p) - g_b^2 - \theta`.
    """
    gap = np.where(summary.occupied[index], summary.mean_y[index] - summary.mean_p[index], 0.0)
    theta = float(summary.share[index] @ gap**2)
    own = gap[summary.partitions[index].assign(sample.p)]
    residual = sample.y - sample.p.astype(np.float64)
    return 2 * own * residual - own**2 - theta


def _term(summary: Summary, index: int, sample: BinarySample, factor: float) -> _Term:
    bins = summary.partitions[index].assign(sample.p)
    residual = sample.y.astype(np.float64) - sample.p
    return _Term(bins, residual, summary.sum_w[index], factor)


def _squares_of_pairs(terms: list[_Term], weight: FloatArray | None, *, counted: bool) -> float:
    """Sum over pairs of different rows of the square of what they add to the difference."""
    n = len(terms[0].bins)
    w = np.ones(n) if weight is None else weight
    total = float(w.sum())
    # A row that stands for w rows has that many different copies; else it counts w times.
    once, twice = (w, w) if counted else (w**2, w**4)
    found = 0.0
    for k, one in enumerate(terms):
        for other in terms[k:]:
            product = one.residual * other.residual
            size = len(other.weight)
            cell = one.bins * size + other.bins
            sums, squares = (
                np.bincount(cell, each, len(one.weight) * size)
                for each in (once * product, twice * product**2)
            )
            held = np.flatnonzero(squares)
            scale = total**2 * one.weight[held // size] * other.weight[held % size]
            both = float(((sums[held] ** 2 - squares[held]) / scale).sum())
            found += (1 if other is one else 2) * one.factor * other.factor * both
    return found
