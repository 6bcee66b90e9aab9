"""Pieces that specifications have in common: axes, legends, tooltips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from veridical.exceptions import invalid
from veridical.report._chart_theme import DASHES

_Kind = TypeVar("_Kind")
PROBABILITIES = [0, 0.2, 0.4, 0.6, 0.8, 1]
BESIDE = 46  # pixels of numbers left of a plot
LEGEND_OFFSET = 24  # pixels between a legend and the plot: the title of its axis is between them
_LONG = 18  # letters from which on names stand below each other


def named(results: Any, kind: type, *, caller: str) -> dict[str, Any]:
    """Return one result, or a mapping of them, as a mapping; raise if it is something else."""
    found = results if isinstance(results, Mapping) else {"": results}
    if not found or not all(isinstance(each, kind) for each in found.values()):
        got = "nothing" if not found else type(next(iter(found.values()))).__name__
        hint = "pass what the functions of the library return."
        raise invalid(caller, "results", f"a {kind.__name__} or several by name", got, hint=hint)
    return {str(name): each for name, each in found.items()}


def only(result: Any, kind: type[_Kind], *, caller: str) -> _Kind:
    """Return a result of that kind; raise if it is something else."""
    if isinstance(result, kind):
        return result
    hint = "pass what the functions of the library return."
    raise invalid(caller, "result", f"a {kind.__name__}", type(result).__name__, hint=hint)


def x_axis(title: Any, **more: Any) -> dict[str, Any]:
    """Axis below a plot."""
    return {"title": title, "grid": False} | more


def y_axis(title: Any, **more: Any) -> dict[str, Any]:
    """Axis left of a plot; its title lies above it, where it needs no width and no turned head."""
    return {
        "title": title,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleBaseline": "bottom",
        "titleX": -BESIDE + 6,
        "titleY": -6,
        "minExtent": BESIDE - 8,
        "maxExtent": BESIDE - 8,
    } | more


def probability(field: str, axis: dict[str, Any] | None) -> dict[str, Any]:
    """Channel of a probability."""
    ticks = {"values": PROBABILITIES, "format": ".1f", "labelOverlap": False, "labelFlush": False}
    shown = None if axis is None else ticks | axis
    return number(field, shown, domain=[0, 1], nice=False)


def number(field: str, axis: dict[str, Any] | None, **scale: Any) -> dict[str, Any]:
    """Channel of a number; without an axis in layers that leave it to another one."""
    channel: dict[str, Any] = {"field": field, "type": "quantitative"}
    if scale:
        channel["scale"] = scale
    return channel if axis is None else channel | {"axis": axis}


def tips(*fields: tuple[str, str, str | None]) -> list[dict[str, Any]]:
    """Tooltip: (field, words, format) of each line; text has no format."""
    return [
        {"field": field, "title": words}
        | ({"type": "nominal"} if form is None else {"type": "quantitative", "format": form})
        for field, words, form in fields
    ]


def legend_of(names: Sequence[str], *, lines: bool = False) -> dict[str, Any] | None:
    """Legend of several series, above the title of the axis; one series needs none."""
    if len(names) < 2:
        return None
    long = any(len(name) > _LONG for name in names)
    look = {"symbolType": "stroke", "symbolSize": 400} if lines else {}
    return {"title": None, "columns": 1 if long else 2, "offset": LEGEND_OFFSET} | look


def by_series(
    names: Sequence[str], *, shape: bool = False, dash: bool = False, lines: bool = False
) -> dict[str, Any]:
    """Channels that tell series apart: never by colour alone.

    `lines` says that the chart has lines only, and its legend shows them.
    """
    scale = {"domain": list(names)}
    base = {"field": "series", "type": "nominal", "legend": legend_of(names, lines=lines)}
    channels: dict[str, Any] = {"color": base | {"scale": scale}}
    if shape:
        channels["shape"] = base | {"scale": scale}
    if dash:
        dashes = [list(DASHES[i % len(DASHES)]) for i in range(len(names))]
        channels["strokeDash"] = base | {"scale": scale | {"range": dashes}}
    return channels


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names, numbered where two are the same.

    Examples
    --------
    >>> distinct(["1", "2", "1"])
    ['1', '2', '1 (2)']
    """
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return made
