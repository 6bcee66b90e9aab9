"""What predictions say before their outcomes are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from veridical.decisions import adjust_priors
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._maps.signals import stability_index
from veridical.results.monitoring import MonitorSignals


def two_classes(n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two normal classes; predictions are right if both are equally frequent."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.normal(2 * y - 1, 1)
    return y, 1 / (1 + np.exp(-2 * x))


def watched(share: float = 0.5) -> tuple[CalibrationMonitor, np.ndarray, np.ndarray, np.ndarray]:
    monitor = CalibrationMonitor(labels=[0, 1])
    y, p = two_classes(3000, 0.5, 0)
    monitor.update(y, p)
    _, waiting = two_classes(2000, share, 1)
    monitor.observe(np.arange(2000), waiting, timestamp="2026-05-01")
    return monitor, y, p, waiting


@pytest.fixture(scope="module")
def shifted() -> tuple[CalibrationMonitor, np.ndarray, np.ndarray, np.ndarray]:
    return watched(0.2)


def test_figures_are_those_of_their_definitions(shifted):
    monitor, y, p, waiting = shifted
    found = monitor.signals()
    assert (found.n_waiting, found.n_labelled) == (2000, 3000)
    assert found.waiting_since == "2026-05-01"
    at = np.sort(np.concatenate([p, waiting]))
    gaps = [(p <= x).mean() - (waiting <= x).mean() for x in at[::7]]
    assert found.ks_distance == pytest.approx(np.abs(gaps).max(), abs=0.005)
    confidence = np.maximum(waiting, 1 - waiting)
    assert found.estimated_accuracy == pytest.approx(confidence.mean())
    half = 1.959964 * np.sqrt((confidence * (1 - confidence)).sum()) / 2000
    assert found.high - found.estimated_accuracy == pytest.approx(half, rel=1e-5)
    assert found.labelled_accuracy == pytest.approx(((p > 0.5) == (y == 1)).mean())
    gap = ((p > 0.5) == (y == 1)).mean() - np.maximum(p, 1 - p).mean()
    assert found.corrected_accuracy == pytest.approx(confidence.mean() + gap)
    assert found.labelled_estimated == pytest.approx(np.maximum(p, 1 - p).mean())
    assert "if still calibrated" in str(found)
    assert MonitorSignals.from_dict(found.to_dict()) == found
    assert found.to_frame().shape[0] == 1


def test_the_index_is_summed_over_deciles(shifted):
    monitor, _, p, waiting = shifted
    edges = np.quantile(p, np.arange(1, 10) / 10)
    bins = [-np.inf, *edges, np.inf]
    total = 0.0
    for low, high in pairwise(bins):
        e = (((p > low) & (p <= high)).sum() + 0.5) / 3005
        a = (((waiting > low) & (waiting <= high)).sum() + 0.5) / 2005
        total += (a - e) * np.log(a / e)
    found = monitor.signals()
    assert found.psi == pytest.approx(total)
    assert found.psi > 10 * found.psi_noise


def test_without_a_shift_the_index_is_what_chance_makes_it():
    """Its mean is (B - 1)(1/n + 1/m), by 200 draws of scores; of a chi-square with 9 degrees."""
    rng = np.random.default_rng(3)
    drawn = [stability_index(rng.random(1000), rng.random(500)) for _ in range(200)]
    expected = 9 * (1 / 1000 + 1 / 500)
    error = expected * np.sqrt(2 / 9 / 200)
    assert np.mean(drawn) == pytest.approx(expected, abs=4 * error)


def test_no_shift_is_no_signal():
    monitor, _, _, _ = watched()
    found = monitor.signals()
    assert found.ks_pvalue > 0.001
    assert found.psi < 5 * found.psi_noise
    assert found.priors.low[1] < 0.5 < found.priors.high[1]


def test_priors_are_found_and_corrected_for(shifted):
    """A share of 0.2 instead of 0.5; corrected predictions are those of Bayes' rule."""
    monitor, _, p, _ = shifted
    found = monitor.prior_correction()
    assert found.low[1] < 0.2 < found.high[1]
    assert monitor.signals().priors == found
    corrected = monitor.calibrate(p, priors=found)
    expected = adjust_priors(p, float(found.train[1]), float(found.priors[1]))
    np.testing.assert_allclose(corrected, expected)
    odds = corrected / (1 - corrected) / (p / (1 - p))
    ratio = found.priors[1] / found.priors[0] / (found.train[1] / found.train[0])
    np.testing.assert_allclose(odds, ratio)


def test_the_positive_class_may_come_first():
    turned = CalibrationMonitor(labels=["yes", "no"], pos_label="yes")
    plain, y, p, waiting = watched(0.2)
    turned.update(np.where(y == 1, "yes", "no"), np.column_stack([p, 1 - p]))
    turned.observe(np.arange(2000), np.column_stack([waiting, 1 - waiting]))
    found, expected = turned.prior_correction(), plain.prior_correction()
    shares = dict(zip(found.classes, found.priors, strict=True))
    assert shares["yes"] == pytest.approx(expected.priors[1], rel=1e-6)
    np.testing.assert_allclose(
        turned.calibrate(p, priors=found), plain.calibrate(p, priors=expected), rtol=1e-5
    )


def test_three_classes_are_compared_by_their_largest_probability():
    rng = np.random.default_rng(5)
    p, waiting = rng.dirichlet([2, 2, 2], 600), rng.dirichlet([1, 1, 6], 300)
    y = (rng.random(600)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    monitor = CalibrationMonitor(labels=[0, 1, 2])
    monitor.update(y, p)
    monitor.observe(np.arange(300), waiting)
    found = monitor.signals()
    assert found.score == "the largest probability"
    assert found.estimated_accuracy == pytest.approx(waiting.max(axis=1).mean())
    assert found.labelled_accuracy == pytest.approx((p.argmax(axis=1) == y).mean())
    assert found.priors.priors[2] > 0.5


def test_nothing_to_compare_is_said():
    monitor = CalibrationMonitor(labels=[0, 1])
    with pytest.raises(InvalidInputError, match="predictions that wait"):
        monitor.signals()
    monitor.observe([1, 2], [0.2, 0.4])
    with pytest.raises(InvalidInputError, match="labelled rows"):
        monitor.signals()
    monitor.update([1] * 60, np.full(60, 0.9))
    with pytest.warns(VeridicalWarning, match="2 rows are few|no labelled row"):
        assert monitor.signals().priors is None
    with pytest.raises(InvalidInputError, match="every class"):
        monitor.prior_correction()
