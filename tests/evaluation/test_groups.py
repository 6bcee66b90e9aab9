"""Subgroups: `by` one column, several, or keys."""

from __future__ import annotations

import contextlib
import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from veridical import Evaluation, InvalidInputError, evaluate
from veridical.inference import joint_test

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    n = 900
    p = rng.random(n)
    return {
        "label": (rng.random(n) < p).astype(int),
        "p": p,
        "region": rng.choice(["north", "south", "east"], n),
        "year": rng.choice([2024, 2025], n),
        "w": rng.integers(0, 3, n),
    }


def part(data, rows, **options):
    return figures(evaluate(named(data["label"][rows]), data["p"][rows], **options))


def named(y):
    return pd.Series(y, name="label")


def figures(e):
    """All but the verdict, which considers every group at once."""
    found = e.to_dict()
    del found["verdict"], found["groups"]
    return found


def test_each_group_is_the_evaluation_of_its_rows(data):
    e = evaluate(named(data["label"]), data["p"], by=data["region"])
    assert [key for key, _ in e.groups] == ["east", "north", "south"]
    for key, group in e.groups:
        assert figures(group) == part(data, data["region"] == key)
        assert group == e.group(key)
    assert sum(group.n_samples for _, group in e.groups) == e.n_samples


def test_the_whole_is_not_changed_by_its_groups(data):
    whole = evaluate(data["label"], data["p"])
    grouped = evaluate(data["label"], data["p"], by=data["region"])
    assert figures(whole) == figures(grouped)


def test_groups_are_judged_as_one_family(data):
    """The words of a group are those of its member of the joint test, adjusted for all."""
    p = np.where(data["region"] == "south", data["p"] ** 2, data["p"])
    e = evaluate(data["label"], p, by=data["region"])
    joint = joint_test(data["label"], p, by=data["region"], rng=0)
    assert e.verdict.joint == joint
    for key, group in e.groups:
        own = next(part for part in joint.parts if part.label == key)
        assert group.verdict.pvalue == own.adjusted
        assert group.verdict.found == (own.adjusted <= 0.05)
        assert f"in {key!r}" in group.verdict.headline
    assert [key for key, group in e.groups if group.verdict.found] == ["south"]
    assert "Of 3 groups 1 stands out: 'south'" in e.verdict.text
    calm = evaluate(data["label"], data["p"], by=data["region"]).verdict
    worst = min((part for part in calm.joint.parts if part.name == "group"),
                key=lambda part: (part.adjusted, part.pvalue))  # fmt: skip
    assert f"None of 3 groups stands out (worst: {worst.label!r}" in calm.text


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("by", ["region", ["region"]])
def test_a_column_may_be_named(data, build, by):
    e = evaluate(build(data), y="label", prob="p", by=by)
    assert e == evaluate(named(data["label"]), data["p"], by=data["region"])


@pytest.mark.parametrize("build", [pd.DataFrame, pl.DataFrame])
def test_several_columns_give_tuples_in_order(data, build):
    e = evaluate(build(data), y="label", prob="p", by=["region", "year"])
    assert [key for key, _ in e.groups] == [
        (region, year) for region in ("east", "north", "south") for year in (2024, 2025)
    ]
    rows = (data["region"] == "north") & (data["year"] == 2025)
    assert figures(e.group(("north", 2025))) == part(data, rows)


def test_rows_of_weight_zero_leave_their_group(data):
    e = evaluate(pl.DataFrame(data), y="label", prob="p", by="region", sample_weight="w")
    for key, group in e.groups:
        rows = (data["region"] == key) & (data["w"] > 0)
        assert figures(group) == part(data, rows, sample_weight=data["w"][rows])


def test_a_group_of_weight_zero_does_not_exist(data):
    w = np.where(data["region"] == "east", 0, 1)
    e = evaluate(data["label"], data["p"], by=data["region"], sample_weight=w)
    assert [key for key, _ in e.groups] == ["north", "south"]


@pytest.mark.parametrize(
    "keys",
    [
        lambda d: d["year"],
        lambda d: d["year"].tolist(),
        lambda d: d["year"] == 2024,
        lambda d: pd.Series(d["region"]).astype("category"),
        lambda d: pl.Series(d["region"]),
        lambda d: d["p"].round(0),
    ],
)
def test_keys_may_be_of_any_kind(data, keys):
    e = evaluate(data["label"], data["p"], by=keys(data))
    values = sorted(set(np.asarray(keys(data)).tolist()))
    assert [key for key, _ in e.groups] == values
    assert Evaluation.from_json(e.to_json()) == e


def test_a_group_of_one_row_does_not_stop_the_others(data):
    keys = np.array(["many"] * 899 + ["one"])
    e = evaluate(data["label"], data["p"], by=keys)
    assert e.group("one").n_samples == 1
    y, p = data["label"][-1], data["p"][-1]
    assert e.group("one").error("ECE").value == pytest.approx(abs(y - p))
    assert str(e)


def test_a_group_of_one_class_is_said_to_be_one(data):
    keys = np.where(data["label"] == 1, "positive", "mixed")
    keys[np.flatnonzero(data["label"])[:50]] = "mixed"
    e = evaluate(data["label"], data["p"], by=keys)
    assert e.group("positive").auc is None
    assert "1 of 2 classes did not occur: 0" in e.group("positive").notes


def test_dates_are_keys_that_can_be_written_down(data):
    days = np.array(["2024-01-01", "2024-02-01"], dtype="datetime64[D]")[data["year"] - 2024]
    e = evaluate(data["label"], data["p"], by=days)
    assert len(e.groups) == 2
    assert e.group(dt.date(2024, 2, 1)).n_samples == (data["year"] == 2025).sum()
    assert "2024-02-01" in e.to_json()
    assert "2024-02-01" in str(e)


def test_groups_of_several_columns_survive_json(data):
    e = evaluate(pl.DataFrame(data), y="label", prob="p", by=["region", "year"])
    back = Evaluation.from_json(e.to_json())
    assert back == e
    assert back.group(("north", 2025)) == e.group(("north", 2025))


@pytest.mark.parametrize("column", ["region", "year"])
@pytest.mark.parametrize("by", ["unknown", ["unknown", "label"]])
def test_missing_keys_are_a_group(data, by, column):
    frame = pl.DataFrame(data).with_columns(
        unknown=pl.when(pl.col("p") > 0.9).then(None).otherwise(pl.col(column))
    )
    blank = data["p"] > 0.9
    e = evaluate(frame, y="label", prob="p", by=by)
    rows = {key: ~blank & (data[column] == key) for key in np.unique(data[column]).tolist()}
    rows["(missing)"] = blank
    if by != "unknown":
        rows = {
            (key, label): at & (data["label"] == label)
            for key, at in rows.items()
            for label in (0, 1)
        }
    assert [key for key, _ in e.groups] == list(rows)
    for key, group in e.groups:
        assert group.n_samples == rows[key].sum()
        alone = evaluate(named(data["label"][rows[key]]), data["p"][rows[key]], labels=[0, 1])
        assert group.figures() == alone.figures()


def test_keys_of_mixed_kinds_are_refused_or_grouped_but_never_fail_otherwise(data):
    frame = pd.DataFrame(data)
    frame["mixed"] = [1, "a"] * 450
    sizes = [450, 450]
    with contextlib.suppress(InvalidInputError):
        groups = evaluate(frame, y="label", prob="p", by="mixed").groups
        sizes = [group.n_samples for _, group in groups]
    assert sizes == [450, 450]


def test_no_columns_to_group_by_are_refused(data):
    with pytest.raises(InvalidInputError, match="`by` must be"):
        evaluate(pl.DataFrame(data), y="label", prob="p", by=[])


def test_points_in_time_are_named_as_such():
    days = np.repeat(np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[ns]"), 50)
    p = np.tile(np.linspace(0.1, 0.9, 50), 2)
    y = np.arange(100) % 2
    found = evaluate(y, p, by=days, n_resamples=0)
    assert list(dict(found.groups)) == [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)]
