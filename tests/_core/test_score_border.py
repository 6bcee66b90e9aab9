"""The border for logits and scores."""

import math

import numpy as np
import pytest

from veridical._core.data.validation import check_scored_rows, check_scores
from veridical.exceptions import InvalidInputError


def check(y, scores, *, labels=None, weight=None, weight_type="importance"):
    return check_scored_rows(
        y, scores, caller="fit", labels=labels, sample_weight=weight, weight_type=weight_type
    )


@pytest.mark.parametrize(
    ("scores", "shape"),
    [
        ([1, -2, 3], (3,)),
        ([[1.5], [2.5]], (2,)),
        ([[1, 2], [3, 4]], (2, 2)),
        (np.zeros((4, 5), dtype=np.float32), (4, 5)),
        (np.float16([1, 2]), (2,)),
        ([True, False], (2,)),
    ],
)
def test_shapes_and_types(scores, shape):
    got = check_scores(scores, caller="fit")
    assert got.shape == shape
    assert got.dtype == np.float64


def test_doubles_are_not_copied():
    scores = np.array([1.0, -2.0])
    assert np.shares_memory(check_scores(scores, caller="fit"), scores)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_scores(bad):
    with pytest.raises(InvalidInputError, match=r"fit: `y_prob` must be finite.*row 2 \(1 of 4\)"):
        check_scores([0.0, 1.0, bad, 3.0], caller="fit")
    with pytest.raises(InvalidInputError, match=r"row 1 \(2 of 6\)"):
        check_scores([[0.0, 1], [bad, 0], [0, bad]], caller="fit")


@pytest.mark.parametrize("bad", [np.zeros((2, 2, 2)), np.zeros((3, 0))])
def test_wrong_shapes(bad):
    with pytest.raises(InvalidInputError, match=r"of shape \(n,\) or \(n, K\)"):
        check_scores(bad, caller="fit")


@pytest.mark.parametrize("bad", [["a", "b"], [1 + 2j], None, "scores", 3.0])
def test_what_is_no_array_of_numbers(bad):
    with pytest.raises(InvalidInputError, match="`y_prob` must be"):
        check_scores(bad, caller="fit", param="y_prob")


def test_rows_of_one_score():
    rows = check([0, 1, 1], [-2.0, 0.5, 70])
    assert rows.y.tolist() == [0, 1, 1]
    assert rows.scores.tolist() == [-2, 0.5, 70]
    assert rows.classes == (0, 1)
    assert rows.weight is None
    assert rows.size == 3


def test_labels_of_any_kind():
    assert check(["b", "a"], [1.0, 2]).classes == ("a", "b")
    rows = check(["b", "a"], [[1.0, 0], [2, 1]], labels=["b", "a"])
    assert rows.classes == ("b", "a")
    assert rows.y.tolist() == [0, 1]
    assert rows.positive == 0  # "b", the larger
    assert check([True, False], [1.0, 2]).classes == (False, True)
    absent = check([0, 0], np.zeros((2, 3)))
    assert absent.classes == (0, 1, 2)


def test_rows_of_weight_zero_are_gone():
    rows = check([0, 1, 2], np.eye(3), weight=[1, 0, 3])
    assert rows.y.tolist() == [0, 2]
    assert rows.scores.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert rows.weight.tolist() == [1, 3]


def test_sizes():
    assert check([0, 1], [1.0, 2], weight=[1, 3]).size == pytest.approx(16 / 10)
    assert check([0, 1], [1.0, 2], weight=[1, 3], weight_type="frequency").size == 4


def test_huge_and_tiny_importance_weights():
    # Only their ratios mean something: squares must not overflow or vanish.
    for factor in (1e200, 1e-200):
        size = check([0, 1], [1.0, 2], weight=[factor, 3 * factor]).size
        assert math.isclose(size, 1.6)


@pytest.mark.parametrize(
    ("y", "scores", "options", "message"),
    [
        ([0, 1, 1], [0.0, 1], {}, "2 rows for 3 labels"),
        ([], [], {}, "non-empty"),
        ([0, np.nan], [0.0, 1], {}, "missing value"),
        ([0.5, 0.1], [0.0, 1], {}, "class labels"),
        (["a", "b", "c"], [0.0, 1, 2], {}, "at most 2 classes"),
        (["a", "a"], [0.0, 1], {}, "labels="),
        ([0, 1], [0.0, 1], {"labels": [0, 1, 2]}, "a list of 2 labels"),
        ([0, 3], [0.0, 1], {"labels": [0, 1]}, "among `labels`"),
        ([0, 1], [0.0, 1], {"weight": [1]}, "sample_weight"),
        ([0, 1], [0.0, 1], {"weight": [1, -1]}, "non-negative"),
        ([0, 1], [0.0, 1], {"weight": [0, 0]}, "positive somewhere"),
        ([0, 1], [0.0, 1], {"weight_type": "counts"}, "weight_type"),
    ],
)
def test_errors(y, scores, options, message):
    with pytest.raises(InvalidInputError, match=message):
        check(y, scores, **options)
