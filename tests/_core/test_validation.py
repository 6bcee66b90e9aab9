"""Bad probabilities, shapes and weights: every public function says what, where and what to do."""

from __future__ import annotations

import numpy as np
import pytest

import veridical

NAN, INF = float("nan"), float("inf")
LOGITS = "logit"  # and what to do about it, where something can be said
PERCENT = "percentages"

# name: (y, p, expected, got, hint)
PROBABILITIES = {
    "nan": ([0, 1, 1], [0.2, NAN, 0.4], "finite", "nan at index 1 (1 of 3 values)", "drop or fix"),
    "inf": ([0, 1, 1], [INF, 0.2, -INF], "finite", "inf at index 0 (2 of 3 values)", "drop or fix"),
    "nan before logits": ([0, 1], [7.5, NAN], "finite", "nan at index 1 (1 of 2 values)", "drop"),
    "logits": ([0, 1, 1], [0.5, -3.5, 2], "in [0, 1]", "-3.5 at index 1 (2 of 3 values)", LOGITS),
    "far above one": ([0, 1], [250.0, 0.5], "in [0, 1]", "250 at index 0 (1 of 2 values)", LOGITS),
    "percentages": ([0, 1], [20, 70], "in [0, 1]", "20 at index 0 (2 of 2 values)", PERCENT),
    "just below zero": (
        [0, 1], [-5e-324, 0.5], "in [0, 1]", "-4.94066e-324 at index 0 (1 of 2 values)", LOGITS,
    ),
    "nan in a matrix": (
        [0, 1], [[0.2, 0.3, 0.5], [0.2, 0.3, NAN]],
        "finite", "nan at index (1, 2) (1 of 6 values)", "drop or fix",
    ),
    "logits in a matrix": (
        [0, 1], [[0.2, 0.3, 0.5], [-1.5, 3, -0.5]],
        "in [0, 1]", "-1.5 at index (1, 0) (3 of 6 values)", LOGITS,
    ),
    "percentages in a matrix": (
        [0, 1], [[20, 80], [70, 30]], "in [0, 1]", "20 at index (0, 0) (4 of 4 values)", PERCENT,
    ),
    "negative in a row that sums to one": (
        [0, 1], [[0.25, 0.25, 0.5], [-0.25, 0.75, 0.5]],
        "in [0, 1]", "-0.25 at index (1, 0) (1 of 6 values)", LOGITS,
    ),
    "row sum": (
        [0, 1, 2], [[0.2, 0.3, 0.5], [0.5, 0.3, 0.1], [0.1, 0.1, 0.1]],
        "rows that sum to 1 within 1e-06", "a sum of 0.9 at index 1 (2 of 3 rows)", "be missing",
    ),
    "row sum of two columns": (
        [0, 1], [[0.5, 0.5], [0.5, 0.25]],
        "rows that sum to 1 within 1e-06", "a sum of 0.75 at index 1 (1 of 2 rows)", "be missing",
    ),
    "row sum in single precision": (
        [0, 1], np.array([[0.5, 0.50234], [0.5, 0.5]], dtype=np.float32),
        "rows that sum to 1 within 0.001", "a sum of 1.00234 at index 0 (1 of 2 rows)", "rounded",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PROBABILITIES)
def test_bad_probabilities_are_located(rejects, case):
    y, p, expected, got, hint = PROBABILITIES[case]
    rejects(y, p, param="y_prob", expected=expected, got=got, hint=hint)


@pytest.mark.parametrize(
    ("p", "hint"),
    [
        ([20, 70], 'percentages? divide by 100; logits? say `input="logit"`.'),
        ([0.5, 100.0], 'percentages? divide by 100; logits? say `input="logit"`.'),
        ([-1.5, 70], 'pass probabilities, or say `input="logit"`.'),
        ([0.5, 100.5], 'pass probabilities, or say `input="logit"`.'),
    ],
)
def test_calibrators_say_how_to_pass_percentages_and_logits(p, hint):
    with pytest.raises(veridical.InvalidInputError, match=r"in \[0, 1\]") as error:
        veridical.PlattCalibrator().fit(p, [0, 1])
    assert str(error.value).endswith(f"\nHint: {hint}")


# name: (y, p, param, expected, got, hint)
SHAPES = {
    "shorter": ([0, 1, 1], [0.5, 0.5], "y_prob", "as long as `y_true`", "2 rows for 3 labels",
                "one probability (or row of probabilities) per label"),
    "longer": ([0], [[0.5, 0.5]] * 4, "y_prob", "as long as `y_true`", "4 rows for 1 labels",
               "one probability (or row of probabilities) per label"),
    "empty": ([], [], "y_true", "non-empty", "0 rows", "at least one row"),
    "empty arrays": (np.empty(0, int), np.empty((0, 3)), "y_true", "non-empty", "0 rows",
                     "at least one row"),
    "no columns": ([0, 1], np.empty((2, 0)), "y_prob", "of shape (n,) or (n, K)", "shape (2, 0)",
                   "one row of class probabilities per label"),
    "three dimensions": ([0, 1], np.full((2, 1, 1), 0.5), "y_prob", "of shape (n,) or (n, K)",
                         "shape (2, 1, 1)", "one row of class probabilities per label"),
    "ragged": ([0, 1], [[0.5, 0.5], [1.0]], "y_prob", "array-like", "a list", "equal length"),
    "a number": ([0, 1], 0.5, "y_prob", "array-like", "a float", "one value per row"),
    "text": ([0, 1], "0.5", "y_prob", "array-like", "a str", "one value per row"),
    "dictionary": ([0, 1], {0: 0.5}, "y_prob", "array-like", "a dict", "one value per row"),
    "labels of a matrix": ([[0, 1], [1, 0]], [0.5, 0.5], "y_true", "a 1-d array of labels",
                           "shape (2, 2)", "argmax"),
    "probabilities first": ([[0.5, 0.5], [0.2, 0.8]], [0, 1], "y_true", "a 1-d array of labels",
                            "shape (2, 2)", "pass y_true first, then y_prob"),
    "one-hot": (np.eye(3), np.full((3, 3), 1 / 3), "y_true", "a 1-d array of labels",
                "shape (3, 3)", "argmax(axis=1)"),
    "three-dimensional labels": (np.zeros((2, 1, 1)), [0.5, 0.5], "y_true",
                                 "a 1-d array of labels", "shape (2, 1, 1)", "argmax"),
    "no labels": (None, [0.5, 0.5], "y_true", "array-like", "None", "one value per row"),
    "masked": (np.ma.masked_array([0, 1], [True, False]), [0.5, 0.5], "y_true",
               "free of missing values", "a masked array", "drop the masked rows"),
    "masked probabilities": ([0, 1], np.ma.masked_array([0.5, 0.5], [True, False]), "y_prob",
                             "free of missing values", "a masked array", "drop the masked rows"),
}  # fmt: skip


@pytest.mark.parametrize("case", SHAPES)
def test_bad_shapes_are_named(rejects, case):
    y, p, param, expected, got, hint = SHAPES[case]
    rejects(y, p, param=param, expected=expected, got=got, hint=hint)


def test_without_probabilities_there_should_be_a_table():
    message = r"decompose: `y_true` must be a frame or a file when `y_prob` is unset; got y_prob="
    with pytest.raises(veridical.InvalidInputError, match=message):
        veridical.decompose([0, 1], None)


@pytest.mark.parametrize("name", ["brier_score", "expected_calibration_error"])
def test_missing_probabilities_are_named(name):
    message = rf"{name}: `y_prob` must be array-like; got None\.\nHint: "
    with pytest.raises(veridical.InvalidInputError, match=message):
        getattr(veridical, name)([0, 1], None)


# name: (weights, expected, got, hint)
SIGN = "finite and non-negative"
WEIGHTS = {
    "negative": ([1, -2, -3], SIGN, "-2 at index 1 (2 of 3 values)", "zero or more"),
    "nan": ([1, 1, NAN], SIGN, "nan at index 2 (1 of 3 values)", "zero or more"),
    "inf": ([INF, 1, 1], SIGN, "inf at index 0 (1 of 3 values)", "zero or more"),
    "zeros": ([0, 0, 0], "positive somewhere", "all zeros", "a positive weight"),
    "short": ([1, 1], "of shape (3,)", "(2,)", "one weight per row"),
    "matrix": (np.ones((3, 2)), "of shape (3,)", "(3, 2)", "one weight per row"),
    "number": (2.0, "array-like", "a float", "one value per row"),
    "text": ("balanced", "array-like", "a str", "one value per row"),
    "words": (["a", "b", "c"], "numeric", "values of type <U1", "one number per row"),
    "missing": ([1, None, 1], SIGN, "nan at index 1 (1 of 3 values)", "zero"),
}  # fmt: skip


@pytest.mark.parametrize("case", WEIGHTS)
def test_bad_weights_are_named(rejects, caller, case):
    weight, expected, got, hint = WEIGHTS[case]
    if caller == "evaluate" and isinstance(weight, str):
        return  # there it may be the name of a column
    options = {"param": "sample_weight", "expected": expected, "got": got, "hint": hint}
    rejects([0, 1, 1], [0.2, 0.5, 0.7], sample_weight=weight, **options)


@pytest.mark.parametrize("off", [9e-7, -9e-7])
def test_rows_may_miss_one_by_the_tolerance_of_double_precision(off):
    row = [0.25, 0.25, 0.5 + off]
    expected = 0.25**2 + 0.75**2 + (0.5 + off) ** 2  # as given, not renormalised
    assert veridical.brier_score([1], [row]) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("off", [9e-4, -9e-4])
def test_rows_may_miss_one_by_the_tolerance_of_single_precision(off):
    row = np.array([[0.25, 0.25, 0.5 + off]], dtype=np.float32)
    expected = 0.25**2 + 0.75**2 + float(row[0, 2]) ** 2
    assert veridical.brier_score([1], row) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 1.2e-3), (np.float64, 1.2e-6)])
@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_rows_may_not_miss_one_by_more(dtype, off, n_classes):
    for sign in (-1, 1):
        p = np.zeros((1, n_classes), dtype=dtype)
        p[0, :2] = 0.24877, 0.75123 + sign * off
        with pytest.raises(veridical.InvalidInputError, match="rows that sum to 1 within"):
            veridical.brier_score([1], p, labels=range(n_classes))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_never_renormalised(dtype):
    """0.7 + 0.2 + 0.1 is below one; dividing by the sum would move 0.7 into the next bin."""
    p = np.array([[0.7, 0.2, 0.1]] * 4, dtype=dtype)
    curve = veridical.reliability_curve([0, 0, 0, 1], p, n_bins=10)
    assert curve.upper.tolist() == [0.7]
    assert curve.predicted.tolist() == [float(dtype(0.7))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_after_one_is_no_probability(dtype):
    p = np.array([0.5, np.nextafter(dtype(1), dtype(2))], dtype=dtype)
    assert p[1] > 1
    with pytest.raises(veridical.InvalidInputError, match=r"in \[0, 1\]; got .* at index 1 "):
        veridical.brier_score([0, 1], p)
    with pytest.raises(veridical.InvalidInputError, match=r"in \[0, 1\]; got .* at index \(1, 0\)"):
        veridical.brier_score([0, 1], np.column_stack([p, 1 - p]).clip(0))


def test_words_are_no_probabilities():
    with pytest.raises(veridical.InvalidInputError, match=r"`y_prob` must be numeric; .*'low'"):
        veridical.brier_score([0, 1], ["low", "high"])


def test_minus_zero_and_one_are_probabilities():
    assert veridical.brier_score([0, 1], [-0.0, 1.0]) == 0.0
    assert veridical.brier_score([0, 1], np.array([[1.0, -0.0], [0.0, 1.0]])) == 0.0


def test_integers_and_booleans_are_probabilities():
    assert veridical.brier_score([0, 1, 1], [0, 1, 0]) == pytest.approx(1 / 3)
    assert veridical.brier_score([0, 1, 1], [False, True, False]) == pytest.approx(1 / 3)
