"""What the chapter says of causes, methods and habits (86.2, 86.5, 86.7), and its recipe (86.8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from veridical import calibrators as maps
from veridical.inference import cox_test
from veridical.miscalibration import BinnedError
from veridical.scores import log_loss
from veridical.simulation import survey_binary_task, survey_f_over
from veridical_lab._frame.laboratory import Laboratory
from veridical_lab._frame.noise import drawn, share
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray, IntArray

TRAIN, TEST = 500, 10_000
CLASSES, LOGIT_ROWS, HEAT = 10, 4000, 2.0  # of the network of 86.8, which is too hot by HEAT
_STEP, _STEPS = 0.01, 50  # `LBFGS(lr=0.01, max_iter=50)`, one call of `step`
_FEW, _MANY = 100, 5000  # calibration rows


def show_recipes(lab: Laboratory, page: Page) -> None:
    """Repeat every statement on drawn data, and judge it by its standard error."""
    cells = [{"repetition": k} for k in range(4 if lab.quick else 40)]
    found = lab.map("recipes", measure, cells)
    many = {name: np.array([one[name] for one in found]) for name in found[0]}
    _causes(page, many)
    _methods(page, many)
    _recipe(page, many)


def measure(cell: Mapping[str, Any], rng: np.random.Generator) -> dict[str, float]:
    """All numbers of one repetition."""
    return {**_models(rng), **_small_and_large(rng), **_network(rng)}


def _models(rng: np.random.Generator) -> dict[str, float]:
    """Slopes of the log odds that models predict: below 1 is over-confident, above 1 timid."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    seed = int(rng.integers(1 << 31))
    shape = {"n_features": 20, "n_informative": 6, "n_redundant": 10, "random_state": seed}
    x, y = make_classification(TRAIN + TEST, **shape, flip_y=0.1, class_sep=0.7)
    x = (x - x[:TRAIN].mean(axis=0)) / x[:TRAIN].std(axis=0)
    models: dict[str, Any] = {
        "strong penalty": LogisticRegression(C=0.001),
        "usual penalty": LogisticRegression(C=1.0, max_iter=1000),
        "naive Bayes": GaussianNB(),
        "boosted trees": GradientBoostingClassifier(random_state=0),
    }
    found = {}
    for name, model in models.items():
        model.fit(x[:TRAIN], y[:TRAIN])
        p = model.predict_proba(x)[:, 1]
        found[f"slope, {name}"] = _slope(y[TRAIN:], p[TRAIN:])
        if name == "boosted trees":
            found["slope, on its own rows"] = _slope(y[:TRAIN], p[:TRAIN])
    # Positives become a fifth of what they were, and nothing else changes.
    p = models["usual penalty"].predict_proba(x[TRAIN:])[:, 1]
    kept = (y[TRAIN:] == 0) | (rng.random(TEST) < 0.2)
    for name, rows in (("before", slice(None)), ("after", kept)):
        found[f"excess, {name}"] = float((p[rows] - y[TRAIN:][rows]).mean())
    return found


def _slope(y: IntArray, p: FloatArray) -> float:
    slope = cox_test(y, np.clip(p, 1e-6, 1 - 1e-6)).slope
    return math.nan if slope is None or slope.estimate is None else slope.estimate


def _small_and_large(rng: np.random.Generator) -> dict[str, float]:
    """Log loss above the best possible after recalibration, on few and on many rows."""
    task = survey_binary_task()
    fresh = task.sample(TEST, rng=rng)
    truth, p = task.posterior(fresh.x)[:, 1], survey_f_over(fresh.x)[:, 1]
    entropy = _expected_loss(truth, truth)
    found = {}
    for n in (_FEW, _MANY):
        rows = task.sample(n, rng=rng)
        known = survey_f_over(rows.x)[:, 1]
        for name, kind in _MAPS.items():
            after = kind().fit(known, rows.y).predict_proba(p)[:, 1]
            found[f"{name}, {n}"] = _expected_loss(truth, after) - entropy
    return found


_MAPS: dict[str, Callable[[], maps.Calibrator]] = {
    "temperature": maps.TemperatureCalibrator,
    "Platt": maps.PlattCalibrator,
    "isotonic": maps.IsotonicCalibrator,
}


def _expected_loss(truth: FloatArray, p: FloatArray) -> float:
    return float(-(truth * np.log(p) + (1 - truth) * np.log1p(-p)).mean())


def _network(rng: np.random.Generator) -> dict[str, float]:
    """A network too sure of itself: labels follow softmax(logits / HEAT)."""
    logits = rng.normal(0, 2 * HEAT, (2 * LOGIT_ROWS, CLASSES))
    y = (logits / HEAT + rng.gumbel(size=logits.shape)).argmax(axis=1)
    known, fresh = slice(LOGIT_ROWS), slice(LOGIT_ROWS, None)
    usual = maps.TemperatureCalibrator(input="logit", pseudo_rows=0).fit(logits[known], y[known])
    stopped = recipe_temperature(logits[known], y[known])
    temperatures = {"none": 1.0, "recipe": stopped, "optimum": float(usual.temperature_)}
    found = {f"T, {name}": value for name, value in temperatures.items()}
    ece, labels = BinnedError(), list(range(CLASSES))
    for name, temperature in temperatures.items():
        p = _softmax(logits[fresh] / temperature)
        found[f"ECE, {name}"] = ece(y[fresh], p, lens="confidence", labels=labels)
        found[f"log loss, {name}"] = log_loss(y[fresh], p, labels=labels)
    before, after = (_softmax(logits[fresh] / t) for t in (1.0, temperatures["optimum"]))
    found["moved"] = float((before.argmax(axis=1) != after.argmax(axis=1)).mean())
    single = maps.OneVsRestCalibrator(maps.PlattCalibrator()).fit(before, y[fresh])
    sums = sum(part.predict_proba(before[:, k])[:, 1] for k, part in enumerate(single.parts_))
    found["sums"] = float(np.abs(np.asarray(sums) - 1).mean())
    return found


def recipe_temperature(logits: FloatArray, y: IntArray) -> float:
    """Temperature that the chapter's PyTorch code returns.

    `torch.optim.LBFGS` without a line search. Of one parameter its direction is the secant step,
    whatever it remembers; the first is the gradient, shortened to length 1 at most. Each is taken
    by the learning rate, so that fifty steps of a hundredth stop on the way.
    """
    temperature, gradient = 1.0, _gradient(logits, y, 1.0)
    direction, length = -gradient, min(1.0, 1 / abs(gradient)) * _STEP
    for _ in range(_STEPS - 1):
        temperature += length * direction
        new = _gradient(logits, y, temperature)
        change = new - gradient
        if change * length * direction > 1e-10:  # as there; else the last direction's curvature
            secant = length * direction / change
        gradient = new
        direction, length = -gradient * secant, _STEP
        if abs(gradient) <= 1e-7 or abs(length * direction) <= 1e-9:
            return temperature
    return temperature + length * direction


def _gradient(logits: FloatArray, y: IntArray, temperature: float) -> float:
    """Derivative of the mean negative log-likelihood by the temperature."""
    p = _softmax(logits / temperature)
    gap = logits[np.arange(len(y)), y] - (p * logits).sum(axis=1)
    return float(gap.mean()) / temperature**2


def _softmax(logits: FloatArray) -> FloatArray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return shares


def _causes(page: Page, many: Mapping[str, FloatArray]) -> None:
    page.section("Section 86.2: why models come out miscalibrated")
    page.text(
        f"""Models fitted to {TRAIN} rows with 20 features, ten of them sums of others, and judged
        on {TEST:,} fresh ones; {len(many["moved"])} data sets. The slope is that of a logistic
        regression of the outcomes on the predicted log odds: 1 is right, below it a model is
        over-confident, above it timid."""
    )
    slope = {name: many[f"slope, {name}"] for name in ("strong penalty", "usual penalty")}
    page.check(f"""
        - Section 86.2, a strong penalty | under-confidence | {drawn(slope["strong penalty"])} > 1 |
          slope of a logistic regression with C = 0.001
        - Section 86.2, a penalty of the usual size | under-confidence |
          {drawn(slope["usual penalty"])} > 1 | slope with C = 1, scikit-learn's default: it shrinks
          less than {TRAIN} rows over-fit, so the model is over-confident all the same
        - Section 86.2, naive Bayes | over-confidence | {drawn(many["slope, naive Bayes"])} < 1 |
          slope; redundant features count again and again
        - Section 86.2, boosted trees | over-confidence | {drawn(many["slope, boosted trees"])} < 1
          | slope of scikit-learn's gradient boosting with its defaults
        - Section 86.2, other base rate | is enough to break calibration |
          {drawn(many["excess, after"] - many["excess, before"])} as large | rise of the mean of
          predictions less outcomes when four of five positives are taken away
    """)


def _methods(page: Page, many: Mapping[str, FloatArray]) -> None:
    page.section("Sections 86.5 and 86.7: methods and habits")
    own = many["slope, on its own rows"]
    few, large = ({name: many[f"{name}, {n}"] for name in _MAPS} for n in (_FEW, _MANY))
    page.text(
        f"""Recalibration of the survey's over-confident classifier, whose distortion is no
        sigmoid, on {_FEW} and {_MANY:,} rows: log loss above the best possible, known from the
        truth."""
    )
    page.table(
        {
            "method": list(_MAPS),
            f"{_FEW} rows": [float(few[name].mean()) for name in _MAPS],
            f"{_MANY:,} rows": [float(large[name].mean()) for name in _MAPS],
        }
    )
    page.check(f"""
        - Section 86.5.3, temperature and classes | does not change the predicted class |
          {float(many["moved"].max())} == 0 | share of predictions that changed, at most
        - Section 86.5.2, isotonic on few rows | overfits with small samples |
          {drawn(few["isotonic"] - few["Platt"])} > 0 | its log loss less that of Platt scaling on
          {_FEW} rows, in nats
        - Section 86.7, isotonic on many rows | captures distortions the parametric methods miss |
          {drawn(large["isotonic"] - large["Platt"])} < 0 | the same on {_MANY:,} rows
        - Section 86.7, temperature on few rows | the more constrained method generalizes better |
          {drawn(few["temperature"] - few["Platt"])} < 0 | log loss of temperature less that of
          Platt scaling on {_FEW} rows: classes are balanced here and one parameter is enough, or it
          cannot be told
        - Section 86.7, one-versus-rest | does not guarantee that probabilities sum to one |
          {drawn(many["sums"])} > 0 | mean distance of the sum from 1 after Platt scaling of
          {CLASSES} classes, before renormalization
        - Section 86.7, calibrating on training rows | learns a near-identity map |
          {share(np.abs(own - 1) < 0.25)} as most | share of data sets where the slope of
          boosted trees is within a quarter of 1 on the rows they were fitted to. Its median is
          {np.median(own):.1f}: no identity, but the wrong way round, sharpening predictions that
          are too sharp on fresh rows ({many["slope, boosted trees"].mean():.2f})
    """)


def _recipe(page: Page, many: Mapping[str, FloatArray]) -> None:
    page.section("Section 86.8: the recipe for a deep network stops on the way")
    page.text(
        f"""Logits of {CLASSES} classes whose labels follow softmax(z / {HEAT:g});
        {LOGIT_ROWS:,} rows to fit, as many to test. The chapter optimises the temperature by
        `LBFGS(lr=0.01, max_iter=50)` and one call of `step`. Of a single parameter L-BFGS takes
        secant steps, here a hundredth of each, so that after fifty of them most of the way is left.
        With `line_search_fn="strong_wolfe"`, or lr=1, it arrives."""
    )
    names = {"none": "as it is", "recipe": "recipe", "optimum": "least log loss"}
    page.table(
        {
            "temperature": list(names.values()),
            "T": [float(many[f"T, {name}"].mean()) for name in names],
            "ECE": [float(many[f"ECE, {name}"].mean()) for name in names],
            "log loss": [float(many[f"log loss, {name}"].mean()) for name in names],
        }
    )
    page.check(f"""
        - Section 86.8, temperature of the recipe | minimizes the negative log-likelihood |
          {drawn(many["T, recipe"] / many["T, optimum"])} > 0.99 | as a share of the one that does;
          fifty steps of a hundredth stop on the way
        - Section 86.8, ECE after the recipe | {many["ECE, recipe"].mean()} | before
          {many["ECE, none"].mean():.3f}, at the optimum {many["ECE, optimum"].mean():.3f}
    """)
