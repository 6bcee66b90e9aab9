"""The table of sufficient statistics of any data."""

from __future__ import annotations

from typing import Any, Literal

from veridical._core.typing import ArrayLike
from veridical._core.validation import is_integer
from veridical.evaluation._pushed import Request
from veridical.exceptions import invalid
from veridical.frames._grid import RESOLUTION
from veridical.summaries._grid import GridSummary

_CALLER = "grid_summary"


def grid_summary(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: str | list[str] | tuple[str, ...] | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: int = 15,
    sample_weight: Any = None,
    by: Any = None,
    resolution: int = RESOLUTION,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> GridSummary:
    """Sum up rows once, so that everything can be asked of the sums later.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight, by
        As in :func:`evaluate`: arrays, or a frame, query or file with column names.
    lens : lens or name, optional
        What the summary is to answer. Two classes: "binary" (default), "confidence", "classwise"
        or ``ClassSpecific(label)``. More classes: any of the last three, whichever is given.
    n_bins : int, default 15
        Equal-width bins whose sums are exact, and with them those of any divisor of their number.
    resolution : int, default 2048
        Cells are no wider than 1/resolution in probability, and 64/resolution in log-odds; a
        multiple of 64.
    engine : {"auto", "memory", "pushdown"}
        Who sums up: the engine of a query or a large file, or this process; "pushdown" asks the
        engine of any frame or file.

    Returns
    -------
    GridSummary
        `print` it, save it, merge it with others made alike, and pass it to :func:`evaluate` or
        :func:`calibration_tests`.

    Notes
    -----
    One pass, O(n) for each problem; at most about 4.5 x `resolution` entries for each problem and
    group, whatever n is. Summaries can be merged only if they were made with the same classes: pass
    `labels` where a part may lack one.

    Examples
    --------
    >>> summary = grid_summary([0, 1, 1, 1], [0.25, 0.25, 0.75, 1.0], n_bins=2)
    >>> summary.n_samples, summary.problems
    (4, ('binary',))
    >>> from veridical.binning import UniformBins
    >>> summary.summary(UniformBins(2)).sum_wy.tolist()
    [[1.0, 2.0]]
    """
    if not (is_integer(n_bins) and n_bins >= 1):
        hint = "bins must be known before the rows are; 15 is the default."
        raise invalid(_CALLER, "n_bins", "a positive integer", repr(n_bins), hint=hint)
    if not (is_integer(resolution) and resolution >= 64 and resolution % 64 == 0):
        hint = f"{RESOLUTION} is the default."
        raise invalid(_CALLER, "resolution", "a multiple of 64", repr(resolution), hint=hint)
    request = Request(
        y_true=y_true,
        y_prob=y_prob,
        y=y,
        prob=prob,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        n_bins=int(n_bins),
        sample_weight=sample_weight,
        by=by,
        caller=_CALLER,
        resolution=int(resolution),
    )
    return request.summed(engine).grid
