"""A figure of a fake classifier, known and not estimated from rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical.results._base import Result


@dataclass(frozen=True, kw_only=True)
class ExactValue(Result):
    """Value of an expectation under a known distribution, and how far it may be off.

    Attributes
    ----------
    name : what it is, e.g. "ECE"
    value : the figure
    error : how far the truth may be from `value`: 0 for a closed form or a finite sum, the change
        from a coarser to the finer rule for a quadrature, and for Monte Carlo the half width of a
        95 % interval; conditional expectations add what half as many bins and noise would change
    method : "closed form", "finite sum", "quadrature" or "monte carlo"
    definition : the expectation in symbols; p is the true probability vector, c the reported one
    n_points : nodes or draws the figure was computed from, None for a closed form

    Examples
    --------
    >>> figure = ExactValue(name="accuracy", value=0.75, error=0.0, method="closed form",
    ...     definition="E[p_argmax(c)]", n_points=None)
    >>> print(figure)
    accuracy 0.750000 +- 0 (closed form; E[p_argmax(c)])
    >>> float(figure)
    0.75
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name", "method", "definition")

    name: str
    value: float
    error: float
    method: str
    definition: str
    n_points: int | None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        points = "" if self.n_points is None else f", {self.n_points:,} points"
        return (
            f"{self.name} {self.value:.6f} +- {self.error:.1g}"
            f" ({self.method}{points}; {self.definition})"
        )
