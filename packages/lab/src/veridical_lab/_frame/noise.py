"""Numbers with their standard errors, written as `Page.check` reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from veridical_lab.arrays import ArrayLike, FloatArray


def drawn(values: Sequence[float] | FloatArray) -> str:
    """Mean of independent draws, and its standard error.

    Examples
    --------
    >>> drawn([0.1, 0.3])
    '0.2 ~ 0.09999999999999999'
    """
    found = np.asarray(values, dtype=float)
    if len(found) < 2:
        msg = "one draw has no standard error"
        raise ValueError(msg)
    return with_error(float(found.mean()), float(found.std(ddof=1)) / len(found) ** 0.5)


def with_error(value: float, error: float) -> str:
    """A number and its standard error.

    Examples
    --------
    >>> with_error(0.25, 0.5), with_error(0.25, 0.0)
    ('0.25 ~ 0.5', '0.25')
    """
    return f"{value} ~ {error}" if error else f"{value}"


def jackknifed(statistic: Callable[..., float], *columns: ArrayLike) -> str:
    """A function of the means of some columns, and its standard error.

    Rows of the columns are independent. Each is left out in turn (Efron and Stein 1981,
    doi:10.1214/aos/1176345462).

    Examples
    --------
    Of a mean this is the usual standard error; a ratio of columns in proportion has none.

    >>> jackknifed(lambda mean: mean, [1.0, 3.0])
    '2.0 ~ 1.0'
    >>> jackknifed(lambda a, b: a / b, [1.0, 3.0], [2.0, 6.0])
    '0.5'
    """
    table = [np.asarray(column, dtype=float) for column in columns]
    n = len(table[0])
    if n < 2:
        msg = "one draw has no standard error"
        raise ValueError(msg)
    without = [[(c.sum(axis=0) - c[i]) / (n - 1) for c in table] for i in range(n)]
    parts = np.array([statistic(*means) for means in without])
    error = float(np.sqrt((n - 1) / n * ((parts - parts.mean()) ** 2).sum()))
    return with_error(float(statistic(*(c.mean(axis=0) for c in table))), error)


def share(hits: ArrayLike) -> str:
    """Share of independent draws, and its standard error.

    Two draws of either kind are added for the error, so that a few draws that all agree do not
    pass for certainty (Agresti and Coull 1998, doi:10.1080/00031305.1998.10480550).

    Examples
    --------
    >>> share([True] * 5)[:12]
    '1.0 ~ 0.1385'
    """
    found = np.asarray(hits, dtype=float)
    return share_of(float(found.mean()), len(found))


def share_of(part: float, n: int) -> str:
    """`share`, from what it was of n draws."""
    p = (part * n + 2) / (n + 4)
    return with_error(part, (p * (1 - p) / (n + 4)) ** 0.5)


def apart(one: ArrayLike, other: ArrayLike) -> str:
    """Difference of the means of two independent samples, and its standard error.

    Examples
    --------
    >>> apart([1.0, 3.0], [0.0, 0.0])
    '2.0 ~ 1.0'
    """
    pair = [np.asarray(values, dtype=float) for values in (one, other)]
    spread = sum(float(values.var(ddof=1)) / len(values) for values in pair)
    return with_error(float(pair[0].mean() - pair[1].mean()), spread**0.5)
