"""From raw data to the problem a lens induces, in one step."""

from __future__ import annotations

from typing import Any, NamedTuple

from veridical._core.sample import MulticlassSample, Sample
from veridical._core.typing import ArrayLike, WeightType
from veridical._core.validation import check_sample
from veridical.lenses._base import Lens, Problem
from veridical.lenses._choice import resolve_lens
from veridical.lenses._several import Canonical


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
