"""What both experiments on the survey's tasks do: repeat, average, and put errors in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical.experiments._frame.laboratory import Cell, Laboratory, Work
from veridical.experiments._frame.page import Page, by_column
from veridical.plots.panels import Bars, Line, Panel, marked_lines

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
    extra : classifiers the survey does not have, fitted to most rows only
    """

    n_networks: int
    n_train: int
    sizes: tuple[int, ...]
    n_repetitions: int
    names: tuple[str, ...]
    extra: tuple[str, ...] = ()


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
        """One number of every repetition."""
        return np.array([fit[calibrator][key] for fit in self.fits[classifier, n_rows]])

    def mean(
        self, classifier: str, calibrator: str, key: str = "true", n_rows: int = SURVEY_ROWS
    ) -> float:
        """Mean of these."""
        return float(self.values(classifier, calibrator, key, n_rows).mean())

    def removed(self, classifier: str, calibrator: str) -> float:
        """Share of the true calibration error that a calibrator takes away, on average."""
        return removed(self.mean(classifier, NONE), self.mean(classifier, calibrator))

    def ordered(self, classifier: str) -> list[str]:
        """Calibrators by their mean true error on the survey's number of rows, the best first."""
        return sorted(self.plan.names, key=lambda name: self.mean(classifier, name))

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
        page.table(by_column(("calibrator", *keys.values()), rows), caption=caption)

    def add_file(self, page: Page, keys: Sequence[str]) -> None:
        """Add all means and deviations as a file."""
        rows = []
        for classifier, n in self.fits:
            for name in self.plan.names:
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
    keys: Sequence[Key],
    networks: Sequence[Mapping[str, Any]],
    n_repetitions: int,
    asked: Cell,
) -> dict[Key, list[dict[str, Any]]]:
    """Return all repetitions of every classifier and size; networks take turns."""
    cells = [
        {**models[i % len(models)], **asked, "n_rows": n, "repetition": i}
        for models, n in ((classifier_cells(name, networks), n) for name, n in keys)
        for i in range(n_repetitions)
    ]
    done = lab.map(what, work, cells)
    return {key: done[i * n_repetitions : (i + 1) * n_repetitions] for i, key in enumerate(keys)}
