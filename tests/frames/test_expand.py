"""Column names and globs."""

from __future__ import annotations

import pytest

from veridical.exceptions import InvalidInputError
from veridical.frames.tables import expand_columns


def expand(patterns, available):
    return expand_columns(patterns, available, caller="f", param="prob")


@pytest.mark.parametrize(
    ("patterns", "available", "columns"),
    [
        ("p", ["y", "p"], ["p"]),
        (["b", "a"], ["a", "b"], ["b", "a"]),
        ("p_*", ["y", "p_c", "p_a", "q"], ["p_c", "p_a"]),
        ("p_*", ["p_10", "p_2", "p_1"], ["p_1", "p_2", "p_10"]),
        ("p_*", ["p_10", "p_2", "p_x"], ["p_10", "p_2", "p_x"]),
        ("p_*", ["p_1", "p_-1", "p_0"], ["p_-1", "p_0", "p_1"]),
        ("p_1*", ["p_12", "p_11", "p_2"], ["p_11", "p_12"]),
        ("*_prob", ["10_prob", "9_prob"], ["9_prob", "10_prob"]),
        ("p_?", ["p_2", "p_1", "p_10"], ["p_1", "p_2"]),
        ("p_[ab]", ["p_b", "p_a", "p_c"], ["p_b", "p_a"]),
        (["p_c", "p_*"], ["p_a", "p_b", "p_c"], ["p_c", "p_a", "p_b"]),
        (["a_*", "b_*"], ["b_1", "a_1"], ["a_1", "b_1"]),
        ("p*", ["p*", "p1"], ["p*"]),
        (("p_0", "p_1"), ["p_1", "p_0"], ["p_0", "p_1"]),
        ([0, 1], ["0", "1"], ["0", "1"]),
    ],
)
def test_patterns_expand_to_columns(patterns, available, columns):
    assert expand(patterns, available) == columns


def test_globs_mind_the_case():
    with pytest.raises(InvalidInputError, match="pattern that matches columns"):
        expand("P_*", ["p_a", "p_b"])


def test_an_unknown_name_is_reported_with_the_nearest():
    message = r"^f: `prob` must be a column of the data; got 'prb' .*\nHint: did you mean 'prob'\?$"
    with pytest.raises(InvalidInputError, match=message):
        expand("prb", ["y", "prob"])


def test_a_glob_without_match_is_reported_with_the_nearest():
    message = r"`prob` must be a pattern that matches columns of the data; got 'prb_\*' .*"
    with pytest.raises(InvalidInputError, match=message + r"\nHint: did you mean 'prob_a'\?"):
        expand("prb_*", ["y", "prob_a"])


def test_a_column_named_twice_is_refused():
    with pytest.raises(InvalidInputError, match="distinct columns; got 'p' more than once"):
        expand(["p", "p"], ["p"])


def test_no_pattern_at_all_is_refused():
    with pytest.raises(InvalidInputError, match="`prob` must be at least one column; got none"):
        expand([], ["p"])
