"""Which rows train a model and which calibrate it; never the same ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical._core.validation import is_integer
from veridical.exceptions import invalid
from veridical.selection._classifier_target import Target

Split = tuple[IntArray, IntArray]


def positive_rows(weight: FloatArray | None, n_rows: int) -> IntArray:
    """Rows that count: a weight of zero removes a row before anything is split."""
    return np.arange(n_rows) if weight is None else np.flatnonzero(weight)


def splits_of(
    cv: Any, X: Any, target: Target, kept: IntArray, split_params: dict[str, Any], *, caller: str
) -> list[Split]:
    """Training and calibration rows of each fold, as numbers of rows of `X`.

    Splitters see the rows in `kept` only; pairs of row numbers that are given as they are mean
    rows of `X`, of which others than `kept` are left out.
    """
    from sklearn.model_selection import check_cv
    from sklearn.utils import _safe_indexing

    cv = 5 if cv is None else cv
    if is_integer(cv):
        _check_folds(cv, target, kept, caller=caller)
    elif isinstance(cv, str) or not hasattr(cv, "split"):
        return [_kept_only(pair, kept, len(target.y), caller=caller) for pair in _pairs(cv, caller)]
    everything = len(kept) == len(target.y)
    shown = X if everything else _safe_indexing(X, kept)
    y = target.y[kept]
    params = split_params
    if not everything:
        params = {name: _safe_indexing(value, kept) for name, value in split_params.items()}
    splitter = check_cv(cv, y, classifier=True)
    splits = [(kept[train], kept[test]) for train, test in splitter.split(shown, y, **params)]
    return [_disjoint(split, len(target.y), caller=caller) for split in splits]


def check_tested_once(splits: list[Split], n_rows: int, *, caller: str) -> None:
    """Raise if a row is predicted more than once, which a single map cannot use."""
    times = np.zeros(n_rows, dtype=np.intp)
    for _, test in splits:
        times[test] += 1
    if times.max(initial=0) > 1:
        row = int(times.argmax())
        hint = "use `ensemble=True`, or a splitter that tests every row at most once."
        got = f"row {row} in {times[row]} of {len(splits)}"
        raise invalid(caller, "cv", "a splitter of disjoint test rows", got, hint=hint)


def _check_folds(cv: int, target: Target, kept: IntArray, *, caller: str) -> None:
    if cv < 2:
        hint = 'use `cv="prefit"` for a model that is fitted already.'
        raise invalid(caller, "cv", "at least 2", f"{cv}", hint=hint)
    if len(kept) < cv:
        hint = "use fewer folds or more rows."
        raise invalid(caller, "cv", f"at most the number of rows, {len(kept)}", f"{cv}", hint=hint)
    if target.multilabel:
        return
    names, counts = np.unique(target.y[kept], return_counts=True)
    rarest = int(counts.argmin())
    if counts[rarest] < cv:
        most = int(counts[rarest])
        hint = "drop or join classes of one row." if most < 2 else f"use `cv={most}` or less."
        got = f"{cv} folds, with less than {cv} examples ({most}) of class {names[rarest].item()!r}"
        raise invalid(caller, "cv", "at most the rows of the rarest class", got, hint=hint)


def _pairs(cv: Any, caller: str) -> list[Any]:
    if isinstance(cv, str) or not isinstance(cv, Iterable):
        expected = 'a number of folds, a splitter, pairs of (train, test) rows or "prefit"'
        raise invalid(caller, "cv", expected, repr(cv), hint="e.g. `cv=5`.")
    pairs = list(cv)
    if not pairs:
        hint = "pass at least one pair of (train, test) rows."
        raise invalid(caller, "cv", "of at least one split", "none", hint=hint)
    return pairs


def _kept_only(pair: Any, kept: IntArray, n_rows: int, *, caller: str) -> Split:
    counts = np.zeros(n_rows, dtype=bool)
    counts[kept] = True
    numbers = np.arange(n_rows)
    train, test = (numbers[np.asarray(rows)] for rows in pair)  # also masks and negative numbers
    return _disjoint((train[counts[train]], test[counts[test]]), n_rows, caller=caller)


def _disjoint(split: Split, n_rows: int, *, caller: str) -> Split:
    train, test = split
    seen = np.zeros(n_rows, dtype=bool)
    seen[train] = True
    common = test[seen[test]]
    if len(common):
        hint = "a map learns nothing about new rows from rows that the model has seen."
        got = f"{len(common)} common rows, row {common[0]} first"
        raise invalid(caller, "cv", "of disjoint training and test rows", got, hint=hint)
    if not (len(train) and len(test)):
        got = f"{len(train)} training and {len(test)} test rows"
        hint = "leave rows on both sides of every split."
        raise invalid(caller, "cv", "of non-empty splits", got, hint=hint)
    return split
