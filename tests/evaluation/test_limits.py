"""Intervals of an evaluation: which there are, where they are shown, and with clusters."""

import numpy as np
import polars as pl
import pytest

from veridical import BrierScore, bootstrap_interval, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")
NAMES = [
    "accuracy", "AUC", "calibration in the large", "observed/expected", "brier", "log",
    "spherical", "zero-one", "brier miscalibration", "brier discrimination", "log miscalibration",
    "log discrimination", "ECE", "RMSCE", "MCE", "smECE", "KS", "slope", "intercept",
]  # fmt: skip


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_has_an_interval_that_holds_it(weighted):
    y, p = rows()
    e = evaluate(y, p, sample_weight=np.linspace(1, 3, 300) if weighted else None)
    values = {row[0]: row[4] for row in e.figures()}
    for name in NAMES:
        low, high = e.interval(name)
        assert low < high
        if name in values and name not in ("RMSCE", "brier discrimination", "log discrimination"):
            assert low <= values[name] <= high
    expected = bootstrap_interval(
        BrierScore(), y, p, sample_weight=np.linspace(1, 3, 300) if weighted else None
    )
    assert e.interval("brier") == pytest.approx((expected.low, expected.high))
    with pytest.raises(KeyError, match=r"interval: `name` must be one of .* got 'ECE sweep'"):
        e.interval("ECE sweep")


def test_intervals_are_in_text_table_and_json():
    y, p = rows()
    e = evaluate(y, p)
    low, high = e.interval("AUC")
    assert f"{e.auc:.4f} ({low:.4f} to {high:.4f})" in str(e)
    assert f"{low:.4f} to {high:.4f}" in e._repr_html_()
    row = e.to_frame().filter(pl.col("quantity") == "AUC").row(0, named=True)
    assert (row["low"], row["high"]) == (low, high)
    assert e.to_dict()["limits"]["AUC"] == [low, high]


def test_copies_in_one_cluster_do_not_narrow_intervals():
    y, p = rows(100)
    once = evaluate(y, p)
    twice = evaluate(np.tile(y, 3), np.tile(p, 3), groups=np.tile(np.arange(100), 3))
    alone = evaluate(np.tile(y, 3), np.tile(p, 3))
    for name in ("brier", "AUC", "calibration in the large", "observed/expected", "slope"):
        low, high = once.interval(name)
        width = np.diff(twice.interval(name))[0]
        assert width == pytest.approx(high - low, rel=0.02)
        assert width > 1.4 * np.diff(alone.interval(name))[0]
    assert twice.interval("ECE") == pytest.approx(once.interval("ECE"), abs=1e-6)
    for name in ("KS", "smECE"):
        assert twice.interval(name)[1] >= 0.98 * once.interval(name)[1]
        assert alone.interval(name)[1] < twice.interval(name)[1]
    with pytest.raises(KeyError, match="got 'ECE sweep'"):
        twice.interval("ECE sweep")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_know_what_they_can(n_classes):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(n_classes), 400)
    y = (rng.random(400)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    frame = pl.DataFrame({"y": y, **{f"p_{k}": p[:, k] for k in range(n_classes)}})
    prob = "p_1" if n_classes == 2 else [f"p_{k}" for k in range(n_classes)]
    of_rows = evaluate(frame, y="y", prob=prob)
    of_sums = evaluate(frame, y="y", prob=prob, engine="pushdown")
    missing = set(of_rows.limits) - set(of_sums.limits)
    whole = {"AUC", "accuracy", "brier", "log", "spherical", "zero-one"}
    assert missing == (set() if n_classes == 2 else whole)
    for name, limits in of_sums.limits.items():
        assert limits == pytest.approx(of_rows.limits[name], abs=0.03)
