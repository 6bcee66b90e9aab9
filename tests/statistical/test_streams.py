"""Streams: alarms of calibrated ones, what is found, what an online map is worth, and the pages."""

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "evidence"))

import online  # noqa: E402
import streams_page  # noqa: E402

TABLES = ROOT / "docs" / "evidence"


def script(name):
    """A script of `evidence` that has the name of a folder of tests."""
    spec = importlib.util.spec_from_file_location(f"evidence_{name}", ROOT / f"evidence/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


monitoring = script("monitoring")


def table(name):
    with (TABLES / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("page", streams_page.PAGES)
def test_pages_say_what_the_tables_do(page):
    folder = ROOT / "docs"
    assert streams_page.with_tables(folder, page) == (folder / page).read_text(encoding="utf-8")


def test_alarms_of_calibrated_streams_are_within_their_level():
    ours = [row for row in table("monitor_levels.csv") if row["monitor"].startswith("ours")]
    assert {"ours, all rows", "ours, ten groups", "ours, three classes"} <= {
        row["monitor"] for row in ours
    }
    for row in ours:
        assert float(row["ever_alarmed"]) <= 0.05
        assert int(row["streams"]) >= 2000


def test_nothing_is_found_later_than_before_and_whole_vectors_at_all():
    found = {
        (r["drift"], r["monitor"]): float(r["median_rows"]) for r in table("monitor_delays.csv")
    }
    for drift in [*monitoring.DRIFTS, *monitoring.VECTOR_DRIFTS]:
        assert found[drift, "ours"] <= found[drift, "ours, first edition"]
    assert found["whole vectors, three classes", "ours"] <= 5000


@pytest.mark.parametrize("name", ["ours, all rows", "ours, ten groups", "ours, three classes"])
def test_a_sample_of_calibrated_streams(name):
    n = 40
    alarms = sum(monitoring.alarms_without_drift(seed, name) for seed in range(5000, 5000 + n))
    assert alarms <= binom.ppf(0.9999, n, 0.05)


def test_evidence_without_a_store_is_that_of_a_monitor():
    rows = list(monitoring.vector_stream(monitoring.whole_vectors, np.random.default_rng(8)))[20:34]
    monitoring.check_agreement(rows, grouped=False)


def test_the_mixture_is_first_on_every_stream_but_calibrated_ones():
    rows = table("online_streams.csv")
    excess = {(row["stream"], row["map"]): float(row["excess"]) for row in rows}
    for kind in {row["stream"] for row in rows}:
        others = [f"refit every {online.EVERY} rows", "online Newton step"]
        assert all(excess[kind, "online mixture"] < excess[kind, name] for name in others)
        if kind != "calibrated":
            assert excess[kind, "online mixture"] < excess[kind, "as is"]
    lost = [float(row["most_nats_lost"]) for row in rows if row["most_nats_lost"]]
    assert max(lost) <= np.log(5) + 1 + np.log(2)


def test_a_sample_of_online_streams_agrees_with_the_table():
    """Excess of the mixture on one new stream of each kind, within twice that of the table."""
    expected = {
        row["stream"]: float(row["excess"])
        for row in table("online_streams.csv")
        if row["map"] == "online mixture"
    }
    t = np.arange(online.ROWS) / online.ROWS
    for kind, (slope, level) in online.laws(t).items():
        rng = np.random.default_rng(123)
        x = rng.normal(-1, 2, online.ROWS)
        truth, p = online.expit(slope * x + level), online.expit(x)
        q = online.mixture(p, (rng.random(online.ROWS) < truth).astype(np.int64))
        excess = truth * np.log(truth / q) + (1 - truth) * np.log((1 - truth) / (1 - q))
        assert excess.mean() <= 2 * expected[kind] + 2e-4
