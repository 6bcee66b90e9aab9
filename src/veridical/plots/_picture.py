"""Small files that are the same whenever they are drawn by the same version of matplotlib."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

_DPI = 110
_COLOURS = 256


def save_picture(figure: Figure, path: Path, *, tight: bool = False) -> None:
    """Write a figure as PNG of few colours, without date or version in it.

    `tight` cuts the figure to what was drawn, as notebooks do.
    """
    from PIL import Image  # which matplotlib needs too

    drawn = io.BytesIO()
    box = "tight" if tight else None
    figure.savefig(drawn, dpi=_DPI, format="png", metadata={"Software": None}, bbox_inches=box)
    # This method keeps rare colours, such as the ends of a colour bar.
    few = (
        Image.open(drawn)
        .convert("RGB")
        .quantize(colors=_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    few.save(path, format="PNG", optimize=True)
