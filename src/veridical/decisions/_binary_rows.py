"""Rows of two classes for curves that need both."""

from __future__ import annotations

from typing import Any

from veridical._core.sample import BinarySample
from veridical._core.typing import ArrayLike, WeightType
from veridical.exceptions import invalid
from veridical.lenses import induce_problem


def check_binary(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    caller: str,
    lens: Any,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
    weight_type: WeightType,
) -> BinarySample:
    """Check raw data and return the one binary problem the lens induces."""
    seen = induce_problem(
        y_true,
        y_prob,
        caller=caller,
        lens=lens,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    if isinstance(seen.problem, BinarySample):
        return seen.problem
    hint = 'use lens="confidence" or `ClassSpecific(label)`.'
    raise invalid(caller, "lens", "one that induces one binary problem", seen.lens.name, hint=hint)


def check_two_classes(y_true: ArrayLike, y_prob: ArrayLike, **border: Any) -> BinarySample:
    """The same, and both classes occur."""
    sample = check_binary(y_true, y_prob, **border)
    if sample.y.min() == sample.y.max():
        hint = "error rates of a class that did not occur are unknown."
        got = f"only {sample.classes[int(sample.y[0])]!r}"
        raise invalid(border["caller"], "y_true", "of two classes", got, hint=hint)
    return sample
