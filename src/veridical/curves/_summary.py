"""The curve of a summary: one point per occupied bin."""

from __future__ import annotations

from veridical.curves._intervals import binomial_interval
from veridical.results import ReliabilityCurve
from veridical.summaries import Summary


def curve_from_summary(
    summary: Summary,
    *,
    lens: str,
    definition: str,
    interval: str | None,
    confidence_level: float,
) -> ReliabilityCurve:
    """Turn the first (usually only) problem of a summary into a reliability curve."""
    held = summary.occupied[0]
    edges = summary.partitions[0].edges
    padded = summary.sum_w.shape[1] - (len(edges) - 1)  # classes with fewer bins than others
    inner = held[: len(held) - padded] if padded else held
    predicted, observed = summary.mean_p[0, held], summary.mean_y[0, held]
    low = high = None
    if interval is not None:
        low, high = binomial_interval(
            observed, summary.size[0, held], method=interval, confidence_level=confidence_level
        )
    return ReliabilityCurve(
        lower=edges[:-1][inner],
        upper=edges[1:][inner],
        count=summary.count[0, held],
        weight=summary.sum_w[0, held],
        predicted=predicted,
        observed=observed,
        gap=observed - predicted,
        low=low,
        high=high,
        lens=lens,
        method="bins",
        definition=definition,
        interval=interval,
        confidence_level=None if interval is None else confidence_level,
        closed=summary.partitions[0].closed,
        n_samples=round(float(summary.count[0].sum())),
    )
