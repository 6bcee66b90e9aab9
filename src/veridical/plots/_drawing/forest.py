"""Rows of estimates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from veridical.plots._drawing.style import SMALLEST, Style

_SIDES, _TICK = 1.2, 0.55  # inches of names and notes, and of a number under the axis
_STEPS = (1, 2, 2.5, 5, 10)


def forest_size(rows: int) -> tuple[float, float]:
    """Figure size for that many rows."""
    return 5.4, min(1.3 + 0.34 * rows, 9.0)


def draw_forest(
    ax: Axes,
    names: Sequence[str],
    estimates: Sequence[float],
    limits: Sequence[tuple[float, float] | None],
    style: Style,
    *,
    colours: Sequence[str],
    notes: Sequence[str] = (),
) -> tuple[Any, Any, tuple[Any, ...]]:
    """Draw points, lines between limits, and notes to the right; the first row is on top."""
    at = np.arange(len(names))
    known = [i for i, pair in enumerate(limits) if pair is not None]
    low, high = np.array([limits[i] for i in known], dtype=np.float64).reshape(-1, 2).T
    lines = ax.hlines(known, low, high, colors=[colours[i] for i in known], linewidth=1.8, zorder=3)
    points = ax.scatter(
        estimates, at, s=34, c=list(colours), edgecolors=[style.ground], linewidths=0.6, zorder=4
    )
    size = SMALLEST
    ax.set_yticks(at, names, fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    inches = ax.get_position(original=True).width * ax.figure.figure.get_figwidth()
    ax.xaxis.set_major_locator(MaxNLocator(max(2, int((inches - _SIDES) / _TICK)), steps=_STEPS))
    beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "ha": "left"}
    texts = tuple(ax.text(1.01, i, note, fontsize=size, **beside) for i, note in enumerate(notes))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return points, lines, texts
