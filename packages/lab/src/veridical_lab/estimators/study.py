"""What the cells say together: the curves of the source's Fig. 2, and their noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from veridical_lab._frame.facts import ERRORS
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.estimators.cell import FIGURES, RUN
from veridical_lab.estimators.settings import NEWER, settings

Curves = dict[str, FloatArray]
N_REDRAWS = 200  # of the tasks, for standard errors
UNSURE = "cannot be told"


@dataclass(frozen=True)
class Errors:
    """Relative errors of some estimators on every score distribution.

    Attributes
    ----------
    names : of the estimators
    values : (estimators, score distributions, sizes)
    tasks : (score distributions,) number of the task of each

    Examples
    --------
    >>> errors = Errors(("a", "b"), np.array([[[1.0], [3.0]], [[2.0], [4.0]]]), np.array([0, 1]))
    >>> {name: curve.tolist() for name, curve in errors.curves().items()}
    {'a': [2.0], 'b': [3.0]}
    """

    names: tuple[str, ...]
    values: FloatArray
    tasks: IntArray

    def curves(self, rows: IntArray | None = None) -> Curves:
        """Median over score distributions by size, of all of them or of some."""
        some = self.values if rows is None else self.values[:, rows]
        return dict(zip(self.names, np.median(some, axis=1), strict=True))

    @cached_property
    def redrawn(self) -> list[IntArray]:
        """Score distributions of tasks drawn with replacement, many times.

        Models and training sets of one task are alike, so that tasks are drawn, not distributions
        (Davison and Hinkley 1997, section 3.8). The draws depend on the number of tasks only.
        """
        rng, each = np.random.default_rng(0), np.unique(self.tasks)
        where = {task: np.flatnonzero(self.tasks == task) for task in each.tolist()}
        drawn = (rng.choice(each, len(each)) for _ in range(N_REDRAWS))
        return [np.concatenate([where[task] for task in some.tolist()]) for some in drawn]

    @cached_property
    def redrawn_curves(self) -> list[Curves]:
        """Curves of these."""
        return [self.curves(rows) for rows in self.redrawn]

    def noise(self, statistic: Callable[[Curves], float | FloatArray]) -> FloatArray:
        """Standard error of a function of the curves."""
        drawn = np.stack([np.asarray(statistic(curves)) for curves in self.redrawn_curves])
        return np.asarray(drawn.std(axis=0, ddof=1))

    def leads(self) -> list[Lead]:
        """Who is best at each size, by how much, and whether that can be told."""
        curves = self.curves()
        ordered = np.argsort(np.stack([curves[name] for name in self.names]), axis=0)
        found = []
        for at, (first, second) in enumerate(ordered[:2].T):
            one, other = self.names[first], self.names[second]

            def lead(known: Curves, at: int = at, one: str = one, other: str = other) -> float:
                return float(np.log(known[other][at] / known[one][at]))

            found.append(Lead(one, other, lead(curves), float(self.noise(lead))))
        return found


@dataclass(frozen=True)
class Lead:
    """The best of some estimators at one size.

    Attributes
    ----------
    best, second : names
    by, error : logarithm of the ratio of their errors, and its standard error
    """

    best: str
    second: str
    by: float
    error: float

    @property
    def sure(self) -> bool:
        """Whether two standard errors tell the best from the second."""
        return self.by > ERRORS * self.error


@dataclass(frozen=True)
class EstimatorStudy:
    """Results of score distributions.

    Attributes
    ----------
    sizes : of the samples, increasing, that all of them have
    found : answers of `measure_cell`
    tasks : number of the task of each
    """

    sizes: tuple[int, ...]
    found: Sequence[Mapping[str, Any]]
    tasks: IntArray

    def values(self, lens: str, what: str) -> FloatArray:
        """The "truth", its "half width" or the "reference" of every score distribution."""
        return np.array([one[lens][what] for one in self.found])

    def errors(self, lens: str, name: str, figure: str) -> FloatArray:
        """A figure of an estimator, (score distributions, sizes)."""
        at = FIGURES.index(figure)
        return np.array(
            [[one[lens]["errors"][name][str(n)][at] for n in self.sizes] for one in self.found]
        )

    def meant(self, lens: str, figure: str = "q95") -> Errors:
        """Errors of the fifteen settings as meant, as multiples of the truth."""
        return self._relative(lens, settings(), figure, "truth")

    def run(self, lens: str) -> Errors:
        """Errors of the fifteen settings as run, against the fine binning."""
        known = self.found[0][lens]["errors"]
        used = tuple(RUN + name if RUN + name in known else name for name in settings())
        found = self._relative(lens, used, "q95 of reference", "reference")
        return Errors(settings(), found.values, found.tasks)

    def everything(self, lens: str, figure: str = "q95") -> Errors:
        """`meant` with the estimators the source does not have."""
        return self._relative(lens, (*settings(), *NEWER), figure, "truth")

    def relative(self, lens: str, name: str, figure: str = "q95") -> FloatArray:
        """Median error of one estimator as a multiple of the truth, by size."""
        return self._relative(lens, (name,), figure, "truth").curves()[name]

    def _relative(self, lens: str, names: tuple[str, ...], figure: str, to: str) -> Errors:
        truth = self.values(lens, to)[:, None]
        values = np.stack([self.errors(lens, name, figure) / truth for name in names])
        return Errors(names, values, self.tasks)


def leaders(curves: Curves) -> list[str]:
    """Name of the lowest curve at each size."""
    names = list(curves)
    return [names[i] for i in np.argmin(np.stack([curves[name] for name in names]), axis=0)]


def ranks(curves: Curves, name: str) -> FloatArray:
    """Place of a curve at each size, 1 for the lowest."""
    values = np.stack(list(curves.values()))
    return 1 + (values < curves[name]).sum(axis=0)


def told_leaders(leads: Sequence[Lead], sizes: Sequence[int]) -> str:
    """Which setting is best at which sizes, in words, where that can be told."""
    names = [lead.best if lead.sure else UNSURE for lead in leads]
    parts = []
    for name, group in groupby(zip(names, sizes, strict=True), key=lambda pair: pair[0]):
        some = [size for _, size in group]
        span = f"n = {some[0]}" if len(some) == 1 else f"n = {some[0]} to {some[-1]}"
        parts.append(f"{name} ({span})")
    return ", ".join(parts)
