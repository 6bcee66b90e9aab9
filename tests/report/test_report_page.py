"""The page: whole, safe, well formed, and the same for the same data."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import veridical
from veridical.exceptions import InvalidInputError
from veridical.report import Report, make_report

HOSTILE = (
    '<script>alert("1")</script>',
    "</script><img src=x onerror=alert(2)>",
    '=HYPERLINK("http://example.org","x")',
    "x" * 200,
    "`*|[a](javascript:alert(3))|_&amp;",
)


class _Page(HTMLParser):
    """Elements of a page, and the text of its tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.seen: list[str] = []
        self.cells: list[str] = []  # words of the first column
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.seen.append(data)
        if self.tags and self.tags[-1][1].get("scope") == "row":
            self.cells.append(data)

    @property
    def text(self) -> str:
        return "".join(self.seen)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


# Eighteen rows are too few to recalibrate, which keeps these reports quick.
def _few(n: int = 18, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(n_classes), n)
    return np.arange(n) % n_classes, p


@pytest.fixture(scope="module")
def hostile() -> Report:
    """Labels, groups and models with names that want to be code."""
    y, p = _few()
    labels = list(HOSTILE[:3])
    groups = np.array(HOSTILE)[np.arange(len(y)) % 5]
    models = {HOSTILE[4]: p, HOSTILE[3]: p[::-1]}
    outcome = np.array(labels)[y]
    return make_report(models, outcome, labels=labels, by=groups, title=HOSTILE[1])


@pytest.fixture(scope="module")
def page(hostile: Report) -> _Page:
    return _Page(hostile.html)


def test_nothing_hostile_becomes_markup(page):
    scripts = page.all("script")
    code = [each for each in scripts if each.get("type") != "application/json"]
    assert len(code) == 2
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "embed", "link")]
    names = {name for _, attributes in page.tags for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    for name in HOSTILE:
        assert name in page.text  # shown as it is, as text


def test_nothing_is_loaded_from_elsewhere(page):
    places = {value for _, attributes in page.tags for name, value in attributes.items()
              if name in ("href", "src", "action", "data", "poster")}  # fmt: skip
    assert places
    assert all(place and place.startswith("#") for place in places)
    policy = next(m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in str(policy["content"])
    assert "unsafe-eval" not in str(policy["content"])


def test_the_page_is_one_small_file_that_can_be_read_without_a_mouse(hostile, page):
    assert len(hostile.html.encode()) < 6_000_000
    identifiers = Counter(a["id"] for _, a in page.tags if "id" in a)
    assert max(identifiers.values()) == 1
    targets = {str(a["href"]).removeprefix("#") for a in page.all("a")}
    assert targets <= set(identifiers)
    assert page.all("a")[0]["class"] == "skip"
    assert all("scope" in cell for cell in page.all("th"))
    levels = [int(tag[1]) for tag, _ in page.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(b - a for a, b in pairwise(levels)) == 1


def test_every_section_is_there(page):
    found = [str(a["id"]) for a in page.all("section")]
    assert found == [
        "verdict", "models", "sure", "where", "mend", "cost", "tests", "data", "appendix",
    ]  # fmt: skip


def test_markdown_escapes_what_would_be_markup(hostile):
    text, _, code = hostile.markdown.partition("```python")  # in which nothing is markup
    assert code.count("```") == 1
    assert "<script" not in text.replace("\\<script", "")
    assert "](javascript" not in text.replace("\\]", "")
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    width = None
    for line in tables:
        cells = len(line.replace("\\|", "").split("|"))
        if set(line) <= set("| -"):
            assert cells == width  # the line under a header has as many cells
        width = cells


def test_numbers_come_back_and_make_the_same_page(hostile):
    again = Report.from_json(hostile.to_json())
    assert again == hostile
    assert again.html == hostile.html


def test_the_same_data_give_the_same_bytes():
    y, p = _few()
    assert make_report(y, p).html == make_report(y, p).html


def test_tables_of_many_classes_can_be_opened_and_have_no_charts():
    y, p = _few(n_classes=300)
    report = make_report(y, p)
    page = _Page(report.html)
    assert "280 more" in page.text
    assert {str(c.label) for c in report.models[0].classes} <= set(page.cells)
    assert "classes-0" not in {a.get("id") for a in page.all("figure")}
    assert len(report.models[0].classes) == 300  # the numbers are all there
    assert len(report.html) < 3_000_000


def test_weight_zero_is_removal():
    y, p = _few()
    weight = np.linspace(1, 2, len(y))
    more = make_report(
        np.append(y, [0, 1]), np.vstack([p, p[:2]]), sample_weight=np.append(weight, [0, 0])
    )
    assert more.to_dict() == make_report(y, p, sample_weight=weight).to_dict()


@pytest.mark.parametrize(
    ("y", "p", "said"),
    [
        ([0, 1], [0.2, 0.8], "fewer than 20 rows"),
        ([1] * 10, np.linspace(0.1, 0.9, 10), "only 1 occurred"),
        ([0, 1] * 5, [0.5] * 10, "every prediction is 0.5"),
        ([0, 1] * 5, [1.0] * 10, "given probability 0"),
        ([0, 1] * 5, [0.0, 1.0] * 5, "told apart perfectly"),
    ],
    ids=["two rows", "one class", "constant", "certain and wrong", "perfect"],
)
def test_degenerate_data_still_make_a_page(y, p, said):
    assert said in _Page(make_report(y, p, labels=[0, 1]).html).text


def test_a_report_is_saved_whole_by_its_suffix(tmp_path):
    y, p = _few()
    report = make_report(y, p, path=tmp_path / "r.md")
    assert (tmp_path / "r.md").read_text() == report.markdown
    report.save(tmp_path / "r.json")
    shown = json.loads((tmp_path / "r.json").read_text())
    assert shown["models"][0]["evaluation"]["n_samples"] == 18
    assert report.save(tmp_path / "r.html").read_text() == report.html
    with pytest.raises(InvalidInputError, match=r"ends in \.html, \.md or \.json"):
        report.save(tmp_path / "r.docx")
    with pytest.raises(FileNotFoundError):  # before anything is computed
        make_report(["never"], ["looked at"], path=tmp_path / "nowhere" / "r.html")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["r.html", "r.json", "r.md"]


def test_one_call_writes_the_page_and_the_numbers(tmp_path):
    y, p = _few()
    report = make_report(y, p, path=[tmp_path / "r.html", tmp_path / "r.json"])
    assert (tmp_path / "r.html").read_text() == report.html
    assert Report.from_json((tmp_path / "r.json").read_text()) == report


def test_rows_have_a_fingerprint_of_their_own():
    y, p = np.array([0, 1, 1]), np.array([0.25, 0.5, 0.75])
    data = y.astype("<i8").tobytes() + p.astype("<f8").tobytes()
    digest = hashlib.sha256(data).hexdigest()
    assert make_report(y, p).settings.fingerprint == f"SHA-256 of the rows: {digest}"
    assert make_report(y, p[::-1]).settings.fingerprint != make_report(y, p).settings.fingerprint


def test_the_snippet_in_the_appendix_makes_the_same_report(monkeypatch, tmp_path):
    y, p = _few(n_classes=2)
    rows = "".join(f"{label},{prob:.3f}\n" for label, prob in zip(y, p[:, 1], strict=True))
    Path(tmp_path / "d.csv").write_text("label,p\n" + rows)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(veridical, "make_report", make_report, raising=False)
    report = make_report("d.csv", n_bins=5, n_resamples=99, rng=4)
    space: dict[str, Report] = {}
    exec(report.settings.call, space)
    assert space["report"].html == report.html == Path("report.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rng": np.random.default_rng(0)}, "`rng` must be a non-negative integer"),
        ({"margins": (0.05, 2)}, "`delta` must be between 0 and 1"),
        ({"n_resamples": -1}, "n_resamples"),
        ({"y": "label"}, "`y` must be unset when arrays are given"),
    ],
    ids=["generator", "margin", "draws", "columns"],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        make_report([0, 1], [0.2, 0.8], **options)


def test_bad_models_are_named():
    with pytest.raises(InvalidInputError, match=r"(?s)in \[0, 1\].*Model: 'b'"):
        make_report({"a": [0.2, 0.8], "b": [0.2, 1.8]}, [0, 1])
    with pytest.raises(InvalidInputError, match="the labels, after the models"):
        make_report({"a": [0.2, 0.8]})
    with pytest.raises(InvalidInputError, match="models named by strings"):
        make_report({}, [0, 1])


def test_models_are_compared_in_pairs():
    y = np.array([0, 1] * 9)
    good, bad = np.where(y == 1, 0.9, 0.1), np.full(18, 0.5)
    report = make_report({"good": good, "bad": bad}, y)
    assert report.comparison is not None
    # -log 0.9 + log 0.5 in every row
    difference = report.comparison.difference("good", "bad", "log")
    assert difference.estimate == pytest.approx(np.log(0.5) - np.log(0.9))
    assert f"{np.log(0.5) - np.log(0.9):+.5f}" in _Page(report.html).text
