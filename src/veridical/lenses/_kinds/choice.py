"""Which lens a user means.

From raw data to the problem a lens induces, in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from veridical._core.data.validation import check_sample
from veridical._core.sample import BinarySample, MulticlassSample, Sample
from veridical._core.typing import ArrayLike, WeightType
from veridical.exceptions import unknown_option
from veridical.lenses._kinds.base import CustomLens, Lens, Problem
from veridical.lenses._kinds.one import Binary, Confidence, Pooled
from veridical.lenses._kinds.several import Canonical, Classwise

_BY_NAME: dict[str, Callable[[], Lens]] = {
    "binary": Binary,
    "confidence": Confidence,
    "classwise": Classwise,
    "canonical": Canonical,
    "pooled": Pooled,
}


def default_lens(sample: Sample) -> Lens:
    """Return `Binary` for two classes and `Confidence` for more, so a model has one answer."""
    return Binary() if isinstance(sample, BinarySample) else Confidence()


def resolve_lens(lens: Any, sample: Sample, *, caller: str) -> Lens:
    """Return the lens meant by a name, an object, a callable ``(y, p) -> (z, q)`` or None."""
    if lens is None:
        return default_lens(sample)
    if isinstance(lens, Lens):
        return lens
    if isinstance(lens, str) and lens in _BY_NAME:
        return _BY_NAME[lens]()
    if callable(lens) and not isinstance(lens, type):
        return CustomLens(lens)
    raise unknown_option(caller, "lens", lens, _BY_NAME)


class Induced(NamedTuple):
    """Checked data, the lens they are seen through, and the problem it induces."""

    sample: Sample
    lens: Lens
    problem: Problem


def induce_problem(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    caller: str,
    lens: Any,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
    weight_type: WeightType,
    whole: bool = False,
) -> Induced:
    """Check raw data on behalf of `caller` and look through the lens.

    With `whole` the default lens of several classes is the whole vector, not the confidence.
    """
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
        weight_type=weight_type,
    )
    if lens is None and whole and isinstance(sample, MulticlassSample):
        lens = Canonical()
    chosen = resolve_lens(lens, sample, caller=caller)
    return Induced(sample, chosen, chosen.induce(sample))
