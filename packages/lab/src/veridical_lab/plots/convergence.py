"""How an estimator settles as rows are added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from veridical._core.data.validation import check_level, check_option, float_array, is_number
from veridical.exceptions import invalid
from veridical.plots.drawing import Drawn, legend_above, short_count, short_name, styled_axes
from veridical_lab.arrays import ArrayLike, FloatArray

_CALLER = "convergence"
Estimates = Mapping[int, ArrayLike]


@dataclass(frozen=True, repr=False)
class ConvergenceArtists(Drawn):
    """Artists of a convergence plot.

    Attributes
    ----------
    ax : the axes drawn on
    lines : mean of each estimator, or its root mean squared error, against n
    bands : between the quantiles of its estimates; empty for errors
    truth : line of the truth, or None
    legend : the legend
    """

    lines: tuple[Any, ...]
    bands: tuple[Any, ...]
    truth: Any
    legend: Any


def convergence(
    estimates: Mapping[str, Estimates] | Estimates,
    *,
    truth: float | None = None,
    show: Literal["estimates", "error"] = "estimates",
    confidence_level: float = 0.9,
    ax: Axes | None = None,
) -> ConvergenceArtists:
    """Draw estimates, or their error, against the number of rows.

    Parameters
    ----------
    estimates : mapping of n to estimates, or mapping of name to such mappings
        Repeated estimates for each number of rows, of one or several estimators.
    truth : float, optional
        What is estimated, if it is known.
    show : {"estimates", "error"}, default "estimates"
        Mean and spread of the estimates with the truth as a line; or the root mean squared error,
        which needs `truth`, on logarithmic axes.
    confidence_level : float, default 0.9
        Share of the repetitions inside the band.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    ConvergenceArtists
        The axes and artists.

    Notes
    -----
    A line that approaches the truth from above is a bias that shrinks with n; a band that does not
    shrink is variance. The number of repetitions is in the legend: a mean of few of them wanders
    by itself.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> drawn = convergence({100: [0.3, 0.5], 1000: [0.2, 0.2]}, truth=0.1, show="error",
    ...                     ax=Figure().subplots())
    >>> drawn.lines[0].get_ydata().round(4).tolist()  # root of (.04 + .16) / 2, and 0.1
    [0.3162, 0.1]
    """
    check_option(_CALLER, "show", show, ("estimates", "error"))
    level = check_level(_CALLER, confidence_level)
    if truth is not None and not is_number(truth):
        hint = "pass the number that is estimated."
        raise invalid(_CALLER, "truth", "a finite number", repr(truth), hint=hint)
    if show == "error" and truth is None:
        hint = "pass what is estimated, or draw the estimates."
        raise invalid(_CALLER, "truth", 'given for show="error"', "None", hint=hint)
    series = _check(estimates)
    axes, style = styled_axes(ax, (4.8, 3.6), caller=_CALLER)
    lines: list[Any] = []
    bands = []
    for index, (name, by_size) in enumerate(series.items()):
        n = np.array(sorted(by_size), dtype=np.float64)
        columns = [by_size[size] for size in sorted(by_size)]
        colour = style.colour(index)
        middle = np.array([values.mean() for values in columns])
        if show == "error" and truth is not None:
            middle = np.array([np.sqrt(np.mean((values - truth) ** 2)) for values in columns])
        else:
            tails = ((1 - level) / 2, (1 + level) / 2)
            low, high = np.array([np.quantile(values, tails) for values in columns]).T
            bands.append(axes.fill_between(n, low, high, color=colour, alpha=0.2, linewidth=0))
        label = ", ".join(text for text in (short_name(name, 24), _repetitions(columns)) if text)
        look: dict[str, Any] = {"marker": style.marker(index), "linestyle": style.line(index)}
        look |= {"markersize": 4.5, "linewidth": 1.5, "color": colour}
        lines += axes.plot(n, middle, label=label, **look)
    line = None
    if show == "estimates" and truth is not None:
        line = axes.axhline(truth, color=style.ink, linewidth=1, label=f"truth {truth:.4g}")
    axes.set_xscale("log")
    if show == "error":
        axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    inside = f"mean estimate, {100 * level:g} % band"
    axes.set(xlabel="rows", ylabel="root mean squared error" if show == "error" else inside)
    legend = legend_above(axes, width=2.2)
    return ConvergenceArtists(axes, tuple(lines), tuple(bands), line, legend)


def _check(estimates: Any) -> dict[str, dict[float, FloatArray]]:
    hint = "pass `{n: estimates}`, or `{name: {n: estimates}}`."
    if not isinstance(estimates, Mapping) or not estimates:
        got = type(estimates).__name__
        raise invalid(_CALLER, "estimates", "a mapping that is not empty", got, hint=hint)
    nested = all(isinstance(each, Mapping) for each in estimates.values())
    series: dict[str, dict[float, FloatArray]] = {}
    for name, by_size in estimates.items() if nested else [("", estimates)]:
        if not by_size:
            raise invalid(_CALLER, "estimates", "of some sizes", f"none for {name!r}", hint=hint)
        read: dict[float, FloatArray] = {}
        for size, values in by_size.items():
            if not (is_number(size) and size > 0):
                raise invalid(_CALLER, "estimates", "keyed by rows", repr(size), hint=hint)
            given = [values] if is_number(values) else values
            read[float(size)] = float_array(given, caller=_CALLER, param="estimates").ravel()
            if read[float(size)].size == 0 or not np.isfinite(read[float(size)]).all():
                got = f"others for {size}"
                raise invalid(_CALLER, "estimates", "finite numbers", got, hint=hint)
        series[str(name)] = read
    return series


def _repetitions(columns: list[FloatArray]) -> str:
    low, high = min(map(len, columns)), max(map(len, columns))
    return f"{low:,} repetitions" if low == high else f"{low:,} to {high:,} repetitions"
