"""More than twenty subgroups: their figures at once, each in full when it is looked at."""

from __future__ import annotations

import pickle
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from veridical import Evaluation, evaluate
from veridical.results import EvaluatedGroups, GroupRow

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

N_GROUPS = 30


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    by = np.concatenate([np.repeat(np.arange(N_GROUPS), rng.integers(1, 60, N_GROUPS)), [98, 98]])
    p = np.round(rng.beta(1, 2, len(by)), 2)
    p[:2] = [0.0, 1.0]
    y = (rng.random(len(p)) < p**1.5).astype(int)
    order = rng.permutation(len(y))
    return y[order], p[order], by[order]


def alone(y, p, rows, **options):
    """All but the verdict, which considers every group at once."""
    found = evaluate(y[rows], p[rows], labels=[0, 1], **options).to_dict()
    del found["verdict"], found["groups"]
    return found


def close(found, expected):
    """Rows of the table: figures to rounding, limits to what their equations are solved to."""
    for name, value in asdict(expected).items():
        got = getattr(found, name)
        if value is None or name in ("key", "n_samples", "n_resamples", "pvalue"):
            assert got == value, name
        else:
            tolerance = 1e-9 if name in ("low", "high") else 1e-12
            assert got == pytest.approx(value, abs=tolerance), name


def test_figures_at_once_are_those_of_each_group(data):
    y, p, by = data
    e = evaluate(y, p, by=by, n_resamples=100)
    assert isinstance(e.groups, EvaluatedGroups)
    assert [row.key for row in e.groups.table] == np.unique(by).tolist()
    for row, (key, group) in zip(e.groups.table, e.groups, strict=True):
        close(row, GroupRow.of(key, group))


def test_a_group_looked_at_is_the_evaluation_of_its_rows(data):
    y, p, by = data
    e = evaluate(y, p, by=by, n_resamples=100)
    assert not e.groups._made
    for key in (0, 11, 98):
        group = e.group(key)
        found = group.to_dict()
        verdict = found.pop("verdict")
        del found["groups"]
        assert found == alone(y, p, by == key, n_resamples=100)
        assert f"in {key}" in verdict["headline"]
        assert e.group(key) is group
    assert len(e.groups._made) == 3
    assert e.groups[-1] == e.groups[N_GROUPS]
    assert e.groups[:2] == (e.groups[0], e.groups[1])
    with pytest.raises(IndexError):
        e.groups[N_GROUPS + 1]
    with pytest.raises(KeyError, match="99"):
        e.group(99)


@pytest.mark.parametrize("kind", ["weights", "clusters", "classes", "sqrt", "classwise", "float32"])
def test_other_rows_have_the_same_table(data, kind):
    y, p, by = data
    options = {"n_resamples": 50}
    rng = np.random.default_rng(1)
    if kind == "weights":
        options["sample_weight"] = rng.random(len(y)) + 0.1
    if kind == "clusters":
        keep = np.isin(by, np.flatnonzero(np.bincount(by) > 8))
        y, p = y[keep], p[keep]
        by = np.unique(by[keep], return_inverse=True)[1] % 22
        options["groups"] = np.arange(len(y)) % 40
    if kind in ("classes", "classwise"):
        p = rng.dirichlet(np.ones(3), len(y))
        y = rng.integers(0, 3, len(y))
        options |= {"lens": "confidence" if kind == "classes" else kind, "labels": [0, 1, 2]}
    if kind == "sqrt":
        options["n_bins"] = "sqrt"
    if kind == "float32":
        p = p.astype(np.float32)
    e = evaluate(y, p, by=by, **options)
    assert isinstance(e.groups, EvaluatedGroups)
    for row, (key, group) in zip(e.groups.table, e.groups, strict=True):
        close(row, GroupRow.of(key, group))


def test_large_groups_have_the_same_table():
    """Bins whose counts are drawn as normal."""
    rng = np.random.default_rng(3)
    by = np.repeat(np.arange(22), [20_000, *[30] * 21])
    p = rng.beta(3, 3, len(by))
    y = (rng.random(len(p)) < p).astype(int)
    e = evaluate(y, p, by=by, n_resamples=60)
    for row, (key, group) in zip(e.groups.table, e.groups, strict=True):
        close(row, GroupRow.of(key, group))


def test_nothing_changes_when_the_arrays_do(data):
    y, p, by = (each.copy() for each in data)
    e = evaluate(y, p, by=by, n_resamples=50)
    before = alone(y, p, by == 5, n_resamples=50)
    y[:], p[:] = 0, 0.5
    found = e.group(5).to_dict()
    del found["verdict"], found["groups"]
    assert found == before


def test_they_are_written_and_read_and_sent(data):
    y, p, by = data
    rows = by < 21
    e = evaluate(y[rows], p[rows], by=by[rows], n_resamples=50)
    sent = pickle.loads(pickle.dumps(e))
    back = Evaluation.from_json(e.to_json())
    assert back == e == sent
    assert str(back) == str(e)
    assert back.groups[3][0] == 3
    pd.testing.assert_frame_equal(
        back.group_frame(backend="pandas"), e.group_frame(backend="pandas"), atol=1e-9
    )


def test_the_frame_has_one_row_a_group(data):
    y, p, by = data
    frame = pd.DataFrame({"y": y, "p": p, "site": by})
    e = evaluate(frame, y="y", prob="p", by="site", n_resamples=50)
    table = e.group_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["group"].tolist() == [str(key) for key in np.unique(by)]
    own = frame[frame.site == 4]
    row = table[table.group == "4"].iloc[0]
    assert row["n_samples"] == len(own)
    assert row["brier"] == pytest.approx(((own.p - own.y) ** 2).mean())
    assert row["mean_observed"] == pytest.approx(own.y.mean())
    assert row["error"] == "ECE"
    assert row["value"] == pytest.approx(e.group(4).default.value)
    adjusted = {part.label: part.adjusted for part in e.verdict.joint.parts if part.name == "group"}
    assert row["adjusted"] == adjusted[4]
    assert isinstance(e.group(4).to_frame(), pd.DataFrame)
    few = evaluate(frame[frame.site < 3], y="y", prob="p", by="site", n_resamples=50)
    assert list(few.group_frame().columns) == list(table.columns)
    assert few.group_frame()["value"].tolist() == [g.default.value for _, g in few.groups]


def test_text_shows_those_that_stand_out_first(data):
    y, p, by = data
    e = evaluate(y, p, by=by, n_resamples=50)
    text = e.to_text()
    assert all(f"\n  {key} " in text for key in np.unique(by))
    assert not e.groups._made
    assert "more lines" in str(e)
