"""Requirements that must hold at every look: limits, what is broken, and telling somebody once."""

from __future__ import annotations

import json
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from veridical import CalibrationMonitor, InvalidInputError, risk_threshold
from veridical.cli import main
from veridical.exceptions import VeridicalError
from veridical.monitoring._judge.estimates import radius
from veridical.monitoring._judge.requirement import N_BINS, ece_limits
from veridical.monitoring._store.counts import N_CELLS, cell_of, centres, clipped, tally
from veridical.monitoring._watch import alarms as _alarms
from veridical.monitoring.core import tell_alarms
from veridical.report import monitor_report
from veridical.results import MonitorStatus, PromiseStatus


def rows(seed: int, n: int = 500, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p**power).astype(int), p


PLACE = np.minimum((centres() * N_BINS).astype(int), N_BINS - 1)


def counted(y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
    found = tally(y, p)
    return np.column_stack([*found.counts[0].T, found.sum_p[0]]), float(found.squared[0])


def test_the_observed_error_is_that_of_bins_of_equal_width():
    y, p = rows(0, 4000)
    p = np.round(p * 30) / 30 + 1 / 60  # the middle of half a bin: no edge is near
    keep = p < 1
    y, p = y[keep], p[keep]
    value, low, high = ece_limits(*counted(y, p), 0.05)
    bins = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    expected = sum(abs((y - p)[bins == b].sum()) for b in range(N_BINS)) / len(y)
    assert value == pytest.approx(expected, abs=1e-12)
    assert low <= value <= high


def test_one_bin_is_the_two_sided_limit_of_a_sum():
    """With a single bin the product of hyperbolic cosines is the mean of both signs."""
    rng = np.random.default_rng(1)
    p = np.full(2000, 0.3)
    y = (rng.random(2000) < 0.4).astype(int)
    value, low, high = ece_limits(*counted(y, p), 0.05)
    wide = float(radius([((y - p) ** 2).sum()], 0.025)[0]) / 2000
    # Both signs together are at most twice the better one, and a little more than it.
    assert 0.97 * wide < high - value <= wide * (1 + 1e-9)
    assert high - value == pytest.approx(value - low)
    assert low > 0


def test_the_largest_deviation_within_the_bound_is_the_one_that_is_equal():
    """A search over deviations of chance finds none with more room than the equal one."""
    from veridical.monitoring._judge.requirement import _COST, BETS

    y, p = rows(2, 1500, power=1.3)
    cells, squared = counted(y, p)
    value, low, high = ece_limits(cells, squared, 0.05)
    sums = np.bincount(PLACE, cells[:, 1] - cells[:, 2], N_BINS)
    rng = np.random.default_rng(3)
    for _ in range(200):
        away = rng.gamma(rng.choice([0.2, 1, 5, 100]), size=N_BINS) * rng.choice([-1, 1], N_BINS)

        def log_e(size: float, away: np.ndarray = away) -> float:
            each = np.outer(BETS, size * away)
            logs = (np.logaddexp(each, -each) - np.log(2)).sum(axis=1) - _COST * squared
            return float(np.logaddexp.reduce(logs) - np.log(len(BETS)))

        smallest, largest = 0.0, 1e3
        for _ in range(60):
            middle = (smallest + largest) / 2
            inside = log_e(middle) < np.log(20)
            smallest, largest = (middle, largest) if inside else (smallest, middle)
        true = np.abs(sums - smallest * away).sum() / len(y)
        assert low - 1e-9 <= true <= high + 1e-9
    assert low < value < high


@pytest.mark.parametrize("law", ["rare", "wrong"])
def test_limits_hold_at_every_look(law: str):
    """A sample of evidence/requirements.py: a miss of a stream has probability 0.05 at most."""
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cells, squared, true, n = np.zeros((N_CELLS, 3)), 0.0, np.zeros(N_BINS), 0
        for look in range(12):
            size = 20 if look < 6 else 400
            p = rng.beta(0.2, 10, size) if law == "rare" else rng.random(size)
            r = p**1.5 if law == "wrong" else p
            more, squares = counted((rng.random(size) < r).astype(int), p)
            cells, squared, n = cells + more, squared + squares, n + size
            true += np.bincount(PLACE[cell_of(clipped(p))], r - clipped(p), N_BINS)
            _, low, high = ece_limits(cells, squared, 0.05)
            if not low <= np.abs(true).sum() / n + 1e-12 <= high + 1e-12:
                missed += 1
                break
    assert missed <= 4  # P(more | 0.05) is 0.3 %


def test_a_requirement_is_kept_broken_or_not_shown():
    monitor = CalibrationMonitor(window=4000)
    (first,) = monitor.watch(require="ece < 0.1")
    assert first.headline == "Not shown: no row was answered: ece < 0.1 (calibration error)."
    monitor.update(*rows(0, 60))
    assert "Not shown either way" in monitor.promises()[0].headline
    for seed in range(1, 9):
        found = monitor.update(*rows(seed))
        assert not found.broken
    (status,) = monitor.status().promises
    assert status.kept
    assert status.headline == "Kept: ece < 0.1 (calibration error)."
    for seed in range(10, 30):
        found = monitor.update(*rows(seed, power=3), timestamp=f"{seed}")
        if found.broken:
            break
    assert found.broken[0].startswith("Broken at ")
    assert monitor.status().promises[0].broken_at == f"{seed}"
    for seed in range(30, 60):  # it stays broken, when all is well again
        monitor.update(*rows(seed))
    (status,) = monitor.promises()
    assert status.broken
    assert not status.kept
    assert "Broken at" in str(monitor.status())
    whole = monitor.status()
    assert MonitorStatus.from_json(whole.to_json()) == whole
    assert PromiseStatus.from_json(status.to_json()) == status
    monitor.unwatch()
    assert monitor.promises() == ()


def test_other_figures_and_a_promise(tmp_path: Path):
    path = tmp_path / "m.sqlite"
    promise = risk_threshold(*rows(1, 3000), at_most=0.2)
    with CalibrationMonitor(path, labels=[0, 1]) as monitor:
        found = monitor.watch(risk=promise, require=["deviation < 0.05", "risk(0.9).high <= 0.2"])
        assert [each.risk for each in found] == ["deviation", "risk", "error"]
        assert monitor.watch(require="deviation < 0.05") == found  # once
        for seed in range(2, 12):
            monitor.update(*rows(seed))
        deviation, risk, error = monitor.promises()
        y, p = (np.concatenate(each) for each in zip(*(rows(s) for s in range(2, 12)), strict=True))
        assert deviation.windows[0].risk == pytest.approx(abs((y - p).mean()), abs=1e-6)
        assert deviation.windows[0].high == pytest.approx(
            max(map(abs, (monitor.status().estimates[0].low, monitor.status().estimates[0].high)))
        )
        sure = np.maximum(p, 1 - p) >= 0.9
        assert risk.windows[0].n_rows == pytest.approx(sure.sum(), rel=0.02)
        assert error == monitor.promise(promise)
    with CalibrationMonitor(path, read_only=True) as looking:
        assert looking.promises() == (deviation, risk, error)
        with pytest.raises(VeridicalError, match="for reading only"):
            looking.watch(require="ece < 0.1")


def test_after_a_switch_promises_begin_anew():
    monitor = CalibrationMonitor()
    monitor.watch(require="ece < 0.05")
    for seed in range(8):
        monitor.update(*rows(seed, power=3))
    assert monitor.promises()[0].broken
    monitor.refit("beta")
    monitor.switch(force=True)
    assert not monitor.promises()[0].broken
    for seed in range(8, 24):
        monitor.update(*rows(seed, power=3))
    assert not monitor.promises()[0].broken


@pytest.mark.parametrize(
    "wrong",
    [
        "brier < 0.1",
        "ece > 0.1",
        "groups: ece < 0.1",
        "ece.low < 0.1",
        "calibrated",
        "ece <",
        "",
        "ece < -1",
        "ece < 2",
    ],
)
def test_what_cannot_be_shown_at_every_look_is_refused(wrong: str):
    with pytest.raises(InvalidInputError):
        CalibrationMonitor().watch(require=wrong)
    with pytest.raises(InvalidInputError, match="a promise"):
        CalibrationMonitor().watch()


@pytest.mark.parametrize(
    "value",
    ["[1]", "{}x", '{"a": 1}', '[{"require": "brier < 1"}]', '[{"risk": {}}]', '[{"require": 1}]',
     '[{"require": "ece < 0.1", "broken": {"at": 1, "epoch": 1}}]', "[" * 10_000],
)  # fmt: skip
def test_promises_of_a_store_are_data_not_trust(tmp_path: Path, value: str):
    path = tmp_path / "m.sqlite"
    with CalibrationMonitor(path) as monitor:
        monitor.watch(require="ece < 0.1")
        monitor.update(*rows(0))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE states SET value = ? WHERE name = 'promises'", (value,))
    connection.close()
    with pytest.raises(VeridicalError, match="Hint"):
        CalibrationMonitor(path).status()


WRITE = "import json, sys; open(sys.argv[1], 'a').write(json.load(sys.stdin)['says'] + '\\n')"


def test_a_command_runs_once_an_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, told, data = tmp_path / "m.sqlite", tmp_path / "told", tmp_path / "rows.csv"
    y, p = rows(0, 2000, power=3)
    data.write_text("label,p\n" + "".join(f"{a},{b:.4f}\n" for a, b in zip(y, p, strict=True)))
    command = ["--exec", sys.executable, "-c", WRITE, str(told)]
    columns = [str(data), "--y", "label", "--prob", "p", "--batch-id"]
    store = ["monitor", "update", str(path), *columns]
    assert main(["monitor", "init", str(path)]) == 0
    assert main(["monitor", "watch", str(path), "--require", "ece < 0.05"]) == 0
    assert main(["monitor", "status", str(path), *command]) == 0
    assert not told.exists()
    absent = ["--exec", str(tmp_path / "absent"), "--loud"]
    assert main([*store, "a", *absent]) == 3  # what fails is told in a line, and again later
    assert "could not be run" in capsys.readouterr().err
    assert main(["monitor", "status", str(path), "--exec", sys.executable, "-c", "exit(7)"]) == 3
    assert "ended with code 7" in capsys.readouterr().err
    for _ in range(2):
        assert main([*store, "b", *command]) == 3
    assert main(["monitor", "status", str(path), *command]) == 3
    lines = told.read_text().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["Alarm", "Broken"]
    assert main(["monitor", "watch", str(path), "--format", "json"]) == 3
    out = capsys.readouterr().out
    assert json.loads(out[out.rindex("[\n  {") :])[0]["requirement"] == "ece < 0.05"
    assert main(["monitor", "status", str(path), "--exec"]) == 2


def test_nothing_of_a_command_is_read_by_a_shell(tmp_path: Path):
    monitor, told = CalibrationMonitor(), tmp_path / "told"
    monitor.update(*rows(0, 2000, power=3))
    hostile = f"$(touch {tmp_path}/run); `touch {tmp_path}/run` | & > x"
    code = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"
    assert tell_alarms(monitor, [sys.executable, "-c", code, str(told), hostile]) == []
    assert told.read_text() == hostile
    assert not (tmp_path / "run").exists()


def test_of_several_processes_one_tells_and_a_claim_of_the_dead_runs_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, told = tmp_path / "m.sqlite", tmp_path / "told"
    command = [sys.executable, "-c", WRITE, str(told)]
    with CalibrationMonitor(path) as monitor:
        monitor.update(*rows(0, 2000, power=3))

    def look(_: int) -> list[str]:
        with CalibrationMonitor(path) as monitor:
            return tell_alarms(monitor, command)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look, range(4))) == [[]] * 4
    assert len(told.read_text().splitlines()) == 1
    with CalibrationMonitor(path) as monitor:  # as one leaves it that is killed meanwhile
        with monitor._memory.store.transaction():
            when = "2026-01-01T00:00:00+00:00"
            monitor._memory.store.set_state("told", {"1 alarm": when}, lasting=True)
        look(0)
        assert len(told.read_text().splitlines()) == 2
        monkeypatch.setattr(_alarms, "_claimed", lambda *_: [("1 alarm", {"what": "alarm"})])
        monkeypatch.setattr(_alarms, "_SECONDS", 0.2)
        slow = [sys.executable, "-c", "import time; time.sleep(5)"]
        assert "took more than" in tell_alarms(monitor, slow)[0]


def test_the_page_names_what_is_broken():
    monitor = CalibrationMonitor()
    monitor.watch(require="ece < 0.05")
    for seed in range(8):
        monitor.update(*rows(seed, power=3))
    page = monitor_report(monitor)
    assert "ece &lt; 0.05" in page.html
    assert "Broken at batch" in page.markdown
