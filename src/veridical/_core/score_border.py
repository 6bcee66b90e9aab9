"""The border for real-valued scores: logits and decision values, which are no probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.labels import check_label_array, encode_labels
from veridical._core.sample import effective_size
from veridical._core.typing import ArrayLike, FloatArray, IntArray, WeightType
from veridical._core.validation import check_option, check_weight, float_array, tame_weights
from veridical.exceptions import invalid


@dataclass(frozen=True, kw_only=True)
class ScoredRows:
    """Class indices and scores of checked rows.

    Attributes
    ----------
    y : index of each row's class in `classes`
    scores : (n,), larger for the larger of two labels; or (n, K) in the order of `classes`
    weight, weight_type : as in `BinarySample`
    classes : labels in column order
    """

    y: IntArray
    scores: FloatArray
    weight: FloatArray | None
    weight_type: WeightType
    classes: tuple[Any, ...]

    @property
    def size(self) -> float:
        """Sample size that counts for anything depending on n."""
        return effective_size(self.weight, len(self.y), self.weight_type)


def check_scores(scores: ArrayLike, *, caller: str, param: str = "y_prob") -> FloatArray:
    """Return finite scores as float64 of shape (n,) or (n, K >= 2)."""
    values = float_array(scores, caller=caller, param=param).astype(np.float64, copy=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        hint = "pass one score per row, or one row of scores per label."
        raise invalid(caller, param, "of shape (n,) or (n, K)", f"shape {values.shape}", hint=hint)
    bad = ~np.isfinite(values)
    if bad.any():
        first = int(bad.reshape(len(values), -1).any(axis=1).argmax())
        hint = "drop or fix the rows without a score."
        got = f"a missing or infinite value in row {first} ({int(bad.sum())} of {values.size})"
        raise invalid(caller, param, "finite", got, hint=hint)
    return values


def check_scored_rows(
    y_true: ArrayLike,
    scores: ArrayLike,
    *,
    caller: str,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    weight_type: WeightType,
) -> ScoredRows:
    """Check labels, scores and weights; rows of weight zero are dropped."""
    check_option(caller, "weight_type", weight_type, ("importance", "frequency"))
    values = check_scores(scores, caller=caller)
    y = check_label_array(y_true, caller=caller)
    if len(y) != len(values):
        hint = "pass one score (or row of scores) per label."
        got = f"{len(values)} rows for {len(y)} labels"
        raise invalid(caller, "y_prob", "as long as `y`", got, hint=hint)
    if len(y) == 0:
        raise invalid(caller, "y", "non-empty", "0 rows", hint="pass at least one row.")
    weight = check_weight(sample_weight, len(y), caller=caller)
    if weight is not None and weight_type == "importance":
        weight = tame_weights(weight)
    n_classes = values.shape[1] if values.ndim == 2 else 2
    codes, classes = encode_labels(y, n_classes=n_classes, labels=labels, caller=caller)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        codes, values, weight = codes[kept], values[kept], weight[kept]
    return ScoredRows(
        y=codes, scores=values, weight=weight, weight_type=weight_type, classes=classes
    )
