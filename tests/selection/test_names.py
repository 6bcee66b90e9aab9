"""Names of calibrators, for options and for the command line."""

from __future__ import annotations

import pytest

import veridical.calibrators as calibrators
from veridical.calibrators import (
    BBQCalibrator,
    Calibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.selection._auto.auto import calibrator_named, calibrator_names, for_classes

# Written out, so that a new calibrator has to be looked at before it gets a name.
NAMES = [
    "auto", "bbq", "beta", "boosted", "density", "dirichlet", "ensemble-temperature", "histogram",
    "identity", "isotonic", "matrix", "near-isotonic", "online", "platt", "quadratic",
    "scaling-binning", "sigmoid", "simplex-histogram", "spline", "structured-matrix",
    "structured-vector",
    "temperature", "vector", "venn-abers",
]  # fmt: skip


def test_the_names_are_these():
    assert list(calibrator_names()) == NAMES


def test_every_public_calibrator_has_a_name_or_needs_another_one():
    named = {kind.__name__ for kind in calibrator_names().values() if kind is not None}
    public = {name for name in calibrators.__all__ if name.endswith("Calibrator")}
    of_features = {"SegmentCalibrator"}  # features cannot be named with a map
    for name in public - named - of_features:
        with pytest.raises(TypeError):  # abstract, or without a default for what it is made of
            getattr(calibrators, name)()
    assert named < public


@pytest.mark.parametrize("name", [name for name in NAMES if name != "auto"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_name_gives_a_calibrator_that_fits_so_many_classes(name, n_classes):
    p = {2: [0.2, 0.7, 0.9, 0.4] * 30, 3: [[0.6, 0.3, 0.1], [0.2, 0.1, 0.7], [0.3, 0.5, 0.2]] * 40}
    model = calibrator_named(name, n_classes)
    assert isinstance(model, Calibrator)
    y = [0, 1, 2, 1, 0] * 24 if n_classes == 3 else [0, 1, 1, 0, 1] * 24
    assert model.fit(p[n_classes], y).predict_proba(p[n_classes]).shape == (120, n_classes)


def test_two_names_for_platt():
    assert isinstance(calibrator_named("sigmoid"), PlattCalibrator)
    assert isinstance(calibrator_named("platt"), PlattCalibrator)


def test_capitals_and_underscores_do_not_matter():
    assert isinstance(calibrator_named("BBQ"), BBQCalibrator)
    assert type(calibrator_named("venn_abers")) is type(calibrator_named("venn-abers"))


def test_each_call_gives_a_new_object():
    assert calibrator_named("platt") is not calibrator_named("platt")


def test_only_maps_of_two_classes_are_wrapped():
    wrapped = calibrator_named("isotonic", 3)
    assert isinstance(wrapped, OneVsRestCalibrator)
    assert isinstance(wrapped.calibrator, IsotonicCalibrator)
    assert isinstance(calibrator_named("temperature", 3), TemperatureCalibrator)
    assert isinstance(calibrator_named("isotonic", 2), IsotonicCalibrator)


def test_wrapping_moves_what_the_wrapper_hands_on():
    wrapped = for_classes(PlattCalibrator(penalty=3, input="logit", weight_type="frequency"), 3)
    assert (wrapped.input, wrapped.weight_type) == ("logit", "frequency")
    assert wrapped.calibrator.penalty == 3
    logits = [[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 0.0, 2.0]] * 5
    assert wrapped.fit(logits, [0, 1, 2] * 5).predict_proba(logits).shape == (15, 3)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("isotonik", "isotonic"),
        ("plat", "platt"),
        ("ven-abers", "venn-abers"),
        ("Sigmoids", "sigmoid"),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(wrong, near):
    with pytest.raises(InvalidInputError, match=f"did you mean '{near}'"):
        calibrator_named(wrong)


@pytest.mark.parametrize("wrong", [None, 3, PlattCalibrator()])
def test_what_is_no_name_is_refused(wrong):
    with pytest.raises(InvalidInputError, match="`name` must be one of 'auto'"):
        calibrator_named(wrong)


def test_the_error_names_the_caller():
    with pytest.raises(InvalidInputError, match="calibrate: `--method` must be one of"):
        calibrator_named("isotonik", caller="calibrate", param="--method")
