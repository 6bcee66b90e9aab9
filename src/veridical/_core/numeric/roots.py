"""Where a function crosses zero."""

from __future__ import annotations

import math
from collections.abc import Callable

_MOST = 100  # steps
_FINEST = 4 * math.ulp(1.0)


def root_between(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = _FINEST,
) -> float:
    """Root of a function that has opposite signs at two ends, to within ``xtol + rtol |root|``.

    Brent's method (Brent 1973, Algorithms for minimization without derivatives, chapter 4):
    secants and inverse quadratic steps, or halves where those are no shorter. The steps are those
    of `scipy.optimize.brentq`, to the bit; that package takes longer to load than all the roots of
    a report to find.

    Examples
    --------
    >>> round(root_between(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    before, now = float(low), float(high)
    f_before, f_now = float(function(before)), float(function(now))
    if f_before == 0:
        return before
    if f_now == 0:
        return now
    if math.copysign(1, f_before) == math.copysign(1, f_now) or math.isnan(f_before + f_now):
        msg = f"no change of sign: {f_before} at {low}, {f_now} at {high}"
        raise ValueError(msg)
    across, f_across, step_before, step = before, f_before, now - before, now - before
    for _ in range(_MOST):
        if f_before != 0 and f_now != 0 and (f_before < 0) != (f_now < 0):
            across, f_across = before, f_before
            step_before = step = now - before
        if abs(f_across) < abs(f_now):
            before, now, across = now, across, now
            f_before, f_now, f_across = f_now, f_across, f_now
        near = (xtol + rtol * abs(now)) / 2
        half = (across - now) / 2
        if f_now == 0 or abs(half) < near:
            return now
        tried = math.inf
        if abs(step_before) > near and abs(f_now) < abs(f_before):
            if before == across:
                tried = -f_now * (now - before) / (f_now - f_before)
            else:
                d_before = (f_before - f_now) / (before - now)
                d_across = (f_across - f_now) / (across - now)
                pull = f_across * d_across - f_before * d_before
                scale = d_across * d_before * (f_across - f_before)
                tried = -f_now * pull / scale if scale else math.inf
        if 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - near):
            step_before, step = step, tried
        else:
            step_before = step = half
        before, f_before = now, f_now
        now += step if abs(step) > near else math.copysign(near, half)
        f_now = float(function(now))
    msg = f"no root to within {xtol} after {_MOST} steps, at {now}"
    raise RuntimeError(msg)
