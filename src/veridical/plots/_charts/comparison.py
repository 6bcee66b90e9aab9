"""Several models beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes

from veridical._core.data.validation import check_option
from veridical.exceptions import invalid
from veridical.plots._drawing.artists import Drawn
from veridical.plots._drawing.axes import short_name, size_text, styled_axes
from veridical.plots._drawing.forest import draw_forest, forest_size
from veridical.plots._drawing.style import SMALLEST
from veridical.results import Comparison
from veridical.results.base import say_pvalue

_CALLER = "comparison"


@dataclass(frozen=True, repr=False)
class ComparisonArtists(Drawn):
    """Artists of a comparison.

    Attributes
    ----------
    ax : the axes drawn on
    points, lines : estimates and their intervals, one a row
    nulls : what calibrated models with these predictions would show, 95 % of the time; for errors
    reference : line of no difference; for differences
    notes : p-values beside the rows
    """

    points: Any
    lines: Any
    nulls: Any = None
    reference: Any = None
    notes: tuple[Any, ...] = ()


def comparison(
    result: object,
    *,
    show: Literal["errors", "differences"] = "errors",
    figure: str = "brier",
    ax: Axes | None = None,
) -> ComparisonArtists:
    """Draw the calibration errors of models, or their paired differences, with intervals.

    Parameters
    ----------
    result : Comparison
        Of :func:`veridical.compare`.
    show : {"errors", "differences"}, default "errors"
        Errors: each model's calibration error and interval over a grey bar, up to which 95 % of
        the errors of a calibrated model with the same predictions would lie, with the p-value of
        the consistency test. Differences: one row a pair, first minus second.
    figure : str, default "brier"
        Of which figure differences are drawn; the comparison lists them.
    ax : Axes, optional
        Drawn on; default a new figure.

    Returns
    -------
    ComparisonArtists
        The axes and artists.

    Notes
    -----
    Errors of two models do not compare by their points: each has a grey bar of its own (002
    section 4.3), and overlapping intervals of single models say little about their difference,
    because both saw the same rows. Differences are paired, with p-values adjusted for the number
    of pairs (Holm); an interval by itself is not adjusted.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from veridical import compare
    >>> y = [0, 0, 1, 1] * 25
    >>> models = {"sharp": [0.0, 0.2, 0.8, 1.0] * 25, "dull": [0.4, 0.4, 0.6, 0.6] * 25}
    >>> drawn = comparison(compare(models, y, n_bins=2), show="differences",
    ...                    ax=Figure().subplots())
    >>> drawn.points.get_offsets().data.round(4).tolist()  # 0.02 - 0.16 in the first row
    [[-0.14, 0.0]]
    """
    check_option(_CALLER, "show", show, ("errors", "differences"))
    if not isinstance(result, Comparison):
        hint = "pass what `veridical.compare` returns."
        raise invalid(_CALLER, "result", "a Comparison", type(result).__name__, hint=hint)
    if show == "errors":
        return _draw_errors(result, ax)
    known = list(dict.fromkeys(d.difference.estimator for d in result.differences))
    check_option(_CALLER, "figure", figure, known)
    return _draw_differences(result, figure, ax)


def _draw_errors(result: Comparison, ax: Any) -> ComparisonArtists:
    axes, style = styled_axes(ax, forest_size(len(result.models)), caller=_CALLER)
    errors = [evaluation.default for evaluation in result.evaluations]
    rows = range(len(errors))
    ends = [0.0 if e.null_q95 is None else e.null_q95 for e in errors]
    nulls = axes.barh(rows, ends, height=0.62, color=style.faint, zorder=1)
    limits = [None if e.low is None or e.high is None else (e.low, e.high) for e in errors]
    notes = [_pvalue(test.pvalue) for test in result.tests]
    points, lines, texts = draw_forest(
        axes,
        _names(result),
        [e.value for e in errors],
        limits,
        style,
        colours=[style.colour(0)] * len(errors),
        notes=notes,
    )
    axes.set_xlim(left=0)
    _label(axes, errors[0].name, result, "grey: 95 % if calibrated")
    return ComparisonArtists(axes, points, lines, nulls=nulls, notes=texts)


def _draw_differences(result: Comparison, figure: str, ax: Any) -> ComparisonArtists:
    shown = [d for d in result.differences if d.difference.estimator == figure]
    axes, style = styled_axes(ax, forest_size(len(shown) + 1), caller=_CALLER)
    reference = axes.axvline(0.0, color=style.muted, linewidth=1, zorder=2)
    limits = [(d.difference.low, d.difference.high) for d in shown]
    clear = [d.adjusted <= 1 - result.confidence_level for d in shown]
    points, lines, texts = draw_forest(
        axes,
        [f"{short_name(d.first, 16)}\n\N{MINUS SIGN} {short_name(d.second, 16)}" for d in shown],
        [d.difference.estimate for d in shown],
        limits,
        style,
        colours=[style.colour(0) if sure else style.muted for sure in clear],
        notes=[_pvalue(d.adjusted) for d in shown],
    )
    _label(axes, f"difference in {figure}", result, "below 0: first is better")
    return ComparisonArtists(axes, points, lines, reference=reference, notes=texts)


def _names(result: Comparison) -> list[str]:
    return [short_name(model, 18) for model in result.models]


def _pvalue(pvalue: float) -> str:
    return say_pvalue(pvalue) if pvalue >= 1e-6 else "p < 1e-6"


def _label(ax: Axes, name: str, result: Comparison, hint: str) -> None:
    level = f"{100 * result.confidence_level:g} % intervals"
    ax.set_xlabel(f"{name}\n({level})")
    ax.set_title(f"{size_text(result.n_samples)}\n{hint}", fontsize=SMALLEST, loc="left")
