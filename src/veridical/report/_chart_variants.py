"""Reliability diagrams a reader can switch between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veridical.exceptions import invalid
from veridical.report._chart import Chart, Control, Frame, top_level
from veridical.report._chart_reading import axis_words, description_of, numbers_of
from veridical.report._chart_reliability import datasets_of, layout_of, specification
from veridical.report._chart_table import rows_of
from veridical.results import ReliabilityCurve

_CALLER = "switchable_reliability"


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
        raise invalid(_CALLER, "variants", expected, repr(list(variants)[:2]), hint=hint)
    controls = [
        Control(str(name), tuple(dict.fromkeys(key[i] for key in keys)))
        for i, name in enumerate(names)
    ]
    frames = [
        _frame(key, curve, controls) for key, curve in zip(keys, variants.values(), strict=True)
    ]
    height = 260 if deviation else 420
    first = frames[0]
    data = {name: rows_of(columns) for name, columns in first.datasets.items()}
    spec = specification([""], first.texts, deviation=deviation, height=height)
    return Chart(
        spec=top_level(data, **spec),
        title=title,
        description=first.description,
        table=first.table,
        layout=layout_of(deviation=deviation, height=height),
        controls=tuple(controls),
        frames=tuple(frames),
    )


def _frame(key: tuple[str, ...], curve: ReliabilityCurve, controls: list[Control]) -> Frame:
    shown = {"": curve}
    return Frame(
        choice=tuple(c.options.index(word) for c, word in zip(controls, key, strict=True)),
        datasets=datasets_of(shown),
        texts=axis_words(curve),
        description=description_of(shown),
        table=numbers_of(shown),
    )
