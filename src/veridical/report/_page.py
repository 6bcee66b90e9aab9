"""The page: one file, nothing outside it."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from veridical.report._charts import chart_style, runtime_script
from veridical.report._html import section_html

if TYPE_CHECKING:
    from veridical.report._blocks import Section
    from veridical.report._saved import SavedPage


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
        f'<header><h1>{title}</h1><p class="subtitle">{escape(report.subtitle)}</p>'
        '<div class="scheme"><button type="button" id="scheme" hidden>Light or dark</button>'
        '<button type="button" id="print" hidden>Print or save as PDF</button></div></header>'
        f"{_contents(report.sections)}"
        f'<main id="content" tabindex="-1">{body}</main>'
        f"<footer><p>Made by veridical {escape(report.library)}. Everything shown is in this"
        " file; nothing is loaded from elsewhere.</p></footer>"
        + "".join(f"<script>{script}</script>" for script in scripts)
        + "</body></html>\n"
    )


def _contents(sections: list[Section]) -> str:
    links = "".join(
        f'<li><a href="#{section.identifier}">{escape(section.title)}</a></li>'
        for section in sections
    )
    return f'<nav class="contents" aria-label="Sections"><ul>{links}</ul></nav>'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return (resources.files("veridical.report") / "assets" / name).read_text(encoding="utf-8")
