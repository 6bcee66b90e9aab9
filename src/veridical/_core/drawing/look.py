"""Colours and lines of pictures, once; on a light and on a dark ground.

One rule for colours: before is a muted orange, after and whatever stands alone is blue, models
follow the hues of Okabe & Ito (2008, "Color universal design"), darkened or lightened until they
have a contrast of 3 : 1 with the ground; series differ in their dashes and dots, too. Words have
the colour of the page around them.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

_DARK = (
    "--vd-s0:#56b4e9;--vd-s1:#f08a3c;--vd-s2:#35c39b;--vd-s3:#dd9cc0;--vd-s4:#f0c040;"
    "--vd-s5:#8cc8f0;--vd-s6:#c8c8c8;--vd-before:#d9a066;--vd-after:#56b4e9;--vd-other:#a8a8a8;"
    "--vd-alarm:#ff8a4c;--vd-ground:#161616"
)
SERIES = tuple(f"s{i}" for i in range(7))


@cache
def picture_style() -> str:
    """Style sheet of pictures: once a page, or inside of a picture that stands alone."""
    path = resources.files("veridical._core") / "drawing" / "style.css"
    return path.read_text(encoding="utf-8").replace("DARK", _DARK)


def series_class(index: int) -> str:
    """Class of one of several series; colours begin anew after seven."""
    return SERIES[index % len(SERIES)]
