"""Calibration as a goal of scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from veridical._core.typing import ArrayLike
from veridical.binning import QuantileBins, SweepBins, UniformBins
from veridical.exceptions import invalid, unknown_option
from veridical.miscalibration import (
    BinnedError,
    BrierScore,
    CumulativeError,
    DensityError,
    Estimator,
    IsotonicError,
    KernelError,
    LogScore,
    SmoothError,
    SphericalScore,
    ZeroOneLoss,
)

_MEASURES: dict[str, Callable[[], Estimator]] = {
    "log": LogScore,
    "brier": BrierScore,
    "spherical": SphericalScore,
    "zero-one": ZeroOneLoss,
    "ece": BinnedError,
    "ece equal-mass": lambda: BinnedError(QuantileBins(15)),
    "ece sweep": lambda: BinnedError(SweepBins()),
    "ece debiased": lambda: BinnedError(debias=True),
    "rmsce": lambda: BinnedError(norm=2),
    "rmsce debiased": lambda: BinnedError(UniformBins(15), norm=2, debias=True),
    "mce": lambda: BinnedError(norm="max"),
    "smooth": SmoothError,
    "isotonic": IsotonicError,
    "density": DensityError,
    "kernel": KernelError,
    "ks": CumulativeError,
}
_SAME = {
    "neg log loss": "log",
    "log loss": "log",
    "logscore": "log",
    "neg brier score": "brier",
    "brier score": "brier",
    "smece": "smooth",
}


class CalibrationScorer(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A scorer as scikit-learn takes it: called with a fitted model, rows and outcomes.

    Made by `scorer`. The model's `predict_proba` is asked, its columns are read in the order of
    its `classes_`, and the sign is turned, so that greater is better.

    Parameters
    ----------
    measure : Estimator
        The score or calibration error.
    lens, pos_label
        As in `evaluate`.

    Examples
    --------
    A model that always says one half: (1/2)^2, with the sign turned.

    >>> from sklearn.dummy import DummyClassifier
    >>> half = DummyClassifier(strategy="prior").fit([[0], [0]], [0, 1])
    >>> CalibrationScorer(BrierScore())(half, [[0], [0]], [0, 1])
    -0.25
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = {"estimator": UNUSED}

    def __init__(self, measure: Estimator, *, lens: Any = None, pos_label: Any = None) -> None:
        self.measure = measure
        self.lens = lens
        self.pos_label = pos_label

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> float:
        """Minus the figure of a fitted model; `score` by another name."""
        return self.score(estimator, X, y, sample_weight=sample_weight)

    def score(
        self, estimator: Any, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> float:
        """Minus the figure of a fitted model on rows `X` and outcomes `y`."""
        if not hasattr(estimator, "predict_proba"):
            hint = "calibrate it first, e.g. with `CalibratedClassifier(model)`."
            got = type(estimator).__name__
            raise invalid("scorer", "estimator", "one with `predict_proba`", got, hint=hint)
        value = self.measure(
            y,
            estimator.predict_proba(X),
            lens=self.lens,
            labels=getattr(estimator, "classes_", None),
            pos_label=self.pos_label,
            sample_weight=sample_weight,
        )
        return -value

    def _accept_sample_weight(self) -> bool:
        """scikit-learn asks when several scorers share their weights."""
        return True


def scorer(
    measure: str | Estimator | Any = "log", *, lens: Any = None, pos_label: Any = None
) -> CalibrationScorer:
    """Score or calibration error as a `scoring=` of scikit-learn; greater is better.

    Parameters
    ----------
    measure : str or Estimator, default "log"
        "log", "brier", "spherical" or "zero-one" are mean scores of the whole prediction; "ece"
        (15 bins of equal width), "ece equal-mass", "ece sweep", "ece debiased", "rmsce",
        "rmsce debiased", "mce", "smooth", "isotonic", "density", "kernel" and "ks" are calibration
        errors. Or an object with parameters of its own, such as ``BinnedError(QuantileBins(10))``.
    lens : lens, name or callable, optional
        Of models of several classes: by default scores look at the whole prediction and errors
        through the confidence; ``"classwise"`` is the mean over classes.
    pos_label : label, optional
        The positive class of two; default the last of the model's `classes_`.

    Returns
    -------
    CalibrationScorer
        For `cross_validate`, `cross_val_score`, `GridSearchCV` and whatever else takes `scoring`.
        With metadata routing, ``scorer(...).set_score_request(sample_weight=True)`` gets weights.

    Notes
    -----
    A calibration error alone is met by a model that always predicts the base rate: choose models
    by a proper score ("log", "brier") and look at errors beside it. Errors of small folds are
    biased upwards; "ece debiased" is less so.

    ``scorer("log")`` equals scikit-learn's ``"neg_log_loss"`` where no predicted probability of
    what happened is 0 (there it is infinite), and folds may lack a class. ``scorer("brier")``
    equals ``"neg_brier_score"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000)
    >>> bool((cross_val_score(model, X, y, scoring=scorer("brier")) < 0).all())
    True
    """
    if isinstance(measure, str):
        name = " ".join(measure.casefold().replace("_", " ").split())
        name = _SAME.get(name, name)
        alike = {each.replace("-", " "): each for each in _MEASURES}
        known = alike.get(name.replace("-", " "))
        if known is None:
            raise unknown_option("scorer", "measure", measure, _MEASURES)
        measure = _MEASURES[known]()
    elif not isinstance(measure, Estimator):
        hint = "give a name or an estimator, e.g. `BinnedError()`."
        got = repr(type(measure).__name__)
        raise invalid("scorer", "measure", "a name or an `Estimator`", got, hint=hint)
    return CalibrationScorer(measure, lens=lens, pos_label=pos_label)
