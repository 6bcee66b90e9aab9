"""What other packages computed on the same rows, recorded in the JSON files beside this one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from veridical import (
    BinnedError,
    ClassSpecific,
    EdgeBins,
    QuantileBins,
    UniformBins,
    brier_score,
    evaluate,
    log_loss,
    reliability_curve,
)

PACKAGES = (
    "calzone",
    "mapie",
    "netcal",
    "relplot",
    "scikit_learn",
    "torchmetrics",
    "uncertainty_calibration",
)
# Recorded for parts of the library that do not exist yet.
LATER = {"spiegelhalter_test"}


def recorded():
    for package in PACKAGES:
        path = Path(__file__).with_name(f"{package}.json")
        content = json.loads(path.read_text(encoding="utf-8"))
        for case in content["cases"]:
            name = f"{package}: {case['name']}"
            yield pytest.param(case, content["inputs"][case["input"]], id=name)


CASES = list(recorded())


def rows(data):
    return np.array(data["y_true"]), np.array(data["y_prob"])


def binning(settings):
    if "edges" in settings:
        assert len(settings["edges"]) == settings["n_bins"] + 1
        return EdgeBins(settings["edges"][1:-1], closed=side(settings))
    if settings["binning"] == "quantile":
        return QuantileBins(settings["n_bins"])
    return UniformBins(settings["n_bins"], closed=side(settings))


def side(settings):
    return "right" if settings["closed"] == "either" else settings["closed"]


def closeness(case):
    return {"abs": max(case["tolerance"], 1e-9)}


def coincides(case):
    """Whether we have the definition: 2 e - E e* with norm 2 is not our unbiased square."""
    settings = case["settings"]
    return not (settings.get("debias") == "normal" and settings["norm"] == 2)


def of_quantity(*wanted, having=None):
    chosen = [
        param
        for param in CASES
        if param.values[0]["quantity"] in wanted
        and coincides(param.values[0])
        and (having is None or having in param.values[0]["settings"])
    ]
    return pytest.mark.parametrize(("case", "data"), chosen)


def test_every_recorded_quantity_is_replayed():
    known = {"brier_score", "log_loss", "roc_auc", "reliability_curve", "binned_error"}
    found = {param.values[0]["quantity"] for param in CASES}
    assert found <= known | {"squared_error"} | LATER
    assert known <= found


@of_quantity("brier_score", "log_loss")
def test_scores_agree(case, data):
    function = {"brier_score": brier_score, "log_loss": log_loss}[case["quantity"]]
    w = data["sample_weight"] if case["settings"]["weighted"] else None
    found = function(*rows(data), sample_weight=w)
    assert found == pytest.approx(case["output"], **closeness(case))


@pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
@of_quantity("roc_auc")
def test_areas_under_the_curve_agree(case, data):
    w = data["sample_weight"] if case["settings"]["weighted"] else None
    found = evaluate(*rows(data), sample_weight=w, n_bins=4).auc
    assert found == pytest.approx(case["output"], **closeness(case))


@of_quantity("reliability_curve")
def test_reliability_curves_agree(case, data):
    settings = case["settings"]
    curve = reliability_curve(*rows(data), lens=settings["lens"], binning=binning(settings))
    assert curve.observed == pytest.approx(case["output"]["prob_true"], **closeness(case))
    assert curve.predicted == pytest.approx(case["output"]["prob_pred"], **closeness(case))


@of_quantity("binned_error", "squared_error")
def test_binned_errors_agree(case, data):
    settings = case["settings"]
    y, p = rows(data)
    norm, debias = settings["norm"], settings["debias"]
    error = BinnedError(binning(settings), norm=norm, debias=debias in (True, "normal"))
    # A debiased error is cut at zero here; some packages return the negative number.
    expected = max(0.0, case["output"])
    if case["quantity"] == "squared_error":
        expected = math.sqrt(expected)
    found = error(y, p, lens=settings["lens"])
    if debias and settings["lens"] == "classwise":
        # There each class is cut at zero before the mean, here the mean is.
        each = [error(y, p, lens=ClassSpecific(k)) for k in range(p.shape[1])]
        cut_before = np.mean(np.power(each, norm)) ** (1 / norm)
        assert found <= cut_before + 1e-12
        found = cut_before
    assert found == pytest.approx(expected, **closeness(case))


@of_quantity("binned_error", having="bin_counts")
def test_recorded_bin_counts_agree(case, data):
    curve = reliability_curve(*rows(data), binning=binning(case["settings"]))
    assert curve.count.tolist() == case["settings"]["bin_counts"]


def test_multiclass_brier_score_of_scikit_learn_1_9():
    """`brier_score_loss` with scale_by_half="auto": the sum over K > 2 classes."""
    p = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
    expected = (
        (0.5**2 + 0.3**2 + 0.2**2) + (0.1**2 + 0.2**2 + 0.1**2) + (0.2**2 + 0.2**2 + 0.4**2)
    ) / 3
    assert brier_score([0, 1, 2], p) == pytest.approx(expected, abs=1e-15)
    assert expected == pytest.approx(0.22667, abs=5e-6)
