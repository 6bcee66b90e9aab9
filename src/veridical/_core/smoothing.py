"""Smoothing of masses on [0, 1] by a Gaussian reflected at both ends, on a grid."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.blocks import row_blocks
from veridical._core.typing import FloatArray


def bin_linearly(p: FloatArray, mass: FloatArray, n_cells: int) -> FloatArray:
    """Share the mass of each row between the two nearest of the nodes k / n_cells. O(n).

    Nodes of nested grids nest too, so this is the same as binning on a finer grid and halving it.
    """
    nodes = np.zeros(n_cells + 1)
    for block in row_blocks(len(p)):
        position = p[block].astype(np.float64) * n_cells
        left = np.minimum(position.astype(np.intp), n_cells - 1)
        right_mass = (position - left) * mass[block]
        nodes[:-1] += np.bincount(left, mass[block] - right_mass, minlength=n_cells)
        nodes[1:] += np.bincount(left, right_mass, minlength=n_cells)
    return nodes


def halve_cells(nodes: FloatArray) -> FloatArray:
    """Masses on a grid with half as many cells."""
    kept, between = nodes[::2].copy(), nodes[1::2] / 2
    kept[:-1] += between
    kept[1:] += between
    return kept


def cosine_spectrum(nodes: FloatArray) -> FloatArray:
    """Coefficients of cos(pi k t), k = 0..n_cells, of masses on a grid."""
    from scipy.fft import dct

    doubled = nodes.copy()
    doubled[[0, -1]] *= 2  # the transform counts its ends once and the rest twice
    return dct(doubled, type=1) / 2


def smoothed_density(spectrum: FloatArray, bandwidth: float) -> FloatArray:
    """Density at the nodes after smoothing with a reflected Gaussian.

    The reflected kernel is 1 + 2 sum_k exp(-(pi k h)^2 / 2) cos(pi k s) cos(pi k t), so smoothing
    damps each coefficient: no truncation, exact at the ends, whatever the bandwidth h.
    """
    from scipy.fft import dct

    n_cells = len(spectrum) - 1
    kept = int(min(n_cells, 9 / (math.pi * bandwidth))) + 1  # the rest is damped below exp(-40)
    damped = np.zeros(n_cells + 1)
    damped[:kept] = spectrum[:kept] * np.exp(-((math.pi * bandwidth * np.arange(kept)) ** 2) / 2)
    return dct(damped, type=1)


def absolute_integral(density: FloatArray) -> float:
    """Integral over [0, 1] of the absolute value of a function given at the nodes."""
    size = np.abs(density)
    return float((size.sum() - (size[0] + size[-1]) / 2) / (len(density) - 1))
