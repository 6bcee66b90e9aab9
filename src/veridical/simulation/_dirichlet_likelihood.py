"""Maximum likelihood for the Dirichlet distribution."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray

_STEPS = 200
_SMALL = 1e-6  # relative step
_LEAST, _MOST = 1e-8, 1e8  # parameters where the search may begin


def fit_dirichlet(log_p: FloatArray, weight: FloatArray) -> FloatArray:
    r"""Parameters of the Dirichlet distribution of the greatest likelihood.

    The likelihood is concave and depends on the rows through the means s_k of log p_k alone:

    .. math::

        \ell(\alpha) / n = \log \Gamma(A) - \sum_k \log \Gamma(\alpha_k)
        + \sum_k (\alpha_k - 1) s_k, \qquad A = \sum_k \alpha_k.

    Newton steps cost O(K), because the Hessian is diagonal plus a constant [1]_, and are halved
    until parameters stay positive and the likelihood does not fall. O(n K) in all.

    References
    ----------
    .. [1] Minka (2000), Estimating a Dirichlet distribution, technical report, MIT, section 1.

    Examples
    --------
    >>> rows = np.log(np.random.default_rng(0).dirichlet([2.0, 1.0], size=50_000))
    >>> fit_dirichlet(rows, np.ones(50_000)).round(1).tolist()
    [2.0, 1.0]
    """
    from scipy.special import polygamma, psi

    share = weight / weight.sum()
    mean_log = share @ log_p
    alpha = _by_moments(np.exp(log_p), share)
    value = _likelihood(alpha, mean_log)
    for _ in range(_STEPS):
        total = alpha.sum()
        gradient = psi(total) - psi(alpha) + mean_log
        diagonal, constant = -polygamma(1, alpha), polygamma(1, total)
        shift = (gradient / diagonal).sum() / (1 / constant + (1 / diagonal).sum())
        step = -(gradient - shift) / diagonal
        if (np.abs(step) <= _SMALL * alpha).all():
            return alpha + step  # the error squares at each step, so this one ends it
        alpha, gain = _climb(alpha, step, mean_log, value)
        value += gain
        if gain == 0:
            break
    return alpha


def _climb(
    alpha: FloatArray, step: FloatArray, mean_log: FloatArray, value: float
) -> tuple[FloatArray, float]:
    """Take the longest of the steps 1, 1/2, 1/4, ... that gains; none if no step does."""
    for halvings in range(60):
        candidate = alpha + step / 2**halvings
        if (candidate > 0).all():
            gain = _likelihood(candidate, mean_log) - value
            if gain >= 0:
                return candidate, gain
    return alpha, 0.0


def _likelihood(alpha: FloatArray, mean_log: FloatArray) -> float:
    from scipy.special import gammaln

    return float(gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ mean_log)


def _by_moments(p: FloatArray, share: FloatArray) -> FloatArray:
    """Parameters with the means of the rows and their summed variance."""
    mean = share @ p
    variance = float((share @ (p - mean) ** 2).sum())
    total = float((mean * (1 - mean)).sum()) / max(variance, 1e-300) - 1
    return np.clip(mean * np.clip(total, _LEAST, _MOST), _LEAST, _MOST)
