"""What `speed.py` times: one record an operation, with sizes, classes and the best other package.

A job takes a `Sample` and returns the call to time; whatever is not the computation (imports,
fitted maps to predict with) happens before. A peer whose package is absent raises `ImportError`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from data import Sample

import veridical as v

Call = Callable[[], Any]
Make = Callable[[Sample], Call]
SMALL, MIDDLE, LARGE = 10**3, 10**4, 10**6
SIZES = (SMALL, MIDDLE, LARGE)


@dataclass(frozen=True)
class Job:
    """An operation, the sizes it is timed at, and who else does it.

    Attributes
    ----------
    name : as users type it
    make : the call for a sample
    sizes : numbers of rows
    classes : numbers of classes; beyond two, samples have at most 1e6 values
    peers : other packages that give the same answer
    """

    name: str
    make: Make
    sizes: tuple[int, ...] = SIZES
    classes: tuple[int, ...] = (2,)
    peers: dict[str, Make] | None = None


def of(function: Callable[..., Any], *first: Any, **options: Any) -> Make:
    """A function of an estimator, outcomes and predictions."""
    return lambda s: lambda: function(*first, s.y, s.p, **options)


def fit(calibrator: Callable[[], Any]) -> Make:
    """Fitting a map."""
    return lambda s: lambda: calibrator().fit(s.p, s.y)


def predict(calibrator: Callable[[], Any]) -> Make:
    """Predicting with a map that was fitted to 10,000 rows."""

    def make(s: Sample) -> Call:
        fitted = calibrator().fit(s.p[:MIDDLE], s.y[:MIDDLE])
        return lambda: fitted.predict_proba(s.p)

    return make


def models(s: Sample) -> dict[str, np.ndarray]:
    """Five models: one, and four that are worse by noise in their log-odds."""
    rng = np.random.default_rng(0)
    inside = s.p.clip(1e-6, 1 - 1e-6)
    odds = np.log(inside / (1 - inside))
    return {
        f"m{i}": 1 / (1 + np.exp(-odds - 0.2 * i * rng.standard_normal(len(odds))))
        for i in range(5)
    }


def five_models(s: Sample) -> Call:
    predictions = models(s)
    return lambda: v.compare(predictions, s.y, rng=0)


def by_groups(size: int) -> Make:
    """`evaluate` of groups of this many rows."""

    def make(s: Sample) -> Call:
        by = np.arange(len(s.y)) // size
        return lambda: v.evaluate(s.y, s.p, by=by, rng=0)

    return make


def heavy_weight(s: Sample) -> Call:
    weight = np.ones(len(s.y))
    weight[0] = 1e9
    return lambda: v.evaluate(s.y, s.p, sample_weight=weight, rng=0)


def compared(estimator: Any) -> Make:
    def make(s: Sample) -> Call:
        other = models(s)["m2"]
        return lambda: v.paired_difference(estimator, s.y, s.p, other, rng=0)

    return make


def watch(s: Sample) -> Call:
    def call() -> Any:
        with v.CalibrationMonitor() as monitor:
            monitor.update(s.y, s.p)
            return monitor.status()

    return call


def rate(s: Sample) -> Call:
    few = max(100, len(s.y) // 100)
    return lambda: v.estimate_rate(s.y[:few], s.p[:few], s.p[few:], rng=0)


def costs_of(function: Callable[..., Any]) -> Make:
    return lambda s: lambda: function(s.y, s.p, [[0, 1], [5, 0]])


def audit(s: Sample) -> Call:
    by = np.arange(len(s.y)) % 10
    return lambda: v.multiple_test(v.BinnedError(), s.y, s.p, over="groups", by=by, rng=0)


# ------------------------------------------------------------------------------------------ peers


def sk(name: str) -> Make:
    """A metric of scikit-learn."""

    def make(s: Sample) -> Call:
        from sklearn import calibration, metrics

        function = getattr(metrics, name, None) or getattr(calibration, name)
        return lambda: function(s.y, s.p)

    return make


def sk_quantile(s: Sample) -> Call:
    from sklearn.calibration import calibration_curve

    return lambda: calibration_curve(s.y, s.p, n_bins=15, strategy="quantile")


def sk_platt(s: Sample) -> Call:
    from sklearn.calibration import _SigmoidCalibration

    return lambda: _SigmoidCalibration().fit(np.log(s.p / (1 - s.p)), s.y)


def sk_isotonic(s: Sample) -> Call:
    from sklearn.isotonic import IsotonicRegression

    return lambda: IsotonicRegression(out_of_bounds="clip").fit(s.p, s.y)


def sk_isotonic_predict(s: Sample) -> Call:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(s.p[:MIDDLE], s.y[:MIDDLE])
    return lambda: fitted.predict(s.p)


def beta_fit(s: Sample) -> Call:
    from betacal import BetaCalibration

    return lambda: BetaCalibration().fit(s.p, s.y)


def venn_abers(s: Sample) -> Call:
    from venn_abers import VennAbers

    pair = np.column_stack([1 - s.p, s.p])

    def call() -> Any:
        peer = VennAbers()
        peer.fit(pair, s.y)
        return peer.predict_proba(pair)

    return call


def own_venn_abers(s: Sample) -> Call:
    return lambda: v.VennAbersCalibrator().fit(s.p, s.y).predict_proba(s.p)


def netcal_histogram(s: Sample) -> Call:
    from netcal.binning import HistogramBinning

    return lambda: HistogramBinning(bins=15).fit(s.p, s.y)


def netcal_ece(s: Sample) -> Call:
    from netcal.metrics import ECE

    return lambda: ECE(bins=15).measure(s.p, s.y)


def relplot_binned(s: Sample) -> Call:
    from relplot.metrics import binnedECE

    return lambda: binnedECE(s.p, s.y, nbins=15)


def relplot_smooth(s: Sample) -> Call:
    import relplot

    return lambda: relplot.smECE(s.p, s.y)


def mapie_spiegelhalter(s: Sample) -> Call:
    from mapie.metrics.calibration import spiegelhalter_p_value

    return lambda: spiegelhalter_p_value(s.y, s.p)


def calzone_cox(s: Sample) -> Call:
    from calzone.metrics import cox_regression_analysis

    pair = np.column_stack([1 - s.p, s.p])
    return lambda: cox_regression_analysis(s.y, pair)


def one_argmax(s: Sample) -> Call:
    return lambda: s.p.argmax(axis=1)


def eight_calls(s: Sample) -> Call:
    """What a user of other packages would call instead of `evaluate`."""
    import relplot
    from mapie.metrics.calibration import spiegelhalter_p_value
    from relplot.metrics import binnedECE
    from sklearn.calibration import calibration_curve
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

    def call() -> Any:
        return (
            brier_score_loss(s.y, s.p),
            log_loss(s.y, s.p),
            roc_auc_score(s.y, s.p),
            accuracy_score(s.y, s.p > 0.5),
            binnedECE(s.p, s.y, nbins=15),
            relplot.smECE(s.p, s.y),
            spiegelhalter_p_value(s.y, s.p),
            calibration_curve(s.y, s.p, n_bins=15),
            IsotonicRegression(out_of_bounds="clip").fit(s.p, s.y),
        )

    return call


ALL = (2, 10, 100)
UP_TO_1E5 = (SMALL, MIDDLE, 10**5)
QUANTILES = v.BinnedError(binning=v.QuantileBins(15))

JOBS = [
    # whole answers
    Job("evaluate", of(v.evaluate, rng=0), classes=ALL, peers={"eight calls": eight_calls}),
    Job("evaluate(by=), 100 rows a group", by_groups(100), (10**3, 10**4, 10**5)),
    Job("evaluate, one weight of 1e9", heavy_weight),
    Job("compare, 5 models", five_models),
    Job("calibration_tests", of(v.calibration_tests, rng=0), classes=(2, 10)),
    Job(
        "check_requirements",
        of(v.check_requirements, requirements="ece <= 0.05", rng=0),
    ),
    Job("estimate_rate", rate),
    Job("grid_summary", of(v.grid_summary), classes=(2, 10)),
    Job("make_report", of(v.make_report, rng=0), (SMALL,)),
    Job("CalibrationMonitor.update, status", watch),
    # scores and errors
    Job(
        "brier_score",
        of(v.brier_score),
        classes=ALL,
        peers={"scikit-learn": sk("brier_score_loss")},
    ),
    Job("log_loss", of(v.log_loss), classes=ALL, peers={"scikit-learn": sk("log_loss")}),
    Job("spherical_score", of(v.spherical_score), classes=ALL),
    Job("zero_one_loss", of(v.zero_one_loss), classes=ALL),
    Job("decompose", of(v.decompose), classes=(2, 10)),
    Job("decompose, isotonic", of(v.decompose, method="isotonic")),
    Job(
        "expected_calibration_error",
        of(v.expected_calibration_error),
        classes=ALL,
        peers={
            "scikit-learn": sk("calibration_curve"),
            "relplot": relplot_binned,
            "netcal": netcal_ece,
        },
    ),
    Job("classwise_calibration_error", of(v.classwise_calibration_error), classes=ALL),
    Job("maximum_calibration_error", of(v.maximum_calibration_error)),
    Job("ECE, quantile bins", of(QUANTILES), peers={"scikit-learn": sk_quantile}),
    Job("ECE, SweepBins", of(v.BinnedError(binning=v.SweepBins()))),
    Job(
        "ECE, SimplexBins",
        of(v.BinnedError(binning=v.SimplexBins()), lens="canonical"),
        classes=(10,),
    ),
    Job("DensityError", of(v.DensityError())),
    Job("SmoothError", of(v.SmoothError()), peers={"relplot": relplot_smooth}),
    Job("IsotonicError", of(v.IsotonicError())),
    Job("KernelError", of(v.KernelError()), (SMALL, MIDDLE)),
    Job("CumulativeError", of(v.CumulativeError())),
    Job("LoessError", of(v.LoessError()), (SMALL, MIDDLE)),
    Job("RecalibrationError", of(v.RecalibrationError())),
    # curves
    Job("reliability_curve", of(v.reliability_curve)),
    Job(
        "reliability_curve, isotonic", of(v.reliability_curve, method="isotonic", rng=0), UP_TO_1E5
    ),
    Job("reliability_curve, smooth", of(v.reliability_curve, method="smooth", rng=0), UP_TO_1E5),
    # tests, nulls, intervals
    Job("consistency_test", of(v.consistency_test, v.BinnedError(), rng=0), classes=(2, 10)),
    Job("spiegelhalter_test", of(v.spiegelhalter_test), peers={"MAPIE": mapie_spiegelhalter}),
    Job("hosmer_lemeshow_test", of(v.hosmer_lemeshow_test)),
    Job("cox_test", of(v.cox_test), classes=(2, 10), peers={"calzone": calzone_cox}),
    Job("pearson_test", of(v.pearson_test, rng=0)),
    Job("kernel_test", of(v.kernel_test, rng=0)),
    Job("kernel_test, vectors", of(v.kernel_test, lens="canonical", rng=0), (SMALL, 8000), (10,)),
    Job("t_cal_test", of(v.t_cal_test, rng=0), UP_TO_1E5),
    Job("joint_test", of(v.inference.joint_test, rng=0), classes=(2, 10)),
    Job("multiple_test, groups", audit),
    Job("equivalence_test", of(v.equivalence_test)),
    Job("sequential_test", of(v.sequential_test)),
    Job("null_level, ECE", of(v.null_level, v.BinnedError(), rng=0)),
    Job("null_level, SmoothError", of(v.null_level, v.SmoothError(), rng=0)),
    Job("null_level, CumulativeError", of(v.null_level, v.CumulativeError(), rng=0)),
    Job("null_level, IsotonicError", of(v.null_level, v.IsotonicError(), rng=0), (SMALL, MIDDLE)),
    Job("bootstrap_interval, ECE", of(v.bootstrap_interval, v.BinnedError())),
    Job("bootstrap_interval, SmoothError", of(v.bootstrap_interval, v.SmoothError())),
    Job("bootstrap_interval, CumulativeError", of(v.bootstrap_interval, v.CumulativeError())),
    Job("bootstrap_interval, Brier", of(v.bootstrap_interval, v.BrierScore())),
    Job(
        "bootstrap_interval, Brier, percentile",
        of(v.bootstrap_interval, v.BrierScore(), method="percentile", rng=0),
    ),
    Job("paired_difference, Brier", compared(v.BrierScore())),
    Job("paired_difference, RMSCE", compared(v.BinnedError(norm=2))),
    # maps
    Job(
        "PlattCalibrator.fit",
        fit(v.PlattCalibrator),
        (*UP_TO_1E5, LARGE),
        peers={"scikit-learn": sk_platt},
    ),
    Job(
        "BetaCalibrator.fit",
        fit(v.BetaCalibrator),
        (*UP_TO_1E5, LARGE),
        peers={"betacal": beta_fit},
    ),
    Job("IsotonicCalibrator.fit", fit(v.IsotonicCalibrator), peers={"scikit-learn": sk_isotonic}),
    Job(
        "IsotonicCalibrator.predict_proba",
        predict(v.IsotonicCalibrator),
        peers={"scikit-learn": sk_isotonic_predict},
    ),
    Job(
        "HistogramCalibrator.fit",
        fit(lambda: v.HistogramCalibrator(strategy="uniform")),
        peers={"netcal": netcal_histogram},
    ),
    Job("HistogramCalibrator.fit, quantiles", fit(v.HistogramCalibrator)),
    Job("SplineCalibrator.fit", fit(v.SplineCalibrator)),
    Job(
        "VennAbersCalibrator, fit and predict",
        own_venn_abers,
        (SMALL, MIDDLE),
        peers={"venn-abers": venn_abers},
    ),
    Job("TemperatureCalibrator.fit", fit(v.TemperatureCalibrator), classes=ALL),
    Job("VectorCalibrator.fit", fit(v.VectorCalibrator), (SMALL, MIDDLE), (10,)),
    Job("DirichletCalibrator.fit", fit(v.DirichletCalibrator), (SMALL, MIDDLE), (10,)),
    Job(
        "OneVsRestCalibrator.fit",
        fit(lambda: v.OneVsRestCalibrator(v.PlattCalibrator())),
        (SMALL, MIDDLE),
        (10,),
    ),
    Job("AutoCalibrator.fit", fit(v.AutoCalibrator), (SMALL,), (2, 10)),
    # decisions
    Job("decide", lambda s: lambda: v.decide(s.p, [[0, 1], [5, 0]])),
    Job("expected_cost", costs_of(v.expected_cost)),
    Job("miscalibration_cost", costs_of(v.miscalibration_cost), UP_TO_1E5),
    Job("cost_curve", of(v.cost_curve)),
    Job("decision_curve", of(v.decision_curve)),
    Job("risk_threshold", of(v.risk_threshold, at_most=0.3)),
    Job("risk_coverage_curve", of(v.risk_coverage_curve)),
    Job("adjust_priors", lambda s: lambda: v.adjust_priors(s.p, 0.5, 0.2)),
    Job("estimate_priors", lambda s: lambda: v.estimate_priors(s.p, train=0.5, rng=0)),
]

EXTRA = [  # sizes of their own
    Job("ECE, quantile bins", of(QUANTILES), (10**7,), peers={"scikit-learn": sk_quantile}),
    Job("evaluate", of(v.evaluate, rng=0), (10**7,)),
    Job(
        "expected_calibration_error",
        of(v.expected_calibration_error),
        (5 * 10**4,),
        (1000,),
        peers={"one argmax": one_argmax, "netcal": netcal_ece},
    ),
]
