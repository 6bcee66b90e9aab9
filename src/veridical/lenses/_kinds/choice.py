"""Which lens a user means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from veridical._core.sample import BinarySample, Sample
from veridical.exceptions import unknown_option
from veridical.lenses._kinds.base import CustomLens, Lens
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
    return default_lens(sample) if lens is None else named_lens(lens, caller=caller)


def named_lens(lens: Any, *, caller: str) -> Lens:
    """Return the lens meant by a name, an object or a callable, before any data are known."""
    if isinstance(lens, Lens):
        return lens
    if isinstance(lens, str) and lens in _BY_NAME:
        return _BY_NAME[lens]()
    if callable(lens) and not isinstance(lens, type):
        return CustomLens(lens)
    raise unknown_option(caller, "lens", lens, _BY_NAME)
