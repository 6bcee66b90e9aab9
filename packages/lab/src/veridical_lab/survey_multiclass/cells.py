"""What the three-class experiment computes: one repetition, all, and how to ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from veridical import calibrators as maps
from veridical.binning import UniformBins
from veridical.calibrators import Calibrator
from veridical.miscalibration import BinnedError, SmoothError
from veridical.simulation import survey_three_class_task, true_calibration_error
from veridical_lab._frame import survey_study as studies, survey_tasks as tasks
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.survey_study import NONE, SURVEY_ROWS
from veridical_lab._frame.survey_tasks import N_NODES, TINY
from veridical_lab.arrays import FloatArray

Scorer = Callable[[FloatArray], FloatArray]
SURVEYED = ("temperature", "vector", "matrix", "Dirichlet")
QUICK = (NONE, *SURVEYED, "Dirichlet, ODIR")
POWERS = {"posterior": 1.0, "over": 2.0, "under": 0.5}
N_TENTHS = 10
NEAR_CERTAIN = np.array([[0.025, 0.025, 0.95]])  # class 3 far above what any row gets


def calibrators() -> dict[str, Calibrator]:
    """Return every calibrator that fits three classes; the survey's own without any guard.

    Vector and matrix scaling take logits, which the survey makes from probabilities as
    ln(s_j / s_K); those whose input is "logit" are fed these.
    """
    return {
        NONE: maps.IdentityCalibrator(),
        "temperature": maps.TemperatureCalibrator(pseudo_rows=0),
        "vector": maps.VectorCalibrator(input="logit", penalty=None, pseudo_rows=0),
        "matrix": maps.MatrixCalibrator(input="logit", penalty=None, pseudo_rows=0),
        "Dirichlet": maps.DirichletCalibrator(penalty=None, pseudo_rows=0),
        "ensemble temperature": maps.EnsembleTemperatureCalibrator(),
        "vector, log p": maps.VectorCalibrator(),
        "structured vector": maps.StructuredVectorCalibrator(),
        "structured matrix": maps.StructuredMatrixCalibrator(),
        "Dirichlet, ODIR": maps.DirichletCalibrator(),
        "matrix, ODIR": maps.MatrixCalibrator(input="logit"),
        "one-vs-rest Platt": maps.OneVsRestCalibrator(maps.PlattCalibrator()),
        "one-vs-rest beta": maps.OneVsRestCalibrator(maps.BetaCalibrator()),
        "one-vs-rest binning": maps.OneVsRestCalibrator(maps.HistogramCalibrator()),
        "one-vs-rest isotonic": maps.OneVsRestCalibrator(maps.IsotonicCalibrator()),
        "one-vs-rest spline": maps.OneVsRestCalibrator(maps.SplineCalibrator()),
        "simplex histogram": maps.SimplexHistogramCalibrator(),
        "class-conditional (temperature)": maps.ClassConditionalCalibrator(
            maps.TemperatureCalibrator()
        ),
        "confidence (isotonic)": maps.ConfidenceReducedCalibrator(maps.IsotonicCalibrator()),
        "mixing (Dirichlet)": maps.MixingCalibrator(maps.DirichletCalibrator()),
        "average (Dirichlet, isotonic)": maps.AveragedCalibrator(
            [maps.DirichletCalibrator(), maps.OneVsRestCalibrator(maps.IsotonicCalibrator())]
        ),
    }


def log_scores_of(cell: Cell) -> Scorer:
    """Return the classifier of a cell: features (n, 1) to logarithms of probabilities (n, 3)."""
    if cell["classifier"] == "MLP":
        return tasks.Network(cell["knots"], cell["logits"]).log_probabilities
    power, task = POWERS[cell["classifier"]], survey_three_class_task()

    def scores(x: FloatArray) -> FloatArray:
        return tasks.log_softmax(power * np.log(np.maximum(task.posterior(x), TINY)))

    return scores


def fed(calibrator: Calibrator, log_p: FloatArray) -> FloatArray:
    """Return what a calibrator takes: logits with the last class as reference, or probabilities."""
    return log_p - log_p[:, -1:] if calibrator.input == "logit" else np.exp(log_p)


@cache
def the_line() -> tasks.FeatureLine:
    """The feature of the three-class task, cut once a process."""
    return tasks.line_of(survey_three_class_task())


def calibrate(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Fit every calibrator to fresh rows; true errors, and estimates on as many other rows."""
    task, scores = survey_three_class_task(), log_scores_of(cell)
    known, fresh = (task.sample(cell["n_rows"], rng=rng) for _ in range(2))
    log_known, log_fresh = scores(known.x), scores(fresh.x)
    chosen, result, models = calibrators(), {}, {}
    for name in cell["calibrators"]:
        fitted = chosen[name].fit(fed(chosen[name], log_known), known.y)
        p = fitted.predict_proba(fed(fitted, scores(the_line().x)))
        result[name] = {
            **_truth(fitted, scores, p, by_class=name in (NONE, *SURVEYED)),
            **_estimates(fresh.y, fitted.predict_proba(fed(fitted, log_fresh))),
        }
        models[name] = fitted, p
    if cell["n_rows"] >= cell["compared_from"]:
        result["compared"] = _compared(models)
    return result


def _truth(fitted: Calibrator, scores: Scorer, p: FloatArray, *, by_class: bool) -> dict[str, Any]:
    """True errors of a calibrated model; `by_class` adds those of the classes, and of tenths."""
    task, line = survey_three_class_task(), the_line()

    def calibrated(x: FloatArray) -> FloatArray:
        return fitted.predict_proba(fed(fitted, scores(x)))

    found: dict[str, Any] = {"distance": line.distance(p), "divergence": line.divergence(p)}
    if not by_class:
        error = true_calibration_error(task, calibrated, lens="classwise", n_nodes=N_NODES)
        return found | {"true": error}
    errors = [
        true_calibration_error(task, calibrated, label=label, n_nodes=N_NODES)
        for label in task.labels
    ]
    tenths = [_tenths(line, p[:, k], k) for k in range(len(errors))]
    return found | {"true": float(np.mean(errors)), "classes": errors, "tenths": tenths}


def _tenths(line: tasks.FeatureLine, score: FloatArray, index: int) -> dict[str, FloatArray]:
    """Gap between frequency and score, and share of rows, in each tenth of the scores."""
    diagram = line.diagram(score, index)
    which = np.minimum((diagram["mean"] * N_TENTHS).astype(np.int64), N_TENTHS - 1)
    gap = diagram["share"] * np.abs(diagram["rate"] - diagram["mean"])
    edges = np.arange(N_TENTHS + 1) - 0.5
    return {
        "gap": np.histogram(which, edges, weights=gap)[0],
        "share": np.histogram(which, edges, weights=diagram["share"])[0],
    }


def _estimates(y: Any, p: FloatArray) -> dict[str, float]:
    labels = survey_three_class_task().labels
    chosen = {
        "ece": BinnedError(UniformBins(15)),
        "debiased": BinnedError(UniformBins(15), debias=True),
        "smooth": SmoothError(),
    }
    return {
        name: estimator(y, p, lens="classwise", labels=labels) for name, estimator in chosen.items()
    }


def _compared(models: dict[str, tuple[Calibrator, FloatArray]]) -> dict[str, float]:
    """How the survey's maps differ: from each other, between classes, and near certainty."""
    mass = the_line().mass
    found = {
        f"{one} to {other}": float(mass @ np.abs(models[one][1] - models[other][1]).sum(axis=1) / 2)
        for one, other in (("temperature", "vector"), ("matrix", "Dirichlet"))
    }
    for name in SURVEYED:
        fitted = models[name][0]
        found[f"{name}, change near certainty"] = float(
            fitted.predict_proba(fed(fitted, np.log(NEAR_CERTAIN)))[0, 2] - NEAR_CERTAIN[0, 2]
        )
        found[f"{name}, classes treated alike"] = _unlike(fitted)
    return found


def _unlike(fitted: Calibrator) -> float:
    """Largest change of the map when classes trade places; 0 if all have the same map."""
    points = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    plain = fitted.predict_proba(fed(fitted, np.log(points)))
    changes = []
    for order in map(list, permutations(range(3))):
        turned = fitted.predict_proba(fed(fitted, np.log(points[:, order])))
        changes.append(float(np.abs(turned - plain[:, order]).max()))
    return max(changes)


def example(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Diagrams of the population before and after each of the survey's calibrators."""
    scores, line = log_scores_of(cell), the_line()
    rows = survey_three_class_task().sample(cell["n_rows"], rng=rng)
    log_rows, log_line = scores(rows.x), scores(line.x)
    result = {}
    for name in (NONE, *SURVEYED):
        fitted = calibrators()[name]
        fitted.fit(fed(fitted, log_rows), rows.y)
        p = fitted.predict_proba(fed(fitted, log_line))
        result[name] = [line.diagram(p[:, k], k) for k in range(3)]
    return {"diagrams": result, "x": rows.x[:, 0], "y": rows.y}


FEW_ROWS = 100
DRAWN = (NONE, *SURVEYED, "Dirichlet, ODIR", "one-vs-rest isotonic")  # against rows


def plan_of(lab: Laboratory) -> studies.SurveyPlan:
    """Return the full plan, or the quick one."""
    if lab.quick:
        few, tasks = (FEW_ROWS, SURVEY_ROWS), ("over", "posterior")
        return studies.SurveyPlan(2, 1_000, few, 4, QUICK, QUICK, 4, tasks, 2)
    sizes, extra = (FEW_ROWS, 1_000, SURVEY_ROWS), ("over", "under", "posterior")
    return studies.SurveyPlan(25, SURVEY_ROWS, sizes, 50, tuple(calibrators()), DRAWN, 50, extra)


@dataclass(frozen=True, eq=False)
class ThreeClassStudy(studies.SurveyStudy):
    """Results of all cells.

    Attributes
    ----------
    example : the fit that is drawn: diagrams of the population, and its rows
    """

    example: Mapping[str, Any]

    def compared(self, key: str) -> FloatArray:
        """One number of a comparison of maps, of every repetition."""
        return np.array([fit["compared"][key] for fit in self.fits["MLP", SURVEY_ROWS]])

    def class_errors(self, calibrator: str, *classes: int) -> FloatArray:
        """True calibration error of classes 1, 2 or 3, of every repetition."""
        errors = self.values("MLP", calibrator, "classes")[:, [k - 1 for k in classes]]
        return np.asarray(errors.mean(axis=1))

    def gap_sums(
        self, calibrator: str, classes: Sequence[int], tenths: Sequence[int]
    ) -> FloatArray:
        """Gaps of classes in tenths of their scores, and the shares of rows, (repetitions, 2)."""
        fits = self.fits["MLP", SURVEY_ROWS]
        parts = [[fit[calibrator]["tenths"][k - 1] for k in classes] for fit in fits]
        return np.array(
            [
                [sum(one[what][i] for one in some for i in tenths) for what in ("gap", "share")]
                for some in parts
            ]
        )

    def diagrams_apart(self, one: str, other: str) -> str:
        """How far the gaps in tenths of the scores differ, relative to those of `one`."""
        fits = self.fits["MLP", SURVEY_ROWS]
        gaps = {
            name: np.array([[fit[name]["tenths"][k]["gap"] for k in range(3)] for fit in fits])
            for name in (one, other)
        }
        apart = np.abs(gaps[one] - gaps[other]).sum(axis=(1, 2))
        return self.told(lambda a, b: a / b, "MLP", apart, gaps[one].sum(axis=(1, 2)))


def do_study(lab: Laboratory) -> ThreeClassStudy:
    """Train networks and fit every calibrator."""
    plan = plan_of(lab)
    networks = tasks.train_networks(lab, "three", plan.n_networks, plan.n_train)
    keys = [("MLP", n) for n in plan.sizes] + [(name, SURVEY_ROWS) for name in plan.extra]
    asked = {"compared_from": SURVEY_ROWS}
    fits = studies.repeat(lab, "fits", calibrate, plan, keys, networks, asked)
    first = {**studies.classifier_cells("MLP", networks)[0], "n_rows": SURVEY_ROWS}
    return ThreeClassStudy(plan, networks, fits, lab.map("example", example, [first])[0])
