"""Section 86.6 of the chapter: its table and figure, and two hundred more draws like it.

Figure 86.1, and how the printed errors lie among others.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veridical.curves import reliability_curve
from veridical.inference import bootstrap_interval, paired_difference
from veridical.miscalibration import BrierScore
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray
from veridical_lab.chapter.claims import ERROR, check_claims, measures, repetition
from veridical_lab.chapter.draw import VERSIONS, ChapterStudy, printed_draw
from veridical_lab.chapter.recipes import show_recipes
from veridical_lab.plots.panels import Bars, Line, Mark, Panel, Points, draw_panels


def figure_86_1(study: ChapterStudy) -> list[Panel]:
    """Describe the three curves, and their gaps with the limits of calibrated predictions."""
    curves: list[Mark] = []
    gaps: list[Mark] = [Line([0, 1], [0, 0], muted=True)]
    for k, version in enumerate(VERSIONS):
        rows = (study.draw.test, study.test[version])
        curve = reliability_curve(*rows, binning=ERROR.binning, interval="consistency", rng=0)
        assert curve.low is not None
        assert curve.high is not None
        curves.append(
            Line(curve.predicted, curve.observed, version, colour=k, dash=k, markers=True)
        )
        x = curve.predicted + 0.012 * (k - 1)  # side by side
        limits = (curve.low - curve.predicted, curve.high - curve.predicted)
        gaps += [
            Line(x, curve.gap, colour=k, dash=k, markers=True),
            Points(x, np.zeros(len(x)), "", k, *limits, size=0),
        ]
    return [
        Panel(curves, "Figure 86.1", "mean predicted probability", "observed frequency", "square"),
        Panel(gaps, "gaps", "mean predicted probability", "observed - predicted", "probability x"),
    ]


def spread_of_errors(many: Mapping[str, FloatArray], printed: Mapping[str, float]) -> list[Panel]:
    """Describe the ECE of each version over the draws."""
    panels = []
    for k, version in enumerate(VERSIONS):
        values = many[f"ECE, {version}"]
        heights, edges = np.histogram(values, bins=16)
        top = 1.05 * heights.max()
        null = float(many[f"null, {version}"].mean())
        marks: list[Mark] = [
            Bars(edges, heights, colour=k),
            Line([printed[version]] * 2, [0, top], "printed", colour=6),
            Line([null] * 2, [0, top], "if calibrated", muted=True, dash=1),
        ]
        panels.append(Panel(marks, version, "ECE", "draws" if k == 0 else ""))
    return panels


# Table 86.2: Brier score and ECE.
PRINTED = {
    "uncalibrated": (0.1527, 0.0784),
    "Platt": (0.1459, 0.0147),
    "isotonic": (0.1462, 0.0203),
}


def run(lab: Laboratory, page: Page) -> None:
    """Make the printed draw again, repeat it, and check what is said of it."""
    repetitions, n_resamples = (20, 100) if lab.quick else (200, 1000)
    study = ChapterStudy(printed_draw())
    one = measures(study, 10_000, lab.rng("printed"))
    cells = [{"repetition": k, "n_resamples": n_resamples} for k in range(repetitions)]
    found = lab.map("repetitions", repetition, cells)
    many = {name: np.array([row[name] for row in found]) for name in found[0]}
    _printed(page, one)
    caption = """Figure 86.1, from the printed draw, and the same as gaps with what calibrated
        predictions would show in 95 % of test sets (bars). The uncalibrated curve is above the
        diagonal below 0.5 and under it above 0.5. | Reliability curves of three versions on the
        test set, and their gaps"""
    panels = draw_panels(figure_86_1(study), columns=2, size=(4.3, 3.6), legend=True)
    page.figure("fig-86-1", panels, caption)
    _repeated(page, many)
    printed = {version: ece for version, (_, ece) in PRINTED.items()}
    caption = """ECE of each version over the repetitions; lines: the printed value, and the mean
        that calibrated predictions of this version would show. | Histograms of the ECE of three
        versions over repeated draws"""
    panels = draw_panels(spread_of_errors(many, printed), columns=3, legend=True)
    page.figure("ece", panels, caption)
    check_claims(page, study, one, many)
    _careful(page, study, one, many)
    show_recipes(lab, page)
    page.conclude(_conclusion(many))


def _conclusion(many: dict[str, FloatArray]) -> str:
    better = float(np.mean(many["ECE, Platt"] < many["ECE, isotonic"]))
    halved = np.maximum(many["ECE, Platt"], many["ECE, isotonic"]) < many["ECE, uncalibrated"] / 2
    luck = float(np.mean(many["Brier, uncalibrated"] < PRINTED["uncalibrated"][0]))
    return (
        "The table is the draw of its seed, to the last digit, and what it shows of recalibration "
        f"holds: both methods more than halve the ECE in {halved.mean():.1%} of draws. Its Brier "
        f"scores are those of an easy draw ({luck:.0%} are lower). What one draw cannot show is "
        f"which method is better: Platt scaling has the smaller ECE in {better:.0%} of draws, and "
        f"both ECEs, {many['ECE, Platt'].mean():.3f} and {many['ECE, isotonic'].mean():.3f} on "
        f"average, are near the {many['null, Platt'].mean():.3f} of calibrated predictions on "
        "3,000 rows. An over-confident curve does not sag below the diagonal but crosses it, and "
        "Platt scaling of probabilities instead of log odds leaves much of the error. The recipe "
        "of section 86.8 stops on the way to its optimum: give it a line search."
    )


def _printed(page: Page, one: dict[str, float]) -> None:
    page.section("Table 86.2: the printed draw, made again")
    page.text(
        "The chapter's code is in R and starts with `set.seed(1301)`. R's random numbers are "
        "known, so the draw can be made again: same features, outcomes and split, then the "
        "library's own calibrators and errors."
    )
    for version, (brier, ece) in PRINTED.items():
        for name, printed in (("Brier", brier), ("ECE", ece)):
            page.check(f"""Table 86.2, {version}, {name} | {one[f"{name}, {version}"]} = {printed} ±
                {5e-5 + 1e-9}""")


def _repeated(page: Page, many: dict[str, FloatArray]) -> None:
    count = len(many["slope, Platt"])
    page.section(f"The same with {count} other draws")
    for name, at in (("Brier", 0), ("ECE", 1)):
        page.table(
            {
                "version": list(VERSIONS),
                "printed": [PRINTED[version][at] for version in VERSIONS],
                "mean": [float(many[f"{name}, {version}"].mean()) for version in VERSIONS],
                "standard deviation": [
                    float(many[f"{name}, {version}"].std(ddof=1)) for version in VERSIONS
                ],
                "printed is above": [
                    f"{(many[f'{name}, {version}'] < PRINTED[version][at]).mean():.0%}"
                    for version in VERSIONS
                ],
            },
            caption=f"{name} over {count} draws",
        )
    for version in VERSIONS:
        for name, at in (("Brier", 0), ("ECE", 1)):
            values = many[f"{name}, {version}"]
            page.check(f"""Repeated, {version}, mean {name} | {values.mean()} | standard deviation
                {values.std(ddof=1):.4f} over {count} draws""")
            share = float(np.mean(values < PRINTED[version][at]))
            page.check(f"""Repeated, {version}, share of draws below the printed {name} | {share} |
                {values.min():.4f} to {values.max():.4f} over all draws""")


def _careful(
    page: Page, study: ChapterStudy, one: dict[str, float], many: dict[str, FloatArray]
) -> None:
    """What a careful reader adds: null levels, intervals, and the true errors."""
    y = study.draw.test
    page.section("What to add: how large an ECE is nothing?")
    limits = {version: bootstrap_interval(ERROR, y, p) for version, p in study.test.items()}
    page.table(
        {
            "version": list(VERSIONS),
            "ECE": [one[f"ECE, {version}"] for version in VERSIONS],
            "if calibrated": [one[f"null, {version}"] for version in VERSIONS],
            "p-value": [one[f"p-value, {version}"] for version in VERSIONS],
            "95 % interval": [
                f"{limits[version].low:.4f} to {limits[version].high:.4f}" for version in VERSIONS
            ],
            "true error": [one[f"true error, {version}"] for version in VERSIONS],
        },
        caption="The printed draw: ECE, its mean if the version were calibrated, test of that, "
        "interval for the binned error, and the true error by quadrature",
    )
    for version in VERSIONS:
        page.check(f"""
            - Added, {version}, ECE if calibrated | {one[f"null, {version}"]} | 3,000 test rows and
              ten bins; p-value {one[f"p-value, {version}"]:.4f}
            - Added, {version}, true calibration error | {one[f"true error, {version}"]} | mean over
              draws {many[f"true error, {version}"].mean():.4f}, of the ECE
              {many[f"ECE, {version}"].mean():.4f}
        """)
    gap = paired_difference(BrierScore(), y, study.test["Platt"], study.test["isotonic"])
    page.check(f"""Added, Platt less isotonic, Brier | {gap.estimate} | 95 % interval {gap.low:.5f}
        to {gap.high:.5f}""")
    better = float(np.mean(many["ECE, Platt"] < many["ECE, isotonic"]))
    truly = float(np.mean(many["true error, Platt"] < many["true error, isotonic"]))
    page.check(f"""Added, share of draws in which Platt has the smaller ECE | {better} | its true
        error is the smaller one in {truly:.0%}""")
    page.text(
        "The ECE of a recalibrated version is about what chance alone would give, so its last "
        "digits say little of the method. The true errors, known here as the law is, are "
        "smaller for Platt scaling, whose family holds the truth, than for isotonic regression, "
        "which pays for its freedom."
    )
