"""Calibrators as JSON: exact, without code, and refusing what it does not know."""

import json
import math

import numpy as np
import pytest

from veridical._core.data.schema import Place
from veridical.calibrators import (
    Calibrator,
    GroupedCalibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
)
from veridical.calibrators._base.persistence import FORMAT, _decode_value, _encode_value
from veridical.exceptions import InvalidInputError


def through_json(value):
    text = json.dumps(_encode_value(value), allow_nan=False)
    return _decode_value(json.loads(text), Place("from_dict"))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.0,
        0.1 + 0.2,
        5e-324,
        math.inf,
        -math.inf,
        "text",
        (1, (2.5, None)),
        [1, [2, "x"]],
        {"a": 1, 2: [3.5], (4, "b"): {"deep": ()}},
        {"array": [1], "float": "nan"},  # looks like what stands for other values
    ],
)
def test_plain_values(value):
    got = through_json(value)
    assert got == value
    assert type(got) is type(value)
    assert repr(got) == repr(value)


def test_nan():
    assert math.isnan(through_json(math.nan))


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, np.nan, -np.inf, 5e-324]),
        np.arange(6, dtype=np.int8).reshape(2, 3),
        np.zeros((0, 3)),
        np.array(["a", "bcd"]),
        np.array([True, False]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.float32([0.1, 0.2]),
    ],
)
def test_arrays_keep_type_shape_and_bits(array):
    got = through_json(array)
    assert got.dtype == array.dtype
    np.testing.assert_array_equal(got, array)
    assert got.tobytes() == array.tobytes()


def test_numpy_numbers_become_plain():
    assert through_json(np.float64(0.1)) == 0.1
    assert through_json(np.int64(3)) == 3


def test_calibrators_within_calibrators():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 200)
    y, by = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    model = GroupedCalibrator(OneVsRestCalibrator(IsotonicCalibrator()), shrinkage=7)
    model.fit(p, y, by=by)
    again = Calibrator.from_dict(json.loads(json.dumps(model.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(again.predict_proba(p, by=by), model.predict_proba(p, by=by))
    assert again.groups_ == [0, 1, 2, 3]
    assert isinstance(again.calibrator, OneVsRestCalibrator)
    assert isinstance(again.calibrator.calibrator, IsotonicCalibrator)
    assert again.seen(p, y) == 1
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()


def test_not_fitted_can_be_written_too():
    again = Calibrator.from_dict(IdentityCalibrator(labels=["a", "b"]).to_dict())
    assert again.labels == ["a", "b"]
    assert not hasattr(again, "classes_")


def test_class_asked_for_has_to_be_the_one_written():
    data = IdentityCalibrator().to_dict()
    assert isinstance(IdentityCalibrator.from_dict(data), IdentityCalibrator)
    with pytest.raises(InvalidInputError, match="a IsotonicCalibrator; got IdentityCalibrator"):
        IsotonicCalibrator.from_dict(data)


def test_refuses_what_it_does_not_know():
    data = IdentityCalibrator().to_dict()
    assert data["format"] == FORMAT
    with pytest.raises(InvalidInputError, match="known format"):
        Calibrator.from_dict(data | {"format": FORMAT + 1})
    with pytest.raises(InvalidInputError, match="calibrator that this version knows"):
        Calibrator.from_dict(data | {"calibrator": "os.system"})
    for name in ("overlap_note", "NotFittedError", "Calibrator", None):
        with pytest.raises(InvalidInputError, match="calibrator that this version knows"):
            Calibrator.from_dict(data | {"calibrator": name})
    for foreign in ({"fitted": {"predict_proba": 1}}, {"fitted": {"__class__": 1}},
                    {"parameters": {"shell": 1}}):  # fmt: skip
        with pytest.raises(InvalidInputError, match="foreign"):
            Calibrator.from_dict(data | foreign)
    with pytest.raises(InvalidInputError, match="saved calibrator"):
        Calibrator.from_dict({"slope": 1})
    with pytest.raises(InvalidInputError, match="saved calibrator"):
        Calibrator.from_dict([1, 2])


def test_values_that_are_not_plain():
    model = IdentityCalibrator(labels=[object(), object()])
    with pytest.raises(InvalidInputError, match="plain values"):
        model.to_dict()


def test_private_state_is_not_written():
    model = IdentityCalibrator().fit([0.2, 0.7], [0, 1])
    model._scratch_ = 1
    model.keeps_fingerprint = False
    assert set(model.to_dict()["fitted"]) == {
        "positive_index_",
        "floor_",
        "classes_",
        "fingerprint_",
        "score_range_",
    }
