"""Reliability curves: by bins, isotonic, from densities, or smooth; of rows, or of sums of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, ColumnNames, WeightType
from veridical.binning import Binning, UniformBins
from veridical.curves._curve.bands import (
    banded_points,
    bin_band,
    pointwise_band,
    quantiles,
    resampled,
    simultaneous_band,
)
from veridical.curves._curve.options import (
    BINOMIAL,
    DRAWN,
    SMOOTH,
    CurveOptions,
    check_counts,
    check_curve_options,
)
from veridical.curves._curve.points import Points, curve_from_summary, isotonic_points
from veridical.curves._curve.smooth import density_points, smooth_points
from veridical.curves._curve.spline import smooth_limits
from veridical.exceptions import invalid, warn_of
from veridical.lenses import Binary, Confidence, Lens
from veridical.lenses.reading import RawData, event_of, named_lens
from veridical.results import ReliabilityCurve
from veridical.results.library import answers_in_kind
from veridical.summaries import GridSummary, Summary, summarise
from veridical.summaries.core import independent_sums, problem_of


@answers_in_kind
def reliability_curve(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    method: Literal["bins", "isotonic", "density", "smooth"] = "bins",
    n_bins: Any = 15,
    strategy: Literal["uniform", "quantile"] = "uniform",
    binning: Binning | None = None,
    bandwidth: float | str | None = None,
    kernel: str | None = None,
    interval: str | None = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    groups: Any = None,
) -> ReliabilityCurve:
    r"""Observed frequency against prediction.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names, or a summary, whose
        rows count at the mean of their cell where its own bins do not decide.
    lens : lens, name or callable, optional
        Must induce one binary problem; default the binary lens for two classes, confidence for
        more. `Pooled()` gives the single averaged classwise diagram of the survey, section 2.3.
    method : {"bins", "isotonic", "density", "smooth"}
        How the curve is estimated.

        - "bins": means of bins.
        - "isotonic": the non-decreasing frequencies closest to the outcomes, one point per block
          of equal ones (CORP, [1]_). Nothing to choose, if the curve does increase.
        - "density": P(y = 1 | s) = f(s | y = 1) P(y = 1) / f(s) with kernel densities mirrored at
          0 and 1 (001 section 4.4).
        - "smooth": kernel regression (Nadaraya-Watson) with a Gaussian reflected at 0 and 1.

        The last two are read in the middle of 200 cells of equal width; those where the density is
        below a thousandth of its mean are left out. `count` is the number of rows the density
        expects in a cell.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins. This, `strategy` and `binning` are for "bins" only.
    strategy : {"uniform", "quantile"}
        Bins of equal width or of equal mass.
    binning : Binning, optional
        Any other bins; overrides `n_bins` and `strategy`.
    bandwidth : float or str, optional
        Standard deviation of the kernel of "density" and "smooth", from 0.005 to 1, or the rule
        that finds it (never less than 0.005): "silverman" (default), "scott" or "isj" for
        "density", as in :class:`DensityError`; "fixed-point" for "smooth", the smooth calibration
        error itself, as in :class:`SmoothError`.
    kernel : {"triweight", "gaussian", "cosine", "beta", "beta-modified"}, optional
        Kernel of "density"; default "triweight". Beta kernels take a bandwidth of at most 0.25.
    interval : "auto", None or one of the following, default "auto"
        Limits `low` and `high`; "auto" is "binomial" for bins and None for other methods.

        - "binomial" or "wilson", "clopper-pearson" (bins): of the frequency, treating the
          predictions as fixed. For weighted data n is the effective size of the bin.
        - "bootstrap": percentiles of the curve over rows drawn with replacement, which keep their
          weights. Bins and bandwidth are held fixed; a bin no row was drawn for does not count. Of
          "density" and "smooth" they also hold the "pointwise" limits: percentiles know no bias.
        - "consistency": quantiles of what would be observed if the model were calibrated: outcomes
          drawn from the predictions, which are fixed [2]_. These limits lie around the diagonal,
          not around the curve, and a curve outside them is a sign of miscalibration there.
        - "consistency-bootstrap": the same with predictions drawn with replacement, too, as [2]_
          and 002 section 4.2 have it, so that limits also hold what other predictions would show.
          Bins and bandwidth are held fixed; a bin no row was drawn for does not count.
        - "percentile" (density, smooth): as 001 section 4.4 has it. The curve is the median of the
          curves of rows drawn with replacement, and limits are their percentiles: no bias is
          counted, so they miss a curve that bends.
        - "pointwise" (isotonic): at each score by itself, with at least the nominal probability
          for any n, if the curve increases. Refused for importance weights.
        - "pointwise" (density, smooth): at each point by itself, counting the bias of smoothing
          [4]_; with weights and groups. Nothing is drawn.
        - "simultaneous" (isotonic): a band that holds the whole curve at once, if it increases,
          with at least the nominal probability for any n [3]_. Refused for importance weights.
    confidence_level : float, default 0.95
        Nominal coverage: of all of the curve for "simultaneous", else each point by itself.
    n_resamples : int, default 1000
        Draws for "bootstrap", "percentile" and the two consistency limits.
    rng : int, Generator or None
        Seed of these draws; the same seed gives the same limits.
    weight_type : {"importance", "frequency"}
        What weights mean for limits and bandwidths.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other (patient, prompt, day): sizes behind
        "binomial" limits of bins are divided by the design effect, and so are those behind
        "pointwise" limits of "density" and "smooth". No other limits know groups.

    Returns
    -------
    ReliabilityCurve
        Only bins, blocks or cells that hold rows; ``curve.at(p)`` reads it at single predictions.

    Notes
    -----
    Bootstrap limits show variance, no bias. In simulations 90 % limits held the frequency of bins
    of 50 rows 89 % of the time. At a point of an isotonic fit they are known not to be consistent
    (84 % there): prefer "pointwise". Bootstrap limits of an isotonic curve are of the mean over its
    block. Consistency limits of unweighted bins are exact (Poisson-binomial quantiles, normal from
    a variance of 400 on) and use no draws.

    Pointwise limits at x of an isotonic curve are Clopper-Pearson bounds of the rows just below x
    and from x on, as many as their predictions say are worth it. Those of "density" and "smooth"
    come from a spline in the log-odds: they do not depend on the bandwidth, count the bias of
    smoothing for all curves that bend no more than the outcomes allow, and are widened to hold the
    curve. Where outcomes tell next to nothing, the curve is taken not to fall. 95 % limits held the
    truth in at least 92 % at every quantile of the predictions, from 60 rows on.

    The simultaneous band combines Clopper-Pearson bounds over all runs of neighbouring scores, each
    at (1 - `confidence_level`) / (m² + m); for more than 200 distinct scores m = 200 groups of
    equal mass, which depend on scores only and cost no validity. Blocks are split where the band
    steps, and the band is widened to hold the fit. Between blocks the lower limit of the block
    before and the upper limit of the block after hold. It is wide: 0.46 on average at n = 500.

    Time O(n log n) for "isotonic", O(n + g log g) otherwise, times `n_resamples` for drawn limits
    (bins without importance weights: once).

    References
    ----------
    .. [1] Dimitriadis, Gneiting & Jordan (2021), doi 10.1073/pnas.2016191118.
    .. [2] Bröcker & Smith (2007), Weather and Forecasting 22, 651-661, doi 10.1175/WAF993.1.
    .. [3] Dimitriadis, Dümbgen, Henzi, Puke & Ziegel (2022), arXiv 2203.04065.
    .. [4] Armstrong & Kolesár (2020), Quantitative Economics 11, 1-39, doi 10.3982/QE1199.
    .. [5] Wahba (1983), JRSS B 45, 133-150, doi 10.1111/j.2517-6161.1983.tb01239.x.

    Examples
    --------
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2, interval=None)
    >>> curve.predicted.round(3).tolist(), curve.observed.tolist()
    ([0.3, 0.7], [0.5, 1.0])

    The isotonic fit pools the second and third row, whose outcomes decrease:

    >>> curve = reliability_curve([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], method="isotonic")
    >>> curve.lower.tolist(), curve.observed.tolist()
    ([0.2, 0.4, 0.8], [0.0, 0.5, 1.0])
    >>> curve.at(0.5).observed.tolist()
    [0.5]
    """
    caller = "reliability_curve"
    options = check_curve_options(
        caller,
        method=method,
        n_bins=n_bins,
        strategy=strategy,
        binning=binning,
        bandwidth=bandwidth,
        kernel=kernel,
        interval=interval,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
    )
    data = RawData(
        y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label, groups=groups
    )
    return _curve_of_data(data.weighted(sample_weight, weight_type), lens, options, caller=caller)


def _curve_of_data(
    data: RawData, lens: Any, options: CurveOptions, *, caller: str
) -> ReliabilityCurve:
    """Read the data of a public function, warn its user, and return the curve."""
    if isinstance(data.y_true, GridSummary):
        for name in ("y_prob", "y", "prob", "labels", "pos_label", "sample_weight"):
            if getattr(data, name) is not None:
                hint = "these were decided when the summary was made."
                raise invalid(caller, name, "unset for a summary", "a value", hint=hint)
        return curve_of_summary(data.y_true, lens, options, caller=caller)
    induced = data.through(lens, caller=caller)
    problem = induced.problem
    if not isinstance(problem, BinarySample):
        hint = "use `ClassSpecific(label)` for one class, or `Pooled()` for all in one diagram."
        expected, got = "one that induces a single binary problem", induced.lens.name
        raise invalid(caller, "lens", expected, got, hint=hint)
    warn_of(induced.notes, caller=caller)
    curve = curve_core(problem, induced.lens.name, options, caller=caller)
    event = event_of(induced.lens, induced.sample.classes, induced.named.y)
    return replace(curve, event=event)


def curve_core(
    problem: BinarySample, lens: str, options: CurveOptions, *, caller: str
) -> ReliabilityCurve:
    """The curve of one checked binary problem."""
    smooth = options.interval == "pointwise" and options.method in SMOOTH
    if problem.clusters is not None and not smooth and options.interval not in (None, *BINOMIAL):
        hint = 'use "binomial" limits of bins, or "pointwise" ones of smooth curves.'
        got = f"{options.interval!r} with `groups`"
        raise invalid(caller, "interval", "one that knows groups", got, hint=hint)
    if options.interval in ("simultaneous", "pointwise") and not smooth:
        check_counts(caller, problem)
    if options.binning is not None:
        return _binned_curve(problem, options.binning, lens, options)
    if options.method == "isotonic":
        points = isotonic_points(problem)
    elif options.method == "density":
        points = density_points(problem, options.bandwidth, options.kernel)
    else:
        points = smooth_points(problem, options.bandwidth)
    return _curve(problem, points, lens, options)


def curve_of_summary(
    grid: GridSummary, lens: Any, options: CurveOptions, *, caller: str
) -> ReliabilityCurve:
    """The curve of sums: exact where their own bins decide, else of rows moved within a cell."""
    chosen: Lens = Binary() if len(grid.classes) == 2 else Confidence()
    if lens is not None:
        chosen = named_lens(lens, caller=caller)
    cells = grid.cells(problem_of(chosen, grid, caller=caller))
    drawn = options.interval is not None and options.interval not in BINOMIAL
    event = event_of(chosen, cells.classes)
    if isinstance(options.binning, UniformBins) and not drawn:
        return curve_from_summary(
            cells.summary(options.binning),
            lens=chosen.name,
            definition=options.binning.name,
            interval=options.interval,
            confidence_level=options.level,
            event=event,
        )
    if grid.weighted and drawn:
        hint = 'use "binomial" limits of bins, or `reliability_curve` on the rows.'
        got = repr(options.interval)
        raise invalid(caller, "interval", "one without draws for weights", got, hint=hint)
    sample = cells.sample
    assert sample.weight is not None
    curve = curve_core(sample, chosen.name, options, caller=caller)
    # A row that stands for others counts as one there.
    rows = curve.weight * (grid.n_samples / float(sample.weight.sum()))
    return replace(curve, count=rows, n_samples=grid.n_samples, event=event)


def _binned_curve(
    sample: BinarySample, binning: Binning, lens: str, options: CurveOptions
) -> ReliabilityCurve:
    interval, level = options.interval, options.level
    drawn = interval in DRAWN
    summary = summarise(sample, binning)
    effective = independent_sums(summary, sample, each=True)
    assert isinstance(effective, Summary)
    curve = curve_from_summary(
        effective,
        lens=lens,
        definition=binning.name,
        interval=None if drawn else interval,
        confidence_level=level,
    )
    if interval is None or not drawn:
        return curve
    low, high = bin_band(
        interval, sample, summary, level=level, n_resamples=options.n_resamples, rng=options.rng
    )
    return replace(curve, low=low, high=high, interval=interval, confidence_level=level)


def _curve(
    sample: BinarySample, points: Points, lens: str, options: CurveOptions
) -> ReliabilityCurve:
    interval, level = options.interval, options.level
    low = high = None
    smooth = options.method in SMOOTH
    if interval == "pointwise" and smooth:
        low, high = smooth_limits(sample, points, level)
    elif interval in ("simultaneous", "pointwise"):
        band = simultaneous_band if interval == "simultaneous" else pointwise_band
        points, low, high = banded_points(sample, points, band, level)
    elif interval is not None:
        kind = "bootstrap" if interval == "percentile" else interval
        draws = resampled(kind, sample, points.refit, options.n_resamples, options.rng)
        low, high = quantiles(draws, points.observed, level)
        if interval == "bootstrap" and smooth:
            held = smooth_limits(sample, points, level)
            low, high = np.minimum(low, held[0]), np.maximum(high, held[1])
        if interval == "percentile":
            median, _ = quantiles(draws, points.observed, 0.0)
            words = f"{points.definition}, median of {options.n_resamples:,} bootstrapped curves"
            points = replace(points, observed=median, definition=words)
    return ReliabilityCurve(
        lower=points.lower,
        upper=points.upper,
        count=points.count,
        weight=points.weight,
        predicted=points.predicted,
        observed=points.observed,
        gap=points.observed - points.predicted,
        low=low,
        high=high,
        lens=lens,
        method=options.method,
        definition=points.definition,
        interval=interval,
        confidence_level=None if interval is None else level,
        n_samples=sample.n,
    )


@answers_in_kind
def local_calibration_error(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    lens: Any = None,
    bandwidth: float | str | None = None,
    kernel: str | None = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
) -> ReliabilityCurve:
    r"""How far observed frequencies are from the prediction, prediction by prediction.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    lens, bandwidth, kernel, interval, confidence_level, n_resamples, rng, weight_type
        As in :func:`reliability_curve` with ``method="density"``.

    Returns
    -------
    ReliabilityCurve
        Its `gap` is the local calibration error :math:`P(Y = 1 \mid s) - s` at `predicted`; `at`
        reads the calibrated probability of single predictions.

    References
    ----------
    .. [1] Posocco & Bonnefoy (2021), arXiv 2109.03480, Definition 6 and section 4.4.

    Examples
    --------
    Nothing happens around 0.25, everything around 0.75.

    >>> curve = local_calibration_error([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75], bandwidth=0.02)
    >>> curve.at([0.25, 0.75]).observed.round(6).tolist()
    [0.0, 1.0]
    """
    caller = "reliability_curve"
    options = check_curve_options(
        caller,
        method="density",
        bandwidth=bandwidth,
        kernel=kernel,
        interval=interval,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
    )
    data = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    return _curve_of_data(data.weighted(sample_weight, weight_type), lens, options, caller=caller)
