"""Coefficients of Cox's regression and what freeing them gains."""

from __future__ import annotations

import math
from dataclasses import dataclass

from veridical.results import Coefficient


@dataclass(frozen=True)
class CoxFit:
    """Coefficients and the log-likelihoods gained by freeing them.

    Attributes
    ----------
    intercepts, slopes, in_the_large : coefficients with intervals
    gain_intercepts : twice the log-likelihood gained by free intercepts, slopes being 1
    gain_slopes : ... and what free slopes add to it
    df_intercepts, df_slopes : how many directions of each the data identify
    notes : statistical doubts
    """

    intercepts: tuple[Coefficient, ...]
    slopes: tuple[Coefficient, ...]
    in_the_large: tuple[Coefficient, ...]
    gain_intercepts: float
    gain_slopes: float
    df_intercepts: int
    df_slopes: int
    notes: tuple[str, ...]


def unknown(name: str) -> Coefficient:
    """Return a coefficient the data say nothing about."""
    return Coefficient(name=name, estimate=None, standard_error=None, low=-math.inf, high=math.inf)
