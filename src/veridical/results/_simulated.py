"""Figures of a task whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical.results._base import Result


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
