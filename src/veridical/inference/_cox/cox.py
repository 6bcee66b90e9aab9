"""Cox's test: regression of the outcomes on the log-odds of the predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import check_level, check_option, is_number
from veridical._core.resampling.hypothesis import checked_redraw
from veridical._core.resampling.rows import likelihood_weight
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, WeightType
from veridical.exceptions import invalid
from veridical.inference._cox import multinomial as _cox_multinomial, null as _cox_null
from veridical.inference._cox.binary import CoxFit, fit_binary
from veridical.inference._cox.multinomial import Slopes, fit_multinomial
from veridical.inference._draws.monte_carlo import announced, monte_carlo_pvalue
from veridical.inference._intervals.rows import rows_of
from veridical.lenses import ClasswiseProblem
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest, CoxTest
from veridical.results.library import answers_in_kind

_CALLER = "cox_test"
Null: TypeAlias = Literal["auto", "asymptotic", "monte-carlo"]

# Variance of the outcomes, per parameter of a class, from which the chi-squared null holds its
# level within simulation error (tests/statistical/test_cox_levels.py); near the rule of ten events
# per variable (Peduzzi et al. 1996, doi 10.1016/S0895-4356(96)00236-3).
_ENOUGH = 15.0
# Predictions (times classes and coefficients, if several) up to which redrawing outcomes and
# fitting a thousand times takes seconds.
_MOST_REDRAWN = 5_000
_MOST_REDRAWN_OF_CLASSES = 20_000
_IN_WORDS: dict[Slopes, str] = {
    "common": "intercepts 0 and common slope 1",
    "diagonal": "intercepts 0 and slopes 1",
    "matrix": "intercepts 0 and slope matrix the identity",
}
_TIES = 1e-8  # relative: both likelihoods are maximised to about this accuracy


@answers_in_kind
def cox_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    slopes: Slopes = "common",
    null: Null = "auto",
    confidence_level: float = 0.95,
    clip: float = 1e-12,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> CoxTest:
    r"""Test intercept 0 and slope 1 in a logistic regression on the predictions' log-odds.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the whole prediction: binary for two classes, multinomial for more. Lenses such as
        ``"confidence"`` or ``ClassSpecific(label)`` give the binary test of their problem.
    slopes : {"common", "diagonal", "matrix"}
        For three classes or more: one slope for all, one per class, or a full matrix.
    null : {"auto", "asymptotic", "monte-carlo"}
        Where the p-value of the joint test comes from: the chi-squared limit, or outcomes drawn
        from the predictions. "auto" draws where the limit is in doubt and drawing takes seconds.
    confidence_level : float, default 0.95
        Of the intervals of the coefficients.
    clip : float, default 1e-12
        Predictions are kept at least this far from 0 and 1, where log-odds are infinite.
    n_resamples : int, default 1000
        How many times outcomes are drawn, if they are.
    rng : int, Generator or None
        Seed; the same seed gives the same p-value.
    weight_type : {"importance", "frequency"}
        "frequency": a weight counts repetitions. "importance": the weighted log-likelihood is
        scaled as if there were (sum w)^2 / sum w^2 rows (Kish), which makes its likelihood ratio
        an approximation.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    CoxTest
        With `statistic` and `pvalue` of the joint test, `intercept`, `slope`, `in_the_large`,
        the two component tests, and a `verdict` in words.

    Notes
    -----
    Cox (1958) [1]_ fits, with p the prediction,

    .. math:: \operatorname{logit} P(y = 1) = a + b \operatorname{logit} p .

    A slope b below 1 means predictions too extreme (over-confident), above 1 too timid. The
    intercept with b fixed to 1, `in_the_large`, is above 0 where outcomes are more frequent than
    predicted [2]_ [3]_. The joint likelihood-ratio statistic, twice the log-likelihood gained over
    (a, b) = (0, 1), is the sum of the statistics of its components: a = 0 given b = 1, and b = 1
    given free a. Their nulls are chi-squared with 2, 1 and 1 degrees of freedom. A calibrated
    model has (0, 1), but (0, 1) does not prove calibration: the test sees only deviations a
    straight line in the log-odds can show.

    With K classes the log-odds against the first class follow [4]_

    .. math:: \log (P_k / P_0) = a_k + \sum_j B_{kj} \log (p_j / p_0) ,

    with B the identity times one slope (K degrees of freedom), diagonal (2 (K - 1)) or any matrix
    (K (K - 1)). The first and the last do not depend on which class is the reference; diagonal
    slopes do. One common slope, the default, needs the fewest outcomes.

    The joint null is simple: outcomes come from the predictions. Where their variance
    :math:`\sum p (1 - p)` is below 15 per parameter (of the rarest class) the chi-squared limit may
    reject too often, and "auto" draws outcomes instead, or says so in `notes`. The p-value is
    then (1 + #{drawn >= observed}) / (1 + n_resamples); component tests stay asymptotic.

    Intervals of binary problems need no model: a coefficient is within its limits where zero is
    within those of the mean of its score, taken as a bounded variable. They hold with few events,
    with weights, and where the curve is no line; with many rows they are those of a sandwich
    variance [5]_. For more classes they are Wald's. Edge cases: outcomes that
    a threshold separates give an infinite slope and a finite statistic (the supremum of the
    likelihood); one class only gives an infinite intercept and no slope; equal predictions
    leave only the intercept to test (1 degree of freedom). All are said in `notes`.

    Time O(n) for binary problems, O(n m^2) with m coefficients; drawing multiplies it.

    References
    ----------
    .. [1] Cox (1958), Two further applications of a model for binary regression, Biometrika 45,
       562-565, doi 10.1093/biomet/45.3-4.562.
    .. [2] Miller, Hui & Tierney (1991), Validation techniques for logistic regression models,
       Statistics in Medicine 10, 1213-1226, doi 10.1002/sim.4780100805.
    .. [3] Van Calster et al. (2016), A calibration hierarchy for risk models was defined, Journal
       of Clinical Epidemiology 74, 167-176, doi 10.1016/j.jclinepi.2015.12.005.
    .. [4] Van Hoorde et al. (2014), Assessing calibration of multinomial risk prediction models,
       Statistics in Medicine 33, 2585-2596, doi 10.1002/sim.6114.
    .. [5] White (1982), Maximum likelihood estimation of misspecified models, Econometrica 50,
       1-25, doi 10.2307/1912526.

    Examples
    --------
    Frequencies 0.4 and 0.6 where 0.2 and 0.8 were predicted: the slope is log 1.5 / log 4.

    >>> import numpy as np
    >>> p = np.repeat([0.2, 0.8], 100)
    >>> y = np.repeat([1, 0, 1, 0], [40, 60, 60, 40])
    >>> test = cox_test(y, p)
    >>> print(f"{test.slope.estimate:.6f} = {np.log(1.5) / np.log(4):.6f}")
    0.292481 = 0.292481
    >>> test.verdict
    'over-confident: too extreme (slope 0.292, interval ...)'
    """
    level = check_level(_CALLER, confidence_level)
    check_option(_CALLER, "slopes", slopes, ("common", "diagonal", "matrix"))
    check_option(_CALLER, "null", null, ("auto", "asymptotic", "monte-carlo"))
    clip = _check_clip(clip, caller=_CALLER)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER, whole=True)
    test = cox_core(
        induced, slopes=slopes, null=null, clip=clip, confidence_level=level, draws=draws
    )
    return announced(test, induced, caller=_CALLER)


def cox_core(
    induced: Induced,
    *,
    draws: Draws,
    slopes: Slopes = "common",
    null: Null = "auto",
    clip: float = 1e-12,
    confidence_level: float = 0.95,
) -> CoxTest:
    """The test of checked data."""
    regression = _regression(induced, slopes, clip, confidence_level, caller=_CALLER)
    return _tested(regression, induced, null, draws, confidence_level)


class _Regression(NamedTuple):
    """The fitted models, and what the null distribution of their comparison takes."""

    fit: CoxFit
    variance: float  # of the outcomes of the rarest class, per parameter of a class
    values: float  # that one redraw of the outcomes needs
    redraw: Callable[[int, np.random.Generator], FloatArray]
    interval: str
    coefficients: str


def _check_clip(clip: Any, *, caller: str) -> float:
    if not (is_number(clip) and 0 < clip < 0.5):
        hint = "pass a small number such as 1e-12; log-odds of 0 and 1 are infinite."
        raise invalid(caller, "clip", "between 0 and 0.5", repr(clip), hint=hint)
    return float(clip)


def _regression(
    induced: Induced, slopes: Slopes, clip: float, level: float, *, caller: str
) -> _Regression:
    from scipy.special import ndtri

    problem = induced.problem
    z = float(ndtri((1 + level) / 2))
    if isinstance(problem, ClasswiseProblem):
        hint = "test one class at a time with `lens=ClassSpecific(label)`, or leave `lens` out."
        raise invalid(caller, "lens", "one problem", "a problem for each class", hint=hint)
    p = problem.p.astype(np.float64, copy=False)
    variance = likelihood_weight(problem) @ (p * (1 - p))
    if isinstance(problem, BinarySample):
        fit = fit_binary(problem, clip, level, rows_of(problem))
        return _Regression(
            fit=fit,
            variance=float(variance) / (fit.df_intercepts + fit.df_slopes),
            values=problem.n,
            redraw=lambda count, rng: _cox_null.null_statistics(problem, clip, count, rng),
            interval="bounded means",
            coefficients="intercept 0 and slope 1" if fit.df_slopes else "intercept 0",
        )
    fit = fit_multinomial(problem, clip, z, slopes)
    per_class = (fit.df_intercepts + fit.df_slopes) / fit.df_intercepts
    return _Regression(
        fit=fit,
        variance=float(variance.min()) / per_class,
        values=max(problem.n, float(likelihood_weight(problem).sum()))
        * len(problem.classes)
        * (fit.df_intercepts + fit.df_slopes),
        redraw=lambda count, rng: _cox_multinomial.null_statistics(
            problem, clip, slopes, count, rng
        ),
        interval="Wald",
        coefficients=_IN_WORDS[slopes],
    )


def _tested(
    regression: _Regression, induced: Induced, null: Null, draws: Draws, level: float
) -> CoxTest:
    fit = regression.fit
    doubtful = regression.variance < _ENOUGH
    statistic = fit.gain_intercepts + fit.gain_slopes
    df = fit.df_intercepts + fit.df_slopes
    most = _MOST_REDRAWN if regression.interval == "bounded means" else _MOST_REDRAWN_OF_CLASSES
    feasible = regression.values <= most
    notes = fit.notes
    common: dict[str, Any] = {
        "method": "Cox's test",
        "lens": induced.lens.name,
        "n_samples": induced.sample.n,
    }
    pvalue, words = _wilks_pvalue(statistic, df), _limit(df)
    assert not isinstance(induced.problem, ClasswiseProblem)
    redraw = checked_redraw(induced.problem, null=null, simple=True, caller=_CALLER)
    drawn = null == "monte-carlo" or (null == "auto" and (doubtful or redraw) and feasible)
    wider = 1.0
    if drawn:
        sample = regression.redraw(*draws)
        draws = draws._replace(n_resamples=len(sample))
        pvalue = monte_carlo_pvalue(statistic, sample, tolerance=_TIES * (1 + statistic))
        words = "outcomes drawn from the predictions"
        if redraw is not None:
            words = redraw.said
            wider = max(float(sample.mean()) / df, 1.0) if df else 1.0
    what = "intervals and component tests" if drawn else "the chi-squared null"
    if doubtful and not (drawn and regression.interval == "bounded means"):
        note = f"the outcomes vary too little for {what} to be trusted"
        notes = (*notes, f"{note}: {regression.variance:.2g} per parameter, {_ENOUGH:g} are enough")
    return CoxTest(
        **common,
        statistic=statistic,
        pvalue=pvalue,
        null=words,
        definition=f"likelihood ratio of {regression.coefficients}",
        df=float(df),
        n_resamples=draws.n_resamples if drawn else None,
        notes=notes,
        intercepts=fit.intercepts,
        slopes=fit.slopes,
        intercepts_in_the_large=fit.in_the_large,
        intercept_test=_component(
            fit.gain_intercepts / wider, fit.df_intercepts, "intercepts 0, given slopes 1", common
        ),
        slope_test=_component(
            fit.gain_slopes / wider, fit.df_slopes, "slopes 1, given free intercepts", common
        )
        if fit.df_slopes
        else None,
        confidence_level=level,
        interval=regression.interval,
    )


def _component(gain: float, df: int, what: str, common: dict[str, Any]) -> CalibrationTest:
    return CalibrationTest(
        **common,
        statistic=gain,
        pvalue=_wilks_pvalue(gain, df),
        null=_limit(df),
        definition=f"likelihood ratio of {what}",
        df=float(df),
    )


def _limit(df: int) -> str:
    return f"chi-squared, {df} degree{'s' if df > 1 else ''} of freedom"


def _wilks_pvalue(statistic: float, df: int) -> float:
    """Return P(chi-squared with `df` degrees of freedom >= statistic); Wilks' theorem."""
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))
