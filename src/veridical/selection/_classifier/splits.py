"""Rows that train and rows that calibrate, fold by fold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from veridical._core.data.validation import is_integer
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.selection._classifier.target import ClassifierTarget

Split = tuple[IntArray, IntArray]
_DIFFERENT_ROWS = 20
_FEWEST = 3  # rows of a map: through two points every line goes


def positive_rows(weight: FloatArray | None, n_rows: int) -> IntArray:
    """Rows that count: a weight of zero removes a row before anything is split."""
    return np.arange(n_rows) if weight is None else np.flatnonzero(weight)


def splits_of(
    cv: Any,
    X: Any,
    target: ClassifierTarget,
    kept: IntArray,
    split_params: dict[str, Any],
    *,
    caller: str,
) -> list[Split]:
    """Training and calibration rows of each fold, as numbers of rows of `X`.

    Splitters see the rows in `kept` only; pairs of row numbers that are given as they are mean
    rows of `X`, of which others than `kept` are left out.
    """
    from sklearn.model_selection import check_cv
    from sklearn.utils import _safe_indexing

    asked, cv = cv is not None, 5 if cv is None else cv
    if is_integer(cv) or (hasattr(cv, "split") and not isinstance(cv, str)):
        _check_folds(cv, target, kept, asked=asked, caller=caller)
    else:
        return [_kept_only(pair, kept, len(target.y), caller=caller) for pair in _pairs(cv, caller)]
    everything = len(kept) == len(target.y)
    shown = X if everything else _safe_indexing(X, kept)
    y = target.y[kept]
    params = split_params
    if not everything:
        params = {name: _safe_indexing(value, kept) for name, value in split_params.items()}
    if params.get("groups") is not None and is_integer(cv):
        from sklearn.model_selection import StratifiedGroupKFold

        n_groups = len(np.unique(np.asarray(params["groups"])))
        if n_groups < cv:
            hint = "use fewer folds." if n_groups > 1 else "leave `groups` out."
            got = f"{cv} folds of {n_groups} groups"
            raise invalid(caller, "cv", "at most the number of groups", got, hint=hint)
        cv = StratifiedGroupKFold(cv)
    splitter = check_cv(cv, y, classifier=True)
    splits = [(kept[train], kept[test]) for train, test in splitter.split(shown, y, **params)]
    return [_disjoint(split, len(target.y), caller=caller) for split in splits]


def copies_in(X: Any) -> IntArray | None:
    """Number of the different row of each row of `X`, if equal rows must be copies; else None.

    Equal rows of a few categories are not. They are where a column of numbers tells all different
    rows apart: then it is a measurement, of which two do not agree to the last digit by chance.
    """
    try:
        values = np.asarray(X)
    except (TypeError, ValueError):
        return None
    if values.ndim != 2 or values.dtype.kind not in "fiu" or len(values) < 2 * _DIFFERENT_ROWS:
        return None
    most, column = 0, values[:, :1].ravel()
    for each in values.T:
        count = len(np.unique(each))
        if count == len(values):  # no two rows are equal
            return None
        if count > most:
            most, column = count, each
    if most < _DIFFERENT_ROWS:
        return None
    _, first, codes = np.unique(column, return_index=True, return_inverse=True)
    codes = codes.reshape(-1)
    same = (values == values[first[codes]]) | (values != values)  # NaN stays NaN
    return codes if same.all() else None


def check_for_single_map(splits: list[Split], n_rows: int, *, caller: str) -> None:
    """Raise if a row is predicted more than once, which a single map cannot use, or too few are."""
    times = np.zeros(n_rows, dtype=np.intp)
    for _, test in splits:
        times[test] += 1
    if times.max(initial=0) > 1:
        row = int(times.argmax())
        hint = "use `ensemble=True`, or a splitter that tests every row at most once."
        got = f"row {row} in {times[row]} of {len(splits)}"
        raise invalid(caller, "cv", "a splitter of disjoint test rows", got, hint=hint)
    _check_enough(int(times.sum()), "all folds together", caller=caller)


def check_for_own_maps(splits: list[Split], *, caller: str) -> None:
    """Raise if a fold has too few rows for a map of its own."""
    for number, (_, test) in enumerate(splits):
        _check_enough(len(test), f"fold {number}", caller=caller)


def _check_enough(n_rows: int, where: str, *, caller: str) -> None:
    if n_rows < _FEWEST:
        hint = "use fewer folds, or `ensemble=False`, where one map learns from all folds."
        got = f"{n_rows} in {where}"
        raise invalid(caller, "cv", f"of at least {_FEWEST} test rows for a map", got, hint=hint)


def _check_folds(
    cv: Any, target: ClassifierTarget, kept: IntArray, *, asked: bool, caller: str
) -> None:
    """Raise if some fold would have to lack a class, as scikit-learn does: not by default."""
    from sklearn.model_selection import BaseShuffleSplit, LeaveOneOut

    if isinstance(cv, LeaveOneOut):
        # Without a row its class is a little rarer in training, so predictions lean against it.
        hint = "use e.g. `cv=10`: a model that lacks just one row leans against its outcome."
        raise invalid(caller, "cv", "of folds with all classes", "LeaveOneOut()", hint=hint)
    n_folds = cv if is_integer(cv) else getattr(cv, "n_splits", None)
    if n_folds is None or isinstance(cv, BaseShuffleSplit):
        return
    if n_folds < 2:
        hint = 'use `cv="prefit"` for a model that is fitted already.'
        raise invalid(caller, "cv", "at least 2", f"{n_folds}", hint=hint)
    if len(kept) < n_folds:
        hint = "use fewer folds or more rows."
        expected = f"at most the number of rows, {len(kept)}"
        raise invalid(caller, "cv", expected, f"{n_folds}", hint=hint)
    if target.multilabel:
        return
    names, counts = np.unique(target.y[kept], return_counts=True)
    rarest = int(counts.argmin())
    if counts[rarest] < n_folds and (asked or counts.max() < n_folds):
        most = int(counts[rarest])
        hint = "drop or join classes of one row." if most < 2 else f"use {most} folds or less."
        hint = f"use `cv={most}` or less." if most > 1 and is_integer(cv) else hint
        rare = f"less than {n_folds} examples ({most}) of class {names[rarest].item()!r}"
        got = f"{n_folds} folds, with {rare}"
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
