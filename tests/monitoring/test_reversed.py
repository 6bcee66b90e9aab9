"""A first batch that ranks backwards is most likely of the other class: it is refused."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import CalibrationMonitor, InvalidInputError


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    return np.where(rng.random(400) < p, "bad", "good"), p


def test_a_reversed_first_batch_is_refused_and_nothing_is_counted(batch):
    monitor = CalibrationMonitor()
    message = r"`y_prob` must be the probability of 'good'; got predictions that rank it backwards"
    with pytest.raises(InvalidInputError, match=message) as caught:
        monitor.update(*batch)
    assert "pos_label='bad' (`--pos-label bad`)" in caught.value.hint
    assert "allow_reversed=True (`--allow-reversed`)" in caught.value.hint
    assert monitor.status().n_samples == 0


def test_it_counts_where_the_user_says_so(batch):
    assert not CalibrationMonitor(pos_label="bad").update(*batch).alarm
    assert CalibrationMonitor(pos_label="good").update(*batch).alarm
    monitor = CalibrationMonitor()
    assert monitor.update(*batch, allow_reversed=True).n_samples == 400
    assert monitor.update(*batch).n_samples == 800  # later batches are watched, not refused


def test_cohorts_are_looked_at_too(batch):
    y, p = batch
    monitor = CalibrationMonitor(labels=["bad", "good"])
    ids = [f"{i}" for i in range(len(p))]
    monitor.observe(ids, p)
    with pytest.raises(InvalidInputError, match="rank it backwards"):
        monitor.resolve(ids, y)
    assert monitor.resolve(ids, y, allow_reversed=True).n_samples == 400


def test_too_few_rows_decide_nothing(batch):
    y, p = batch
    assert CalibrationMonitor().update(y[:8], p[:8]).n_samples == 8
