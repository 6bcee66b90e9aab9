"""Every result: one line, a text of 40 lines, a block of a notebook, a plot."""

from __future__ import annotations

import html.parser
import subprocess
import sys

import numpy as np
import pytest
from forms.every_result import KINDS, binary
from needs import needed

import veridical as v
from veridical.results import Result
from veridical.results._forms.displayed import _PLOTS, Displayed

MOST_LETTERS = 120
MOST_LINES = 40


def test_every_kind_of_result_is_here(every_result):
    assert set(every_result) == set(KINDS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_repr_is_one_short_line_that_names_the_class(name, every_result):
    assert KINDS[name].__repr__ is Displayed.__repr__
    for result in every_result[name]:
        text = repr(result)
        assert len(text) <= MOST_LETTERS
        assert "\n" not in text
        assert text.startswith(f"<{name}")


@pytest.mark.parametrize("name", sorted(KINDS))
def test_str_is_readable(name, every_result):
    for result in every_result[name]:
        text = str(result)
        assert 0 < len(text.splitlines()) <= MOST_LINES
        assert "array(" not in text
        assert "object at 0x" not in text


@pytest.mark.parametrize("name", sorted(KINDS))
def test_what_a_text_leaves_out_is_in_to_text(name, every_result):
    for result in every_result[name]:
        if "more lines: `to_text()`" in str(result):
            assert len(result.to_text().splitlines()) > MOST_LINES


class _Checked(html.parser.HTMLParser):
    """Fails unless tags are closed in order and nothing is run or fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "iframe", "img", "object")
        for key, value in attributes:
            assert not key.startswith("on")
            assert "url(" not in (value or "")
            assert key not in ("src", "href", "xlink:href")
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def parsed(text: str) -> _Checked:
    parser = _Checked()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.parametrize("name", sorted(KINDS))
def test_html_is_whole_and_self_contained(name, every_result):
    for result in every_result[name]:
        text = result._repr_html_()
        assert "".join(parsed(text).words).strip()
        assert len(text) < 100_000


def test_words_of_the_user_are_escaped():
    y, p = binary(300)
    labels = np.where(y == 1, "<b onclick='x'>", "a&b")
    found = v.evaluate(labels, p, pos_label="<b onclick='x'>", rng=0, n_resamples=50)
    for result in (found, found.curve, v.compare({"<i>": p, "&": p / 2}, labels, n_resamples=50)):
        parsed(result._repr_html_())
        assert "<b onclick" not in result._repr_html_()
        assert "<i>" not in result._repr_html_()


@pytest.mark.parametrize("name", sorted(set(_PLOTS) - {"RankComparison"}))
def test_plot_opens_the_figure_made_for_it(name, every_result):
    plt = needed("matplotlib.pyplot")

    drawn = every_result[name][0].plot()
    try:
        assert drawn.ax.has_data()
        assert len(repr(drawn)) <= MOST_LETTERS
    finally:
        plt.close("all")


def test_a_figure_of_the_lab_says_where_it_is(every_result):
    needed("matplotlib")
    with pytest.raises(
        v.MissingDependencyError, match=r"veridical_lab\.plots\.critical_difference"
    ):
        every_result["RankComparison"][0].plot()


def test_results_without_a_figure_say_so(every_result):
    with pytest.raises(v.InvalidInputError, match=r"plot: `self` must be one of .*Evaluation"):
        every_result["Coefficient"][0].plot()


def test_a_plot_without_matplotlib_is_an_error_with_a_hint():
    program = """
import sys
sys.modules["matplotlib"] = None
import veridical as v
curve = v.reliability_curve([0, 1, 1, 0], [0.2, 0.7, 0.8, 0.1])
try:
    curve.plot()
except v.MissingDependencyError as error:
    print(error.hint)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("pip install")
    assert "matplotlib" in done.stdout or "veridical[plots]" in done.stdout


def test_notebook_forms_need_no_matplotlib():
    program = """
import sys
import veridical as v
curve = v.reliability_curve([0, 1, 1, 0], [0.2, 0.7, 0.8, 0.1])
curve._repr_html_()
print([name for name in ("matplotlib", "altair", "pandas") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_result_of_a_users_own_shows_its_fields():
    from dataclasses import dataclass

    @dataclass(frozen=True, repr=False)
    class Own(Result):
        cost: float
        note: str = "<late>"

    assert repr(Own(0.25)) == "<Own: cost 0.25, note <late>>"
    assert "&lt;late&gt;" in Own(0.25)._repr_html_()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_thousands_of_letters_are_cut(n_classes):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(n_classes), 3000)
    labels = [letter * 5000 for letter in "ABC"[:n_classes]]
    y = [labels[k] for k in (rng.random(3000)[:, None] > p.cumsum(axis=1)).sum(axis=1)]
    found = v.evaluate(y, p, labels=labels, n_resamples=50, rng=0)
    for text in (str(found), found._repr_html_()):
        assert "BBBBB" in text
        assert not any(letter * 400 in text for letter in "ABC")
