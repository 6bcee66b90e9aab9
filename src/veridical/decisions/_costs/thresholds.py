"""From which probability on to say "positive"."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.data.validation import float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid


def cost_threshold(
    cost_fp: ArrayLike, cost_fn: ArrayLike, *, cost_tp: ArrayLike = 0.0, cost_tn: ArrayLike = 0.0
) -> float | FloatArray:
    r"""Probability above which acting as if the outcome were positive is the cheaper choice.

    Parameters
    ----------
    cost_fp, cost_fn : float or array-like of shape (n,)
        Cost of a false positive and of a false negative, in any unit; arrays give each row its own
        threshold.
    cost_tp, cost_tn : float or array-like of shape (n,), default 0
        Cost of right decisions, e.g. of a treatment that was needed; a gain is negative.

    Returns
    -------
    float or array of shape (n,)
        In [0, 1].

    Notes
    -----
    .. math:: t = \frac{c_{fp} - c_{tn}}{c_{fp} - c_{tn} + c_{fn} - c_{tp}}

    (Elkan 2001, The foundations of cost-sensitive learning, IJCAI, equation 2; 000 section 2.1,
    where right decisions cost nothing). At p = t both decisions are expected to cost the same. The
    rule is optimal for calibrated probabilities only; :func:`miscalibration_cost` says what it
    costs otherwise, and `RocHull.best_threshold` finds the threshold that would have been best.

    A wrong decision may not be cheaper than the right one for the same outcome, nor may both cost
    as much as the right ones: then no threshold is best.

    Examples
    --------
    False positives four times as costly (000 section 2.1):

    >>> cost_threshold(4, 1)
    0.8

    A missed fraud costs its amount, a check costs 10 whatever it finds:

    >>> cost_threshold(10, [40, 1000], cost_tp=10).tolist()
    [0.25, 0.01]
    """
    caller = "cost_threshold"
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn, "cost_tp": cost_tp, "cost_tn": cost_tn}
    values = _check_numbers(costs, caller)
    alarm = values["cost_fp"] - values["cost_tn"]
    miss = values["cost_fn"] - values["cost_tp"]
    for name, extra, right in (("cost_fp", alarm, "cost_tn"), ("cost_fn", miss, "cost_tp")):
        if (extra < 0).any():
            hint = "costs of wrong decisions come first; a gain is a negative cost."
            got = f"{float(extra.min()):.6g} less"
            raise invalid(caller, name, f"at least `{right}`", got, hint=hint)
    if ((alarm + miss) == 0).any():
        hint = "if errors cost nothing, any threshold will do."
        expected = "positive together with that of the other error"
        raise invalid(caller, "cost_fp", expected, "no cost of either error", hint=hint)
    return _plain(alarm / (alarm + miss))


def prior_threshold(
    train: ArrayLike, deploy: ArrayLike, *, threshold: ArrayLike = 0.5
) -> float | FloatArray:
    r"""Threshold on probabilities learnt under one class prior, for use under another.

    Parameters
    ----------
    train, deploy : float or array-like of shape (n,)
        Share of positives where the model was trained (or calibrated), and where it is used.
    threshold : float or array-like of shape (n,), default 0.5
        Threshold meant for probabilities that are right where the model is used, e.g. that of
        :func:`cost_threshold`.

    Returns
    -------
    float or array of shape (n,)
        In [0, 1].

    Notes
    -----
    If only the prior changes, posterior odds change by the factor r'/r of the class ratios, so the
    odds of the threshold are divided by it:

    .. math:: \frac{t}{1 - t} = \frac{c}{1 - c} \cdot \frac{r}{r'}, \qquad
        r = \frac{\pi}{1 - \pi}

    For c = 1/2 that is the t = r / (r + r') of 000 section 2.1. Costs and priors combine as
    ``prior_threshold(train, deploy, threshold=cost_threshold(cost_fp, cost_fn))``. It assumes that
    cases of one class look the same in both places (label shift).

    Examples
    --------
    Trained on balanced classes, used where positives are four times as frequent:

    >>> round(prior_threshold(0.5, 0.8), 12)
    0.2

    The same with false positives four times as costly: the two cancel.

    >>> round(prior_threshold(0.5, 0.8, threshold=cost_threshold(4, 1)), 12)
    0.5
    """
    caller = "prior_threshold"
    values = _check_numbers({"train": train, "deploy": deploy, "threshold": threshold}, caller)
    for name in ("train", "deploy"):
        outside = ~((values[name] > 0) & (values[name] < 1))
        if outside.any():
            hint = "pass the share of positives: a class ratio r is the share r / (1 + r)."
            got = f"{float(np.extract(outside, values[name])[0]):.6g}"
            raise invalid(caller, name, "between 0 and 1, both excluded", got, hint=hint)
    c = values["threshold"]
    outside = ~((c >= 0) & (c <= 1))
    if outside.any():
        got, hint = f"{float(np.extract(outside, c)[0]):.6g}", "a threshold is a probability."
        raise invalid(caller, "threshold", "in [0, 1]", got, hint=hint)
    up = c * values["train"] * (1 - values["deploy"])
    down = (1 - c) * (1 - values["train"]) * values["deploy"]
    return _plain(up / (up + down))


def _numbers(value: Any, caller: str, param: str) -> FloatArray:
    if is_number(value):
        return np.asarray(float(value))
    listed = [value] if np.isscalar(value) else value
    array = float_array(listed, caller=caller, param=param).astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        hint = "pass a number, or one number a row."
        raise invalid(caller, param, "finite", "a value that is not", hint=hint)
    return array


def _check_numbers(values_of: dict[str, ArrayLike], caller: str) -> dict[str, FloatArray]:
    """Numbers and arrays by parameter; raise unless all arrays are of one shape."""
    values = {name: _numbers(value, caller, name) for name, value in values_of.items()}
    shapes = {name: value.shape for name, value in values.items() if value.ndim}
    if len(set(shapes.values())) > 1:
        hint = "pass numbers, or arrays with one value a row."
        name, got = next(iter(shapes)), ", ".join(f"{k} of {s}" for k, s in shapes.items())
        raise invalid(caller, name, "of the same shape as the others", got, hint=hint)
    return values


def _plain(threshold: FloatArray) -> float | FloatArray:
    return float(threshold) if threshold.ndim == 0 else threshold
