"""Cost and net benefit of a model over all costs of errors, and its best operating points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.validation import is_number
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.results._forms.text import note_lines
from veridical.results.base import ArrayResult


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DecisionCurve(ArrayResult):
    """Net benefit against the threshold probability.

    Attributes
    ----------
    threshold : probability from which on to intervene
    net_benefit : of intervening by the model, in true positives a row
    low, high : confidence limits of `net_benefit`, at each threshold by itself
    treat_all : net benefit of intervening always; never intervening has 0
    advantage : net benefit over the better of the two, the one that is better in the sample
    advantage_low, advantage_high : its limits, from the differences of the rows
    avoided : interventions a row that the model spares, compared with intervening always, at no
        loss of true positives
    called : share of the rows at or above the threshold
    confidence_level : of the limits
    harm : cost of obtaining a prediction, already subtracted
    prevalence : share of positives the figures are for
    n_samples : rows they were computed from
    notes : statistical doubts in words
    """

    threshold: FloatArray
    net_benefit: FloatArray
    low: FloatArray
    high: FloatArray
    treat_all: FloatArray
    advantage: FloatArray
    advantage_low: FloatArray
    advantage_high: FloatArray
    avoided: FloatArray
    called: FloatArray
    confidence_level: float
    harm: float
    prevalence: float
    n_samples: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.threshold)

    @property
    def useful(self) -> BoolArray:
        """Where the model is better than intervening always or never."""
        return self.advantage > 0

    @property
    def surely_useful(self) -> BoolArray:
        """Where the lower limit of that advantage is above 0."""
        return self.advantage_low > 0

    def _text(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        lines = [
            f"net benefit above treating all or none at {self._ranges(self.useful)};"
            f" beyond doubt ({level}, each by itself) at {self._ranges(self.surely_useful)}"
            f" (prevalence {self.prevalence:.4f}, n={self.n_samples})"
        ]
        return "\n".join(lines + note_lines(self.notes, apart=False))

    def _ranges(self, where: BoolArray) -> str:
        """Runs of thresholds in words."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]])))
        pairs = [(self.threshold[a], self.threshold[b - 1]) for a, b in edges.reshape(-1, 2)]
        ranges = [f"{a:.4g}" if a == b else f"{a:.4g} to {b:.4g}" for a, b in pairs]
        return ", ".join(ranges) or "no threshold"

    def _columns(self) -> dict[str, list[Any]]:
        advantage = ("advantage", "advantage_low", "advantage_high")
        first = ("threshold", "net_benefit", "low", "high", "treat_all")
        return self._arrays(*first, *advantage, "avoided", "called")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RocHull(ArrayResult):
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
                got = repr(value)
                raise invalid("best_threshold", name, "a number of 0 or more", got, hint=hint)
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

    def _text(self) -> str:
        return (
            f"ROC convex hull of {len(self)} vertices, area {self.auc:.4f}"
            f" (share of positives {self.prior:.4f}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return self._arrays("threshold", "fpr", "tpr")


_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CostCurve(ArrayResult):
    """Normalised expected cost against the probability cost, at the corners of the curve.

    Attributes
    ----------
    probability_cost : share of positives in the costs at stake, PC(+), from 0 to 1; a position
        occurs twice where the model's curve jumps
    cost_share : share of a false positive in the cost of both errors, at the share of positives of
        the sample: the threshold the model uses there, from 1 to 0
    model : normalised expected cost of the model with that threshold
    envelope : that of the threshold that would have been best, the lower envelope of all
    scale : normalised costs times this are costs a row if those of both errors add up to 2
    area, envelope_area : areas under both over the probability cost
    brier, refinement : areas under both times `scale`, over the share of costs: the Brier score
        of the model, and what is left of it after isotonic recalibration
    hull : ROC convex hull; each vertex is a line of the envelope from `fpr` at 0 to 1 - `tpr` at 1
    prior : share of positives in the sample
    n_samples : rows it was computed from
    """

    probability_cost: FloatArray
    cost_share: FloatArray
    model: FloatArray
    envelope: FloatArray
    scale: FloatArray
    area: float
    envelope_area: float
    brier: float
    refinement: float
    hull: RocHull
    prior: float
    n_samples: int

    def __len__(self) -> int:
        return len(self.model)

    @property
    def miscalibration(self) -> float:
        """What the thresholds cost in excess of the best ones, averaged over the share of costs."""
        return self.brier - self.refinement

    @property
    def always_positive(self) -> FloatArray:
        """Normalised expected cost of always saying "positive"."""
        return 1 - self.probability_cost

    @property
    def always_negative(self) -> FloatArray:
        """Normalised expected cost of never saying "positive"."""
        return self.probability_cost

    @property
    def loss(self) -> FloatArray:
        """Brier curve: cost a row against `cost_share` if the costs of both errors add up to 2."""
        return self.model * self.scale

    @property
    def envelope_loss(self) -> FloatArray:
        """The same at the best thresholds."""
        return self.envelope * self.scale

    @property
    def dearer_than_constant(self) -> float:
        """Share of the probability cost over which deciding without the model costs less."""
        excess = self.model - np.minimum(self.always_positive, self.always_negative)
        excess[np.abs(excess) < _ROUNDING] = 0.0
        size = np.abs(excess[1:]) + np.abs(excess[:-1])
        above = np.maximum(excess[1:], 0) + np.maximum(excess[:-1], 0)
        # The part of a straight line that is above zero.
        part = above / np.where(size > 0, size, 1.0)
        return float(np.diff(self.probability_cost) @ part)

    def _text(self) -> str:
        return (
            f"cost curve of area {self.area:.4f}, {self.envelope_area:.4f} at the best thresholds;"
            f" Brier score {self.brier:.4f} = {self.miscalibration:.4f} for thresholds that are"
            f" not the best + {self.refinement:.4f}; dearer than a constant decision over"
            f" {self.dearer_than_constant:.0%} of the probability cost (share of positives"
            f" {self.prior:.4f}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        constant = ("always_positive", "always_negative")
        curves = ("probability_cost", "cost_share", "model", "envelope")
        return self._arrays(*curves, *constant, "loss", "envelope_loss")
