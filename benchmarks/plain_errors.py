"""The usual ways to write a calibration error in NumPy, and floors that no method can beat.

Written here from the definitions: `*_by_bincount` is how kyle and scikit-learn go about it,
`*_by_masks` how PyCalib and most notebooks do. None of them checks its input.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def confidence_by_bincount(y: np.ndarray, p: np.ndarray, n_bins: int) -> float:
    """Top-label ECE with one search and three histograms."""
    outcome = p.argmax(axis=1) == y
    return _binary_by_bincount(outcome, p.max(axis=1), n_bins)


def confidence_by_masks(y: np.ndarray, p: np.ndarray, n_bins: int) -> float:
    """Top-label ECE with one pass of masks for each bin."""
    outcome = p.argmax(axis=1) == y
    return _binary_by_masks(outcome, p.max(axis=1), n_bins)


def classwise_by_bincount(y: np.ndarray, p: np.ndarray, n_bins: int) -> float:
    """Mean over classes of the one-vs-rest ECE, each by histograms."""
    n_classes = p.shape[1]
    errors = [_binary_by_bincount(y == k, p[:, k], n_bins) for k in range(n_classes)]
    return float(np.mean(errors))


def classwise_by_masks(y: np.ndarray, p: np.ndarray, n_bins: int) -> float:
    """Mean over classes of the one-vs-rest ECE, each by masks."""
    n_classes = p.shape[1]
    return float(np.mean([_binary_by_masks(y == k, p[:, k], n_bins) for k in range(n_classes)]))


def one_argmax(y: np.ndarray, p: np.ndarray, n_bins: int) -> float:
    """Only find the predicted classes."""
    p.argmax(axis=1)
    return float("nan")


def read_once(y: np.ndarray, p: np.ndarray, n_bins: int) -> float:
    """Only read the probabilities."""
    p.max()
    return float("nan")


def _binary_by_bincount(outcome: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    edges = np.linspace(0, 1, n_bins + 1)
    index = np.searchsorted(edges[1:-1], score)
    observed = np.bincount(index, weights=outcome, minlength=n_bins)
    predicted = np.bincount(index, weights=score, minlength=n_bins)
    return float(np.abs(observed - predicted).sum() / len(score))


def _binary_by_masks(outcome: np.ndarray, score: np.ndarray, n_bins: int) -> float:
    edges = np.linspace(0, 1, n_bins + 1)
    error = 0.0
    for low, high in pairwise(edges):
        inside = (score > low) & (score <= high)
        if inside.any():
            error += inside.mean() * abs(outcome[inside].mean() - score[inside].mean())
    return float(error)
