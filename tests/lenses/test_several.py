"""Lenses that keep several classes, and how lenses are chosen or written."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import (
    BinnedError,
    Canonical,
    Classwise,
    Confidence,
    Grouped,
    InvalidInputError,
    TopK,
    UniformBins,
    classwise_calibration_error,
    expected_calibration_error,
    reliability_curve,
)
from veridical.lenses import Lens

ROWS = [[0.125, 0.25, 0.125, 0.5], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 1.0, 0.0]]


@pytest.fixture
def data():
    rng = np.random.default_rng(11)
    p = rng.dirichlet(np.full(4, 0.6), 300)
    y = np.array([rng.choice(4, p=row) for row in p])
    return y, p


def test_classwise_lens_is_one_problem_for_each_class(data):
    y, p = data
    z, q = Classwise()(y, p)
    np.testing.assert_array_equal(z, np.eye(4)[y])
    np.testing.assert_array_equal(q, p)


def test_canonical_lens_changes_nothing(data):
    z, q = Canonical()(*data)
    np.testing.assert_array_equal(z, data[0])
    np.testing.assert_array_equal(q, data[1])


@pytest.mark.parametrize("k", [2, 3])
def test_top_k_sorts_each_row_and_keeps_the_rank_of_what_happened(data, k):
    y, p = data
    z, q = TopK(k)(y, p)
    for row, label, rank, top in zip(p, y, z, q, strict=True):
        order = sorted(range(4), key=lambda j, row=row: (-row[j], j))
        expected = [row[j] for j in order[:k]]
        np.testing.assert_allclose(top, [*expected, 1 - sum(expected)], atol=1e-12)
        assert rank == (order.index(label) if label in order[:k] else k)


def test_top_k_gives_ties_to_the_first_columns():
    z, q = TopK(2)([1, 1, 2], ROWS)
    assert z.tolist() == [1, 1, 0]
    assert q.tolist() == [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]]


def test_top_1_is_the_confidence_lens(data):
    z, q = TopK(1)(*data)
    expected_z, expected_q = Confidence()(*data)
    np.testing.assert_array_equal(z, expected_z)
    np.testing.assert_array_equal(q, expected_q)


@pytest.mark.parametrize("k", [0, 4, 5, -1, 1.5, "2"])
def test_top_k_needs_fewer_ranks_than_classes(data, k):
    with pytest.raises(InvalidInputError, match="TopK: `k` must be between 1 and 3"):
        TopK(k)(*data)


def test_a_numpy_integer_is_an_integer_for_top_k(data):
    np.testing.assert_array_equal(TopK(np.int64(2))(*data)[1], TopK(2)(*data)[1])


def test_grouped_lens_adds_probabilities_of_merged_classes(data):
    y, p = data
    z, q = Grouped([[0, 2], [1], [3]])(y, p)
    np.testing.assert_allclose(q, np.column_stack([p[:, 0] + p[:, 2], p[:, 1], p[:, 3]]))
    np.testing.assert_array_equal(z, np.array([0, 1, 0, 2])[y])


def test_two_groups_are_a_binary_problem_whose_positive_class_is_the_second(data):
    y, p = data
    z, q = Grouped({"even": [0, 2], "odd": [1, 3]})(y, p)
    np.testing.assert_array_equal(z, y % 2)
    np.testing.assert_allclose(q, p[:, 1] + p[:, 3])
    assert reliability_curve(y, p, lens=Grouped({"even": [0, 2], "odd": [1, 3]})).lens == (
        "grouped even | odd"
    )


def test_a_group_of_all_but_nothing_never_exceeds_one():
    p = [[0.1, 0.2, 0.3, 0.4]] * 4  # 0.1 + 0.2 + 0.3 + 0.4 may exceed one by rounding
    q = Grouped([[0], [1, 2, 3]])([0, 1, 2, 3], p)[1]
    assert q.max() <= 1


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        ([[0, 1], [1, 2, 3]], "disjoint"),
        ([[0, 1], [2]], r"without \[3\]"),
        ([[0, 1, 2, 3]], "1 groups"),
        ([[0, 1], [2, 3, 9]], "one of the classes"),
        ([[0, 1], [2, "3"]], "one of the classes"),
        ("0+1|2+3", "groups of labels"),
        (7, "groups of labels"),
        ([0, [1, 2, 3]], "groups of labels"),
    ],
)
def test_groups_must_partition_the_classes(data, partition, message):
    with pytest.raises(InvalidInputError, match=message):
        Grouped(partition)(*data)


@pytest.mark.parametrize(
    "partition",
    [
        ["cat", ["dog", "eel"]],
        [["cat"], ["dog", "eel"]],
        {"a": ["cat"], "b": ["dog", "eel"]},
        {"a": "cat", "b": ["dog", "eel"]},
    ],
)
def test_a_group_of_one_text_label_may_be_written_without_a_list(partition):
    y, p = ["cat", "dog", "eel"], [[0.5, 0.25, 0.25]] * 3
    assert Grouped(partition)(y, p)[0].tolist() == [0, 1, 1]


@pytest.mark.parametrize("name", ["confidence", "classwise", "canonical", "pooled"])
def test_names_stand_for_lenses(data, name):
    error = BinnedError(UniformBins(4))
    lens = {"confidence": Confidence(), "classwise": Classwise(), "canonical": Canonical()}
    if name in lens:
        assert error(*data, lens=name) == error(*data, lens=lens[name])
    else:
        assert 0 <= error(*data, lens=name) <= 1


@pytest.mark.parametrize("lens", ["confidense", "", 3, Confidence, ["confidence"]])
def test_an_unknown_lens_is_an_error_that_lists_the_known_ones(data, lens):
    with pytest.raises(InvalidInputError, match="`lens` must be one of 'binary', 'confidence'"):
        expected_calibration_error(*data, lens=lens)


def test_a_misspelt_lens_is_answered_with_the_nearest_one(data):
    with pytest.raises(InvalidInputError, match="did you mean 'classwise'"):
        expected_calibration_error(*data, lens="class-wise")


def test_any_function_of_labels_and_matrix_is_a_lens(data):
    def odd(y, p):
        return y % 2, p[:, 1] + p[:, 3]

    error = BinnedError(UniformBins(10))
    w = np.random.default_rng(2).integers(0, 3, len(data[0]))
    expected = error(*data, lens=Grouped([[0, 2], [1, 3]]), sample_weight=w)
    assert error(*data, lens=odd, sample_weight=w) == pytest.approx(expected, rel=1e-12)
    assert reliability_curve(*data, lens=odd).lens == "odd"


def test_a_function_may_return_several_classes(data):
    def merged(y, p):
        return np.minimum(y, 2), np.column_stack([p[:, 0], p[:, 1], p[:, 2] + p[:, 3]])

    error = BinnedError(UniformBins(4))
    expected = error(*data, lens=Grouped([[0], [1], [2, 3]]))
    assert error(*data, lens=merged) == pytest.approx(expected, rel=1e-12)


def test_a_lens_written_as_a_class_carries_its_name(data):
    class Last:
        name = "last class"

        def __call__(self, y, p):
            return y == p.shape[1] - 1, p[:, -1]

    assert reliability_curve(*data, lens=Last()).lens == "last class"


def test_a_lens_may_be_derived_from_the_base_class(data):
    class Twice(Lens):
        @property
        def name(self):
            return "twice"

        def induce(self, sample):
            return Confidence().induce(sample)

    expected = expected_calibration_error(*data, lens="confidence")
    assert expected_calibration_error(*data, lens=Twice()) == expected


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda y, p: (y, p[:, 0] * 3), r"lens <lambda>: `y_prob` must be in \[0, 1\]"),
        (lambda y, p: (y / 7, p[:, 0]), "lens <lambda>: `y_true` must be class labels"),
        (lambda y, p: (y[:5] > 1, p[:, 0]), "lens <lambda>: `y_prob` must be as long"),
    ],
)
def test_what_a_function_returns_is_checked_and_blamed_on_it(data, function, message):
    with pytest.raises(InvalidInputError, match=message):
        expected_calibration_error(*data, lens=function)


def test_a_function_that_drops_rows_cannot_be_weighted(data):
    def first_ten(y, p):
        return y[:10] == 0, p[:10, 0]

    w = np.arange(1.0, 301.0)
    with pytest.raises(InvalidInputError, match="lens first_ten"):
        expected_calibration_error(*data, lens=first_ten, n_bins=2, sample_weight=w)


def test_a_curve_needs_a_lens_with_one_binary_problem(data):
    for lens in ("classwise", "canonical", TopK(2)):
        with pytest.raises(InvalidInputError, match="single binary problem"):
            reliability_curve(*data, lens=lens)


def test_classwise_function_and_lens_agree(data):
    expected = BinnedError(UniformBins(15))(*data, lens=Classwise())
    assert classwise_calibration_error(*data) == expected
