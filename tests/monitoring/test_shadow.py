"""The trial of a candidate: evidence, limits and switches."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._maps.shadow import MOST_GAIN, Trial, most_loss, shadow_status
from veridical.simulation import GaussianMixtureTask
from veridical_lab.simulation import DriftStream, TaskPredictions, TemperatureDrift


def test_the_sums_are_those_of_cut_differences():
    before, after = np.array([0.5, 0.9, 0.02, 0.4]), np.array([0.6, 0.01, 0.8, 0.4])
    gain = [np.log(1.2), -2.0, 2.0, 0.0]
    found = Trial().scored(before, after)
    assert found.gain == pytest.approx(sum(gain))
    assert found.squared == pytest.approx(sum(g * g for g in gain))
    assert found.uncut == pytest.approx(np.log(after / before).sum())
    assert (found.n_rows, found.n_cut) == (4, 2)
    halves = Trial().scored(before[:1], after[:1]).scored(before[1:], after[1:])
    assert halves.gain == pytest.approx(found.gain)


def test_evidence_is_at_most_one_on_average_over_all_outcomes():
    """By enumeration: current 0.2, candidate such that both are as good on average."""
    for size, scale in product((0.1, 0.7, 2.0), (0.7, 2.0)):  # +-`size` with probability 1/2
        if size > scale:
            continue
        mean = np.mean(
            [
                np.exp(Trial(scale, 6, size * sum(signs), 6 * size**2).log_e)
                for signs in product((-1, 1), repeat=6)
            ]
        )
        assert 0.2 < mean <= 1


def test_skewed_gains_are_fair_too():
    """A gain of 0.2 with probability 10/11 or a loss of 2: mean zero, and rare large losses."""
    mean = 0.0
    for losses in range(41):
        gain, squared = 0.2 * (40 - losses) - 2 * losses, 0.04 * (40 - losses) + 4 * losses
        mean += binom.pmf(losses, 40, 1 / 11) * np.exp(Trial(2.0, 40, gain, squared).log_e)
    assert mean <= 1


def test_limits_hold_the_mean_at_every_look():
    """Of 100 trials with 10 looks each, at most 5 % (99.9 % binomial bound) ever err."""
    rng = np.random.default_rng(0)
    gain = np.where(rng.random((100, 2000)) < 0.8, 0.3, -0.9)  # mean 0.06
    looks = np.arange(199, 2000, 200)
    ever = 0
    for row in gain:
        total, squared = row.cumsum()[looks], (row**2).cumsum()[looks]
        limits = [
            Trial(0.9, n, t, v).limits(0.95)
            for n, t, v in zip(looks + 1, total, squared, strict=True)
        ]
        ever += any(not low <= 0.06 <= high for low, high in limits)
    assert ever <= binom.ppf(0.999, 100, 0.05)
    low, high = limits[-1]
    assert high - low < 3 * 2 * 1.96 * 0.48 / np.sqrt(2000)  # less than three times one look's


def test_the_largest_loss_is_that_of_the_maps():
    """A temperature of 2: p against sqrt(p) / (sqrt(p) + sqrt(1 - p)), by a fine search."""
    monitor = CalibrationMonitor(labels=[0, 1])
    rng = np.random.default_rng(6)
    p = rng.random(500)
    monitor.update(rng.random(500) < p, p)
    monitor.refit("temperature")
    candidate = monitor._memory.versions.calibrator(1)
    candidate.inverse_temperature_, candidate.mix_ = 0.5, 0.0
    found = most_loss(None, candidate, monitor._memory.columns("test"))
    fine = np.linspace(0.5, 0.999, 20_001)
    after = np.sqrt(fine) / (np.sqrt(fine) + np.sqrt(1 - fine))
    assert found == pytest.approx(1.05 * np.log(fine / after).max(), rel=1e-3)
    assert most_loss(candidate, None, monitor._memory.columns("test")) == MOST_GAIN  # 1e-6 to 1e-3


def test_a_candidate_that_is_worse_without_cutting_is_not_switched_to():
    trial = Trial().scored(np.full(1000, 0.5), np.append(np.full(990, 0.56), np.full(10, 1e-6)))
    assert trial.uncut < 0 < trial.gain
    assert trial.log_e > np.log(20)
    status = shadow_status(1, None, trial, level=0.05, confidence_level=0.95)
    assert not status.switch
    assert "without that the candidate is the worse one" in str(status)
    assert status.difference == pytest.approx(-trial.gain / 1000)


@pytest.mark.parametrize(("drifting", "scale"), [(False, 2.0), (True, 2.0), (False, 0.41)])
def test_a_candidate_that_is_no_better_is_seldom_switched_to(drifting, scale):
    """The level: 400 trials of 2,000 rows, a look every 20; the bound is 99.9 % binomial.

    Outcomes of probability 1/2, forecasts 0.4 and 0.6 by turns the better one: gains of
    +-log 1.5. With drift the candidate is worse at first and makes up for it, never more.
    """
    rng = np.random.default_rng(4)
    n, streams = 2000, 400
    chance = np.full(n, 0.5)
    if drifting:
        chance[: n // 2], chance[n // 2 :] = 0.48, 0.52
    gain = np.where(rng.random((streams, n)) < chance, 1, -1) * np.log(1.5)
    looks = np.arange(19, n, 20)
    total = gain.cumsum(axis=1)[:, looks]
    squared = np.log(1.5) ** 2 * (looks + 1)
    ever = sum(
        any(Trial(scale, 1, t, v).log_e >= np.log(20) for t, v in zip(row, squared, strict=True))
        for row in total
    )
    assert ever <= binom.ppf(0.999, streams, 0.05)


def fed(
    stream: DriftStream, refit_at: int, **options: object
) -> tuple[CalibrationMonitor, list[int]]:
    """A monitor that refits once and switches when it may; and the batches after which it did."""
    monitor = CalibrationMonitor(labels=[0, 1], window=1500)
    switched = []
    for batch in stream:
        before = monitor.versions().current
        monitor.update(batch.y_true, batch.y_prob)
        if monitor.versions().current != before:
            switched.append(batch.index)
        if batch.index == refit_at:
            monitor.refit(auto_switch=True, **options)
    return monitor, switched


def source() -> TaskPredictions:
    task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    return TaskPredictions(task, task.posterior)


def test_under_drift_the_refit_is_switched_to_and_helps():
    stream = DriftStream(
        source(), TemperatureDrift(2.0), n_batches=26, batch_size=300, start=8, rng=1
    )
    monitor, switched = fed(stream, 14)
    assert len(switched) == 1
    assert 14 < switched[0] < 24
    versions = monitor.versions()
    assert versions.epochs[0].alarmed_at is not None
    assert versions.epochs[1].alarmed_at is None
    test = stream.batch(25)
    truth = test.p_true
    before = np.abs(test.y_prob - truth).mean()
    after = np.abs(monitor.calibrate(test.y_prob) - truth).mean()
    assert after < before / 3


def test_a_switch_needs_evidence_or_force():
    monitor = CalibrationMonitor(labels=[0, 1])
    rng = np.random.default_rng(2)
    for _ in range(2):
        p = rng.random(400)
        monitor.update(rng.random(400) < p, p)
    monitor.refit()
    assert "not been tried" in str(monitor.shadow_status())
    with pytest.raises(InvalidInputError, match="too little evidence for version 1"):
        monitor.switch()
    assert monitor.versions().current is None
    assert monitor.switch(force=True).current == 1


@pytest.mark.slow
def test_without_drift_a_switch_is_rare():
    """Sixty streams, a refit each, a look after every batch: at most 5 % switch (99.9 % bound)."""
    switches = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        monitor = CalibrationMonitor(labels=[0, 1])
        for batch in range(24):
            p = rng.random(250)
            monitor.update(rng.random(250) < p, p)
            if batch == 3:
                monitor.refit("temperature", auto_switch=True)
        switches += monitor.versions().current is not None
    assert switches <= binom.ppf(0.999, 60, 0.05)


def test_the_largest_gain_is_what_the_result_says():
    status = shadow_status(
        1,
        None,
        Trial().scored(np.array([0.01, 0.5]), np.array([0.9, 0.5])),
        level=0.05,
        confidence_level=0.9,
    )
    assert f"gains more than {MOST_GAIN:g} nats" in status.notes[0]
    assert status.n_cut == 1
