"""Costs of actions: their table, the decisions of least expected cost, and what these cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.validation import float_array, is_number
from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.exceptions import InvalidInputError, invalid

ABSTAIN = "abstain"
_HINT = "one row for each class in the order of `labels`, one column for each action."


@dataclass(frozen=True)
class CostTable:
    """Cost of each action for each class, for all rows or row by row.

    Attributes
    ----------
    matrix : float64 array of shape (K, A) or (n, K, A), abstaining not included
    abstain : cost of abstaining: None, one number, or one a row
    actions : names, abstaining last if it is allowed
    """

    matrix: FloatArray
    abstain: float | FloatArray | None
    actions: tuple[Any, ...]

    @property
    def definition(self) -> str:
        """Size of the table in words."""
        by_row = (
            " row by row" if self.matrix.ndim == 3 or isinstance(self.abstain, np.ndarray) else ""
        )
        n_classes, n_actions = self.matrix.shape[-2], len(self.actions)
        return f"costs of {n_classes} classes x {n_actions} actions{by_row}"

    def rows(self, rows: slice | Array) -> FloatArray:
        """Costs of some rows, abstaining last: (K, A) if they are the same for all, (m, K, A)."""
        costs = self.matrix if self.matrix.ndim == 2 else self.matrix[rows]
        if self.abstain is None:
            return costs
        if not isinstance(self.abstain, np.ndarray):
            added = np.full((*costs.shape[:-1], 1), self.abstain)
            return np.concatenate([costs, added], axis=-1)
        own = self.abstain[rows]
        shape = (len(own), *self.matrix.shape[-2:])
        column = np.broadcast_to(own[:, None, None], (*shape[:2], 1))
        return np.concatenate([np.broadcast_to(costs, shape), column], axis=-1)

    def take(self, rows: Array) -> CostTable:
        """Keep some rows (mask or indices)."""
        abstain = self.abstain
        return replace(
            self,
            matrix=self.matrix if self.matrix.ndim == 2 else self.matrix[rows],
            abstain=abstain[rows] if isinstance(abstain, np.ndarray) else abstain,
        )


def check_costs(
    costs: Any,
    sample: Sample,
    n_rows: int,
    *,
    actions: ArrayLike | None,
    abstain_cost: ArrayLike | None,
    caller: str,
) -> CostTable:
    """Return the costs of `n_rows` rows for the classes of the sample, or say what is wrong."""
    classes = sample.columns
    names = None if actions is None else _names(actions, caller)
    if isinstance(costs, Mapping):
        if names is not None:
            hint = "the keys of `costs` are the names already."
            raise invalid(caller, "actions", "unset", "names besides a mapping", hint=hint)
        names, matrix = _from_mapping(costs, classes, caller)
    else:
        matrix = float_array(costs, caller=caller, param="costs").astype(np.float64, copy=False)
        if matrix.shape == (2,) and isinstance(sample, BinarySample):
            alarm, miss = matrix
            matrix = np.array([[0.0, alarm], [miss, 0.0]])  # rows and columns (negative, positive)
            matrix = matrix[::-1, ::-1] if sample.positive_first else matrix
    _check_shape(matrix, len(classes), n_rows, caller)
    n_actions = matrix.shape[-1]
    if names is None:
        names = classes if n_actions == len(classes) else tuple(range(n_actions))
    if len(names) != n_actions:
        got = f"{len(names)} for {n_actions} columns of `costs`"
        raise invalid(caller, "actions", "one name an action", got, hint="name each column.")
    abstain = None if abstain_cost is None else _check_abstain(abstain_cost, n_rows, caller)
    if abstain is not None:
        if ABSTAIN in names:
            hint = "give its cost once, as a column of `costs` or as `abstain_cost`."
            raise invalid(caller, "abstain_cost", "unset", f"an action {ABSTAIN!r}", hint=hint)
        names = (*names, ABSTAIN)
    return CostTable(matrix, abstain, names)


def _from_mapping(
    costs: Mapping[Any, Any], classes: tuple[Any, ...], caller: str
) -> tuple[tuple[Any, ...], FloatArray]:
    """Columns of costs from ``{action: {label: cost}}``."""
    columns = []
    for action, by_label in costs.items():
        if not isinstance(by_label, Mapping) or set(by_label) != set(classes):
            named = sorted(map(repr, by_label)) if isinstance(by_label, Mapping) else by_label
            hint = "e.g. {'treat': {0: 1, 1: 0}, 'wait': {0: 0, 1: 20}}."
            got = f"{named} for action {action!r}"
            expected = f"a cost for each of the labels {list(classes)[:6]}"
            raise invalid(caller, "costs", expected, got, hint=hint)
        columns.append([by_label[label] for label in classes])
    if not columns:
        raise invalid(caller, "costs", "of at least one action", "none", hint=_HINT)
    matrix = float_array(columns, caller=caller, param="costs").astype(np.float64)
    return tuple(costs), np.ascontiguousarray(matrix.T)


def _check_shape(matrix: FloatArray, n_classes: int, n_rows: int, caller: str) -> None:
    known = matrix.ndim == 2 or (matrix.ndim == 3 and len(matrix) == n_rows)
    if not known or matrix.shape[-2] != n_classes or matrix.shape[-1] == 0:
        expected = f"of shape ({n_classes}, A) or ({n_rows}, {n_classes}, A)"
        if n_classes == 2:
            expected += ", or (false_positive, false_negative)"
        raise invalid(caller, "costs", expected, f"shape {matrix.shape}", hint=_HINT)
    if not np.isfinite(matrix).all():
        hint = "for an action that must not be taken use a large cost."
        raise invalid(caller, "costs", "finite", "a value that is not", hint=hint)


def _check_abstain(cost: Any, n_rows: int, caller: str) -> float | FloatArray:
    if is_number(cost):
        return float(cost)
    if np.ndim(cost) == 0:
        raise _bad_abstain(repr(cost), n_rows, caller)
    values = float_array(cost, caller=caller, param="abstain_cost").astype(np.float64)
    if values.shape != (n_rows,) or not np.isfinite(values).all():
        got = f"shape {values.shape}"
        raise _bad_abstain(got, n_rows, caller)
    return values


def _bad_abstain(got: str, n_rows: int, caller: str) -> InvalidInputError:
    hint = "what does it cost to leave a row undecided, e.g. to ask an expert?"
    expected = f"a finite number, or {n_rows} of them"
    return invalid(caller, "abstain_cost", expected, got, hint=hint)


def _names(actions: ArrayLike, caller: str) -> tuple[Any, ...]:
    names = tuple(to_numpy(actions, caller=caller, param="actions").tolist())
    if len(set(names)) != len(names):
        raise invalid(caller, "actions", "distinct", f"{names}", hint="name each action once.")
    return names


_BLOCK_CELLS = 1 << 18  # bounds the working set, (rows x classes x actions) of a block


class ChosenActions(NamedTuple):
    """Index of the action of each row, and the cost it is expected to have."""

    action: IntArray
    promised: FloatArray


def choose(sample: Sample, table: CostTable) -> ChosenActions:
    """Bayes decisions on the predictions of a sample."""
    return choose_actions(_double_columns(sample), table, single=sample.p.dtype == np.float32)


def choose_actions(y_prob: FloatArray, table: CostTable, *, single: bool = False) -> ChosenActions:
    """Bayes decisions: the first action whose expected cost is the least.

    Expected costs that differ by rounding only (1e-12 of the size of the terms they are sums of,
    1e-6 in single precision) are equal, so that p = 0.8 ties at costs 4 : 1.

    Parameters
    ----------
    y_prob : array of shape (n, K)
    table : costs of these classes
    single : whether the probabilities were of single precision
    """
    n, n_classes = y_prob.shape
    close = 1e-6 if single else 1e-12
    action = np.empty(n, dtype=np.intp)
    promised = np.empty(n)
    cells = n_classes * len(table.actions)
    for block in row_blocks(n, max(64, _BLOCK_CELLS // cells)):
        p = y_prob[block].astype(np.float64, copy=False)
        costs = table.rows(block)
        expected = _expectation(p, costs)
        size = expected if costs.min() >= 0 else _expectation(p, np.abs(costs))
        action[block], promised[block] = _least(expected, close * size)
    return ChosenActions(action, promised)


def _least(expected: FloatArray, slack: FloatArray) -> tuple[IntArray, FloatArray]:
    """The first action within its slack of the least expected cost, and what it costs."""
    if expected.shape[1] > _FEW_ACTIONS:
        least = expected.min(axis=1, keepdims=True)
        action = (expected - least <= slack).argmax(axis=1)
        return action, np.take_along_axis(expected, action[:, None], axis=1)[:, 0]
    # Columns, since NumPy is slow to reduce short rows.
    columns = np.ascontiguousarray(expected.T)
    least = columns.min(axis=0)
    action = np.zeros(len(least), dtype=np.intp)
    promised = columns[-1].copy()
    for k in range(len(columns) - 1, -1, -1):
        near = columns[k] - least <= slack[:, k]
        action[near] = k
        np.copyto(promised, columns[k], where=near)
    return action, promised


_FEW_ACTIONS = 8


class CostOutcome(NamedTuple):
    """What the decisions cost.

    Attributes
    ----------
    cost : cost of the action taken in each row, given the class that occurred
    least : cost of the action that was best for that class
    always : weighted mean cost of each action if it were always taken
    """

    cost: FloatArray
    least: FloatArray
    always: FloatArray


def outcome_of(sample: Sample, table: CostTable, action: IntArray) -> CostOutcome:
    """Costs of the actions taken, and of others, given the classes that occurred."""
    if table.rows(slice(0, 1)).ndim == 2:
        return _outcome_of_classes(sample, table.rows(slice(0, 1)), action)
    cost, least = np.empty(sample.n), np.empty(sample.n)
    always = np.zeros(len(table.actions))
    total = 0.0
    cells = len(sample.columns) * len(table.actions)
    for block in row_blocks(sample.n, max(64, _BLOCK_CELLS // cells)):
        y, costs = sample.index[block], table.rows(block)
        occurred = costs[np.arange(len(y)), y]
        weight = np.ones(len(y)) if sample.weight is None else sample.weight[block]
        cost[block] = np.take_along_axis(occurred, action[block, None], axis=1)[:, 0]
        least[block] = occurred.min(axis=1)
        always += weight @ occurred
        total += float(weight.sum())
    return CostOutcome(cost, least, always / total)


def _outcome_of_classes(sample: Sample, costs: FloatArray, action: IntArray) -> CostOutcome:
    """The same where costs are those of a class, (K, A), whichever the row."""
    y = sample.index
    key = y * np.intp(costs.shape[1]) + action  # labels of one byte would not hold it
    seen = np.bincount(y, sample.weight, len(costs))
    return CostOutcome(costs.take(key), costs.min(axis=1).take(y), seen @ costs / seen.sum())


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
