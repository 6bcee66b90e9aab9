"""One function of one number for maps of two classes, however many they are made of."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit

from veridical import AutoCalibrator
from veridical.calibrators import (
    AveragedCalibrator,
    BetaCalibrator,
    Calibrator,
    CompactCalibrator,
    EnsembleTemperatureCalibrator,
    HistogramCalibrator,
    IdentityCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    SplineCalibrator,
    VennAbersCalibrator,
)
from veridical.exceptions import InvalidInputError

IN_PROBABILITY, IN_LOG_ODDS = 1e-6, 1e-4


def rows(n, seed=0, spread=2.0):
    """Log odds that are too wide, with outcomes."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, spread, n)
    return z, (rng.random(n) < expit(0.6 * z + 0.3 * np.sin(z))).astype(int)


def pool(input="probability"):
    """Smooth maps, one with bends, two with jumps, and the identity."""
    maps = [PlattCalibrator(), IsotonicCalibrator(centered=True), VennAbersCalibrator()]
    maps += [HistogramCalibrator()]
    if input != "score":
        maps += [BetaCalibrator(), SplineCalibrator(smoothness=1.0)]
        maps += [EnsembleTemperatureCalibrator(), IdentityCalibrator()]
    return AveragedCalibrator(maps, weights=[4, 2, 1, 1, 2, 2, 2, 1][: len(maps)], input=input)


def odds_of(p):
    return np.log(p[:, 1]) - np.log(p[:, 0])


def adversarial(map, values):
    """Scores at edges and knots, the numbers beside them, the ends, and many others."""
    marks = [map.edges_, values]
    if map.input == "probability":
        marks += [
            [0.0, 1.0, 5e-324, 1e-310, 1e-200, 1 - 2.0**-53, 0.5],
            expit(np.linspace(-40, 40, 4001)),
        ]
    else:
        marks += [[-1e308, 1e308, 0.0, 5e-324], np.linspace(values.min(), values.max(), 4001) * 3]
    marks = np.concatenate(marks)
    low, high = (0.0, 1.0) if map.input == "probability" else (-1.7e308, 1.7e308)
    beside = [marks, np.nextafter(marks, -np.inf), np.nextafter(marks, np.inf)]
    return np.clip(np.concatenate(beside), low, high)


@pytest.mark.parametrize("kind", ["probability", "logit", "score"])
@pytest.mark.parametrize("n", [30, 800, 3000])
def test_it_is_within_the_stated_error_of_what_it_follows(kind, n):
    z, y = rows(n)
    values = {"probability": expit(z), "logit": z, "score": 40 * z - 7}[kind]
    given = pool(kind).fit(values, y)
    map = CompactCalibrator(pool(kind), input=kind).fit(values, y)
    at = adversarial(map, values)
    own, other = map.predict_proba(at), given.predict_proba(at)
    in_probability, in_log_odds = (IN_PROBABILITY, IN_LOG_ODDS) if n < 800 else (1.4e-4, 5.5e-4)
    assert np.abs(own - other).max() <= map.max_error_ <= in_probability
    assert np.abs(odds_of(own) - odds_of(other)).max() <= map.max_log_odds_error_ <= in_log_odds
    assert len(map.starts_) <= 600


def test_of_many_stairs_only_the_small_ones_are_smoothed_over():
    # 300 stairs of 5e-4 in log odds on a line of slope 1, and three of 0.1 among them
    heights = np.where(np.arange(1, 301) % 100 == 50, 0.1, 5e-4)
    edges = expit(np.linspace(-3, 3, 300))
    stairs = expit(np.concatenate([[0.0], np.cumsum(heights)]) - 0.2)
    z, y = rows(50)
    part = HistogramCalibrator(n_bins=2).fit(expit(z), y)
    part.edges_, part.values_ = edges, stairs
    map = CompactCalibrator.of_fitted(part)
    large = edges[heights == 0.1]
    assert len(map.starts_) < 60
    assert set(large.tolist()) <= set(map.edges_.tolist())
    at = np.concatenate([edges, np.nextafter(edges, 1), expit(np.linspace(-9, 9, 5000))])
    expected = logit(stairs[np.searchsorted(edges, at)])  # an edge belongs to the stair below
    off = np.abs(odds_of(map.predict_proba(at)) - expected).max()
    assert IN_LOG_ODDS < off <= map.max_log_odds_error_ <= 1.05 * 5e-4 + 1e-5
    rise = odds_of(map.predict_proba(np.nextafter(large, 1))) - odds_of(map.predict_proba(large))
    np.testing.assert_allclose(rise, 0.1, rtol=0, atol=1.1e-3)


def test_jumps_are_kept_to_the_last_bit():
    z, y = rows(500)
    p = expit(z)
    histogram = HistogramCalibrator(n_bins=7).fit(p, y)
    map = CompactCalibrator(HistogramCalibrator(n_bins=7)).fit(p, y)
    edges = np.quantile(p, np.arange(1, 7) / 7)
    assert set(histogram.edges_.tolist()) <= set(map.edges_.tolist())
    at = np.sort(np.concatenate([histogram.edges_, np.nextafter(histogram.edges_, 1), edges]))
    counts = [  # naive: rows of the same bin
        [(y[members] == 1).sum() + 1, len(p[members]) + 2]
        for members in (
            np.searchsorted(histogram.edges_, p) == np.searchsorted(histogram.edges_, v) for v in at
        )
    ]
    expected = [hits / total for hits, total in counts]
    np.testing.assert_allclose(map.predict_proba(at)[:, 1], expected, rtol=0, atol=1e-9)


def test_a_line_in_log_odds_stays_one_to_the_ends():
    z, y = rows(400)
    platt = PlattCalibrator().fit(expit(z), y)
    map = CompactCalibrator(PlattCalibrator()).fit(expit(z), y)
    low, high = platt.floors_
    at = np.array([0.0, 1e-12, 0.003, 0.4, 0.9, 1 - 1e-12, 1.0])
    x = np.log(np.maximum(at, low) / np.maximum(1 - at, high))
    expected = platt.slope_ * x + platt.intercept_
    np.testing.assert_allclose(odds_of(map.predict_proba(at)), expected, rtol=0, atol=IN_LOG_ODDS)


def test_it_never_falls_where_its_map_never_falls():
    z, y = rows(2000, seed=3)
    given = AveragedCalibrator(
        [BetaCalibrator(), VennAbersCalibrator(), IsotonicCalibrator(centered=True)]
    )
    map = CompactCalibrator(given).fit(expit(z), y)
    at = np.unique(adversarial(map, expit(z)))
    p = map.predict_proba(np.sort(at))[:, 1]
    assert np.diff(p).min() >= -1e-15


def test_pairs_beyond_the_last_probability_below_one():
    rng = np.random.default_rng(1)
    z = rng.normal(0, 40, 1500)
    y = (rng.random(1500) < expit(z / 10)).astype(int)
    pairs = np.column_stack([expit(-z), expit(z)])
    given = AveragedCalibrator([PlattCalibrator(), BetaCalibrator(), HistogramCalibrator()])
    map, given = CompactCalibrator(given).fit(pairs, y), given.fit(pairs, y)
    own, other = map.predict_proba(pairs), given.predict_proba(pairs)
    assert len(map.tail_starts_) > 0
    np.testing.assert_allclose(odds_of(own), odds_of(other), rtol=0, atol=IN_LOG_ODDS)


def test_at_most_600_pieces_and_what_that_costs():
    z, y = rows(20_000)
    map = CompactCalibrator(HistogramCalibrator(n_bins=2000)).fit(expit(z), y)
    given = HistogramCalibrator(n_bins=2000).fit(expit(z), y)
    assert len(map.starts_) <= 601  # one more for the probability of exactly one
    off = np.abs(map.predict_proba(expit(z)) - given.predict_proba(expit(z))).max()
    assert IN_PROBABILITY < off <= map.max_error_ * 1.0001


def test_which_class_is_positive():
    z, y = rows(300)
    names = np.where(y == 1, "bad", "good")
    map = CompactCalibrator(pool(), pos_label="bad").fit(expit(z), names)
    plain = CompactCalibrator(pool()).fit(expit(z), y)
    assert map.classes_.tolist() == ["bad", "good"]
    at = np.linspace(0, 1, 31)
    np.testing.assert_array_equal(map.predict_proba(at)[:, 0], plain.predict_proba(at)[:, 1])


def test_it_is_read_back_as_it_was_written():
    z, y = rows(300)
    map = CompactCalibrator(pool()).fit(expit(z), y)
    again = Calibrator.from_dict(json.loads(json.dumps(map.to_dict())))
    np.testing.assert_array_equal(again.predict_proba(expit(z)), map.predict_proba(expit(z)))
    assert again.max_error_ == map.max_error_


@pytest.mark.parametrize(
    ("field", "value"),
    [("limits_", (1.0, -1.0)), ("tail_edges_", np.array([40.0])), ("coefficients_", 1e9)],
)
def test_files_whose_fields_contradict_each_other_are_refused(field, value):
    z, y = rows(300)
    map = CompactCalibrator(pool()).fit(expit(z), y)
    if field == "coefficients_":
        map.coefficients_[0, 3] = value
    else:
        setattr(map, field, value)
    with pytest.raises(InvalidInputError, match=field):
        Calibrator.from_dict(map.to_dict())


def test_more_classes_need_one_map_each():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    y = np.arange(60) % 3
    with pytest.raises(InvalidInputError, match="two classes") as caught:
        CompactCalibrator(PlattCalibrator()).fit(p, y)
    assert "OneVsRestCalibrator" in caught.value.hint
    map = OneVsRestCalibrator(CompactCalibrator(PlattCalibrator())).fit(p, y)
    plain = OneVsRestCalibrator(PlattCalibrator()).fit(p, y)
    np.testing.assert_allclose(map.predict_proba(p), plain.predict_proba(p), rtol=0, atol=1e-5)


def test_the_automatic_choice_ships_one_function():
    z, y = rows(1500)
    p = expit(z)
    auto, kept = AutoCalibrator().fit(p, y), AutoCalibrator(compact=False).fit(p, y)
    assert isinstance(auto.calibrator_, CompactCalibrator)
    assert auto.calibrator_.max_error_ <= 1.4e-4  # small stairs may have been smoothed over
    assert len(kept.calibrator_.parts_) >= 10
    shares = [(c.candidate, c.weight) for c in auto.evidence_.candidates]
    assert shares == [(c.candidate, c.weight) for c in kept.evidence_.candidates]
    # one fit to all rows is what nine of ten rows give, up to their noise
    assert np.abs(auto.predict_proba(p) - kept.predict_proba(p)).max() < 0.02
    # and with the weights of the evidence it is the average of such fits
    again = auto.calibrator_.calibrator
    again = Calibrator.from_dict(again.to_dict()).fit(p, y)
    np.testing.assert_allclose(
        again.predict_proba(p), auto.predict_proba(p), rtol=0, atol=auto.calibrator_.max_error_
    )


def test_a_pool_that_no_function_follows_stays_a_pool():
    z, y = rows(3000)
    rough = {f"{n} bins": HistogramCalibrator(n_bins=n) for n in (700, 900)}
    auto = AutoCalibrator(candidates=rough | {"platt": PlattCalibrator()}, input="score").fit(z, y)
    assert logit(0.5) == 0
    assert isinstance(auto.calibrator_, (AveragedCalibrator, CompactCalibrator))
    if isinstance(auto.calibrator_, CompactCalibrator):
        assert auto.calibrator_.max_error_ <= 1e-3
