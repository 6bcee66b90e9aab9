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
from veridical.plots._drawing.frame import AXES, AxisChoice, frame_of
from veridical.plots._drawing.series import (
    PlotOptions,
    Series,
    gather_series,
    options_binning,
    sample_series,
)
from veridical.plots._drawing.style import SMALLEST
from veridical.plots._drawing.titled import add_legend_above
from veridical.summaries import Summary

Shown = Literal["averaged", "confidence", "classes"]

_CALLER = "classwise"
_LONG = 100_000  # rows from which counts are written short
_LONGEST_NAME = 22
_NARROW = 1.9  # inches a panel, below which the number of rows finds no room


@dataclass(frozen=True, repr=False)
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
    series: list[Series]
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
    axis: AxisChoice = "auto",
    method: Literal["bins", "isotonic", "density", "smooth"] | None = None,
    n_bins: Any = None,
    strategy: Literal["uniform", "quantile"] | None = None,
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
    y_prob : array-like of shape (n, K) or mapping of name to these, optional
        Probability of every class, of one model or of several on the same rows.
    ax : matplotlib Axes, optional
        Where to draw: the grid takes its place, and some 1.4 inches a panel are good. Default a
        new figure, as large as the grid needs.
    show : sequence of "averaged", "confidence" and "classes"
        Panels, in this order. "averaged" throws all n x K pairs of a class's probability and its
        occurrence into one diagram (survey, section 2.3); "confidence" is of the most probable
        class; "classes" are those of single classes against the rest.
    max_classes : int, default 10
        How many classes are shown at most, by decreasing ECE, of several models by the largest; a
        hundred find room in a figure.
    style, gaps
        As in :func:`reliability`.
    axis : {"auto", "unit", "linear", "logit"}
        Ends of the axes of each panel, as in :func:`reliability`: where its predictions are, or
        all of [0, 1].
    method, n_bins, strategy, binning, interval, confidence_level, n_resamples
        As in :func:`reliability`, for raw data only.
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
    predictions are off by a factor. In the
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
    check_option(_CALLER, "axis", axis, AXES)
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
    look = Look(bars=style == "bars", gaps=gaps)
    look.check([one for panel in panels for one in panel.series], caller=_CALLER)
    own = ax is None
    ax = axes.get_axes(ax, axes.figure_size(len(panels)), caller=_CALLER)
    grid = axes.make_panels(ax, len(panels), own=own)
    narrow = not alone and ax.figure.figure.get_figwidth() / grid.n_columns < _NARROW
    drawn = tuple(
        _draw_panel(place, panel, look, axis, alone=alone, narrow=narrow)
        for place, panel in zip(grid.axes, panels, strict=True)
    )
    alike = axis == "unit"
    axes.label_grid(grid, x="predicted probability", y="observed frequency", note=note, alike=alike)
    if len(panels[0].series) > 1:
        first = drawn[0].curves
        handles = [one.line if one.line is not None else one.bars for one in first]
        names = [short_name(one.name, _LONGEST_NAME) for one in first]
        top = drawn[0].ax
        add_legend_above(top, handles, names, ncols=len(names), frameon=False)
    return ClasswiseArtists(
        ax=ax,
        panels=drawn,
        names=tuple(panel.name for panel in panels),
        errors=tuple(_largest_error(panel) for panel in panels),
        n_classes=n_classes,
    )


def _largest_error(panel: _Panel) -> float | None:
    known = [one.error.value for one in panel.series if one.error is not None]
    return max(known) if known else None


def _panels_of_results(
    results: Any, options: PlotOptions, max_classes: int
) -> tuple[list[_Panel], str, int]:
    if not isinstance(results, Mapping):
        hint = "give `y_prob`, or `plots.reliability` for one curve."
        expected = "labels with `y_prob`, or a mapping of label to result"
        raise invalid(_CALLER, "y_true", expected, type(results).__name__, hint=hint)
    series = gather_series(results, None, options, caller=_CALLER, detail=None)
    panels = [
        _Panel(label, [one], str(label), size_text(one.curve.n_samples))
        for label, one in zip(results, series[:max_classes], strict=False)
    ]
    left_out = len(series) > len(panels)
    note = f"first {len(panels)} of {len(series)} classes" if left_out else ""
    return panels, note, len(series)


def _panels_of_rows(
    y_true: Any, y_prob: Any, options: PlotOptions, wanted: list[Any], max_classes: int
) -> tuple[list[_Panel], str, int]:
    models = y_prob if isinstance(y_prob, Mapping) else {"": y_prob}
    if not models:
        hint = 'give {"name": y_prob}.'
        raise invalid(_CALLER, "y_prob", "one model or more", "an empty mapping", hint=hint)
    problems = {
        str(name): Classwise().induce(
            check_sample(
                y_true,
                given,
                caller=_CALLER,
                labels=options.labels,
                sample_weight=options.sample_weight,
                weight_type=options.weight_type,
            )
        )
        for name, given in models.items()
    }
    several = next(iter(problems.values())).sample
    n, classes = len(several.y), several.classes
    panels: list[_Panel] = []
    note = size_text(n)
    for part in wanted:
        if part == "classes":
            order = _worst_first(list(problems.values()), options)
            for k in order[:max_classes]:
                label = classes[k]
                parts = {name: problem.problem(int(k)) for name, problem in problems.items()}
                made = _series(parts, ClassSpecific(label), classes, options)
                one = next(iter(parts.values()))
                rows = f"{_count(one.y.sum())} of {_count(n)}"
                panels.append(_Panel(label, made, str(label), rows))
            if len(classes) > max_classes:
                note += f"; the {max_classes} classes of {len(classes)} with the largest ECE"
            elif len(classes) > 1:
                note += "; classes by decreasing ECE"
            continue
        shown = Pooled() if part == "averaged" else Confidence()
        parts = {name: shown.induce(problem.sample) for name, problem in problems.items()}
        made = _series(parts, shown, classes, options)
        title, unit = ("all classes", "pairs") if part == "averaged" else ("confidence", "rows")
        size = next(iter(parts.values())).n
        panels.append(_Panel(part, made, title, f"{_count(size)} {unit}"))
    return panels, note, len(classes)


def _series(
    parts: Mapping[str, Any], lens: Any, classes: tuple[Any, ...], options: PlotOptions
) -> list[Series]:
    """The curve of each model through one lens."""
    return [
        sample_series(name, sample, lens, classes, options, detail="value")
        for name, sample in parts.items()
    ]


def _worst_first(problems: Sequence[ClasswiseProblem], options: PlotOptions) -> Any:
    """Indices of the classes by decreasing ECE, the largest of all models, then column order."""
    estimator = BinnedError(options_binning(options))
    largest: Any = 0.0
    for problem in problems:
        summary = estimator.summarise(problem)
        assert isinstance(summary, Summary)
        largest = np.maximum(largest, estimator.each(summary))
    return np.argsort(-largest, kind="stable")


def _count(rows: float) -> str:
    """Write a count in full, or short where titles of panels would meet."""
    return f"{int(rows):,}" if rows < _LONG else short_count(rows)


def _draw_panel(
    ax: Axes, panel: _Panel, look: Look, axis: AxisChoice, *, alone: bool, narrow: bool
) -> DiagramArtists:
    curves = [(one.curve, one.display) for one in panel.series]
    frame = frame_of(curves, axis, from_zero=look.bars)
    most = 7 if alone else 4
    diagonal, drawn = draw_curves(ax, panel.series, look, frame, most=most)
    errors = [f"{one.error.value:.3f}" for one in panel.series if one.error is not None]
    name = short_name(panel.title, _LONGEST_NAME if not narrow else 14)
    if narrow and errors:
        lines = [name, f"ECE {errors[0]}"]
    elif len(errors) > 1:
        lines = [f"{name}, {panel.rows}", f"ECE {' / '.join(errors)}"]
    else:
        lines = [name, f"{panel.rows}, ECE {errors[0]}" if errors else panel.rows]
    ax.set_title("\n".join(lines), loc="left", fontsize=SMALLEST, pad=3)
    return DiagramArtists(ax=ax, curves=tuple(drawn), reference=diagonal)
