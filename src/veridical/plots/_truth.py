"""The true frequency, where a simulation knows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, FloatArray
from veridical._core.validation import check_probabilities, float_array
from veridical.exceptions import invalid
from veridical.plots._style import Style

Truth: TypeAlias = Callable[[FloatArray], ArrayLike] | tuple[ArrayLike, ArrayLike]

_GRID = 201


def true_points(truth: Any, *, caller: str) -> tuple[FloatArray, FloatArray]:
    """Scores and true frequencies of a function, or of a pair of arrays in order of the scores."""
    if callable(truth):
        s: FloatArray = np.linspace(0.0, 1.0, _GRID)
        given = truth(s)
    elif isinstance(truth, (tuple, list)) and len(truth) == 2:
        s = float_array(truth[0], caller=caller, param="truth")
        given = truth[1]
    else:
        hint = "give `truth=lambda s: ...`, or `truth=(s, r)`."
        expected = "a function of the scores or a pair of arrays"
        raise invalid(caller, "truth", expected, type(truth).__name__, hint=hint)
    r = float_array(given, caller=caller, param="truth")
    if r.shape != s.shape or s.ndim != 1:
        hint = "one true frequency is needed for every score."
        got = f"shapes {s.shape} and {r.shape}"
        raise invalid(caller, "truth", "two arrays of the same length", got, hint=hint)
    r = check_probabilities(r, caller=caller, param="truth")
    order = np.argsort(s, kind="stable")
    return s[order], r[order]


def draw_truth(
    ax: Axes, truth: Any, style: Style, *, caller: str, minus_score: bool = False
) -> Any:
    """Line of the true frequency, or of its distance to the score."""
    s, r = true_points(truth, caller=caller)
    y = r - s if minus_score else r
    (line,) = ax.plot(s, y, color=style.ink, linestyle=(0, (4, 1.5, 1, 1.5)), lw=1.4, zorder=3)
    return line
