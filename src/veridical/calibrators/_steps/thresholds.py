"""Maps that are constant between edges, and edges carried from one scale to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from veridical._core.data.schema import ANY, Fields, Numbers
from veridical._core.formula import Nodes, step
from veridical._core.typing import FloatArray
from veridical.calibrators._base.bases import BinaryCalibrator
from veridical.calibrators._base.nodes import outputs_from_positive, positive_value
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._steps.pieces import check_laplace, steps

_SIGN = np.int64(-(2**63))
_STEPS = 64  # halvings of the 2^64 floating-point numbers


def last_within(
    function: Callable[[FloatArray], FloatArray],
    levels: FloatArray,
    low: float,
    high: float,
) -> FloatArray:
    """Largest number x in [low, high] with function(x) <= level, for each level.

    Steps that are taken on the scale of function(x) can then be taken on that of x, by comparison
    alone: an engine whose logarithm differs in the last bit still finds the same interval. The
    function must not decrease; where function(low) is above the level, `low` is returned.
    """
    below = np.full(len(levels), _key(np.array([low]))[0])
    above = np.full(len(levels), _key(np.array([high]))[0])
    inside = function(_number(above)) <= levels
    below[inside] = above[inside]
    for _ in range(_STEPS):
        middle = (below >> 1) + (above >> 1) + (below & above & 1)
        kept = function(_number(middle)) <= levels
        below, above = np.where(kept, middle, below), np.where(kept, above, middle)
    return _number(below)


def _key(x: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Integers in the order of the numbers, without gaps."""
    bits = x.astype(np.float64).view(np.int64)
    return np.where(bits < 0, _SIGN - bits, bits)


def _number(key: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> FloatArray:
    return np.where(key < 0, _SIGN - key, key).astype(np.int64).view(np.float64)


@dataclass(kw_only=True, eq=False, repr=False)
class StepCalibrator(BinaryCalibrator):
    """A map that is constant between edges; imagined rows of each class keep it off 0 and 1."""

    _fitted = Fields(
        edges_=Numbers("m", low=-ANY, high=ANY, increasing=True),
        values_=Numbers("m+1", low=0, high=1),
    )

    laplace: float = 1.0
    edges_: FloatArray = field(init=False)
    values_: FloatArray = field(init=False)

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
