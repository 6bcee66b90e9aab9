"""The page of a monitor: safe, whole, and the same for the same store."""

from __future__ import annotations

import datetime as dt
import math
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from veridical.exceptions import InvalidInputError
from veridical.monitoring import CalibrationMonitor
from veridical.report._monitor.monitor import MonitorReport, monitor_report
from veridical.report._monitor.sections import monitor_timeline

HOSTILE = (
    '<script>alert("1")</script>',
    "</script><img src=x onerror=alert(2)>",
    "`*|[a](javascript:alert(3))|_&amp;",
)


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def fill(monitor: CalibrationMonitor, *, timed: bool = True) -> None:
    rng = np.random.default_rng(3)
    for day in range(30):
        odds = rng.normal(0, 2, 300)
        truth = odds / (1 if day < 15 else 3)
        monitor.update(
            (rng.random(300) < 1 / (1 + np.exp(-truth))).astype(int),
            1 / (1 + np.exp(-odds)),
            by=np.array(HOSTILE)[rng.integers(0, 3, 300)],
            timestamp=dt.date(2026, 3, 1) + dt.timedelta(day) if timed else None,
        )
    monitor.observe(["a", "b"], [0.2, 0.4], timestamp="2026-04-02")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> MonitorReport:
    path = tmp_path_factory.mktemp("monitor") / "store.sqlite"
    with CalibrationMonitor(path, labels=[0, 1], window=1000) as monitor:
        fill(monitor)
    return monitor_report(path, title=HOSTILE[1])


@pytest.fixture(scope="module")
def page(report: MonitorReport) -> _Page:
    return _Page(report.html)


def test_the_verdict_comes_first_in_the_words_of_the_library(report, page):
    sections = [a["id"] for tag, a in page.tags if tag == "section"]
    assert sections == ["verdict", "timeline", "reliability", "parts", "waiting", "appendix"]
    assert "over-confident (predictions too extreme)" in report.headline
    assert report.headline in page.text
    assert "2026-03-16" <= report.status.alarmed_at <= "2026-03-20"
    assert "2 predictions have no outcome yet, the oldest since 2026-04-02." in page.text


def test_nothing_hostile_becomes_markup(page):
    code = [a for tag, a in page.tags if tag == "script" and a.get("type") != "application/json"]
    assert len(code) == 2
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "link")]
    assert not {n for _, a in page.tags for n in a if n.startswith("on")}
    for name in HOSTILE:
        assert name in page.text
    policy = next(str(a["content"]) for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    places = [v for _, a in page.tags for n, v in a.items() if n in ("href", "src", "action")]
    assert all(str(place).startswith("#") for place in places)


def test_markdown_has_the_words_and_tables(report):
    assert "<script" not in report.markdown.replace("\\<script", "")
    assert "](javascript" not in report.markdown.replace("\\]", "")
    assert "## Which parts of the rows?" in report.markdown
    assert "## Reliability" not in report.markdown  # a picture only


def test_numbers_come_back_and_make_the_same_page(report):
    again = MonitorReport.from_json(report.to_json())
    assert again == report
    assert again.html == report.html


def test_the_timeline_is_the_history(report):
    history, status = report.history, report.status
    chart = monitor_timeline(history, status, 1000)
    names = list(dict.fromkeys(row[0] for row in chart.table.rows))
    above, below = ([row for row in chart.table.rows if row[0] == name] for name in names)
    assert [row[1] for row in above] == list(history.ended)
    assert f"alarm at {status.alarmed_at}" in chart.description
    assert float(above[-1][3]) == pytest.approx(history.low[-1], abs=5e-5)
    assert float(below[-1][2]) == pytest.approx(history.log_e[-1] / math.log(10), rel=1e-3)
    # The rolling window of the history is that of the status.
    assert float(above[-1][2]) == pytest.approx(status.estimates[1].deviation, abs=5e-5)


@pytest.mark.parametrize("stamps", [None, "days"])
def test_without_times_the_axis_is_rows(stamps):
    monitor = CalibrationMonitor(labels=[0, 1])
    if stamps is None:
        fill(monitor, timed=False)
    else:
        for i in range(3):
            monitor.update([0, 1] * 150, [0.1, 0.2] * 150, timestamp=f"day {i}")
    found = monitor_report(monitor)
    chart = monitor_timeline(found.history, found.status, 5000)
    first = [row[1] for row in chart.table.rows if row[0] == chart.table.rows[0][0]]
    assert first == [f"{300 * (i + 1):,}" for i in range(len(first))]
    assert chart.to_svg().count(">alarm</text>") == 2


def test_a_store_without_rows_has_a_page(tmp_path: Path):
    found = monitor_report(CalibrationMonitor())
    assert "No prediction with a known outcome has been counted yet." in found.html
    assert MonitorReport.from_json(found.to_json()) == found


def test_confidence_has_words_of_its_own():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.5, 0.5, 0.5], 3000)
    monitor = CalibrationMonitor()
    monitor.update(rng.integers(0, 3, 3000), p)  # confident, and right a third of the time
    found = monitor_report(monitor)
    assert "confidence" in found.headline
    assert found.curves["now"].lens == "confidence"


@pytest.fixture
def grown(tmp_path: Path):
    """A monitor, the page of an earlier look at it, and a later one that is wrong."""
    monitor = CalibrationMonitor(tmp_path / "m.sqlite", labels=["bad", "good"], pos_label="bad")
    monitor.watch(require="ece < 0.2")
    rng = np.random.default_rng(0)

    def day(power: float, n: int = 600) -> None:
        p = rng.random(n)
        y = np.where(rng.random(n) < p**power, "bad", "good")
        monitor.update(y, p, by=rng.choice(["n", "</script>"], n))

    day(1)
    monitor_report(monitor).save(tmp_path / "page.html")
    monitor_report(monitor).save(tmp_path / "page.json")
    for _ in range(8):
        day(5)
    return monitor, tmp_path


@pytest.mark.parametrize("suffix", ["html", "json"])
def test_a_page_says_what_changed_since_an_earlier_one(grown, suffix: str):
    monitor, folder = grown
    found = monitor_report(monitor, since=folder / f"page.{suffix}")
    assert found.before.n_samples == 600
    page = _Page(found.html)
    assert "There is an alarm that was not there before." in page.text
    assert "Broken since then: ece < 0.2." in page.text
    assert "Newly to blame: all rows" in page.text
    assert "4,800 more rows: then and now" in page.text
    assert "What is watched: the probability of y = 'bad'." in page.text
    assert "for y = 'bad'" in found.headline
    assert MonitorReport.from_json(found.to_json()) == found
    same = monitor_report(monitor, since=found)
    assert "No row was counted since then." in same.markdown
    assert "Newly to blame" not in same.markdown


def test_an_earlier_page_is_data_not_trust(grown):
    monitor, folder = grown
    text = (folder / "page.html").read_text()
    assert text.count("</script>") == 3  # what groups are called ends nothing
    other = CalibrationMonitor()
    other.update([0, 1, 1], [0.2, 0.7, 0.9])
    with pytest.raises(InvalidInputError, match="an earlier look at this store"):
        monitor_report(other, since=folder / "page.html")
    for wrong in ("", "<p>", "[1]", '<script type="application/json" id="look">{}</script>',
                  text.replace('"n_samples": 600', '"n_samples": "many"'),
                  text.replace('"blamed": []', '"blamed": [7]')):  # fmt: skip
        (folder / "wrong.html").write_text(wrong)
        (folder / "wrong.json").write_text(wrong)
        for name in ("wrong.html", "wrong.json", "absent.html"):
            with pytest.raises(InvalidInputError, match="an earlier page"):
                monitor_report(monitor, since=folder / name)
    with pytest.raises(InvalidInputError, match="an earlier look"):
        monitor_report(monitor, since=7)


def test_whole_vectors_and_the_map_that_learns_have_sections():
    rng = np.random.default_rng(0)
    monitor = CalibrationMonitor(online=True)
    for _ in range(3):
        p = rng.dirichlet([0.5, 0.5, 0.5], 500)
        monitor.update([rng.choice(3, p=row) for row in p], p)
    page = _Page(monitor_report(monitor).html)
    sections = [a["id"] for tag, a in page.tags if tag == "section"]
    assert sections.index("vectors") < sections.index("online")
    assert "All probabilities of a row together are not to blame." in page.text
    assert monitor.status().online.verdict in page.text
    assert "the confidence: that the most probable class is right, and each class" in page.text


def test_it_is_saved_by_its_suffix(report, tmp_path: Path):
    for suffix in ("html", "md", "json"):
        report.save(tmp_path / f"p.{suffix}")
    assert (tmp_path / "p.md").read_text() == report.markdown
    assert MonitorReport.from_json((tmp_path / "p.json").read_text()) == report
    with pytest.raises(InvalidInputError, match="ends in"):
        report.save(tmp_path / "p.docx")
    with pytest.raises(InvalidInputError, match="an existing store"):
        monitor_report(tmp_path / "absent.sqlite")
