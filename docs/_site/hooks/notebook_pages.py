"""Notebooks as pages: their text, code, and the outputs that are stored in them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

# Tables of frames look as the page does; results bring their style; nothing is run.
_OWN_LOOK = re.compile(
    r'<style scoped>.*?</style>|<script.*?</script>| border="1" class="dataframe"', flags=re.DOTALL
)
_EMPTY_LINES = re.compile(r"\n\s*\n")  # they would end the block of HTML


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add a page, and its pictures, for every notebook."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        path = Path(file.abs_src_path or "")
        parts, pictures = _page(json.loads(path.read_text(encoding="utf-8")), path.stem)
        parts.append(f"The notebook itself: [{path.name}]({path.name}).")
        place = file.src_uri.removesuffix(".ipynb")
        folder = place.rpartition("/")[0]
        files.append(File.generated(config, f"{place}.md", content="\n\n".join(parts) + "\n"))
        for name, content in pictures.items():
            files.append(File.generated(config, f"{folder}/{name}", content=content))


def _page(notebook: dict[str, Any], stem: str) -> tuple[list[str], dict[str, bytes]]:
    """Markdown of every cell, and the pictures by name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip("\n")
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for kind, content in _outputs(cell):
            if kind == "image/png":
                name = f"{stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(content)
                parts.append(f"![Figure drawn by the code above]({name})")
            elif kind == "text/html":
                plain = _EMPTY_LINES.sub("\n", _OWN_LOOK.sub("", content))
                parts.append(f'<div class="notebook-output">{plain}</div>')
            else:
                parts.append(f"```text\n{content.rstrip()}\n```")
    return parts, pictures


def _outputs(cell: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a cell has printed or drawn, in the form that shows most."""
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            yield "text/plain", "".join(output["text"])
            continue
        forms = output.get("data", {})
        for kind in ("image/png", "text/html", "text/plain"):
            if kind in forms:
                yield kind, "".join(forms[kind])
                break
