"""Numbers of a chart from its markup."""

from __future__ import annotations

import re
from html import unescape


def rows_of(markup: str) -> list[dict[str, str]]:
    """Rows of the first table, by the names of its columns."""
    table = markup[markup.index("<table") : markup.index("</table>")]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in table.split("<tr>")[1:]]
    header, *body = [[unescape(cell) for cell in row] for row in rows]
    return [dict(zip(header, row, strict=True)) for row in body]
