"""A column of numbers with a word in it is described by the word."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames._tables.table import to_numbers


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["0.6", "NA", "0.7"], r"got 'NA' in column 'p' at index 1 \(1 of 3 values\)"),
        (["0,6", "NA", "0,7"], r"got 'NA' in column 'p' at index 1 \(1 of 3 values\)"),
        (["0,6", "0,7"], r"got '0,6' in column 'p' at index 0 \(2 of 2 values\)"),
    ],
)
def test_the_word_is_named(values, found):
    column = np.array(values, dtype=object)
    with pytest.raises(InvalidInputError, match=found):
        to_numbers(column, "p", caller="f", param="prob")
