"""A fake classifier whose truth is a set of given rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from veridical._core.typing import ArrayLike, FloatArray
from veridical._core.validation import check_probabilities, check_weight, float_array
from veridical.exceptions import invalid
from veridical.simulation._exact import Nodes
from veridical.simulation._fake import FakeClassifier, check_map
from veridical.simulation._simplex_maps import IdentityMap, SimplexMap


@dataclass(frozen=True, eq=False)
class EmpiricalFakeClassifier(FakeClassifier):
    """Fake classifier that takes given rows for the truth: p is one of them, y ~ p, c = map(p).

    With the calibrated outputs of a real classifier it has their joint distribution, whatever its
    shape, and any map perturbs it.

    Parameters
    ----------
    p_true : array-like of shape (n_rows, n_classes) or (n_rows,)
        Rows of probabilities, preferably after recalibration; one column is the probability of the
        second of two classes.
    map : SimplexMap, default identity
        From true to reported probabilities.
    sample_weight : array-like of shape (n_rows,), optional
        How often rows are drawn, in proportion; integer weight = repetition, zero = removal.

    Notes
    -----
    Figures are finite sums, without error. Rows that report the same value are pooled, so with
    rows all different the ECE is the mean of |p_argmax(c) - max c|: a population of n rows has no
    neighbours to average over, and its ECE is above that of the smooth law the rows came from.

    Examples
    --------
    >>> from veridical.simulation._simplex_maps import PowerMap
    >>> fake = EmpiricalFakeClassifier([[0.75, 0.25], [0.5, 0.5]], map=PowerMap(2))
    >>> fake.accuracy().value  # (3/4 + 1/2) / 2
    0.625
    >>> round(fake.expected_calibration_error().value, 6)  # (9/10 - 3/4) / 2
    0.075
    """

    p_true: FloatArray
    map: SimplexMap = field(default_factory=IdentityMap)
    sample_weight: ArrayLike | None = None

    def __post_init__(self) -> None:
        caller = "EmpiricalFakeClassifier"
        check_map(self.map, caller=caller)
        given = float_array(self.p_true, caller=caller, param="p_true")
        rows = check_probabilities(given, caller=caller, param="p_true").astype(np.float64)
        if len(rows) == 0:
            hint = "pass at least one row."
            raise invalid(caller, "p_true", "non-empty", "0 rows", hint=hint)
        weight = check_weight(self.sample_weight, len(rows), caller=caller)
        weight = np.ones(len(rows)) if weight is None else weight
        rows = np.column_stack([1 - rows, rows]) if rows.ndim == 1 else rows
        kept = weight > 0
        for name, value in (("p_true", rows[kept]), ("sample_weight", weight[kept])):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.p_true.shape[1]

    def draw_log_truth(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Logarithms of `n` of the rows, drawn with replacement."""
        nodes = self._population()
        return nodes.log_p[generator.choice(len(nodes.weight), size=n, p=nodes.weight)]

    def quadrature_rules(self) -> list[Nodes] | None:
        """All of the distribution: the rows and their shares."""
        return [self._population()]

    def _population(self) -> Nodes:
        with np.errstate(divide="ignore"):
            log_p = np.log(self.p_true)
        weight = np.asarray(self.sample_weight)
        return Nodes(log_p, weight / weight.sum())
