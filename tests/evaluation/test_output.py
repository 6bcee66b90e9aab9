"""Text, HTML, JSON and tables of an evaluation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from veridical import Evaluation, InvalidInputError, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::veridical.VeridicalWarning")

COLUMNS = [
    "group",
    "quantity",
    "definition",
    "lens",
    "n_samples",
    "value",
    "null_mean",
    "null_q95",
    "low",
    "high",
    "pvalue",
]


def make(kind):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    if kind == "grouped":
        return evaluate(y, p, by=["a", "b"] * 200, n_bins=5)
    if kind == "weighted":
        return evaluate(y, p, sample_weight=rng.random(400))
    if kind == "infinite":
        p[0], y[0] = 0.0, 1
        return evaluate(y, p)
    if kind == "one class":
        return evaluate(np.ones(50, int), p[:50])
    if kind == "tags":
        return evaluate(np.array(["<b>", "a & b"])[y], p, by=["<i>", "</table>"] * 200)
    if kind == "classes":
        q = rng.dirichlet(np.ones(8), 400)
        return evaluate(rng.integers(0, 8, 400), q, lens="classwise")
    return evaluate(y, p)


KINDS = ["plain", "grouped", "weighted", "infinite", "one class", "tags", "classes"]


@pytest.mark.parametrize("kind", KINDS)
def test_json_loses_nothing(kind):
    e = make(kind)
    text = e.to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    back = Evaluation.from_json(text)
    assert back == e
    assert back.scores == e.scores
    assert back.classes == e.classes
    assert back.errors == e.errors
    assert back.decompositions == e.decompositions
    assert str(back) == str(e)
    assert Evaluation.from_dict(e.to_dict()) == e


def test_an_infinite_score_is_read_back_as_a_number():
    back = Evaluation.from_json(make("infinite").to_json(indent=2))
    assert back.scores["log"] == math.inf
    assert back.decompositions[1].score == math.inf


@pytest.mark.parametrize("backend", ["polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("kind", ["plain", "grouped", "one class"])
def test_tables_have_the_same_columns_in_every_library(kind, backend):
    e = make(kind)
    table = e.to_frame(backend=backend)
    assert type(table).__module__.split(".")[0] == backend
    names = table.column_names if backend == "pyarrow" else list(table.columns)
    assert names == COLUMNS
    assert len(table) == (1 + len(e.groups)) * len(e.figures())


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_tables_have_the_same_types_with_and_without_groups(backend):
    plain = make("plain").to_frame(backend=backend).schema
    grouped = make("grouped").to_frame(backend=backend).schema
    assert plain == grouped


def test_the_table_holds_every_figure_with_its_definition():
    e = make("grouped")
    rows = e.to_frame().rows(named=True)
    whole = {row["quantity"]: row for row in rows if row["group"] is None}
    assert whole["ECE"]["value"] == e.error("ECE").value
    assert whole["ECE"]["definition"] == "5 equal-width bins"
    assert whole["brier"]["value"] == e.scores["brier"]
    assert whole["AUC"]["value"] == e.auc
    assert whole["base rate 1"]["value"] == e.base_rate[1]
    parts = whole["brier miscalibration"]["value"] - whole["brier discrimination"]["value"]
    assert parts + whole["brier uncertainty"]["value"] == pytest.approx(e.scores["brier"])
    assert all(row["lens"] and row["definition"] for row in rows)
    of_b = [row for row in rows if row["group"] == "b" and row["quantity"] == "MCE"]
    assert [row["value"] for row in of_b] == [e.group("b").error("MCE").value]


def test_an_unknown_library_is_answered_with_the_nearest():
    with pytest.raises(InvalidInputError, match="did you mean 'pandas'"):
        make("plain").to_frame(backend="panda")


@pytest.mark.parametrize("kind", KINDS)
def test_text_holds_every_error_with_its_definition(kind):
    e = make(kind)
    text = e.to_text()
    words = " ".join(text.split())
    for measured in e.errors:
        line = next(line for line in text.splitlines() if line.startswith(f"  {measured.name} "))
        figures = (measured.value, measured.null_mean, measured.null_q95)
        assert all(f"{figure:.4f}" in line for figure in figures if figure is not None)
        assert measured.definition in words
    wide = e.to_text(width=200).splitlines()
    for measured in e.errors:
        assert any(
            line.startswith(f"  {measured.name} ")
            and line.endswith(f"  {measured.lens}: {measured.definition}")
            for line in wide
        )
    for note in e.notes:
        assert f"note: {note}" in words
    assert max(map(len, text.splitlines())) <= 80
    assert f"Evaluation of {e.n_samples:,} rows" in text
    assert len(text.splitlines()) >= 10 + len(e.errors) + len(e.curve)


def test_text_says_which_class_is_positive_and_what_the_weights_sum_to():
    assert "probability that y = 1, binary lens" in str(make("plain"))
    assert "sum of weights" not in str(make("plain"))
    words = " ".join(str(make("weighted")).split())
    assert f"sum of weights {make('weighted').sum_weight:.6g}" in words


def test_text_has_one_line_a_group_the_worst_first():
    e = make("grouped")
    lines = str(e).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  group"))
    shown = [line.split() for line in lines[start + 1 : start + 3]]
    adjusted = {p.label: p.adjusted for p in e.verdict.joint.parts if p.name == "group"}
    worst = sorted(e.groups, key=lambda pair: (adjusted[pair[0]], -pair[1].default.value))
    assert [cells[:2] for cells in shown] == [[key, "200"] for key, _ in worst]
    for cells, (_, g) in zip(shown, worst, strict=True):
        m = g.default
        numbers = (m.value, m.low, m.high, m.null_mean, m.null_q95)
        assert [f"{number:.4f}" for number in numbers] == [cells[i] for i in (2, 3, 5, 6, 7)]


def test_text_of_many_classes_shows_the_first_base_rates():
    text = str(make("classes"))
    assert "8 classes" in text
    assert "5: 0." in text
    assert "6: 0." not in text


def test_html_shows_labels_and_keys_as_text():
    html = make("tags")._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;" in html or "a &amp; b" in html
    assert "&lt;i&gt;" in html
    assert html.count("</table>") == html.count("<table>")


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_well_formed_and_without_scripts(kind):
    from html.parser import HTMLParser

    class Balance(HTMLParser):
        open_tags: list[str]

        def handle_starttag(self, tag, attrs):
            self.open_tags.append(tag)

        def handle_endtag(self, tag):
            assert self.open_tags.pop() == tag

    parser = Balance()
    parser.open_tags = []
    html = make(kind)._repr_html_()
    parser.feed(html)
    assert parser.open_tags == []
    assert "<script" not in html
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    for measured in make(kind).errors:
        assert f"{measured.value:.4f}" in html


def test_results_cannot_be_changed():
    e = make("plain")
    with pytest.raises(AttributeError):
        e.auc = 1.0
    with pytest.raises(AttributeError):
        e.errors[0].value = 0.0


def test_evaluations_of_different_data_differ():
    assert make("plain") != make("weighted")
    assert make("plain") == make("plain")
    assert make("plain") != "an evaluation"
