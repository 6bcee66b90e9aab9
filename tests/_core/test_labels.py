"""Labels: what is refused, and which class a column belongs to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import veridical as v

NAN = float("nan")
THIRDS = [[0.5, 0.25, 0.25]] * 3

# name: (y, p, options, param, expected, got, hint)
BAD = {
    "swapped": ([0.2, 0.7], [0, 1], {}, "y_true", "class labels",
                "fractions in y_true and only 0 and 1 in y_prob", "look swapped"),
    "fractions": ([0.0, 0.5, 1.5], [0.1, 0.2, 0.3], {}, "y_true", "class labels",
                  "0.5 at index 1 (2 of 3 values)", "y_true comes first, y_prob second"),
    "nan": ([0, 1, NAN], [0.1, 0.2, 0.3], {}, "y_true", "free of missing values",
            "a missing value at index 2 (1 of 3)", "drop the rows"),
    "none": ([None, "a", None], [0.1, 0.2, 0.3], {}, "y_true", "free of missing values",
             "a missing value at index 0 (2 of 3)", "drop the rows"),
    "pandas NA": (pd.array([0, pd.NA, 1], dtype="Int64"), [0.1, 0.2, 0.3], {}, "y_true",
                  "free of missing values", "a missing value at index 1 (1 of 3)", "drop the rows"),
    "dates": (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), [0.1, 0.2], {}, "y_true",
              "labels that are integers, booleans or strings", "dates", "into strings"),
    "bytes": ([b"a", b"b"], [0.1, 0.2], {}, "y_true",
              "labels that are integers, booleans or strings", "bytes", "decode"),
    "one word only": (["yes", "yes"], [0.1, 0.2], {}, "y_true", "of two or more classes",
                      "only 'yes'", "pass `labels=`"),
    "one number only": ([7, 7], [0.1, 0.2], {}, "y_true", "of two or more classes",
                        "only 7", "pass `labels=`"),
    "too many": (["a", "b", "c"], [0.1, 0.2, 0.3], {}, "y_true", "of at most 2 classes",
                 "3 classes ('a', 'b', 'c') for binary probabilities", "one probability column"),
    "too many integers": ([0, 1, 2], [0.1, 0.2, 0.3], {}, "y_true", "of at most 2 classes",
                          "3 classes (0, 1, 2) for binary probabilities", "one probability column"),
    "many too many": (list(range(9)), [0.5] * 9, {}, "y_true", "of at most 2 classes",
                      "9 classes (0, 1, 2, 3, 4, 5, ...) for binary probabilities", "column"),
    "too few": (["a", "b", "a"], THIRDS, {}, "y_true",
                "of 3 classes when `labels` is not given",
                "only 'a', 'b' for 3 probability columns", "a class may be absent"),
    "unknown": (["a", "c", "b"], [0.1, 0.2, 0.3], {"labels": ["a", "b"]}, "y_true",
                "among `labels`", "'c' at index 1 (1 of 3)", "`labels` holds 'a', 'b'"),
    "unknown integer": ([0, 5, 6], [0.1, 0.2, 0.3], {"labels": [0, 1]}, "y_true",
                        "among `labels`", "5 at index 1 (2 of 3)", "`labels` holds 0, 1"),
    "numbers for words": ([0, 1], [0.1, 0.2], {"labels": ["0", "1"]}, "y_true", "among `labels`",
                          "labels such as 0 while `labels` holds '0', '1'", "same type in both"),
    "words for numbers": (["0", "1"], [0.1, 0.2], {"labels": [0, 1]}, "y_true", "among `labels`",
                          "labels such as '0' while `labels` holds 0, 1", "same type in both"),
    "labels too short": ([0, 1, 2], THIRDS, {"labels": [0, 1]}, "labels", "a list of 3 labels",
                         "2 of shape (2,)", "one label per column"),
    "labels too long": ([0, 1], [0.1, 0.2], {"labels": [0, 1, 2]}, "labels", "a list of 2 labels",
                        "3 of shape (3,)", "two for a single column"),
    "labels of a matrix": ([0, 1], [0.1, 0.2], {"labels": [[0, 1]]}, "labels",
                           "a list of 2 labels", "2 of shape (1, 2)", "one label per column"),
    "labels twice": (["a", "b"], [0.1, 0.2], {"labels": ["a", "a"]}, "labels", "distinct",
                     "'a', 'a'", "name each class once"),
    "labels as text": (["a", "b"], [0.1, 0.2], {"labels": "ab"}, "labels", "array-like", "a str",
                       "one value per row"),
    "labels of two kinds": (["a", "b"], [0.1, 0.2], {"labels": np.array(["a", 1], dtype=object)},
                            "labels", "labels of one kind", "number and text", "of one kind"),
    "kinds": (np.array(["a", 1, "b"], dtype=object), [0.1, 0.2, 0.3], {}, "y_true",
              "labels of one kind", "number and text", "all strings or all numbers"),
    "things": (np.array([{}, {}], dtype=object), [0.1, 0.2], {}, "y_true",
               "labels that are integers, booleans or strings", "values of type dict",
               "class labels"),
    "positive unknown": (["no", "yes"], [0.1, 0.2], {"pos_label": "maybe"}, "pos_label",
                         "one of the classes", "'maybe'", "the classes are 'no', 'yes'"),
    "positive of another type": ([0, 1], [0.1, 0.2], {"pos_label": "1"}, "pos_label",
                                 "one of the classes", "'1'", "the classes are 0, 1"),
    "positive of three": ([0, 1, 2], THIRDS, {"pos_label": 1}, "pos_label", "unset for K > 2",
                          "1 with 3 classes", "ClassSpecific(label)"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_labels_are_named(rejects, case):
    y, p, options, param, expected, got, hint = BAD[case]
    rejects(y, p, param=param, expected=expected, got=got, hint=hint, **options)


def test_the_larger_label_is_positive():
    expected = (0.8**2 + 0.1**2) / 2
    for y in (["yes", "no"], [1, 0], [True, False], [3, -3], [1.0, 0.0]):
        assert v.brier_score(y, [0.2, 0.1]) == pytest.approx(expected)


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_pos_label_is_the_class_of_a_single_column(positive):
    y, p = np.array(["yes", "no", "no"]), np.array([0.2, 0.1, 0.6])
    expected = np.mean((p - (y == positive)) ** 2)
    assert v.brier_score(y, p, pos_label=positive) == pytest.approx(expected)


def test_pos_label_does_not_change_which_column_is_whose():
    y, p = ["yes", "no", "no"], [[0.8, 0.2], [0.9, 0.1], [0.4, 0.6]]
    plain = v.brier_score(y, p)
    assert v.brier_score(y, p, pos_label="no") == pytest.approx(plain)
    curve = v.reliability_curve(y, p, pos_label="no", n_bins=1, interval=None)
    assert curve.predicted.tolist() == pytest.approx([(0.8 + 0.9 + 0.4) / 3])
    assert curve.observed.tolist() == pytest.approx([2 / 3])


def test_labels_are_in_column_order():
    p = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]
    sorted_order = v.log_loss(["low", "high"], p, labels=["high", "low", "mid"])
    given_order = v.log_loss(["low", "high"], p, labels=["low", "mid", "high"])
    assert sorted_order == pytest.approx(-(np.log(0.3) + np.log(0.1)) / 2)
    assert given_order == pytest.approx(-(np.log(0.5) + np.log(0.2)) / 2)


def test_a_single_column_is_that_of_the_larger_label_unless_labels_suggest_the_other():
    y, p = ["b", "b"], [0.9, 0.8]
    assert v.brier_score(y, p, labels=["a", "b"]) == pytest.approx(0.025)
    for labels in (["a", "b"], ["b", "a"]):
        assert v.brier_score(y, p, labels=labels, pos_label="b") == pytest.approx(0.025)
        assert v.brier_score(y, p, labels=labels, pos_label="a") == pytest.approx(0.725)
    with pytest.raises(v.InvalidInputError, match=r"`pos_label` must be given") as caught:
        v.brier_score(y, p, labels=["b", "a"])
    assert caught.value.param == "pos_label"
    assert "pos_label='a'" in caught.value.hint
    assert "pos_label='b'" in caught.value.hint


def test_columns_follow_the_order_of_labels():
    p = [[0.9, 0.1], [0.8, 0.2]]
    assert v.brier_score(["b", "b"], p, labels=["b", "a"]) == pytest.approx(0.025)
    assert v.brier_score(["b", "b"], p, labels=["a", "b"]) == pytest.approx(0.725)


def test_integers_are_columns_so_a_class_may_be_absent():
    p = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]
    assert v.log_loss([2, 2], p) == pytest.approx(np.log(8) / 2)
    assert v.log_loss([0, 0], [0.5, 0.75]) == pytest.approx(np.log(8) / 2)
    assert v.log_loss([True, True], [0.5, 0.25]) == pytest.approx(np.log(8) / 2)


def test_integers_from_one_are_sorted_labels():
    p = [[0.5, 0.25, 0.25]] * 3
    assert v.log_loss([1, 2, 3], p) == pytest.approx(np.log(2 * 4 * 4) / 3)


@pytest.mark.parametrize(
    "classes",
    [("ant", "bee", "cat"), (0, 1, 2), (10, 20, 30)],
    ids=["strings", "indices", "integers"],
)
def test_classes_are_reported_as_plain_values(multiclass, classes):
    found = v.evaluate(np.array(classes)[multiclass.y], multiclass.p).classes
    assert found == classes
    assert [type(label) for label in found] == [type(label) for label in classes]


@pytest.mark.parametrize("kind", [bool, object])
def test_booleans_are_reported_as_booleans(binary, kind):
    found = v.evaluate(binary.y.astype(bool).astype(kind), binary.p).classes
    assert found == (False, True)
    assert [type(label) for label in found] == [bool, bool]


def test_labels_of_a_hundred_classes_need_not_all_occur():
    rng = np.random.default_rng(8)
    p = rng.dirichlet(np.ones(100), 50)
    y = rng.integers(0, 100, 50)
    given = v.log_loss([f"c{k:03d}" for k in y], p, labels=[f"c{k:03d}" for k in range(100)])
    assert given == pytest.approx(-np.log(p[np.arange(50), y]).mean())
