"""Isotonic (CORP) miscalibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from veridical._core.sample import BinarySample
from veridical._core.validation import check_option
from veridical.decomposition import isotonic_parts
from veridical.miscalibration._base import ScoreEstimator
from veridical.scores import RULES, get_rule


@dataclass(frozen=True)
class IsotonicError(ScoreEstimator):
    r"""Score lost to miscalibration: the mean score minus that of the isotonic fit (CORP).

    Parameters
    ----------
    rule : {"brier", "log", "spherical", "zero-one"}, default "brier"
        The proper score.

    Notes
    -----
    .. math:: \mathrm{MCB} = \bar S(p, y) - \bar S(c, y), \qquad
       c = \arg\min_{c \text{ non-decreasing in } p} \sum_i w_i (y_i - c_i)^2

    For binary outcomes the same fit c minimises every proper score, so the figure is what the
    best increasing recalibration of these very rows would gain. It is the `miscalibration` of
    :func:`decompose` with ``method="isotonic"``. In units of the score, not of probability: for
    the Brier score at least the mean squared distance between p and c.

    Lower is better; 0 for a model whose scores equal the isotonic fit; at most the mean score,
    so in [0, 1] for all rules but "log", which is infinite when an outcome of probability 0
    occurs. Biased upwards: c is fitted to the rows it is judged on (a calibrated model with
    scores spread evenly reads about 0.015 at n = 200 and 0.0034 at n = 2000 for the Brier score).
    It sees only what an increasing map can mend.

    No bins and nothing to choose. Equal scores share one fitted value. With one class only c is
    that class, and the figure is the whole score. Time O(n log n), memory O(n). An integer weight
    equals repetition.

    References
    ----------
    .. [1] Dimitriadis, Gneiting & Jordan (2021), doi 10.1073/pnas.2016191118.

    Examples
    --------
    The fit is 0.5 throughout: the Brier score is 0.3125, that of the fit 0.25.

    >>> IsotonicError()([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])
    0.0625
    """

    rule: Literal["brier", "log", "spherical", "zero-one"] = "brier"

    def __post_init__(self) -> None:
        check_option(type(self).__name__, "rule", self.rule, RULES)

    @property
    def name(self) -> str:
        """Short name."""
        return f"MCB {self.rule}"

    @property
    def definition(self) -> str:
        """The score and what it is compared with, in words."""
        return (
            f"mean {self.rule} score minus that of the isotonic fit to the same rows (CORP); "
            "in-sample, biased upwards"
        )

    def measure_binary(self, sample: BinarySample) -> float:
        """Fit, and compare the scores."""
        return isotonic_parts(
            sample, get_rule(self.rule, caller=type(self).__name__)
        ).miscalibration
