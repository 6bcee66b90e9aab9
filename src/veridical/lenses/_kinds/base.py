"""What a lens is, and the kinds of problem it can induce."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from veridical._core.data.validation import check_sample
from veridical._core.sample import BinarySample, MulticlassSample, Origin, Sample, one_hot
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.exceptions import invalid


@dataclass(frozen=True, slots=True)
class ClasswiseProblem:
    """K one-vs-rest problems that share their rows."""

    sample: MulticlassSample

    @property
    def n_problems(self) -> int:
        """Number of classes, each a problem of its own."""
        return len(self.sample.classes)

    def problem(self, index: int) -> BinarySample:
        """Return the one-vs-rest problem of one class."""
        return one_versus_rest(self.sample, index)


Problem = BinarySample | MulticlassSample | ClasswiseProblem


class Lens(ABC):
    """Maps outcomes and predictions to an induced problem (z, q).

    Calling a lens on arrays shows the induced problem; estimators take the lens itself. To write
    your own, pass any callable ``(y, p) -> (z, q)`` where a lens is accepted: `y` are class
    indices, `p` the (n, K) matrix, `z` the induced outcomes (0/1 or indices), `q` the induced
    probabilities of shape (n,) or (n, m).
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name shown beside every figure."""

    @abstractmethod
    def induce(self, sample: Sample) -> Problem:
        """Return the induced problem of a checked sample."""

    def __call__(self, y: ArrayLike, p: ArrayLike) -> tuple[Array, FloatArray]:
        """Return induced outcomes and probabilities for raw arrays."""
        problem = self.induce(check_sample(y, p, caller=f"lens {self.name}"))
        if isinstance(problem, ClasswiseProblem):
            return one_hot(problem.sample), problem.sample.p
        return problem.y, problem.p


@dataclass(frozen=True)
class CustomLens(Lens):
    """A user's function as a lens; what it returns is checked like any user input."""

    function: Callable[[Array, FloatArray], tuple[Any, Any]]

    @property
    def name(self) -> str:
        """The function's `name` attribute, or its own name."""
        own = getattr(self.function, "name", None) or getattr(self.function, "__name__", None)
        return str(own or type(self.function).__name__)

    def induce(self, sample: Sample) -> Problem:
        """Apply the function to class indices and the probability matrix."""
        caller = f"lens {self.name}"
        z, q = self.function(sample.index, sample.matrix)
        induced = check_sample(z, q, caller=caller)
        known = {"weights": sample.weight, "groups": sample.clusters}
        for name, values in known.items():
            if values is not None and induced.n != sample.n:
                hint = f"return as many rows as came in, or leave the {name} out."
                got = f"{induced.n} rows for {sample.n} {name}"
                raise invalid(caller, "z", f"as long as the {name}", got, hint=hint)
        return replace(induced, **about_rows(sample))


def as_multiclass(sample: Sample) -> MulticlassSample:
    """View a binary sample as one with two columns."""
    if isinstance(sample, MulticlassSample):
        return sample
    return MulticlassSample(
        y=sample.index, p=sample.matrix, classes=sample.columns, **about_rows(sample)
    )


def about_rows(sample: Sample) -> dict[str, Any]:
    """Weights and clusters of a sample, for another one of the same rows."""
    return {
        "weight": sample.weight,
        "weight_type": sample.weight_type,
        "clusters": sample.clusters,
        "strata": sample.strata,
    }


def one_versus_rest(sample: MulticlassSample, index: int) -> BinarySample:
    """Did class `index` occur, and how probable was it said to be?"""
    return BinarySample(
        y=(sample.y == index).view(np.uint8),
        p=np.ascontiguousarray(sample.p[:, index]),
        classes=("rest", sample.classes[index]),
        origin=origin_of(sample, np.broadcast_to(np.intp(index), sample.n)),
        **about_rows(sample),
    )


def origin_of(sample: MulticlassSample, event: IntArray | None = None) -> Origin | None:
    """Rows that are asked about a class, by default the most probable; None without weights."""
    if sample.weight is None or sample.weight_type != "importance":
        return None
    return Origin(sample, sample.p.argmax(axis=1) if event is None else event)
