"""What the two-class experiment computes: one repetition, all of them, and how to ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from veridical import calibrators as maps, simulation
from veridical.binning import QuantileBins, SweepBins, UniformBins
from veridical.calibrators import Calibrator
from veridical.miscalibration import BinnedError, DensityError, Estimator, LoessError, SmoothError
from veridical.simulation import survey_binary_task, true_calibration_error
from veridical_lab._frame import survey_study as studies, survey_tasks as tasks
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.survey_study import NONE, SURVEY_ROWS
from veridical_lab._frame.survey_tasks import N_NODES, SCORES
from veridical_lab.arrays import FloatArray

Classifier = Callable[[FloatArray], FloatArray]
SURVEYED = ("binning", "isotonic", "Platt", "beta")
QUICK = (NONE, *SURVEYED, "Platt, log odds", "spline")


def calibrators() -> dict[str, Calibrator]:
    """Return every calibrator that fits two classes; the survey's own as it describes them.

    Its Platt scaling is a line of the probability itself (equation 8), not of its log odds; its
    binning has ten bins of equal width, and neither it nor isotonic regression has a guard against
    frequencies of 0 and 1.
    """
    return {
        NONE: maps.IdentityCalibrator(),
        "binning": maps.HistogramCalibrator(n_bins=10, strategy="uniform", laplace=0),
        "isotonic": maps.IsotonicCalibrator(laplace=0),
        "Platt": maps.PlattCalibrator(input="score"),
        "beta": maps.BetaCalibrator(),
        "Platt, log odds": maps.PlattCalibrator(),
        "temperature": maps.TemperatureCalibrator(),
        "ensemble temperature": maps.EnsembleTemperatureCalibrator(),
        "quadratic": maps.QuadraticCalibrator(),
        "spline": maps.SplineCalibrator(),
        "equal-mass binning": maps.HistogramCalibrator(n_bins=10),
        "BBQ": maps.BBQCalibrator(),
        "scaling-binning": maps.ScalingBinningCalibrator(),
        "centred isotonic": maps.IsotonicCalibrator(centered=True),
        "strict isotonic": maps.IsotonicCalibrator(strict=True),
        "near-isotonic": maps.NearIsotonicCalibrator(),
        "Venn-Abers": maps.VennAbersCalibrator(),
        "density": maps.DensityCalibrator(),
        "vector": maps.VectorCalibrator(),
        "matrix": maps.MatrixCalibrator(),
        "Dirichlet": maps.DirichletCalibrator(),
        "mixing (beta)": maps.MixingCalibrator(maps.BetaCalibrator()),
        "average (beta, isotonic)": maps.AveragedCalibrator(
            [maps.BetaCalibrator(), maps.IsotonicCalibrator()]
        ),
        "class-conditional (beta)": maps.ClassConditionalCalibrator(maps.BetaCalibrator()),
        "confidence (isotonic)": maps.ConfidenceReducedCalibrator(maps.IsotonicCalibrator()),
    }


def estimators() -> dict[str, Estimator]:
    """Return estimators of the mean gap between frequency and score, in its own unit."""
    return {
        "ECE, 15 equal widths": BinnedError(UniformBins(15)),
        "ECE, 15 equal masses": BinnedError(QuantileBins(15)),
        "ECE, 15 equal widths, debiased": BinnedError(UniformBins(15), debias=True),
        "ECE, monotone sweep": BinnedError(SweepBins()),
        "smooth ECE": SmoothError(),
        "loess (ICI)": LoessError(),
        "kernel density": DensityError(),
    }


def classifier_of(cell: Cell) -> Classifier:
    """Return the classifier of a cell: features (n, 1) to probabilities (n, 2)."""
    if cell["classifier"] == "posterior":
        return survey_binary_task().posterior
    if cell["classifier"] == "MLP":
        return tasks.Network(cell["knots"], cell["logits"])
    return {"under": simulation.survey_f_under, "over": simulation.survey_f_over}[
        cell["classifier"]
    ]


@cache
def the_line() -> tasks.FeatureLine:
    """The feature of the two-class task, cut once a process."""
    return tasks.line_of(survey_binary_task())


def calibrate(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Fit every calibrator to fresh rows; true errors, and estimates on as many other rows."""
    task, model = survey_binary_task(), classifier_of(cell)
    known, fresh = (task.sample(cell["n_rows"], rng=rng) for _ in range(2))
    p_known, p_fresh = model(known.x)[:, 1], model(fresh.x)[:, 1]
    chosen, result = calibrators(), {}
    for name in cell["calibrators"]:
        fitted = chosen[name].fit(p_known, known.y)
        result[name] = {
            **_truth(fitted, model, exact=name in cell["split"]),
            **_estimates(fresh.y, fitted.predict_proba(p_fresh)[:, 1]),
            "map": fitted.predict_proba(SCORES)[:, 1].round(6),
        }
    return result


def _truth(fitted: Calibrator, model: Classifier, *, exact: bool) -> dict[str, float]:
    """True errors of a calibrated model; `exact` adds the parts of the squared distance."""
    task, line = survey_binary_task(), the_line()

    def calibrated(x: FloatArray) -> FloatArray:
        return fitted.predict_proba(model(x)[:, 1])

    p = calibrated(line.x)
    found = {
        "true": true_calibration_error(task, calibrated, n_nodes=N_NODES),
        "distance": line.distance(p),
    }
    if exact:
        squared = true_calibration_error(task, calibrated, norm=2, n_nodes=N_NODES) ** 2
        found |= {"calibration_loss": squared, "refined": line.squared_distance(p)}
    return found


def _estimates(y: FloatArray, p: FloatArray) -> dict[str, float]:
    chosen = estimators()
    return {
        "ece": chosen["ECE, 15 equal widths"](y, p),
        "debiased": chosen["ECE, 15 equal widths, debiased"](y, p),
        "smooth": chosen["smooth ECE"](y, p),
        "n_values": len(np.unique(p.round(12))),
        "smallest": float(p.min()),
        "largest": float(p.max()),
    }


def estimate(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Every estimator on fresh rows of an uncalibrated classifier."""
    rows = survey_binary_task().sample(cell["n_rows"], rng=rng)
    p = classifier_of(cell)(rows.x)[:, 1]
    return {name: estimator(rows.y, p) for name, estimator in estimators().items()}


def example(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """One fit of each of the survey's calibrators: its map, and the diagram of the population."""
    model, line = classifier_of(cell), the_line()
    rows = survey_binary_task().sample(cell["n_rows"], rng=rng)
    scores = np.linspace(0.001, 0.999, 999)
    result = {}
    for name in SURVEYED:
        fitted = calibrators()[name].fit(model(rows.x)[:, 1], rows.y)
        diagram = line.diagram(fitted.predict_proba(model(line.x)[:, 1])[:, 1], 1)
        result[name] = {"map": fitted.predict_proba(scores)[:, 1].round(6), **diagram}
    return {"scores": scores, "calibrators": result}


def twins(cell: Cell, rng: np.random.Generator) -> dict[str, float]:
    """How far two maps for two sigmoids of the same feature, fitted to the same rows, differ."""
    line, rows = the_line(), survey_binary_task().sample(cell["n_rows"], rng=rng)
    result = {}
    for name in ("beta", "Platt", "Platt, log odds"):
        under, over = (
            calibrators()[name].fit(f(rows.x)[:, 1], rows.y).predict_proba(f(line.x)[:, 1])[:, 1]
            for f in (simulation.survey_f_under, simulation.survey_f_over)
        )
        result[name] = float(line.mass @ np.abs(under - over))
    return result


CLASSIFIERS = ("under", "over", "MLP")
EXTRA = ("posterior",)
DRAWN = (NONE, *SURVEYED, "spline", "equal-mass binning")  # against the number of rows


def plan_of(lab: Laboratory) -> studies.SurveyPlan:
    """Return the full plan, or the quick one."""
    if lab.quick:
        return studies.SurveyPlan(2, 1_000, (SURVEY_ROWS,), 4, QUICK, QUICK, 4, EXTRA)
    sizes, every = (300, 1_000, SURVEY_ROWS), tuple(calibrators())
    return studies.SurveyPlan(25, SURVEY_ROWS, sizes, 50, every, DRAWN, 10, EXTRA)


@dataclass(frozen=True, eq=False)
class BinaryStudy(studies.SurveyStudy):
    """Results of all cells.

    Attributes
    ----------
    truths : the map each classifier needs; one a network for "MLP"
    guesses : estimates of the uncalibrated classifiers, as `fits`
    examples : one fit for each classifier, with diagrams
    twins : distances between the maps for both sigmoids
    """

    truths: Mapping[str, Sequence[tasks.TrueMap]]
    guesses: Mapping[studies.Key, Sequence[Mapping[str, Any]]]
    examples: Mapping[str, Mapping[str, Any]]
    twins: Sequence[Mapping[str, float]]

    def gaps(
        self, classifier: str, calibrator: str, low: float = 0.0, high: float = 1.0
    ) -> FloatArray:
        """Mean distance of the map from the true one in a range of scores, every repetition."""
        fits, truths = self.fits[classifier, SURVEY_ROWS], self.truths[classifier]
        return np.array(
            [
                truths[i % len(truths)].gap(np.array(fit[calibrator]["map"]), low, high)
                for i, fit in enumerate(fits)
            ]
        )


def do_study(lab: Laboratory) -> BinaryStudy:
    """Train networks, fit every calibrator to every classifier, and ask every estimator."""
    plan = plan_of(lab)
    networks = tasks.train_networks(lab, "two", plan.n_networks, plan.n_train)
    truths = {
        name: [
            tasks.true_map(survey_binary_task(), the_line(), classifier_of(cell), 1)
            for cell in studies.classifier_cells(name, networks)
        ]
        for name in CLASSIFIERS
    }
    keys = [(name, n) for name in CLASSIFIERS for n in plan.sizes] + [
        (name, SURVEY_ROWS) for name in EXTRA
    ]
    split = [NONE, "binning", "isotonic"]  # whose losses are told apart
    fits = studies.repeat(lab, "fits", calibrate, plan, keys, networks, {"split": split})
    guesses = studies.repeat(lab, "estimates", estimate, plan, keys[:-1], networks, {})
    shown = [
        {**studies.classifier_cells(name, networks)[0], "n_rows": SURVEY_ROWS}
        for name in CLASSIFIERS
    ]
    examples = dict(zip(CLASSIFIERS, lab.map("examples", example, shown), strict=True))
    pairs = [{"n_rows": SURVEY_ROWS, "repetition": i} for i in range(plan.n_repetitions)]
    both = lab.map("twins", twins, pairs)
    return BinaryStudy(plan, networks, fits, truths, guesses, examples, both)


def mean_map(study: BinaryStudy, classifier: str, calibrator: str) -> tuple[FloatArray, FloatArray]:
    """Scores and the mean map over repetitions; of "MLP" those of the first network."""
    fits = study.fits[classifier, SURVEY_ROWS][:: len(study.truths[classifier])]
    known = [fit[calibrator]["map"] for fit in fits if calibrator in fit]
    return SCORES, np.mean(known, axis=0)
