"""Reliability of every class: a grid of small diagrams, worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from veridical._core.data.validation import check_option, check_sample, is_integer
from veridical._core.typing import ArrayLike, WeightType
from veridical.binning import Binning
from veridical.exceptions import invalid
from veridical.lenses import ClassSpecific, Classwise, ClasswiseProblem, Confidence, Pooled
from veridical.miscalibration import BinnedError
from veridical.plots._drawing import axes
from veridical.plots._drawing.artists import DiagramArtists, Drawn
from veridical.plots._drawing.axes import short_count, short_name, size_text
from veridical.plots._drawing.diagram import Look, draw_curves
from veridical.plots._drawing.series import (
    PlotOptions,
    Series,
    gather_series,
    options_binning,
    sample_series,
)
from veridical.results import ReliabilityCurve
from veridical.summaries import Summary

Shown = Literal["averaged", "confidence", "classes"]

_CALLER = "classwise"
_LONG = 100_000  # rows from which counts are written short
_LONGEST_NAME = 22
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)  # where zoomed axes may end


@dataclass(frozen=True)
class ClasswiseArtists(Drawn):
    """Artists of a grid of diagrams.

    Attributes
    ----------
    ax : the axes the grid is in; itself the panel if there is only one
    panels : one diagram each, in order
    names : what each panel shows: "averaged", "confidence" or a label
    errors : ECE of each panel, None where unknown
    n_classes : number of classes there are, shown or not
    """

    panels: tuple[DiagramArtists, ...]
    names: tuple[Any, ...]
    errors: tuple[float | None, ...]
    n_classes: int


@dataclass(frozen=True)
class _Panel:
    name: Any
    series: Series
    title: str
    rows: str


def classwise(
    y_true: Any,
    y_prob: Any = None,
    *,
    ax: Axes | None = None,
    show: Sequence[Shown] = ("averaged", "confidence", "classes"),
    max_classes: int = 10,
    style: Literal["line", "bars"] = "line",
    gaps: bool = False,
    zoom: bool = False,
    method: Literal["bins", "isotonic", "density", "smooth"] = "bins",
    n_bins: Any = 15,
    strategy: Literal["uniform", "quantile"] = "uniform",
    binning: Binning | None = None,
    interval: str | None = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> ClasswiseArtists:
    """Draw a small reliability diagram for every class, the worst first.

    Parameters
    ----------
    y_true : array-like, or mapping of label to ReliabilityCurve or Evaluation
        Labels; or a finished result for every class, drawn in their order, and then no `y_prob`.
    y_prob : array-like of shape (n, K), optional
        Probability of every class.
    ax : matplotlib Axes, optional
        Where to draw: the grid takes its place, and some 1.4 inches a panel are good. Default a
        new figure, as large as the grid needs.
    show : sequence of "averaged", "confidence" and "classes"
        Panels, in this order. "averaged" throws all n x K pairs of a class's probability and its
        occurrence into one diagram (survey, section 2.3); "confidence" is of the most probable
        class; "classes" are those of single classes against the rest.
    max_classes : int, default 10
        How many classes are shown at most, by decreasing ECE.
    style, gaps
        As in :func:`reliability`.
    zoom : bool
        End all axes at the largest probability shown rather than at 1: for many classes, whose
        probabilities are small.
    method, n_bins, strategy, binning, interval, confidence_level, n_resamples
        As in :func:`reliability_curve`, for raw data only.
    labels, sample_weight, weight_type
        The same.
    rng : int, Generator or None
        Seed; None is a fixed seed here: the same data give the same picture.

    Returns
    -------
    ClasswiseArtists
        The panels with their curves, names and errors.

    Notes
    -----
    The worst of many classes looks bad in a calibrated model too: it was chosen for that. Rare
    classes have small probabilities, so their rows crowd near zero and their ECE is small even if
    predictions are off by a factor; ``strategy="quantile"`` spreads them over the bins. In the
    averaged diagram errors of classes can cancel, and its limits take the K pairs of a row for
    independent. Time O(n K) for the ECE of all classes, and that
    of :func:`reliability_curve` for those shown.

    References
    ----------
    .. [1] Silva Filho et al. (2023), survey, sections 2.3 and 4.1, doi 10.1007/s10994-023-06336-7.
    .. [2] Kull et al. (2019), NeurIPS 32, arXiv 1910.12656.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> p = [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0], [0.0, 0.25, 0.75], [0.75, 0.0, 0.25]]
    >>> drawn = classwise([0, 1, 2, 2], p, show=["classes"], n_bins=2, ax=Figure().subplots())
    >>> drawn.names, drawn.errors
    ((2, 0, 1), (0.25, 0.1875, 0.1875))
    """
    check_option(_CALLER, "style", style, ("line", "bars"))
    wanted = [show] if isinstance(show, str) else list(show)
    for part in wanted:
        check_option(_CALLER, "show", part, ("averaged", "confidence", "classes"))
    if not wanted or not is_integer(max_classes) or max_classes < 1:
        name, got = ("show", "nothing") if not wanted else ("max_classes", repr(max_classes))
        expected = "one panel or more" if not wanted else "an integer of at least 1"
        raise invalid(_CALLER, name, expected, got, hint="leave it out for the default.")
    options = PlotOptions.of(locals())
    if y_prob is None:
        panels, note, n_classes = _panels_of_results(y_true, options, max_classes)
    else:
        panels, note, n_classes = _panels_of_rows(y_true, y_prob, options, wanted, max_classes)
    alone = len(panels) == 1
    look = Look(bars=style == "bars", gaps=gaps, scale=1.0 if alone else 0.5)
    look.check([panel.series for panel in panels], caller=_CALLER)
    ax = axes.get_axes(ax, axes.figure_size(len(panels)), caller=_CALLER)
    grid = axes.make_panels(ax, len(panels))
    drawn = tuple(
        _draw_panel(place, panel, look) for place, panel in zip(grid.axes, panels, strict=True)
    )
    top = max(_largest(panel.series.curve) for panel in panels) if zoom else 1.0
    axes.label_grid(grid, x="predicted probability", y="observed frequency", note=note, top=top)
    return ClasswiseArtists(
        ax=ax,
        panels=drawn,
        names=tuple(panel.name for panel in panels),
        errors=tuple(
            None if panel.series.error is None else panel.series.error.value for panel in panels
        ),
        n_classes=n_classes,
    )


def _panels_of_results(
    results: Any, options: PlotOptions, max_classes: int
) -> tuple[list[_Panel], str, int]:
    if not isinstance(results, Mapping):
        hint = "give `y_prob`, or `plots.reliability` for one curve."
        expected = "labels with `y_prob`, or a mapping of label to result"
        raise invalid(_CALLER, "y_true", expected, type(results).__name__, hint=hint)
    series = gather_series(results, None, options, caller=_CALLER, detail=None)
    panels = [
        _Panel(label, one, str(label), size_text(one.curve.n_samples))
        for label, one in zip(results, series[:max_classes], strict=False)
    ]
    left_out = len(series) > len(panels)
    note = f"first {len(panels)} of {len(series)} classes" if left_out else ""
    return panels, note, len(series)


def _panels_of_rows(
    y_true: Any, y_prob: Any, options: PlotOptions, wanted: list[Any], max_classes: int
) -> tuple[list[_Panel], str, int]:
    sample = check_sample(
        y_true,
        y_prob,
        caller=_CALLER,
        labels=options.labels,
        sample_weight=options.sample_weight,
        weight_type=options.weight_type,
    )
    problem = Classwise().induce(sample)
    several = problem.sample
    n, classes = len(several.y), several.classes
    panels: list[_Panel] = []
    note = size_text(n)
    for part in wanted:
        if part == "classes":
            order = _worst_first(problem, options)
            for k in order[:max_classes]:
                one = problem.problem(int(k))
                label = classes[k]
                lens = ClassSpecific(label)
                made = sample_series("", one, lens, classes, options, detail="value")
                rows = f"{_count(one.y.sum())} of {_count(n)}"
                panels.append(_Panel(label, made, str(label), rows))
            if len(classes) > max_classes:
                note += f"; the {max_classes} classes of {len(classes)} with the largest ECE"
            elif len(classes) > 1:
                note += "; classes by decreasing ECE"
            continue
        shown = Pooled() if part == "averaged" else Confidence()
        induced = shown.induce(several)
        made = sample_series("", induced, shown, classes, options, detail="value")
        title, unit = ("all classes", "pairs") if part == "averaged" else ("confidence", "rows")
        panels.append(_Panel(part, made, title, f"{_count(induced.n)} {unit}"))
    return panels, note, len(classes)


def _worst_first(problem: ClasswiseProblem, options: PlotOptions) -> Any:
    """Indices of the classes by decreasing ECE, equal ones in column order."""
    estimator = BinnedError(options_binning(options))
    summary = estimator.summarise(problem)
    assert isinstance(summary, Summary)
    return np.argsort(-estimator.each(summary), kind="stable")


def _count(rows: float) -> str:
    """Write a count in full, or short where titles of panels would meet."""
    return f"{int(rows):,}" if rows < _LONG else short_count(rows)


def _largest(curve: ReliabilityCurve) -> float:
    """Largest probability drawn, rounded up to one of few steps."""
    limits = curve.observed if curve.high is None else np.maximum(curve.high, curve.observed)
    reached = max(float(curve.predicted.max()), float(limits.max()))
    return next((step for step in _STEPS if step >= reached), 1.0)


def _draw_panel(ax: Axes, panel: _Panel, look: Look) -> DiagramArtists:
    diagonal, curves = draw_curves(ax, [panel.series], look)
    error = panel.series.error
    below = panel.rows if error is None else f"{panel.rows}, ECE {error.value:.3f}"
    ax.set_title(
        f"{short_name(panel.title, _LONGEST_NAME)}\n{below}", loc="left", fontsize="x-small", pad=3
    )
    return DiagramArtists(ax=ax, curves=tuple(curves), reference=diagonal)
