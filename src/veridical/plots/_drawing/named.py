"""One result, several by name, or the data to make one from; and curves of several in one panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from matplotlib.axes import Axes

from veridical.exceptions import invalid
from veridical.plots._drawing.axes import short_name, size_text
from veridical.plots._drawing.legend import legend_above
from veridical.plots._drawing.style import Style

R = TypeVar("R")


def named_results(
    rows: tuple[Any, Any],
    kind: type[R],
    several: str,
    compute: Callable[..., R],
    *,
    caller: str,
    **options: Any,
) -> dict[str, R]:
    """Return results by name, "" for a single one; `rows` are these, or data to make one from.

    `several` is their plural, and `compute` makes one with the `options`.
    """
    y_true, y_prob = rows
    if isinstance(y_true, kind):
        return {"": y_true}
    if isinstance(y_true, Mapping):
        if y_true and all(isinstance(each, kind) for each in y_true.values()):
            return {str(name): each for name, each in y_true.items()}
        hint = f'pass `{{"model": {compute.__name__}(y_true, y_prob), ...}}`.'
        raise invalid(caller, "y_true", f"a mapping of {several}", "others", hint=hint)
    need_predictions(y_prob, several, caller=caller)
    return {"": compute(y_true, y_prob, **options)}


def need_predictions(y_prob: Any, instead: str, *, caller: str) -> None:
    """Raise if there are outcomes without predictions, and no result `instead` of both."""
    if y_prob is None:
        hint = f"pass `y_true` and `y_prob`, or {instead}."
        raise invalid(caller, "y_prob", "given beside `y_true`", "None", hint=hint)


def framed(
    axes: Axes, across: tuple[float, float], up: tuple[float, float], *, names: tuple[str, str]
) -> Any:
    """Set what curves are seen between, name the axes and return the legend above them."""
    axes.set_xlim(*across)
    axes.set_ylim(*up)
    axes.set(xlabel=names[0], ylabel=names[1])
    return legend_above(axes)


def lines_with_bands(
    axes: Axes, style: Style, named: Mapping[str, Any], x: str, y: str
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Draw field `y` of each curve over field `x` with its limits; returns lines and bands."""
    lines: list[Any] = []
    bands = []
    for index, (name, curve) in enumerate(named.items()):
        colour, at = style.colour(index), getattr(curve, x)
        words = [short_name(name, 20), size_text(curve.n_samples)]
        words += [f"{100 * curve.confidence_level:g} % band"] if index == 0 else []
        label = ", ".join(word for word in words if word)
        look = {"color": colour, "linestyle": style.line(index), "linewidth": 1.7, "zorder": 3}
        lines += axes.plot(at, getattr(curve, y), label=label, **look)
        area: dict[str, Any] = {"color": colour, "alpha": 0.2, "linewidth": 0}
        bands.append(axes.fill_between(at, curve.low, curve.high, **area))
    return tuple(lines), tuple(bands)
