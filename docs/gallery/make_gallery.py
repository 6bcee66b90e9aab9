"""Draw every picture of the gallery and write its page.

    python docs/gallery/make_gallery.py             # all pictures and docs/gallery.md
    python docs/gallery/make_gallery.py bars null   # these pictures, and the page
    python docs/gallery/make_gallery.py --text      # the page alone

The pictures are in `_entries_reliability.py` and `_entries_others.py`; the code beside each one is
the body of the function that drew it.
"""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import _entries_others
import _entries_reliability
from _entry import Entry
from matplotlib import pyplot as plt

from veridical_lab.plots.panels import save_picture as save

HERE = Path(__file__).parent
IMAGES = HERE / "img"
PAGE = HERE.parent / "gallery.md"

INTRODUCTION = """\
# Gallery

What every function of `veridical.plots` and `veridical_lab.plots` draws, how to read it and how it
misleads. Written by `make gallery`; the code beside a picture is the code that drew it, after

```python
import numpy as np
from matplotlib.figure import Figure

import veridical as v
from veridical import plots
from veridical.planning import CostProcess, simulate_decisions
from veridical_lab import plots as lab_plots
```

`lab_plots` has figures of papers. In a checkout, `pip install ./packages/lab` installs them.

All functions take raw labels and probabilities, or a finished result, and an `ax` to draw on. They
return what they drew and change no settings of matplotlib. Colours can be told apart with common
kinds of colour blindness, lines and markers differ too, and on axes with a dark ground all colours
are lighter. Sample sizes are shown unless they are switched off. The same data by other packages:
[side by side](side-by-side.md).
"""


class Part(NamedTuple):
    """Pictures of one module, and the functions that make their data."""

    title: str
    module: ModuleType
    data: tuple[Callable[..., object], ...]


PARTS = (
    Part(
        "Reliability diagrams",
        _entries_reliability,
        (_entries_reliability.forecasts, _entries_reliability.votes),
    ),
    Part(
        "Simplex, calibrators, scores, tests, models and decisions",
        _entries_others,
        (
            _entries_others.forecasts,
            _entries_others.votes,
            _entries_others.models,
            _entries_others.audited,
        ),
    ),
)


def snippet(draw: Callable[[], object]) -> str:
    """Body of a function that draws, as one would write it outside a function."""
    body = textwrap.dedent("".join(inspect.getsource(draw).splitlines(keepends=True)[1:])).strip()
    body = re.sub(r"  # (noqa|fmt): .*", "", body)
    body = re.sub(r"\nreturn figure$", "", body)
    return re.sub(r"^return ", "", body, flags=re.MULTILINE).removesuffix(".figure")


def page() -> str:
    """Text of the page."""
    parts = [INTRODUCTION]
    for part in PARTS:
        parts.append(f"- **{part.title}**")
        parts += [f"    - [{one.title}](#{one.slug})" for one in part.module.ENTRIES]
    parts.append("")
    for part in PARTS:
        made = "\n\n\n".join(inspect.getsource(function).strip() for function in part.data)
        parts += [f"## {part.title}", "", "<details><summary>Data</summary>", ""]
        parts += [f"```python\n{made}\n```", "", "</details>", ""]
        for one in part.module.ENTRIES:
            parts += [_section(one), ""]
    return "\n".join(parts).rstrip() + "\n"


def _section(entry: Entry) -> str:
    return "\n\n".join(
        [
            f'<a id="{entry.slug}"></a>\n\n### {entry.title}',
            f"![{entry.title}](gallery/img/{entry.slug}.png)",
            f"```python\n{snippet(entry.draw)}\n```",
            f"*How to read it.* {entry.read}",
            f"*How it misleads.* {entry.misleads}",
        ]
    )


def entries() -> list[Entry]:
    """All pictures, in the order of the page."""
    return [one for part in PARTS for one in part.module.ENTRIES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slugs", nargs="*", help="pictures to draw; default all")
    parser.add_argument("--text", action="store_true", help="write the page alone")
    arguments = parser.parse_args()
    unknown = set(arguments.slugs) - {one.slug for one in entries()}
    if unknown:
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    PAGE.write_text(page(), encoding="utf-8")
    if arguments.text:
        return
    IMAGES.mkdir(exist_ok=True)
    for one in entries():
        if not arguments.slugs or one.slug in arguments.slugs:
            save(one.draw(), IMAGES / f"{one.slug}.png")
            plt.close("all")


if __name__ == "__main__":
    main()
