"""The first screen: the sentence, the picture, four numbers, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from veridical.curves.display import display_of_curve, shared_axes
from veridical.report._charts.catalogue import comparison_chart
from veridical.report._content.content import ModelFindings, Recalibration, Settings, short
from veridical.report._content.recalibration import percent
from veridical.report._page.blocks import (
    MISSING,
    Block,
    Card,
    Cards,
    Columns,
    Commands,
    Drawing,
    Figure,
    Fold,
    Paragraph,
    Points,
    Table,
    level_words,
    limits,
    number,
    sentence,
    signed,
    signed_limits,
)
from veridical.report._sections.measured import class_displays, error_name
from veridical.results import Comparison, Evaluation, ReliabilityDisplay, Verdict, pictures
from veridical.results.pictures import Picture

_SIDE = 400  # pixels of the diagram
_PAIR, _HALF, _SMALL = 680, 330, 404  # of two beside it, of one of them, of small ones
_WORST = 4  # classes with a diagram
_LONG = 60  # characters of a name
_MOST_PROBLEMS = 2  # of the data that are said at once
_KINDS = {"miscalibrated": "shown"}
_LONG_WORDING = 240  # characters of a verdict that are folded


def first_blocks(
    models: tuple[ModelFindings, ...], comparison: Comparison | None, settings: Settings
) -> Iterator[Block]:
    """What is seen without scrolling."""
    if comparison is None or len(models) == 1:
        for index, model in enumerate(models):
            yield from _one(model, index, settings)
    else:
        yield from _several(models, comparison, settings)


def _one(m: ModelFindings, index: int, settings: Settings) -> Iterator[Block]:
    verdict = m.evaluation.verdict
    yield Paragraph(verdict.short, f"lead {verdict.kind.replace(' ', '-')}")
    yield from _wording(verdict)
    yield Cards(_cards(m))
    display = _display(m.evaluation)
    draw = partial(_diagram, display)
    reason = "" if display.binned and display.axis == "linear" else display.reason
    diagram = Drawing(f"first-{index}", "Reliability diagram", draw, reason, _SIDE)
    before: list[Block] = [diagram]
    before += [Paragraph(sentence(note), "note") for note in _problems(m)]
    after = [*_after(m, index), Commands(tuple(_next_steps(m, settings)))]
    yield Columns((tuple(before), tuple(after)), "first")


def _display(e: Evaluation) -> ReliabilityDisplay:
    return display_of_curve(e.curve) if e.display is None else e.display


def _wording(verdict: Verdict) -> Iterator[Block]:
    """The whole verdict, folded where it is long."""
    rest = verdict.text.removeprefix(verdict.headline).strip()
    if verdict.short == verdict.headline:
        yield Paragraph(rest, "full")
    elif len(rest) <= _LONG_WORDING:
        yield Paragraph(verdict.text, "full")
    else:
        yield Fold(verdict.headline, (Paragraph(rest, "full"),))


def _diagram(
    displays: ReliabilityDisplay | Mapping[str, ReliabilityDisplay], width: float
) -> Picture:
    return pictures.reliability(displays, width=width)


def _after(m: ModelFindings, index: int) -> Iterator[Block]:
    r = m.recalibration
    if r.before_display is None or r.after_display is None:
        yield Paragraph(r.text, "note")
        return
    title = "Before and after recalibration" if r.map is not None else "Before and after a map"
    title = f"{title}, held-out rows"
    width = _PAIR if r.map is not None else _HALF
    drawing = Drawing(f"first-recalibration-{index}", title, partial(_before_after, r), "", width)
    drawn = class_displays(m, _WORST)
    if not drawn:
        yield drawing
        return
    title = f"Worst of {len(m.classes):,} classes"
    worst = Drawing(f"first-classes-{index}", title, partial(_class_diagrams, drawn), "", _SMALL)
    yield Columns(((drawing,), (worst,)), "halves")


def _class_diagrams(drawn: Mapping[str, ReliabilityDisplay], width: float) -> Picture:
    return pictures.classwise(drawn, width=width)


def _before_after(r: Recalibration, width: float) -> Picture:
    before, after, line = r.before_display, r.after_display, r.map
    assert before is not None
    assert after is not None
    if line is None:
        return pictures.before_after(before, after, width=width)
    return pictures.before_after(before, after, map_x=line.at, map_y=line.to, width=width)


def _problems(m: ModelFindings) -> list[str]:
    """Problems of the data that make figures rough, with few rows a bin among them."""
    found = [note.finding for note in m.data if note.matters == "problem"]
    return found[:_MOST_PROBLEMS]


def _cards(m: ModelFindings) -> tuple[Card, ...]:
    e = m.evaluation
    error, slope, area = e.default, e.slope, e.limits.get("AUC", (None, None))
    level, several = level_words(e.confidence_level), len(e.classes) > 2

    def between(low: float | None, high: float | None, decimals: int = 4) -> str:
        return "no interval" if low is None else f"{level}: {limits(low, high, decimals)}"

    null = "" if error.null_q95 is None else f"if calibrated: below {number(error.null_q95)}"
    line = (None, None) if slope is None else (slope.low, slope.high)
    estimate = None if slope is None else slope.estimate
    return (
        _saved(m),
        Card(error_name(m), number(error.value), (between(error.low, error.high), null)),
        Card(
            "slope of the confidence" if several else "recalibration slope",
            number(estimate, 2),
            (between(line[0], line[1], 2), "1 is right, less is too extreme"),
        ),
        Card(
            "AUC, mean of one against the rest" if several else "AUC",
            number(e.auc, 3),
            (between(area[0], area[1], 3), "0.5 is chance, 1 is perfect"),
        ),
    )


def _saved(m: ModelFindings) -> Card:
    """Share of the score that recalibration saves on held-out rows."""
    r = m.recalibration
    label = f"{r.figure} saved by recalibration"
    if r.cut is None or r.low is None or r.high is None or not r.claimed:
        return Card(label, MISSING, ("not known", "" if r.calibrator else sentence(r.note)))
    if r.left_alone:
        return Card(label, "none", ("no map beats the predictions", "on held-out rows"))
    level = level_words(m.evaluation.confidence_level)
    interval = f"{level}: {percent(r.low)} to {percent(r.high)} %"
    shown = r.low > 0 or r.high < 0
    value = f"{percent(r.cut)} %" if shown else "not shown"
    return Card(label, value, (interval, "on held-out rows"))


def _several(
    models: tuple[ModelFindings, ...], c: Comparison, settings: Settings
) -> Iterator[Block]:
    ranking = Ranking(c)
    yield Paragraph(ranking.sentence, "lead models")
    yield _ranked(ranking, models)
    named = ranking.sorted(models)
    displays = {short(m.name, _LONG): _display(m.evaluation) for m in named}
    draw = partial(_diagram, shared_axes(displays))
    differences = Figure("first-differences", lambda: comparison_chart(c, figure=ranking.rule))
    steps = Commands(tuple(_next_steps(named[0], settings)))
    diagram = Drawing("first-0", "Reliability diagram", draw, "", _SIDE)
    yield Columns(((diagram,), (differences, steps)), "first")
    yield Points(tuple(f"{short(m.name, _LONG)}: {m.evaluation.verdict.short}" for m in named))


class Ranking:
    """Models by their mean score, and which of them cannot be told apart from the best."""

    def __init__(self, c: Comparison) -> None:
        finite = all(e.scores["log"] < float("inf") for e in c.evaluations)
        self.rule, self.score = ("log", "log loss") if finite else ("brier", "Brier score")
        self.comparison = c
        values = {n: e.scores[self.rule] for n, e in zip(c.models, c.evaluations, strict=True)}
        self.names = sorted(c.models, key=lambda name: values[name])
        self.best = self.names[0]
        level = 1 - c.confidence_level
        apart = {}
        for d in c.differences:
            if d.difference.estimator == self.rule and self.best in (d.first, d.second):
                other = d.second if d.first == self.best else d.first
                apart[other] = d.adjusted is not None and d.adjusted <= level
        self.apart: dict[str, bool] = apart

    def sorted(self, models: Sequence[ModelFindings]) -> list[ModelFindings]:
        """Best first."""
        return sorted(models, key=lambda m: self.names.index(m.name))

    @property
    def sentence(self) -> str:
        """Which model is best, as far as that is shown."""
        best = short(self.best, _LONG)
        alike = [name for name in self.names[1:] if not self.apart.get(name, False)]
        if not alike:
            return f"{best} is best: its {self.score} is lower than that of every other model."
        if len(alike) == len(self.names) - 1:
            return (
                f"The models cannot be told apart by {self.score}; {best} has the lowest by"
                " what may be chance."
                if len(self.names) > 2
                else f"{best} and {short(alike[0], _LONG)} cannot be told apart by {self.score}."
            )
        listed = ", ".join(short(name, _LONG) for name in alike)
        return f"{best} has the lowest {self.score}; {listed} cannot be told apart from it."

    def difference(self, name: str) -> tuple[float, float, float] | None:
        """Score of a model minus that of the best, with limits."""
        for d in self.comparison.differences:
            if d.difference.estimator == self.rule and {d.first, d.second} == {self.best, name}:
                found = (d.difference.estimate, d.difference.low, d.difference.high)
                if d.first == name:
                    return found
                return -found[0], -found[2], -found[1]
        return None


def _ranked(r: Ranking, models: Sequence[ModelFindings]) -> Table:
    level = level_words(r.comparison.confidence_level)

    def against(m: ModelFindings) -> str:
        found = r.difference(m.name)
        return "" if found is None else f"{signed(found[0])} ({signed_limits(*found[1:])})"

    def told(m: ModelFindings) -> str:
        if m.name == r.best:
            return "lowest"
        return "worse" if r.apart.get(m.name) else "not told apart"

    return Table.of(
        f"Models, lowest {r.score} first",
        r.sorted(models),
        {
            "model": lambda m: short(m.name, _LONG),
            r.score: lambda m: number(m.evaluation.scores[r.rule]),
            "rank": told,
            f"difference ({level})": against,
            f"{error_name(models[0])} (null 95 %)": lambda m: _error(m.evaluation),
            "slope": lambda m: _slope(m.evaluation),
            "AUC": lambda m: number(m.evaluation.auc, 3),
            "miscalibration": lambda m: _KINDS.get(kind := m.evaluation.verdict.kind, kind),
            "map saves": lambda m: _saved(m).value,
        },
        shown=8,
    )


def _error(e: Evaluation) -> str:
    null = e.default.null_q95
    return number(e.default.value) + ("" if null is None else f" ({number(null)})")


def _slope(e: Evaluation) -> str:
    return MISSING if e.slope is None else number(e.slope.estimate, 2)


def _next_steps(m: ModelFindings, settings: Settings) -> Iterator[tuple[str, str]]:
    """Commands where the data came from a file, else lines of Python."""
    verdict, r, data = m.evaluation.verdict, m.recalibration, settings.shell.get(m.name)
    if verdict.kind == "reversed" and len(m.evaluation.classes) == 2:
        yield "Name the class that the probabilities are of", _other_class(m, data)
        return
    file = "" if data is None else " ".join(filter(None, [data, settings.shell_positive]))
    if verdict.found or (r.low is not None and r.low > 0):
        shell = f"veridical calibrate {file} -o map.json\nveridical export map.json --to sql"
        python = (
            "calibrator = veridical.AutoCalibrator().fit(y_prob, y_true)\n"
            'veridical.save(calibrator, "map.json")'
        )
        yield "Mend it: fit the map, take it where scores are made", shell if file else python
    else:
        yield (
            "Watch it in use",
            "veridical monitor init store.sqlite\nveridical monitor update store.sqlite today.csv",
        )
    by = f" {settings.shell_by}" if settings.shell_by else ""
    shell = f"veridical check {file}{by} --require calibrated"
    python = 'veridical.check_requirements(y_true, y_prob, requirements="calibrated")'
    yield "Gate the next release", shell if file else python


def _other_class(m: ModelFindings, data: str | None) -> str:
    label = m.evaluation.classes[0]
    if data is None:
        return f'veridical.make_report(y_true, y_prob, pos_label={label!r}, path="report.html")'
    return f"veridical report {data} --pos-label {shlex.quote(str(label))} -o report.html"
