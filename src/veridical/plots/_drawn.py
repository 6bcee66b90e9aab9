"""What all artists of one figure share."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawn:
    """Base of the artists a figure returns.

    Attributes
    ----------
    ax : the axes drawn on
    """

    ax: Axes

    @property
    def figure(self) -> Figure:
        """The figure the axes are in."""
        return self.ax.figure.figure
