"""Cost of a model over all costs of errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import FloatArray
from veridical.results._curve import _Arrays
from veridical.results._roc_hull import RocHull

_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class CostCurve(_Arrays):
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

    def __str__(self) -> str:
        return (
            f"cost curve of area {self.area:.4f}, {self.envelope_area:.4f} at the best thresholds;"
            f" Brier score {self.brier:.4f} = {self.miscalibration:.4f} for thresholds that are"
            f" not the best + {self.refinement:.4f}; dearer than a constant decision over"
            f" {self.dearer_than_constant:.0%} of the probability cost (share of positives"
            f" {self.prior:.4f}, n={self.n_samples})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        names = ("probability_cost", "cost_share", "model", "envelope", "always_positive",
                 "always_negative", "loss", "envelope_loss")  # fmt: skip
        return {name: getattr(self, name).tolist() for name in names}
