"""Labels read from the names of probability columns."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.frames.tables import labels_from_columns


@pytest.mark.parametrize(
    ("columns", "y", "labels"),
    [
        (["p_dog", "p_cat"], ["cat", "dog"], ["dog", "cat"]),
        (["p_dog", "p_cat", "p_eel"], ["cat", "dog"], ["dog", "cat", "eel"]),
        (["p_a1", "p_a2"], ["a1", "a2"], ["a1", "a2"]),
        (["dog", "cat"], ["cat", "dog"], ["dog", "cat"]),
        (["p.x y", "p.z"], ["z", "x y"], ["x y", "z"]),
        (["pCat", "pDog"], ["Cat", "Dog"], ["Cat", "Dog"]),
        (["p_1", "p_0"], ["0", "1"], ["1", "0"]),
        (["p_a_1", "p_a_2"], ["1", "2"], ["1", "2"]),
        (["p_a_1", "p_a_2"], ["a_1", "a_2"], ["a_1", "a_2"]),
        (["p_1", "p_0"], [0, 1], [1, 0]),
        (["p_2", "p_10", "p_1"], [1, 10], [2, 10, 1]),
        (["p_1", "p_11"], [1], [1, 11]),
        (["p_-1", "p_1"], [-1, 1], [-1, 1]),
        (["p01", "p02"], [1, 2], [1, 2]),
        (["class0", "class1"], [1], [0, 1]),
        (["p_0", "p_1", "p_2"], [1.0, 2.0, np.nan], [0, 1, 2]),
        (["p_True", "p_False"], [True, False], [True, False]),
        (["p_0", "p_1"], [True, False], [False, True]),
    ],
    ids=str,
)
def test_names_give_labels_in_column_order(columns, y, labels):
    result = labels_from_columns(columns, np.array(y))
    assert result == labels
    assert [type(label) for label in result] == [type(label) for label in labels]


@pytest.mark.parametrize(
    ("columns", "y"),
    [
        (["p"], ["a"]),
        ([], ["a"]),
        (["p_dog", "p_cat"], ["cat", "eel"]),
        (["first", "second"], [0, 1]),
        (["p_3", "p_4"], [0, 1]),
        (["p_10", "p_11"], [0, 1]),
        (["p_1", "p_01"], [1]),
        (["p_a", "p_"], ["a"]),
        (["p_0", "p_1"], [0.5, 1.0]),
        (["p_bat", "p_brat"], ["rat"]),
        (["p_0", "p_1"], ["no", "yes"]),
        (["p_yes", "p_no"], [True, False]),
        (["p_0", "p_1"], [np.nan, np.nan]),
        (["p_0", "p_1"], [np.inf, 1.0]),
        (["p_2", "p_0", "p_1"], [3, 4, 5]),
    ],
    ids=str,
)
def test_names_that_do_not_say_give_nothing(columns, y):
    assert labels_from_columns(columns, np.array(y)) is None


def test_object_arrays_with_missing_labels_are_read():
    y = np.array(["a", None, "b", np.nan], dtype=object)
    assert labels_from_columns(["p_b", "p_a"], y) == ["b", "a"]
    assert labels_from_columns(["p_1", "p_0"], np.array([0, None, 1], dtype=object)) == [1, 0]
    flags = np.array([True, None], dtype=object)
    assert labels_from_columns(["p_true", "p_false"], flags) == [True, False]
    assert labels_from_columns(["p_a", "p_1"], np.array(["a", 1], dtype=object)) is None
    assert labels_from_columns(["p_a", "p_b"], np.array([None], dtype=object)) is None
