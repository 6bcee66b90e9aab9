"""Marks of cells of the simplex: how many rows, and how far chance alone moves them."""

from __future__ import annotations

import math

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import EllipseCollection
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, ListedColormap, LogNorm, Normalize
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from veridical._core.typing import FloatArray
from veridical.plots._axes import short_count
from veridical.plots._simplex_geometry import TRIANGLE
from veridical.plots._style import Style
from veridical.summaries import VectorSummary

_SPREAD = 20  # ratio of largest to smallest count from which colours follow the logarithm


def mass_colours(style: Style) -> Colormap:
    """Colours for counts: few rows near the ground, many far from it, none invisible."""
    whole = colormaps[style.sequential]
    shades = np.linspace(0.35, 1.0, 256) if style.dark else np.linspace(0.85, 0.0, 256)
    return ListedColormap(whole(shades))


def mass_norm(count: FloatArray) -> Normalize:
    """Scale of the counts: logarithmic where they differ much."""
    low, high = float(np.min(count)), float(np.max(count))
    if low > 0 and high / low >= _SPREAD:
        return LogNorm(low, high)
    return Normalize(0.0, high)


def mass_bar(ax: Axes, mappable: ScalarMappable, style: Style, name: str) -> Colorbar:
    """Key of the colours, in the corner a triangle leaves empty."""
    inset = ax.inset_axes((0.79, 0.66, 0.035, 0.24))
    bar = ax.figure.figure.colorbar(mappable, cax=inset)
    inset.set_title(name, fontsize=8, color=style.ink, loc="left", pad=4)
    if isinstance(mappable.norm, LogNorm):
        low, high = np.log10([mappable.norm.vmin or 1.0, mappable.norm.vmax or 1.0])
        powers = 10.0 ** np.arange(math.ceil(low), math.floor(high) + 1)
        bar.set_ticks(list(powers) if len(powers) > 1 else [10**low, 10**high])
    else:
        bar.locator = MaxNLocator(3, integer=True)
        bar.update_ticks()
    inset.yaxis.set_minor_locator(NullLocator())
    inset.yaxis.set_minor_formatter(NullFormatter())
    inset.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))
    inset.tick_params(labelsize=7, colors=style.ink, length=2)
    bar.outline.set_edgecolor(style.muted)
    return bar


def chance_regions(
    ax: Axes, summary: VectorSummary, xy: FloatArray, level: float, style: Style
) -> EllipseCollection:
    """Ellipses that hold the observed frequencies of a calibrated model with probability `level`.

    By the normal approximation of the multinomial distribution of the mean prediction m of the
    cell, with covariance (diag(m) - m m') / n. Predictions that vary within the cell vary the
    frequencies less, so the regions are slightly too large; with a handful of rows they are rough.
    """
    mean = summary.mean_p
    spread = np.einsum("ck,kl->ckl", mean, np.eye(3)) - mean[:, :, None] * mean[:, None, :]
    plane = np.einsum("kx,ckl,ly->cxy", TRIANGLE, spread, TRIANGLE)
    variance, direction = np.linalg.eigh(plane / summary.size[:, None, None])
    # The squared distance of two normal coordinates is exponential: P(d^2 <= r^2) = 1 - exp(-r^2/2)
    axes = 2 * math.sqrt(-2 * math.log1p(-level)) * np.sqrt(np.maximum(variance, 0.0))
    angle = np.degrees(np.arctan2(direction[:, 1, 1], direction[:, 0, 1]))
    regions = EllipseCollection(
        axes[:, 1], axes[:, 0], angle, units="xy", offsets=xy, offset_transform=ax.transData,
        facecolors="none", edgecolors=style.muted, linewidths=0.8, zorder=2,
    )  # fmt: skip
    ax.add_collection(regions)
    regions.set_clip_path(Polygon(TRIANGLE, transform=ax.transData))
    return regions
