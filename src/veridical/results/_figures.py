"""Single figures: calibration errors and score decompositions."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.results._base import Result
from veridical.results._test import format_pvalue


@dataclass(frozen=True, kw_only=True)
class MeasuredError(Result):
    """One calibration error and what exactly it is.

    Attributes
    ----------
    name : short name, e.g. "ECE"
    value : the figure
    definition : binning, norm and debiasing in words
    lens : name of the lens
    n_samples : rows it was computed from
    null_mean, null_q95 : mean and 95 % quantile of the figure on a perfectly calibrated model
        with these same predictions; None if not computed
    low, high : confidence limits of the binned error in the population; None if none is known
    pvalue : of the consistency test, is this more than a calibrated model shows; None if not drawn
    """

    name: str
    value: float
    definition: str
    lens: str
    n_samples: int
    null_mean: float | None = None
    null_q95: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None

    def __str__(self) -> str:
        null = ""
        if self.null_mean is not None:
            null = f"null {self.null_mean:.4f}, 95 % up to {self.null_q95:.4f}; "
        if self.pvalue is not None:
            null = f"{null.removesuffix('; ')}, p = {format_pvalue(self.pvalue)}; "
        if self.low is not None:
            null = f"interval {self.low:.4f} to {self.high:.4f}; {null}"
        where = f"{self.lens}, {self.definition}, n={self.n_samples}"
        return f"{self.name} {self.value:.4f}  ({null}{where})"


@dataclass(frozen=True, kw_only=True)
class Decomposition(Result):
    """Parts of a mean score.

    ``score = miscalibration - discrimination + uncertainty + within_bin``

    Attributes
    ----------
    score : mean score of the predictions
    miscalibration : what recalibration would save (also reliability, calibration loss)
    discrimination : what knowing the predictions is worth (also resolution)
    uncertainty : score of always predicting the base rate
    refinement : uncertainty - discrimination, the score left after recalibration
    within_bin : what binning hides: zero for the exact methods "isotonic" and "unique"
    within_bin_variance, within_bin_covariance : its two parts for the Brier score,
        ``within_bin = within_bin_variance - within_bin_covariance``; None for other rules
    grouping, epistemic, irreducible : with a known posterior, else None
    rule, method, definition, lens, n_samples : enough to reproduce the figures
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    refinement: float
    within_bin: float = 0.0
    within_bin_variance: float | None = None
    within_bin_covariance: float | None = None
    grouping: float | None = None
    epistemic: float | None = None
    irreducible: float | None = None
    rule: str
    method: str
    definition: str
    lens: str
    n_samples: int

    def __str__(self) -> str:
        text = (
            f"{self.rule} {self.score:.4f} = MCB {self.miscalibration:z.4f}"
            f" - DSC {self.discrimination:z.4f} + UNC {self.uncertainty:.4f}"
        )
        if self.method == "bins":
            text += f" + within-bin {self.within_bin:z.4f}"
        if self.epistemic is not None and self.irreducible is not None:
            text += f"; epistemic {self.epistemic:.4f}, irreducible {self.irreducible:.4f}"
            text += f", grouping {self.grouping:.4f}"
        return f"{text}  ({self.definition}, n={self.n_samples})"
