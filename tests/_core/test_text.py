"""Sentences and tables that fit, lose no word, and cannot steer a terminal."""

from __future__ import annotations

import numpy as np
import pytest

from veridical._core.runtime.text import cells, fitted, printable, table_lines, wrapped
from veridical.results.base import format_pvalue, say_pvalue

WORDS = [
    "a",
    "calibration",
    "of",
    "0.0312",
    "classes",
    "equal-width",
    "\u6f22\u5b57",
    "e\u0301t\u00e9",
]


def sentence(rng, n):
    return " ".join(rng.choice(WORDS, n))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("width", [40, 80, 120])
def test_sentences_fit_and_keep_their_words(seed, width):
    rng = np.random.default_rng(seed)
    text = sentence(rng, int(rng.integers(1, 60)))
    lines = wrapped(text, width, indent=2, hanging=4)
    assert " ".join(lines).split() == text.split()
    assert all(cells(line) <= width for line in lines)
    assert all(line.startswith("      ") for line in lines[1:])
    assert fitted(f"  {text}", width).split() == text.split()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_fit_and_keep_their_words(seed, width):
    rng = np.random.default_rng(seed)
    header = ("name", "value", "low", "what it is")
    rows = [
        (sentence(rng, 2), f"{rng.random():.4f}", "", sentence(rng, int(rng.integers(0, 25))))
        for _ in range(5)
    ]
    options = {"width": width, "words": (header[0], header[3])}
    for below in ("", "what it is"):
        lines = table_lines(header, rows, below=below, **options)
        assert max(map(cells, lines)) <= width
        shown = sorted(" ".join(lines).split())
        wanted = [word for row in rows for cell in row for word in cell.split()]
        heads = [name for name in header if name in ("name", "value")]
        assert not any("low" in line for line in lines[:1])  # a column without any cell
        for word in set(wanted):
            assert shown.count(word) == wanted.count(word)
        assert all(name in lines[0] for name in heads)


def test_columns_are_dropped_in_the_order_given():
    header, rows = ("a", "b", "c"), [("x" * 30, "y" * 30, "z" * 10)]
    lines = table_lines(header, rows, width=50, drop=("b", "a"))
    assert lines[0].split() == ["a", "c"]
    assert lines[1].split() == ["x" * 30, "z" * 10]
    assert table_lines(header, []) == []


def test_a_word_wider_than_a_line_is_the_only_one_that_is_broken():
    lines = wrapped(f"short {'x' * 100} end", 40, indent=0)
    assert max(map(len, lines)) <= 40
    assert "".join(lines).count("x") == 100


@pytest.mark.parametrize(
    "text", ["\x1b[31m", "a\x07b", "\u202e", "\x9b2J", "\ud800", "tab\there", "line\nbreak"]
)
def test_whatever_a_terminal_obeys_is_shown(text):
    assert printable(text).isprintable()
    for lines in (wrapped(text), table_lines(("n",), [(text,)]), fitted(text).split("\n")):
        assert all(line.isprintable() for line in lines)


def test_a_p_value_and_its_sign_stay_on_one_line():
    for width in range(20, 40):
        for line in wrapped("found with a small p = 0.0312, of 5 % of all rows", width):
            assert not line.endswith(("p", "=", "5"))
            assert not line.strip().startswith(("=", "%", "0.0312"))


@pytest.mark.parametrize(
    ("pvalue", "draws", "shown"),
    [
        (0.5, None, "0.5000"),
        (0.5, 1000, "0.5000"),
        (3e-7, None, "3e-07"),
        (0.0, None, "< 1e-300"),
        (1e-310, None, "< 1e-300"),
        (1 / 1001, 1000, "< 0.001"),
        (2 / 1001, 1000, "0.0020"),
        (1 / 201, 200, "< 0.005"),
        (1e-9, 1000, "1e-09"),  # from a smooth tail: draws could not give it
        (1.0, 0, "1.0000"),
    ],
)
def test_p_values_are_never_zero(pvalue, draws, shown):
    assert format_pvalue(pvalue, draws) == shown
    said = say_pvalue(pvalue, draws)
    assert said == (f"p {shown}" if shown.startswith("<") else f"p = {shown}")


@pytest.mark.parametrize("draws", [1, 9, 19, 99, 199, 200, 499, 999, 1000, 4999, 10_000, 123_456])
def test_what_is_said_of_the_smallest_p_value_is_true_and_near(draws):
    shown = format_pvalue(1 / (1 + draws), draws)
    assert shown.startswith("< ")
    limit = float(shown[2:])
    assert 1 / (1 + draws) < limit <= 1.1 * (1 / (1 + draws)) * (1 + 1e-9)
