"""Every test and null level takes what rows belong to, and says how outcomes were drawn."""

import numpy as np
import pandas as pd
import pytest

from veridical import BinnedError, BrierScore, InvalidInputError, UniformBins
from veridical.inference import (
    consistency_test,
    cox_test,
    hosmer_lemeshow_test,
    joint_test,
    kernel_test,
    multiple_test,
    null_level,
    pearson_test,
    spiegelhalter_test,
    t_cal_test,
)

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

ERROR = BinnedError(UniformBins(4))


def rows(n_classes=2, seed=0):
    """Twelve groups whose rows have one outcome, of predictions that take few values."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(12), 10)
    p = rng.choice([0.2, 0.4, 0.5, 0.8], 120)
    y = (rng.random(12)[g] < p).astype(int)
    if n_classes == 3:
        p = np.column_stack([1 - p, p * 0.75, p * 0.25])
        y = y * (1 + rng.integers(0, 2, 12)[g])
    names = np.array([f"patient {k}" for k in range(12)])
    return y, p, names[g]


TESTS = {
    "cox": cox_test,
    "hosmer-lemeshow": hosmer_lemeshow_test,
    "joint": joint_test,
    "kernel": kernel_test,
    "kernel ucme": lambda *a, **k: kernel_test(*a, method="ucme", **k),
    "pearson": pearson_test,
    "spiegelhalter": spiegelhalter_test,
    "t-cal": t_cal_test,
}
OF_ESTIMATORS = {
    "consistency": consistency_test,
    "multiple": multiple_test,
    "null level": null_level,
}
OPTIONS = {"n_resamples": 99, "rng": 0}


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_tests_take_arrays_and_columns_and_say_so(name, n_classes):
    y, p, g = rows(n_classes)
    columns = {"p": p} if n_classes == 2 else {f"p{k}": p[:, k] for k in range(3)}
    frame = pd.DataFrame({"y": y, **columns, "g": g})
    prob = "p" if n_classes == 2 else list(columns)
    test = TESTS[name]
    more = {"labels": list(range(n_classes)), **OPTIONS}
    alone = test(y, p, **more)
    array = test(y, p, groups=g, **more)
    column = test(frame, y="y", prob=prob, groups="g", **more)
    assert array.pvalue == column.pvalue
    assert array.null == column.null
    assert "together within 12 groups" in array.null
    assert "groups" not in alone.null
    assert array.pvalue > alone.pvalue  # outcomes of a group are one


@pytest.mark.parametrize("name", OF_ESTIMATORS)
@pytest.mark.parametrize("estimator", [ERROR, BrierScore()], ids=lambda e: e.name)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_figures_take_arrays_and_columns(name, estimator, n_classes):
    y, p, g = rows(n_classes)
    columns = {"p": p} if n_classes == 2 else {f"p{k}": p[:, k] for k in range(3)}
    frame = pd.DataFrame({"y": y, **columns, "g": g})
    prob = "p" if n_classes == 2 else list(columns)
    more = {"labels": list(range(n_classes)), **OPTIONS}
    if name == "multiple" and n_classes == 2:
        more["by"] = np.tile(["a", "b"], 60)
    function = OF_ESTIMATORS[name]
    array = function(estimator, y, p, groups=g, **more)
    column = function(estimator, frame, y="y", prob=prob, groups="g", **more)
    assert array.to_dict() == column.to_dict()
    if name == "null level":
        assert array.std > 1.3 * function(estimator, y, p, **more).std


@pytest.mark.parametrize("method", ["bootstrap", "asymptotic-block", "distribution-free"])
def test_kernel_methods_that_need_independent_rows_refuse(method):
    y, p, g = rows()
    with pytest.raises(InvalidInputError, match="`groups` must be unset") as error:
        kernel_test(y, p, groups=g, method=method, **OPTIONS)
    assert error.value.param == "groups"


@pytest.mark.parametrize("test", [pearson_test, hosmer_lemeshow_test, spiegelhalter_test, cox_test])
def test_asymptotic_distributions_refuse(test):
    y, p, g = rows()
    with pytest.raises(InvalidInputError) as error:
        test(y, p, groups=g, null="asymptotic", **OPTIONS)
    assert error.value.param == "groups"


def test_a_hypothesis_that_is_not_simple_refuses():
    y, p, g = rows()
    with pytest.raises(InvalidInputError) as error:
        hosmer_lemeshow_test(y, p, groups=g, fitted=True, n_bins=4, **OPTIONS)
    assert error.value.param == "groups"


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (np.arange(7), "of shape"),
        ("g", "one key per row"),
        (np.where(np.arange(120) == 3, None, "a"), "free of missing"),
    ],
)
def test_groups_that_are_none_are_refused(groups, words):
    y, p, _ = rows()
    with pytest.raises(InvalidInputError, match=words) as error:
        joint_test(y, p, groups=groups, **OPTIONS)
    assert error.value.param == "groups"


@pytest.mark.parametrize("name", TESTS)
def test_zero_weight_is_removal_with_groups(name):
    y, p, g = rows()
    w = np.where(np.arange(120) % 5 == 0, 0.0, np.where(y, 1.0, 3.0))
    some, test = w > 0, TESTS[name]
    whole = test(y, p, sample_weight=w, groups=g, **OPTIONS)
    part = test(y[some], p[some], sample_weight=w[some], groups=g[some], **OPTIONS)
    assert (whole.pvalue, whole.null) == (part.pvalue, part.null)
    assert "one weight a label, together within 12 groups" in whole.null


def test_zero_weight_is_removal_with_pooled_classes():
    y, p, g = rows(3)
    w = (np.arange(120) % 5 > 0) * 2.0
    some = w > 0
    options = {"lens": "pooled", "labels": [0, 1, 2], **OPTIONS}
    whole = null_level(ERROR, y, p, sample_weight=w, groups=g, **options)
    part = null_level(ERROR, y[some], p[some], groups=g[some], **options)
    assert whole.sample == pytest.approx(part.sample)
