"""Nodes of equal weight for Dirichlet distributions of two and three classes."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.simulation._exact import Nodes

_STEPS = {2: (1 << 15, 1 << 16), 3: (384, 768)}  # per axis, coarse and fine
_TINY = -30.0  # log q below which the beta distribution function is q^a / (a B(a, b))


def dirichlet_rules(alpha: FloatArray, *, components: int = 1) -> list[Nodes] | None:
    """Coarse and fine midpoint rule, or None for more than three classes.

    Stick breaking: p_1 ~ Beta(a_1, a_2 + a_3), and p_2 / (p_2 + p_3) ~ Beta(a_2, a_3)
    independently. Midpoints of equal probability on each axis; integrands are bounded with a kink
    where the argmax changes, so the error is about that of the squared step. A mixture of many
    components takes fewer nodes for each, so that their number stays the same.
    """
    if len(alpha) not in _STEPS:
        return None
    fewer = components ** (1 / (len(alpha) - 1))
    return [_midpoints(alpha, max(32, int(steps / fewer))) for steps in _STEPS[len(alpha)]]


def _midpoints(alpha: FloatArray, steps: int) -> Nodes:
    first, rest = _log_beta_quantiles(alpha[0], alpha[1:].sum(), steps)
    if len(alpha) == 2:
        return Nodes(np.column_stack([first, rest]), np.full(steps, 1 / steps))
    second, third = _log_beta_quantiles(alpha[1], alpha[2], steps)
    log_p = np.empty((steps, steps, 3))
    log_p[..., 0] = first[:, None]
    log_p[..., 1] = rest[:, None] + second
    log_p[..., 2] = rest[:, None] + third
    return Nodes(log_p.reshape(-1, 3), np.full(steps * steps, 1 / steps**2))


def _log_beta_quantiles(a: float, b: float, steps: int) -> tuple[FloatArray, FloatArray]:
    """Logarithms of q and of 1 - q at the midpoints of a beta distribution."""
    u = (np.arange(steps) + 0.5) / steps
    return _log_quantile(a, b, u), _log_quantile(b, a, 1 - u)


def _log_quantile(a: float, b: float, u: FloatArray) -> FloatArray:
    from scipy.special import betaincinv, betaln

    near_zero = (np.log(u * a) + betaln(a, b)) / a
    with np.errstate(divide="ignore"):
        usual = np.log(betaincinv(a, b, u))
    return np.where(near_zero < _TINY, near_zero, usual)
