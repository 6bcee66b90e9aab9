"""Rows of one model or several, as the functions of the library take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.groups import Groups
from veridical._core.labels import check_label_array
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import Array, ArrayLike, IntArray, WeightType
from veridical._core.validation import check_sample, kept_rows
from veridical.lenses import Lens, resolve_lens


@dataclass(frozen=True)
class Rows:
    """Data of one model, checked.

    Attributes
    ----------
    name : of the model
    y_true, y_prob, sample_weight : arrays, rows of weight zero gone
    labels, pos_label : which column is which
    weight_type : "frequency" for rows that stand for several, as a compressed sample does
    by : subgroup of each row, or None
    sample : the same, checked
    lens : through which calibration is looked at
    """

    name: str
    y_true: Array
    y_prob: Array
    sample_weight: Array | None
    labels: list[Any]
    pos_label: Any
    weight_type: WeightType
    by: Groups | None
    sample: Sample
    lens: Lens

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.n

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.sample.classes)

    @property
    def border(self) -> dict[str, Any]:
        """Arguments that say what the columns and weights are."""
        return {
            "labels": self.labels,
            "pos_label": self.pos_label,
            "sample_weight": self.sample_weight,
        }

    def take(self, rows: IntArray) -> Rows:
        """Keep some rows."""
        by = None if self.by is None else replace(self.by, codes=self.by.codes[rows])
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return replace(
            self,
            y_true=self.y_true[rows],
            y_prob=self.y_prob[rows],
            sample_weight=weight,
            by=by,
            sample=self.sample.take(rows),
        )

    def at_most(self, n: int, seed: int) -> Rows:
        """These rows, or a random choice of `n` of them in their order."""
        if self.n <= n:
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(self.n, n, replace=False)))


def check_rows(
    name: str,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    labels: ArrayLike | None,
    pos_label: Any,
    weight_type: WeightType = "importance",
    by: Groups | None = None,
    lens: Any,
    caller: str,
) -> Rows:
    """Pass the border once; everything afterwards gets the same rows."""
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    kept = kept_rows(sample_weight, sample)
    if by is not None:
        next(by.of(sample, kept, caller))  # as many keys as rows
        by = replace(by, codes=by.codes[kept])
    outcomes = check_label_array(y_true, caller=caller)[kept]
    binary = isinstance(sample, BinarySample)
    one_column = isinstance(sample, BinarySample) and sample.pair is None
    return Rows(
        name=name,
        y_true=outcomes,
        y_prob=sample.p if one_column else sample.matrix,
        sample_weight=sample.weight,
        labels=list(sample.columns),
        pos_label=sample.classes[1] if binary else None,
        weight_type=weight_type,
        by=by,
        sample=sample,
        lens=resolve_lens(lens, sample, caller=caller),
    )


def check_models(
    models: Mapping[str, ArrayLike], y_true: ArrayLike, *, caller: str, **options: Any
) -> list[Rows]:
    """Rows of every model, all of the same outcomes."""
    return [check_rows(name, y_true, p, caller=caller, **options) for name, p in models.items()]
