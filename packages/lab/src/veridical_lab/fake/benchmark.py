"""Every calibrator on fake classifiers: what is left of the error is known.

What the review says of recalibration, judged by the benchmark.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from veridical.scores import log_loss
from veridical.simulation import TemperatureMap
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import drawn, share, with_error
from veridical_lab._frame.page import Page, by_column
from veridical_lab.fake import contestants as rivals
from veridical_lab.fake.contestants import BY_LABEL, DISTORTIONS
from veridical_lab.plots.panels import Panel, draw_panels, marked_lines

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

    def values(
        self, name: str, figure: str, *, beside: str = "", **where: Any
    ) -> np.ndarray[Any, Any]:
        """Return a figure of a calibrator in every cell that has these values, in order.

        With `beside`, that of this other calibrator in the very cells that `name` took part in.
        """
        return np.array(
            [
                answer[beside or name][figure]
                for cell, answer in self.pairs
                if name in answer and all(cell[key] == value for key, value in where.items())
            ]
        )

    def mean_and_error(
        self, values: np.ndarray[Any, Any], name: str, **where: Any
    ) -> tuple[float, float]:
        """Return the mean of values of such cells, and its standard error.

        Cells that differ in their repetition only are draws; all else was chosen.
        """
        kinds = [
            tuple(cell[key] for key in ("kind", "classes", "rows"))
            for cell, answer in self.pairs
            if name in answer and all(cell[key] == value for key, value in where.items())
        ]
        variance = 0.0
        for kind in dict.fromkeys(kinds):
            some = values[[i for i, one in enumerate(kinds) if one == kind]]
            variance += len(some) * float(some.var(ddof=1)) / len(values) ** 2
        return float(values.mean()), variance**0.5

    def ratio(self, name: str, other: str, figure: str, kind: str) -> tuple[float, float]:
        """Return a mean figure over that of another calibrator, and its standard error."""
        above, below = (self.values(name, figure, beside=b, kind=kind) for b in (name, other))
        found = float(above.mean() / below.mean())
        rest = (above - found * below) / below.mean()
        return found, self.mean_and_error(rest, name, kind=kind)[1]

    def repetitions(self, classes: int) -> tuple[int, ...]:
        """Return the numbers of the repetitions there are of so many classes."""
        found = (cell["repetition"] for cell, _ in self.pairs if cell["classes"] == classes)
        return tuple(dict.fromkeys(found))

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
        for r in range(2 if lab.quick else 5 if k < _MANY else 3)
    ]
    return Benchmark(cells, lab.map("benchmark", _meet, cells))


def _meet(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    k = cell["classes"]
    rows = rivals.draw(cell["kind"], k, cell["rows"], rng)
    all_rows = rivals.draw(cell["kind"], k, _POPULATION, rng)
    found: dict[str, dict[str, float]] = {}
    for name, calibrator in rivals.contestants(k, quick=cell["quick"]).items():
        calibrator.fit(rows.y_prob, rows.y)
        after = calibrator.predict_proba(all_rows.y_prob)
        found[name] = rivals.what_is_left(all_rows.p_true, after) | {
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
    caption = """Mean distance from the truth after calibration. Temperature is best where one
        temperature is the truth and does nothing for errors by class; matrices need rows. | Panels
        for numbers of classes: distance from the truth of calibrators over six kinds of
        distortion"""
    panels = [_panel(bench, k, n) for k in bench.classes]
    page.figure("benchmark", draw_panels(panels, size=(3.2, 3.0), legend=True), caption)


def _ordered(bench: Benchmark, k: int, n: int) -> list[str]:
    means = {name: bench.mean(name, "distance", classes=k, rows=n) for name in bench.names}
    there = {name: value for name, value in means.items() if value is not None}
    return sorted(there, key=lambda name: there[name])


def _all_means(bench: Benchmark) -> dict[str, list[Any]]:
    rows: list[tuple[Any, ...]] = []
    for k, n, kind, name in product(bench.classes, bench.sizes, KINDS, bench.names):
        where = {"kind": kind, "classes": k, "rows": n}
        means = [bench.mean(name, figure, **where) for figure in _FIGURES]
        if means[0] is not None:
            figures = (round(mean, 6) if isinstance(mean, float) else mean for mean in means)
            rows.append((k, n, kind, name, *figures))
    return by_column(("classes", "rows", "distortion", "calibrator", *_FIGURES), rows)


def _panel(bench: Benchmark, k: int, n: int) -> Panel:
    distances = {
        name: [bench.mean(name, "distance", kind=kind, classes=k, rows=n) for kind in KINDS]
        for name in _DRAWN
    }
    lines, title = marked_lines(range(len(KINDS)), distances, "none"), f"{k} classes, {n:,} rows"
    return Panel(lines, title, "", "distance from the truth", names=KINDS)


_ONE_TEMPERATURE = ("over-confident", "under-confident")  # which one temperature undoes


def judge_recalibration(lab: Laboratory, page: Page, bench: Benchmark) -> None:
    """Sections 1.3, 5, 5.1 and 5.2, each with the numbers it is judged by."""
    _judge_best_possible(page, bench)
    _judge_temperature(page, bench)
    _count_turned_pairs(lab, page)
    _judge_dirichlet(page, bench)
    _judge_non_parametric(page, bench)


def _judge_best_possible(page: Page, bench: Benchmark) -> None:
    loss = partial(bench.values, figure="log loss", kind="calibrated")
    others = [name for name in bench.names if name != "none"]
    gains = np.concatenate([loss(name) - loss(name, beside="none") for name in others])
    page.check(f"""Section 1.3, best possible | a classifier that is already strongly calibrated
        cannot be improved through post-processing | {gains.min()} > -1e-9 | the smallest change of
        expected log loss by {len(gains)} fits to calibrated classifiers; the mean is
        {gains.mean():.4f}, so needless calibration costs""")


def _judge_temperature(page: Page, bench: Benchmark) -> None:
    moved = bench.values("temperature", "moved")
    page.check(f"""Section 5.1, accuracy under temperature | scaling the logits uniformly does not
        alter the ranking of predictions, thus accuracy is unaffected by it | {moved.max()} == 0 |
        largest share of predictions that changed, {len(moved)} fits""")
    left = [bench.ratio("temperature", "none", "ECE", kind) for kind in _ONE_TEMPERATURE]
    asked = [f"{with_error(1 - value, error)} as efficient" for value, error in left]
    page.check(f"""Section 5.1, temperature and ECE | efficient in reducing the ECE |
        {" and ".join(asked)} | share removed where one temperature is the truth, of over- and
        under-confident classifiers""")
    by_class = {
        name: _ratio(bench, name, "classwise ECE", "by class")
        for name in ("temperature", "Dirichlet", "vector")
        if name in bench.names
    }
    worse = bench.ratio("temperature", "Dirichlet", "classwise ECE", "by class")
    page.check(f"""Section 5.1, temperature and classes | it may underperform in reducing class-wise
        calibration errors, where Dirichlet calibration performs much better |
        {with_error(*worse)} as much | classwise ECE after temperature over that after Dirichlet
        calibration, classes distorted differently; shares left:
        {", ".join(f"{v:.2f} after {k}" for k, v in by_class.items())}""")
    _judge_training_loss(page, bench)


def _count_turned_pairs(lab: Laboratory, page: Page) -> None:
    """Within a row the order stays; between rows the order of confidence need not."""
    p = rivals.distorted("calibrated", 10).sample(40_000, rng=lab.rng("pairs")).y_prob
    before, after = (c.max(axis=1).reshape(2, -1) for c in (p, TemperatureMap(2.0)(p)))
    turned = float(np.mean((before[0] - before[1]) * (after[0] - after[1]) < 0))
    page.check(f"""Section 5.1, pairs of rows whose order of confidence a temperature of 2 turns |
        {turned} | 10 classes: the ranking of classes within a row is kept, that of rows by
        confidence is not, so abstaining below a threshold may keep other rows""")


def _ratio(bench: Benchmark, name: str, figure: str, kind: str) -> float:
    """Mean figure after the calibrator as a share of the mean before, over all cells of a kind."""
    before, after = (bench.values(name, figure, beside=b, kind=kind) for b in ("none", name))
    return float(after.mean() / before.mean())


def _judge_training_loss(page: Page, bench: Benchmark) -> None:
    fell = bench.values("temperature", "on its rows") < bench.values("none", "on its rows")
    wrong = np.array([cell["kind"] != "calibrated" for cell, _ in bench.pairs]) & fell
    for name, figure, words in (
        ("strong calibration", "distance", "the distance from the truth"),
        ("the ECE", "ECE", "the ECE"),
    ):
        change = bench.values("temperature", figure) - bench.values("none", figure)
        page.check(f"""Section 1.3, training loss and {name} | for multiplied logits a decrease in
            the post-processing training loss is a reliable indicator of improved calibration |
            {share(change[fell] > 0)} as few | share of {int(fell.sum())} fits that lowered the
            loss on their rows and
            raised {words}, the worst by {float(change[fell].max()):.3f};
            {float(np.mean(change[wrong] > 0)):.2f} of those not calibrated before""")


def _judge_dirichlet(page: Page, bench: Benchmark) -> None:
    change = bench.values("Dirichlet", "accuracy") - bench.values("none", "accuracy")
    page.check(f"""Section 5.2, ranking | Dirichlet calibration does not preserve ranking and
        accuracy | {np.mean(change < 0)} > 0 | share of {len(change)} fits that
        lost accuracy, the worst {-change.min():.3f}""")
    gain = bench.values("Dirichlet", "accuracy", kind="by class") - bench.values(
        "none", "accuracy", kind="by class"
    )
    page.check(f"""Section 5.2, potential | recalibration also has the potential to increase
        accuracy | {gain.max()} > 0 | largest gain where classes are distorted differently;
        {np.mean(gain > 0):.0%} of these fits gained""")
    few, many = bench.sizes[0], bench.classes[-1]
    where = {"classes": many, "rows": few}
    change = {
        name: bench.values(name, "log loss", **where) - bench.values("none", "log loss", **where)
        for name in ("temperature", "Dirichlet, no penalty")
    }
    harm = bench.mean_and_error(change["Dirichlet, no penalty"], "none", **where)
    page.check(f"""Section 5.2, over-fitting | it can easily overfit due to the number of parameters
        | {with_error(*harm)} as severe | change of expected log loss without penalty, {many}
        classes, {few} rows, {many * (many + 1)} parameters; temperature
        {change["temperature"].mean():+.3f}""")
    odir = "Dirichlet, tuned penalty" if "Dirichlet, tuned penalty" in bench.names else "Dirichlet"
    better = bench.values(odir, "log loss") < bench.values(odir, "log loss", beside="temperature")
    shares = ", ".join(
        f"{np.mean(_better_than_temperature(bench, odir, k, n)):.2f} for {k} classes and {n:,} rows"
        for k in bench.classes
        for n in bench.sizes
    )
    page.check(f"""Section 5.2, ODIR | with its penalty it outperformed temperature scaling in most
        cases | {share(better)} as most | share of fits with a lower log loss, {odir}: {shares};
        four of the six kinds treat all classes alike, and there
        one parameter is enough""")
    left = _ratio(bench, "Dirichlet", "distance", BY_LABEL)
    page.check(f"""Section 5.2, eq. 5, distance left | {left} | share of the distance left by
        Dirichlet calibration where c given y is Dirichlet; by temperature
        {_ratio(bench, "temperature", "distance", BY_LABEL):.2f}""")


def _better_than_temperature(bench: Benchmark, odir: str, k: int, n: int) -> Any:
    loss = partial(bench.values, odir, "log loss", classes=k, rows=n)
    return loss() < loss(beside="temperature")


def _judge_non_parametric(page: Page, bench: Benchmark) -> None:
    n = bench.sizes[-1]
    ratios = {k: [_sides(bench, k, n, r) for r in bench.repetitions(k)] for k in bench.classes}
    last = bench.classes[-1]
    page.check(f"""Section 1.3, footnote 4 | non-parametric methods tend to perform worse for large
        K | {drawn(ratios[last])} > 1 | distance of the median non-parametric over that of the
        median
        parametric one, {n:,} rows:
        {", ".join(f"{np.mean(v):.2f} for {k} classes" for k, v in ratios.items())}""")


def _sides(bench: Benchmark, k: int, n: int, repetition: int) -> float:
    """Distance of the median non-parametric over that of the median parametric calibrator."""
    where = {"classes": k, "rows": n, "repetition": repetition}
    medians = []
    for side in (rivals.NON_PARAMETRIC, rivals.PARAMETRIC):
        means = [bench.mean(name, "distance", **where) for name in side]
        medians.append(float(np.median([mean for mean in means if mean is not None])))
    return medians[0] / medians[1]
