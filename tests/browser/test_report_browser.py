"""The report in a real browser: without a network, with a keyboard, light and dark, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import needed
from typography import faults_of

from veridical.report import make_report


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models of three classes with groups: every section, and all charts but one.

    Eighteen rows are too few to recalibrate, which keeps it quick.
    """
    rng = np.random.default_rng(5)
    p = rng.dirichlet([1, 1, 1], 18).round(3)
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    p = np.clip(p, 0.001, None)
    p /= p.sum(axis=1, keepdims=True)
    y = (rng.random(18)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(max=2)
    names = np.array(["<b>cat</b>", "dog", "x" * 200])
    models = {"raw": p, "</script><script>document.title='taken'</script>": p[:, [1, 0, 2]]}
    path = tmp_path_factory.mktemp("report") / "report.html"
    make_report(models, names[y], labels=list(names), by=rng.integers(0, 3, 18).astype(str),
                title="A report", path=path)  # fmt: skip
    return path


class _Visit:
    """A page that was opened, and what it complained about."""

    def __init__(self, browser: Any, path: Path, *, width: int = 1280, dark: bool = False) -> None:
        scheme = "dark" if dark else "light"
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._said)
        self.page.goto(path.as_uri())
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
        )

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def __enter__(self) -> _Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.fixture(scope="module")
def visit(browser: Any, page_file: Path) -> Iterator[_Visit]:
    with _Visit(browser, page_file) as found:
        yield found


def test_it_loads_without_a_network_and_complains_of_nothing(visit, page_file):
    assert [url for url in visit.requests if not url.startswith("data:")] == [page_file.as_uri()]
    assert visit.complaints == []
    assert visit.page.title() == "A report"  # no model name became a script
    assert visit.page.locator("h2").first.inner_text() == "Verdict"
    assert visit.page.locator("figure.chart").count() >= 10


def test_choosing_another_curve_changes_the_diagram(visit):
    figure = visit.page.locator("#reliability-0")
    seen = figure.locator(".chart-view:visible svg.vd:visible")
    before, said = seen.inner_html(), seen.locator("desc").text_content()
    figure.get_by_label("method").select_option(label="isotonic")
    assert seen.inner_html() != before
    assert seen.locator("desc").text_content() != said
    figure.get_by_label("class", exact=True).select_option(label="dog")  # and with it the lens
    chosen = figure.get_by_label("lens").locator("option:checked")
    assert chosen.inner_text() == "one class against the rest"
    assert visit.complaints == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_words_of_charts_are_apart_large_enough_and_whole(browser, page_file, width, dark):
    with _Visit(browser, page_file, width=width, dark=dark) as visit:
        assert visit.page.locator("svg.vd:visible").count() >= 10
        assert faults_of(visit.page) == []


def test_costs_move_with_the_keyboard(visit):
    figure = visit.page.locator("#decisions-0")
    slider = figure.locator("input[type=range]")
    shown = figure.locator("[data-output]")
    before = shown.all_inner_texts()
    slider.focus()
    for _ in range(8):
        visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_timeout(100)
    assert shown.all_inner_texts() != before


def test_the_skip_link_comes_first_and_leads_to_the_verdict(browser, page_file):
    with _Visit(browser, page_file, width=375) as visit:
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.className") == "skip"
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("location.hash") == "#content"
        # Nothing sticks out of a phone's screen.
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_axe_finds_nothing_serious(browser, page_file, width, dark):
    axe = needed("axe_playwright_python.sync_playwright").Axe()
    with _Visit(browser, page_file, width=width, dark=dark) as visit:
        found = axe.run(visit.page).response["violations"]
    grave = [(v["id"], v["nodes"][0]["html"][:200]) for v in found
             if v["impact"] in ("serious", "critical")]  # fmt: skip
    assert grave == []


def test_the_button_switches_light_and_dark(visit):
    ground = "getComputedStyle(document.body).backgroundColor"
    before = visit.page.evaluate(ground)
    visit.page.get_by_role("button", name="Light or dark").click()
    assert visit.page.evaluate(ground) != before


def test_it_prints(visit, tmp_path):
    visit.page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
