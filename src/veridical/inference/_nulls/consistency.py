"""The consistency test: is this figure more than a calibrated model would show?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import check_option, check_probabilities, float_array
from veridical._core.resampling.rows import OutcomeDraws, counts_rows, row_order
from veridical._core.runtime.progress import track
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, WeightType
from veridical.exceptions import invalid
from veridical.inference._draws.monte_carlo import Alternative, announced, monte_carlo_pvalue
from veridical.inference._nulls.null import (
    Measure,
    as_estimator,
    as_problem,
    level_from,
    null_sample,
)
from veridical.lenses import ClasswiseProblem, Problem
from veridical.lenses.reading import Induced, RawData
from veridical.miscalibration import BinnedError, Estimator
from veridical.results import ConsistencyTest
from veridical.results.library import answers_in_kind

_CALLER = "consistency_test"


@answers_in_kind
def consistency_test(
    estimator: Measure,
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    predictions: Literal["fixed", "bootstrap"] = "fixed",
    refit_bins: bool = True,
    null_map: Callable[[FloatArray], ArrayLike] | None = None,
    alternative: Alternative = "greater",
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> ConsistencyTest:
    """Test calibration with any estimator, by drawing outcomes from the predictions.

    Parameters
    ----------
    estimator : Estimator or callable
        Any calibration error or mean score, e.g. ``BinnedError()``; or a function
        ``(y_true, y_prob) -> float``, see `FunctionMeasure`.
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes; for more the confidence, of a score or a function
        the whole prediction.
    predictions : {"fixed", "bootstrap"}, default "fixed"
        "fixed" draws outcomes only and holds its level. "bootstrap" also draws the rows with
        replacement, as 002 section 4.2 does; it is here to reproduce papers and claims no level
        (with many bins 40 % of calibrated models may be rejected at 5 %).
    refit_bins : bool, default True
        Whether bins that depend on what is drawn (sweep and cross-validated ones; quantile bins
        of bootstrapped predictions) are made anew for every draw.
    null_map : callable, optional
        Calibration function under the null hypothesis: takes the induced probabilities, (n,) or
        (n, K), and returns those that outcomes are drawn from. Default the identity: calibrated.
    alternative : {"greater", "less", "two-sided"}
        Calibration errors are evidence when large. A mean score may also be smaller than
        promised (an under-confident model): use "two-sided".
    n_resamples : int, default 1000
        How many times outcomes are drawn; the p-value is at least 1 / (n_resamples + 1).
    rng : int, Generator or None
        Seed; the same seed gives the same p-value.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    ConsistencyTest
        With `statistic`, `pvalue` and the null sample in `null_level`.

    Notes
    -----
    The p-value is (1 + #{null >= observed}) / (1 + n_resamples), ties within a relative 1e-12
    counting as equal, so under the null hypothesis it is at most alpha with probability at most
    alpha whatever the estimator, the bins and the sample size (Davison & Hinkley 1997, section
    4.2; 000 Algorithm 1, which counts strictly larger values only). Twice the smaller one for
    "two-sided", at most 1.

    Hard-binned errors cost one pass and draws of sums by bin, exactly Poisson-binomial for a
    binary problem (see :func:`null_level`); any other estimator is called once per resample.

    Examples
    --------
    Ten rows of 1/2 of which all are positive: 2 of the 2^10 outcomes are as extreme.

    >>> from veridical.binning import UniformBins
    >>> test = consistency_test(BinnedError(UniformBins(1)), [1] * 10, [0.5] * 10,
    ...     n_resamples=99_999, rng=0)
    >>> test.statistic, abs(test.pvalue - 2 / 1024) < 0.0005
    (0.5, True)
    """
    estimator = as_estimator(estimator, caller=_CALLER)
    check_option(_CALLER, "predictions", predictions, ("fixed", "bootstrap"))
    check_option(_CALLER, "alternative", alternative, ("greater", "less", "two-sided"))
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(
        lens, caller=_CALLER, whole=estimator.whole
    )
    test = consistency_core(
        estimator,
        induced,
        predictions=predictions,
        refit_bins=refit_bins,
        null_map=null_map,
        alternative=alternative,
        draws=draws,
    )
    return announced(test, induced, caller=_CALLER)


def consistency_core(
    estimator: Estimator,
    induced: Induced,
    *,
    draws: Draws,
    predictions: str = "fixed",
    refit_bins: bool = True,
    null_map: Callable[[FloatArray], ArrayLike] | None = None,
    alternative: Alternative = "greater",
) -> ConsistencyTest:
    """The test of checked data."""
    if not refit_bins and not _bins_can_be_fixed(estimator, predictions):
        hint = "leave `refit_bins` out."
        got = f'False with {estimator.name} and predictions="{predictions}"'
        raise invalid(_CALLER, "refit_bins", "True here", got, hint=hint)
    problem = induced.problem
    truth = None if null_map is None else _mapped(null_map, problem)
    if predictions == "fixed":
        null = null_sample(
            estimator, problem, draws, probabilities=truth, fixed_bins=not refit_bins
        )
    else:
        null = _bootstrap_sample(estimator, problem, draws, truth)
    return judged(
        estimator,
        induced,
        null,
        alternative=alternative,
        notes=_notes(predictions),
        null=f"{draws.n_resamples:,} draws of outcomes from {_source(predictions, null_map)}",
    )


def judged(
    estimator: Estimator,
    induced: Induced,
    null_values: FloatArray,
    *,
    null: str,
    alternative: Alternative = "greater",
    notes: tuple[str, ...] = (),
) -> ConsistencyTest:
    """Compare an estimate on real outcomes with its null sample."""
    level = level_from(estimator, induced, null_values)
    return ConsistencyTest(
        statistic=level.estimate,
        pvalue=monte_carlo_pvalue(level.estimate, level.sample, alternative),
        method=f"consistency test of {estimator.name}",
        null=null,
        definition=level.definition,
        lens=level.lens,
        n_samples=level.n_samples,
        n_resamples=level.n_resamples,
        alternative=alternative,
        null_level=level,
        notes=notes,
    )


def _bins_can_be_fixed(estimator: Estimator, predictions: str) -> bool:
    hard = isinstance(estimator, BinnedError) and estimator.assignment == "hard"
    return hard and getattr(estimator, "region", None) is None and predictions == "fixed"


def _mapped(null_map: Callable[[FloatArray], ArrayLike], problem: Problem) -> FloatArray:
    """Probabilities under the null hypothesis, checked like any user input."""
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    values = float_array(null_map(sample.p), caller=_CALLER, param="null_map")
    values = check_probabilities(values, caller=_CALLER, param="null_map", rounded=True)
    if values.shape != sample.p.shape:
        hint = "return one probability (or row of probabilities) for each it is given."
        got = f"values of shape {values.shape}"
        raise invalid(_CALLER, "null_map", f"of shape {sample.p.shape}", got, hint=hint)
    return values


def _bootstrap_sample(
    estimator: Estimator, problem: Problem, draws: Draws, truth: FloatArray | None
) -> FloatArray:
    """Rows drawn with replacement, then outcomes from their predictions (002 section 4.2)."""
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    order = row_order(sample)  # row order must not matter
    frequency = sample.weight[order] if sample.weight is not None and counts_rows(sample) else None
    values = np.empty(draws.n_resamples)
    for index in track(draws.n_resamples, f"consistency test of {estimator.name}"):
        if frequency is None:
            rows = order[draws.rng.integers(0, sample.n, sample.n)]
            drawn: Sample = sample.take(rows)
        else:
            size = frequency.sum()
            counts = draws.rng.multinomial(round(size), frequency / size)
            rows = order[counts > 0]
            drawn = replace(sample.take(rows), weight=counts[counts > 0].astype(np.float64))
        outcomes = OutcomeDraws(drawn, None if truth is None else truth[rows])
        values[index] = estimator.measure(as_problem(outcomes.resample(draws.rng), problem))
    return values


def _notes(predictions: str) -> tuple[str, ...]:
    if predictions == "fixed":
        return ()
    return ("with bootstrapped predictions the test does not hold its level",)


def _source(predictions: str, null_map: object) -> str:
    where = "the predictions" if null_map is None else "the given null map"
    return where if predictions == "fixed" else f"{where}, rows bootstrapped"
