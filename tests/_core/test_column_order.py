"""Columns are matched to classes by name, in any order; what names do not say is said."""

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import veridical as v
from veridical._core.data.columns import label_of_column, place_columns, positions

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2]])
Y = np.array(["ant", "bee", "cat", "bee"])
NAMES = ["ant", "bee", "cat"]
TURNED = [2, 0, 1]

LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
}
WRITTEN = {
    "names": "{}",
    "endings": "p_{}",
    "beginnings": "{}_prob",
    "brackets": "P({})",
    "capitals": "p_{}",
    "words": "prob {}",
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("written", WRITTEN)
def test_named_columns_are_found_in_any_order(library, written):
    names = [WRITTEN[written].format(n.upper() if written == "capitals" else n) for n in NAMES]
    turned = LIBRARIES[library]({names[k]: P[:, k] for k in TURNED})
    expected = v.brier_score(Y, P)
    assert v.brier_score(Y, turned) == pytest.approx(expected, abs=1e-15)
    assert v.brier_score(Y, turned, labels=NAMES) == expected
    declared = pd.Categorical(Y, categories=["cat", "ant", "bee"], ordered=True)
    assert v.brier_score(declared, turned) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("library", LIBRARIES)
def test_calibrators_know_columns_by_name(library):
    make = LIBRARIES[library]
    turned = make({f"p_{NAMES[k]}": P[:, k] for k in TURNED})
    straight = make({f"p_{NAMES[k]}": P[:, k] for k in range(3)})
    plain = v.TemperatureCalibrator(labels=NAMES).fit(P, Y)
    fitted = v.TemperatureCalibrator(labels=NAMES).fit(turned, Y)
    assert fitted.temperature_ == plain.temperature_
    expected = plain.predict_proba(P)
    for frame in (turned, straight, make({NAMES[k]: P[:, k] for k in TURNED})):
        np.testing.assert_array_equal(fitted.predict_proba(frame), expected)
        np.testing.assert_array_equal(plain.predict_proba(frame), expected)
    as_columns = v.TemperatureCalibrator().fit(turned, Y)  # the order of named columns
    place = [as_columns.classes_.tolist().index(name) for name in NAMES]
    np.testing.assert_allclose(as_columns.predict_proba(straight)[:, place], expected, atol=1e-12)


def test_labels_say_what_columns_are():
    other = pd.DataFrame(P[:, TURNED], columns=["x", "y", "z"])
    labels = [NAMES[k] for k in TURNED]
    assert v.brier_score(Y, other, labels=labels) == pytest.approx(v.brier_score(Y, P))


@pytest.mark.parametrize(
    ("names", "y"),
    [
        (["p0", "p1", "p2"], Y),
        (["0", "1", "2"], Y),
        ([0, 1, 2], Y),
        (["p1", "p2", "p3"], Y),
        (["class_1", "class_2", "class_3"], np.array([0, 1, 2, 1])),
        (["p0", "p1", "p2"], np.array([1, 2, 3, 2])),
        (["p_0", "p_1", "p_2"], np.array([3, 4, 5, 4])),
    ],
    ids=str,
)
def test_names_that_count_are_places(names, y):
    expected = v.brier_score(y, P)
    assert v.brier_score(y, pd.DataFrame(P, columns=names)) == expected
    assert v.brier_score(y, pd.DataFrame(P, columns=names)[[names[k] for k in TURNED]]) == expected


def test_other_names_are_read_by_place_and_said():
    with pytest.warns(v.VeridicalWarning, match="'x', 'y', 'z' were taken for the classes 'ant'"):
        given = v.brier_score(Y, pd.DataFrame(P, columns=["x", "y", "z"]))
    assert given == v.brier_score(Y, P)
    frame = pl.DataFrame({"y": Y, "u": P[:, 0], "v": P[:, 1], "w": P[:, 2]})
    with pytest.warns(v.VeridicalWarning, match="were taken for the classes") as caught:
        v.grid_summary(frame, y="y", prob=["u", "v", "w"])
    assert any(str(one.filename) == __file__ for one in caught)


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["p_ant", "p_bee", "p_dog"], {}),
        (["p_bee", "p_ant", "other"], {"labels": NAMES}),
    ],
    ids=str,
)
def test_names_that_contradict_are_refused(names, options):
    with pytest.raises(v.InvalidInputError, match="named after the classes"):
        v.brier_score(Y, pd.DataFrame(P, columns=names), **options)


def test_numbers_that_contradict_are_refused():
    with pytest.raises(v.InvalidInputError, match="none of which is that of 5"):
        v.brier_score([0, 1, 5, 1], pd.DataFrame(P, columns=["p_0", "p_1", "p_2"]))


def test_labels_and_names_may_agree_in_part():
    frame = pd.DataFrame(P, columns=["p_ant", "p_bee", "other"])
    assert v.brier_score(Y, frame, labels=NAMES) == v.brier_score(Y, P)


BAD = np.array(["bad", "good", "bad", "good"])
OF_BAD = np.array([0.9, 0.2, 0.6, 0.3])


@pytest.mark.parametrize("name", ["p_bad", "bad", "Bad", "P(bad)", "prob-bad"])
def test_one_column_is_of_the_class_it_is_named_after(name):
    expected = v.log_loss(BAD, OF_BAD, pos_label="bad")
    for column in (pd.Series(OF_BAD, name=name), pl.Series(name, OF_BAD)):
        assert v.log_loss(BAD, column) == expected
        assert v.log_loss(BAD, column, pos_label="bad") == expected
        assert v.log_loss(BAD, column, labels=["good", "bad"]) == expected
        with pytest.raises(v.InvalidInputError, match="the class the column"):
            v.log_loss(BAD, column, pos_label="good")
    assert v.log_loss(BAD, pd.DataFrame({name: OF_BAD})) == expected
    frame = pl.DataFrame({"y": BAD, name: OF_BAD})
    for engine in ("memory", "pushdown"):
        summary = v.grid_summary(frame, y="y", prob=name, engine=engine)
        assert summary.table.scores["log"][0] / 4 == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["p", "score", "good_model", "pd_hat"])
def test_one_column_of_another_name_is_of_the_positive_class(name):
    assert v.log_loss(BAD, pd.Series(1 - OF_BAD, name=name)) == v.log_loss(BAD, 1 - OF_BAD)


def test_a_number_may_be_that_of_a_model():
    y = (BAD == "good").astype(int)
    with pytest.warns(v.VeridicalWarning, match="'p_0' was taken for the probability of 1"):
        assert v.log_loss(y, pd.Series(OF_BAD, name="p_0")) == v.log_loss(y, OF_BAD)
    assert v.log_loss(y, pd.Series(OF_BAD, name="p_1")) == v.log_loss(y, OF_BAD)
    assert v.log_loss(y, pd.Series(OF_BAD, name="p_0"), pos_label=1) == v.log_loss(y, OF_BAD)


def test_names_of_columns():
    assert label_of_column("p_not_good", ["good", "not_good"]) == "not_good"
    assert label_of_column("P_False", [False, True]) is False
    assert label_of_column("p_a", ["a", "A"]) == "a"
    assert label_of_column("p_B", ["a", "b"]) == "b"
    assert label_of_column("class12", [2, 12]) == 12
    assert positions(["p1", "q2"]) is None
    assert positions(["p3", "p4"]) is None
    assert place_columns(["b", "a"], ["a", "b"], given=True, caller="f").order == (1, 0)


def test_swapped_arguments_are_told_the_right_way_round():
    with pytest.raises(v.InvalidInputError, match="labels first"):
        v.brier_score([0.2, 0.7], [0, 1])
    with pytest.raises(v.InvalidInputError, match="predictions first, then labels"):
        v.PlattCalibrator().fit([0, 1], [0.2, 0.7])
