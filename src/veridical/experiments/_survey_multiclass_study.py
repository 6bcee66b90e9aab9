"""Everything the three-class experiment computes, and how to ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.experiments._laboratory import Laboratory
from veridical.experiments._survey_multiclass_cells import (
    NONE,
    QUICK,
    calibrate,
    calibrators,
    example,
)
from veridical.experiments._survey_tasks import train_networks
from veridical.experiments._survey_tasks_grid import SURVEY_ROWS, Key, classifier_cells, repeat

FEW_ROWS = 100


@dataclass(frozen=True)
class Plan:
    """How much is done.

    Attributes
    ----------
    n_networks, n_train : networks, and rows each is trained on
    sizes : rows a map of a network is fitted to
    n_repetitions : of each size
    names : calibrators
    extra : powers of the posterior, which the survey does not have, fitted to most rows only
    """

    n_networks: int
    n_train: int
    sizes: tuple[int, ...]
    n_repetitions: int
    names: tuple[str, ...]
    extra: tuple[str, ...]


def plan_of(lab: Laboratory) -> Plan:
    """Return the full plan, or the quick one."""
    if lab.quick:
        return Plan(1, 1_000, (FEW_ROWS, SURVEY_ROWS), 2, QUICK, ("over", "posterior"))
    sizes = (FEW_ROWS, 1_000, SURVEY_ROWS)
    return Plan(10, SURVEY_ROWS, sizes, 12, tuple(calibrators()), ("over", "under", "posterior"))


@dataclass(frozen=True, eq=False)
class Study:
    """Results of all cells.

    Attributes
    ----------
    plan : how much was done
    networks : the trained networks
    fits : by classifier and rows, one a repetition
    shown : the fit that is drawn: diagrams of the population, and its rows
    """

    plan: Plan
    networks: Sequence[Mapping[str, Any]]
    fits: Mapping[Key, Sequence[Mapping[str, Any]]]
    shown: Mapping[str, Any]

    def values(
        self, calibrator: str, key: str = "true", n_rows: int = SURVEY_ROWS, model: str = "MLP"
    ) -> FloatArray:
        """One number of every repetition; of "classes" one for each class, (repetitions, 3)."""
        return np.array([fit[calibrator][key] for fit in self.fits[model, n_rows]])

    def mean(
        self, calibrator: str, key: str = "true", n_rows: int = SURVEY_ROWS, model: str = "MLP"
    ) -> float:
        """Mean over repetitions."""
        return float(self.values(calibrator, key, n_rows, model).mean())

    def compared(self, key: str) -> FloatArray:
        """One number of a comparison of maps, of every repetition."""
        return np.array([fit["compared"][key] for fit in self.fits["MLP", SURVEY_ROWS]])

    def class_error(self, calibrator: str, *classes: int) -> float:
        """Mean true calibration error of classes 1, 2 or 3 on the survey's number of rows."""
        return float(self.values(calibrator, "classes")[:, [k - 1 for k in classes]].mean())

    def gap(self, calibrator: str, classes: Sequence[int], tenths: Sequence[int]) -> float:
        """Mean gap between frequency and score of classes in tenths of their scores."""
        gap = share = 0.0
        for fit in self.fits["MLP", SURVEY_ROWS]:
            for k in classes:
                found = fit[calibrator]["tenths"][k - 1]
                gap += sum(found["gap"][i] for i in tenths)
                share += sum(found["share"][i] for i in tenths)
        return gap / share

    def diagrams_apart(self, one: str, other: str) -> float:
        """How far the gaps in tenths of the scores differ, relative to those of `one`."""
        apart = whole = 0.0
        for fit in self.fits["MLP", SURVEY_ROWS]:
            for k in range(3):
                gap, change = (np.array(fit[name]["tenths"][k]["gap"]) for name in (one, other))
                apart += float(np.abs(change - gap).sum())
                whole += float(gap.sum())
        return apart / whole

    def ordered(self, model: str = "MLP", key: str = "true") -> list[str]:
        """Calibrators by their mean error on the survey's number of rows, the best first."""
        return sorted(self.plan.names, key=lambda name: self.mean(name, key, model=model))


def do_study(lab: Laboratory) -> Study:
    """Train networks and fit every calibrator."""
    plan = plan_of(lab)
    networks = train_networks(lab, "three", plan.n_networks, plan.n_train)
    keys = [("MLP", n) for n in plan.sizes] + [(name, SURVEY_ROWS) for name in plan.extra]
    asked = {"calibrators": list(plan.names), "compared_from": SURVEY_ROWS}
    fits = repeat(lab, "fits", calibrate, keys, networks, plan.n_repetitions, asked)
    first = {**classifier_cells("MLP", networks)[0], "n_rows": SURVEY_ROWS}
    shown = lab.map("example", example, [first])[0]
    return Study(plan, networks, fits, shown)


def removed(before: float, after: float) -> float:
    """Share of an error that is gone.

    Examples
    --------
    >>> removed(0.2, 0.05)
    0.75
    """
    return 1 - after / before


def name_of(calibrator: str) -> str:
    """Name for tables."""
    return "*uncalibrated*" if calibrator == NONE else calibrator
