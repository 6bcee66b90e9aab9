"""Lenses a page offers, by names that are also shown."""

from __future__ import annotations

from veridical._core.sample import BinarySample, Sample
from veridical._core.validation import check_option
from veridical.lenses import Binary, Canonical, ClassSpecific, Classwise, Confidence, Lens
from veridical.studio._answers import CALLER

_MOST_CLASSES = 100  # more would make a list nobody reads
_CANONICAL_UP_TO = 10  # classes for which cells of whole vectors hold rows


def lens_choices(sample: Sample) -> list[tuple[str, Lens]]:
    """Names and lenses, the default first."""
    if isinstance(sample, BinarySample):
        return [("binary", Binary()), ("confidence", Confidence())]
    several: list[tuple[str, Lens]] = [("confidence", Confidence()), ("classwise", Classwise())]
    if len(sample.classes) <= _CANONICAL_UP_TO and sample.n <= 100_000:
        several.append(("canonical", Canonical()))
    classes = sample.classes[:_MOST_CLASSES]
    return [*several, *((f"class {label}", ClassSpecific(label)) for label in classes)]


def lens_of(sample: Sample, name: str | None) -> Lens:
    """The lens of that name; default the first."""
    choices = dict(lens_choices(sample))
    if not name:
        return next(iter(choices.values()))
    check_option(CALLER, "lens", name, choices)
    return choices[name]
