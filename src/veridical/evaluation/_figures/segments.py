"""The search over segments of the rows of an evaluation."""

from __future__ import annotations

from veridical.evaluation._data.source import SampleSource, Source
from veridical.results import SegmentAudit


def segments_of(
    source: Source,
    *,
    confidence_level: float,
    n_resamples: int,
    seed: int,
    min_rows: int | None = None,
    caller: str,
) -> SegmentAudit | None:
    """Search all segments of a source that has features; None if it has none.

    As far as `audit_segments` goes by default; of whole vectors, the confidence is asked.
    """
    if not isinstance(source, SampleSource) or source.features is None:
        return None
    from veridical.inference.core import audit_of_rows, check_search

    lens = source.binary_lens if source.kind == "vector" else source.lens
    asked = {"n_resamples": n_resamples or None, "min_rows": min_rows}
    known = {name: value for name, value in asked.items() if value is not None}
    options = check_search(confidence_level=confidence_level, rng=seed, caller=caller, **known)
    return audit_of_rows(
        source.sample, lens, source.features, options, named=source.named, caller=caller
    )
