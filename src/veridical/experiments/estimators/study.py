"""What the cells say together: the curves of the source's Fig. 2.

Pictures of the comparison of estimators.

Sections of the page on the truth, and on what the source takes for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical import simulation
from veridical._core.typing import FloatArray
from veridical.experiments._frame.laboratory import Laboratory
from veridical.experiments._frame.page import Page, by_column
from veridical.experiments.estimators import settings as options
from veridical.experiments.estimators.cell import FIGURES, PRINTED_RANGE, RUN
from veridical.experiments.estimators.settings import LENSES, NEWER, settings
from veridical.experiments.estimators.truth import N_FINE, N_ROWS, GapSums, scores_and_truths
from veridical.plots.panels import Line, Mark, Panel, Points, draw_panels

Curves = dict[str, FloatArray]


@dataclass(frozen=True)
class EstimatorStudy:
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
        return np.array(
            [[row[at] for row in one[lens]["errors"][name].values()] for one in self.found]
        )

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


_SPAN = (20.0, 7000.0)  # whole decades of both axes: their ticks are the only ones with room
_HEIGHT = (0.1, 20.0)
SIZE = (4.4, 3.1)  # inches of a panel


def _panel(marks: list[Mark], title: str, height: tuple[float, float] = _HEIGHT) -> Panel:
    return Panel(
        marks, title, "rows of the sample", "error / truth", "log", x_limits=_SPAN, y_limits=height
    )


def figure_2(text: EstimatorStudy, program: EstimatorStudy) -> list[Panel]:
    """95 % quantile of the error against n: the source's figure as run, corrected, as written."""
    return [
        _panel(_fifteen(sizes, curves), f"{lens}: {title}")
        for lens in LENSES
        for title, sizes, curves in (
            ("as run", program.printed_sizes, program.run(lens)),
            ("corrected", program.sizes, program.meant(lens)),
            ("as written", text.sizes, text.meant(lens)),
        )
    ]


def typical_error(study: EstimatorStudy) -> list[Panel]:
    """Median of the error against n, as meant."""
    curves = {lens: study.meant(lens, "median") for lens in LENSES}
    return [
        _panel(_fifteen(study.sizes, curves[lens]), f"{lens}: median error", (0.05, 20.0))
        for lens in LENSES
    ]


def newer_ones(study: EstimatorStudy) -> list[Panel]:
    """Newer estimators beside the best that the source's settings can do at each size."""
    panels = []
    for lens in LENSES:
        meant, newer = study.meant(lens), study.newer(lens)
        best = np.stack(list(meant.values())).min(axis=0)
        marks: list[Mark] = [
            Line(study.sizes, newer[name], name, colour=i, markers=True)
            for i, name in enumerate(NEWER)
        ]
        marks += [
            Line(study.sizes, meant["ECE_d silverman"], "ECE_d silverman", colour=4, markers=True),
            Line(study.sizes, best, "best of the fifteen at each size", muted=True, dash=1),
        ]
        panels.append(_panel(marks, lens))
    return panels


def reference_bias(study: EstimatorStudy) -> list[Panel]:
    """By how much the fine binning exceeds the truth, for every score distribution."""
    panels = []
    for lens in LENSES:
        truth, reference = study.values(lens, "truth"), study.values(lens, "reference")
        points = Points(truth, reference - truth, size=10.0)
        labels = ("true calibration error", "2,000 bins less truth")
        panels.append(Panel([points], lens, *labels, "log x", x_limits=(0.001, 0.5)))
    return panels


def _fifteen(sizes: tuple[int, ...], curves: Curves) -> list[Mark]:
    """Lines of the fifteen settings: a colour a family, a dash a number of bins or bandwidth."""
    groups: list[tuple[str, tuple[float | str, ...]]] = [
        (family, options.COUNTS) for family in options.FAMILIES
    ]
    groups.append(("ECE_d", options.BANDWIDTHS))
    return [
        Line(sizes, curves[f"{family} {choice}"], f"{family} {choice}", colour=i, dash=dash)
        for i, (family, choices) in enumerate(groups)
        for dash, choice in enumerate(choices)
    ]


def report_truth(study: EstimatorStudy, lab: Laboratory, page: Page) -> None:
    """How the truth was found, and the check of that where it can be integrated."""
    page.section("The truth")
    page.text(
        "The true error is E|E[truth - score | score]|, with the posterior of each row in place of "
        "its outcome, in narrow bins of the score whose signs are taken from other rows. Where one "
        "feature makes the score it can be integrated instead, which gives the check:"
    )
    task = simulation.two_normals_task()
    rows = task.sample(100_000 if lab.quick else 600_000, rng=lab.rng("two normals"))
    models = {
        "002, uncalibrated": simulation.two_normals_model("uncalibrated"),
        "log odds 0.1 + 1.7 x": simulation.LogisticModel(0.1, 1.7),
        "the posterior": simulation.LogisticModel(0, 2),
    }
    table: list[tuple[object, ...]] = []
    worst = 0.0
    for name, model in models.items():
        for lens in LENSES:
            pair = scores_and_truths(model(rows.x), rows.posterior, lens)
            value, half_width = GapSums.of(*pair).error()
            exact = simulation.true_calibration_error(task, model, lens=lens)
            worst = max(worst, abs(value - exact))
            table.append((name, lens, value, half_width, exact))
    names = ("model", "lens", "found", "half width", "integrated")
    page.table(by_column(names, table), caption=f"{len(rows):,} rows of two normals", digits=6)
    page.check(f"""Largest error of the truth, two normals | {worst} | of posteriors in narrow bins,
        against integration""")
    for lens in LENSES:
        truth, widths = study.values(lens, "truth"), study.values(lens, "half width")
        low, middle, high = np.quantile(truth, [0.05, 0.5, 0.95])
        page.text(
            f"{lens.capitalize()} lens: true errors of {low:.4f} to {high:.4f} (5 % to 95 %), "
            f"median {middle:.4f}, known to within {np.median(widths):.4f} "
            f"(median; {100 * np.median(widths / truth):.1f} % of the truth)."
        )


def report_reference(
    study: EstimatorStudy, checks: list[dict[str, dict[str, float]]], n_rows: int, page: Page
) -> None:
    """By how much the source's reference exceeds the truth."""
    page.section("The source's reference")
    page.text(
        "The source takes the legacy estimator with 2,000 bins on 2,000,000 rows for the truth. "
        "That is biased upwards: with m rows in a bin, noise of the outcomes alone makes its gap "
        "sqrt(2 p (1 - p) / (pi m)) on average. A calibrated model whose scores are spread evenly "
        "reads sqrt(pi / 32) sqrt(2,000 / 2,000,000) = 0.0099 instead of 0."
    )
    page.check(f"""2,000 bins on 2,000,000 rows, calibrated |
        {math.sqrt(math.pi / 32 * N_FINE / N_ROWS)} | closed form for evenly spread scores; the
        truth is 0""")
    keys = ("measured", "expected", "truth")
    pairs = [[one[lens][key] for key in keys] for one in checks for lens in LENSES]
    measured, predicted, truth = np.array(pairs).T
    page.text(
        "For any other model what is read on average is a sum of folded normals, one a bin, which "
        f"needs the curve of gaps but no labelled rows. On {n_rows:,} labelled rows of each of "
        f"{len(checks)} models, 2,000 bins read {np.mean(measured - truth):.5f} more than the "
        f"truth (mean over models and lenses), the folded normals say "
        f"{np.mean(predicted - truth):.5f}."
    )
    page.check(f"""Folded normals less 2,000 bins, mean | {np.mean(predicted - measured)} | largest
        of {len(pairs)}: {np.abs(predicted - measured).max():.5f}""")
    for lens in LENSES:
        excess = study.values(lens, "reference") / study.values(lens, "truth") - 1
        page.check(f"""Reference above the truth, {lens}, median | {np.median(excess)} | as a share
            of the truth; 95 % quantile {np.quantile(excess, 0.95):.2f}, largest
            {excess.max():.2f}""")
    caption = """The fine binning reads too much, the more so the better a model is calibrated. |
        Points of the excess of 2,000 bins over the truth against the truth, two lenses."""
    page.figure("reference", draw_panels(reference_bias(study), columns=2, size=SIZE), caption)
