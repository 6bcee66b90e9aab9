"""What the cells say together: the curves of the source's Fig. 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.experiments._estimators_cell import FIGURES, PRINTED_RANGE, RUN
from veridical.experiments._estimators_settings import NEWER, settings

Curves = dict[str, FloatArray]


@dataclass(frozen=True)
class Study:
    """Results of all score distributions.

    Attributes
    ----------
    sizes : of the samples, increasing
    found : answers of `measure_cell`
    """

    sizes: tuple[int, ...]
    found: Sequence[Mapping[str, Any]]

    @property
    def printed_sizes(self) -> tuple[int, ...]:
        """Sizes within the range of the source's figure."""
        return tuple(n for n in self.sizes if n <= PRINTED_RANGE)

    def values(self, lens: str, what: str) -> FloatArray:
        """The "truth", its "half width" or the "reference" of every score distribution."""
        return np.array([one[lens][what] for one in self.found])

    def errors(self, lens: str, name: str, figure: str) -> FloatArray:
        """A figure of an estimator, (score distributions, sizes it was run at)."""
        at = FIGURES.index(figure)
        return np.array([[row[at] for row in one[lens]["errors"][name].values()]
                         for one in self.found])  # fmt: skip

    def relative(self, lens: str, name: str, figure: str = "q95") -> FloatArray:
        """Median over score distributions of an error as a multiple of the truth, by size."""
        truth = self.values(lens, "truth")[:, None]
        return np.median(self.errors(lens, name, figure) / truth, axis=0)

    def meant(self, lens: str, figure: str = "q95") -> Curves:
        """Fig. 2 with the estimators as meant and the truth, at all sizes."""
        return {name: self.relative(lens, name, figure) for name in settings()}

    def printed(self, lens: str) -> Curves:
        """`meant` within the range of the source's figure."""
        n = len(self.printed_sizes)
        return {name: curve[:n] for name, curve in self.meant(lens).items()}

    def run(self, lens: str) -> Curves:
        """Fig. 2 with the estimators as run, against the fine binning, in the printed range."""
        reference = self.values(lens, "reference")[:, None]
        found: Curves = {}
        for name in settings():
            known = self.found[0][lens]["errors"]
            used = RUN + name if RUN + name in known else name
            away = self.errors(lens, used, "q95 of reference")[:, : len(self.printed_sizes)]
            found[name] = np.median(away / reference, axis=0)
        return found

    def newer(self, lens: str, figure: str = "q95") -> Curves:
        """Curves of the estimators the source does not have."""
        return {name: self.relative(lens, name, figure) for name in NEWER}


def leaders(curves: Curves) -> list[str]:
    """Name of the lowest curve at each size."""
    names = list(curves)
    return [names[i] for i in np.argmin(np.stack([curves[name] for name in names]), axis=0)]


def ranks(curves: Curves, name: str) -> FloatArray:
    """Place of a curve at each size, 1 for the lowest."""
    values = np.stack(list(curves.values()))
    return 1 + (values < curves[name]).sum(axis=0)
