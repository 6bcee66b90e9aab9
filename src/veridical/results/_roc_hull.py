"""The best operating points of a score, whatever the costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veridical._core.typing import FloatArray, IntArray
from veridical._core.validation import is_number
from veridical.exceptions import invalid
from veridical.results._curve import _Arrays


@dataclass(frozen=True, kw_only=True, eq=False)
class RocHull(_Arrays):
    """Vertices of the convex hull of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    threshold : say "positive" from this score on; infinite at (0, 0), where nothing is positive
    fpr, tpr : false and true positive rate of the vertex
    frequency : observed frequency of positives between a vertex and the next, in decreasing order:
        the values of the isotonic fit; one fewer than vertices
    prior : share of positives in the sample
    auc : area under the hull
    n_samples : rows it was computed from
    """

    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    frequency: FloatArray
    prior: float
    auc: float
    n_samples: int

    def __len__(self) -> int:
        return len(self.threshold)

    def best_threshold(
        self, *, cost_fp: float, cost_fn: float, prior: float | None = None
    ) -> float:
        """Score from which on to say "positive" so that the sample would have cost least.

        Parameters
        ----------
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative; not negative, not both 0.
        prior : float, optional
            Share of positives where the threshold is to be used; default that of the sample.

        Returns
        -------
        float
            Infinite if it is best never to say "positive"; of equally good ones the largest.

        Notes
        -----
        The vertex that a line of slope (1 - prior) cost_fp / (prior cost_fn) touches (Provost &
        Fawcett 2001, doi 10.1023/A:1007601015854, section 2). For a calibrated model it is near
        :func:`cost_threshold`, but it has to be found anew for each change of costs, on rows with
        outcomes; and its cost on these rows is too good for new ones.
        """
        return float(self.threshold[self._best(cost_fp, cost_fn, prior)])

    def least_cost(self, *, cost_fp: float, cost_fn: float, prior: float | None = None) -> float:
        """Mean cost a row at the best threshold."""
        at = self._best(cost_fp, cost_fn, prior)
        share = self.prior if prior is None else prior
        return float(share * cost_fn * (1 - self.tpr[at]) + (1 - share) * cost_fp * self.fpr[at])

    def _best(self, cost_fp: float, cost_fn: float, prior: float | None) -> IntArray:
        for name, value in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
            if not (is_number(value) and value >= 0):
                hint = "pass what one error of this kind costs."
                raise invalid("best_threshold", name, "a number of 0 or more", repr(value),
                              hint=hint)  # fmt: skip
        if cost_fp == cost_fn == 0:
            hint = "if errors cost nothing, any threshold will do."
            raise invalid("best_threshold", "cost_fp", "positive", "two zeros", hint=hint)
        share = self.prior if prior is None else prior
        if not (is_number(share) and 0 <= share <= 1):
            hint = "pass the share of positives."
            raise invalid("best_threshold", "prior", "in [0, 1]", repr(share), hint=hint)
        cost = share * cost_fn * (1 - self.tpr) + (1 - share) * cost_fp * self.fpr
        # Sums of rates that differ by rounding are tied; the first says "positive" least often.
        return (cost <= cost.min() + 1e-12 * max(cost_fp, cost_fn)).argmax()

    def __str__(self) -> str:
        return (
            f"ROC convex hull of {len(self)} vertices, area {self.auc:.4f}"
            f" (share of positives {self.prior:.4f}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {name: getattr(self, name).tolist() for name in ("threshold", "fpr", "tpr")}
