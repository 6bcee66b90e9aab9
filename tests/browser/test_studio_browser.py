"""The studio in a real browser: from an upload to a download, a lesson, and a game to its end."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import lacking, needed
from sklearn.metrics import log_loss
from typography import faults_of

import veridical

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")

_PAGES = ("data", "evaluate", "calibrate", "decide", "download", "learn", "game")
_HOSTILE = "<img src=x onerror=document.title='taken'>"
_N = 300


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    """Outcomes, and predictions that exaggerate."""
    rng = np.random.default_rng(4)
    p = rng.beta(0.8, 1.0, _N).round(3).clip(0.001, 0.999)
    y = (rng.random(_N) < 1 / (1 + np.exp(-0.5 * np.log(p / (1 - p))))).astype(int)
    return y, p


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, rows: tuple[Any, Any]) -> Path:
    """A file whose names and groups would be code if anything took them for it."""
    path = tmp_path_factory.mktemp("upload") / "scores.csv"
    lines = [f"came,said,{_HOSTILE}"]
    lines += [
        f"{y},{p},{(_HOSTILE, 'other')[i % 2]}" for i, (y, p) in enumerate(zip(*rows, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A studio that runs beside the tests."""
    try:
        import uvicorn

        from veridical.studio._data.files import Settings
        from veridical.studio._server.app import create_app
    except ModuleNotFoundError as error:
        lacking(f"{error.name} is not installed")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        folders = [tmp_path_factory.mktemp(name) for name in ("folder", "workspace")]
        settings = Settings(*folders, listener.getsockname()[1])
        options: dict[str, Any] = {"lifespan": "off", "ws": "none", "log_level": "warning"}
        server = uvicorn.Server(uvicorn.Config(create_app(settings), **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield settings.address
        server.should_exit = server.force_exit = True
        thread.join(20)


class _Visit:
    """A browser with an open studio, and what it complained about or asked of others."""

    def __init__(self, browser: Any, address: str, *, width: int = 1280, dark: bool = False):
        scheme = "dark" if dark else "light"
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.complaints: list[str] = []
        self.abroad: list[str] = []
        self.page = self.context.new_page()
        here = address.split("?")[0]
        self.context.route(lambda url: not url.startswith((here, "data:", "blob:")), self._refuse)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._said)
        self.page.goto(address)
        self.page.wait_for_selector("[data-ready=data]")

    def _refuse(self, route: Any) -> None:
        self.abroad.append(route.request.url)
        route.abort()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def show(self, name: str) -> None:
        """Go to a page by its tab and wait until it stands."""
        self.page.get_by_role("link", name=name.capitalize(), exact=True).click()
        self.page.wait_for_selector(f"[data-ready={name}]")

    def changes(self, selector: str, before: str) -> str:
        """Wait until a text is another one, and return it."""
        for _ in range(300):
            now: str = self.page.locator(selector).first.inner_text()
            if now != before:
                return now
            self.page.wait_for_timeout(50)
        pytest.fail(f"{selector} still reads {before!r}")


@pytest.fixture(scope="module")
def visit(browser: Any, address: str, table: Path) -> Iterator[_Visit]:
    """A studio with an uploaded file in use and a calibrator chosen, all by hand."""
    found = _Visit(browser, address)
    page = found.page
    page.get_by_label("CSV, Parquet or Arrow").set_input_files(table)
    page.wait_for_selector("#opened form")
    page.get_by_label("Outcome").select_option("came")
    page.get_by_label("Predictions (").select_option(["said"])
    page.get_by_label("Group").select_option(_HOSTILE)
    page.get_by_label("Positive class").select_option(label="1")
    page.get_by_role("button", name="Use these columns").click()
    page.wait_for_selector("[data-ready=evaluate]")
    found.show("calibrate")
    for box in page.get_by_role("group", name="Calibrators").get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("value") in ("platt", "isotonic"))
    page.get_by_label("Folds").fill("3")
    page.get_by_role("button", name="Fit and compare").click()
    page.get_by_role("button", name="Choose platt").click(timeout=60_000)
    page.wait_for_selector("#picked-log")
    yield found
    found.context.close()


def test_the_downloaded_calibrator_gives_the_log_score_shown(visit, rows, tmp_path):
    page = visit.page
    visit.show("calibrate")
    page.wait_for_selector("#picked-log")
    shown = page.locator("#picked-log").inner_text().split()[0]
    visit.show("download")
    page.locator("section", has_text="Calibrator as Python").get_by_role("button").click()
    page.locator("#checked-python", has_text="10,000 scores in Python").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download JSON").click()
    path = tmp_path / "map.json"
    download.value.save_as(path)
    assert download.value.suggested_filename == "scores-calibrator.json"
    y, p = rows
    calibrated = veridical.load(path).predict_proba(p)[:, 1]
    assert f"{log_loss(y, calibrated):.6f}" == shown
    assert visit.complaints == []


def test_the_figures_are_right_and_follow_bins_and_lens(visit, rows):
    page = visit.page
    visit.show("evaluate")
    page.wait_for_selector("#score-log")
    y, p = rows
    assert page.locator("#score-log").inner_text() == f"{log_loss(y, p):.4f}"
    before = page.locator("#headline-error").inner_text()
    bins = page.get_by_role("slider", name="Bins")
    assert bins.is_disabled()  # the first diagram has bins chosen for the rows
    way = page.get_by_role("combobox", name="Reliability curve")
    way.select_option("bins of equal width")
    bins.focus()
    for _ in range(6):  # fifteen bins less six
        page.keyboard.press("ArrowLeft")
    after = visit.changes("#headline-error", before)
    gaps = [(y - p)[np.ceil(p * 9) == k + 1].sum() for k in range(9)]
    wanted = f"{np.abs(gaps).sum() / _N:.4f}"
    for _ in range(100):  # earlier answers may still pass by
        if after.startswith(wanted):
            break
        page.wait_for_timeout(50)
        after = page.locator("#headline-error").inner_text()
    assert after.startswith(wanted)
    assert "came = 1" in page.locator("#reliability svg.vd:visible").inner_html()
    page.get_by_role("combobox", name="Lens").select_option("confidence")
    visit.changes("#headline-error", after)
    page.locator("#reliability text:visible", has_text="confidence:").wait_for()
    assert faults_of(page) == []
    assert _HOSTILE in page.get_by_role("region", name="Worst first").inner_text()
    assert visit.complaints == []


def test_costs_move_the_threshold(visit):
    page = visit.page
    visit.show("decide")
    assert page.locator("#threshold").inner_text().split()[0] == "0.500"
    before = page.locator("#cost").inner_text()
    page.get_by_role("slider", name="Cost of a miss").focus()
    for _ in range(20):  # ten to the power of 20 steps of 0.05
        page.keyboard.press("ArrowRight")
    visit.changes("#cost", before)
    for _ in range(100):
        if page.locator("#threshold").inner_text().split()[0] == "0.091":  # 1 / (1 + 10)
            break
        page.wait_for_timeout(50)
    assert page.locator("#threshold").inner_text().split()[0] == "0.091"
    assert visit.complaints == []


def test_the_lesson_reacts(visit):
    page = visit.page
    visit.show("learn")
    page.get_by_role("button", name="Calibrated", exact=True).click()
    visit.changes("#words", "")
    for _ in range(100):
        if "says the truth" in page.locator("#words").inner_text():
            break
        page.wait_for_timeout(50)
    assert "says the truth" in page.locator("#words").inner_text()
    before = page.locator("#learn-log").inner_text()
    page.get_by_role("slider", name="Temperature").focus()
    page.keyboard.press("Home")
    after = visit.changes("#learn-log", before)
    assert float(after.split()[0]) > float(before.split()[0])
    assert "Over-confident" in page.locator("#words").inner_text()
    assert visit.complaints == []


def test_the_game_is_played_to_its_end(visit):
    page = visit.page
    visit.show("game")
    page.get_by_label("Rounds").fill("2")
    page.get_by_label("Patients in a round").fill("3")
    page.get_by_role("button", name="Start a game").click()
    for number in (1, 2):
        page.wait_for_selector(f"text=Round {number} of 2")
        assert f"{number - 1} of 2 rounds played" in page.locator("#score").inner_text()
        assert page.get_by_text("within the budget of the round").is_visible()  # the rules
        for patient in (1, 2, 3):
            page.get_by_label(f"Treatment of patient {patient}").select_option("4")
        assert page.get_by_role("button", name="Treat", exact=True).is_disabled()  # 6 of 4.5
        page.get_by_role("button", name="Fill in").click()
        page.wait_for_selector("button#treat:enabled")
        page.get_by_role("button", name="Treat", exact=True).click()
    page.wait_for_selector("#summary")
    assert re.search(
        r"By round: \S+, \S+\. The reports promised", page.locator("#score").inner_text()
    )
    text = page.locator("#summary").inner_text()
    assert "Your choices can expect as much as trusting the reports." in text
    assert visit.complaints == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_pages_are_accessible_and_fit(browser, address, visit, width, dark):
    axe = needed("axe_playwright_python.sync_playwright").Axe()
    other = _Visit(browser, address, width=width, dark=dark)
    try:
        for name in _PAGES:
            other.show(name)
            found = axe.run(other.page).response["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            where = [
                (each["id"], [node["html"][:200] for node in each["nodes"]]) for each in serious
            ]
            assert where == [], name
            wide = other.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, name
        assert other.complaints == []
        assert other.abroad == []
    finally:
        other.context.close()


def test_no_name_became_code_and_nothing_left_the_machine(visit):
    for name in ("data", "evaluate", "calibrate"):
        visit.show(name)
        assert "veridical studio" in visit.page.title()
    assert re.search(r"/(#\w+)?$", visit.page.url)  # the token is gone from the address
    assert visit.page.locator("img").count() == 0
    assert visit.complaints == []
    assert visit.abroad == []


def test_by_keyboard_alone(browser, address, visit):
    other = _Visit(browser, address)
    try:
        page = other.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        for _ in range(3):  # the name of the studio, and two tabs
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Evaluate"
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-ready=evaluate]")
        assert page.evaluate("document.activeElement.id") == "main"
    finally:
        other.context.close()
