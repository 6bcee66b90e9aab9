"""The tests of calibration, made from sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.evaluation._battery.battery import Battery
from veridical.evaluation._data.source import Source, default_error
from veridical.evaluation._data.sums import SumsSource, outcomes_of
from veridical.exceptions import invalid
from veridical.inference.core import Family, corrected, judged
from veridical.inference.draws import depends_on_fixed_sums, null_summaries
from veridical.inference.tests import TEST_OF_CLASSES, KnownTest
from veridical.lenses.reading import Induced
from veridical.miscalibration import BinnedError
from veridical.results import CalibrationTest, ConsistencyTest, MultipleTest
from veridical.summaries.core import Cells

_CALLER = "calibration_tests"


@dataclass(frozen=True, kw_only=True)
class SumsBattery(Battery):
    """Tests of rows that stand for all, one for each cell and outcome."""

    source: SumsSource

    @property
    def induced(self) -> Induced:
        """The rows that stand for all."""
        return Induced(self.source.binary, self.source.lens, self.source.binary)

    @property
    def n_samples(self) -> int:
        """Number of rows, not of those that stand for them."""
        return self.source.grid.n_samples

    @property
    def asks_of_classes(self) -> bool:
        """Whether the classes are a question beside that of the lens."""
        return len(self.source.grid.classes) > 2 and self.induced.lens.name == "confidence"

    def can(self, test: KnownTest) -> bool:
        """All but the test of all classes at once, whose outcomes go together."""
        return test is not TEST_OF_CLASSES

    def takes_long(self, test: KnownTest) -> bool:
        """Whether a test takes much more than a second."""
        return self.can(test) and super().takes_long(test)

    def run(self, name: str) -> CalibrationTest:
        """Make one test."""
        error = default_error(self.induced.problem, self.n_bins)
        if name == "spiegelhalter" and self.source.cells.weighted:
            test = self._spiegelhalter()
        elif name == "consistency" and depends_on_fixed_sums(error):
            test = self._consistency(error)
        else:
            test = super().run(name)
        if isinstance(test, ConsistencyTest):
            level = replace(test.null_level, n_samples=self.n_samples, lens=self.induced.lens.name)
            test = replace(test, null_level=level)
        return replace(test, n_samples=self.n_samples, lens=self.induced.lens.name)

    def family(self) -> MultipleTest:
        """Test every class; with Holm's correction, as it is not known how they go together."""
        grid, error = self.source.grid, default_error(self.induced.problem, self.n_bins)
        parts = [grid.cells(k) for k in range(len(grid.classes))]
        rows = (grid.n_samples,) * len(parts)
        family = self._family("class", grid.classes, rows, parts, error, "one-vs-rest")
        return corrected(error, family, "holm")

    def groups(self) -> MultipleTest | None:
        """Test every group of rows, if there are groups."""
        grid, error = self.source.grid, default_error(self.induced.problem, self.n_bins)
        if not grid.groups:
            return None
        rows = tuple(int(count) for count in grid.table.rows)
        parts = [part.cells for _, part in self.source.groups()]
        name = self.induced.lens.name
        family = self._family("group", grid.groups, rows, parts, error, name)
        return corrected(error, family, "max")

    def _make(self, test: KnownTest, induced: Induced, **options: Any) -> CalibrationTest:
        if self.source.cells.weighted and test.without_draws:
            options["null"] = "asymptotic"  # no outcomes of their own can be drawn for weights
        return super()._make(test, induced, **options)

    def _spiegelhalter(self) -> CalibrationTest:
        """Excess of the Brier score: its sum exactly, its variance with cells for rows.

        Spiegelhalter (1986), doi 10.1002/sim.4780050506, with weights: the sum of w (y - p)(1 - 2p)
        over the root of the sum of w^2 (1 - 2p)^2 p (1 - p).
        """
        from scipy.special import ndtr

        _, w, _, wp, wp2, w2pq = self.source.cells.sums
        excess = float(w[:, 1].sum() - wp.sum() - 2 * wp[:, 1].sum() + 2 * wp2.sum())
        variance = float(w2pq.sum(axis=1) @ (1 - 2 * self.source.cells.p) ** 2)
        if variance == 0:
            return super().run("spiegelhalter")
        z = excess / math.sqrt(variance)
        return CalibrationTest(
            statistic=z,
            pvalue=float(2 * ndtr(-abs(z))),
            method="Spiegelhalter's test",
            null="standard normal",
            definition="excess of the Brier score",
            lens=self.induced.lens.name,
            n_samples=self.n_samples,
        )

    def _consistency(self, error: BinnedError) -> ConsistencyTest:
        rng = np.random.default_rng(self.seed)
        drawn = f"{self.n_resamples:,} draws of outcomes from the predictions"
        return judged(error, self.induced, self._null(error, self.source.cells, rng), null=drawn)

    def _family(
        self,
        over: str,
        names: tuple[Any, ...],
        rows: tuple[int, ...],
        parts: list[Cells],
        error: BinnedError,
        lens: str,
    ) -> Family:
        rng = np.random.default_rng(self.seed)
        observed = np.array([error.from_summary(cells.summary(error.binning)) for cells in parts])
        null = np.column_stack([self._null(error, cells, rng) for cells in parts])
        return Family(over, names, rows, observed, null, lens)

    def _null(self, error: BinnedError, cells: Cells, rng: np.random.Generator) -> FloatArray:
        summary = cells.summary(error.binning)
        drawn = null_summaries(
            cells.sample, summary, self.n_resamples, rng, outcomes=outcomes_of(cells)
        )
        return error.each(drawn)


def battery_of(source: Source, **options: Any) -> Battery:
    """Tests of rows, or of what a table of sums shows through its lens."""
    if not isinstance(source, SumsSource):
        return Battery(source=source, **options)
    if source.kind == "classwise":
        hint = 'use "confidence", which tests single classes too, or engine="memory".'
        raise invalid(_CALLER, "lens", "of one problem for sums", "'classwise'", hint=hint)
    return SumsBattery(source=source, **options)
