"""One file with nothing outside it: what every report can do, and the versions it was made with."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from abc import abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from html import escape
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from veridical._core.runtime.files import write_whole
from veridical.exceptions import invalid
from veridical.report._charts.catalogue import chart_style, runtime_script
from veridical.report._page.blocks import Section
from veridical.report._page.writers import plain, section_html, section_markdown
from veridical.results import Result


def page_html(report: SavedPage) -> str:
    """Return the page of a report.

    The content security policy lets the page's own two scripts run and nothing else: what a label
    might smuggle in could neither run nor call home.
    """
    scripts = [runtime_script(), _asset("page.js")]
    style = _asset("page.css") + chart_style()
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    title, body = escape(report.title), "".join(map(section_html, report.sections))
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta name="generator" content="veridical {escape(report.library)}">'
        f"<title>{title}</title><style>{style}</style></head><body>"
        '<a class="skip" href="#content">Skip to the verdict</a>'
        f'<header><div class="heading"><h1>{title}</h1>'
        f'<p class="subtitle">{escape(report.subtitle)}</p>{_provenance(report.provenance)}</div>'
        '<div class="tools"><button type="button" id="unfold" hidden>Open all</button>'
        '<button type="button" id="scheme" hidden>Light or dark</button>'
        '<button type="button" id="print" hidden>Print or save as PDF</button></div></header>'
        f'<main id="content" tabindex="-1">{body}</main>{report.data}'
        f"<footer><p>Made by veridical {escape(report.library)}. Everything shown is in this"
        " file; nothing is loaded from elsewhere.</p></footer>"
        + "".join(f"<script>{script}</script>" for script in scripts)
        + "</body></html>\n"
    )


def _provenance(facts: Sequence[tuple[str, str]]) -> str:
    if not facts:
        return ""
    pairs = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts
    )
    return f'<dl class="provenance">{pairs}</dl>'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return (resources.files("veridical.report") / "assets" / name).read_text(encoding="utf-8")


KINDS = (".html", ".htm", ".md", ".json")


class SavedPage(Result):
    """A result that is also a page; subclasses say what is on it."""

    title: str
    settings: Any  # with `versions`: package and version

    @property
    @abstractmethod
    def headline(self) -> str:
        """The verdict in words."""

    @property
    @abstractmethod
    def subtitle(self) -> str:
        """One line on what was looked at."""

    @property
    def provenance(self) -> Sequence[tuple[str, str]]:
        """Who made it, when and what for, as far as that was given: names and values."""
        return ()

    @property
    def data(self) -> str:
        """What the page holds for programs, as markup; nothing of it is shown."""
        return ""

    @property
    @abstractmethod
    def sections(self) -> list[Section]:
        """What is shown, block by block."""

    @property
    def library(self) -> str:
        """Version of the library that made it."""
        return self.settings.versions["veridical"]

    @cached_property
    def markdown(self) -> str:
        """The page for a pull request: all words and tables, no charts."""
        parts = [f"# {plain(self.title)}", plain(self.subtitle)]
        parts += [f"{plain(name)}: {plain(value)}" for name, value in self.provenance]
        return "\n\n".join([*parts, *map(section_markdown, self.sections)]) + "\n"

    @cached_property
    def html(self) -> str:
        """The whole page as text."""
        return page_html(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page (.html), Markdown (.md) or every number (.json), whole or not at all.

        Parameters
        ----------
        path : str or path
            Its suffix says what is written.

        Returns
        -------
        Path
            Where it is.
        """
        target = Path(path)
        check_kind(target, caller="save")
        write_whole(target, self._as(target.suffix.lower()))
        return target

    def _as(self, suffix: str) -> str:
        if suffix == ".json":
            return self.to_json(indent=2) + "\n"
        return self.markdown if suffix == ".md" else self.html

    def __str__(self) -> str:
        return f"{self.title}\n{self.subtitle}\n\n{self.headline}"

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return (
            f'<iframe srcdoc="{page}" title="{escape(self.title)}"'
            ' style="width:100%;height:800px;border:0" sandbox="allow-scripts"></iframe>'
        )


def check_kind(path: Path, *, caller: str) -> None:
    """Raise where the suffix does not say what to write."""
    if path.suffix.lower() not in KINDS:
        hint = "end the name in .html for the page, .md for Markdown, .json for the numbers."
        got = repr(path.name)
        raise invalid(caller, "path", "a name that ends in .html, .md or .json", got, hint=hint)


_PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "narwhals")


def versions() -> dict[str, str]:
    """Version of this library, of Python and of the packages below it."""
    from veridical._core.version import __version__

    found = {"veridical": __version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}
