"""The eleven classifiers of the league, with plain settings, one thread and a seed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import further_data  # noqa: F401 - enters its tables
import numpy as np
from data import DATA_SETS


def _scaled(estimator: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), estimator)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000, random_state=seed))


def _naive_bayes(seed: int) -> Any:
    from sklearn.naive_bayes import GaussianNB

    del seed  # nothing is drawn
    return _scaled(GaussianNB())


def _svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return _scaled(SVC(decision_function_shape="ovr", random_state=seed))


def _random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, n_jobs=1, random_state=seed)


def _extra_trees(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(200, min_samples_leaf=2, n_jobs=1, random_state=seed)


def _hist_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed)


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, n_jobs=1, random_state=seed, verbose=-1)


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=100, n_jobs=1, random_state=seed)


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return _scaled(MLPClassifier((64,), max_iter=200, random_state=seed))


def _calm_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    options = {"learning_rate": 0.05, "max_iter": 80, "max_leaf_nodes": 8, "min_samples_leaf": 30}
    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed, **options)


def _calm_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, min_samples_leaf=15, n_jobs=1, random_state=seed)


MODELS: dict[str, Callable[[int], Any]] = {
    "logistic": _logistic,
    "random_forest": _random_forest,
    "lightgbm": _lightgbm,
    "naive_bayes": _naive_bayes,
    "mlp": _mlp,
    "svm": _svm,
    "hist_boosting": _hist_boosting,
    "extra_trees": _extra_trees,
    "xgboost": _xgboost,
    "calm_boosting": _calm_boosting,
    "calm_forest": _calm_forest,
}
CALIBRATED = ("logistic", "calm_boosting", "calm_forest")  # models that hardly need calibration

# Four models a data set (three of more_data.py and further_data.py), by rotation: each model meets
# about as many sets in both halves. The first tables know the first nine models.
_OFFSETS, _FIRST = (0, 2, 4, 7), 9
_MORE_OFFSETS, _STEP = (0, 4, 7), 3


def models_of(data_set: str) -> list[str]:
    """Names of the models that a data set is used with."""
    own = DATA_SETS[data_set]
    alike = [e.name for e in DATA_SETS.values() if (e.half, e.more) == (own.half, own.more)]
    place, names = alike.index(data_set), list(MODELS)
    if own.more:
        return [names[(_STEP * place + offset) % len(names)] for offset in _MORE_OFFSETS]
    return [names[(place + offset) % _FIRST] for offset in _OFFSETS]


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def probabilities(estimator: Any, x: np.ndarray) -> np.ndarray:
    """Probabilities of a fitted model; scores of a support vector machine through a softmax.

    A binary score s becomes sigmoid(s). Nothing has been fitted in that step: these are the
    uncalibrated probabilities a careless user would report.
    """
    if hasattr(estimator, "predict_proba"):
        p = np.asarray(estimator.predict_proba(x), dtype=np.float64)
        return p / p.sum(axis=1, keepdims=True)
    scores = np.asarray(estimator.decision_function(x), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    return _softmax(scores)


def fit(name: str, x: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """A fitted model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iteration limits are part of a plain setting
        return MODELS[name](seed).fit(x, y)
