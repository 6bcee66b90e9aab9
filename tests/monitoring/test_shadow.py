"""The trial of a candidate: evidence, limits and switches."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._shadow import MOST_GAIN, Trial, shadow_status, suffices, trial_of
from veridical.simulation import (
    DriftStream,
    GaussianMixtureTask,
    TaskPredictions,
    TemperatureDrift,
)


def test_the_sums_are_those_of_cut_differences():
    before, after = np.array([0.5, 0.9, 0.02, 0.4]), np.array([0.6, 0.01, 0.8, 0.4])
    gain = [np.log(1.2), -2.0, 2.0, 0.0]
    found = trial_of(before, after)
    assert found.gain == pytest.approx(sum(gain))
    assert found.squared == pytest.approx(sum(g * g for g in gain))
    assert found.uncut == pytest.approx(np.log(after / before).sum())
    assert (found.n_rows, found.n_cut) == (4, 2)
    halves = trial_of(before[:1], after[:1]) + trial_of(before[1:], after[1:])
    assert halves.gain == pytest.approx(found.gain)


def test_evidence_is_at_most_one_on_average_over_all_outcomes():
    """By enumeration: current 0.2, candidate such that both are as good on average."""
    for size in (0.1, 0.7, 2.0):  # a gain of `size` or `-size`, each with probability 1/2
        mean = np.mean(
            [
                np.exp(Trial(6, size * sum(signs), 6 * size**2).log_e)
                for signs in product((-1, 1), repeat=6)
            ]
        )
        assert 0.2 < mean <= 1


def test_skewed_gains_are_fair_too():
    """A gain of 0.2 with probability 10/11 or a loss of 2: mean zero, and rare large losses."""
    mean = 0.0
    for losses in range(41):
        gain, squared = 0.2 * (40 - losses) - 2 * losses, 0.04 * (40 - losses) + 4 * losses
        mean += binom.pmf(losses, 40, 1 / 11) * np.exp(Trial(40, gain, squared).log_e)
    assert mean <= 1


def test_limits_are_where_the_evidence_would_be_and_hold_the_mean():
    rng = np.random.default_rng(0)
    gain = rng.normal(0.05, 0.3, 4000)
    trial = Trial(4000, gain.sum(), gain @ gain)
    low, high = trial.limits(0.95)
    assert low < 0.05 < high
    assert high - low < 8 * 0.3 / np.sqrt(4000)  # wider than one look's, by less than twice
    assert low > 0
    assert suffices(Trial(4000, gain.sum(), gain @ gain, gain.sum()), 0.05)


def test_a_candidate_that_is_worse_without_cutting_is_not_switched_to():
    trial = trial_of(np.full(1000, 0.5), np.append(np.full(990, 0.56), np.full(10, 1e-6)))
    assert trial.uncut < 0 < trial.gain
    assert trial.log_e > np.log(20)
    status = shadow_status(1, None, trial, level=0.05, confidence_level=0.95)
    assert not status.switch
    assert "without that the candidate is the worse one" in str(status)
    assert status.difference == pytest.approx(-trial.gain / 1000)


@pytest.mark.parametrize("drifting", [False, True])
def test_a_candidate_that_is_no_better_is_seldom_switched_to(drifting):
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
        any(Trial(1, t, v).log_e >= np.log(20) for t, v in zip(row, squared, strict=True))
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
        trial_of(np.array([0.01, 0.5]), np.array([0.9, 0.5])),
        level=0.05,
        confidence_level=0.9,
    )
    assert f"more than {MOST_GAIN:g} nats" in status.notes[0]
    assert status.n_cut == 1
