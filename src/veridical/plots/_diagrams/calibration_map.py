"""What a calibrator does to probabilities: a line for two classes, arrows for three."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from veridical._core.data.labels import find_label
from veridical._core.numeric.triangle import to_plane
from veridical._core.sample import MulticlassSample
from veridical._core.typing import ArrayLike, FloatArray
from veridical.binning import SimplexBins
from veridical.calibrators import Calibrator
from veridical.curves import reliability_curve
from veridical.exceptions import InvalidInputError, invalid
from veridical.lenses.reading import RawData
from veridical.plots._drawing.artists import Artists, Drawn
from veridical.plots._drawing.axes import get_axes, size_text, styled_axes
from veridical.plots._drawing.frame import set_frame
from veridical.plots._drawing.legend import corner_text, text_size
from veridical.plots._drawing.simplex import corner_names, draw_triangle, lattice
from veridical.plots._drawing.style import SMALLEST, Style, marker_areas, style_of
from veridical.results import ReliabilityCurve
from veridical.summaries import VectorSummary, summarise

_STEPS = 1000  # points at which a map is read


@dataclass(frozen=True, repr=False)
class MapLineArtists(Drawn):
    """Artists of the maps of two classes; None for what was not asked for.

    Attributes
    ----------
    ax : the axes drawn on
    lines : map of every calibrator, in order
    reference : the identity
    before : points of the reliability diagram of the predictions
    after : for every calibrator the points after calibration
    legend : the legend
    """

    lines: tuple[Any, ...]
    reference: Any
    before: Any = None
    after: tuple[Any, ...] = ()
    legend: Any = None


def draw_map_lines(
    calibrators: Mapping[str, Calibrator],
    y_true: ArrayLike | None,
    y_prob: ArrayLike | None,
    *,
    n_bins: Any,
    after: bool,
    ax: Any,
    **data: Any,
) -> MapLineArtists:
    """Draw calibrated against given probability of the positive class."""
    axes, style = styled_axes(ax, (4.4, 4.4), caller=_CALLER)
    (reference,) = axes.plot([0, 1], [0, 1], color=style.muted, linewidth=1, zorder=1)
    grid = np.linspace(0.0, 1.0, _STEPS + 1)
    lines: list[Any] = []
    for index, (name, calibrator) in enumerate(calibrators.items()):
        look: dict[str, Any] = {"color": style.colour(index), "linestyle": style.line(index)}
        label = name or type(calibrator).__name__
        y = mapped(calibrator, grid)
        lines += axes.plot(grid, y, linewidth=1.8, zorder=2.5, label=label, **look)
    before, later = None, []
    if y_true is not None:
        data |= {"n_bins": n_bins, "interval": None, "lens": "binary"}
        curve = reliability_curve(y_true, y_prob, **data)
        before = _draw_points(axes, curve, style, style.ink, "given, ")
        for index, calibrator in enumerate(calibrators.values() if after else ()):
            fixed = mapped(calibrator, np.asarray(curve.predicted))
            colour, name = style.colour(index), "" if index else "after"
            later.append(_draw_points(axes, curve, style, colour, name, x=fixed, hollow=True))
    set_frame(axes)
    axes.set(xlabel="given probability", ylabel="calibrated, observed")
    box: dict[str, Any] = {"edgecolor": "none", "facecolor": style.ground, "framealpha": 0.8}
    box |= {"labelcolor": style.ink, "handlelength": 1.8, "borderaxespad": 0.3}
    legend = axes.legend(loc="best", fontsize=text_size(axes), **box)
    return MapLineArtists(axes, tuple(lines), reference, before, tuple(later), legend)


def mapped(calibrator: Calibrator, p: FloatArray) -> FloatArray:
    """Calibrated probability of the positive class."""
    values = p
    if calibrator.input == "logit":
        inside = np.clip(p, 1e-6, 1 - 1e-6)
        values = np.log(inside / (1 - inside))
    return calibrator.predict_proba(values)[:, calibrator.positive_index_]


def _draw_points(
    ax: Axes,
    curve: ReliabilityCurve,
    style: Style,
    colour: str,
    name: str,
    *,
    x: FloatArray | None = None,
    hollow: bool = False,
) -> Any:
    at = curve.predicted if x is None else x
    return ax.scatter(
        at,
        curve.observed,
        s=marker_areas(curve.count, smallest=8, largest=70),
        zorder=3,
        facecolor="none" if hollow else colour,
        edgecolor=colour if hollow else [style.ground],
        linewidth=1.2 if hollow else 0.5,
        clip_on=False,
        label=name if hollow else f"{name}{size_text(curve.n_samples)}",
    )


_SIDE = 80  # steps of the grid a side
_EDGE = 1e-3  # share of the simplex left out at its border
_FINE = 20  # bins per coordinate of the places of predictions


@dataclass(frozen=True, repr=False)
class MapSimplexArtists(Artists):
    """Artists of the heat maps of three classes; one entry a class drawn.

    Attributes
    ----------
    axes : the axes drawn on
    classes : class of each
    heat : change of the class's probability
    zero : line of no change, None where there is none
    places : where the model predicts, None without predictions
    colorbar : key of all heat maps
    size : text with the number of rows, None without predictions
    """

    axes: tuple[Axes, ...]
    classes: tuple[Any, ...]
    heat: tuple[Any, ...]
    zero: tuple[Any, ...]
    places: tuple[Any, ...]
    colorbar: Any
    size: Any = None

    @property
    def figure(self) -> Figure:
        """The figure the first axes are in."""
        return self.axes[0].figure.figure


def draw_map_simplex(
    calibrator: Calibrator,
    y_true: ArrayLike | None,
    y_prob: ArrayLike | None,
    *,
    label: Any,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
    ax: Any,
) -> MapSimplexArtists:
    """Draw calibrated minus given probability, class by class."""
    classes = tuple(calibrator.classes_.tolist())
    shown = [0, 1, 2]
    if label is not None:
        shown = [find_label(label, classes, caller=_CALLER, param="label")]
    axes = _check_axes(ax, len(shown))
    style = style_of(axes[0])
    cells: VectorSummary | None = None
    if y_true is not None:
        data = RawData(
            y_true, y_prob, labels=classes if labels is None else labels, pos_label=pos_label
        )
        problem = data.weighted(sample_weight).through("canonical", caller=_CALLER).problem
        if not isinstance(problem, MulticlassSample):
            hint = "pass the three columns the calibrator takes."
            raise invalid(_CALLER, "y_prob", "of three classes", "two", hint=hint)
        cells = summarise(problem, SimplexBins(_FINE))
    points, triangles = lattice(_SIDE)
    inside = (points + _EDGE) / (1 + 3 * _EDGE)
    values = np.log(inside) if calibrator.input == "logit" else inside
    change = calibrator.predict_proba(values) - inside
    largest = float(np.abs(change[:, shown]).max())
    norm = Normalize(-largest or -0.01, largest or 0.01)
    heat, zero, places = [], [], []
    for panel, k in zip(axes, shown, strict=True):
        draw_triangle(panel, corner_names(classes, longest=12), style, parts=1)
        look: dict[str, Any] = {"cmap": style.diverging, "norm": norm, "zorder": 1}
        heat.append(panel.tripcolor(triangles, change[:, k], rasterized=True, **look))
        zero.append(_zero_line(panel, triangles, change[:, k]))
        places.append(None if cells is None else _draw_places(panel, cells))
        panel.set_title(f"class {classes[k]}", color=style.ink)
    bar = _draw_key(axes, heat[-1])
    size = None
    if cells is not None:
        size = corner_text(axes[0], size_text(cells.count.sum()), style)
    names = tuple(classes[k] for k in shown)
    return MapSimplexArtists(axes, names, tuple(heat), tuple(zero), tuple(places), bar, size)


def _check_axes(ax: Any, count: int) -> tuple[Axes, ...]:
    if count == 1:
        return (get_axes(ax, (4.4, 4.0), caller=_CALLER),)
    if ax is None:
        from matplotlib import pyplot

        _, made = pyplot.subplots(1, count, figsize=(8.4, 3.1), layout="constrained")
        return tuple(made)
    given = tuple(np.ravel(ax)) if isinstance(ax, (np.ndarray, list, tuple)) else (ax,)
    if len(given) != count or not all(isinstance(each, Axes) for each in given):
        hint = "pass `ax=plt.subplots(1, 3)[1]`, or `label=` to draw one class on one axes."
        raise invalid(_CALLER, "ax", f"{count} Axes", f"{len(given)}", hint=hint)
    return given


def _zero_line(ax: Axes, triangles: Any, change: FloatArray) -> Any:
    if not change.min() < 0 < change.max():
        return None  # one sign everywhere, or no change at all
    return ax.tricontour(
        triangles, change, levels=[0.0], colors="#1A1A1A", linewidths=1.3, zorder=2
    )


def _draw_places(ax: Axes, cells: VectorSummary) -> Any:
    x, y = to_plane(cells.mean_p).T
    areas = marker_areas(cells.count, smallest=1.0, largest=22.0)
    return ax.scatter(
        x, y, s=areas, facecolor="#1A1A1A", edgecolor="#F2F2F2", linewidth=0.3, zorder=3
    )


def _draw_key(axes: Iterable[Axes], mappable: Any) -> Any:
    panels = list(axes)
    bar = panels[0].figure.figure.colorbar(
        mappable, ax=panels, shrink=0.75, pad=0.02, fraction=0.05, aspect=18
    )
    bar.set_label("calibrated \N{MINUS SIGN} given", fontsize=SMALLEST)
    bar.ax.tick_params(labelsize=SMALLEST)
    bar.locator = MaxNLocator(5, symmetric=True)
    bar.update_ticks()
    return bar


_CALLER = "calibration_map"


def calibration_map(
    calibrator: Calibrator | Mapping[str, Calibrator],
    y_true: ArrayLike | None = None,
    y_prob: ArrayLike | None = None,
    *,
    label: Any = None,
    after: bool = False,
    n_bins: Any = 15,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    ax: Any = None,
) -> MapLineArtists | MapSimplexArtists:
    """Draw the map of a fitted calibrator: a line for two classes, heat maps for three.

    Parameters
    ----------
    calibrator : fitted calibrator of two or three classes, or mapping of name to calibrator
        Several only for two classes.
    y_true, y_prob : array-like, optional
        Outcomes and uncalibrated predictions. For two classes their reliability diagram is drawn
        as points, which a good map passes through (000 Fig. 3 and 4); for three classes the places
        where the model predicts, outside which the map matters to nobody.
    label : class, optional
        Of three classes draw only this one, on one `ax`.
    after : bool, default False
        For two classes also draw the reliability diagram of the calibrated predictions, hollow:
        it should lie on the diagonal (000 Fig. 4). On the rows the map was fitted to it looks
        better than on others.
    n_bins : int, default 15
        Bins of the reliability diagrams.
    labels, pos_label, sample_weight
        As in :func:`veridical.reliability_curve`; the positive class is that of the calibrator.
    ax : Axes, or sequence of three, optional
        Drawn on; default a new figure.

    Returns
    -------
    MapLineArtists or MapSimplexArtists
        The axes and artists.

    Notes
    -----
    The heat maps show the change of one class's probability, calibrated minus given, at every
    point of the simplex, all on one scale; the line is where nothing changes (000 Fig. 17-20). The
    outermost 0.1 % of the simplex, where logarithms run off, is left out. Calibrators of logits are
    fed the logarithms of the probabilities; those of raw scores cannot be drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from veridical import IdentityCalibrator
    >>> y, p = [0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]
    >>> ax = Figure().subplots()
    >>> drawn = calibration_map(IdentityCalibrator().fit(p, y), y, p, n_bins=2, ax=ax)
    >>> drawn.before.get_offsets().data.tolist()
    [[0.25, 0.5], [0.75, 0.5]]
    """
    named = dict(calibrator) if isinstance(calibrator, Mapping) else {"": calibrator}
    for each in named.values():
        _check(each)
    if (y_true is None) != (y_prob is None):
        hint = "pass both outcomes and predictions, or neither."
        raise invalid(_CALLER, "y_prob", "given together with `y_true`", "one of them", hint=hint)
    if pos_label is None:
        pos_label = next(iter(named.values())).positive_label
    data = {"labels": labels, "pos_label": pos_label, "sample_weight": sample_weight}
    sizes = {len(each.classes_) for each in named.values()}
    if sizes == {2}:
        return draw_map_lines(named, y_true, y_prob, n_bins=n_bins, after=after, ax=ax, **data)
    if sizes == {3} and len(named) == 1:
        (single,) = named.values()
        return draw_map_simplex(single, y_true, y_prob, label=label, ax=ax, **data)
    raise _cannot(sizes, len(named))


def _check(calibrator: Any) -> None:
    if not isinstance(calibrator, Calibrator):
        hint = "pass a fitted calibrator, or a mapping of names to them."
        got = type(calibrator).__name__
        raise invalid(_CALLER, "calibrator", "a calibrator", got, hint=hint)
    if not hasattr(calibrator, "classes_"):
        hint = "call `fit(y_prob, y)` first."
        raise invalid(_CALLER, "calibrator", "fitted", type(calibrator).__name__, hint=hint)
    if calibrator.input == "score":
        hint = "fit it to probabilities or logits to see it as a map of probabilities."
        raise invalid(_CALLER, "calibrator", "of probabilities or logits", "scores", hint=hint)


def _cannot(sizes: set[int], count: int) -> InvalidInputError:
    if max(sizes) <= 3:
        hint = "draw calibrators of three classes one at a time."
        return invalid(_CALLER, "calibrator", "one calibrator", f"{count}", hint=hint)
    hint = "look at single classes with `plots.classwise` before and after instead."
    return invalid(_CALLER, "calibrator", "of two or three classes", f"{max(sizes)}", hint=hint)
