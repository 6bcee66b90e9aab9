"""The action of least expected cost, block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.decisions._cost_matrix import CostTable

_BLOCK_CELLS = 1 << 18  # bounds the working set, (rows x classes x actions) of a block


class Chosen(NamedTuple):
    """Index of the action of each row, and the cost it is expected to have."""

    action: IntArray
    promised: FloatArray


def choose(sample: Sample, table: CostTable) -> Chosen:
    """Bayes decisions: the first action whose expected cost is the least.

    Expected costs that differ by rounding only (1e-12 of the size of the terms they are sums of,
    1e-6 in single precision) are equal, so that p = 0.8 ties at costs 4 : 1.
    """
    matrix = _double_columns(sample)
    close = 1e-6 if sample.p.dtype == np.float32 else 1e-12
    action = np.empty(sample.n, dtype=np.intp)
    promised = np.empty(sample.n)
    cells = matrix.shape[1] * len(table.actions)
    for block in row_blocks(sample.n, max(64, _BLOCK_CELLS // cells)):
        p = matrix[block].astype(np.float64, copy=False)
        costs = table.rows(block)
        expected = _expectation(p, costs)
        size = expected if costs.min() >= 0 else _expectation(p, np.abs(costs))
        least = expected.min(axis=1, keepdims=True)
        action[block] = (expected - least <= close * size).argmax(axis=1)
        promised[block] = np.take_along_axis(expected, action[block, None], axis=1)[:, 0]
    return Chosen(action, promised)


class Outcome(NamedTuple):
    """What came of the decisions.

    Attributes
    ----------
    cost : cost of the action taken in each row, given the class that occurred
    least : cost of the action that was best for that class
    always : weighted mean cost of each action if it were always taken
    """

    cost: FloatArray
    least: FloatArray
    always: FloatArray


def outcome_of(sample: Sample, table: CostTable, action: IntArray) -> Outcome:
    """Costs that came, of the actions taken and of others."""
    cost, least = np.empty(sample.n), np.empty(sample.n)
    always = np.zeros(len(table.actions))
    total = 0.0
    cells = len(sample.columns) * len(table.actions)
    for block in row_blocks(sample.n, max(64, _BLOCK_CELLS // cells)):
        y, costs = sample.index[block], table.rows(block)
        came = costs[y] if costs.ndim == 2 else costs[np.arange(len(y)), y]
        weight = np.ones(len(y)) if sample.weight is None else sample.weight[block]
        cost[block] = np.take_along_axis(came, action[block, None], axis=1)[:, 0]
        least[block] = came.min(axis=1)
        always += weight @ came
        total += float(weight.sum())
    return Outcome(cost, least, always / total)


def _double_columns(sample: Sample) -> FloatArray:
    """Probabilities (n, K) in column order; 1 - p is formed in double precision."""
    if isinstance(sample, BinarySample) and sample.pair is None:
        p = sample.p.astype(np.float64, copy=False)
        pair = (p, 1 - p) if sample.positive_first else (1 - p, p)
        return np.column_stack(pair)
    return sample.matrix


def _expectation(p: FloatArray, costs: FloatArray) -> FloatArray:
    """Expected cost of each action, (m, A)."""
    if costs.ndim == 2:
        return p @ costs
    return np.asarray(np.matmul(p[:, None, :], costs)[:, 0, :])
