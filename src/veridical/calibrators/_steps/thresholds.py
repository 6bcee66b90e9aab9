"""Maps that are constant between edges."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from veridical._core.data.schema import ANY, Fields, Numbers
from veridical._core.formula import Nodes, step
from veridical._core.numeric.bisection import last_within
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import BinaryCalibrator
from veridical.calibrators._base.nodes import outputs_from_positive, positive_value
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._base.words import share
from veridical.calibrators._steps.pieces import check_laplace, steps


@dataclass(kw_only=True, eq=False, repr=False)
class StepCalibrator(BinaryCalibrator):
    """A map that is constant between edges; imagined rows of each class keep it off 0 and 1."""

    _fitted = Fields(
        edges_=Numbers("m", low=-ANY, high=ANY, increasing=True),
        values_=Numbers("m+1", low=0, high=1),
    )

    laplace: float = 1.0
    edges_: FloatArray = field(init=False, repr=False, compare=False)
    values_: FloatArray = field(init=False, repr=False, compare=False)

    @property
    def _bins_probabilities(self) -> bool:
        """Whether edges are probabilities, whatever the input is."""
        return False

    def _check_parameters(self) -> None:
        check_laplace(type(self).__name__, self.laplace)

    def _binned(self, scores: BinaryScores) -> FloatArray:
        return scores.p if self._bins_probabilities else scores.value

    def _map(self, scores: BinaryScores) -> FloatArray:
        return steps(self.edges_, self.values_, self._binned(scores))

    def _formula(self, inputs: Nodes) -> Nodes:
        from scipy.special import expit

        edges = self.edges_
        if self._bins_probabilities and self.input != "probability":
            edges = last_within(lambda z: np.asarray(expit(z)), edges, -1e308, 1e308)
        return outputs_from_positive(self, step(positive_value(self, inputs), edges, self.values_))

    def _in_words(self) -> str:
        low, high = share(float(self.values_.min())), share(float(self.values_.max()))
        if len(self.values_) == 1:
            return f"Says {low} whatever the score."
        n = len(self.values_)
        return f"Is constant on each of {n:,} intervals, with values from {low} to {high}."
