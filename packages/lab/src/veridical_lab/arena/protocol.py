"""CalArena's protocol on the real tables at hand: maps fitted to out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from veridical.calibrators import (
    BBQCalibrator,
    BetaCalibrator,
    Calibrator,
    DirichletCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    QuadraticCalibrator,
    SplineCalibrator,
    StructuredMatrixCalibrator,
    StructuredVectorCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from veridical.scores import log_loss
from veridical.selection import AutoCalibrator
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.arena.published import Losses, contrast, mean_text
from veridical_lab.arrays import FloatArray, IntArray

Maker = Callable[[], Any]

TABLES = ("breast cancer", "digits, odd or even", "digits", "wine", "iris")
MODELS = ("logistic regression", "naive Bayes", "forest", "boosting", "neighbours", "network")
_BINNED: Mapping[str, Maker] = {
    "Hist-uniform": lambda: HistogramCalibrator(strategy="uniform"),
    "Hist-quantile": HistogramCalibrator,
    "BBQ": BBQCalibrator,
}
_CURVES: Mapping[str, Maker] = {
    "TS": TemperatureCalibrator,
    "Platt-logits": PlattCalibrator,
    "Beta": BetaCalibrator,
    "Quadratic": QuadraticCalibrator,
    "Spline": SplineCalibrator,
}
_SINGLE: Mapping[str, Maker] = {
    "Hist-quantile": lambda: OneVsRestCalibrator(HistogramCalibrator()),
    "Isotonic": lambda: OneVsRestCalibrator(IsotonicCalibrator()),
    "Venn-Abers": lambda: OneVsRestCalibrator(VennAbersCalibrator()),
}
_WHOLE: Mapping[str, Maker] = {
    "TS": TemperatureCalibrator,
    "SVS": StructuredVectorCalibrator,
    "SMS": StructuredMatrixCalibrator,
    "Dirichlet": DirichletCalibrator,
}
_TREES, _NONE, _AUTO = "boosted trees on logits", "no map", "AutoCalibrator"
_LEAST = 1e-6  # probability that trees and models are cut off at; maps here say no 0


def protocol_section(lab: Laboratory, page: Page) -> None:
    """Run the protocol, and ask the same questions."""
    page.section("The protocol on tables at hand")
    models = MODELS[:3] if lab.quick else MODELS
    tables = TABLES[0:1] + TABLES[3:5] if lab.quick else TABLES
    cells = [
        {"table": table, "model": model, "seed": lab.seed} for table in tables for model in models
    ]
    answers = lab.map("tables", calibrate, cells)
    page.text(
        f"""As CalArena does with tables: {len(models)} models, each fitted in five folds to one
        half of the rows; maps are fitted to the predictions of the folds left out, and judged on
        the other half, where the five models are averaged. {len(tables)} tables that come with
        scikit-learn, one split each. Maps have the guards that are the default here, without which
        one certain error makes a log loss infinite; the trees are scikit-learn's, with its
        defaults. There is no table of more than ten classes, and experiments on one table go
        together: standard errors are over experiments, as CalArena takes them for its images."""
    )
    two = _gathered(answers, binary=True)
    many = _gathered(answers, binary=False)
    for caption, losses in (("Two classes", two), ("3 to 10 classes", many)):
        change = {name: loss - losses[_NONE] for name, loss in losses.items()}
        page.table(
            {
                "method": list(losses),
                "mean log loss": [float(loss.mean()) for loss in losses.values()],
                "change": [float(one.mean()) for one in change.values()],
                "experiments made worse": [int((one > 0).sum()) for one in change.values()],
            },
            caption=f"{caption}, {len(losses[_NONE])} experiments",
        )
    page.check(f"""
        - Here, smooth and binned maps | smooth calibration functions outperform binning |
          {mean_text(contrast(two, list(_CURVES), list(_BINNED)))} < 0 | log loss, mean of the
          curves less mean of the bins, two classes
        - Here, many classes | dedicated multiclass methods are better than one against the rest |
          {mean_text(contrast(many, list(_WHOLE), list(_SINGLE)))} < 0 | log loss; at most ten
          classes, so this says nothing of high dimensions
        - Here, trees, many classes | generic models are not competitive |
          {mean_text(contrast(many, [_TREES], ["SMS"]))} > 0 | log loss of the trees less SMS
        - Here, trees, two classes | generic models are not competitive |
          {mean_text(contrast(two, [_TREES], ["Beta"]))} > 0 | log loss of the trees less beta
          calibration
        - Here, AutoCalibrator less the best single map of two classes |
          {mean_text(contrast(two, [_AUTO], [_best(two)]))} | log loss; the best on these very rows,
          {_best(two)}
        - Here, AutoCalibrator less the best single map of many classes |
          {mean_text(contrast(many, [_AUTO], [_best(many)]))} | log loss; the best on these very
          rows, {_best(many)}
    """)


def _best(losses: Losses) -> str:
    single = [name for name in losses if name not in (_AUTO, _NONE)]
    return min(single, key=lambda name: float(losses[name].mean()))


def _gathered(answers: Sequence[Mapping[str, Any]], *, binary: bool) -> Losses:
    """Loss by method, one entry a table and model."""
    losses = [answer["losses"] for answer in answers if (answer["classes"] == 2) == binary]
    return {name: np.array([one[name] for one in losses]) for name in losses[0]}


def calibrate(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Log loss of every map for one table, model and split."""
    x, y = _table(cell["table"])
    from sklearn.model_selection import StratifiedKFold, train_test_split

    half = np.random.default_rng(cell["seed"]).integers(2**31)
    rows, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=half)
    seed = int(rng.integers(2**31))
    held = np.empty((len(rows), len(np.unique(y))))
    judged = np.zeros((len(test), held.shape[1]))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    for fit, out in folds.split(x[rows], y[rows]):
        model = _model(cell["model"], seed).fit(x[rows[fit]], y[rows[fit]])
        held[out] = model.predict_proba(x[rows[out]])
        judged += model.predict_proba(x[test]) / 5
    losses = {_NONE: log_loss(y[test], _inside(judged))}
    maps = {**_BINNED, **_CURVES} if held.shape[1] == 2 else {**_SINGLE, **_WHOLE}
    for name, make in maps.items():
        losses[name] = _loss(make(), held, y[rows], judged, y[test])
    losses[_AUTO] = _loss(AutoCalibrator(), held, y[rows], judged, y[test])
    losses[_TREES] = _tree_loss(held, y[rows], judged, y[test])
    return {"classes": held.shape[1], "losses": losses}


def _loss(
    map_: Calibrator | AutoCalibrator, p: FloatArray, y: IntArray, q: FloatArray, z: IntArray
) -> float:
    return log_loss(z, map_.fit(_inside(p), y).predict_proba(_inside(q)))


def _tree_loss(p: FloatArray, y: IntArray, q: FloatArray, z: IntArray) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(random_state=0).fit(np.log(_inside(p)), y)
    return log_loss(z, _inside(trees.predict_proba(np.log(_inside(q)))))


def _inside(p: FloatArray) -> FloatArray:
    """Probabilities that are never 0 or 1: a model that says so would have an infinite loss."""
    cut = np.clip(p, _LEAST, None)
    return np.asarray(cut / cut.sum(axis=1, keepdims=True))


def _table(name: str) -> tuple[FloatArray, IntArray]:
    from sklearn import datasets

    loaders = {"breast cancer": "load_breast_cancer", "wine": "load_wine", "iris": "load_iris"}
    found = getattr(datasets, loaders.get(name, "load_digits"))()
    labels = found.target % 2 if name == "digits, odd or even" else found.target
    return found.data, labels


def _model(name: str, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models: dict[str, Maker] = {
        "logistic regression": lambda: LogisticRegression(max_iter=1000),
        "naive Bayes": GaussianNB,
        "forest": lambda: RandomForestClassifier(random_state=seed),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=50, random_state=seed),
        "neighbours": KNeighborsClassifier,
        "network": lambda: MLPClassifier((64,), max_iter=2000, tol=1e-3, random_state=seed),
    }
    return make_pipeline(StandardScaler(), models[name]())
