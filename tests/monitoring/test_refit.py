"""New maps from recent rows, and which one is in use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from veridical.calibrators import BetaCalibrator, TemperatureCalibrator
from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.monitoring._maps import rows as _refit_rows
from veridical.monitoring._maps.rows import RecentRows


def rows(n: int, seed: int, temperature: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of the odds divided by a temperature, and predictions that ignore it."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 2, n)
    y = rng.random(n) < 1 / (1 + np.exp(-odds / temperature))
    return y.astype(int), 1 / (1 + np.exp(-odds))


def drifted(path: Path | None = None, n_after: int = 8) -> CalibrationMonitor:
    """Twenty good batches of 300 rows, then overconfident ones."""
    monitor = CalibrationMonitor(path)
    for day in range(20 + n_after):
        monitor.update(*rows(300, day, 1.0 if day < 20 else 2.5), timestamp=f"day {day:02}")
    return monitor


@pytest.fixture(scope="module")
def switched() -> CalibrationMonitor:
    monitor = drifted()
    monitor.refit("temperature")
    for day in range(28, 34):
        monitor.update(*rows(300, day, 2.5), timestamp=f"day {day:02}")
    monitor.switch()
    return monitor


def test_the_last_rows_are_kept_as_they_came(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_refit_rows, "MOST_ROWS", 500)
    monitor = CalibrationMonitor()
    batches = [rows(180, seed) for seed in range(7)]
    for batch in batches:
        monitor.update(*batch)
    kept = RecentRows(monitor._memory.store.database).read(2)
    y, p = (np.concatenate([b[i] for b in batches]) for i in range(2))
    assert kept.y.tolist() == y[-500:].tolist()
    assert kept.p.tolist() == p[-500:].tolist()
    assert kept.first == 7 * 180 - 500
    assert kept.batch.tolist() == np.repeat(np.arange(7), 180)[-500:].tolist()
    (there,) = monitor._memory.store.database.connection.execute(
        "SELECT sum(n_rows) FROM recent"
    ).fetchone()
    assert there < 500 + 180


def test_a_batch_larger_than_the_memory_leaves_its_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_refit_rows, "MOST_BYTES", 3 * 8 * 100)
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet([1, 1, 1], 260), rng.integers(0, 3, 260)
    monitor = CalibrationMonitor()
    monitor.update(y, p)
    kept = RecentRows(monitor._memory.store.database).read(3)
    assert kept.p.tolist() == p[-100:].tolist()
    assert kept.y.tolist() == y[-100:].tolist()


def test_a_refit_is_to_the_rows_since_the_change():
    monitor = drifted()
    made = monitor.refit("temperature", rows=None)
    assert "since the change" in made.rows
    assert made.n_rows == 8 * 300
    assert made.high < 0  # better than the predictions as they come
    version = monitor.versions()
    assert (version.candidate, version.current) == (1, None)
    assert version.versions[0].state == "candidate"
    assert version.versions[0].made_at == "day 27"
    monitor.switch(force=True)
    y, p = (np.concatenate([rows(300, d, 2.5)[i] for d in range(20, 28)]) for i in range(2))
    odds = np.log(p / (1 - p))
    sign = np.where(y == 1, 1, -1)
    found = minimize_scalar(  # the temperature of largest likelihood, from its definition
        lambda t: np.log1p(np.exp(-sign * odds / t)).sum(), bounds=(0.5, 9), method="bounded"
    )
    expected = 1 / (1 + np.exp(-np.log(4) / found.x))
    assert monitor.calibrate([0.8])[0] == pytest.approx(expected, rel=1e-3)


def test_without_an_alarm_the_rolling_window_is_fitted_to():
    monitor = CalibrationMonitor(window=700)
    for seed in range(5):
        monitor.update(*rows(300, seed))
    assert monitor.refit().n_rows == 700
    assert monitor.refit(rows=450).n_rows == 450
    assert [v.state for v in monitor.versions().versions] == ["dropped", "candidate"]


def test_the_held_out_difference_is_that_of_maps_which_saw_other_rows():
    """A naive five-fold cross-fit: other folds, so the two agree up to their noise."""
    y, p = rows(1500, 3, 2.0)
    monitor = CalibrationMonitor()
    monitor.update(y, p)
    made = monitor.refit("beta")
    loss = np.zeros(1500)
    for seed in range(5):  # the mean over some choices of folds has less noise of its own
        fold = np.random.default_rng(seed).permutation(1500) % 5
        for k in range(5):
            q = BetaCalibrator().fit(p[fold != k], y[fold != k]).predict_proba(p[fold == k])[:, 1]
            loss[fold == k] -= np.log(np.where(y[fold == k] == 1, q, 1 - q)) / 5
    gain = loss + np.log(np.where(y == 1, p, 1 - p))
    error = gain.std() / np.sqrt(1500)
    own = BetaCalibrator().fit(p, y).predict_proba(p)[:, 1]
    optimism = np.mean(loss + np.log(np.where(y == 1, own, 1 - own)))  # about 3 / 1500
    assert made.difference == pytest.approx(gain.mean() - optimism / 9, abs=0.15 * error)
    wide = np.hypot(error, np.sqrt(2 * optimism / 1500))
    assert made.high - made.difference == pytest.approx(1.96 * wide, rel=0.05)


def test_after_a_switch_the_calibrated_predictions_are_watched(switched: CalibrationMonitor):
    assert isinstance(switched.current, TemperatureCalibrator)
    epochs = switched.versions().epochs
    assert [e.version for e in epochs] == [None, 1]
    assert epochs[0].alarmed_at is not None
    assert epochs[0].n_samples == 34 * 300
    assert "too extreme" in epochs[0].verdict
    before = switched.status().n_samples
    y, p = rows(4000, 99, 2.5)
    found = switched.update(y, p)
    assert not found.alarm
    assert found.n_samples == before + 4000
    total = switched.status().estimates[0]
    if not before:
        assert total.mean_predicted == pytest.approx(switched.calibrate(p).mean())
    assert CalibrationMonitor().update(y, p).alarm  # what nobody calibrated is wrong


def test_versions_survive_and_are_rolled_back(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    monitor = drifted(path, 4)
    monitor.refit("temperature")
    monitor.switch(force=True)
    monitor.update(*rows(400, 77, 2.5))
    monitor.refit("beta", rows=400)
    monitor.switch(force=True)
    p = np.linspace(0.01, 0.99, 9)
    second = monitor.calibrate(p)
    monitor.close()
    monitor = CalibrationMonitor(path)
    assert monitor.calibrate(p).tolist() == second.tolist()
    first = monitor.rollback()
    assert first.current == 1
    assert [v.state for v in first.versions] == ["current", "withdrawn"]
    assert monitor.rollback().current is None
    assert monitor.calibrate(p).tolist() == p.tolist()
    assert [e.version for e in monitor.versions().epochs] == [None, 1, 2, 1, None]
    assert "epoch 5 (as they come), 0 rows" in str(monitor.versions())
    assert monitor.versions().to_frame().shape[0] == 2
    with pytest.raises(InvalidInputError, match="nothing to go back to"):
        monitor.rollback()


def test_the_positive_class_may_be_the_smaller_label():
    """Labels "bad" and "good", the first being positive: the same map as for 1 and 0."""
    plain = CalibrationMonitor(labels=[0, 1])
    turned = CalibrationMonitor(labels=["bad", "good"], pos_label="bad")
    y, p = rows(900, 5, 2.0)
    for monitor, outcomes in ((plain, y), (turned, np.where(y == 1, "bad", "good"))):
        monitor.update(outcomes, p)
        monitor.refit("temperature")
        monitor.update(outcomes[:300], p[:300])
    seen, expected = turned.shadow_status(), plain.shadow_status()
    assert seen.difference == pytest.approx(expected.difference, rel=1e-6)
    for monitor in (plain, turned):
        monitor.switch(force=True)
    np.testing.assert_allclose(turned.calibrate(p), plain.calibrate(p), rtol=1e-6)
    pair = turned.calibrate(np.column_stack([p, 1 - p]))
    np.testing.assert_allclose(pair[:, 0], plain.calibrate(p), rtol=1e-6)
    assert turned.update(np.where(y == 1, "bad", "good"), p).n_samples == 900


def test_three_classes_are_refitted_too():
    rng = np.random.default_rng(8)
    odds = rng.normal(0, 3, (1200, 3))
    truth, p = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) for z in (odds / 3, odds))
    y = np.array(["c", "a", "b"])[(rng.random(1200)[:, None] > truth.cumsum(axis=1)).sum(axis=1)]
    monitor = CalibrationMonitor(labels=["c", "a", "b"])
    monitor.update(y[:800], p[:800])
    assert monitor.refit("temperature").high < 0
    monitor.update(y[800:], p[800:])
    trial = monitor.shadow_status()
    monitor.switch()
    given = monitor.calibrate(p[800:])
    index = np.array([["c", "a", "b"].index(label) for label in y[800:]])
    gain = np.log(p[800:] / given)[np.arange(400), index]
    assert trial.uncut == pytest.approx(gain.mean())
    np.testing.assert_allclose(monitor.calibrate(p[800]), given[:1])


def test_another_process_uses_the_map_from_the_next_batch_on(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    one, other = CalibrationMonitor(path, labels=[0, 1]), CalibrationMonitor(path)
    y, p = rows(600, 1, 3.0)
    names = np.arange(600)
    other.observe(names, p)
    one.update(*rows(600, 2, 3.0))
    one.refit("temperature")
    one.switch(force=True)
    other.resolve(names, y)
    found = other.status()
    assert found.n_samples == 600
    assert found.estimates[0].mean_predicted == pytest.approx(one.calibrate(p).mean())


def test_results_survive_a_trip_through_json():
    monitor = CalibrationMonitor()
    monitor.update(rows(300, 0)[0] == 1, rows(300, 0)[1])  # labels are booleans
    for found in (monitor.refit(), monitor.shadow_status(), monitor.switch(force=True)):
        assert type(found).from_json(found.to_json()) == found
        assert found.to_frame().shape[0] == 1


def test_what_cannot_be_done_is_said():
    monitor = CalibrationMonitor()
    with pytest.raises(InvalidInputError, match="knows its classes"):
        monitor.refit()
    monitor.update(*rows(40, 0))
    with pytest.raises(InvalidInputError, match="at least 50 labelled rows"):
        monitor.refit()
    with pytest.raises(InvalidInputError, match="did you mean 'beta'"):
        monitor.refit("betta")
    with pytest.raises(InvalidInputError, match='input="probability"'):
        monitor.refit(TemperatureCalibrator(input="logit"))
    with pytest.raises(InvalidInputError, match="call `refit` first"):
        monitor.shadow_status()
