"""What a binned error refuses, and how it names itself."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import BinnedError, InvalidInputError, QuantileBins, UniformBins
from veridical.miscalibration import Estimator

Y, P = [0, 1] * 20, np.linspace(0.05, 0.95, 40)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": 0.5}, "`norm` must be a number >= 1"),
        ({"norm": "l1"}, "`norm` must be a number >= 1"),
        ({"norm": float("nan")}, "`norm` must be a number >= 1"),
        ({"norm": True}, "`norm` must be a number >= 1"),
        ({"norm": None}, "`norm` must be a number >= 1"),
        ({"binning": 15}, "`binning` must be a binning"),
        ({"binning": UniformBins}, "`binning` must be a binning"),
        ({"assignment": "soft"}, "`assignment` must be one of"),
        ({"aggregate": "median"}, "`aggregate` must be one of"),
        ({"distance": "l3"}, "`distance` must be one of"),
        ({"distance": 3}, "`distance` must be one of"),
        ({"norm": 3, "debias": True}, "`debias` must be False here"),
        ({"norm": "max", "debias": True}, "`debias` must be False here"),
        ({"assignment": "linear", "debias": True}, "`debias` must be False here"),
        ({"distance": "l1", "debias": True}, "`debias` must be False here"),
        ({"region": (0.9, 0.1)}, "`region` must be"),
        ({"region": (-0.1, 0.5)}, "`region` must be"),
        ({"region": (0.5,)}, "`region` must be"),
        ({"region": 0.5}, "`region` must be"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused_at_once(options, message):
    with pytest.raises(InvalidInputError, match=message):
        BinnedError(**options)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ((0.96, 1.0), "non-empty"),
        (lambda p: p[:3] > 0, "a mask of rows"),
        (lambda p: p, "a mask of rows"),
    ],
)
def test_a_region_must_select_some_rows(region, message):
    with pytest.raises(InvalidInputError, match=message):
        BinnedError(region=region)(Y, P)


def test_a_region_of_vectors_is_a_function_of_the_matrix():
    p, y = np.tile([0.5, 0.25, 0.25], (20, 1)), [0, 1] * 10
    with pytest.raises(InvalidInputError, match="callable for vectors"):
        BinnedError(UniformBins(3), region=(0, 1))(y, p, lens="canonical")
    found = BinnedError(UniformBins(3), region=lambda q: q[:, 0] > 0.4)(y, p, lens="canonical")
    assert found == BinnedError(UniformBins(3))(y, p, lens="canonical")


def test_a_distance_that_is_none_is_refused():
    for wrong in (lambda a, b: 1.0, lambda a, b: -np.ones(len(a)), lambda a, b: a - b):
        with pytest.raises(InvalidInputError, match="`distance` must be a function"):
            BinnedError(UniformBins(5), distance=wrong)(Y, P)


def test_norm_one_of_vectors_cannot_be_debiased():
    p, y = np.tile([0.5, 0.25, 0.25], (20, 1)), [0, 1] * 10
    with pytest.raises(InvalidInputError, match="use norm=2"):
        BinnedError(UniformBins(3), debias=True)(y, p, lens="canonical")


@pytest.mark.parametrize(
    ("options", "name"),
    [({}, "ECE"), ({"norm": 2}, "RMSCE"), ({"norm": "max"}, "MCE"), ({"norm": 3}, "L3 error"),
     ({"norm": float("inf")}, "MCE"), ({"debias": True}, "ECE debiased")],
)  # fmt: skip
def test_errors_have_the_names_people_use(options, name):
    assert BinnedError(**options).name == name


def test_the_definition_says_everything_that_was_chosen():
    error = BinnedError(
        QuantileBins(9), assignment="linear", distance="l1", region=(0.5, 1), aggregate="max"
    )
    assert error.definition == (
        "9 equal-mass bins, linear assignment, distance l1, predictions in (0.5, 1), "
        "max over classes"
    )
    assert BinnedError().definition == "15 equal-width bins"


def test_estimators_are_values():
    assert BinnedError(QuantileBins(9)) == BinnedError(QuantileBins(9))
    assert BinnedError(QuantileBins(9)) != BinnedError(QuantileBins(8))
    assert isinstance(BinnedError(), Estimator)


def test_a_warning_or_error_names_the_function_the_user_called():
    with pytest.raises(InvalidInputError, match=r"^BinnedError: `y_prob`"):
        BinnedError()([0, 1], [0.5, 1.5])
