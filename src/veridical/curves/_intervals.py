"""Confidence intervals of a binomial frequency."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import check_option

METHODS = ("wilson", "clopper-pearson")


def binomial_interval(
    frequency: FloatArray, size: FloatArray, *, method: str, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    r"""Limits of a frequency observed in `size` trials (which may be fractional).

    Parameters
    ----------
    frequency, size : arrays of equal shape
        Observed share, and number of rows (effective number for weighted data).
    method : {"wilson", "clopper-pearson"}
        Wilson's score interval covers the level on average; Clopper and Pearson's never covers
        less, and is wider.
    confidence_level : float
        Nominal two-sided coverage.

    Notes
    -----
    Wilson (1927), doi 10.1080/01621459.1927.10502953:
    :math:`\left(\hat p + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat p (1-\hat p)}{n}
    + \frac{z^2}{4 n^2}}\right) / (1 + z^2 / n)`.
    Clopper & Pearson (1934), doi 10.1093/biomet/26.4.404: quantiles of Beta(x, n - x + 1) and
    Beta(x + 1, n - x).

    Examples
    --------
    >>> low, high = binomial_interval(np.array([0.5]), np.array([4.0]), method="wilson",
    ...                               confidence_level=0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.15], [0.85])
    """
    from scipy import special

    check_option("binomial_interval", "method", method, METHODS)
    tail = (1 - confidence_level) / 2
    if method == "wilson":
        z = float(special.ndtri(1 - tail))
        centre = frequency + z * z / (2 * size)
        spread = z * np.sqrt(frequency * (1 - frequency) / size + (z / (2 * size)) ** 2)
        scale = 1 + z * z / size
        low, high = (centre - spread) / scale, (centre + spread) / scale
        # At 0 and 1 the formula gives the exact end up to rounding.
        return np.where(frequency <= 0, 0.0, low), np.where(frequency >= 1, 1.0, high)
    hits = frequency * size
    misses = size - hits
    some, all_hit = hits > 1e-12 * size, misses <= 1e-12 * size
    low = np.where(some, special.betaincinv(np.where(some, hits, 1.0), misses + 1, tail), 0.0)
    high = special.betaincinv(hits + 1, np.where(all_hit, 1.0, misses), 1 - tail)
    return low, np.where(all_hit, 1.0, high)
