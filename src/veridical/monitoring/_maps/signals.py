"""What predictions say while their outcomes are outstanding."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.decisions.core import priors_of_rows
from veridical.inference.intervals import IntervalOptions
from veridical.monitoring._maps.rows import ModelColumns
from veridical.results import MonitorSignals, PriorEstimate

_N_BINS = 10
_FEW_ROWS = 100


def signals_of(
    waiting: FloatArray,
    labelled: FloatArray,
    y: IntArray,
    columns: ModelColumns,
    *,
    waiting_since: str | None,
    confidence_level: float,
) -> MonitorSignals:
    """Compare predictions that wait with labelled ones.

    Parameters
    ----------
    waiting, labelled : predictions of the map in use, (n,) of the positive class or (n, K)
    y : outcomes of the labelled ones, as in `KeptRows`
    columns : the classes
    waiting_since : timestamp of the oldest that waits
    confidence_level : of all limits
    """
    from scipy.special import ndtri
    from scipy.stats import ks_2samp

    binary = labelled.ndim == 1
    now, before = (p if binary else p.max(axis=1) for p in (waiting, labelled))
    ks = ks_2samp(before, now, method="asymp")
    confidence, known = _confidence(waiting), _confidence(labelled)
    right = (labelled > 0.5) == (y == 1) if binary else labelled.argmax(axis=1) == y
    tied = labelled == 0.5 if binary else np.zeros(len(y), dtype=bool)
    accuracy = float(np.where(tied, 0.5, right).mean())
    mean = float(confidence.mean())
    spread = math.sqrt(float((confidence * (1 - confidence)).sum())) / len(confidence)
    half = float(ndtri((1 + confidence_level) / 2)) * spread
    notes = []
    if min(len(now), len(before)) < _FEW_ROWS:
        notes.append(f"{min(len(now), len(before))} rows are few to compare distributions")
    priors = None
    if len(np.unique(y)) == len(columns.labels):
        priors = priors_of(waiting, labelled, y, columns, confidence_level)
        notes += [f"priors: {note}" for note in priors.notes]
    else:
        notes.append("priors are not estimated: a class has no labelled row")
    return MonitorSignals(
        n_waiting=len(now),
        waiting_since=waiting_since,
        n_labelled=len(before),
        score=f"the probability of {columns.classes[1]!r}" if binary else "the largest probability",
        ks_distance=float(ks.statistic),
        ks_pvalue=float(ks.pvalue),
        psi=stability_index(before, now),
        psi_noise=(_N_BINS - 1) * (1 / len(before) + 1 / len(now)),
        priors=priors,
        estimated_accuracy=mean,
        low=max(0.0, mean - half),
        high=min(1.0, mean + half),
        labelled_estimated=float(known.mean()),
        labelled_accuracy=accuracy,
        corrected_accuracy=min(1.0, max(0.0, accuracy + mean - float(known.mean()))),
        confidence_level=confidence_level,
        notes=tuple(notes),
    )


def stability_index(before: FloatArray, now: FloatArray) -> float:
    r"""Population stability index in ten bins between the deciles of `before`.

    Notes
    -----
    :math:`\sum_b (a_b - e_b) \log(a_b / e_b)`, with shares :math:`e_b` of `before` and
    :math:`a_b` of `now` (Siddiqi 2006, Credit Risk Scorecards), after half a row is added to every
    bin, so that an empty one does not make it infinite. Deciles that coincide leave fewer bins.
    Without a shift it is about :math:`(1/n + 1/m) \chi^2_{B-1}` (Yurdakul & Naranjo 2020, Journal
    of Risk Model Validation 14(4)), so the usual limits 0.1 and 0.25 mean nothing for few rows.

    Examples
    --------
    Twenty scores, two in each bin, and as many that are all in the last: shares 2.5/25 and 0.5/25,
    in the last 20.5/25, so nine times 0.08 log 5 and 0.72 log 8.2.

    >>> before = np.repeat(np.arange(10.0), 2)
    >>> stability_index(before, np.full(20, 9.0))
    2.67...
    """
    edges = np.unique(np.quantile(before, np.arange(1, _N_BINS) / _N_BINS))
    shares = []
    for scores in (before, now):
        counts = np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1) + 0.5
        shares.append(counts / counts.sum())
    expected, actual = shares
    return float((actual - expected) @ np.log(actual / expected))


def priors_of(
    waiting: FloatArray,
    labelled: FloatArray,
    y: IntArray,
    columns: ModelColumns,
    confidence_level: float,
) -> PriorEstimate:
    """Class priors of the predictions that wait, if nothing but priors has changed."""
    classes = columns.classes
    reference: Sample = (
        BinarySample(y=y, p=labelled, pair=_matrix(labelled), classes=classes)
        if len(classes) == 2
        else MulticlassSample(y=y, p=labelled, classes=classes)
    )
    options = IntervalOptions("analytic", confidence_level)
    return priors_of_rows(_matrix(waiting), None, classes, reference, options)


def _matrix(p: FloatArray) -> FloatArray:
    """Columns in the order of `ModelColumns.classes`."""
    return p if p.ndim == 2 else np.column_stack([1 - p, p])


def _confidence(p: FloatArray) -> FloatArray:
    return np.maximum(p, 1 - p) if p.ndim == 1 else np.asarray(p.max(axis=1))
