"""How estimates of calibration errors approach the truth of a fake classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical.binning import QuantileBins, SimplexBins, SweepBins, UniformBins, VarianceSplitBins
from veridical.curves import reliability_curve
from veridical.miscalibration import BinnedError, DensityError, Estimator, SmoothError
from veridical.simulation import FakeClassifier
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import apart, drawn, jackknifed
from veridical_lab._frame.page import Page, by_column
from veridical_lab.arrays import FloatArray
from veridical_lab.fake.contestants import distorted
from veridical_lab.plots.panels import Panel, draw_panels, marked_lines

_SCHEMES: dict[str, Estimator] = {
    "10 equal-width bins": BinnedError(UniformBins(10)),
    "15 equal-width bins": BinnedError(UniformBins(15)),
    "100 equal-width bins": BinnedError(UniformBins(100)),
    "15 equal-mass bins": BinnedError(QuantileBins(15)),
    "monotone sweep": BinnedError(SweepBins()),
    "15 equal-width bins, debiased": BinnedError(UniformBins(15), debias=True),
    "density": DensityError(),
    "smooth": SmoothError(),
}
_SHORT = ("15 bins", "100 bins", "equal mass", "sweep", "debiased", "density", "smooth")
_PLAIN = tuple(_SCHEMES)[:4]  # what section 3 speaks of
_PLAIN_ECE, _DEBIASED_ECE = "ECE, 15 equal-width bins", "ECE, 15 equal-width bins, debiased"
_CANONICAL = "canonical, 10 bins an axis"
_CLASSWISE = tuple(_SCHEMES)[1:4:2]
_SUBJECTS = {
    "calibrated, K = 3": ("calibrated", 3),
    "over-confident, K = 3": ("over-confident", 3),
    "mixed, K = 3": ("by class", 3),
    "over-confident, K = 10": ("over-confident", 10),
}
_FAKES = tuple(_SUBJECTS)
_GOOD = 0.01  # an error of an estimate one can live with

Found = dict[tuple[str, str, int], FloatArray]  # (fake, figure, rows) -> estimates
Exact = dict[str, dict[str, float]]  # fake -> lens -> true error


def show_convergence(lab: Laboratory, page: Page) -> None:
    """Bias, spread and rows needed, for several bins and lenses."""
    page.section("How many rows a calibration error takes")
    page.text(
        """Section 6 proposes fake classifiers to study how fast metrics converge, because their
        exact value is known. The truth of each has accuracy 0.8: a calibrated one, over-confident
        ones (power 2) and a mixed one (over-confident for some classes, under-confident for
        others)."""
    )
    fakes = _FAKES[:2] if lab.quick else _FAKES
    sizes = (100, 1000, 10_000) if lab.quick else (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
    cells: list[dict[str, Any]] = [
        {"fake": name, "rows": n, "repetitions": _repetitions(n, quick=lab.quick)}
        for name in fakes
        for n in sizes
    ]
    answers = lab.map("convergence", _estimate, cells)
    found: Found = {
        (cell["fake"], figure, cell["rows"]): np.array(values)
        for cell, answer in zip(cells, answers, strict=True)
        for figure, values in answer.items()
    }
    truth = lab.map("exact", _exact, [{"fake": name, "quick": lab.quick} for name in fakes])
    exact = dict(zip(fakes, truth, strict=True))
    _show_errors(page, found, exact, sizes)
    _judge_bins(page, found, exact, sizes)
    _judge_rates(page, found, exact, sizes)
    caption = """Root mean squared error of estimates of the ECE against rows. The plain figures of
        a calibrated classifier (left) fall with the square root of n and, with more bins, start
        higher. | Four panels of error against number of rows on logarithmic axes, falling lines"""
    panels = draw_panels(_panels(found, exact, sizes), columns=2, size=(4.2, 2.8), legend=True)
    page.figure("convergence", panels, caption)


def _repetitions(n: int, *, quick: bool) -> int:
    if quick:
        return 12 if n <= 1000 else 4
    return 200 if n <= 1000 else 60 if n <= 10_000 else 20


def _fake(name: str) -> FakeClassifier:
    kind, k = _SUBJECTS[name]
    return distorted(kind, k)


def _estimate(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    fake = _fake(cell["fake"])
    found: dict[str, list[float]] = {}
    for _ in range(cell["repetitions"]):
        drawn = fake.sample(cell["rows"], rng=rng)
        for name, estimator in _SCHEMES.items():
            value = estimator(drawn.y, drawn.y_prob, lens="confidence")
            found.setdefault(f"ECE, {name}", []).append(value)
        for name in _CLASSWISE:
            value = _SCHEMES[name](drawn.y, drawn.y_prob, lens="classwise")
            found.setdefault(f"classwise, {name}", []).append(value)
        if fake.n_classes == 3:
            for name, estimator in (
                ("10 bins an axis", BinnedError(SimplexBins(10))),
                ("about 15 bins", BinnedError(VarianceSplitBins(max(2, cell["rows"] // 15)))),
            ):
                value = estimator(drawn.y, drawn.y_prob, lens="canonical")
                found.setdefault(f"canonical, {name}", []).append(value)
        found.setdefault("ECE, bin centres", []).append(_by_centres(drawn.y, drawn.y_prob))
    return found


def _by_centres(y: Any, p: FloatArray) -> float:
    """ECE of 10 bins of [1/K, 1] with the centre of a bin in place of its mean confidence."""
    bins = UniformBins(10, support=(1 / p.shape[1], 1.0))
    curve = reliability_curve(y, p, lens="confidence", binning=bins, interval=None)
    centre = (curve.lower + curve.upper) / 2
    return float(curve.count @ np.abs(curve.observed - centre)) / len(p)


def _exact(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    fake = _fake(cell["fake"])
    draws = 100_000 if cell["quick"] else 1_000_000
    return {
        "ECE": fake.expected_calibration_error(n_draws=draws).value,
        "classwise": fake.classwise_error(n_draws=draws).value,
        "canonical": fake.canonical_error(n_draws=draws).value,
    }


def _error(values: FloatArray, truth: float) -> float:
    return float(np.sqrt(np.mean((values - truth) ** 2)))


def _show_errors(page: Page, found: Found, exact: Exact, sizes: tuple[int, ...]) -> None:
    rows = []
    for (fake, figure, n), values in found.items():
        truth = exact[fake][figure.split(",", maxsplit=1)[0]]
        read = (float(values.mean()), float(values.std(ddof=1)), _error(values, truth))
        rows.append((fake, figure, n, len(values), truth, *read))
    of_values = ("mean", "standard deviation", "root mean squared error")
    columns = by_column(("classifier", "figure", "rows", "repetitions", "exact", *of_values), rows)
    figures = [_PLAIN_ECE, _DEBIASED_ECE, "classwise, 15 equal-width bins", _CANONICAL]
    few, many = sizes[0], sizes[-1]
    chosen = [
        (fake, figure) for fake in exact for figure in figures if (fake, figure, few) in found
    ]
    page.table(
        {
            "classifier": [fake for fake, _ in chosen],
            "figure": [figure for _, figure in chosen],
            "exact": [exact[fake][figure.split(",", maxsplit=1)[0]] for fake, figure in chosen],
            f"mean, {few:,} rows": [float(found[*pair, few].mean()) for pair in chosen],
            f"mean, {many:,} rows": [float(found[*pair, many].mean()) for pair in chosen],
        },
        caption="Exact values and what estimates say on average",
    )
    page.text(
        """Few rows read too much. Fixed bins may end below the exact value however many rows there
        are, where errors of both signs share a bin (Vaicenavicius et al. 2019, Theorem 2)."""
    )
    page.data("convergence", columns, caption="Every estimator, lens and number of rows (CSV)")


def _judge_bins(page: Page, found: Found, exact: Exact, sizes: tuple[int, ...]) -> None:
    """Section 3: what the choice of bins does."""
    few, many = sizes[0], sizes[-1]
    name = _PLAIN_ECE
    off = {fake: found[fake, name, few] - exact[fake]["ECE"] for fake in exact}
    least, *_, most = sorted(off, key=lambda fake: float(off[fake].mean()))
    page.check(f"""Section 3.2, bias | a fixed number of equally sized bins may have a noticeable
        bias, depending on the distribution | {drawn(off[most])} as noticeable and
        {apart(off[most], off[least])} > 0 | 15 bins, {few:,} rows: {most}; and how much more than
        for: {least}""")
    fake = _FAKES[1]
    ratios = {}
    for n in (few, many):
        columns = [found[fake, f"ECE, {scheme}", n] for scheme in _PLAIN]
        ratios[n] = jackknifed(lambda *means: max(means) / min(means), *columns)
    page.check(f"""Section 3.2, binning scheme | the estimate of the ECE will heavily depend on the
        binning scheme, much, when D is small | {ratios[few]} as much | largest over smallest mean
        of four schemes, {few:,} rows of the over-confident classifier;
        {float(ratios[many].split()[0]):.3f} with {many:,} rows""")
    centred = {fake: found[fake, "ECE, bin centres", many] - exact[fake]["ECE"] for fake in exact}
    worst = max(centred, key=lambda fake: abs(float(centred[fake].mean())))
    sign = 1 if centred[worst].mean() > 0 else -1
    page.check(f"""Section 3.1, bin centres | the mean confidence of a bin is nearly its centre |
        {drawn(sign * centred[worst])} as nearly | largest error of the ECE for it, {many:,} rows
        and 10 bins of
        [1/K, 1]: half a bin is 0.03 to 0.05, and confidences crowd at the upper end of the last
        bin""")


def _judge_rates(page: Page, found: Found, exact: Exact, sizes: tuple[int, ...]) -> None:
    """Rows needed, and the rate at which errors fall."""
    fake, over = _FAKES[:2]
    for label, subject in (("calibrated", fake), ("over-confident", over)):
        errors = [_error(found[subject, _PLAIN_ECE, n], exact[subject]["ECE"]) for n in sizes]
        slope = float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
        page.check(f"""Section 6, rate of the ECE's error in n, {label} | {slope} | slope on
            logarithmic axes; -1/2 is the rate of a mean""")
    needed = {
        figure: _rows_needed([_error(found[fake, figure, n], 0.0) for n in sizes], sizes)
        for figure in (_PLAIN_ECE, _DEBIASED_ECE, "ECE, smooth", _CANONICAL)
    }
    page.table(
        {
            "figure": list(needed),
            "rows for an error of 0.01": [f"{n:,.0f}" for n in needed.values()],
        },
        caption="A calibrated classifier with three classes: rows until an estimate is near 0",
    )
    page.check(f"""Section 3.3, rows for a stable ECE | {needed[_PLAIN_ECE]} | until the
        root mean squared error of 15 bins is 0.01, calibrated, K = 3""")


def _rows_needed(errors: list[float], sizes: tuple[int, ...]) -> float:
    """Where the error crosses what is good, by a straight line on logarithmic axes.

    Beyond the last size the error is taken to fall with the square root of n.
    """
    if errors[-1] > _GOOD:
        return sizes[-1] * (errors[-1] / _GOOD) ** 2
    return float(np.exp(np.interp(-np.log(_GOOD), -np.log(errors), np.log(sizes))))


def _panels(found: Found, exact: Exact, sizes: tuple[int, ...]) -> list[Panel]:
    panels: list[Panel] = []
    for fake, true in exact.items():
        errors = {
            short: [_error(found[fake, f"ECE, {name}", n], true["ECE"]) for n in sizes]
            for name, short in zip(tuple(_SCHEMES)[1:], _SHORT, strict=True)
        }
        label = "" if panels else "error of the ECE"
        panels.append(Panel(marked_lines(sizes, errors), fake, "rows", label, "log"))
    return panels
