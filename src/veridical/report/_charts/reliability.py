"""Reliability diagrams: one or several models, several to switch between, one a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from veridical._core.drawing.words import count_text
from veridical.curves.display import display_of_curve, shared_axes
from veridical.exceptions import invalid
from veridical.report._charts.chart import (
    Chart,
    Control,
    Frame,
    Table,
    distinct,
    named,
    short,
    table_of,
)
from veridical.results import ReliabilityCurve, ReliabilityDisplay
from veridical.results.pictures import classwise, histogram, reliability, small_reliability

Shown = ReliabilityCurve | ReliabilityDisplay
_KINDS = (ReliabilityCurve, ReliabilityDisplay)
_HEADER = ("from", "to", "rows", "predicted", "observed", "gap", "low", "high")
_MOST = 50  # rows of a curve without bins in a table
_OUTCOMES = ("happened", "did not happen")
_SWITCH_CALLER = "switchable_reliability"


def reliability_chart(
    curves: Shown | Mapping[str, Shown],
    *,
    classes: Sequence[str] | None = None,
    title: str = "Reliability diagram",
) -> Chart:
    """Observed share against prediction, with limits and the spread of predictions.

    Parameters
    ----------
    curves : ReliabilityDisplay, ReliabilityCurve or mapping of name to them
        One diagram, or one for each model; a curve is drawn as it is, on axes that fit it.
    classes : sequence of str, optional
        Look of each: "before", "after", or "s0" to "s6".
    title : str
        Heading.

    Returns
    -------
    Chart
        With one point a bin (its area grows with the rows), a band for curves without bins.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> reliability_chart(curve).table.rows[0][3:6]
    ('0.3000', '0.5000', '0.2000')
    """
    shown = _displays(named(curves, _KINDS, caller="reliability_chart"))
    frame = _frame((), shown, title, classes)
    return Chart(title, frame.description, frame.table, frame.draw, wide=460)


def switchable_reliability(
    variants: Mapping[tuple[str, ...], Shown],
    *,
    names: Sequence[str] = ("class", "curve"),
    title: str = "Reliability diagram",
) -> Chart:
    """Reliability diagram with a list to choose from for each way the curves differ.

    Parameters
    ----------
    variants : mapping of tuples of words to ReliabilityDisplay or ReliabilityCurve
        One diagram for each choice, in words, such as ("bad", "15 bins"); the first is shown first.
        Not every combination has to be there: a choice that is not takes the nearest one that is.
    names : sequence of str
        What each word of a tuple says. Where all are the same there is nothing to choose, and no
        list.
    title : str
        Heading.

    Returns
    -------
    Chart
        With `controls` and one of `frames` for each variant.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> y, p = [0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8]
    >>> chart = switchable_reliability(
    ...     {(str(n),): reliability_curve(y, p, n_bins=n) for n in (2, 4)}, names=["bins"])
    >>> chart.controls[0].options, [len(frame.table.rows) for frame in chart.frames]
    (('2', '4'), [2, 4])
    """
    keys = [tuple(str(word) for word in key) for key in variants]
    if not keys or any(len(key) != len(names) for key in keys) or len(set(keys)) < len(keys):
        hint = f"use tuples such as {tuple(names)!r}."
        expected = f"a mapping of different tuples of {len(names)} words"
        raise invalid(_SWITCH_CALLER, "variants", expected, repr(list(variants)[:2]), hint=hint)
    controls = [
        Control(str(name), tuple(dict.fromkeys(key[i] for key in keys)))
        for i, name in enumerate(names)
    ]
    frames = [
        _frame(
            tuple(c.options.index(w) for c, w in zip(controls, key, strict=True)),
            _displays({"": each}),
            title,
        )
        for key, each in zip(keys, variants.values(), strict=True)
    ]
    first = frames[0]
    chart = Chart(title, first.description, first.table, first.draw, wide=460)
    return replace(chart, controls=tuple(controls), frames=tuple(frames))


def classwise_chart(
    curves: Mapping[str, Shown], *, most: int = 12, title: str = "Reliability by class"
) -> Chart:
    """Small reliability diagrams beside each other, one a class (or group), each on its own axes.

    Parameters
    ----------
    curves : mapping of name to ReliabilityDisplay or ReliabilityCurve
        In the order to be shown, so worst first if that is wanted.
    most : int, default 12
        Number of diagrams that are seen at once; the others are opened.
    title : str
        Heading.

    Returns
    -------
    Chart
        With as many diagrams in a row as fit the page.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> chart = classwise_chart({"cat": curve, "dog": curve}, most=1)
    >>> chart.shown, len(chart.panels), len(chart.table.rows)
    (1, 2, 2)
    """
    every = named(curves, _KINDS, caller="classwise_chart")
    names = distinct(list(every))
    shown = {name: _display(each) for name, each in zip(names, every.values(), strict=True)}
    left = max(0, len(shown) - most)
    more = f" The first {most} are seen at once; the other {left:,} can be opened." if left else ""
    said = f"One reliability diagram for each of {len(shown)} classes or groups."
    said += f" {_worst(shown)}{more}"
    return Chart(
        title,
        said,
        _class_numbers(shown),
        partial(_small_ones, shown, most, title, said),
        panels=tuple(small_reliability(each, name) for name, each in shown.items()),
        shown=most,
    )


def score_histogram(
    curve: ReliabilityCurve, *, title: str = "Predictions, by what happened"
) -> Chart:
    """Weight of the rows of each bin, split by outcome.

    Parameters
    ----------
    curve : ReliabilityCurve
        Of method "bins". Bins of different width are drawn as densities, so that areas compare.
    title : str
        Heading.

    Returns
    -------
    Chart
        Stacked bars.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> [row[3:] for row in score_histogram(curve).table.rows]
    [('1.0000', '1.0000'), ('2', '0.0000')]
    """
    named(curve, ReliabilityCurve, caller="score_histogram")
    if curve.method != "bins":
        hint = 'use method="bins".'
        raise invalid("score_histogram", "curve", "of bins", repr(curve.method), hint=hint)
    words = display_of_curve(curve).says
    happened = curve.weight * curve.observed
    rows = [
        (*_ends(curve, i), count_text(curve.count[i]), happened[i], curve.weight[i] - happened[i])
        for i in range(len(curve))
    ]
    share = float(happened.sum() / curve.weight.sum())
    said = (
        f"Spread of {count_text(curve.n_samples)} predictions over {len(curve)} bins of {words};"
        f" it happened in {share:.1%} of them."
    )
    table = table_of(("from", "to", "rows", *_OUTCOMES), rows)
    draw = partial(_histogram, curve, words, title, said)
    return Chart(title, said, table, draw)


def _histogram(curve: ReliabilityCurve, words: str, title: str, said: str, width: float) -> Any:
    return histogram(curve, width=width, words=words, title=title, description=said)


def _small_ones(
    shown: Mapping[str, ReliabilityDisplay], most: int, title: str, said: str, width: float
) -> Any:
    first = dict(list(shown.items())[:most])
    return classwise(first, width=width, title=title, description=said)


def _display(shown: Shown) -> ReliabilityDisplay:
    return display_of_curve(shown) if isinstance(shown, ReliabilityCurve) else shown


def _displays(curves: Mapping[str, Shown]) -> dict[str, ReliabilityDisplay]:
    found = {name: _display(each) for name, each in curves.items()}
    return found if len(found) == 1 else shared_axes(found)


def _frame(
    choice: tuple[int, ...],
    shown: Mapping[str, ReliabilityDisplay],
    title: str,
    classes: Sequence[str] | None = None,
) -> Frame:
    """What is shown of diagrams: picture, words and numbers."""
    said = _description(shown)

    def draw(width: float) -> Any:
        return reliability(shown, width=width, classes=classes, title=title, description=said)

    return Frame(choice, draw, said, _numbers(shown))


def _description(shown: Mapping[str, ReliabilityDisplay]) -> str:
    """Say what the diagrams show, in words."""
    first = next(iter(shown.values()))
    happens = first.happens[:1].upper() + first.happens[1:]
    said = [f"{happens} against {first.says}, {short(first.curve.lens)} lens; {first.reason}."]
    return " ".join(said + [_reading(name, each.curve) for name, each in shown.items()])


def _reading(name: str, curve: ReliabilityCurve) -> str:
    """Say where one curve is furthest from the diagonal, and how often it is off it."""
    who = f"{short(name)}: " if name else ""
    weight = curve.weight / curve.weight.sum()
    size = weight * np.abs(curve.gap)
    worst = int(np.argmax(size))
    said = (
        f"{who}{count_text(curve.n_samples)} rows, on average {size.sum():.3g} off the diagonal;"
        f" the gap that counts most is where it says {curve.predicted[worst]:.2g} and"
        f" {curve.observed[worst]:.2g} is observed"
    )
    if curve.low is None or curve.high is None:
        return f"{said}."
    around = curve.around_prediction
    inside = curve.observed if around else curve.predicted
    outside = int(np.sum((inside < curve.low) | (inside > curve.high)))
    what = {"bins": "bins", "isotonic": "blocks"}.get(curve.method, "places")
    level = f"{100 * (curve.confidence_level or 0):g} %"
    return f"{said}; {outside} of {len(curve)} {what} lie off the diagonal beyond {level} limits."


def _worst(shown: Mapping[str, ReliabilityDisplay]) -> str:
    """Say which is furthest off on average, and by how much."""
    gaps = {
        name: float(np.average(np.abs(each.curve.gap), weights=each.curve.weight))
        for name, each in shown.items()
    }
    worst = max(gaps, key=lambda name: gaps[name])
    return f"The largest mean gap is that of {short(worst)}: {gaps[worst]:.3g}."


def _ends(curve: ReliabilityCurve, i: int) -> tuple[str, str]:
    return f"{curve.lower[i]:.4g}", f"{curve.upper[i]:.4g}"


def _class_numbers(shown: Mapping[str, ReliabilityDisplay]) -> Table:
    """One row a class: means, and how far they are apart on average."""
    rows = []
    for name, each in shown.items():
        curve = each.curve
        means = [
            float(np.average(values, weights=curve.weight))
            for values in (curve.predicted, curve.observed, np.abs(curve.gap))
        ]
        rows.append((name, curve.n_samples, *means, each.reason))
    return table_of(("class", "rows", "predicted", "observed", "mean gap", "drawn as"), rows)


def _numbers(shown: Mapping[str, ReliabilityDisplay]) -> Table:
    """Return the bins of every curve; of blocks or cells at most 50 of each, evenly spread."""
    several = len(shown) > 1
    rows = []
    for name, each in shown.items():
        curve = each.curve
        low = [None] * len(curve) if curve.low is None else curve.low.tolist()
        high = [None] * len(curve) if curve.high is None else curve.high.tolist()
        count = len(curve) if each.binned else min(len(curve), _MOST)
        for i in np.linspace(0, len(curve) - 1, count).astype(int):
            means = (curve.predicted[i], curve.observed[i], curve.gap[i])
            row = (*_ends(curve, i), count_text(curve.count[i]), *means, low[i], high[i])
            rows.append((name, *row) if several else row)
    return table_of(("series", *_HEADER) if several else _HEADER, rows)
