"""What a calibrator does to probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical._core.typing import ArrayLike
from veridical.calibrators import Calibrator
from veridical.exceptions import InvalidInputError, invalid
from veridical.plots._calibration_map_line import MapLineArtists, draw_map_lines
from veridical.plots._calibration_map_simplex import MapSimplexArtists, draw_map_simplex

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
        As in :func:`veridical.reliability_curve`.
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
