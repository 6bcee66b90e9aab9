"""The site builds without warnings, needs no network, breaks no link, and names everything."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from docs.blocks import ROOT
from needs import needed
from public_names import NAMES, ON_TOP, ROOMS

import veridical
from veridical import plots
from veridical.cli.main import build_parser
from veridical.results.base import Result

DOCS = ROOT / "docs"
_TAG = re.compile(r"<([a-z][\w-]*)((?:\s+[\w:@.-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?)*)\s*/?>")
_ATTRIBUTE = re.compile(r"([\w:-]+)=(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# Bases of users' own classes, and what only functions make: nothing to call in an example.
_NOT_CALLED = {
    "Calibrator", "FakeClassifier", "Lens", "MonitorReport", "Report", "Summary",
    "VectorSummary",
}  # fmt: skip


@dataclass
class Html:
    """What a page offers and asks for."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the built site."""
    needed("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert done.returncode == 0, "\n".join(said)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Html]:
    """Every page of the site."""
    return {path: _read(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def _read(text: str) -> Html:
    page = Html()
    for tag, attributes in _TAG.findall(text):
        found = {name: a or b or c for name, a, b, c in _ATTRIBUTE.findall(attributes)}
        page.anchors |= {found[name] for name in ("id", "name") if name in found}
        page.links += [found[name] for name in ("href", "src") if name in found]
        if tag in _LOADED and _LOADED[tag] in found:
            page.loaded.append(found[_LOADED[tag]])
    return page


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Html]) -> None:
    assert len(pages) > 40
    for path, page in pages.items():
        assert page.loaded, path
        assert [one for one in page.loaded if re.match(r"(?:\w+:)?//", one)] == [], path
    for path in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", path.read_text()) == [], path


def test_no_link_is_broken(site: Path, pages: dict[Path, Html]) -> None:
    broken = []
    for path, page in pages.items():
        for link in set(page.links):
            if re.match(r"[a-z]+:", link) or path.name == "404.html":
                continue
            target, _, anchor = unquote(link).partition("#")
            file = (path.parent / target).resolve() if target else path
            if not file.is_file() or (
                anchor and file in pages and anchor not in pages[file].anchors
            ):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_search_works_on_files_without_a_network(site: Path, browser: Any) -> None:
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "api" / "index.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("hosmer", delay=20)
    found = page.wait_for_selector(".md-search-result__link", timeout=20_000)
    assert "inference.html" in found.get_attribute("href")
    assert [one for one in asked if not one.startswith(("file:", "data:", "blob:"))] == []
    context.close()


def test_every_public_name_is_in_the_reference(site: Path, pages: dict[Path, Html]) -> None:
    anchors = set().union(*(pages[path].anchors for path in (site / "api").glob("*.html")))
    assert [path for path, _ in _public() if path not in anchors] == []
    for room in ROOMS - {"frames"}:
        offered = importlib.import_module(f"veridical.{room}").__all__
        anchors = pages[site / "api" / f"{room}.html"].anchors
        paths = {name: {f"veridical.{name}", f"veridical.{room}.{name}"} for name in offered}
        assert [name for name in offered if not paths[name] & anchors] == []


def test_the_index_lists_what_is_on_top(site: Path, pages: dict[Path, Html]) -> None:
    links = [link for link in pages[site / "api" / "index.html"].links if "#veridical." in link]
    listed = {link.partition("#veridical.")[2] for link in links}
    assert listed == set(ON_TOP) - {"__version__"}


def test_no_mark_of_another_language_is_left(site: Path) -> None:
    for path in (site / "api").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r":(?:func|class|math|meth):|\.\. \[\d|\]_[\s.,;)]", text) == [], (
            path.name
        )


def test_every_command_is_on_its_page(site: Path, pages: dict[Path, Html]) -> None:
    anchors = pages[site / "command-line.html"].anchors
    commands = [parser.prog.replace(" ", "-") for parser in _commands(build_parser())]
    assert len(commands) > 20
    assert [command for command in commands if command not in anchors] == []


def _commands(parser: Any) -> Iterator[Any]:
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield command
                yield from _commands(command)


@cache
def _public() -> list[tuple[str, Any]]:
    """Every public name and what it stands for."""
    names = [(f"veridical.{name}", getattr(veridical, name)) for name in NAMES]
    names += [(f"veridical.plots.{name}", getattr(plots, name)) for name in plots.__all__]
    return [(path, thing) for path, thing in names if callable(thing)]


def test_every_public_name_is_documented() -> None:
    wrong = [f"{path}: {lack}" for path, thing in _public() for lack in _lacks(path, thing)]
    assert wrong == []


def _lacks(path: str, thing: Any) -> Iterator[str]:
    text = thing.__doc__ and inspect.cleandoc(thing.__doc__)
    if not text or not text.splitlines()[0].strip():
        yield "summary"
        return
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return
    sections = set(re.findall(r"^(\w[\w ]*)\n-{3,}$", text, flags=re.MULTILINE))
    arguments = set(inspect.signature(thing).parameters) - {"args", "kwargs"}
    if arguments and not sections & {"Parameters", "Attributes"}:
        yield "parameters"
    name = path.rpartition(".")[2]
    returned = name.endswith("Artists") or (isinstance(thing, type) and issubclass(thing, Result))
    if not (returned or name in _NOT_CALLED or "Examples" in sections):
        yield "examples"


def test_every_page_is_in_the_navigation() -> None:
    navigation = _hook("navigation")
    configuration = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    on_disk = [
        path.relative_to(DOCS).as_posix()
        for path in sorted(DOCS.rglob("*.md"))
        if "_site" not in path.parts
    ]
    named = set(navigation.paths(configuration["nav"]))
    shown = list(navigation.paths(navigation.fitted(configuration["nav"], on_disk, named)))
    assert sorted(shown) == on_disk  # each once


def _hook(name: str) -> Any:
    path = DOCS / "_site" / "hooks" / f"{name}.py"
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
