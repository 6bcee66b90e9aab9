"""A score in its parts, predictions by outcome, and an estimate against its null distribution."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from veridical._core.drawing.picture import Panel, Picture, draw_key, key_height, room_left
from veridical._core.drawing.scales import Scale, rounded_ends
from veridical._core.drawing.words import BOLD, LINE, SIZE, cut, width_of
from veridical.results.base import NullLevel
from veridical.results.curves import ReliabilityCurve
from veridical.results.figures import Decomposition
from veridical.results.tests import ConsistencyTest

PARTS = ("refinement", "miscalibration", "discrimination", "within bins")
_PART_LOOKS = ("s0", "s1", "s2", "s3")
_OUTCOMES = ("happened", "did not happen")


def decomposition(
    decompositions: Mapping[str, Decomposition],
    *,
    width: float = 640,
    title: str = "A score and its parts",
    description: str = "",
) -> Picture:
    """Scores as bars of refinement and miscalibration; discrimination below each.

    Parameters
    ----------
    decompositions : mapping of name to Decomposition
        Of one rule.
    width : float, default 640
        Pixels.
    """
    every = list(decompositions.items())
    hidden = any(d.within_bin != 0 for _, d in every)
    names = PARTS if hidden else PARTS[:3]
    key = key_height(names, width) + 6
    most = max(max(d.score, d.uncertainty, d.refinement + d.miscalibration) for _, d in every)
    least = min(0.0, *(d.refinement + d.within_bin for _, d in every))
    scale = Scale(*rounded_ends(least, most * 1.02))
    step = 62.0
    words = f"{every[0][1].rule} score: lower is better"
    picture = Picture(width, key + step * len(every) + 3 * LINE + 6, title, description)
    draw_key(picture, names, _PART_LOOKS, 0.0, lines=False)
    panel = Panel(picture, 8.0, key, width - 20, step * len(every), scale, Scale(0, 1))
    for value, _ in scale.ticks(panel.width, most=6):
        for i in range(len(every)):
            top = key + step * i + 24
            picture.add("path", "grid", d=f"M{float(panel.across(value)):.1f} {top:.1f}v34")
    for i, (name, d) in enumerate(every):
        _score(panel, name, d, key + step * i, hidden=hidden)
    panel.axis_below(words, most=6)
    return picture


def _score(panel: Panel, name: str, d: Decomposition, top: float, *, hidden: bool) -> None:
    picture = panel.picture
    note = f"score {d.score:.4f}"
    picture.text(8, top + LINE, cut(name, picture.width - width_of(note) - 40))
    picture.text(picture.width - 12, top + LINE, note, "muted", anchor="end")
    pieces = [
        (0, 0.0, d.refinement, 26.0, 18.0),
        (1, d.refinement, d.refinement + d.miscalibration, 26.0, 18.0),
        (2, d.refinement, d.uncertainty, 48.0, 6.0),
    ]
    if hidden:
        pieces.append((3, d.refinement + d.miscalibration, d.score, 26.0, 18.0))
    for part, start, end, down, thick in pieces:
        a, b = (float(v) for v in panel.across([start, end]))
        tip = f"{PARTS[part]} {abs(end - start):.5f}"
        with picture.group(_PART_LOOKS[part]):
            left, wide = min(a, b), max(abs(b - a), 0.5)
            picture.add("rect", "full", tip=tip, x=left, y=top + down, width=wide, height=thick)


def histogram(
    curve: ReliabilityCurve,
    *,
    width: float = 640,
    words: str = "predicted probability",
    title: str = "Predictions, by what happened",
    description: str = "",
) -> Picture:
    """Weight of the rows of each bin, split by outcome; a density where widths of bins differ."""
    wide = curve.upper - curve.lower
    same = bool(np.ptp(wide) <= 1e-6 * wide.max())
    unit = np.ones(len(curve)) if same else 0.01 / np.maximum(wide, 1e-12)
    heights = curve.weight * unit
    scale = Scale(0.0, float(heights.max()) * 1.05)
    rows = "weight" if (curve.weight != curve.count).any() else "rows"
    looks = ("s1", "s0")
    high, key = 180.0, key_height(_OUTCOMES, width)
    left, head = room_left(scale, high), LINE + 14
    picture = Picture(width, key + head + high + 3 * LINE + 8, title, description)
    draw_key(picture, _OUTCOMES, looks, 0.0, lines=False)
    across = Scale(float(curve.lower[0]), float(curve.upper[-1]))
    panel = Panel(picture, left, key + head, width - left - 12, high, across, scale)
    panel.axis_left(rows if same else f"{rows} per 0.01")
    for i in range(len(curve)):
        low, top = float(curve.lower[i]), float(heights[i])
        happened = top * float(curve.observed[i])
        for look, bottom, upto in ((looks[0], 0.0, happened), (looks[1], happened, top)):
            said = _OUTCOMES[looks.index(look)]
            tip = f"{low:.3g} to {curve.upper[i]:.3g}, {said}: {(upto - bottom) / unit[i]:,.6g}"
            with picture.group(look):
                panel.bar(low, float(curve.upper[i]), bottom, upto, tip=tip)
    panel.axis_below(words)
    return picture


def null_strip(
    null: NullLevel | ConsistencyTest,
    *,
    width: float = 460,
    title: str = "The estimate and its null distribution",
    description: str = "",
) -> Picture:
    """The estimate on the real outcomes among those on outcomes drawn from the predictions.

    Parameters
    ----------
    null : NullLevel or ConsistencyTest
        With its null sample.
    width : float, default 460
        Pixels.
    """
    level = null.null_level if isinstance(null, ConsistencyTest) else null
    low, high = float(level.sample.min()), float(level.sample.max())
    low, high = min(low, level.estimate), max(high, level.estimate)
    pad = 0.04 * (high - low) or 1e-6
    x = Scale(*rounded_ends(low - pad, high + pad, bottom=0.0 if low >= 0 else -np.inf))
    edges = np.linspace(x.low, x.high, 61)
    counts = np.histogram(level.sample, edges)[0]
    top = 2 * LINE + 4
    picture = Picture(width, top + 76 + 3 * LINE, title, description)
    y = Scale(0.0, float(counts.max()) * 1.05)
    panel = Panel(picture, 4.0, top, width - 16, 70.0, x, y)
    with picture.group("other"):
        for i in np.flatnonzero(counts):
            panel.bar(float(edges[i]), float(edges[i + 1]), 0.0, float(counts[i]))
    at, limit = float(panel.across(level.estimate)), float(panel.across(level.quantile(0.95)))
    picture.add("path", "reference dash", d=f"M{limit:.1f} {top:.1f}v70")
    with picture.group("after"):
        picture.add("path", "line", d=f"M{at:.1f} {top - 6:.1f}v76")
    words = f"{level.estimator} {level.estimate:.4g}"
    half = width_of(words, SIZE * BOLD) / 2
    picture.text(min(max(at, half), width - half), LINE, words, "strong", anchor="middle")
    below = cut("dashed: 95 % of calibrated models are below", width)
    half = width_of(below) / 2
    place = min(max(limit, half), width - half)
    picture.text(place, 2 * LINE - 2, below, "muted", anchor="middle")
    panel.axis_below(f"{level.estimator}; grey: outcomes drawn from the predictions", most=6)
    return picture
