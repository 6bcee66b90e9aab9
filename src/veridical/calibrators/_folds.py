"""Folds that do not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from veridical._core.typing import FloatArray
from veridical.calibrators._wrapping import CheckedRows


def folds(rows: CheckedRows, n_folds: int) -> Iterator[tuple[CheckedRows, CheckedRows]]:
    """Training and held-out rows, each row held out once; folds that leave either empty are not.

    Rows are sorted by class and prediction and dealt out in turn, which spreads both evenly. With
    frequency weights the repetitions a row stands for are dealt out one by one, so a row may be
    in several folds with a part of its weight, and weights mean repetition exactly.
    """
    matrix = rows.values.reshape(len(rows.y), -1)
    keys = [*matrix.T, rows.y] if rows.weight is None else [rows.weight, *matrix.T, rows.y]
    order = np.lexsort(keys)
    as_copies = rows.weight is not None and rows.weight_type == "frequency"
    dealt = rows.weight[order] if as_copies else np.ones(len(order))  # type: ignore[index]
    end = np.cumsum(dealt)
    for fold in range(n_folds):
        held = np.empty(len(order))
        held[order] = _dealt_before(end, fold, n_folds) - _dealt_before(end - dealt, fold, n_folds)
        kept = (rows.weight if as_copies else 1.0) - held  # type: ignore[operator]
        if held.max() > 0 and kept.max() > 0:
            yield _part(rows, kept, as_copies=as_copies), _part(rows, held, as_copies=as_copies)


def _dealt_before(position: FloatArray, fold: int, n_folds: int) -> FloatArray:
    """Length of [0, position) in unit cells number fold, fold + n_folds, ..."""
    whole = np.floor(position / n_folds)
    return np.asarray(whole + np.clip(position - whole * n_folds - fold, 0.0, 1.0))


def _part(rows: CheckedRows, held: FloatArray, *, as_copies: bool) -> CheckedRows:
    part = rows.take(held > 0)
    return replace(part, weight=held[held > 0]) if as_copies else part
