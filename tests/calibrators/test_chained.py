"""Calibrators one after the other: chains, and pipelines of scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.pipeline import make_pipeline

from veridical.calibrators import (
    BetaCalibrator,
    Calibrator,
    ChainedCalibrator,
    GroupedCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.calibrators.core import cross_fitted
from veridical.exceptions import InvalidInputError
from veridical.selection import AutoCalibrator


def _rows(n: int = 600, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    z = rng.normal(0, 2.5, (n, k))
    truth = softmax(z / 2 + np.linspace(-0.4, 0.4, k), axis=1)
    y = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=k - 1)
    return softmax(z, axis=1), y


def _irova_ts() -> ChainedCalibrator:
    first = TemperatureCalibrator(pseudo_rows=0)
    return ChainedCalibrator([first, OneVsRestCalibrator(IsotonicCalibrator(laplace=0))])


def test_a_temperature_then_isotonic_maps_is_what_mix_n_match_does():
    p, y = _rows()
    new = _rows(50)[0] ** 0.9
    new /= new.sum(axis=1, keepdims=True)
    chain = _irova_ts().fit(p, y)
    # By hand: IROvA of Mix-n-Match on temperature-scaled probabilities, with scikit-learn's PAVA.
    inverse = chain.parts_[0].inverse_temperature_
    scaled, scaled_new = (
        softmax(np.log(p) * inverse, axis=1),
        softmax(np.log(new) * inverse, axis=1),
    )
    columns = [
        IsotonicRegression(out_of_bounds="clip").fit(scaled[:, k], y == k).predict(scaled_new[:, k])
        for k in range(4)
    ]
    expected = np.column_stack(columns)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(chain.predict_proba(new), expected, atol=1e-9)


def test_each_step_is_fitted_to_what_the_step_before_gives():
    p, y = _rows(k=2)
    chain = ChainedCalibrator([PlattCalibrator(), BetaCalibrator()]).fit(p[:, 1], y)
    first = PlattCalibrator().fit(p[:, 1], y)
    second = BetaCalibrator().fit(first.predict_proba(p[:, 1]), y)
    assert (chain.parts_[1].a_, chain.parts_[1].b_) == (second.a_, second.b_)
    expected = second.predict_proba(first.predict_proba(p[:, 1]))
    np.testing.assert_array_equal(chain.predict_proba(p[:, 1]), expected)


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_the_positive_class_may_come_first(positive):
    p, y = _rows(k=2)
    names = np.where(y == 1, positive, "good" if positive == "bad" else "bad")
    steps = [TemperatureCalibrator(), IsotonicCalibrator()]
    found = ChainedCalibrator(steps, pos_label=positive).fit(p[:, 1], names)
    plain = ChainedCalibrator(steps).fit(p[:, 1], y)
    place = found.classes_.tolist().index(positive)
    np.testing.assert_allclose(
        found.predict_proba([0.2, 0.7])[:, place],
        plain.predict_proba([0.2, 0.7])[:, 1],
        atol=1e-12,
    )


def test_logits_go_into_the_first_step_only():
    p, y = _rows()
    chain = _irova_ts().set_params(input="logit").fit(np.log(p) + 3, y)
    assert [part.input for part in chain.parts_] == ["logit", "probability"]
    np.testing.assert_allclose(
        chain.predict_proba(np.log(p) - 1), _irova_ts().fit(p, y).predict_proba(p), atol=1e-9
    )


def test_it_is_saved_and_read_back():
    p, y = _rows()
    chain = _irova_ts().fit(p, y)
    back = Calibrator.from_dict(json.loads(json.dumps(chain.to_dict())))
    assert isinstance(back, ChainedCalibrator)
    np.testing.assert_array_equal(back.predict_proba(p), chain.predict_proba(p))


def test_it_is_cross_fitted_and_chosen_like_any_map():
    from veridical._core.data.validation import check_sample

    p, y = _rows()
    sample = check_sample(y, p, caller="test")
    found = cross_fitted(sample, _irova_ts(), 3)
    assert found.p.shape == p.shape
    auto = AutoCalibrator(candidates={"chain": _irova_ts()}).fit(p, y)
    assert auto.evidence_.candidate("chain").log_loss < np.inf


@pytest.mark.parametrize("given", [[], PlattCalibrator(), "platt", [PlattCalibrator]])
def test_steps_must_be_a_list_of_calibrators(given):
    with pytest.raises(InvalidInputError) as caught:
        ChainedCalibrator(given).fit([0.2, 0.7], [0, 1])
    assert caught.value.param in ("calibrators", "calibrator")


def test_a_later_step_cannot_take_logits():
    chain = ChainedCalibrator([PlattCalibrator(), BetaCalibrator(input="logit")], input="logit")
    with pytest.raises(InvalidInputError, match="take probabilities after the first"):
        chain.fit([0.2, 0.7], [0, 1])


def test_calibrators_are_steps_of_a_pipeline():
    p, y = _rows(k=2)
    pipe = make_pipeline(TemperatureCalibrator(), IsotonicCalibrator()).fit(p[:, 1], y)
    chain = ChainedCalibrator([TemperatureCalibrator(), IsotonicCalibrator()]).fit(p[:, 1], y)
    np.testing.assert_allclose(
        pipe.predict_proba(p[:, 1]), chain.predict_proba(p[:, 1]), atol=1e-12
    )
    assert clone(pipe).fit(p, y).predict(p).tolist() == chain.predict(p).tolist()
    several, labels = _rows()
    pipe = make_pipeline(TemperatureCalibrator(), OneVsRestCalibrator(IsotonicCalibrator()))
    assert pipe.fit(several, labels).transform(several).shape == several.shape


def test_arrays_become_arrays_and_have_no_columns_to_name():
    map = HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1])
    assert map.transform([0.25, 0.75]).tolist() == map.predict_proba([0.25, 0.75]).tolist()
    with pytest.raises(InvalidInputError, match="a frame"):
        map.transform([0.25], names="q")


def test_a_map_of_groups_says_that_groups_are_missing():
    groups = GroupedCalibrator(PlattCalibrator()).fit([0.2, 0.7], [0, 1], by=["a", "b"])
    with pytest.raises(InvalidInputError, match="`by` must be given"):
        groups.transform([0.2])
