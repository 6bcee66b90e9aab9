"""Net benefit of a model over a range of thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.typing import BoolArray, FloatArray
from veridical.results._curve import _Arrays


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionCurve(_Arrays):
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

    def __str__(self) -> str:
        level = f"{100 * self.confidence_level:g} %"
        lines = [
            f"net benefit above treating all or none at {self._ranges(self.useful)};"
            f" beyond doubt ({level}, each by itself) at {self._ranges(self.surely_useful)}"
            f" (prevalence {self.prevalence:.4f}, n={self.n_samples})"
        ]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _ranges(self, where: BoolArray) -> str:
        """Runs of thresholds in words."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]])))
        pairs = [(self.threshold[a], self.threshold[b - 1]) for a, b in edges.reshape(-1, 2)]
        shown = [f"{a:.4g}" if a == b else f"{a:.4g} to {b:.4g}" for a, b in pairs]
        return ", ".join(shown) if shown else "no threshold"

    def _columns(self) -> dict[str, list[Any]]:
        names = ("threshold", "net_benefit", "low", "high", "treat_all", "advantage",
                 "advantage_low", "advantage_high", "avoided", "called")  # fmt: skip
        return {name: getattr(self, name).tolist() for name in names}
