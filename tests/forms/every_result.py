"""One of every kind of result, from real calls; where several sizes exist, the largest."""

from __future__ import annotations

import datetime as dt
import inspect
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import veridical as v
import veridical_lab
from veridical import results
from veridical.decisions import PredictionSets, risk_coverage_curve
from veridical.evaluation import plan_labels
from veridical.evaluation._gate.figures import read_baseline
from veridical.export.core import export_map
from veridical.results import Result
from veridical.simulation import BetaScores

EXPERIMENT = Path(__file__).parents[2] / "docs/experiments/fake.json"  # of a full run
KINDS = {
    name: getattr(module, name)
    for module in (results, veridical_lab)
    for name in module.__all__
    if inspect.isclass(kind := getattr(module, name))
    and issubclass(kind, Result)
    and kind is not Result
}


def binary(n: int = 1500, *, seed: int = 0, factor: float = 1.6) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and over-confident predictions."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-0.5, 1.2, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    return y, 1 / (1 + np.exp(-factor * odds))


def classes(n: int, k: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of k classes and their calibrated predictions."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.3), n)
    p = (p + 1e-4) / (p + 1e-4).sum(axis=1, keepdims=True)
    y = (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(max=k - 1)
    return y, p


def answers(folder: Path) -> Iterator[Any]:
    """What the public functions return, results in dictionaries and tuples included."""
    y, p = binary()
    y10, p10 = classes(1500, 10)
    y100, p100 = classes(3000, 100)
    region = np.random.default_rng(1).choice([f"region {i}" for i in range(25)], len(y))
    models = {"raw": p, "halved": p / 2, "square": p**2, "flat": np.full(len(y), y.mean())}
    yield v.evaluate(y, p, rng=0, n_resamples=200)
    yield v.evaluate(y, p, by=region, rng=0, n_resamples=50)
    yield v.evaluate(y10, p10, lens="classwise", rng=0, n_resamples=50)
    yield v.evaluate(y100, p100, rng=0, n_resamples=50)
    yield v.compare(models, y, rng=0, n_resamples=50)
    yield v.compare({f"model {i}": p ** (1 + i / 9) for i in range(8)}, y, rng=0, n_resamples=50)
    yield v.calibration_tests(y, p, by=region, rng=0, n_resamples=50)
    yield v.calibration_tests(y100, p100, rng=0, n_resamples=50)
    baseline = v.evaluate(y, p, rng=0, n_resamples=50)
    yield read_baseline(baseline, caller="tests")
    yield v.check_requirements(
        y, p, requirements=["ece <= 0.05", "auc >= 0.7"], against_prob=p / 2, rng=0, n_resamples=50
    )
    for method in ("bins", "isotonic", "density", "smooth"):
        yield v.reliability_curve(y, p, method=method, n_bins=60 if method == "bins" else 15)
    yield v.reliability_curve(y, p, interval="binomial").at(np.linspace(0, 1, 400))
    yield v.decision_curve(y, p)
    yield v.cost_curve(y, p)
    yield v.roc_hull(y, p)
    yield v.decompose(y, p)
    yield v.expected_cost(y, p, costs=[[0, 1], [5, 0]])
    yield v.decide(p, costs=[[0, 1], [5, 0]])
    yield v.miscalibration_cost(y, p, costs=[[0, 1], [5, 0]], rng=0)
    yield v.allocate(p[:50, None] * [1, 2], [0.5, 1.0], budget=30.0)
    yield v.estimate_priors(p[:700], reference=(y[700:], p[700:]), rng=0)
    yield v.consistency_test(v.BinnedError(), y, p, rng=0, n_resamples=100)
    yield v.spiegelhalter_test(y, p)
    yield v.hosmer_lemeshow_test(y, p)
    yield v.cox_test(y, p)
    yield v.equivalence_test(y, p, delta=0.05)
    yield v.sequential_test(y, p)
    yield v.multiple_test(v.BinnedError(), y100, p100, over="classes", rng=0, n_resamples=50)
    yield v.bootstrap_interval(v.BinnedError(), y, p, rng=0, n_resamples=100)
    yield v.paired_difference(v.BrierScore(), y, p, p / 2, rng=0)
    yield v.null_level(v.BinnedError(), y, p, rng=0, n_resamples=100)
    yield v.mean_ranks(np.random.default_rng(0).random((12, 5)), methods=list("abcde"))
    yield v.required_sample_size(0.02)
    yield v.estimate_rate(y[:500], p[:500], p[500:], rng=0)
    yield v.audit_segments(y, p, {"place": np.arange(len(y)) % 3}, n_resamples=19, rng=0)
    yield plan_labels(p, half_width=0.05, rng=0)
    yield v.risk_threshold(y, p, at_most=0.2)
    yield risk_coverage_curve(y, p)
    sets = PredictionSets(level=0.8).fit(p[:700], y[:700])
    yield sets.coverage(p[700:], y[700:])
    yield from _maps(folder, y, p)
    yield from _monitor(folder)
    yield from _plans(y, p)


def _maps(folder: Path, y: np.ndarray, p: np.ndarray) -> Iterator[Any]:
    auto = v.AutoCalibrator().fit(p, y)
    yield auto.evidence_
    beta = v.BetaCalibrator().fit(p, y)
    yield beta.inverse(0.3)
    yield export_map(beta, "python")[1]


def _monitor(folder: Path) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    with v.CalibrationMonitor(folder / "store.sqlite", labels=[0, 1]) as monitor:
        for i in range(30):
            odds = rng.normal(0, 2, 300)
            y = rng.random(300) < 1 / (1 + np.exp(-odds / (1.8 if i > 9 else 1)))
            day = dt.date(2026, 2, 1) + dt.timedelta(days=i)
            region = rng.choice([f"region {k}" for k in range(12)], 300)
            p = 1 / (1 + np.exp(-odds))
            yield monitor.update(y.astype(int), p, by=region, timestamp=day)
            if i == 20:
                yield monitor.refit()
        yield monitor.shadow_status()
        monitor.observe([f"row {i}" for i in range(300)], p, timestamp="2026-04-01")
        yield from (monitor.status(), monitor.history(), monitor.signals())
        yield monitor.promise(v.risk_threshold(y.astype(int), p, at_most=0.4))
        yield monitor.switch(force=True)
    with v.CalibrationMonitor(online=True) as learning:
        learning.update(y.astype(int), p)
        yield learning.status()


def _plans(y: np.ndarray, p: np.ndarray) -> Iterator[Any]:
    process = v.CostProcess([[0, 1], [5, 0]])
    grid = {"accuracy": [0.7, 0.8, 0.9], "ece": [0.0, 0.05, 0.1]}
    table = v.simulate_decisions(process, **grid, n_samples=500, n_repeats=3)
    yield table
    yield table.require(value=-0.5)
    yield v.simulate_decisions(process, {"model": (y, p)}, n_samples=500, n_repeats=3)
    game = v.HealthcareGame("over-confident", n_rounds=2, n_patients=30, rng=0)
    yield game.patients()
    yield game.treat({2: "A"})
    game.treat({})
    yield game.summary()
    yield v.BinaryFakeClassifier(BetaScores(1, 1), np.square).accuracy()
    yield v.survey_binary_task().bayes_figures()
    yield veridical_lab.ExperimentResult.from_json(EXPERIMENT.read_text(encoding="utf-8"))


@cache
def one_of_each(folder: Path) -> dict[str, list[Result]]:
    """Results by the name of their class, parts of results included, three of the longest each."""
    found: dict[str, list[Result]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", v.VeridicalWarning)
        for answer in answers(folder):
            for each in walk(answer):
                found.setdefault(type(each).__name__, []).append(each)
    return {
        name: sorted(several, key=lambda each: -len(str(each)))[:3]
        for name, several in found.items()
    }


def walk(value: Any) -> Iterator[Result]:
    """A result and all that are in it."""
    if isinstance(value, Result):
        yield value
        for name in results.base.field_names(value):
            yield from walk(getattr(value, name))
    elif isinstance(value, dict):
        yield from walk(tuple(value.values()))
    elif isinstance(value, tuple):
        for each in value:
            yield from walk(each)
