"""Figures that are known and not estimated: of fake classifiers, and of tasks with a truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical.results.base import Result


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


@dataclass(frozen=True, kw_only=True)
class BayesFigures(Result):
    """What the true posterior itself scores: no classifier does better on average.

    Attributes
    ----------
    accuracy : share of rows whose most probable class is right
    brier : mean Brier score, of one probability for two classes and summed over more
    log_loss : mean logarithmic loss in nats
    accuracy_error, brier_error, log_loss_error : standard errors of Monte Carlo; for quadrature
        the change when the number of nodes was halved
    method : "quadrature" or "monte carlo"
    n_nodes : nodes or draws

    Examples
    --------
    >>> print(BayesFigures(accuracy=0.75, brier=0.1875, log_loss=0.5, accuracy_error=0.0,
    ...     brier_error=0.0, log_loss_error=0.0, method="quadrature", n_nodes=1024))
    Bayes accuracy 0.7500, Brier 0.1875, log loss 0.5000 (quadrature, 1,024 nodes)
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("method",)

    accuracy: float
    brier: float
    log_loss: float
    accuracy_error: float
    brier_error: float
    log_loss_error: float
    method: str
    n_nodes: int

    def __str__(self) -> str:
        count = "nodes" if self.method == "quadrature" else "draws"
        return (
            f"Bayes accuracy {self.accuracy:.4f}, Brier {self.brier:.4f}, log loss"
            f" {self.log_loss:.4f} ({self.method}, {self.n_nodes:,} {count})"
        )
