"""One picture of the gallery."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from matplotlib.figure import Figure


class Entry(NamedTuple):
    """A picture, two sentences on how to read it and one on how it misleads.

    The body of `draw` is the code shown beside the picture.
    """

    slug: str
    title: str
    read: str
    misleads: str
    draw: Callable[[], Figure]
