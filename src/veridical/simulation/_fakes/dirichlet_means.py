"""Mean of the largest probability of a Dirichlet vector, before and after a power map.

A Dirichlet vector is a vector of independent gamma variables G_k divided by their sum, and the sum
is independent of the vector. Both facts turn integrals over the simplex into integrals over a
line, so they are computed for hundreds of classes as for two.

Maximum likelihood for the Dirichlet distribution.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from veridical._core.typing import FloatArray

_PANELS = 256  # of the integral over the largest gamma variable
_ORDER = 12  # Gauss-Legendre nodes in a panel
_TAIL = 1e-18  # probability that is left out at each end
_TINY = -30.0  # log x below which the gamma distribution function is x^a / Gamma(a + 1)


@lru_cache(maxsize=8)
def _legendre(order: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2


def panel_rule(edges: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss-Legendre rules on the panels between `edges`."""
    nodes, weights = _legendre(order)
    width = np.diff(edges)
    return (edges[:-1, None] + width[:, None] * nodes).ravel(), (width[:, None] * weights).ravel()


def mean_largest(alpha: FloatArray, *, panels: int = _PANELS) -> float:
    r"""E[max_k p_k] for p ~ Dirichlet(alpha), by one integral.

    .. math::

        \mathrm{E} \max_k p_k = \frac{\mathrm{E} \max_k G_k}{\sum_k \alpha_k}
        = \frac{1}{\sum_k \alpha_k} \int_0^\infty 1 - \prod_k F_{\alpha_k}(x) \, dx

    because the vector and the sum of the gamma variables are independent. In log x, where the
    integrand is smooth for large and small alpha alike. O(panels * number of distinct alpha).

    Examples
    --------
    >>> round(mean_largest(np.ones(3)), 12) == round(11 / 18, 12)  # (1 + 1/2 + 1/3) / 3
    True
    """
    from scipy.special import gammainc, gammainccinv, gammaincinv

    values, counts = np.unique(alpha, return_counts=True)
    high = float(gammainccinv(values, _TAIL).max())
    low = max(float(gammaincinv(values, _TAIL).max()), _TAIL * float(values.max()))
    t, weight = panel_rule(np.linspace(np.log(low), np.log(high), panels + 1), _ORDER)
    x = np.exp(t)
    with np.errstate(divide="ignore"):
        log_below = np.log(gammainc(values, x[:, None])) @ counts
    mean = low + float((weight * x) @ -np.expm1(log_below))
    return mean / float(alpha.sum())


class PowerConfidence:
    r"""E[max c] for c = p^b / sum p^b with p ~ Dirichlet(alpha, ..., alpha), as a function of b.

    With M the largest gamma variable, max c = 1 / S and S = 1 + sum over the others of (G / M)^b.
    Given M = m the others are independent and confined to [0, m], so

    .. math::

        \mathrm{E}[1/S \mid m] = \int_0^\infty e^{-t} \varphi_m(t)^{K-1} dt, \qquad
        \varphi_m(t) = \mathrm{E}[e^{-t (G/m)^b} \mid G \le m]
        = e^{-t} + \int_0^\infty t b e^{-b y} e^{-t e^{-b y}} R_m(y) dy,

    where :math:`R_m(y) = F(m e^{-y}) / F(m)` (integration by parts, y = -log(G / m)). Three nested
    Gauss-Legendre rules on panels that halve towards the ends: deterministic, and neither accuracy
    nor cost depends on K. `coarse` takes fewer nodes, which shows how exact the usual ones are.

    Examples
    --------
    >>> round(PowerConfidence(1.0, 3)(1.0), 8) == round(11 / 18, 8)  # exponent 1 changes nothing
    True
    """

    def __init__(self, alpha: float, n_classes: int, *, coarse: bool = False) -> None:
        order = 6 if coarse else 8
        self.n_classes = n_classes
        self._y, self._y_weight = panel_rule(_dyadic(-40, 40), order)
        self._t, self._t_weight = panel_rule(_dyadic(-20, 6), order)
        lower, weight = panel_rule(_dyadic(-32, -1), order // 2)
        log_below = np.concatenate([np.log(lower), np.log1p(-lower)]) / n_classes
        self._m_weight = np.concatenate([weight, weight])
        log_m = _log_gamma_quantile(alpha, log_below)[:, None]
        log_ratio = _log_gamma_cdf(alpha, log_m - self._y) - _log_gamma_cdf(alpha, log_m)
        self._ratio = np.exp(np.minimum(log_ratio, 0.0))

    def __call__(self, exponent: float) -> float:
        """Mean of the largest component after the power map with this exponent."""
        t = self._t[:, None]
        power = np.exp(-exponent * self._y)
        kernel = t * (exponent * self._y_weight * power) * np.exp(-t * power)
        transform = np.minimum(np.exp(-self._t) + self._ratio @ kernel.T, 1.0)
        given = transform ** (self.n_classes - 1) @ (self._t_weight * np.exp(-self._t))
        return float(self._m_weight @ given)


def _dyadic(first: int, last: int) -> FloatArray:
    """Zero and the powers of two from 2^first to 2^last: panels for any scale in between."""
    return np.concatenate([[0.0], 2.0 ** np.arange(first, last + 1)])


def _log_gamma_cdf(alpha: float, log_x: FloatArray) -> FloatArray:
    """Logarithm of the gamma distribution function at exp(log_x), also where that underflows."""
    from scipy.special import gammainc, gammaln

    near_zero = alpha * log_x - gammaln(alpha + 1)
    with np.errstate(divide="ignore"):
        usual = np.log(gammainc(alpha, np.exp(np.maximum(log_x, _TINY))))
    return np.where(log_x < _TINY, near_zero, usual)


def _log_gamma_quantile(alpha: float, log_below: FloatArray) -> FloatArray:
    """Logarithm of the gamma quantile at exp(log_below), exact in both tails."""
    from scipy.special import gammainccinv, gammaincinv, gammaln

    near_zero = (log_below + gammaln(alpha + 1)) / alpha
    with np.errstate(divide="ignore"):
        lower = np.log(gammaincinv(alpha, np.exp(log_below)))
        upper = np.log(gammainccinv(alpha, -np.expm1(log_below)))
    usual = np.where(log_below < np.log(0.5), lower, upper)
    return np.where(near_zero < _TINY, near_zero, usual)


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
