"""The Hosmer-Lemeshow test, binary and multinomial, and its groups between percentiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.labels import find_label
from veridical._core.data.options import check_flag
from veridical._core.data.randomness import Draws, check_draws
from veridical._core.data.validation import is_integer
from veridical._core.resampling.hypothesis import checked_redraw
from veridical._core.resampling.redraw import Redraw
from veridical._core.resampling.rows import repeated_rows, take_repeated
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray, IntArray, WeightType
from veridical.binning import IntervalBinning, IntervalPartition
from veridical.exceptions import invalid
from veridical.inference._draws.groups import (
    chi_square,
    null_chi_squares,
    pooled_trials,
    redrawn_chi_squares,
    weight_notes,
)
from veridical.inference._draws.monte_carlo import announced
from veridical.inference._draws.sums import null_summaries
from veridical.inference._goodness.chi_square import (
    Cells,
    check_null,
    count_cells,
    judge,
    redrawn_cells,
    single_problem,
)
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest
from veridical.results.library import answers_in_kind
from veridical.summaries import Summary, summarise


@dataclass(frozen=True)
class PercentileBins(IntervalBinning):
    """Right-closed bins between linearly interpolated quantiles; equal scores stay together.

    The k-th of B bins ends at the quantile k / B, which lies between the order statistics
    number floor(k (n - 1) / B) and the next one, counted from zero. Scores up to the lower of the
    two are below it and all others above, so that order statistic is the edge: the same groups
    without interpolating. `QuantileBins` ends a bin where the cumulated share reaches k / B,
    which is the same without ties when B divides n.

    Examples
    --------
    The median of 0.1, 0.2, 0.4, 0.8 is 0.3.

    >>> sample = BinarySample(y=np.zeros(4, int), p=np.array([0.1, 0.2, 0.4, 0.8]))
    >>> PercentileBins(2).fit(sample).assign(sample.p).tolist()
    [0, 0, 1, 1]
    """

    n: int

    @property
    def name(self) -> str:
        """Short name."""
        return f"{self.n} percentile bins"

    def fit(self, sample: BinarySample) -> IntervalPartition:
        """Return the bins for these scores; each holds a row."""
        cuts, largest = self._order_statistics(sample)
        cuts = np.unique(cuts[cuts < largest]).astype(np.float64)
        doubt = None
        if len(cuts) + 1 < self.n:
            why = "fewer rows than bins" if sample.n < self.n else "equal scores stay together"
            doubt = f"{self.n} percentile bins asked for, {len(cuts) + 1} made: {why}"
        return IntervalPartition(np.concatenate([[0.0], cuts, [1.0]]), doubt=doubt)

    def _order_statistics(self, sample: BinarySample) -> tuple[FloatArray, FloatArray]:
        size = sample.size
        # Sizes of importance weights carry rounding; a whole position must not fall below itself.
        position = np.arange(1, self.n) * max(size - 1, 0.0) / self.n
        wanted = np.floor(position + 1e-9)
        if sample.weight is None:
            ordered = np.sort(sample.p)
            return ordered[wanted.astype(np.intp)], ordered[-1]
        pooled = sample.pooled
        reached = np.cumsum(pooled.weight * (size / pooled.weight.sum()))
        # Row number i, counted from zero, is where the weight passes i; halfway to be safe.
        at = np.searchsorted(reached, wanted + 0.5)
        return pooled.value[np.minimum(at, len(reached) - 1)], pooled.value[-1]


_CALLER = "hosmer_lemeshow_test"
Simulate = Callable[[Draws], FloatArray]


@answers_in_kind
def hosmer_lemeshow_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    n_bins: int = 10,
    fitted: bool = False,
    reference: Any = None,
    null: str = "auto",
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> CalibrationTest:
    """Hosmer-Lemeshow test: chi-square over groups between percentiles of the predictions.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens : lens, name or callable, optional
        Default the binary lens for two classes and, unlike elsewhere, the whole vector
        (``"canonical"``, the multinomial test) for more.
    n_bins : int, default 10
        Number of groups, at least two (three for a fitted model). Equal predictions stay
        together, so there may be fewer, with a warning.
    fitted : bool, default False
        Whether the model was fitted on these same rows. Changes the degrees of freedom.
    reference : label, optional
        Class whose complement the rows of a multinomial test are grouped by; default the first.
    null : {"auto", "asymptotic", "monte-carlo"}
        The chi-square distribution, or outcomes drawn from the predictions. "auto" draws when
        an expected count is below 20 (200 with one or two degrees of freedom) and the model was
        not fitted on these rows.
    n_resamples : int, default 1000
        Monte-Carlo draws, if any; more make small p-values finer.
    rng : int, Generator or None
        Seed of the draws; the same seed gives the same p-value.
    weight_type : {"importance", "frequency"}
        Frequencies are counts of rows; importance weights count by the effective size of each
        group, (sum w)^2 / sum w^2, so that their scale does not matter.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): outcomes of a group
        are drawn together, with the correlation they have.

    Returns
    -------
    CalibrationTest
        `statistic` is the sum over groups and classes of (O - E)^2 / E. Infinite, with p-value
        0, if something occurred in a group where it was given probability zero.

    Notes
    -----
    000 equations 20 and 21 (the latter prints its term twice; its worked example adds it once);
    Hosmer & Lemeshow (1980), doi 10.1080/03610928008827941; Fagerland, Hosmer & Bofin (2008),
    doi 10.1002/sim.3202. Groups end at linearly interpolated quantiles of p, or of 1 minus the
    probability of the reference class.

    For a model fitted on these rows the statistic is about chi-square with (M - 2)(K - 1)
    degrees of freedom, a result of simulations with (multinomial) logistic regression, and no
    simpler null exists. For predictions that come from elsewhere nothing is lost to fitting:
    M (K - 1), less the classes that a group gives no chance at all. Equation 20 takes
    E (1 - E / n) for the variance of a count, which is too large where predictions differ within
    a group: the chi-square p-value is then too large, never too small, and much so for
    predictions near 0 and 1. Monte-Carlo p-values do not have this fault.

    The answer depends on the number of groups, and on ties. Cost: a sort; Monte Carlo draws
    the counts of binary groups directly, and otherwise n K outcomes a resample.

    Examples
    --------
    Two groups of five rows with one and four successes expected, none and five observed:
    twice 1 / 1 + 1 / 4.

    >>> test = hosmer_lemeshow_test([0] * 5 + [1] * 5, [0.2] * 5 + [0.8] * 5, n_bins=2, rng=0)
    >>> test.statistic, test.df
    (2.5, 2)
    """
    check_null(null, caller=_CALLER)
    wanted = _check_bins(n_bins, fitted, null, _CALLER)
    draws = check_draws(n_resamples, rng, caller=_CALLER)
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    induced = data.weighted(sample_weight, weight_type).through(lens, caller=_CALLER, whole=True)
    test = hosmer_lemeshow_core(
        induced, n_bins=wanted, fitted=fitted, reference=reference, null=null, draws=draws
    )
    return announced(test, induced, caller=_CALLER)


def hosmer_lemeshow_core(
    induced: Induced,
    *,
    draws: Draws,
    n_bins: int = 10,
    fitted: bool = False,
    reference: Any = None,
    null: str = "auto",
) -> CalibrationTest:
    """The test of checked data."""
    problem, binning = single_problem(induced, caller=_CALLER), PercentileBins(n_bins)
    redraw = checked_redraw(problem, null=null, simple=not fitted, caller=_CALLER)
    if isinstance(problem, BinarySample):
        if reference is not None:
            hint = "rows of a binary problem are grouped by their prediction."
            raise invalid(_CALLER, "reference", "unset for two classes", repr(reference), hint=hint)
        cells, simulate, doubt = _binary(problem, binning, redraw)
    else:
        index = 0
        if reference is not None:
            index = find_label(reference, problem.classes, caller=_CALLER, param="reference")
        cells, simulate, doubt = _multinomial(problem, binning, index, redraw)
    n_groups, n_classes = cells.expected.shape
    fewest = _fewest_bins(fitted)
    if n_groups < fewest:
        hint = "predictions that hardly differ are tested by `pearson_test`."
        expected = f"different enough to form {fewest} groups"
        got = f"{n_groups} after keeping ties together"
        raise invalid(_CALLER, "y_prob", expected, got, hint=hint)
    df = (n_groups - 2) * (n_classes - 1) if fitted else cells.df
    drawn = None if fitted else lambda: simulate(draws)
    found = judge(cells, df=df, null=null, simulate=drawn, redraw=redraw)
    notes = (*([doubt] if doubt else []), *found.notes)
    notes += weight_notes(problem, found.n_resamples)
    definition = f"{n_groups} percentile bins" + (", fitted on these rows" if fitted else "")
    return found._replace(notes=notes).test(induced, "Hosmer-Lemeshow test", definition, df)


def _binary(
    sample: BinarySample, binning: PercentileBins, redraw: Redraw | None
) -> tuple[Cells, Simulate, str | None]:
    summary = summarise(sample, binning)
    if redraw is not None:
        held = summary.partitions[0].assign(sample.p[redraw.rows])
        found = _redrawn(redraw, sample, held, summary.sum_w.shape[1])
        return *found, summary.partitions[0].doubt
    observed, expected = _by_outcome(summary)
    cells = Cells(observed[0], expected[0])

    def simulate(draws: Draws) -> FloatArray:
        rows, of_rows = repeated_rows(sample), summary
        if rows is None and sample.weight is not None:
            return _simulate_rows(sample, summary, cells, draws)
        drawn_from = sample if rows is None else take_repeated(sample, rows)
        if rows is not None:
            of_rows = summarise(drawn_from, binning)
        drawn = null_summaries(drawn_from, of_rows, draws)
        return chi_square(_by_outcome(drawn)[0], cells.expected)

    return cells, simulate, summary.partitions[0].doubt


def _multinomial(
    sample: MulticlassSample, binning: PercentileBins, reference: int, redraw: Redraw | None
) -> tuple[Cells, Simulate, str | None]:
    complement = _complement(sample.p, reference)
    of_rest = BinarySample(
        y=sample.y, p=complement, weight=sample.weight, weight_type=sample.weight_type
    )
    partition = binning.fit(of_rest)
    bins = partition.assign(complement)
    if redraw is not None:
        found = _redrawn(redraw, sample, bins[redraw.rows], partition.n_cells)
        return *found, partition.doubt
    cells, scale = count_cells(sample, bins, partition.n_cells)

    def simulate(draws: Draws) -> FloatArray:
        trials = pooled_trials(sample)
        groups = partition.assign(_complement(trials.p, reference))
        return null_chi_squares(trials, groups, scale, cells.expected, draws)

    return cells, simulate, partition.doubt


def _redrawn(redraw: Redraw, sample: Sample, bins: IntArray, n_bins: int) -> tuple[Cells, Simulate]:
    """Where labels weigh differently, or rows belong together."""
    cells, scale = redrawn_cells(redraw, sample, bins, n_bins)

    def simulate(draws: Draws) -> FloatArray:
        return redrawn_chi_squares(redraw, bins, scale, cells.expected, draws)

    return cells, simulate


def _simulate_rows(
    sample: BinarySample, summary: Summary, cells: Cells, draws: Draws
) -> FloatArray:
    """Null statistics of a binary problem whose rows cannot be counted."""
    trials = pooled_trials(sample)
    # Bins were found in the type of the scores.
    groups = summary.partitions[0].assign(trials.p[:, 1].astype(sample.p.dtype))
    scale = summary.size[0] / summary.sum_w[0]
    return null_chi_squares(trials, groups, scale, cells.expected, draws)


def _by_outcome(summary: Summary) -> tuple[FloatArray, FloatArray]:
    """Observed and expected counts by (problem, bin, outcome), on the scale of effective sizes."""
    scale = (summary.size / summary.sum_w)[..., None]
    observed = np.stack([summary.sum_w - summary.sum_wy, summary.sum_wy], axis=-1)
    expected = np.stack([summary.sum_w - summary.sum_wp, summary.sum_wp], axis=-1)
    return observed * scale, expected * scale


def _complement(p: FloatArray, reference: int) -> FloatArray:
    return 1 - p[:, reference].astype(np.float64)


def _check_bins(n_bins: Any, fitted: Any, null: str, caller: str) -> int:
    check_flag(caller, "fitted", fitted, hint="True if the model was fitted on these same rows.")
    if fitted and null == "monte-carlo":
        hint = 'use null="asymptotic", or test on rows the model has not seen.'
        got = "'monte-carlo' with fitted=True, whose null depends on how the model is fitted"
        raise invalid(caller, "null", '"auto" or "asymptotic"', got, hint=hint)
    fewest = _fewest_bins(fitted)
    if not (is_integer(n_bins) and n_bins >= fewest):
        expected = f"an integer of at least {fewest}" + (" if fitted=True" if fitted else "")
        raise invalid(caller, "n_bins", expected, repr(n_bins), hint="10 is the usual choice.")
    return int(n_bins)


def _fewest_bins(fitted: Any) -> int:
    """Bins needed for a degree of freedom; fitting costs two."""
    return 3 if fitted else 2
