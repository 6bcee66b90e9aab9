"""What both experiments on the survey's tasks do: repeat, average, and put errors in tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical_lab._frame.facts import ERRORS as DECIDED
from veridical_lab._frame.laboratory import Cell, Laboratory, Work
from veridical_lab._frame.noise import jackknifed
from veridical_lab._frame.page import Page, by_column
from veridical_lab.arrays import ArrayLike, FloatArray
from veridical_lab.plots.panels import Bars, Line, Panel, marked_lines

Key = tuple[str, int]  # classifier, and rows a map is fitted to
SURVEY_ROWS = 10_000  # on which the survey trains its networks and fits its maps
NONE = "none"  # the calibrator that changes nothing
ERRORS = {
    "true": "true error",
    "ece": "ECE, 15 bins",
    "debiased": "debiased",
    "smooth": "smooth",
    "distance": "distance from posterior",
}


@dataclass(frozen=True)
class SurveyPlan:
    """How much is done.

    Attributes
    ----------
    n_networks, n_train : networks, and rows each is trained on
    sizes : rows a map is fitted to
    n_repetitions : of each size
    names : calibrators
    few : those among them that are also fitted to fewer rows, and always
    n_every : repetitions of the others
    extra : classifiers the survey does not have, fitted to most rows only
    n_extra : repetitions of these
    """

    n_networks: int
    n_train: int
    sizes: tuple[int, ...]
    n_repetitions: int
    names: tuple[str, ...]
    few: tuple[str, ...]
    n_every: int
    extra: tuple[str, ...] = ()
    n_extra: int = 10

    def names_at(self, n_rows: int, repetition: int = 0) -> tuple[str, ...]:
        """Calibrators that are fitted to so many rows."""
        return self.names if n_rows == SURVEY_ROWS and repetition < self.n_every else self.few

    def repetitions(self, classifier: str) -> int:
        """How often they are."""
        return (
            min(self.n_extra, self.n_repetitions)
            if classifier in self.extra
            else self.n_repetitions
        )


@dataclass(frozen=True, eq=False)
class SurveyStudy:
    """Fits of every calibrator, and how to ask for their numbers.

    Attributes
    ----------
    plan : how much was done
    networks : the trained networks
    fits : by classifier and rows, one a repetition
    """

    plan: SurveyPlan
    networks: Sequence[Mapping[str, Any]]
    fits: Mapping[Key, Sequence[Mapping[str, Any]]]

    def values(
        self, classifier: str, calibrator: str, key: str = "true", n_rows: int = SURVEY_ROWS
    ) -> FloatArray:
        """One number of every repetition that has it."""
        fits = self.fits[classifier, n_rows]
        return np.array([fit[calibrator][key] for fit in fits if calibrator in fit])

    def mean(
        self, classifier: str, calibrator: str, key: str = "true", n_rows: int = SURVEY_ROWS
    ) -> float:
        """Mean of these."""
        return float(self.values(classifier, calibrator, key, n_rows).mean())

    def removed(self, classifier: str, calibrator: str) -> float:
        """Share of the true calibration error that a calibrator takes away, on average."""
        return removed(self.mean(classifier, NONE), self.mean(classifier, calibrator))

    def independent(self, classifier: str, values: ArrayLike) -> FloatArray:
        """Values of repetitions as independent rows: those of one network become their mean."""
        found = np.asarray(values, dtype=float)
        n = min(len(self.networks), len(found)) if classifier == "MLP" else len(found)
        return np.array([found[i::n].mean(axis=0) for i in range(n)])

    def told(self, statistic: Callable[..., float], classifier: str, *columns: ArrayLike) -> str:
        """A function of the means of some columns of repetitions, with its standard error."""
        return jackknifed(statistic, *(self.independent(classifier, c) for c in columns))

    def removal(self, classifier: str, calibrator: str) -> str:
        """`removed` with its standard error."""
        pair = [self.values(classifier, name) for name in (NONE, calibrator)]
        return self.told(removed, classifier, *pair)

    def excess(
        self, classifier: str, one: str, other: str, key: str, n_rows: int = SURVEY_ROWS
    ) -> str:
        """By how much a number is larger after one calibrator than after another."""
        pair = [self.values(classifier, name, key, n_rows) for name in (one, other)]
        return self.told(lambda difference: difference, classifier, pair[0] - pair[1])

    def ordered(self, classifier: str) -> list[str]:
        """Calibrators by their mean true error on the survey's number of rows, the best first."""
        return sorted(self.plan.names, key=lambda name: self.mean(classifier, name))

    def least(self, classifier: str) -> str:
        """Calibrator of the least true error, and those that two standard errors do not part."""
        first, *rest = self.ordered(classifier)
        also = []
        for name in rest:
            pair = [self.values(classifier, one) for one in (name, first)]
            both = min(map(len, pair))
            rows = self.independent(classifier, pair[0][:both] - pair[1][:both])
            if rows.mean() < DECIDED * rows.std(ddof=1) / len(rows) ** 0.5:
                also.append(name)
        return first + (f" (not to be told from {', '.join(also)})" if also else "")

    def sizes_panel(
        self, classifier: str, calibrators: Sequence[str], title: str, label: str, key: str = "true"
    ) -> Panel:
        """Show a number against the rows that maps were fitted to."""
        sizes, before = self.plan.sizes, self.mean(classifier, NONE, key)
        curves = {
            name: [self.mean(classifier, name, key, n) for n in sizes] for name in calibrators
        }
        flat = Line(sizes, [before] * len(sizes), "uncalibrated", muted=True)
        return Panel([flat, *marked_lines(sizes, curves)], title, "rows", label, "log")

    def add_table(self, page: Page, classifier: str, title: str, keys: Mapping[str, str]) -> None:
        """Add the errors of every calibrator, the best first."""
        rows = [
            (
                "*uncalibrated*" if name == NONE else name,
                *(mean_and_spread(self.values(classifier, name, key)) for key in keys),
            )
            for name in self.ordered(classifier)
        ]
        caption = f"{title}, {SURVEY_ROWS:,} rows to fit, as many to test"
        if self.plan.n_every < self.plan.n_repetitions:
            caption += f"; {self.plan.n_every} repetitions of those the survey has not"
        page.table(by_column(("calibrator", *keys.values()), rows), caption=caption)

    def add_file(self, page: Page, keys: Sequence[str]) -> None:
        """Add all means and deviations as a file."""
        rows = []
        for classifier, n in self.fits:
            for name in self.plan.names_at(n):
                for key in keys:
                    found = self.values(classifier, name, key, n)
                    mean, spread = f"{found.mean():.6f}", f"{np.std(found, ddof=1):.6f}"
                    rows.append((classifier, n, name, key, mean, spread, len(found)))
        of_values = ("mean", "standard_deviation", "repetitions")
        columns = by_column(("classifier", "rows", "calibrator", "what", *of_values), rows)
        page.data("errors", columns, caption="All errors, of every classifier, size and calibrator")


def shares_panel(shares: ArrayLike, colour: int = 0) -> Panel:
    """Show where scores lie."""
    edges = np.linspace(0, 1, len(np.asarray(shares)) + 1)
    bars = Bars(edges, shares, colour=colour)
    return Panel([bars], "", "score", "share of rows", x_limits=(0, 1))


def removed(before: float, after: float) -> float:
    """Share of an error that is gone.

    Examples
    --------
    >>> removed(0.2, 0.05)
    0.75
    """
    return 1 - after / before


def mean_and_spread(values: Sequence[float] | FloatArray, digits: int = 4) -> str:
    """Mean and standard deviation as text.

    Examples
    --------
    >>> mean_and_spread([0.1, 0.3])
    '0.2000 ± 0.1414'
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    mean = round(float(np.mean(values)), digits) + 0.0  # never -0
    return f"{mean:.{digits}f} ± {spread:.{digits}f}"


def classifier_cells(name: str, networks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what names a classifier in a cell: once, or for every network."""
    if name == "MLP":
        return [{"classifier": name, **network} for network in networks]
    return [{"classifier": name}]


def repeat(
    lab: Laboratory,
    what: str,
    work: Work,
    plan: SurveyPlan,
    keys: Sequence[Key],
    networks: Sequence[Mapping[str, Any]],
    asked: Cell,
) -> dict[Key, list[dict[str, Any]]]:
    """Return all repetitions of every classifier and size; networks take turns."""
    models = {name: classifier_cells(name, networks) for name, _ in keys}
    cells = [
        {
            **models[name][i % len(models[name])],
            **asked,
            "calibrators": list(plan.names_at(n, i)),
            "n_rows": n,
            "repetition": i,
        }
        for name, n in keys
        for i in range(plan.repetitions(name))
    ]
    done = iter(lab.map(what, work, cells))
    return {key: [next(done) for _ in range(plan.repetitions(key[0]))] for key in keys}
