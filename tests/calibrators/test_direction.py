"""One column that points away from the larger label is doubted once a fit, and only if clearly."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from calibrators.every_calibrator import BY, EVERY
from scipy.stats import ttest_ind
from sklearn.base import clone

from veridical.calibrators import BetaCalibrator, IdentityCalibrator, PlattCalibrator
from veridical.calibrators._base.rows import points_away
from veridical.calibrators._wrappers.cross_fitted import cross_fitted
from veridical.exceptions import VeridicalWarning
from veridical.miscalibration import RecalibrationError

SAID = (
    "predictions are lower where 'good' happened, the class they are of unless you say otherwise; "
    "if they are of 'bad', pass pos_label='bad'."
)


def loans(n=200, seed=0):
    """Probabilities of a bad end, which "bad", the smaller label, follows."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return p, np.where(rng.random(n) < p, "bad", "good")


def doubts(calibrator, *rows, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calibrator.fit(*rows, **options)
    return caught


@pytest.mark.parametrize("name", EVERY)
def test_every_calibrator_says_it_once_and_where_the_user_is(name):
    calibrator, (p, y) = clone(EVERY[name]), loans()
    groups = {"by": np.arange(200) % 2} if isinstance(calibrator, BY) else {}
    caught = [w for w in doubts(calibrator, p, y, **groups) if "lower where" in str(w.message)]
    assert [str(w.message) for w in caught] == [f"{type(calibrator).__name__}: {SAID}"]
    assert caught[0].category is VeridicalWarning
    assert caught[0].filename == __file__
    calibrator.set_params(pos_label="bad").fit(p, y, **groups)  # warnings are errors here


@pytest.mark.parametrize("input", ["logit", "score"])
@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_logits_and_scores_are_doubted_too(input, shape):
    p, y = loans()
    z = np.log(p / (1 - p)).reshape(shape)
    with pytest.warns(VeridicalWarning, match="PlattCalibrator: " + SAID.replace(".", r"\.")):
        PlattCalibrator(input=input).fit(z, y)
    PlattCalibrator(input=input).fit(-z, y)


@pytest.mark.parametrize("form", [pl.DataFrame, pl.LazyFrame])
def test_frames_and_queries_are_doubted_too(form):
    p, y = loans()
    with pytest.warns(VeridicalWarning, match="lower where 'good'") as caught:
        BetaCalibrator().fit(form({"p": p, "y": y}), "y", prob="p")
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_two_columns_say_whose_they_are():
    p, y = loans()
    BetaCalibrator().fit(np.column_stack([1 - p, p]), y)  # useless, but nothing is mixed up
    BetaCalibrator(input="logit").fit(np.column_stack([1 - p, p]), y)


def test_whoever_was_told_the_class_gets_no_advice_on_labels():
    p, y = loans()
    said = r"^BetaCalibrator: predictions are lower where 'good' happened, the class they are of\.$"
    with pytest.warns(VeridicalWarning, match=said):
        BetaCalibrator(labels=["good", "bad"], pos_label="good").fit(p, y)


def test_fits_of_which_the_direction_is_settled_say_nothing():
    from sklearn.tree import DecisionTreeClassifier

    from veridical._core.sample import BinarySample
    from veridical.selection import CalibratedClassifier

    p, y = loans()
    sample = BinarySample(y=(y == "good").astype(int), p=p)
    cross_fitted(sample, PlattCalibrator(), 3)
    RecalibrationError()(y, p)
    # A model that has learnt the contrary: which column is whose is not in doubt.
    X = (p > 0.5).astype(float)[:, None]
    tree = DecisionTreeClassifier().fit(X, y)
    CalibratedClassifier(tree, "platt", cv="prefit").fit(1 - X, y)


def test_nothing_is_said_of_constants_of_few_rows_and_of_chance():
    y = np.repeat(["bad", "good"], [30, 70])
    for constant in (0.0, 0.1, 1.0, 1 / 3):
        IdentityCalibrator().fit(np.full(100, constant), y)
    few = np.repeat([0.9, 0.1], 9)
    IdentityCalibrator().fit(few, np.repeat(["bad", "good"], 9))
    with pytest.warns(VeridicalWarning, match="lower where"):  # ten rows of each are enough
        IdentityCalibrator().fit(np.repeat([0.9, 0.1], 10), np.repeat(["bad", "good"], 10))
    IdentityCalibrator(input="logit").fit([1e300, -1e300] * 20, ["good", "bad"] * 20)
    IdentityCalibrator(labels=["bad", "good"]).fit([0.5] * 20, ["good"] * 20)
    rng = np.random.default_rng(1)
    for _ in range(200):  # chance of four standard errors: 3e-5 each
        IdentityCalibrator().fit(rng.random(60), rng.permutation(np.repeat(["bad", "good"], 30)))


@pytest.mark.parametrize("shift", [-0.9, -0.55, -0.5, -0.2, 0.0, 0.5])
def test_the_bound_is_four_standard_errors_of_welch(shift):
    rng = np.random.default_rng(3)
    low, high = rng.normal(0, 1, 80), rng.normal(0, 2, 300)
    high += shift * 2 - high.mean() + low.mean()
    t = ttest_ind(high, low, equal_var=False).statistic
    values, y = np.concatenate([low, high]), np.repeat([0, 1], [80, 300])
    assert points_away(values, y, None, "importance") == (t < -4)


def test_counts_are_repetitions_and_importance_has_no_unit():
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    weight = rng.integers(1, 5, 60).astype(float)
    answers = set()
    for shift in np.linspace(0, 2, 21):
        values = rng.normal(size=60) - shift * y
        counted = points_away(values, y, weight, "frequency")
        times = weight.astype(int)
        assert counted == points_away(values.repeat(times), y.repeat(times), None, "frequency")
        scaled = points_away(values * 1e200, y, weight * 7, "importance")
        assert scaled == points_away(values, y, weight, "importance")
        answers.add(counted)
    assert answers == {True, False}
