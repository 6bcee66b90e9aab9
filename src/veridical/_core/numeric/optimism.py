r"""From what maps gain on rows of other folds to what the map fitted to all rows gains on new ones.

Cross-validation estimates the gain of maps fitted to a share (k - 1) / k of the rows, and its rows
do not vary independently: every one of them helps to fit the maps that the others are judged by.
Write g for the mean held-out gain, h for the mean gain of the map fitted to all rows on these same
rows, and :math:`o = h - g` for its optimism. A map of p parameters loses p / 2m by being fitted to
m rows, and seems to gain as much on its own rows (Akaike 1974, doi 10.1109/TAC.1974.1100705;
Efron 1986, doi 10.1080/01621459.1986.10478291), in units of the log score, so with :math:`m = n
(k - 1) / k`

.. math:: h \approx G + \frac p n, \quad g \approx G - \frac{p}{2 n (k - 1)}, \quad
    G \approx g + \frac{o}{2 k - 1}

where G is the gain of the map that is shipped (the correction of Burman 1989, doi
10.1093/biomet/76.3.503, without its k predictions of all rows).

Near calibration the map moves little, so held-out gains of rows vary little, and the variance of
their mean is far too small: what varies there is how far the map moved. With the score vector S of
the p parameters, :math:`n g \approx |S|^2 / 2 - p` and :math:`n G = -|S|^2 / 2`: the error of the
estimate is :math:`|S|^2 - p`, of variance :math:`2 p \approx 2 n o`. So :math:`2 o / n`, or
:math:`o^2` if that is less or the score is not smooth, is added to the variance. No multiple of the
variance of rows would do (Nadeau & Bengio 2003, doi 10.1023/A:1024068626366), since it vanishes
with the map's move; nested cross-validation (Bates, Hastie & Tibshirani 2024, doi
10.1080/01621459.2023.2197686) takes hundreds of fits. `evidence/gains.py` measures the limits.
"""

from __future__ import annotations

import math


def corrected_gain(held_out: float, optimism: float, n_folds: int) -> float:
    """Gain of a map fitted to all rows, from that of maps fitted to all folds but one.

    Examples
    --------
    One parameter and 100 rows: optimism (1 + 1 / 8) / 100 with five folds, and a held-out gain of
    -1.25 / 200 becomes -1 / 200.

    >>> round(corrected_gain(-1.25 / 200, 1.125 / 100, 5), 6)
    -0.005
    """
    return held_out + optimism / (2 * n_folds - 1)


def fit_error(optimism: float, size: float) -> float:
    """Standard error that the fit of a map adds to its gain, of a log or Brier score.

    Examples
    --------
    Eight parameters and 100 rows: 4 / 100, the root of 2 times 8 over 100.

    >>> fit_error(8 / 100, 100)
    0.04
    """
    return min(optimism, math.sqrt(2 * optimism / size))
