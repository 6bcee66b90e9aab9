"""Outputs that are sentences wrap; those that are tables scroll."""

from __future__ import annotations

import re
from html import unescape

_OUTPUT = re.compile(r'<div class="((?:language-text )?highlight)">(<pre>.*?</pre>)', re.DOTALL)
_LONG = 120  # characters; a table is narrower


def on_page_content(html: str, **_: object) -> str:
    """Mark blocks of text with long lines."""
    return _OUTPUT.sub(_marked, html)


def _marked(match: re.Match[str]) -> str:
    text = unescape(re.sub(r"<[^>]*>", "", match[2]))
    wraps = " wraps" if max(map(len, text.splitlines()), default=0) > _LONG else ""
    return f'<div class="{match[1]}{wraps}">{match[2]}'
