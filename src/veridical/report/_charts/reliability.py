"""Reliability diagrams, single or several that a reader can switch between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from veridical.exceptions import invalid
from veridical.report._charts import curves as curve_data, parts
from veridical.report._charts.chart import Chart, Control, Frame, Layout, rows_of, top_level
from veridical.report._charts.parts import by_series, layer, mark, number, probability
from veridical.results import ReliabilityCurve

_CALLER = "reliability_chart"
_SIDE, _SPREAD = 420, 70  # pixels of the square and of the histogram below
_GAPS_HEIGHT = 260  # of a picture of gaps
_ENDS = (("lower", "from", ".3~f"), ("upper", "to", ".3~f"))
IN_PIECES = {"order": None, "detail": {"field": "piece"}}  # corners are in order
GAPS = [
    {"calculate": f"datum.{value} - datum.predicted", "as": gap}
    for value, gap in (("observed", "gap"), ("low", "gap_low"), ("high", "gap_high"))
]


def reliability_chart(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve],
    *,
    deviation: bool = False,
    title: str | None = None,
) -> Chart:
    """Observed frequency against prediction, with limits and the spread of predictions.

    Parameters
    ----------
    curves : ReliabilityCurve or mapping of name to ReliabilityCurve
        One curve, or one for each model.
    deviation : bool, default False
        Draw observed minus predicted instead, where small gaps can be read off; the scale then
        differs from chart to chart.
    title : str, optional
        Heading; default says what is drawn.

    Returns
    -------
    Chart
        With one point a bin (its area grows with the rows), a band for curves without bins.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> [(row["predicted"], row["observed"])
    ...  for row in reliability_chart(curve).spec["datasets"]["points"]]
    [(0.3, 0.5), (0.7, 1.0)]
    """
    shown = parts.named(curves, ReliabilityCurve, caller=_CALLER)
    default = "Observed minus predicted" if deviation else "Reliability diagram"
    return _chart(list(shown), _frame((), shown), title or default, deviation=deviation)


def _chart(names: Sequence[str], frame: Frame, title: str, *, deviation: bool) -> Chart:
    """Chart of a frame: a square as large as fits, or a wide picture of gaps."""
    width, aspect = (640, None) if deviation else (460, 1.0)
    height = _GAPS_HEIGHT if deviation else _SIDE
    layout = Layout(_SIDE, height, beside=parts.BESIDE + 18, max_width=width, aspect=aspect)
    data = {name: rows_of(columns) for name, columns in frame.datasets.items()}
    spec = _specification(names, frame.texts, deviation=deviation)
    return Chart(top_level(data, **spec), title, frame.description, frame.table, layout)


def _frame(choice: tuple[int, ...], curves: Mapping[str, ReliabilityCurve]) -> Frame:
    """What is shown of curves: their data, and their words and numbers."""
    columns = {
        "points": curve_data.point_columns,
        "lines": curve_data.line_columns,
        "spread": curve_data.bar_columns,
    }
    return Frame(
        choice=choice,
        datasets={
            data: curve_data.joined([of(name, curve) for name, curve in curves.items()])
            for data, of in columns.items()
        },
        texts=curve_data.axis_words(next(iter(curves.values()))),
        description=curve_data.description_of(curves),
        table=curve_data.numbers_of(curves),
    )


def _specification(
    names: Sequence[str], words: Mapping[str, str], *, deviation: bool
) -> dict[str, Any]:
    """Diagram over histogram of the series `names`.

    Curves of bins are drawn as points with limits, others as lines with a band: the data say which.
    """
    layers = [
        *_reference(words, deviation=deviation),
        *_limits(names, deviation=deviation),
        *_curve(names, words, deviation=deviation),
    ]
    upper = {"width": _SIDE, "height": _GAPS_HEIGHT if deviation else _SIDE, "layer": layers}
    lower = {"width": _SIDE, "height": _SPREAD, **_spread(names, words)}
    channels = ("color", "shape", "strokeDash")
    apart = {kind: dict.fromkeys(channels, "independent") for kind in ("scale", "legend")}
    return {"vconcat": [upper, lower], "spacing": 26, "resolve": apart}


def _reference(words: Mapping[str, str], *, deviation: bool) -> list[dict[str, Any]]:
    """Line of perfect calibration, and which side of it means what."""
    above = {"align": "left", "baseline": "top", "dx": 6}
    below = {"align": "right", "baseline": "bottom", "dx": -6, "dy": -5}
    return [
        parts.reference_line(0 if deviation else 1),
        _hint(words["above"], above, {"value": 0}, {"value": 6}),
        _hint(words["below"], below, {"value": "width"}, {"value": "height"}),
    ]


def _hint(text: str, look: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    return layer(mark("text", "hint", text=text) | look, {"x": x, "y": y}, data=[{}])


def _limits(names: Sequence[str], *, deviation: bool) -> list[dict[str, Any]]:
    low, high = ("gap_low", "gap_high") if deviation else ("low", "high")
    x, y = probability("predicted", None), number(low, None)
    channels = {"x": x, "y": y, "y2": {"field": high}, **by_series(names)}
    area = layer(
        parts.AREA,
        channels | IN_PIECES,
        data="lines",
        where="datum.band && isValid(datum.low)",
        then=GAPS,
    )
    rules = layer(
        mark("rule", "series", strokeWidth=1.6, opacity=0.75),
        channels,
        data="points",
        where="datum.dot && isValid(datum.low)",
        then=GAPS,
    )
    return [area, rules]


def _curve(
    names: Sequence[str], words: Mapping[str, str], *, deviation: bool
) -> list[dict[str, Any]]:
    value = "gap" if deviation else "observed"
    title = "observed \N{MINUS SIGN} predicted" if deviation else words["y"]
    x = probability("predicted", parts.x_axis("", labels=False, ticks=False))
    axis = parts.y_axis(title, grid=True)
    y = number(value, axis, padding=24, nice=False) if deviation else probability(value, axis)
    line = layer(
        mark("line", "series", strokeWidth=1.7),
        {"x": x, "y": y, **by_series(names, dash=True), **IN_PIECES},
        data="lines",
        then=GAPS,
    )
    size = parts.by_count(24, 200, domainMin=0)
    dots = layer(
        parts.LIFTED_DOTS,
        {"x": x, "y": y, "size": size, **by_series(names, shape=True)},
        data="points",
        where="datum.dot",
        then=GAPS,
    )
    # A larger place to point at than what is seen, and easier to touch.
    touched = layer(
        parts.touch(500),
        {"x": x, "y": y, "tooltip": point_tips(several=len(names) > 1)},
        data="points",
        then=GAPS,
    )
    return [line, dots, touched]


def point_tips(*, several: bool) -> list[dict[str, Any]]:
    """Words beside a point of a curve."""
    return parts.tips(
        *_ENDS,
        ("count", "rows", ",.10~g"),
        ("predicted", "predicted", ".4f"),
        ("observed", "observed", ".4f"),
        ("gap", "observed \N{MINUS SIGN} predicted", "+.4f"),
        *parts.limit_tips(".4f"),
        several=several,
    )


def _spread(names: Sequence[str], words: Mapping[str, str]) -> dict[str, Any]:
    """Histogram below; the diagram has the legend."""
    axis = parts.y_axis("rows", grid=False, tickCount=2, format="~s")
    channels = {
        "x": probability("lower", parts.x_axis(words["x"])),
        "x2": {"field": "upper"},
        "y": number("count", axis, zero=True),
        "y2": {"datum": 0},
        "tooltip": parts.tips(*_ENDS, ("count", "rows", ",.1~f")),
        "color": by_series(names)["color"] | {"legend": None},
    }
    bar = mark("rect", "series", opacity=0.75 if len(names) < 2 else 0.35)
    return layer(bar, channels, data="spread")


_SWITCH_CALLER = "switchable_reliability"


def switchable_reliability(
    variants: Mapping[tuple[str, ...], ReliabilityCurve],
    *,
    names: Sequence[str] = ("lens", "bins", "class", "method"),
    deviation: bool = False,
    title: str = "Reliability diagram",
) -> Chart:
    """Reliability diagram with a list to choose from for each way the curves differ.

    Parameters
    ----------
    variants : mapping of tuples of words to ReliabilityCurve
        One curve for each choice, in words, such as ("binary", "15", "yes", "bins"); the first is
        shown first. Not every combination has to be there: a choice that is not takes the nearest
        one that is.
    names : sequence of str
        What each word of a tuple says. Where all are the same there is nothing to choose, and no
        list.
    deviation : bool, default False
        Draw observed minus predicted.
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
        _frame(tuple(c.options.index(w) for c, w in zip(controls, key, strict=True)), {"": curve})
        for key, curve in zip(keys, variants.values(), strict=True)
    ]
    chart = _chart([""], frames[0], title, deviation=deviation)
    return replace(chart, controls=tuple(controls), frames=tuple(frames))
