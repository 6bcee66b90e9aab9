"""Several p-values at once."""

from __future__ import annotations

from typing import Literal

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical._core.validation import check_option, float_array
from veridical.exceptions import invalid

_METHODS = ("holm", "benjamini-hochberg", "bonferroni")
Adjustment = Literal["holm", "benjamini-hochberg", "bonferroni"]


def adjust_pvalues(pvalues: ArrayLike, *, method: Adjustment = "holm") -> FloatArray:
    """P-values that account for how many of them there are.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        P-values of m tests.
    method : {"holm", "benjamini-hochberg", "bonferroni"}
        "holm" (Holm 1979) bounds the probability of any false rejection, whatever the dependence,
        and always rejects at least as much as "bonferroni". "benjamini-hochberg" (1995, doi
        10.1111/j.2517-6161.1995.tb02031.x) bounds the expected share of false ones among the
        rejections, for independent or positively dependent tests.

    Returns
    -------
    array of shape (m,)
        Adjusted p-values, in the order given: reject where they are at most the level.

    Examples
    --------
    >>> adjust_pvalues([0.01, 0.04, 0.03]).round(4).tolist()  # 3 x .01, then 2 x .03, max
    [0.03, 0.06, 0.06]
    >>> adjust_pvalues([0.01, 0.04, 0.03], method="benjamini-hochberg").round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    caller = "adjust_pvalues"
    check_option(caller, "method", method, _METHODS)
    p = float_array(pvalues, caller=caller, param="pvalues").astype(np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        hint = "pass one p-value per test."
        got = f"shape {p.shape}" if p.ndim != 1 else "values outside"
        raise invalid(caller, "pvalues", "a 1-d array of values in [0, 1]", got, hint=hint)
    m = len(p)
    order = np.argsort(p, kind="stable")
    ranked = p[order]
    if method == "bonferroni":
        adjusted = m * ranked
    elif method == "holm":
        adjusted = np.maximum.accumulate((m - np.arange(m)) * ranked)
    else:
        scaled = ranked * m / (1 + np.arange(m))
        adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    result = np.empty(m)
    result[order] = np.minimum(adjusted, 1.0)
    return result
