"""Reliability curves a reader can switch between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample
from veridical.curves.core import check_curve_options, curve_core
from veridical.evaluation.data import SampleSource, Source, SumsSource
from veridical.exceptions import InvalidInputError
from veridical.lenses import Binary, ClassSpecific, Confidence, Lens
from veridical.report._content.content import Variant
from veridical.results import ReliabilityCurve

_CALLER = "make_report"
MOST_CLASSES = 10  # with a curve of their own
_MOST_WITH_LIMITS = 100_000  # rows of an isotonic curve: beyond, its limits take long and are tiny
_MOST_ROWS = 200_000  # from which curves of single classes come from a sample of rows


def curve_variants(source: Source, *, n_bins: Any, level: float, seed: int) -> tuple[Variant, ...]:
    """Curves by lens and by method, the usual one first; counts are numbers of rows."""
    found = []
    for index, (words, lens) in enumerate(_lenses(source)):
        part = source
        if index > 0 and isinstance(source, SampleSource):
            part, _ = source.some_rows(_MOST_ROWS, seed)
        problem = part.through(lens)
        if problem is None:  # sums that were made without it
            continue
        for method, bins, options in _methods(problem, n_bins):
            try:
                checked = check_curve_options(
                    _CALLER, method=method, confidence_level=level, **options
                )
                curve = curve_core(problem, lens.name, checked, caller=_CALLER)
            except InvalidInputError:  # a smooth curve of one value, a band of importance weights
                continue
            if isinstance(part, SumsSource):
                curve = replace(curve, count=curve.weight, n_samples=part.n)
            found.append(Variant(**words, method=method, bins=bins, curve=thinned(curve)))
    return tuple(found)


def thinned(curve: ReliabilityCurve, most: int = 200) -> ReliabilityCurve:
    """The same curve with fewer points, where it has more than can be told apart on a page.

    Every k-th point is kept, the last one too; bins are never left out.
    """
    n = len(curve)
    if curve.method == "bins" or n <= most:
        return curve
    step = -(-n // most)
    at = np.unique(np.append(np.arange(0, n, step), n - 1))
    arrays = ("lower", "upper", "count", "weight", "predicted", "observed", "gap", "low", "high")
    fewer: dict[str, Any] = {}
    for name in arrays:
        values = getattr(curve, name)
        fewer[name] = None if values is None else values[at]
    return replace(curve, **fewer)


def _lenses(source: Source) -> Iterator[tuple[dict[str, str], Lens]]:
    if not source.has_classes:
        positive = short(source.classes[1])
        yield {"lens": "positive class", "label": positive}, Binary()
        yield {"lens": "confidence", "label": "most probable"}, Confidence()
        return
    yield {"lens": "confidence", "label": "most probable"}, Confidence()
    if len(source.classes) <= MOST_CLASSES:
        taken: dict[str, int] = {}
        for label in source.classes:
            name = short(label)
            taken[name] = taken.get(name, 0) + 1
            name += f" ({taken[name]})" if taken[name] > 1 else ""
            yield {"lens": "one class against the rest", "label": name}, ClassSpecific(label)


def _methods(problem: BinarySample, n_bins: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield "bins", f"{n_bins} of equal width", {"n_bins": n_bins}
    for other in (10, 30):
        if other != n_bins:
            yield "bins", f"{other} of equal width", {"n_bins": other}
    yield "bins", "15 of equal mass", {"strategy": "quantile"}
    counted = problem.weight is None or problem.weight_type == "frequency"
    limits = counted and problem.size <= _MOST_WITH_LIMITS
    yield "isotonic", "none", {"interval": "pointwise" if limits else None}
    yield "smooth", "none", {}


def short(label: Any, width: int = 40) -> str:
    """A label as text, cut where it would not fit."""
    text = str(label)
    return text if len(text) <= width else text[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
