"""A classifier with a calibrator fitted on rows that its model has not seen."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping

from veridical._core.data.groups import cluster_codes
from veridical._core.data.options import check_flag
from veridical._core.data.validation import check_weight, is_integer
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray, WeightType
from veridical.calibrators import Calibrator, OneVsRestCalibrator
from veridical.calibrators.core import Notes
from veridical.exceptions import invalid, warn_of
from veridical.selection._classifier import pairs, splits
from veridical.selection._classifier.pairs import CALLER
from veridical.selection._classifier.response import innermost, is_frozen
from veridical.selection._classifier.spelling import knowing_other_spellings
from veridical.selection._classifier.target import (
    LabelwiseMaps,
    check_target,
    known_to_model,
    to_be_learnt,
)


def summary_of(fitted: list[pairs.Pair], rows: list[IntArray], n_rows: int, scheme: str) -> str:
    """Two sentences about a fitted classifier; `scheme` is "ensemble", "single" or "prefit"."""
    used = len(np.unique(np.concatenate(rows)))
    share = f"{used:,} of {n_rows:,} rows calibrate"
    count = "1 pair" if len(fitted) == 1 else f"{len(fitted)} pairs"
    model = type(innermost(fitted[0].estimator)).__name__
    readings = " or ".join(sorted({str(pair.reading) for pair in fitted}))
    who = f"{count} of {model} and {_map_name(fitted[0].calibrator)}, read by {readings}."
    how = {
        "ensemble": "a model that never saw them; probabilities are averaged",
        "single": "models that never saw them; a model trained on all rows predicts",
        "prefit": "a model that was fitted before; whether it had seen them is not known",
    }
    return f"{who}\n{share} {how[scheme]}."


def _map_name(fitted: Any) -> str:
    if isinstance(fitted, LabelwiseMaps):
        return f"one {type(fitted.parts[0]).__name__} a label"
    if isinstance(fitted, OneVsRestCalibrator):
        return f"one {type(fitted.calibrator).__name__} a class"
    return type(fitted).__name__


@knowing_other_spellings
@dataclass(eq=False, repr=False)
class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are calibrated on rows its model was not trained on.

    For each of the folds a copy of the estimator is trained on the other folds and says what it
    thinks of this one. One map is fitted to what was said of all rows, and used with one model
    trained on all rows [1]_. With `ensemble=True` each copy has a map of its own instead, fitted to
    its fold, and these pairs predict together, as the mean of their probabilities [2]_: k models,
    each trained on a share of (k - 1) / k of the rows, which take k times as long to predict.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Anything with `fit` and `predict_proba` or `decision_function`, also pipelines and the
        classifiers of XGBoost, LightGBM and CatBoost.
    calibrator : str or Calibrator, default "auto"
        A name ("platt", "isotonic", "beta", "venn-abers", ...; see `calibrator_names`) or an
        object, which is copied; its `labels` and `pos_label` do not count, as columns follow
        `classes_`. From three classes on, maps of two classes are fitted to each class against
        the rest.
    cv : int, splitter, iterable of (train, test) rows, "prefit" or None
        Integers are stratified folds in the order of rows (not stratified for several labels a
        row), each with rows of every class. None is five of them, also where a class has fewer rows
        than that, of which scikit-learn warns. "prefit" takes the estimator as it is fitted and
        calibrates it on all rows given, which must be new to it; so does a `FrozenEstimator`,
        whatever `cv` is.
    ensemble : bool, default False
        Whether all pairs predict, or one model trained on all rows. In the league one model is no
        worse with the default calibrator, and cheaper; splitters that test rows more than once
        (`ShuffleSplit`, `RepeatedKFold`) need True.
    response : {"auto", "probability", "decision"}, default "auto"
        What of the model is calibrated. "auto" takes `decision_function` where it is the log odds
        of `predict_proba` or where there is nothing else, and `predict_proba` otherwise. Decision
        values that are no log odds are margins (`input="score"`); maps that know no margins read
        them as log odds. `input="logit"` or `"score"` of a calibrator object goes first, and
        with its `input="probability"` (the default) probabilities are taken if there are any.
    n_jobs : int, optional
        Models trained at the same time. Results do not depend on it.
    weight_type : {"frequency", "importance"}, default "frequency"
        What weights mean to a calibrator given by name: numbers of repetitions, as scikit-learn's
        checks of estimators ask, or importance, which a constant factor does not change. A
        calibrator given as an object keeps its own.
    features : "X" or list of str, optional
        Inputs of the model that the map uses, too: all of them, or these columns of a frame. The
        map is one that takes features (`SegmentCalibrator`, which "auto" then is,
        `CalibrationTree`, `BoostedCalibrator`), fitted like every map to what models said of rows
        they had not seen.

    Attributes
    ----------
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`; 0..L-1 for L labels a row.
    pairs_ : list of Pair
        Each with an `estimator`, a `calibrator` and a `reading`.
    calibration_rows_ : list of int arrays
        Rows of `X` that the map of each pair was fitted to.
    n_rows_ : int
        Rows of `X`.

    Notes
    -----
    Row numbers that train and calibrate the same pair are refused, as are folds of one or two rows
    for a map and more folds than rows of a class, if a number is given. Rows of weight zero are
    left out before splitting. With splitters that do not test every row (`TimeSeriesSplit`), the
    rows never tested do not calibrate, see `calibration_rows_`. A class that is missing from the
    training rows of a fold has probability zero (or the least decision value) before calibration.

    Weights go to the maps and, where its `fit` takes them, to the estimator or the last step of a
    pipeline; else a warning says that only the maps are weighted. With scikit-learn's metadata
    routing enabled, requests decide as in `CalibratedClassifierCV`. There is no randomness beyond
    that of the estimator and of the splitter.

    With `weight_type="frequency"`, and an estimator of which the same is true, a weight of two is a
    row given twice, if both copies are in one fold. A model must not have seen copies of what
    calibrates it. Integer folds keep equal rows together where a column of numbers tells all
    different rows apart, so that equal ones must be copies; equal rows of a few categories are not
    known to be. Pass `groups` where rows belong together, or give rows that repeat as weights.

    An indicator matrix `y` of L labels gives one map a label, and `predict_proba` of shape (n, L)
    with the probability of each.

    Time: k + 1 fits of the estimator and one of the map; with `ensemble=True` k of both; none of
    the estimator for "prefit".

    References
    ----------
    .. [1] Platt (1999), Probabilistic outputs for support vector machines, in Advances in Large
       Margin Classifiers, MIT Press, 61-74.
    .. [2] Silva Filho et al. (2023), Machine Learning 112, doi 10.1007/s10994-023-06336-7, §5.1.

    Examples
    --------
    A tree that has learnt the sign of x is sure of itself, but on new rows it is right three times
    out of four, and then says so.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[-1], [1]], [0, 1])
    >>> X, y = [[1], [1], [1], [1], [-1], [-1], [-1], [-1]], [1, 1, 1, 0, 0, 0, 0, 1]
    >>> from veridical.calibrators import HistogramCalibrator
    >>> model = CalibratedClassifier(tree, HistogramCalibrator(n_bins=2, laplace=0), cv="prefit")
    >>> model.fit(X, y).predict_proba([[1]]).tolist()
    [[0.25, 0.75]]
    >>> print(model)
    CalibratedClassifier(...)
    1 pair of DecisionTreeClassifier and HistogramCalibrator, read by predict_proba (probabilities).
    8 of 8 rows calibrate a model that was fitted before; whether it had seen them is not known.
    """

    __metadata_request__fit = {"groups": UNUSED}  # groups are for the splitter  # noqa: RUF012

    estimator: Any
    calibrator: str | Calibrator = "auto"
    _: KW_ONLY
    cv: Any = None
    ensemble: bool = False
    response: str = "auto"
    n_jobs: int | None = None
    weight_type: WeightType = "frequency"
    features: Any = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Train the models and fit their maps.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            As the estimator takes it; rows are selected, nothing else is done to it.
        y : array-like of shape (n,) or (n, L)
            Labels, or an indicator matrix.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        groups : array-like of shape (n,), optional
            What each row belongs to (patient, prompt, original of a copy). Integers of `cv` are
            then `StratifiedGroupKFold`; splitters such as `GroupKFold` get them, and so does a
            calibrator that holds rows out itself.
        **fit_params
            Handed on to the `fit` of the estimator, those of one value a row for its rows only:
            scikit-learn's convention for whatever an estimator needs besides.

        Returns
        -------
        self
        """
        from sklearn.utils import indexable
        from sklearn.utils.validation import _num_samples

        check_flag(CALLER, "ensemble", self.ensemble)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            hint = "e.g. `CalibratedClassifier(RandomForestClassifier())`."
            got = repr(self.estimator)
            raise invalid(CALLER, "estimator", "a classifier, not fitted yet", got, hint=hint)
        (X,) = indexable(X)
        n_rows = _num_samples(X)
        target = check_target(y, n_rows, caller=CALLER)
        weight = check_weight(sample_weight, n_rows, caller=CALLER)
        kept = splits.positive_rows(weight, n_rows)
        prefit = self._is_fitted_before()
        params: dict[str, Any] = {}
        split_params: dict[str, Any] = {}
        if prefit:
            target = known_to_model(target, self.estimator, caller=CALLER)
        else:
            target = to_be_learnt(target, kept, caller=CALLER)
            params, split_params = pairs.routed(self, weight, groups, fit_params, caller=CALLER)
        wanted = pairs.MapWanted(self.calibrator, self.weight_type, self.response, self.features)
        together = None
        if groups is not None:
            together = cluster_codes(groups, np.ones(n_rows, dtype=bool), caller=CALLER)
        elif not prefit and (self.cv is None or is_integer(self.cv)):
            together = splits.copies_in(X)
            split_params = {} if together is None else {"groups": together}
        task = pairs.Task(self.estimator, X, target, weight, params, wanted, together)
        wanted.check(target.n_classes)
        if prefit:
            fits, rows = [pairs.pair_of_fitted(task, kept)], [kept]
        else:
            folds = splits.splits_of(self.cv, X, target, kept, split_params, caller=CALLER)
            fit_all = self._all_pairs if self.ensemble else self._one_pair
            fits, rows = fit_all(task, folds, kept)
        self.pairs_, self.calibration_rows_ = [pair for pair, _ in fits], rows
        self.classes_, self.n_rows_ = target.classes, n_rows
        for _, notes in fits:
            warn_of(notes)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Calibrated probabilities, (n, K) in the order of `classes_`; (n, L) for L labels."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        each = (pair.predict_proba(X, self.classes_) for pair in self.pairs_)
        return np.asarray(sum(each) / len(self.pairs_))

    def predict(self, X: Any) -> Array:
        """Most probable label of each row, the first if several are; labels above one half."""
        p = self.predict_proba(X)
        if isinstance(self.pairs_[0].calibrator, LabelwiseMaps):
            return (p > 0.5).astype(np.intp)
        return np.asarray(self.classes_)[p.argmax(axis=1)]

    @property
    def estimators_(self) -> list[Any]:
        """Fitted models, one a pair."""
        return [pair.estimator for pair in self.pairs_]

    @property
    def calibrators_(self) -> list[Any]:
        """Fitted maps, one a pair; for several labels a row, a list of one a label."""
        maps = [pair.calibrator for pair in self.pairs_]
        return [each.parts if isinstance(each, LabelwiseMaps) else each for each in maps]

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the models know it."""
        return int(self.pairs_[0].estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of features, if the models know them."""
        return np.asarray(self.pairs_[0].estimator.feature_names_in_)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go where, for scikit-learn's metadata routing."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        return router.add(splitter=self.cv, method_mapping=to_split)

    def __str__(self) -> str:
        """Parameters and, once fitted, which rows calibrated what."""
        text = repr(self)
        if not hasattr(self, "pairs_"):
            return text
        scheme = "ensemble" if self.ensemble else "single"
        scheme = "prefit" if self._is_fitted_before() else scheme
        return f"{text}\n{summary_of(self.pairs_, self.calibration_rows_, self.n_rows_, scheme)}"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = own.input_tags
        if own.classifier_tags is not None:
            tags.classifier_tags.multi_label = own.classifier_tags.multi_label
        return tags

    def _is_fitted_before(self) -> bool:
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        return prefit or is_frozen(self.estimator)

    def _all_pairs(
        self, task: pairs.Task, folds: list[splits.Split], kept: Array
    ) -> tuple[list[tuple[pairs.Pair, Notes]], list[Array]]:
        from sklearn.utils.parallel import Parallel, delayed

        splits.check_for_own_maps(folds, caller=CALLER)
        fits = Parallel(n_jobs=self.n_jobs)(delayed(pairs.fit_pair)(task, split) for split in folds)
        return fits, [test for _, test in folds]

    def _one_pair(
        self, task: pairs.Task, folds: list[splits.Split], kept: Array
    ) -> tuple[list[tuple[pairs.Pair, Notes]], list[Array]]:
        from sklearn.utils.parallel import Parallel, delayed

        splits.check_for_single_map(folds, len(task.target.y), caller=CALLER)
        jobs = [*folds, (kept, None)]  # the last model, on all rows, is the one that predicts
        *said, model = Parallel(n_jobs=self.n_jobs)(
            delayed(pairs.fit_or_foretell)(task, train, test) for train, test in jobs
        )
        rows = np.sort(np.concatenate([test for _, test in folds]))
        return [pairs.single_pair(task, said, folds, model)], [rows]
