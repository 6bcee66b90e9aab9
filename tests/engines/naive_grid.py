"""The sums of a scan written down row by row: slow, and hard to get wrong."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wp2", "sum_w2pq")
RULES = ("brier", "log", "spherical", "zero-one")


def bin_number(p: Any, n_bins: int) -> int:
    """Bin of p, from 0: the first whose upper edge, in the type of p, is not below it."""
    for k in range(1, n_bins + 1):
        if p <= type(p)(k / n_bins):
            return k - 1
    raise AssertionError


def naive_sums(
    code: np.ndarray,
    p: np.ndarray,
    *,
    problems: Sequence[str | int],
    n_bins: int,
    positive: int = 1,
    w: np.ndarray | None = None,
    by: Sequence[Any] | None = None,
) -> dict[tuple[Any, ...], np.ndarray]:
    """Sums by (group, problem, bin, outcome); p is (n,) for the positive class, or (n, K)."""
    total: dict[tuple[Any, ...], np.ndarray] = defaultdict(lambda: np.zeros(len(SUMS)))
    for i in range(len(code)):
        weight = 1.0 if w is None else float(w[i])
        if weight == 0:
            continue
        row = _row(p[i], positive)
        for problem in problems:
            if problem == "confidence":
                top = max(range(len(row)), key=lambda k: row[k])  # the first of equals
                q, happened = row[top], int(code[i] == top)
            else:
                event = positive if problem == "binary" else problem
                q, happened = row[event], int(code[i] == event)
            key = (None if by is None else by[i], problem, bin_number(q, n_bins), happened)
            x = float(q)
            total[key] += [
                1,
                weight,
                weight**2,
                weight * x,
                weight * x * x,
                weight**2 * x * (1 - x),
            ]
    return dict(total)


def naive_scores(
    code: np.ndarray, p: np.ndarray, *, positive: int = 1, w: np.ndarray | None = None
) -> dict[str, float]:
    """Weighted sums of the scores of whole predictions."""
    total = dict.fromkeys(RULES, 0.0)
    for i in range(len(code)):
        weight = 1.0 if w is None else float(w[i])
        if weight == 0:
            continue
        row = [float(q) for q in _row(p[i], positive)]
        top = max(range(len(row)), key=lambda k: row[k])
        if len(row) == 2:  # of the positive class alone
            x = row[positive]
            row = [x if k == positive else 1 - x for k in (0, 1)]
        happened = row[code[i]]
        brier = sum((q - (k == code[i])) ** 2 for k, q in enumerate(row))
        total["brier"] += weight * (brier / 2 if len(row) == 2 else brier)
        total["log"] += weight * (math.inf if happened == 0 else -math.log(happened))
        total["spherical"] += weight * (1 - happened / math.sqrt(sum(q * q for q in row)))
        total["zero-one"] += weight * (top != code[i])
    return total


def collapsed(table: Any) -> dict[tuple[Any, ...], np.ndarray]:
    """Sums of a GridTable by (group, problem, bin, outcome): its cells added up."""
    total: dict[tuple[Any, ...], np.ndarray] = defaultdict(lambda: np.zeros(len(SUMS)))
    for i in range(len(table.bin)):
        key = (
            table.groups[table.group[i]],
            table.problems[table.problem[i]],
            int(table.bin[i]),
            int(table.outcome[i]),
        )
        total[key] += [getattr(table, name)[i] for name in SUMS]
    return dict(total)


def _row(p: Any, positive: int) -> list[Any]:
    """Probabilities of all classes, in column order and in their own precision."""
    if np.ndim(p) == 1:
        return list(p)
    rest = type(p)(1) - p
    return [rest, p] if positive == 1 else [p, rest]


def assert_same_sums(table: Any, expected: dict[tuple[Any, ...], np.ndarray]) -> None:
    """Compare a GridTable with what was written down; the keys must be the same too."""
    found = collapsed(table)
    assert found.keys() == expected.keys()
    for key, sums in expected.items():
        np.testing.assert_allclose(found[key], sums, rtol=1e-10, atol=1e-13, err_msg=str(key))
