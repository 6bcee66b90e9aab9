"""First screens in a real browser: the picture is there, and every word can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veridical.report import make_report

SIZES = [(1280, 900), (390, 844)]


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def _of_two(n: int, centre: float, slope: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(centre, 1.5, n)
    return (rng.random(n) < _sigmoid(slope * z)).astype(int), _sigmoid(z)


def _of_several(n_classes: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    z = rng.normal(0, 2, (n, n_classes))
    p, q = (np.exp(s * z) / np.exp(s * z).sum(axis=1, keepdims=True) for s in (1.0, 0.6))
    return (rng.random(n)[:, None] > q.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1), p


def _models() -> tuple[dict[str, np.ndarray], np.ndarray]:
    y, p = _of_two(600, 0.0, 1.0, 5)
    return {"logistic regression": p, "boosted trees": p**2 / (p**2 + (1 - p) ** 2), "half": p}, y


CASES: dict[str, Any] = {
    "over-confident": lambda: _of_two(1000, 0.0, 0.5, 1),
    "calibrated": lambda: _of_two(1000, 0.0, 1.0, 2),
    "rare": lambda: _of_two(5000, -6.0, 0.9, 3),
    "40 rows": lambda: _of_two(40, 0.0, 0.6, 4),
    "reversed": lambda: (1 - _of_two(500, 0.0, 1.0, 6)[0], _of_two(500, 0.0, 1.0, 6)[1]),
    "three classes": lambda: _of_several(3, 500),
    "a hundred classes": lambda: _of_several(100, 800),
    "three models": _models,
}


@pytest.fixture(scope="module", params=CASES)
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("first") / "report.html"
    make_report(*CASES[request.param](), n_resamples=200, title=request.param, path=path)
    return path


_SMALL = """() => {
  const small = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility()) continue;
    if (["SCRIPT", "STYLE", "TITLE", "title", "desc"].includes(element.tagName)) continue;
    const svg = element.closest("svg");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 11.99) small.push([size, node.textContent]);
  }
  return small;
}"""
_OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    if (!svg.checkVisibility()) continue;
    const words = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
    const boxes = words.map((t) => t.getBoundingClientRect());
    for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
      const a = boxes[i], b = boxes[j];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 3) found.push([words[i].textContent, words[j].textContent]);
    }
  }
  return found;
}"""
_DIAGRAM = """() => {
  const svg = [...document.querySelectorAll("#first-0 svg")].find((s) => s.checkVisibility());
  const box = svg.getBoundingClientRect();
  return [box.left, box.top, box.right, box.bottom];
}"""


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_first_screen_shows_the_diagram_and_can_be_read(browser, page_file, width, height):
    context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    left, top, right, bottom = page.evaluate(_DIAGRAM)
    several = page.locator("#verdict > .table").count() == 1
    if several and width < 1000:  # the table of models comes first on a phone
        assert top < height
    else:
        assert bottom <= height
    assert left >= 0
    assert right <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(_SMALL) == []
    assert page.evaluate(_OVERLAPS) == []
    assert len(page.inner_text("body").split()) <= 1000
    context.close()


def test_folded_sections_open_by_keyboard_and_for_print(browser, page_file, tmp_path):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.goto(page_file.as_uri())
    section = page.locator("#sure > details")
    assert section.get_attribute("open") is None
    section.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert section.get_attribute("open") is not None
    page.goto(page_file.as_uri() + "#tests")
    assert page.locator("#tests > details").get_attribute("open") is not None
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.fold:not([open]):not(.more)").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#data > details").get_attribute("open") is None
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    pages = (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n")
    if page.locator("#models").count() == 0:
        assert 0 < pages <= 8
    context.close()
