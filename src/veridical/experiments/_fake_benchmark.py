"""Every calibrator on fake classifiers: what is left of the error is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from veridical.experiments._fake_contestants import contestants, what_is_left
from veridical.experiments._fake_distortions import BY_LABEL, DISTORTIONS, draw
from veridical.experiments._laboratory import Cell, Laboratory
from veridical.experiments._page import Page
from veridical.plots._panels import Line, Panel, draw_panels
from veridical.scores import log_loss

KINDS = (*DISTORTIONS, BY_LABEL)
_POPULATION = 20_000  # rows on which the truth is averaged
_MANY = 10  # classes, from which a matrix takes long to fit
_FIGURES = ("distance", "ECE", "classwise ECE", "log loss", "accuracy")
_DRAWN = ("none", "temperature", "Dirichlet", "structured matrix", "beta", "isotonic", "histogram")


class Benchmark:
    """Answers of all cells, by what was asked."""

    def __init__(self, cells: list[dict[str, Any]], answers: list[dict[str, Any]]) -> None:
        self.pairs = list(zip(cells, answers, strict=True))
        self.classes = tuple(dict.fromkeys(cell["classes"] for cell in cells))
        self.sizes = tuple(dict.fromkeys(cell["rows"] for cell in cells))
        self.names = tuple(dict.fromkeys(name for answer in answers for name in answer))

    def values(self, name: str, figure: str, **where: Any) -> np.ndarray[Any, Any]:
        """Return a figure of a calibrator in every cell that has these values, in order."""
        return np.array(
            [
                answer[name][figure]
                for cell, answer in self.pairs
                if name in answer and all(cell[key] == value for key, value in where.items())
            ]
        )

    def mean(self, name: str, figure: str, **where: Any) -> float | None:
        """Return the mean of these, None where the calibrator does not apply."""
        values = self.values(name, figure, **where)
        return float(values.mean()) if len(values) else None


def run_benchmark(lab: Laboratory) -> Benchmark:
    """Fit every calibrator to rows of every distortion; what is left follows from the truth."""
    classes, sizes = ((2, 10), (300,)) if lab.quick else ((2, 3, 10), (300, 3000))
    cells = [
        {"kind": kind, "classes": k, "rows": n, "repetition": r, "quick": lab.quick}
        for k in classes
        for n in sizes
        for kind in KINDS
        for r in range(1 if lab.quick else 5 if k < _MANY else 3)
    ]
    return Benchmark(cells, lab.map("benchmark", _meet, cells))


def _meet(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    k = cell["classes"]
    rows = draw(cell["kind"], k, cell["rows"], rng)
    all_rows = draw(cell["kind"], k, _POPULATION, rng)
    found: dict[str, dict[str, float]] = {}
    for name, calibrator in contestants(k, quick=cell["quick"]).items():
        calibrator.fit(rows.y_prob, rows.y)
        after = calibrator.predict_proba(all_rows.y_prob)
        found[name] = what_is_left(all_rows.p_true, after) | {
            "on its rows": log_loss(
                rows.y, calibrator.predict_proba(rows.y_prob), labels=list(range(k))
            ),
            "moved": float((after.argmax(axis=1) != all_rows.y_prob.argmax(axis=1)).mean()),
        }
    return found


def show_benchmark(page: Page, bench: Benchmark) -> None:
    """The tables, the picture and the file of all means."""
    page.section("Which calibrator undoes which distortion")
    page.text(
        f"""Section 6 wants recalibration benchmarked on fake classifiers, because they err in more
        ways than trained networks and in a controlled way. Truths of accuracy 0.8, distorted by
        five maps, and a sixth kind that draws the label first (c given y is Dirichlet, section
        5.2). Each calibrator gets {" or ".join(f"{n:,}" for n in bench.sizes)} rows; what is left
        is computed from the known truth of {_POPULATION:,} others, without labels. *Distance* is
        the root of E |p - c|², zero only for the best possible post-processing."""
    )
    page.table(
        {"distortion": list(DISTORTIONS), "what is reported": list(DISTORTIONS.values())},
        caption="Distortions",
    )
    n = bench.sizes[-1]
    for k in bench.classes:
        shown = _ordered(bench, k, n)
        page.table(
            {
                "calibrator": shown,
                **{
                    kind: [
                        bench.mean(name, "distance", kind=kind, classes=k, rows=n) for name in shown
                    ]
                    for kind in KINDS
                },
            },
            caption=f"Distance from the truth, {k} classes, {n:,} rows, best on average first",
            digits=3,
        )
    page.data("benchmark", _all_means(bench), caption="All figures of all calibrators (CSV)")
    page.figure(
        "benchmark",
        draw_panels([_panel(bench, k, n) for k in bench.classes], columns=3, size=(3.2, 3.0),
                    legend=True),
        caption="Mean distance from the truth after calibration. Temperature is best where one "
        "temperature is the truth and does nothing for errors by class; matrices need rows.",
        alt="Panels for numbers of classes: distance from the truth of calibrators over six kinds "
        "of distortion",
    )  # fmt: skip


def _ordered(bench: Benchmark, k: int, n: int) -> list[str]:
    means = {name: bench.mean(name, "distance", classes=k, rows=n) for name in bench.names}
    there = {name: value for name, value in means.items() if value is not None}
    return sorted(there, key=lambda name: there[name])


def _all_means(bench: Benchmark) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "classes": [], "rows": [], "distortion": [], "calibrator": [],
        **{figure: [] for figure in _FIGURES},
    }  # fmt: skip
    for k, n, kind, name in _every(bench):
        where = {"kind": kind, "classes": k, "rows": n}
        means = [bench.mean(name, figure, **where) for figure in _FIGURES]
        if means[0] is not None:
            for column, value in zip(columns.values(), (k, n, kind, name, *means), strict=True):
                column.append(round(value, 6) if isinstance(value, float) else value)
    return columns


def _every(bench: Benchmark) -> Iterable[tuple[int, int, str, str]]:
    return (
        (k, n, kind, name)
        for k in bench.classes
        for n in bench.sizes
        for kind in KINDS
        for name in bench.names
    )


def _panel(bench: Benchmark, k: int, n: int) -> Panel:
    places = list(range(len(KINDS)))
    return Panel(
        [
            Line(
                places,
                [bench.mean(name, "distance", kind=kind, classes=k, rows=n) for kind in KINDS],
                name, colour, markers=True, muted=name == "none",
            )
            for colour, name in enumerate(_DRAWN)
        ],
        f"{k} classes, {n:,} rows", "", "distance from the truth", names=KINDS,
    )  # fmt: skip
