"""Everything the two-class experiment computes, and how to ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.experiments._laboratory import Laboratory
from veridical.experiments._survey_binary_cells import (
    NONE,
    QUICK,
    calibrate,
    calibrators,
    classifier_of,
    estimate,
    example,
    the_line,
    twins,
)
from veridical.experiments._survey_tasks import SCORES, TrueMap, train_networks, true_map
from veridical.experiments._survey_tasks_grid import SURVEY_ROWS, Key, classifier_cells, repeat
from veridical.simulation import survey_binary_task

CLASSIFIERS = ("under", "over", "MLP")


@dataclass(frozen=True)
class Plan:
    """How much is done.

    Attributes
    ----------
    n_networks, n_train : networks, and rows each is trained on
    sizes : rows a map is fitted to
    n_repetitions : of each size
    names : calibrators
    """

    n_networks: int
    n_train: int
    sizes: tuple[int, ...]
    n_repetitions: int
    names: tuple[str, ...]


def plan_of(lab: Laboratory) -> Plan:
    """Return the full plan, or the quick one."""
    if lab.quick:
        return Plan(1, 1_000, (SURVEY_ROWS,), 2, QUICK)
    return Plan(10, SURVEY_ROWS, (300, 1_000, SURVEY_ROWS), 16, tuple(calibrators()))


@dataclass(frozen=True, eq=False)
class Study:
    """Results of all cells.

    Attributes
    ----------
    plan : how much was done
    networks : the trained networks
    truths : the map each classifier needs; one a network for "MLP"
    fits : by classifier and rows, one a repetition
    guesses : estimates of the uncalibrated classifiers, likewise
    examples : one fit for each classifier, with diagrams
    twins : distances between the maps for both sigmoids
    """

    plan: Plan
    networks: Sequence[Mapping[str, Any]]
    truths: Mapping[str, Sequence[TrueMap]]
    fits: Mapping[Key, Sequence[Mapping[str, Any]]]
    guesses: Mapping[Key, Sequence[Mapping[str, Any]]]
    examples: Mapping[str, Mapping[str, Any]]
    twins: Sequence[Mapping[str, float]]

    def values(
        self, classifier: str, calibrator: str, key: str = "true", n_rows: int = SURVEY_ROWS
    ) -> FloatArray:
        """One number of every repetition."""
        return np.array([fit[calibrator][key] for fit in self.fits[classifier, n_rows]])

    def removed(self, classifier: str, calibrator: str, n_rows: int = SURVEY_ROWS) -> float:
        """Share of the true calibration error that a calibrator takes away, on average."""
        before = self.values(classifier, NONE, n_rows=n_rows).mean()
        return float(1 - self.values(classifier, calibrator, n_rows=n_rows).mean() / before)

    def best(self, classifier: str) -> str:
        """Calibrator of least mean true error on the survey's number of rows."""
        return min(self.plan.names, key=lambda name: float(self.values(classifier, name).mean()))

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

    def gap_removed(self, classifier: str, calibrator: str, low: float, high: float) -> float:
        """Share of the distance from the true map that is taken away in a range of scores."""
        before = self.gaps(classifier, NONE, low, high).mean()
        return float(1 - self.gaps(classifier, calibrator, low, high).mean() / before)


def do_study(lab: Laboratory) -> Study:
    """Train networks, fit every calibrator to every classifier, and ask every estimator."""
    plan = plan_of(lab)
    networks = train_networks(lab, "two", plan.n_networks, plan.n_train)
    truths = {
        name: [
            true_map(survey_binary_task(), the_line(), classifier_of(cell), 1)
            for cell in classifier_cells(name, networks)
        ]
        for name in CLASSIFIERS
    }
    keys = [(name, n) for name in CLASSIFIERS for n in plan.sizes] + [("posterior", SURVEY_ROWS)]
    split = [NONE, "binning", "isotonic"]  # whose losses are told apart
    asked = {"calibrators": list(plan.names), "split": split}
    count = plan.n_repetitions
    fits = repeat(lab, "fits", calibrate, keys, networks, count, asked)
    guesses = repeat(lab, "estimates", estimate, keys[:-1], networks, count, {})
    shown = [{**classifier_cells(name, networks)[0], "n_rows": SURVEY_ROWS} for name in CLASSIFIERS]
    examples = dict(zip(CLASSIFIERS, lab.map("examples", example, shown), strict=True))
    pairs = [{"n_rows": SURVEY_ROWS, "repetition": i} for i in range(count)]
    both = lab.map("twins", twins, pairs)
    return Study(plan, networks, truths, fits, guesses, examples, both)


def mean_map(study: Study, classifier: str, calibrator: str) -> tuple[FloatArray, FloatArray]:
    """Scores and the mean map over repetitions; of "MLP" those of the first network."""
    fits = study.fits[classifier, SURVEY_ROWS][:: len(study.truths[classifier])]
    return SCORES, np.mean([fit[calibrator]["map"] for fit in fits], axis=0)
