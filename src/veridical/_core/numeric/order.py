"""An order of rows that only their values decide: neither that of the rows nor that of the classes.

Whoever deals rows to folds, or takes some of many, sorts them first, so that the same data give the
same answer however they were stored.
"""

from __future__ import annotations

import numpy as np

from veridical._core.typing import Array, FloatArray, IntArray


def value_order(values: FloatArray, y: IntArray, weight: FloatArray | None = None) -> IntArray:
    """Indices that sort rows by what they say about what happened.

    Rows are sorted by the prediction of the class that occurred, then by all of their predictions,
    sorted. What is still alike is sorted by columns and by weight, so the order of the classes
    matters to rows that are the same but for the names of their classes, and to no others.

    Parameters
    ----------
    values : array of shape (n,) or (n, K)
        Predictions; of two classes with one column, those of the second.
    y : class indices
    weight : array of shape (n,), optional

    Examples
    --------
    >>> p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    >>> value_order(p, np.array([2, 1])).tolist()
    [1, 0]
    >>> value_order(p[:, ::-1], np.array([0, 1])).tolist()
    [1, 0]
    """
    columns = values.reshape(len(y), -1)
    one = columns.shape[1] == 1
    own = np.where(y == 1, columns[:, 0], -columns[:, 0]) if one else columns[np.arange(len(y)), y]
    order = np.argsort(own, kind="stable")
    equal = np.diff(own[order]) == 0
    if equal.any():  # the other keys matter to these rows only
        among = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        rows = order[among]
        keys: list[Array] = [] if weight is None else [weight[rows]]
        keys += [*columns[rows].T, y[rows]]
        if not one:
            keys += list(np.sort(columns[rows], axis=1).T)
        order[among] = rows[np.lexsort([*keys, own[rows]])]
    return order


def class_order(values: FloatArray, y: IntArray, mass: FloatArray, n_classes: int) -> IntArray:
    """Indices of the classes, the rarest first; of equally frequent ones the least predicted.

    `mass` says how many rows each row stands for.

    Examples
    --------
    >>> p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    >>> class_order(p, np.array([2, 1]), np.ones(2), 3).tolist()
    [0, 1, 2]
    """
    mean = np.average(values.reshape(len(y), -1), axis=0, weights=mass)
    if len(mean) == 1:
        mean = np.array([-mean[0], mean[0]])
    return np.lexsort((mean, np.bincount(y, mass, minlength=n_classes)))
