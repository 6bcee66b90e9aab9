"""The chart runtime: JavaScript for pages, and pictures without a browser.

Everything comes from `vl_convert`, which brings Vega, Vega-Lite and Vega-Embed with it: nothing is
downloaded, and specifications are plain dictionaries, so Altair is not needed.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from veridical._core.optional import require
from veridical.report._chart_theme import THEMES

_SNIPPET = "window.vegaEmbed=vegaEmbed;"


def svg_of(spec: dict[str, Any], *, title: str, dark: bool) -> str:
    """Draw a specification as SVG text."""
    config = THEMES["dark" if dark else "light"]
    return _converter().vegalite_to_svg({**spec, "title": title}, config=config)


@cache
def runtime_script() -> str:
    """JavaScript that draws every chart of a page; once a page, at the end of the body.

    Returns
    -------
    str
        Text for a ``<script>``: the licences of what it contains, Vega with Vega-Lite and
        Vega-Embed, and the code that finds the charts of the page. About 0.9 MB.

    Notes
    -----
    Expressions are interpreted, not compiled, so a content security policy needs no
    ``unsafe-eval``; styles are in :func:`chart_style`, so it needs no ``unsafe-inline`` either if
    the page gives the hashes of both. Nothing is fetched.
    """
    bundle = _converter().javascript_bundle(_SNIPPET)
    themes = json.dumps(dict(THEMES), separators=(",", ":"))
    # In a function of their own: the names of the bundle are short, and would be global.
    return (
        f"/*!\n{_asset('chart_notice.txt')}*/\n"
        f'(function(){{"use strict";\n{bundle}\n}})();\n'
        f'(function(){{"use strict";\nconst THEMES={themes};\n{_asset("chart.js")}\n}})();\n'
    )


@cache
def chart_style() -> str:
    """Style sheet of charts; once a page."""
    return _asset("chart.css")


def _asset(name: str) -> str:
    return (resources.files("veridical.report") / "assets" / name).read_text(encoding="utf-8")


def _converter() -> Any:
    return require("vl_convert", extra="report", purpose="veridical.report")
