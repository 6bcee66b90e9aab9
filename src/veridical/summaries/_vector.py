"""Sums by cell of whole probability vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray, WeightType
from veridical.binning import SimplexPartition, partition_from_dict
from veridical.scores import ScoringRule
from veridical.summaries._summary import bin_size, not_alike

_BY_CELL = ("count", "sum_w", "sum_w2")
_BY_CLASS = ("sum_wp", "sum_wy", "sum_wpq")


@dataclass(frozen=True, kw_only=True)
class VectorSummary:
    """Sums over the rows of each cell of the simplex; every cell holds at least one row.

    Attributes
    ----------
    count, sum_w, sum_w2 : arrays of shape (C,)
    sum_wp, sum_wy, sum_wpq : arrays of shape (C, K)
    scores : weighted sums of scores by rule, arrays of shape (C,)
    partition : the cells
    classes : labels in column order
    """

    partition: SimplexPartition
    classes: tuple[Any, ...]
    count: FloatArray
    sum_w: FloatArray
    sum_w2: FloatArray
    sum_wp: FloatArray
    sum_wy: FloatArray
    sum_wpq: FloatArray
    scores: Mapping[str, FloatArray] = field(default_factory=dict)
    weight_type: WeightType = "importance"

    @property
    def share(self) -> FloatArray:
        """Share of the weight that lies in the cell."""
        return self.sum_w / self.sum_w.sum()

    @property
    def mean_p(self) -> FloatArray:
        """Mean prediction of each cell, (C, K)."""
        return self.sum_wp / self.sum_w[:, None]

    @property
    def mean_y(self) -> FloatArray:
        """Class frequencies of each cell, (C, K)."""
        return self.sum_wy / self.sum_w[:, None]

    @property
    def size(self) -> FloatArray:
        """Effective number of rows of each cell."""
        return bin_size(self.sum_w, self.sum_w2, self.weight_type)

    def merge(self, other: VectorSummary) -> VectorSummary:
        """Sums of both samples together; they must have been binned alike."""
        if self.partition != other.partition or self.classes != other.classes:
            raise not_alike("other cells")
        if self.weight_type != other.weight_type or set(self.scores) != set(other.scores):
            raise not_alike("other weights or scores")
        sums: dict[str, Any] = {
            name: getattr(self, name) + getattr(other, name) for name in _BY_CELL + _BY_CLASS
        }
        scores = {rule: values + other.scores[rule] for rule, values in self.scores.items()}
        return replace(self, **sums, scores=scores)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form, lossless (infinite scores are written as strings)."""
        return {
            "partition": self.partition.to_dict(),
            "classes": list(self.classes),
            "weight_type": self.weight_type,
            **{name: getattr(self, name).tolist() for name in _BY_CELL + _BY_CLASS},
            "scores": {
                rule: [v if np.isfinite(v) else str(v) for v in values.tolist()]
                for rule, values in self.scores.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> VectorSummary:
        """Read back what `to_dict` wrote."""
        return cls(
            partition=partition_from_dict(data["partition"]),  # type: ignore[arg-type]
            classes=tuple(data["classes"]),
            weight_type=data["weight_type"],
            **{name: np.asarray(data[name], dtype=np.float64) for name in _BY_CELL + _BY_CLASS},
            scores={
                rule: np.array([float(v) for v in values])
                for rule, values in data["scores"].items()
            },
        )


def vector_summary(
    sample: MulticlassSample, partition: SimplexPartition, rules: Sequence[ScoringRule]
) -> VectorSummary:
    """Sum over the rows of each cell."""
    cells = partition.assign(sample.p)
    n_cells, n_classes = partition.n_cells, len(sample.classes)
    w = sample.weight

    def by_cell(values: FloatArray | None) -> FloatArray:
        weighted = values if w is None else (w if values is None else values * w)
        return np.bincount(cells, weights=weighted, minlength=n_cells).astype(np.float64)

    sum_wp, sum_wpq = np.empty((n_cells, n_classes)), np.empty((n_cells, n_classes))
    for k in range(n_classes):
        column = sample.p[:, k].astype(np.float64)
        sum_wp[:, k] = by_cell(column)
        sum_wpq[:, k] = by_cell(column * (1 - column))
    key = cells * n_classes + sample.y
    sum_wy = np.bincount(key, weights=w, minlength=n_cells * n_classes).astype(np.float64)
    return VectorSummary(
        partition=partition,
        classes=sample.classes,
        count=np.bincount(cells, minlength=n_cells).astype(np.float64),
        sum_w=by_cell(None),
        sum_w2=by_cell(w),
        sum_wp=sum_wp,
        sum_wy=sum_wy.reshape(n_cells, n_classes),
        sum_wpq=sum_wpq,
        scores={rule.name: by_cell(rule.per_row(sample)) for rule in rules},
        weight_type=sample.weight_type,
    )
