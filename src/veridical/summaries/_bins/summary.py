"""Sums by bin of binary problems, and by cell of whole probability vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from veridical._core.sample import MulticlassSample
from veridical._core.typing import BoolArray, FloatArray, WeightType
from veridical.binning import IntervalPartition, SimplexPartition, partition_from_dict
from veridical.exceptions import InvalidInputError, invalid
from veridical.scores import ScoringRule

_SUMS = ("count", "sum_w", "sum_w2", "sum_wp", "sum_wy", "sum_wpq")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Sums over the rows of each bin, for M problems (one, or one per class) of B bins.

    All arrays are float64 of shape (M, B). Empty bins have zero weight and are skipped by
    everything that reads a summary (`occupied`); problems with fewer bins are padded with them.

    Attributes
    ----------
    count : number of rows (fractional under linear assignment)
    sum_w, sum_w2 : sums of weights and of squared weights
    sum_wp, sum_wy : weighted sums of predictions and of outcomes
    sum_wpq : weighted sum of p (1 - p), the variance of the outcomes if p is right
    scores : weighted sums of scores by rule; "brier" is always there
    partitions : bins of each problem
    names : label of the positive class of each problem
    weight_type : what weights mean where the sample size matters
    """

    partitions: tuple[IntervalPartition, ...]
    names: tuple[Any, ...]
    count: FloatArray
    sum_w: FloatArray
    sum_w2: FloatArray
    sum_wp: FloatArray
    sum_wy: FloatArray
    sum_wpq: FloatArray
    scores: Mapping[str, FloatArray] = field(default_factory=dict)
    weight_type: WeightType = "importance"

    @property
    def occupied(self) -> BoolArray:
        """Bins that hold any weight."""
        return self.sum_w > 0

    @property
    def share(self) -> FloatArray:
        """Share of each problem's weight that lies in the bin."""
        return self.sum_w / self.sum_w.sum(axis=1, keepdims=True)

    @property
    def mean_p(self) -> FloatArray:
        """Mean prediction of each bin, NaN where empty."""
        return _ratio(self.sum_wp, self.sum_w)

    @property
    def mean_y(self) -> FloatArray:
        """Observed frequency of each bin, NaN where empty."""
        return _ratio(self.sum_wy, self.sum_w)

    @property
    def size(self) -> FloatArray:
        """Effective number of rows of each bin (DESIGN 3.8): Kish's, or the sum of weights."""
        return bin_size(self.sum_w, self.sum_w2, self.weight_type)

    def merge(self, other: Summary) -> Summary:
        """Sums of both samples together; they must have been binned alike."""
        if self.partitions != other.partitions or self.names != other.names:
            raise not_alike("other bins")
        if self.weight_type != other.weight_type or set(self.scores) != set(other.scores):
            raise not_alike("other weights or scores")
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        scores = {rule: values + other.scores[rule] for rule, values in self.scores.items()}
        return replace(self, **sums, scores=scores)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe form, lossless (infinite scores are written as strings)."""
        return {
            "partitions": [partition.to_dict() for partition in self.partitions],
            "names": list(self.names),
            "weight_type": self.weight_type,
            **{name: getattr(self, name).tolist() for name in _SUMS},
            "scores": {
                rule: [[v if np.isfinite(v) else str(v) for v in row] for row in values.tolist()]
                for rule, values in self.scores.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        """Read back what `to_dict` wrote."""
        partitions = tuple(partition_from_dict(item) for item in data["partitions"])
        return cls(
            partitions=partitions,  # type: ignore[arg-type]
            names=tuple(data["names"]),
            weight_type=data["weight_type"],
            **{name: np.asarray(data[name], dtype=np.float64) for name in _SUMS},
            scores={
                rule: np.array([[float(v) for v in row] for row in rows])
                for rule, rows in data["scores"].items()
            },
        )


def not_alike(got: str) -> InvalidInputError:
    """Build the error of merging what does not belong together."""
    hint = "build both summaries alike, with fixed edges such as UniformBins(15)."
    return invalid("merge", "other", "binned, weighted and scored alike", got, hint=hint)


def bin_size(sum_w: FloatArray, sum_w2: FloatArray, weight_type: WeightType) -> FloatArray:
    """Effective number of rows from the sums of weights and of squared weights."""
    return sum_w if weight_type == "frequency" else _ratio(sum_w * sum_w, sum_w2, empty=0.0)


def _ratio(top: FloatArray, bottom: FloatArray, empty: float = np.nan) -> FloatArray:
    result = np.full(top.shape, empty)
    np.divide(top, bottom, out=result, where=bottom > 0)
    return result


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
