"""The registry: every public figure, so that every law is tested on every one of them.

A new metric joins by adding one line; `test_registry` fails until it does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

import veridical as v


@dataclass(frozen=True)
class Metric:
    """A figure (or several) of (y, p) and the laws it obeys.

    Attributes
    ----------
    call : function of (y, p, sample_weight=..., ...) that returns a number or several
    kind : "binary" or "multiclass", the data it is tried on
    covers : public names it exercises
    repetition : whether an integer weight equals repetition: "always", only with weight_type
        "frequency", or "never" (figures that depend on n and take no weight_type)
    typed : whether it takes `weight_type`
    random : whether it resamples, so that rows of weight one draw other numbers than plain rows
    by_label : whether `call` takes the class labels first, because its options name them
    """

    name: str
    call: Callable[..., Any]
    kind: str
    covers: tuple[str, ...]
    repetition: str = "always"
    typed: bool = True
    random: bool = False
    by_label: bool = False

    def __call__(self, y: Any, p: Any, *, classes: Any = None, **options: Any) -> np.ndarray:
        call = self.call
        if self.by_label:
            default = (0, 1) if self.kind == "binary" else (0, 1, 2)
            call = partial(call, default if classes is None else classes)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*mostly noise", v.VeridicalWarning)  # of maxima
            return np.atleast_1d(np.asarray(call(y, p, **options), dtype=np.float64))

    def of(self, data: Any, *, weighted: bool = False) -> np.ndarray:
        """What most laws compare with, of the data as the fixture gives them: computed once."""
        key = self.name, weighted
        if key not in _STARTING_POINTS:
            options = {"sample_weight": data.w} if weighted else {}
            _STARTING_POINTS[key] = self(data.y, data.p, **options)
            _STARTING_POINTS[key].setflags(write=False)
        return _STARTING_POINTS[key]


_STARTING_POINTS: dict[tuple[str, bool], np.ndarray] = {}


@dataclass
class Registry:
    metrics: dict[str, Metric] = field(default_factory=dict)

    def add(self, name: str, call: Any, kind: str, *covers: str, **flags: Any) -> None:
        for each in ("binary", "multiclass") if kind == "both" else (kind,):
            full = f"{name} [{each}]"
            assert full not in self.metrics, f"{full} twice"
            self.metrics[full] = Metric(full, call, each, covers, **flags)


def curve(y: Any, p: Any, **options: Any) -> np.ndarray:
    c = v.reliability_curve(y, p, interval=None, **options)
    return np.concatenate([c.lower, c.upper, c.predicted, c.observed, c.gap])


def observed(y: Any, p: Any, *, function: Any = v.reliability_curve, **options: Any) -> Any:
    return function(y, p, interval=None, **options).at([0.3, 0.5, 0.7]).observed


def limits(y: Any, p: Any, **options: Any) -> np.ndarray:
    c = v.reliability_curve(y, p, **options)
    return np.concatenate([c.low, c.high])


def parts(y: Any, p: Any, **options: Any) -> list[float]:
    d = v.decompose(y, p, **options)
    values = [d.score, d.miscalibration, d.discrimination, d.uncertainty, d.refinement]
    more = (d.within_bin, d.within_bin_variance, d.within_bin_covariance)
    truth = (d.epistemic, d.irreducible, d.grouping)
    return values + [value for value in more + truth if value is not None]


def parts_with_posterior(y: Any, p: Any, **options: Any) -> list[float]:
    # Few bins: a recalibrated prediction of 0 or 1 has an infinite log divergence.
    truth = 0.9 * np.asarray(p, dtype=np.float64) + 0.05
    return parts(y, p, posterior=truth, method="bins", n_bins=3, **options)


def figures(y: Any, p: Any, **options: Any) -> list[float]:
    return [value for *_, value in v.evaluate(y, p, n_resamples=5, **options).figures()]


def figures_free_of_n(y: Any, p: Any, **options: Any) -> list[float]:
    dependent = ("debiased", "variance-split", "canonical ECE")
    rows = v.evaluate(y, p, n_resamples=0, **options).figures()
    return [value for name, *_, value in rows if not name.endswith(dependent)]


def null(y: Any, p: Any, *, estimator: Any, **options: Any) -> list[float]:
    level = v.null_level(estimator, y, p, n_resamples=20, rng=0, **options)
    return [level.mean, level.std, level.estimate]


def interval(y: Any, p: Any, *, estimator: Any, **options: Any) -> list[float]:
    found = v.bootstrap_interval(estimator, y, p, **options)
    return [found.estimate, found.low, found.high]


def tested(y: Any, p: Any, *, test: Any, **options: Any) -> list[float]:
    found = test(y, p, rng=0, n_resamples=19, **options)
    return [found.statistic, found.pvalue]


def statistic(y: Any, p: Any, *, test: Any, **options: Any) -> float:
    return tested(y, p, test=test, **options)[0]


def families(y: Any, p: Any, **options: Any) -> list[float]:
    found = v.multiple_test(v.BinnedError(), y, p, rng=0, n_resamples=19, **options)
    return [*found.statistics, *found.pvalues, *found.adjusted]


def equivalence(y: Any, p: Any, **options: Any) -> list[float]:
    found = v.equivalence_test(y, p, delta=0.3, n_bins=2, **options)
    return [found.statistic, found.upper, found.pvalue]


def softer(p: Any) -> np.ndarray:
    """A second model: halfway to the base rate."""
    p = np.asarray(p, dtype=np.float64)
    return 0.5 * p + 0.5 / (2 if p.ndim == 1 else max(2, p.shape[1]))


def difference(y: Any, p: Any, *, estimator: Any, **options: Any) -> list[float]:
    d = v.paired_difference(estimator, y, p, softer(p), **options)
    return [d.estimate, d.low, d.high, d.pvalue]


def compared(y: Any, p: Any, **options: Any) -> list[float]:
    c = v.compare({"p": p, "softer": softer(p)}, y, n_resamples=5, n_bins=6, **options)
    scores = c.differences[0].difference
    return [test.statistic for test in c.tests] + [scores.estimate, scores.low, scores.high]


def mean_miss(y: np.ndarray, p: np.ndarray, labels: Any, sample_weight: Any = None) -> float:
    """A measure a user might write: what was not given to the class that occurred."""
    columns = p if p.ndim == 2 else np.column_stack([1 - p, p])
    column = np.array([list(labels).index(label) for label in y.tolist()])
    return float(np.average(1 - columns[np.arange(len(y)), column], weights=sample_weight))


def second_guess(y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A lens a user might write: did the second most probable class occur?"""
    second = np.argsort(-p, axis=1, kind="stable")[:, 1]
    return (y == second).astype(int), p[np.arange(len(p)), second]


def largest_gap(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.abs(observed - predicted).max(axis=-1)


def costing(y: Any, p: Any, **options: Any) -> list[float]:
    c = v.expected_cost(y, p, **options)
    limits = [c.predicted.low, c.realised.estimate, c.realised.high]
    return [*limits, c.difference.pvalue, c.perfect, c.constant]


def lost(y: Any, p: Any, **options: Any) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", v.VeridicalWarning)  # few decisions change
        c = v.miscalibration_cost(y, p, **options)
    return [c.estimate, c.low, c.first, c.second, c.changed]


def cost_points(y: Any, p: Any, **options: Any) -> np.ndarray:
    c = v.cost_curve(y, p, **options)
    areas = [c.area, c.envelope_area, c.brier, c.refinement]
    return np.concatenate([areas, c.hull.frequency])


def hull_points(y: Any, p: Any, **options: Any) -> np.ndarray:
    h = v.roc_hull(y, p, **options)
    return np.concatenate([h.threshold[1:], h.fpr, h.tpr, [h.auc, h.prior]])


def benefits(y: Any, p: Any, **options: Any) -> np.ndarray:
    c = v.decision_curve(y, p, thresholds=[0.1, 0.33, 0.52, 0.7], **options)
    return np.concatenate([c.low, c.high, c.advantage_low, c.avoided, c.treat_all])


def risks(y, p, **options):
    c = v.risk_coverage_curve(y, p, **options)
    return np.concatenate([c.risk, c.coverage, [c.area.estimate, c.excess.estimate]])


def build() -> dict[str, Metric]:
    registry = Registry()
    for part in (_scores, _functions, _estimators, _without_bins, _results, _inference, _decisions):
        part(registry.add)
    return registry.metrics


def _decisions(add: Callable[..., None]) -> None:
    often = {"repetition": "frequency"}
    table = np.array([[0, 1, 4, 1.3], [2, 0, 1, 1.1], [6, 3, 0, 1.2]])
    for kind, costs in (("binary", (1, 3)), ("multiclass", table)):
        add("expected_cost", partial(costing, costs=costs), kind, "expected_cost", **often)
        add("miscalibration_cost", partial(lost, costs=costs), kind, "miscalibration_cost", **often)
    add("cost_curve", cost_points, "both", "cost_curve", typed=False)
    add("roc_hull", hull_points, "both", "roc_hull", typed=False)
    add("decision_curve", benefits, "both", "decision_curve", **often)
    prior = partial(benefits, prevalence=0.2)
    add("decision_curve prevalence", prior, "both", "decision_curve", **often)
    answered = partial(risks, lens="binary")  # confidences of p and 1 - p tie but for rounding
    add("risk_coverage_curve", answered, "binary", "risk_coverage_curve", **often)
    add("risk_coverage_curve", risks, "multiclass", "risk_coverage_curve", **often)


def _scores(add: Callable[..., None]) -> None:
    for name in ("brier_score", "log_loss", "spherical_score", "zero_one_loss"):
        function, flags = getattr(v, name), {"typed": False, "by_label": True}
        add(name, function, "both", name, typed=False)
        first = lambda c, y, p, f=function, **o: f(y, p, pos_label=c[0], **o)  # noqa: E731
        add(f"{name} of the first class", first, "binary", name, **flags)
        named = lambda c, y, p, f=function, **o: f(y, p, labels=list(c), **o)  # noqa: E731
        add(f"{name} with labels", named, "both", name, **flags)
    for name in ("BrierScore", "LogScore", "SphericalScore", "ZeroOneLoss"):
        score = getattr(v, name)()
        add(name, score, "both", name)
        add(f"{name} canonical", partial(score, lens="canonical"), "multiclass", name, "Canonical")
        add(f"{name} classwise", partial(score, lens="classwise"), "multiclass", name, "Classwise")
        add(f"{name} confidence", partial(score, lens="confidence"), "multiclass", name)
    add("FunctionMeasure", v.FunctionMeasure(mean_miss), "both", "FunctionMeasure")


def _functions(add: Callable[..., None]) -> None:
    ece, mce = v.expected_calibration_error, v.maximum_calibration_error
    cw = v.classwise_calibration_error
    own = "expected_calibration_error"
    add("ECE", ece, "both", own)
    add("ECE binary lens", partial(ece, lens=v.Binary()), "binary", own, "Binary")
    for strategy in ("uniform", "quantile"):
        for norm in (2, 3.5, "max"):
            call = partial(ece, strategy=strategy, n_bins=6, norm=norm)
            add(f"ECE {strategy} norm {norm}", call, "both", own, "QuantileBins")
        for options in ({"debias": True}, {"norm": 2, "debias": True}):
            call = partial(ece, strategy=strategy, n_bins=6, **options)
            add(f"ECE {strategy} {options}", call, "both", own, repetition="frequency")
        for n_bins in ("sqrt", "cbrt", "cv"):
            call = partial(ece, strategy=strategy, n_bins=n_bins)
            add(f"ECE {strategy} {n_bins}", call, "both", own, repetition="frequency")
    add("ECE sweep", partial(ece, strategy="sweep"), "both", own, "SweepBins")
    lenses = {"confidence": "Confidence", "classwise": "Classwise", "pooled": "Pooled"}
    for lens, lens_class in lenses.items():
        add(f"ECE {lens}", partial(ece, lens=lens), "multiclass", own, lens_class)
    add("ECE canonical", partial(ece, lens="canonical", n_bins=4), "multiclass", own, "Canonical")
    add("ECE top 2", partial(ece, lens=v.TopK(2), n_bins=3), "multiclass", own, "TopK")
    add("ECE user's lens", partial(ece, lens=second_guess, n_bins=7), "multiclass", own)
    add("ECE one class", lambda c, y, p, **o: ece(y, p, lens=v.ClassSpecific(c[1]), **o),
        "multiclass", own, "ClassSpecific", by_label=True)  # fmt: skip
    add("ECE groups",
        lambda c, y, p, **o: ece(y, p, lens=v.Grouped([[c[0], c[2]], [c[1]]]), n_bins=7, **o),
        "multiclass", own, "Grouped", by_label=True)  # fmt: skip
    add("MCE", mce, "both", "maximum_calibration_error")
    add("MCE quantile", partial(mce, strategy="quantile", n_bins=6), "both", "QuantileBins")
    for options in ({}, {"norm": 2}, {"norm": "max"}, {"aggregate": "mean", "norm": 2},
                    {"aggregate": "max"}, {"strategy": "quantile", "n_bins": 5},
                    {"strategy": "sweep"}):  # fmt: skip
        add(f"classwise {options}", partial(cw, **options), "both", "classwise_calibration_error")
    for options in ({"debias": True}, {"debias": True, "norm": 2}, {"n_bins": "sqrt"},
                    {"n_bins": "cv"}):  # fmt: skip
        add(f"classwise {options}", partial(cw, **options), "multiclass", repetition="frequency")


def _estimators(add: Callable[..., None]) -> None:
    def error(name: str, kind: str, *covers: str, lens: Any = None, **given: Any) -> None:
        flags = {key: given.pop(key) for key in ("repetition",) if key in given}
        call = partial(v.BinnedError(**given), lens=lens)
        add(f"BinnedError {name}", call, kind, "BinnedError", *covers, **flags)

    error("default", "both")
    # Seven bins: the printed formula jumps at the centres, which hundredths should not hit.
    for assignment in ("linear", "linear-inverted"):
        options = {"assignment": assignment, "binning": v.UniformBins(7)}
        error(assignment, "both", **options)
        error(f"{assignment} classwise", "multiclass", lens="classwise", **options)
    for distance in ("tv", "l1", "l2", "sqeuclidean", "realised", largest_gap):
        name = getattr(distance, "__name__", distance)
        grid = v.SimplexBins(4)
        error(f"distance {name}", "binary", distance=distance)
        error(f"distance {name} canonical", "multiclass", "SimplexBins", distance=distance,
              binning=grid, lens="canonical")  # fmt: skip
    error("canonical debiased", "multiclass", binning=v.SimplexBins(4), norm=2, debias=True,
          lens="canonical", repetition="frequency")  # fmt: skip
    error("region", "both", region=(0.3, 0.8))
    error("region function", "both", region=lambda p: p > 0.5)
    error("region classwise", "multiclass", region=(0.3, 0.8), lens="classwise")
    for threshold in ("mean", "median"):
        error(f"variance split at {threshold}", "multiclass", "VarianceSplitBins",
              binning=v.VarianceSplitBins(60, threshold), lens="canonical",
              repetition="frequency")  # fmt: skip
    error("edges", "both", "EdgeBins", binning=v.EdgeBins([0.25, 0.5, 0.9]))
    error("edges closed left", "both", binning=v.EdgeBins([0.25, 0.5, 0.9], closed="left"))
    error("closed left", "both", "UniformBins", binning=v.UniformBins(10, closed="left"))
    error("support", "both", binning=v.UniformBins(8, support=(0.25, 1.0)))
    error("min_count", "both", binning=v.UniformBins(15, min_count=40), repetition="frequency")


def _without_bins(add: Callable[..., None]) -> None:
    for estimator in (
        v.CumulativeError("ks"),
        v.CumulativeError("kuiper"),
        v.IsotonicError(),
        v.IsotonicError("spherical"),
        v.SmoothError(),
        v.SmoothError(bandwidth=0.05),
        *(v.LoessError(summary) for summary in ("mean", "median", "p90", "max")),
        v.LoessError(span=0.5, degree=1),
        v.DensityError(bandwidth=0.05),
        v.KernelError(estimator="biased"),
        v.KernelError("gaussian", bandwidth=0.3, estimator="biased"),
        v.KernelError.mmce(),
        v.UCMEError(),
    ):
        own = type(estimator).__name__
        add(repr(estimator), estimator, "both", own)
        classwise = partial(estimator, lens="classwise")
        add(f"{estimator} classwise", classwise, "multiclass", own)
    for estimator in (v.DensityError(), v.DensityError("isj", norm=2), v.KernelError()):
        own = type(estimator).__name__
        add(repr(estimator), estimator, "both", own, repetition="frequency")
    canonical = partial(v.KernelError(), lens="canonical")
    add("KernelError canonical", canonical, "multiclass", "KernelError", repetition="frequency")
    for kind in ("every", "chosen", "chosen-by-action"):
        pair = v.CostWeightedError((1, 4), kind, v.QuantileBins(6))
        add(f"CostWeightedError {kind}", pair, "binary", "CostWeightedError")
        table = v.CostWeightedError([[0, 2, 4], [1, 0, 1], [4, 2, 0]], kind, v.QuantileBins(6))
        call = partial(table, lens="canonical")
        add(f"CostWeightedError {kind}", call, "multiclass", "CostWeightedError")
    for kernel in ("beta", "beta-modified"):
        add(f"DensityError {kernel}", v.DensityError(0.05, kernel), "both", "DensityError")
        by_rule = v.DensityError(kernel=kernel)
        add(f"DensityError {kernel} rule", by_rule, "binary", repetition="frequency")
    add("RecalibrationError", v.RecalibrationError(), "both", "RecalibrationError",
        repetition="frequency")  # fmt: skip
    own = "DirichletKernelError"
    add(own, v.DirichletKernelError(0.02), "binary", own, repetition="frequency")
    for width in (0.02, "auto", "likelihood"):
        call = partial(v.DirichletKernelError(width), lens="canonical")
        add(f"{own} {width}", call, "multiclass", own, repetition="frequency")
    canonical = partial(v.UCMEError(), lens="canonical")
    add("UCMEError canonical", canonical, "multiclass", "UCMEError")


def _results(add: Callable[..., None]) -> None:
    for rule in ("brier", "log", "spherical", "zero-one"):
        for method in ("bins", "isotonic", "unique"):
            call = partial(parts, rule=rule, method=method)
            add(f"decompose {rule} {method}", call, "binary", "decompose")
            if method != "isotonic":
                call = partial(parts, rule=rule, method=method, n_bins=4)
                add(f"decompose {rule} {method}", call, "multiclass", "decompose")
            classwise = partial(parts, rule=rule, method=method, lens="classwise")
            add(f"decompose {rule} {method} classwise", classwise, "multiclass", "decompose")
        given = partial(parts_with_posterior, rule=rule)
        add(f"decompose {rule} with posterior", given, "binary", "decompose")
    add("reliability_curve", curve, "both", "reliability_curve")
    add("reliability_curve quantile", partial(curve, strategy="quantile", n_bins=6), "both")
    add("reliability_curve pooled", partial(curve, lens=v.Pooled()), "multiclass", "Pooled")
    for interval in ("wilson", "clopper-pearson"):
        call = partial(limits, interval=interval)
        add(f"reliability_curve {interval}", call, "both", repetition="frequency")
    add("reliability_curve isotonic", partial(curve, method="isotonic"), "both")
    smooth = {"method": "smooth", "bandwidth": 0.05}
    add("reliability_curve smooth", partial(observed, **smooth), "both")
    fixed = partial(observed, function=v.local_calibration_error, bandwidth=0.05)
    add("local_calibration_error", fixed, "both", "local_calibration_error")
    add("evaluate", figures_free_of_n, "both", "evaluate")
    add("evaluate all", figures, "both", "evaluate", repetition="frequency")
    for lens, n_bins in (("classwise", 15), ("canonical", 4)):
        call = partial(figures_free_of_n, lens=lens, n_bins=n_bins)
        add(f"evaluate {lens}", call, "multiclass", "evaluate")


def _inference(add: Callable[..., None]) -> None:
    flags = {"random": True, "repetition": "never"}
    for name, estimator in {
        "ECE": v.BinnedError(),
        "linear": v.BinnedError(v.UniformBins(7), assignment="linear"),
        "Brier score": v.BrierScore(),
    }.items():
        call = partial(null, estimator=estimator)
        add(f"null_level {name}", call, "both", "null_level", **flags)
    for name, estimator in {
        "ECE": v.BinnedError(v.UniformBins(7)),
        "RMSCE": v.BinnedError(v.QuantileBins(6), norm=2, debias=True),
        "Brier score": v.BrierScore(),
    }.items():
        call = partial(interval, estimator=estimator)
        add(
            f"bootstrap_interval {name}", call, "both", "bootstrap_interval", repetition="frequency"
        )
    for name, extra in {
        "pearson_test": {},
        "hosmer_lemeshow_test": {"n_bins": 4},
        "spiegelhalter_test": {},
    }.items():
        call = partial(tested, test=getattr(v, name), **extra)
        add(name, call, "both", name, repetition="frequency", random=True)
    cox = partial(statistic, test=partial(v.cox_test, null="asymptotic"))
    add("cox_test", cox, "binary", "cox_test", repetition="frequency")  # zeros are clipped: warns
    for name in ("kernel_test", "t_cal_test"):
        add(name, partial(tested, test=getattr(v, name)), "both", name, **flags)
    add("consistency_test", partial(tested, test=partial(v.consistency_test, v.BinnedError())),
        "both", "consistency_test", **flags)  # fmt: skip
    add("multiple_test", families, "both", "multiple_test", **flags)
    add("equivalence_test", equivalence, "both", "equivalence_test", repetition="frequency")
    for estimator in (v.BrierScore(), v.BinnedError(v.UniformBins(7), norm=2)):
        call = partial(difference, estimator=estimator)
        add(f"paired_difference {estimator.name}", call, "both", "paired_difference",
            repetition="frequency")  # fmt: skip
    add("compare", compared, "both", "compare", repetition="frequency")
    call = partial(null, estimator=v.BinnedError(), lens="classwise")
    add("null_level classwise", call, "multiclass", "null_level", **flags)


METRICS = build()


def _fixture(wanted: Callable[[Metric], bool]) -> Any:
    chosen = [metric for metric in METRICS.values() if wanted(metric)]

    @pytest.fixture(params=chosen, ids=[metric.name for metric in chosen])
    def metric_fixture(request: pytest.FixtureRequest) -> Metric:
        return request.param

    return metric_fixture


metric = _fixture(lambda m: True)
exact_metric = _fixture(lambda m: not m.random)
binary_metric = _fixture(lambda m: m.kind == "binary")
multiclass_metric = _fixture(lambda m: m.kind == "multiclass")
# Not those that draw outcomes class by class, or whose options name classes by their numbers.
_BY_NUMBER = ("expected_cost", "miscalibration_cost", "CostWeightedError")
permutable_metric = _fixture(
    lambda m: (
        m.kind == "multiclass"
        and not m.random
        and "with labels" not in m.name
        and not m.name.startswith(_BY_NUMBER)
    )
)
repeatable_metric = _fixture(lambda m: m.repetition != "never")
count_free_metric = _fixture(lambda m: m.repetition == "always" and m.typed)
# One figure of each kind of function, for what is the same at the border of all.
border_metric = _fixture(lambda m: m.name.startswith(("brier_score", "ECE [", "evaluate all")))
# Cross-validation may well choose the same number of bins for another sample size. With weights
# below one, leaving out a count or a row is the same to a leave-one-out estimate. Tests that draw
# outcomes warn of frequencies that are no whole numbers.
counting_metric = _fixture(
    lambda m: (
        m.repetition == "frequency"
        and not m.random
        and not m.name.startswith("DirichletKernel")
        and "cv" not in m.name
    )
)


@pytest.fixture
def registry() -> dict[str, Metric]:
    return METRICS


@pytest.fixture
def data(request: pytest.FixtureRequest) -> Any:
    """The data of the metric's kind."""
    names = [n for n in request.fixturenames if n.endswith("metric")]
    return request.getfixturevalue(request.getfixturevalue(names[0]).kind)
