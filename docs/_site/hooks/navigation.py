"""Navigation: pages not written yet are left out, and `folder/*` stands for what has no entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files

Entry = str | dict[str, Any]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Fit the navigation to the pages there are."""
    pages = sorted(file.src_uri for file in files.documentation_pages())
    named = set(paths(config.nav))
    config.nav = fitted(config.nav, pages, named)


def paths(entries: list[Entry]) -> Iterator[str]:
    """Every path and pattern of a navigation."""
    for entry in entries:
        for target in entry.values() if isinstance(entry, dict) else (entry,):
            if isinstance(target, str):
                yield target
            else:
                yield from paths(target)


def fitted(entries: list[Entry], pages: list[str], named: set[str]) -> list[Entry]:
    """Return the navigation without absent pages and empty sections, with patterns expanded."""
    kept: list[Entry] = []
    for entry in entries:
        if isinstance(entry, str) and entry.endswith("/*"):
            folder = entry.removesuffix("*")
            kept += [page for page in pages if page.startswith(folder) and page not in named]
        elif isinstance(entry, str):
            kept += [entry] if entry in pages else []
        else:
            ((title, target),) = entry.items()
            if isinstance(target, str):
                kept += [entry] if target in pages else []
            elif section := fitted(target, pages, named):
                kept.append({title: section})
    return kept
