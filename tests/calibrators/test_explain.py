"""Sentences about maps: the figures in them are computed here from formulas."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from calibrators.every_calibrator import BINARY, EVERY, MULTICLASS, fit, untied_three
from scipy.special import expit, logit, softmax

from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    ChainedCalibrator,
    GroupedCalibrator,
    HistogramCalibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    NotFittedError,
    PlattCalibrator,
    TemperatureCalibrator,
    VectorCalibrator,
)
from veridical.exceptions import VeridicalWarning


def _rows(slope: float = 0.5, shift: float = 0.0, n: int = 2000):
    rng = np.random.default_rng(2)
    p = rng.beta(0.8, 0.8, n)
    return p, (rng.random(n) < expit(slope * logit(p) + shift)).astype(int)


def _becomes(text: str) -> dict[float, float]:
    """What the sentence says becomes of which score."""
    pairs = re.findall(r"([-\d.e]+) (?:becomes|stays) ([\d.e-]+\d)", text)
    return {float(a): float(b) for a, b in pairs}


def test_the_figures_of_a_temperature():
    p, y = _rows()
    map = TemperatureCalibrator(pseudo_rows=0).fit(p, y)
    text = map.explain()
    temperature = float(re.match(r"Divides log odds by ([\d.]+)\.", text)[1])
    assert temperature == pytest.approx(map.temperature_, rel=5e-3)
    for given, becomes in _becomes(text).items():
        assert becomes == pytest.approx(expit(logit(given) / map.temperature_), abs=0.005)
    assert set(_becomes(text)) == {0.1, 0.5, 0.9}
    assert "taken to be over-confident" in text


@pytest.mark.parametrize(
    ("slope", "shift", "words"),
    [
        (0.5, 0.0, "over-confident"),
        (2.0, 0.0, "under-confident"),
        (1.0, -1.5, "saying too much"),
        (1.0, 1.5, "saying too little"),
    ],
)
@pytest.mark.parametrize("map", [PlattCalibrator(), BetaCalibrator(), IsotonicCalibrator()])
def test_how_the_model_is_treated_follows_from_the_truth(map, slope, shift, words):
    text = map.fit(*_rows(slope, shift, 20_000)).explain()
    assert f"the model is taken to be {words}." in text


def test_the_figures_of_platt_scaling_and_of_scores():
    p, y = _rows()
    map = PlattCalibrator().fit(p, y)
    said = re.match(r"Multiplies log odds by (\S+) and adds (\S+)\.", map.explain())
    slope, intercept = said.groups()
    assert float(slope) == pytest.approx(map.slope_, rel=5e-3)
    assert float(intercept) == pytest.approx(map.intercept_, rel=5e-3)
    scored = PlattCalibrator(input="score").fit(100 * logit(p) + 500, y)
    text = scored.explain()
    for given, becomes in _becomes(text).items():
        expected = expit(scored.slope_ * given + scored.intercept_)
        assert becomes == pytest.approx(expected, rel=0.06)
    assert "confident" not in text  # a score claims nothing


def test_rare_events_are_told_of_by_scores_that_were_seen():
    rng = np.random.default_rng(4)
    p = rng.beta(0.5, 60, 5000).clip(1e-5, 0.06)
    y = (rng.random(5000) < 2 * p).astype(int)
    map = PlattCalibrator().fit(p, y)
    text = map.explain()
    points = _becomes(text)
    assert len(points) == 3
    for given, becomes in points.items():
        assert p.min() <= given <= p.max()
        expected = expit(map.slope_ * logit(given) + map.intercept_)
        assert becomes == pytest.approx(expected, rel=0.06)
    assert "saying too little" in text


def test_nothing_was_seen_outside_the_range():
    p, y = _rows(n=300)
    p = 0.02129 + 0.9 * p
    text = PlattCalibrator().fit(p, y).explain()
    said = re.search(r"Nothing was seen below ([\d.]+) or above ([\d.]+) in 300 rows", text)
    low, high = said.groups()
    assert 0 <= p.min() - float(low) < 0.001 * p.min() + 1e-3
    assert 0 <= float(high) - p.max() < 1e-3
    p[0], p[1] = 0.0, 1.0
    assert "Nothing was seen" not in PlattCalibrator().fit(p, y).explain()


def test_the_class_of_the_probability_is_named():
    p, y = _rows(n=200)
    frame = pd.DataFrame({"PD": p, "Status": np.where(y == 1, "bad", "good")})
    map = PlattCalibrator(pos_label="bad").fit(frame, "Status", prob="PD")
    assert "As the probability that Status = bad, 0.1 becomes" in map.explain()


def test_logits_are_told_as_logits():
    p, y = _rows(n=500)
    map = TemperatureCalibrator(input="logit", pseudo_rows=0).fit(logit(p), y)
    text = map.explain()
    assert "As a logit for the probability of 1, -2 becomes" in text
    for given, becomes in _becomes(text).items():
        assert becomes == pytest.approx(expit(given / map.temperature_), abs=0.005)


def test_several_classes_are_told_by_what_becomes_of_nine_tenths():
    p, y = untied_three()
    map = VectorCalibrator(pseudo_rows=0).fit(p, np.array(["a", "b", "c"])[y])
    rows = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
    found = np.diag(softmax(np.log(rows) * map.coef_ + map.intercept_, axis=1))
    text = map.explain()
    said = re.search(r"becomes ([\d.]+) for '\w' and up to ([\d.]+) for", text)
    first, second = said.groups()
    assert float(first) == pytest.approx(found.min(), abs=0.005)
    assert float(second) == pytest.approx(found.max(), abs=0.005)
    assert "over-confident" in text


def test_steps_pools_and_chains_say_what_they_are_made_of():
    p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    steps = HistogramCalibrator(n_bins=2).fit(p, y).explain()
    assert steps.startswith("Is constant on each of 2 intervals, with values from 0.4 to 0.8.")
    parts = [IdentityCalibrator(), HistogramCalibrator(n_bins=2)]
    pool = AveragedCalibrator(parts, weights=[3, 1]).fit(p, y).explain()
    assert "2 maps: 0.75 IdentityCalibrator, 0.25 HistogramCalibrator." in pool
    assert _becomes(pool)[0.5] == 0.47 or _becomes(pool)[0.5] == 0.48  # .75 * .5 + .25 * .4 = .475
    chain = ChainedCalibrator(parts).fit(p, y).explain()
    assert chain.startswith("Leaves predictions as they are; then: is constant on each of 2")


@pytest.mark.parametrize("name", EVERY)
def test_every_map_is_explained_by_what_it_does(name):
    p, y = _rows(n=300)
    map = fit(EVERY[name], p, y)
    text = map.explain()
    assert text.endswith(".")
    assert "nan" not in text
    found = _becomes(text)
    assert len(found) == 3
    given = np.array(list(found))
    said = np.array(list(found.values()))
    predicted = map._predict(given)[:, 1]  # of groups, the map of all rows
    np.testing.assert_allclose(said, predicted, atol=0.005)
    assert 2 <= len(re.findall(r"[.:;] [A-Z]", text)) + 1 <= 4


@pytest.mark.parametrize("name", MULTICLASS)
def test_every_map_of_several_classes_is_explained(name):
    p, y = untied_three()
    text = fit(MULTICLASS[name], p, y).explain()
    assert "Where a class has 0.9" in text
    assert "nan" not in text


@pytest.mark.parametrize("name", BINARY)
def test_maps_read_back_say_the_same(name):
    p, y = _rows(n=200)
    map = fit(BINARY[name], p, y)
    assert type(map).from_dict(map.to_dict()).explain() == map.explain()


def test_what_is_forgotten_is_not_told():
    map = PlattCalibrator().fit(*_rows(n=200))
    map.forget()
    assert "seen" not in map.explain()
    assert "rows" not in map.explain()


def test_it_must_be_fitted():
    with pytest.raises(NotFittedError):
        PlattCalibrator().explain()
    with pytest.raises(NotFittedError):
        PlattCalibrator().inverse(0.5)


def test_one_score_is_named_once():
    text = HistogramCalibrator(n_bins=1).fit([0.3] * 4, [0, 0, 1, 1]).explain()
    assert _becomes(text) == {0.3: 0.5}
    assert "Only 0.3 was seen in 4 rows." in text


def test_scores_close_together_are_told_apart():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.495, 0.505, 300)
    text = IdentityCalibrator().fit(p, rng.integers(0, 2, 300)).explain()
    found = _becomes(text)
    assert len(found) == 3
    assert text.count("stays") == 3
    assert all(p.min() <= given <= p.max() and given == becomes for given, becomes in found.items())


def test_scores_far_from_zero_are_told_apart():
    rng = np.random.default_rng(0)
    scores = 1e6 + rng.normal(size=300)
    text = PlattCalibrator(input="score").fit(scores, rng.integers(0, 2, 300)).explain()
    assert len(_becomes(text)) == 3
    low, high = map(float, re.search(r"below ([\d.]+) or above ([\d.]+) in", text).groups())
    assert scores.min() - 0.1 <= low <= scores.min()
    assert scores.max() <= high <= scores.max() + 0.1


def test_a_prediction_near_one_is_not_called_one():
    rng = np.random.default_rng(0)
    p = 1 - expit(rng.normal(-6, 1.5, 4000))
    text = IdentityCalibrator().fit(p, (rng.random(4000) < p).astype(int)).explain()
    assert all(given < p.max() and given == becomes for given, becomes in _becomes(text).items())
    assert "hardly anything changes" in text


def test_a_map_that_turns_predictions_round_says_so():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < 1 - p).astype(int)
    with pytest.warns(VeridicalWarning):
        turned, flat = PlattCalibrator().fit(p, y), IsotonicCalibrator().fit(p, y)
    assert "the model is taken to be the wrong way round" in turned.explain()
    assert "predictions are taken to tell nothing" in flat.explain()


def test_what_stays_is_not_said_to_become_of_several_classes():
    p, y = untied_three()
    assert "0.9 stays 0.9 for each of 3 classes" in IdentityCalibrator().fit(p, y).explain()


def test_a_map_of_groups_is_one_sentence():
    p, y = _rows()
    by = np.where(np.arange(len(p)) % 2, "a", "b")
    text = GroupedCalibrator(BetaCalibrator()).fit(p, y, by=by).explain()
    assert text.startswith(
        "Averages the map of a group (2 of 2 have one) and that of all rows: log odds become "
    )
