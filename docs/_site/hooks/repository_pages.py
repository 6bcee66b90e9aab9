"""Pages that live elsewhere in the repository, and the list of the files of evidence."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_EVIDENCE = """\
# Evidence

Figures on these pages come from files that scripts of the repository have made (`make evidence`,
`make bench`, `make league`).

| file | rows | columns |
|---|--:|---|
"""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages."""
    root = Path(config.config_file_path).parent
    for place, source in config.extra["elsewhere"].items():
        text = (root / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    files.append(File.generated(config, "evidence/index.md", content=_evidence(root / "docs")))


def _evidence(docs: Path) -> str:
    lines = []
    for path in sorted((docs / "evidence").glob("*.csv")):
        head, *rows = path.read_text(encoding="utf-8").splitlines()
        columns = ", ".join(f"`{name}`" for name in head.split(","))
        lines.append(f"| [{path.name}]({path.name}) | {len(rows):,} | {columns} |\n")
    return _EVIDENCE + "".join(lines)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files of the repository lead to where the site has them."""
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))
    places = {source: place for place, source in config.extra["elsewhere"].items()}

    def led(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[1]))
        if target not in places:
            return match[0]
        return f"]({posixpath.relpath(posixpath.join('docs', places[target]), folder)}"

    return re.sub(r"\]\((\.\./[^)#]+)", led, markdown)
