"""Lenses that induce one binary problem."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import (
    Binary,
    BinnedError,
    Canonical,
    ClassSpecific,
    Confidence,
    InvalidInputError,
    Pooled,
    UniformBins,
    evaluate,
    expected_calibration_error,
    zero_one_loss,
)

ROWS = [[0.5, 0.25, 0.25], [0.0, 0.75, 0.25], [0.25, 0.25, 0.5]]


def simplex(rng, n=200, k=4, dtype=np.float64, grid=None):
    p = rng.dirichlet(np.full(k, 0.7), n)
    if grid:  # counts out of `grid`: many ties between columns, and exact zeros and ones
        p = rng.multinomial(grid, p) / grid
    return p.astype(dtype)


def test_binary_lens_is_the_positive_class_and_its_probability():
    z, q = Binary()(["no", "yes", "no"], [0.2, 0.7, 0.4])
    assert z.tolist() == [0, 1, 0]
    assert q.tolist() == [0.2, 0.7, 0.4]


def test_binary_lens_refuses_three_classes_and_names_the_alternatives():
    with pytest.raises(InvalidInputError, match=r"Binary: `y_prob` must be of shape.*3 classes"):
        Binary()([0, 1, 2], ROWS)
    with pytest.raises(InvalidInputError, match="classwise"):
        Binary()([0, 1, 2], ROWS)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("grid", [None, 4, 10])
def test_confidence_is_the_first_largest_column(dtype, grid):
    rng = np.random.default_rng(3)
    p = simplex(rng, dtype=dtype, grid=grid)
    y = rng.integers(0, 4, len(p))
    z, q = Confidence()(y, p)
    for row, label, right, confidence in zip(p.tolist(), y, z, q, strict=True):
        first = row.index(max(row))
        assert right == (first == label)
        assert confidence == max(row)


def test_a_tie_for_the_largest_column_goes_to_the_first():
    p = [[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1 / 3, 1 / 3, 1 / 3]]
    assert Confidence()([0, 1, 0], p)[0].tolist() == [1, 1, 1]
    assert Confidence()([1, 2, 2], p)[0].tolist() == [0, 0, 0]


def test_confidence_of_two_classes_is_never_below_one_half():
    p = np.linspace(0, 1, 41)
    y = np.arange(41) % 2
    z, q = Confidence()(y, p)
    assert q.min() >= 0.5
    np.testing.assert_array_equal(q, np.maximum(p, 1 - p))
    np.testing.assert_array_equal(z, (p > 0.5) == (y == 1))


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_a_tie_of_two_columns_goes_to_the_first_whatever_the_positive_class(pos_label):
    p = [[0.5, 0.5]] * 3
    assert zero_one_loss([0, 0, 1], p, pos_label=pos_label) == pytest.approx(1 / 3)
    confidence_error = expected_calibration_error(
        [0, 0, 1], p, n_bins=1, lens="confidence", pos_label=pos_label
    )
    assert confidence_error == pytest.approx(2 / 3 - 1 / 2)


@pytest.mark.parametrize("label", [0, 1, 2])
def test_class_specific_is_one_class_against_the_rest(label):
    z, q = ClassSpecific(label)([0, 2, 1], ROWS)
    assert z.tolist() == [int(y == label) for y in (0, 2, 1)]
    assert q.tolist() == [row[label] for row in ROWS]


def test_class_specific_takes_labels_as_the_user_names_them():
    z, q = ClassSpecific("dog")(["cat", "dog", "eel"], ROWS)
    assert z.tolist() == [0, 1, 0]
    assert q.tolist() == [0.25, 0.75, 0.25]


def test_class_specific_of_the_negative_class_of_two_is_the_complement():
    z, q = ClassSpecific("no")(["no", "yes"], [0.25, 0.75])
    assert z.tolist() == [1, 0]
    assert q.tolist() == [0.75, 0.25]


@pytest.mark.parametrize("label", ["bird", 1, None])
def test_an_unknown_class_is_an_error_that_lists_the_classes(label):
    with pytest.raises(InvalidInputError, match="`label` must be one of the classes") as error:
        ClassSpecific(label)(["cat", "dog", "eel"], ROWS)
    assert "'cat', 'dog', 'eel'" in str(error.value)


def test_pooled_lens_throws_all_pairs_of_row_and_class_together():
    y, p = [2, 0], [[0.5, 0.25, 0.25], [0.75, 0.25, 0.0]]
    z, q = Pooled()(y, p)
    assert z.tolist() == [0, 0, 1, 1, 0, 0]
    assert q.tolist() == [0.5, 0.25, 0.25, 0.75, 0.25, 0.0]


def test_pooled_weights_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    p, y = simplex(rng, 60, 3), rng.integers(0, 3, 60)
    w = rng.integers(0, 4, 60)
    weighted = BinnedError(UniformBins(5))(y, p, lens=Pooled(), sample_weight=w)
    repeated = BinnedError(UniformBins(5))(np.repeat(y, w), np.repeat(p, w, axis=0), lens=Pooled())
    assert weighted == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("shape", ["(n,)", "(n, 1)", "(n, 2)"])
def test_two_classes_have_one_default_answer_whatever_the_shape(shape):
    rng = np.random.default_rng(5)
    p = rng.random(300)
    y = (rng.random(300) < p**2).astype(int)
    given = {"(n,)": p, "(n, 1)": p[:, None], "(n, 2)": np.column_stack([1 - p, p])}[shape]
    expected = expected_calibration_error(y, p, lens=Binary())
    assert expected_calibration_error(y, given) == expected
    assert expected_calibration_error(y, given, lens=Canonical()) == expected
    assert evaluate(y, given).lens == "binary"


def test_three_classes_are_seen_through_the_confidence_by_default():
    rng = np.random.default_rng(6)
    p = simplex(rng, 400, 3)
    y = np.array([rng.choice(3, p=row) for row in p])
    assert expected_calibration_error(y, p) == expected_calibration_error(y, p, lens="confidence")
    assert evaluate(y, p, n_bins=5).lens == "confidence"


def test_pos_label_turns_the_binary_problem_around():
    rng = np.random.default_rng(7)
    p = rng.random(100)
    y = (rng.random(100) < p).astype(int)
    pair = np.column_stack([1 - p, p])
    turned = expected_calibration_error(y, pair, pos_label=0)
    assert turned == pytest.approx(
        expected_calibration_error(1 - y, np.ascontiguousarray(pair[:, 0])), rel=1e-12
    )
