"""Pairs of a fitted model and a map fitted to what it said of other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.data.validation import check_option, is_integer
from veridical._core.typing import Array, FloatArray, IntArray, WeightType
from veridical.calibrators import BoostedCalibrator, Calibrator, SegmentCalibrator
from veridical.calibrators.core import FeatureCalibrator, Notes, fit_settled
from veridical.exceptions import invalid, warn_of
from veridical.frames.inputs import feature_columns
from veridical.selection._auto.auto import calibrator_named, for_classes
from veridical.selection._classifier.response import (
    Reading,
    Wish,
    choose_reading,
    read,
    to_probabilities,
)
from veridical.selection._classifier.splits import Split
from veridical.selection._classifier.target import ClassifierTarget, LabelwiseMaps

CALLER = "CalibratedClassifier"
RESPONSES = ("auto", "probability", "decision")


@dataclass(frozen=True)
class Pair:
    """A fitted model with its map.

    Attributes
    ----------
    estimator : the model
    calibrator : Calibrator, or LabelwiseMaps for several labels a row
    reading : Reading, what of the model the map takes
    features : "X" or columns of X that the map uses as features; None for none
    """

    estimator: Any
    calibrator: Calibrator | LabelwiseMaps
    reading: Reading
    features: Any = None

    def predict_proba(self, X: Any, classes: Array) -> FloatArray:
        """Calibrated probabilities of rows."""
        multilabel = isinstance(self.calibrator, LabelwiseMaps)
        values = read(self.estimator, X, self.reading, classes, multilabel=multilabel)
        if isinstance(self.calibrator, FeatureCalibrator) and self.features is not None:
            by = features_in(X, self.features)
            if isinstance(self.features, str) and self.calibrator._uses_features:
                by = _as_fitted(by, self.calibrator.features_.names)
            return self.calibrator.predict_proba(values, by=by)
        return self.calibrator.predict_proba(values)


def features_in(X: Any, wanted: Any) -> dict[str, Array]:
    """Columns of X that a map is to use, by name; those of an array are x0, x1, ..."""
    columns = feature_columns(X, caller=CALLER, param="X")
    if isinstance(wanted, str):
        return columns
    for name in wanted:
        if name not in columns:
            hint = f"X has {list(columns)[:6]}."
            raise invalid(CALLER, "features", '"X" or columns of X', repr(name), hint=hint)
    return {name: columns[name] for name in wanted}


def _as_fitted(columns: dict[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Columns of a frame by their places if those of an array were fitted, as models take them."""
    places = [f"x{place}" for place in range(len(columns))]
    if set(names) <= set(places) and not set(names) <= set(columns):
        return dict(zip(places, columns.values(), strict=True))
    return columns


@dataclass(frozen=True)
class MapWanted:
    """The map that is to be fitted, and what of a model it is to read.

    Attributes
    ----------
    calibrator : str or Calibrator
    weight_type : what weights mean to a calibrator given by name; an object keeps its own
    response : "auto", "probability" or "decision"
    features : "X" or columns of X that the map uses; None for none
    """

    calibrator: Any
    weight_type: WeightType
    response: str
    features: Any = None

    def check(self, n_classes: int) -> None:
        """Raise if the parameters cannot be used, before anything is fitted."""
        check_option(CALLER, "response", self.response, RESPONSES)
        check_option(CALLER, "weight_type", self.weight_type, ("frequency", "importance"))
        self._check_features(n_classes)
        wish = self.wish(n_classes)
        if self.response == "probability" and wish.own_input in ("logit", "score"):
            hint = "leave one of them at its default."
            got = f"{self.response!r} with a calibrator of input={wish.own_input!r}"
            raise invalid(CALLER, "response", "what the calibrator takes", got, hint=hint)

    def _check_features(self, n_classes: int) -> None:
        given, blank = self.features, self.blank(n_classes)
        if given is None:
            if isinstance(blank, FeatureCalibrator) and blank._needs_features:
                hint = 'pass `features="X"`, or names of columns of X.'
                raise invalid(CALLER, "features", "given for this map", "None", hint=hint)
            return
        names = (
            isinstance(given, (list, tuple)) and given and all(isinstance(f, str) for f in given)
        )
        if given != "X" and not names:
            hint = "name columns of X, or leave it out."
            raise invalid(CALLER, "features", '"X" or names of columns', repr(given), hint=hint)
        if not isinstance(blank, FeatureCalibrator):
            hint = "e.g. `SegmentCalibrator()`, `CalibrationTree()` or `BoostedCalibrator()`."
            got = type(blank).__name__
            raise invalid(CALLER, "calibrator", "a map that uses features", got, hint=hint)

    def blank(self, n_classes: int) -> Calibrator:
        """Map of two or more classes, not fitted."""
        given = self.calibrator
        if given == "auto" and self.features is not None:
            return SegmentCalibrator(weight_type=self.weight_type)
        if isinstance(given, str):
            named = calibrator_named(given, n_classes, caller=CALLER, param="calibrator")
            return named.set_params(weight_type=self.weight_type)
        if not isinstance(given, Calibrator):
            got = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
            hint = 'e.g. `calibrator="platt"` or `calibrator=PlattCalibrator()`.'
            raise invalid(CALLER, "calibrator", "a name or a calibrator", got, hint=hint)
        blank = for_classes(clone(given), n_classes)
        blank.keeps_fingerprint = given.keeps_fingerprint
        return blank

    def wish(self, n_classes: int) -> Wish:
        """What the map wants to read."""
        blank = self.blank(n_classes)
        own = None if isinstance(self.calibrator, str) else blank.input
        return Wish(self.response, own, _inputs_of(blank))


@dataclass(frozen=True)
class Task:
    """Everything a pair is fitted from.

    Attributes
    ----------
    estimator : Any
        Not fitted, unless it is used as it is.
    X, target, weight
        Rows.
    fit_params : dict
        Handed on to the estimator; entries of one value a row are split like rows.
    wanted : MapWanted
    groups : int array of shape (n,) or None
        What rows belong to that must not be parted.
    """

    estimator: Any
    X: Any
    target: ClassifierTarget
    weight: FloatArray | None
    fit_params: dict[str, Any]
    wanted: MapWanted
    groups: IntArray | None = None

    def fitted_model(self, train: IntArray) -> Any:
        """Copy of the estimator, fitted to some rows."""
        from sklearn.utils.metaestimators import _safe_split

        X, y = _safe_split(self.estimator, self.X, self.target.y, train)
        return clone(self.estimator).fit(X, y, **_rows_of(self.fit_params, train, self.target.y))

    def said_of(
        self, model: Any, test: IntArray, train: IntArray | None
    ) -> tuple[Reading, FloatArray]:
        """What a model says of rows, and how it was read."""
        from sklearn.utils.metaestimators import _safe_split

        X, _ = _safe_split(model, self.X, self.target.y, test, train)
        classes, multilabel = self.target.classes, self.target.multilabel
        wish = self.wanted.wish(self.target.n_classes)
        reading = choose_reading(model, X, classes, wish, caller=CALLER)
        return reading, read(model, X, reading, classes, multilabel=multilabel)

    def fitted_map(
        self, values: FloatArray, kind: str, rows: IntArray
    ) -> tuple[Calibrator | LabelwiseMaps, Notes]:
        """Map from what models said of rows to their outcomes, and what is in doubt about it."""
        y, weight = self.target.y[rows], None if self.weight is None else self.weight[rows]
        labels = np.array([0, 1]) if self.target.multilabel else self.target.classes
        blank = self.wanted.blank(self.target.n_classes)
        blank.set_params(input=kind, labels=labels, pos_label=None)
        if self.target.multilabel:
            if self.wanted.features is not None:
                hint = "leave `features` out."
                raise invalid(CALLER, "y", "of one label a row with features", "several", hint=hint)
            maps = LabelwiseMaps(blank)
            return maps, maps.fit(values, y, weight)
        groups = None if self.groups is None else self.groups[rows]
        if isinstance(blank, FeatureCalibrator) and self.wanted.features is not None:
            from sklearn.utils import _safe_indexing

            by = features_in(_safe_indexing(self.X, rows), self.wanted.features)
            if isinstance(blank, BoostedCalibrator):
                return blank.fit(values, y, weight, by=by, groups=groups), ()
            return blank.fit(values, y, weight, by=by), ()
        return blank, fit_settled(blank, values, y, weight, groups)


def fit_pair(task: Task, split: Split) -> tuple[Pair, Notes]:
    """Train a model on some rows and calibrate it on others."""
    train, test = split
    model = task.fitted_model(train)
    reading, values = task.said_of(model, test, train)
    map, notes = task.fitted_map(values, reading.kind, test)
    return Pair(model, map, reading, task.wanted.features), notes


def pair_of_fitted(task: Task, rows: IntArray) -> tuple[Pair, Notes]:
    """Calibrate a model that is fitted already."""
    reading, values = task.said_of(task.estimator, rows, None)
    map, notes = task.fitted_map(values, reading.kind, rows)
    return Pair(task.estimator, map, reading, task.wanted.features), notes


def fit_or_foretell(task: Task, train: IntArray, test: IntArray | None) -> Any:
    """A model trained on `train`; with `test`, only what it says of those rows."""
    model = task.fitted_model(train)
    return model if test is None else task.said_of(model, test, train)


def single_pair(
    task: Task, said: list[tuple[Reading, FloatArray]], splits: list[Split], model: Any
) -> tuple[Pair, Notes]:
    """One map from what the models of all folds said of rows they had not seen."""
    reading = said[0][0]
    if any(other != reading for other, _ in said):  # one fold lacks a class, say
        multilabel = task.target.multilabel
        said = [(how, _as_probabilities(how, v, multilabel=multilabel)) for how, v in said]
        reading = Reading("predict_proba", "probability")
    values = np.concatenate([values for _, values in said])
    rows = np.concatenate([test for _, test in splits])
    order = np.argsort(rows, kind="stable")
    map, notes = task.fitted_map(values[order], reading.kind, rows[order])
    return Pair(model, map, reading, task.wanted.features), notes


def _as_probabilities(reading: Reading, values: FloatArray, *, multilabel: bool) -> FloatArray:
    return (
        values if reading.kind == "probability" else to_probabilities(values, multilabel=multilabel)
    )


def _inputs_of(calibrator: Calibrator) -> tuple[str, ...]:
    """Kinds of predictions that a calibrator and the ones inside it all take."""
    inner = getattr(calibrator, "calibrator", None)
    if not isinstance(inner, Calibrator):
        return calibrator._inputs
    return tuple(kind for kind in _inputs_of(inner) if kind in calibrator._inputs)


def _rows_of(params: dict[str, Any], rows: IntArray, y: Array) -> dict[str, Any]:
    """Parameters of `fit` for some rows: those of one value a row are cut, others kept."""
    from sklearn.utils import _safe_indexing

    return {
        name: _safe_indexing(value, rows) if _is_of_rows(value, len(y)) else value
        for name, value in params.items()
    }


def _is_of_rows(value: Any, n_rows: int) -> bool:
    if isinstance(value, (str, bytes, dict)):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n_rows
    return hasattr(value, "__len__") and len(value) == n_rows


def routed(
    owner: Any, weight: FloatArray | None, groups: Any, fit_params: dict[str, Any], *, caller: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the `fit` of the estimator and of the `split` of the splitter."""
    from sklearn.utils.metadata_routing import process_routing
    from sklearn.utils.validation import has_fit_parameter

    if _routing_enabled():
        given = dict(fit_params)
        if groups is not None:
            given["groups"] = groups
        found = process_routing(owner, "fit", sample_weight=weight, **given)
        return dict(found.estimator.fit), dict(found.splitter.split)
    params = dict(fit_params)
    if weight is not None:
        estimator = owner.estimator
        if has_fit_parameter(estimator, "sample_weight"):
            params["sample_weight"] = weight
        elif _last_step(estimator) is not None:
            params[f"{_last_step(estimator)}__sample_weight"] = weight
        else:
            name = type(estimator).__name__
            note = f"{name} takes no sample_weight; only its calibration is weighted"
            warn_of([note], caller=caller)
    if groups is None:
        return params, {}
    if not (owner.cv is None or is_integer(owner.cv) or hasattr(owner.cv, "split")):
        hint = "use a splitter that knows groups, e.g. `cv=GroupKFold(5)`."
        raise invalid(caller, "cv", "a splitter when `groups` are given", repr(owner.cv), hint=hint)
    return params, {"groups": groups}


def _routing_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def _last_step(estimator: Any) -> str | None:
    """Name of the last step of a pipeline, if that takes weights."""
    from sklearn.utils.validation import has_fit_parameter

    steps = getattr(estimator, "steps", None)
    if not steps or not has_fit_parameter(steps[-1][1], "sample_weight"):
        return None
    return str(steps[-1][0])
