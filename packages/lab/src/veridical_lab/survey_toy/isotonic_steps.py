"""Equation 6, the steps of isotonic regression, as printed and as meant."""

from __future__ import annotations

import numpy as np

from veridical.curves import reliability_curve
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray

_SCORES, _OUTCOMES = (0.2, 0.4, 0.6, 0.8), (0, 1, 0, 1)


def isotonic_steps(page: Page) -> None:
    """Read Eq. 6 with the only values its parameters have, beside the fit it describes."""
    page.section("Equation 6: the value of an isotonic step")
    page.text(
        """The parameters of isotonic regression are boundaries b and edge values v; Eq. 6
        multiplies its indicators by m_j, which is neither, and whose index is not that of the sum.
        v_m is meant. Then the scores from the last boundary on are in no bin, where the sum is
        empty: the highest scores would be calibrated to 0. The value there is v_M. And text and
        figures speak of lines between edge values, where the equation has steps."""
    )
    boundaries, values = fitted_steps()
    printed = equation_6(np.array(_SCORES), boundaries, values)
    page.table(
        {
            "score": list(_SCORES),
            "outcome": list(_OUTCOMES),
            "isotonic fit": _fit().tolist(),
            "Eq. 6 with v_m for m_j": printed.tolist(),
        }
    )
    top, fit = float(printed[-1]), float(_fit()[-1])
    page.check(f"""Eq. 6, the highest score | gets the value of the fit there | {top} == {fit} |
        misprint: m_j is not defined, and with v_m in its place every s >= b_M is in
        no bin; the fit there is {fit:g}""")
    same = float(np.abs(printed - _fit())[:-1].max())
    page.check(f"""Eq. 6, scores below the last boundary | get the value of the fit | {same} == 0 |
        largest difference, with v_m for m_j""")


def fitted_steps() -> tuple[FloatArray, FloatArray]:
    """First score and value of each block of the fit to four rows.

    Examples
    --------
    >>> [values.tolist() for values in fitted_steps()]
    [[0.2, 0.4, 0.8], [0.0, 0.5, 1.0]]
    """
    curve = reliability_curve(list(_OUTCOMES), list(_SCORES), method="isotonic")
    return curve.lower, curve.observed


def equation_6(s: FloatArray, boundaries: FloatArray, values: FloatArray) -> FloatArray:
    """The sum of Eq. 6, m from 1 to M - 1, with v_m where m_j is printed.

    Examples
    --------
    >>> equation_6(np.array([0.3, 0.9]), np.array([0.2, 0.8]), np.array([0.25, 1.0])).tolist()
    [0.25, 0.0]
    """
    inside = (s[:, None] >= boundaries[:-1]) & (s[:, None] < boundaries[1:])
    return np.asarray(inside @ values[:-1])


def _fit() -> FloatArray:
    curve = reliability_curve(list(_OUTCOMES), list(_SCORES), method="isotonic")
    return curve.at(list(_SCORES)).observed
