"""Several tests of calibration in one call, beneath the one verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from veridical._core.data.randomness import check_resamples, check_seed
from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.data.validation import check_level, check_option
from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, WeightType
from veridical.binning import UniformBins
from veridical.evaluation._battery.battery import check_names, common_part, group_test, run_tests
from veridical.evaluation._battery.pushed import battery_of
from veridical.evaluation._data.read import DataRequest
from veridical.evaluation._data.source import Source
from veridical.evaluation._data.sums import notes_on_origin
from veridical.evaluation._figures.measure import figures_of
from veridical.evaluation._verdict.fitted import suspicion
from veridical.evaluation._verdict.judge import Judged, Judging, judge, reversal
from veridical.exceptions import warn_of
from veridical.inference import adjust_pvalues
from veridical.inference.core import recalibration_line
from veridical.inference.tests import TEST_OF_CLASSES
from veridical.lenses.reading import Induced, RawData
from veridical.results import CalibrationTest, Coefficient, CoxTest, TestReport
from veridical.results.library import answers_in_kind

_CALLER = "calibration_tests"


@answers_in_kind
def calibration_tests(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: str | list[str] | tuple[str, ...] | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
    by: Any = None,
    by_bins: int = 4,
    groups: Any = None,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    tests: str | list[str] | tuple[str, ...] | None = None,
    level: float = 0.05,
    n_bins: Any = 15,
    n_resamples: int = 1000,
    rng: Any = None,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> TestReport:
    """Test calibration jointly, say what came out in one verdict, and list single tests beneath it.

    Parameters
    ----------
    y_true, y_prob, y, prob, lens, labels, pos_label, sample_weight, weight_type
        As in :func:`evaluate`: arrays, or a frame, query or file with column names, or a summary.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other, as in :func:`evaluate`.
    by : array-like, column name or list of column names, optional
        Subgroups, each tested by itself in `TestReport.groups`.
    scale, missing, normalize, by_bins
        How values are read, as in :func:`evaluate`.
    tests : str or list of str, optional
        Of "consistency" (of ECE; of whole vectors with bins of equal spread), "spiegelhalter",
        "hosmer-lemeshow" (ten groups), "cox", "t-cal", "kernel" and "pearson". Default the first
        five, of which those that would take much longer than a second are left out with a note;
        for three classes or more seen through the confidence lens also the consistency test of
        all classes ("classwise").
    level : float, default 0.05
        Chance that the verdict finds anything in calibrated predictions.
    n_bins : int, "sqrt", "cbrt" or "cv", default 15
        Number of bins of the consistency tests.
    n_resamples : int, default 1000
        How many times outcomes are drawn, where they are.
    rng : int, Generator or None
        Seed. None is a fixed seed here: the same data give the same report. Every test starts
        from the same seed, so its p-value is that of the test by itself.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        Where rows are summed up, as in :func:`evaluate`. From sums, the consistency test and those
        of groups are those of the rows; the other tests see rows moved to the mean of their cell,
        classes are corrected by Holm's method, and what needs whole rows is left out with a note.

    Returns
    -------
    TestReport
        `print` it, or see `verdict` (word for word that of :func:`evaluate`) and `rejected`, which
        are of the joint test (:func:`joint_test`), then `tests` and `adjusted`; `to_frame` has one
        row a test.

    Notes
    -----
    The null hypothesis is that outcomes are independent draws from the predictions as the lens
    shows them, and that the predictions were not fitted to these outcomes. The verdict is that of
    one joint test of level, spread and shape, of three classes or more also of every class and of
    whole vectors, and with `by` of every group, at this level.

    Single tests look for different deviations, so that one may reject and the others not, and are
    looked at one by one: with Holm's correction the probability that any rejects a calibrated model
    is at most `level` too, but they do not decide.

    Not to reject is no evidence of calibration. `detectable` then holds the root-mean-square gap
    that a test of the same bins finds with 80 % power at the level over the number of parts of the
    joint test (see :func:`detectable_error`), of the problem whose curve is drawn.
    To show that an error is small use :func:`equivalence_test`.

    Examples
    --------
    Where 0.2 and 0.8 were predicted, 0.4 and 0.6 were observed.

    >>> y = [1] * 40 + [0] * 60 + [1] * 60 + [0] * 40
    >>> report = calibration_tests(y, [0.2] * 100 + [0.8] * 100, tests=["consistency", "cox"])
    >>> report.rejected, round(report.test("consistency").statistic, 10)
    (True, 0.2)
    >>> print(report.verdict)
    Miscalibrated: probability that y = 1 (p < 0.001; 200 rows, binary lens). Over-confident:
    too extreme (recalibration slope 0.29; adjusted p < 0.001). Large: recalibration would save
    about ... % of log loss ...
    """
    level = check_level(_CALLER, level, "level")
    count = check_resamples(n_resamples, caller=_CALLER)
    UniformBins(n_bins)  # refuses a bad number before any test is made
    reading = Reading(scale, missing, normalize, by_bins).checked(caller=_CALLER)
    data = RawData(
        y_true,
        y_prob,
        y=y,
        prob=prob,
        labels=labels,
        pos_label=pos_label,
        by=by,
        groups=groups,
        reading=reading,
    )
    check_option(_CALLER, "weight_type", weight_type, ("importance", "frequency"))
    data = data.weighted(sample_weight, weight_type)
    request = DataRequest(data, lens=lens, n_bins=n_bins, caller=_CALLER)
    frequencies = weight_type == "frequency" and sample_weight is not None
    source = request.read(engine, needs_rows="frequencies" if frequencies else None)
    seed = check_seed(rng, caller=_CALLER)
    report, doubts = run_battery(
        source, tests=tests, level=level, n_bins=n_bins, n_resamples=count, seed=seed
    )
    warn_of(doubts, caller=_CALLER)
    return replace(report, notes=(*notes_on_origin(source, n_bins, "tests"), *report.notes))


def run_battery(
    source: Source,
    *,
    level: float,
    n_bins: Any,
    n_resamples: int,
    seed: int,
    tests: str | Sequence[str] | None = None,
    judged: Judged | None = None,
) -> tuple[TestReport, list[str]]:
    """Test data that were read; the notes say what was left out and hold the doubts returned.

    `judged` is the verdict, if it is known already.
    """
    options = {"n_bins": n_bins, "level": level, "n_resamples": n_resamples, "seed": seed}
    battery = battery_of(source, **options)
    induced = battery.induced
    asked = check_names(tests, induced, caller=_CALLER)
    made = run_tests(battery, asked)
    all_tests, left_out, doubts = made.tests, made.left_out, made.doubts
    classes = None
    if asked is None and battery.asks_of_classes:
        if battery.takes_long(TEST_OF_CLASSES):
            left_out.append("single classes were not tested, as it would take long")
        else:
            classes = battery.family()
    groups = battery.groups()
    if groups is not None:
        all_tests["groups"] = group_test(groups)
    adjusted = tuple(adjust_pvalues([test.pvalue for test in all_tests.values()]).tolist())
    found = judged
    if found is None:
        figures = figures_of(source, n_bins, 1 - level)
        found = judge(source, figures, Judging(n_bins, level, n_resamples, seed))
    detectable = None if found.reach is None else found.reach.found
    if detectable is not None:
        doubts += [f"detectable_error: {note}" for note in detectable.notes]
    doubts += [*suspicion(source), *_dependent_rows(induced), *_too_few_draws(all_tests, level)]
    slope, intercept = _line(all_tests, source, level)
    report = TestReport(
        names=tuple(all_tests),
        tests=tuple(common_part(test) for test in all_tests.values()),
        adjusted=adjusted,
        level=level,
        lens=induced.lens.name,
        n_samples=battery.n_samples,
        verdict=found.verdict,
        slope=slope,
        intercept=intercept,
        classes=classes,
        groups=groups,
        detectable=detectable,
        notes=(*left_out, *doubts),
    )
    return report, [*reversal(found.verdict), *doubts]


def _line(
    tests: Mapping[str, CalibrationTest], source: Source, level: float
) -> tuple[Coefficient | None, Coefficient | None]:
    """Slope and level as Cox's test has them, or as it would have."""
    cox = tests.get("cox")
    if isinstance(cox, CoxTest):
        return cox.slope, cox.in_the_large
    if source.kind != "binary":
        return None, None
    line = recalibration_line(source.binary, 1 - level)
    return line.slope, line.in_the_large


def _dependent_rows(induced: Induced) -> list[str]:
    """Say so where a lens makes several rows of one, as the pooled lens does."""
    problem, sample = induced.problem, induced.sample
    if not isinstance(problem, BinarySample) or problem.n == sample.n:
        return []
    return [
        f"the {induced.lens.name} lens makes {problem.n:,} rows of {sample.n:,}: they depend on"
        " each other, and p-values are not exact"
    ]


def _too_few_draws(tests: Mapping[str, CalibrationTest], level: float) -> list[str]:
    """Say so where a Monte-Carlo p-value cannot become small enough for the correction."""
    drawn = [test.n_resamples for test in tests.values() if test.n_resamples is not None]
    if not drawn or len(tests) / (min(drawn) + 1) <= level:
        return []
    return [
        f"p-values of {min(drawn)} draws are at least {1 / (min(drawn) + 1):.2g}: too coarse for"
        f" {len(tests)} tests at level {level:g}"
    ]
