"""Tests, intervals, curves and decompositions take frames and files as `evaluate` does."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import veridical as v
from veridical.exceptions import InvalidInputError, VeridicalWarning

N = 200
RNG = np.random.default_rng(3)
P = RNG.beta(2, 2, N).round(6)
Q = (P**1.3).round(6)
Y = (RNG.random(N) < P).astype(int)
W = RNG.uniform(0.5, 2, N).round(6)
GROUP = np.where(np.arange(N) % 2, "odd", "even")
COLUMNS = {"label": Y, "p": P, "q": Q, "w": W, "g": GROUP}
ERROR = v.BinnedError(v.UniformBins(5))
DRAWN = {"n_resamples": 40, "rng": 0}

# How each function is called with the first arguments (data) and any other option.
CALLS = {
    "consistency_test": lambda *d, **k: v.consistency_test(ERROR, *d, **DRAWN, **k),
    "null_level": lambda *d, **k: v.null_level(ERROR, *d, **DRAWN, **k),
    "multiple_test": lambda *d, **k: v.multiple_test(ERROR, *d, **DRAWN, **k),
    "bootstrap_interval": lambda *d, **k: v.bootstrap_interval(v.BrierScore(), *d, **k),
    "spiegelhalter_test": lambda *d, **k: v.spiegelhalter_test(*d, **DRAWN, **k),
    "hosmer_lemeshow_test": lambda *d, **k: v.hosmer_lemeshow_test(*d, **DRAWN, **k),
    "pearson_test": lambda *d, **k: v.pearson_test(*d, **DRAWN, **k),
    "cox_test": lambda *d, **k: v.cox_test(*d, **DRAWN, **k),
    "kernel_test": lambda *d, **k: v.kernel_test(*d, **DRAWN, **k),
    "t_cal_test": lambda *d, **k: v.t_cal_test(*d, **DRAWN, **k),
    "equivalence_test": lambda *d, **k: v.equivalence_test(*d, delta=0.2, n_bins=5, **k),
    "reliability_curve": lambda *d, **k: v.reliability_curve(*d, **k),
    "local_calibration_error": lambda *d, **k: v.local_calibration_error(*d, **k),
    "decompose": lambda *d, **k: v.decompose(*d, **k),
    "decision_curve": lambda *d, **k: v.decision_curve(*d, **k),
    "cost_curve": lambda *d, **k: v.cost_curve(*d, **k),
    "roc_hull": lambda *d, **k: v.roc_hull(*d, **k),
}


@pytest.fixture(params=["pandas", "polars", "lazy", "csv"])
def table(request, tmp_path):
    frame = pl.DataFrame(COLUMNS)
    if request.param == "csv":
        frame.write_csv(tmp_path / "rows.csv")
        return str(tmp_path / "rows.csv")
    return {"pandas": pd.DataFrame(COLUMNS), "polars": frame, "lazy": frame.lazy()}[request.param]


def figures(result):
    """All of a result but what its event is called: arrays have no names."""
    return {name: value for name, value in result.to_dict().items() if name != "event"}


@pytest.mark.parametrize("name", CALLS)
def test_a_table_is_its_columns(name, table):
    call = CALLS[name]
    assert figures(call(table, y="label", prob="p")) == figures(call(Y, P))


@pytest.mark.parametrize("name", [name for name in CALLS if name != "t_cal_test"])
def test_weights_may_be_a_column(name):
    call, frame = CALLS[name], pd.DataFrame(COLUMNS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VeridicalWarning)
        found = call(frame, y="label", prob="p", sample_weight="w")
        assert figures(found) == figures(call(Y, P, sample_weight=W))


def test_the_sequential_test_reads_rows_in_their_order(table):
    found = v.sequential_test(table, y="label", prob="p")
    assert found.to_dict() == v.sequential_test(Y, P).to_dict()


def test_groups_may_be_a_column(table):
    found = v.multiple_test(ERROR, table, y="label", prob="p", by="g", **DRAWN)
    assert found.to_dict() == v.multiple_test(ERROR, Y, P, by=GROUP, **DRAWN).to_dict()


def test_two_models_may_be_columns(table):
    found = v.paired_difference(v.BrierScore(), table, y="label", prob="p", other="q")
    assert found.to_dict() == v.paired_difference(v.BrierScore(), Y, P, Q).to_dict()


def test_a_second_model_is_needed():
    with pytest.raises(InvalidInputError, match="`other` must be predictions to compare with"):
        v.paired_difference(v.BrierScore(), Y, P)


def test_what_was_guessed_is_a_note_where_there_are_notes():
    frame = pd.DataFrame({"label": Y, "p": P})
    assert v.spiegelhalter_test(frame).notes == (
        "guessed y='label', prob='p'; pass others if that is wrong",
    )
    with pytest.warns(VeridicalWarning, match="reliability_curve: guessed y='label', prob='p'"):
        v.reliability_curve(frame)


@pytest.mark.parametrize("function", [v.reliability_curve, v.local_calibration_error])
def test_the_warning_of_a_guess_points_at_the_line_of_the_user(function):
    with pytest.warns(VeridicalWarning, match="guessed y='label', prob='p'") as caught:
        function(pd.DataFrame({"label": Y, "p": P}))
    assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize("name", CALLS)
def test_columns_and_arrays_do_not_go_together(name):
    with pytest.raises(InvalidInputError, match="`y` must be unset when arrays are given"):
        CALLS[name](Y, P, y="label")


@pytest.mark.parametrize(
    "name", sorted(CALLS.keys() - {"reliability_curve", "local_calibration_error"})
)
def test_sums_are_refused_with_what_takes_them(name):
    with pytest.raises(InvalidInputError, match="sums of them, a GridSummary") as error:
        CALLS[name](v.grid_summary(Y, P))
    assert "`calibration_tests`" in error.value.hint


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_bins": 5},
        {"interval": "clopper-pearson"},
        {"strategy": "quantile", "n_bins": 4},
        {"method": "isotonic"},
        {"method": "isotonic", "interval": "simultaneous"},
        {"method": "smooth", "interval": "bootstrap", "n_resamples": 20, "rng": 0},
    ],
)
def test_the_curve_of_sums_is_that_of_summary_curve(options):
    summary = v.grid_summary(Y, P)
    expected = v.summary_curve(summary, **options).to_dict()
    assert v.reliability_curve(summary, **options).to_dict() == expected


def test_the_binned_curve_of_sums_is_that_of_the_rows():
    of_rows, of_sums = v.reliability_curve(Y, P), v.reliability_curve(v.grid_summary(Y, P))
    np.testing.assert_allclose(of_sums.observed, of_rows.observed, rtol=1e-12)
    np.testing.assert_allclose(of_sums.low, of_rows.low, rtol=1e-12)


def test_a_summary_leaves_nothing_to_say_about_its_rows():
    with pytest.raises(InvalidInputError, match="`sample_weight` must be unset for a summary"):
        v.reliability_curve(v.grid_summary(Y, P), sample_weight=W)
