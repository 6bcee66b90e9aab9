"""Single figures: calibration errors, decompositions, coefficients, Cox's test, exact values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical.results.base import CalibrationTest, Result, say_pvalue


@dataclass(frozen=True, kw_only=True, repr=False)
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
    low, high : confidence limits of the error (a binned one in these bins) in the population; None
        if none is known
    pvalue : of the consistency test, is this more than a calibrated model shows; None if not drawn
    n_resamples : draws that `pvalue` comes from, None if not drawn
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
    n_resamples: int | None = None

    def _text(self) -> str:
        null = ""
        if self.null_mean is not None:
            null = f"null {self.null_mean:.4f}, 95 % up to {self.null_q95:.4f}; "
        if self.pvalue is not None:
            null = f"{null.removesuffix('; ')}, {say_pvalue(self.pvalue, self.n_resamples)}; "
        if self.low is not None:
            null = f"interval {self.low:.4f} to {self.high:.4f}; {null}"
        where = f"{self.lens}, {self.definition}, n={self.n_samples}"
        return f"{self.name} {self.value:.4f}  ({null}{where})"


@dataclass(frozen=True, kw_only=True, repr=False)
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

    def _text(self) -> str:
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Coefficient(Result):
    """One coefficient of a regression, with its confidence interval.

    Attributes
    ----------
    name : what it belongs to
    estimate : maximum-likelihood estimate; infinite where the likelihood rises for ever, None
        where the data say nothing about it
    standard_error : from the observed information; None where the estimate is not finite
    low, high : limits of the confidence interval, possibly infinite

    Examples
    --------
    >>> slope = Coefficient(name="slope", estimate=0.8, standard_error=0.05, low=0.7, high=0.9)
    >>> print(slope)
    slope 0.8000 (0.7000 to 0.9000)
    >>> 1.0 in slope
    False
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name",)
    _number_columns: ClassVar[tuple[str, ...]] = ("estimate", "standard_error", "low", "high")

    name: str
    estimate: float | None
    standard_error: float | None
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def _text(self) -> str:
        estimate = "not identified" if self.estimate is None else f"{self.estimate:.4f}"
        return f"{self.name} {estimate} ({self.low:.4f} to {self.high:.4f})"


@dataclass(frozen=True, kw_only=True, repr=False)
class CoxTest(CalibrationTest):
    """Outcome of Cox's test: logit of the outcome = intercept + slope * logit of the prediction.

    Attributes
    ----------
    statistic, pvalue, df : joint likelihood-ratio test of all intercepts 0 and slopes 1
    intercepts, slopes : coefficients of the fitted model; one each for two classes
    intercepts_in_the_large : those of the model whose slopes are fixed to 1
    intercept_test : intercepts 0, given slopes 1
    slope_test : slopes 1, given free intercepts; None where no slope is identified
    confidence_level : of the intervals of the coefficients
    interval : how these intervals were made, "bounded means" or "Wald"
    method, null, definition, lens, n_samples, n_resamples, notes : as in `CalibrationTest`
    """

    intercepts: tuple[Coefficient, ...]
    slopes: tuple[Coefficient, ...]
    intercepts_in_the_large: tuple[Coefficient, ...]
    intercept_test: CalibrationTest
    slope_test: CalibrationTest | None
    confidence_level: float
    interval: str

    @property
    def intercept(self) -> Coefficient | None:
        """The only intercept; None if there are several."""
        return _only(self.intercepts)

    @property
    def slope(self) -> Coefficient | None:
        """The only slope; None if there are several."""
        return _only(self.slopes)

    @property
    def in_the_large(self) -> Coefficient | None:
        """The only intercept of the model with slope 1 (calibration-in-the-large)."""
        return _only(self.intercepts_in_the_large)

    @property
    def verdict(self) -> str:
        """What the coefficients say, in words.

        A slope whose interval lies below 1 means predictions too extreme (over-confident), above
        1 too timid (under-confident). Intercepts given slope 1 speak of the level: an interval
        above 0 means that outcomes are more frequent than predicted (under-prediction; with
        several classes in relation to the reference class).
        """
        if len(self.slopes) > len(self.intercepts):  # a matrix, where off the diagonal 0 is right
            sentences = [_of_matrix(self.slope_test, 1 - self.confidence_level)]
        else:
            sentences = [_of_slope(slope) for slope in self.slopes]
        sentences += [_of_level(level) for level in self.intercepts_in_the_large]
        found = [text for text in sentences if text]
        if not found and self.rejects(1 - self.confidence_level):
            return "miscalibrated, though no coefficient by itself deviates beyond chance"
        return "; ".join(found) or "no deviation of slope or intercept beyond chance"

    def _columns(self) -> dict[str, list[object]]:
        columns = super()._columns()
        for part in ("intercept", "slope"):
            coefficient = getattr(self, part)
            columns[part] = [None if coefficient is None else coefficient.estimate]
        return columns

    _number_columns: ClassVar[tuple[str, ...]] = ("df", "n_resamples", "intercept", "slope")


def _only(coefficients: tuple[Coefficient, ...]) -> Coefficient | None:
    return coefficients[0] if len(coefficients) == 1 else None


def _of_slope(slope: Coefficient) -> str:
    if 1.0 in slope:
        return ""
    word = "over-confident: too extreme" if slope.high < 1 else "under-confident: too timid"
    if slope.high < 0:
        word = "reversed: the higher the prediction, the fewer outcomes"
    return f"{word} ({_numbers(slope)})"


def _of_matrix(test: CalibrationTest | None, level: float) -> str:
    if test is None or not test.rejects(level):
        return ""
    return f"slopes differ from the identity ({say_pvalue(test.pvalue, test.n_resamples)})"


def _of_level(level: Coefficient) -> str:
    if 0.0 in level:
        return ""
    word = "under-prediction" if level.low > 0 else "over-prediction"
    return f"{word} ({_numbers(level)})"


def _numbers(coefficient: Coefficient) -> str:
    known = coefficient.estimate is not None
    estimate = f"{coefficient.estimate:.3g}" if known else "not identified"
    limits = f"{coefficient.low:.3g} to {coefficient.high:.3g}"
    return f"{coefficient.name} {estimate}, interval {limits}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ExactValue(Result):
    """Value of an expectation under a known distribution, and how far it may be off.

    Attributes
    ----------
    name : what it is, e.g. "ECE"
    value : the figure
    error : how far the truth may be from `value`: 0 for a closed form or a finite sum, the change
        from a coarser to the finer rule for a quadrature, and for Monte Carlo the half width of a
        95 % interval; conditional expectations add what half as many bins and noise would change
    method : "closed form", "finite sum", "quadrature" or "monte carlo"
    definition : the expectation in symbols; p is the true probability vector, c the reported one
    n_points : nodes or draws the figure was computed from, None for a closed form

    Examples
    --------
    >>> figure = ExactValue(name="accuracy", value=0.75, error=0.0, method="closed form",
    ...     definition="E[p_argmax(c)]", n_points=None)
    >>> print(figure)
    accuracy 0.750000 +- 0 (closed form; E[p_argmax(c)])
    >>> float(figure)
    0.75
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name", "method", "definition")

    name: str
    value: float
    error: float
    method: str
    definition: str
    n_points: int | None

    def __float__(self) -> float:
        return self.value

    def _text(self) -> str:
        points = "" if self.n_points is None else f", {self.n_points:,} points"
        return (
            f"{self.name} {self.value:.6f} +- {self.error:.1g}"
            f" ({self.method}{points}; {self.definition})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class BayesFigures(Result):
    """What the true posterior itself scores: no classifier does better on average.

    Attributes
    ----------
    accuracy : share of rows whose most probable class is right
    brier : mean Brier score, of one probability for two classes and summed over more
    log_loss : mean logarithmic loss in nats
    accuracy_error, brier_error, log_loss_error : standard errors of Monte Carlo; for quadrature
        the change when the number of nodes was halved
    method : "quadrature" or "monte carlo"
    n_nodes : nodes or draws

    Examples
    --------
    >>> print(BayesFigures(accuracy=0.75, brier=0.1875, log_loss=0.5, accuracy_error=0.0,
    ...     brier_error=0.0, log_loss_error=0.0, method="quadrature", n_nodes=1024))
    Bayes accuracy 0.7500, Brier 0.1875, log loss 0.5000 (quadrature, 1,024 nodes)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method",)

    accuracy: float
    brier: float
    log_loss: float
    accuracy_error: float
    brier_error: float
    log_loss_error: float
    method: str
    n_nodes: int

    def _text(self) -> str:
        count = "nodes" if self.method == "quadrature" else "draws"
        return (
            f"Bayes accuracy {self.accuracy:.4f}, Brier {self.brier:.4f}, log loss"
            f" {self.log_loss:.4f} ({self.method}, {self.n_nodes:,} {count})"
        )
