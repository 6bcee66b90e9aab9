"""Lenses that induce one binary problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.labels import find_label
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical.exceptions import invalid
from veridical.lenses._kinds.base import Lens, about_rows, as_multiclass, one_versus_rest, origin_of


@dataclass(frozen=True)
class Binary(Lens):
    """The positive class of a two-class problem, and its probability.

    Examples
    --------
    >>> z, q = Binary()(["no", "yes"], [0.2, 0.7])
    >>> z.tolist(), q.tolist()
    ([0, 1], [0.2, 0.7])
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "binary"

    def induce(self, sample: Sample) -> BinarySample:
        """Return the sample itself."""
        if isinstance(sample, MulticlassSample):
            hint = 'use lens="confidence", lens="classwise" or `ClassSpecific(label)`.'
            got = f"{len(sample.classes)} classes"
            raise invalid("Binary", "y_prob", "of shape (n,), (n, 1) or (n, 2)", got, hint=hint)
        return sample


@dataclass(frozen=True)
class Confidence(Lens):
    """Was the most probable class right, and how probable was it said to be?

    Ties go to the first column. With two classes this is not the binary problem: confidence never
    falls below one half. Guo et al. (2017), arXiv 1706.04599.

    Examples
    --------
    >>> z, q = Confidence()([0, 2], [[0.5, 0.25, 0.25], [0.0, 0.75, 0.25]])
    >>> z.tolist(), q.tolist()
    ([1, 0], [0.5, 0.75])
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "confidence"

    def induce(self, sample: Sample) -> BinarySample:
        """Return correctness of the top label and its probability."""
        several = as_multiclass(sample)
        top, right = several.top_label
        classes = ("wrong", "right")
        origin = origin_of(several)
        return BinarySample(
            y=right.view(np.uint8), p=top, classes=classes, origin=origin, **about_rows(several)
        )


@dataclass(frozen=True)
class ClassSpecific(Lens):
    """One class against the rest (survey Definition 3: class-j).

    Parameters
    ----------
    label : object
        The class, named as in `labels` (an integer for labels 0..K-1).

    Examples
    --------
    >>> z, q = ClassSpecific(2)([0, 2], [[0.5, 0.25, 0.25], [0.0, 0.75, 0.25]])
    >>> z.tolist(), q.tolist()
    ([0, 1], [0.25, 0.25])
    """

    label: Any

    @property
    def name(self) -> str:
        """Short name."""
        return f"class {self.label!r}"

    def induce(self, sample: Sample) -> BinarySample:
        """Return occurrence and probability of the class."""
        index = find_label(self.label, sample.columns, caller="ClassSpecific", param="label")
        if isinstance(sample, BinarySample) and sample.columns[index] == sample.classes[1]:
            return sample
        return one_versus_rest(as_multiclass(sample), index)


@dataclass(frozen=True)
class Pooled(Lens):
    """All n x K one-vs-rest pairs thrown into one problem.

    This is what PyCalib calls ``ECE(ece_full=True)`` and what a single averaged classwise diagram
    shows (survey section 2.3). It is neither the classwise nor the canonical problem: errors of
    different classes can cancel inside a bin.

    Examples
    --------
    >>> z, q = Pooled()([2], [[0.5, 0.25, 0.25]])
    >>> z.tolist(), q.tolist()
    ([0, 0, 1], [0.5, 0.25, 0.25])
    """

    @property
    def name(self) -> str:
        """Short name."""
        return "pooled"

    def induce(self, sample: Sample) -> BinarySample:
        """Return n x K rows, one per instance and class."""
        several = as_multiclass(sample)
        n_classes = len(several.classes)
        occurred = several.y[:, None] == np.arange(n_classes)
        weight, clusters, strata = several.weight, several.clusters, several.strata
        return BinarySample(
            y=occurred.reshape(-1).view(np.uint8),
            p=np.ascontiguousarray(several.p).reshape(-1),
            weight=None if weight is None else np.repeat(weight, n_classes),
            weight_type=several.weight_type,
            classes=("rest", "class"),
            clusters=None if clusters is None else np.repeat(clusters, n_classes),
            strata=None if strata is None else np.repeat(strata, n_classes),
        )
