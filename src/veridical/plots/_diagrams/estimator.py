"""Reliability of fitted classifiers on rows of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from veridical._core.typing import ArrayLike, WeightType
from veridical.exceptions import invalid
from veridical.plots._diagrams.reliability import reliability
from veridical.plots._drawing.artists import DiagramArtists

_CALLER = "from_estimator"


def from_estimator(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    lens: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
    ax: Axes | None = None,
) -> DiagramArtists:
    """Draw the reliability of a fitted classifier, or of several by name, on the same rows.

    Parameters
    ----------
    estimator : classifier or mapping of name to classifier
        Fitted, with `predict_proba`; its columns are read in the order of its `classes_`.
    X : array-like
        Rows the classifier was not fitted to.
    y : array-like of shape (n,)
        Their outcomes.
    lens, pos_label, sample_weight, weight_type, ax
        As in :func:`reliability`, which has more options: give it ``y`` and
        ``model.predict_proba(X)``.

    Returns
    -------
    DiagramArtists
        The axes, the artists of every curve and the curves themselves.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> drawn = from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> drawn.ax.get_ylabel()
    "observed frequency of y = 'yes'"
    """
    models = estimator if isinstance(estimator, Mapping) else {"": estimator}
    for model in models.values():
        if not hasattr(model, "predict_proba"):
            hint = "calibrate it first, e.g. with `CalibratedClassifier(model)`."
            expected, got = "fitted, with `predict_proba`", type(model).__name__
            raise invalid(_CALLER, "estimator", expected, got, hint=hint)
    orders = [list(model.classes_) for model in models.values()]
    if any(order != orders[0] for order in orders):
        hint = "fit all of them to the same labels."
        raise invalid(_CALLER, "estimator", "models of the same classes", "others", hint=hint)
    predictions: Any = {name: model.predict_proba(X) for name, model in models.items()}
    return reliability(
        y,
        predictions if isinstance(estimator, Mapping) else predictions[""],
        lens=lens,
        labels=orders[0] if orders else None,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
        ax=ax,
    )
