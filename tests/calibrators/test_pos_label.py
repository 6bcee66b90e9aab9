"""A calibrator that is told its positive class is the plain 0/1 map under other names."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from calibrators.every_calibrator import EVERY, fit, options, predict
from sklearn.base import clone

from veridical.calibrators import (
    AveragedCalibrator,
    Calibrator,
    GroupedCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
)
from veridical.exceptions import InvalidInputError
from veridical.export import to_sql


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    p = rng.random(300).round(2)
    return p, (rng.random(300) < p**1.5).astype(int)


NEW = np.array([0.0, 1e-9, 0.013, 0.2, 0.77, 0.995, 1.0])


def named(y):
    """Outcome 1 as "bad", the smaller label."""
    return np.array(["good", "bad"])[y]


# Solved with columns in the order of labels; the bins of the first leave out one column.
IN_COLUMN_ORDER = {"vector", "matrix", "dirichlet", "structured vector", "structured matrix"}
PROBABILITIES_OR_LOGITS = {"averaged", "boosted identity", "beta-binning"}  # by a part of theirs
IN_COLUMN_ORDER |= {"extended matrix", "searched dirichlet"}
BINS_ALL_BUT_THE_FIRST = {"simplex histogram"}
KINDS = [
    (name, input)
    for name, map in EVERY.items()
    for input in map._inputs
    if name not in BINS_ALL_BUT_THE_FIRST
    and not (input == "score" and name in PROBABILITIES_OR_LOGITS)
]


@pytest.mark.parametrize(("name", "input"), KINDS)
def test_it_is_the_plain_map_with_columns_in_the_order_of_labels(name, input, rows):
    (p, y), new = rows, NEW
    if input != "probability":
        p, new = (np.log((x + 1e-3) / (1 - x + 1e-3)) for x in (p, new))
    p, new = (np.where(x == (0.5 if input == "probability" else 0.0), 0.51, x) for x in (p, new))
    plain = fit(EVERY[name], p, y, input=input)
    first = fit(EVERY[name], p, named(y), input=input, pos_label="bad")
    assert first.classes_.tolist() == ["bad", "good"]
    assert first.positive_label == "bad"
    rounding = 1e-9 if name in IN_COLUMN_ORDER else 0.0
    turned = predict(first, new)[:, ::-1]
    np.testing.assert_allclose(turned, predict(plain, new), rtol=0, atol=rounding)
    last = fit(EVERY[name], p, named(y), input=input, pos_label="bad", labels=["good", "bad"])
    assert last.classes_.tolist() == ["good", "bad"]
    np.testing.assert_array_equal(predict(last, new), predict(plain, new))
    again = Calibrator.from_dict(json.loads(json.dumps(first.to_dict())))
    assert again.pos_label == "bad"
    np.testing.assert_array_equal(predict(again, new), predict(first, new))
    if input == "probability":
        pair, two = (np.column_stack([x, 1 - x]) for x in (p, new))
        both = fit(EVERY[name], pair, named(y), pos_label="bad")
        np.testing.assert_allclose(predict(both, two), predict(first, new), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", EVERY)
def test_scikit_learn_keeps_and_sets_it(name):
    told = clone(EVERY[name]).set_params(pos_label="bad")
    assert told.get_params()["pos_label"] == "bad"
    assert clone(told).pos_label == "bad"
    assert EVERY[name].get_params()["pos_label"] is None


@pytest.mark.parametrize("name", EVERY)
def test_a_class_that_is_not_there_is_refused_at_fit(name, rows):
    p, y = rows
    told = clone(EVERY[name]).set_params(pos_label="ugly")
    with pytest.raises(InvalidInputError, match="`pos_label` must be one of the classes") as caught:
        told.fit(p, named(y), **options(told, p))
    assert caught.value.hint == "the classes are 'bad', 'good'."


def test_of_several_classes_there_is_no_positive_one():
    p = np.full((3, 3), 1 / 3)
    with pytest.raises(InvalidInputError, match="`pos_label` must be unset for K > 2"):
        TemperatureCalibrator(pos_label=2).fit(p, [0, 1, 2])
    assert TemperatureCalibrator().fit(p, [0, 1, 2]).positive_label is None


def test_labels_that_end_in_the_smaller_one_need_it_for_one_column(rows):
    p, y = rows
    with pytest.raises(InvalidInputError, match="`pos_label` must be given for one column"):
        PlattCalibrator(labels=["good", "bad"]).fit(p, named(y))
    with pytest.raises(InvalidInputError, match="`pos_label` must be given for one column"):
        PlattCalibrator(labels=["good", "bad"], input="logit").fit(p, named(y))
    frame = pl.LazyFrame({"p": p, "y": named(y)})
    with pytest.raises(InvalidInputError, match="`pos_label` must be given for one column"):
        PlattCalibrator(labels=["good", "bad"]).fit(frame, "y", prob="p")
    PlattCalibrator(labels=["good", "bad"]).fit(np.column_stack([1 - p, p]), named(y))


def test_wrappers_are_told_and_tell_what_they_wrap(rows):
    p, y = rows
    inner = PlattCalibrator(pos_label="bad")
    for wrapper in (OneVsRestCalibrator(inner), AveragedCalibrator([inner])):
        with pytest.raises(InvalidInputError, match="one without its own `pos_label`"):
            wrapper.fit(p, named(y))
        told = wrapper.set_params(pos_label="bad").fit(p, named(y))
        plain = PlattCalibrator().fit(p, y).predict_proba(NEW)
        np.testing.assert_allclose(told.predict_proba(NEW)[:, ::-1], plain, rtol=0, atol=1e-15)
    nested = GroupedCalibrator(OneVsRestCalibrator(IsotonicCalibrator()), pos_label="bad")
    by = np.arange(len(p)) % 3
    nested.fit(p, named(y), by=by)
    plain = GroupedCalibrator(OneVsRestCalibrator(IsotonicCalibrator())).fit(p, y, by=by)
    found = nested.predict_proba(p, by=by)[:, ::-1]
    np.testing.assert_array_equal(found, plain.predict_proba(p, by=by))
    assert nested.predict([0.99], by=[0]).tolist() == ["bad"]


@pytest.mark.parametrize("kind", [PlattCalibrator, IsotonicCalibrator, TemperatureCalibrator])
@pytest.mark.parametrize("columns", [["PD"], ["p_good", "p_bad"]])
def test_frames_and_queries_are_read_the_same_way(kind, columns, rows):
    p, y = rows
    frame = pl.DataFrame({"PD": p, "p_good": 1 - p, "p_bad": p, "Status": named(y)})
    plain = kind().fit(p, y).predict_proba(NEW)
    for source in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        told = kind(pos_label="bad").fit(source, "Status", prob=columns)
        order = told.classes_.tolist()  # sorted for one column, else that of the columns
        assert order == (["bad", "good"] if len(columns) == 1 else ["good", "bad"])
        assert told.positive_label == "bad"
        assert told.outcome_name_ == "Status"
        assert told.feature_names_in_.tolist() == columns
        after = told.predict_proba(NEW)[:, order.index("bad")]
        np.testing.assert_allclose(after, plain[:, 1], rtol=0, atol=1e-9)
        new = pl.DataFrame({"PD": NEW, "p_good": 1 - NEW, "p_bad": NEW})
        for form in (new, new.lazy()):
            after = told.transform(form).lazy().collect()
            name = "calibrated" if len(columns) == 1 else "calibrated_bad"
            np.testing.assert_allclose(after[name], plain[:, 1], rtol=0, atol=1e-9)


def test_a_column_named_after_the_other_class_is_refused(rows):
    p, y = rows
    told = PlattCalibrator(pos_label="bad").fit(p, named(y))
    said = "`pos_label` must be the class the column 'p_good' is named after; got 'bad'"
    with pytest.raises(InvalidInputError, match=said):
        PlattCalibrator(pos_label="bad").fit(pl.Series("p_good", p), named(y))
    with pytest.raises(InvalidInputError, match=said):
        told.predict_proba(pl.DataFrame({"p_good": p}))
    with pytest.raises(InvalidInputError, match=said):
        told.transform(pl.DataFrame({"p_good": p}), prob="p_good")
    with pytest.raises(InvalidInputError, match=said):
        to_sql(told, columns="p_good")
    turned = pl.DataFrame({"p_good": 1 - p, "p_bad": p})
    found = told.transform(turned, prob=["p_good", "p_bad"])["calibrated_bad"]
    np.testing.assert_allclose(found, told.predict_proba(p)[:, 0], rtol=0, atol=1e-12)
    by_name = told.predict_proba(turned)
    np.testing.assert_allclose(by_name, told.predict_proba(p), rtol=0, atol=1e-12)


def test_rows_are_known_again(rows):
    p, y = rows
    told = PlattCalibrator(pos_label="bad").fit(p, named(y))
    assert told.seen(p, named(y)) == 1
    assert told.seen(np.column_stack([p, 1 - p]), named(y)) == 1
    assert told.seen(1 - p, named(y)) < 0.1


def test_the_name_of_the_outcome_is_kept(rows):
    p, y = rows
    told = PlattCalibrator(pos_label="bad").fit(p, pl.Series("Status", named(y)))
    assert told.outcome_name_ == "Status"
    assert not hasattr(told.fit(p, named(y)), "outcome_name_")


def test_files_of_before_there_was_a_choice_are_about_the_larger_label(rows):
    p, y = rows
    for map in (PlattCalibrator(), OneVsRestCalibrator(PlattCalibrator()), TemperatureCalibrator()):
        found = map.fit(p, np.array(["bad", "good"])[y])
        data = found.to_dict()
        for part in (data, *(each["calibrator"] for each in data["fitted"].get("parts_", []))):
            del part["parameters"]["pos_label"], part["fitted"]["positive_index_"]
        again = Calibrator.from_dict(json.loads(json.dumps(data)))
        assert again.positive_label == "good"
        np.testing.assert_array_equal(again.predict_proba(NEW), found.predict_proba(NEW))
