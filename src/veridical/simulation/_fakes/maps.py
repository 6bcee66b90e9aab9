"""Maps of the simplex to itself: from the true probability vector to the reported one.

One convention throughout: the truth p is drawn, the label is drawn from p, and c = h(p) is
reported. A map h that keeps the largest component in its place changes calibration and leaves
accuracy as it was. Maps work on log p, because probabilities of sharp classifiers underflow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veridical._core.data.validation import check_probabilities, float_array, is_number
from veridical._core.typing import ArrayLike, FloatArray
from veridical.exceptions import invalid


class SimplexMap(ABC):
    """Base of the maps: called with rows of probabilities, answers with rows of probabilities.

    Attributes
    ----------
    preserves_argmax : bool
        Whether the largest component is the largest after the map too, for every row.
    injective : bool
        Whether the reported vector tells the true one, so that P(Y = k | c) = p_k.
    """

    preserves_argmax: bool
    injective: bool

    def __call__(self, p: ArrayLike) -> FloatArray:
        """Reported rows for true rows of shape (n_samples, n_classes)."""
        caller = type(self).__name__
        rows = check_probabilities(
            float_array(p, caller=caller, param="p"), caller=caller, param="p"
        )
        if rows.ndim != 2:
            hint = "pass one column per class: `np.column_stack([1 - p, p])` for two classes."
            raise invalid(caller, "p", "of shape (n, K)", f"shape {rows.shape}", hint=hint)
        with np.errstate(divide="ignore"):
            return self.from_log(np.log(rows))

    @abstractmethod
    def from_log(self, log_p: FloatArray) -> FloatArray:
        """Reported rows for logarithms of true rows (minus infinity for zero); not checked."""


@dataclass(frozen=True)
class PowerMap(SimplexMap):
    r"""Same power of every component, then renormalised: c_k = p_k^b / sum_j p_j^b.

    An exponent above 1 is over-confident on every row, below 1 under-confident, because
    1 / max c = sum_j (p_j / max p)^b falls as b grows. It is temperature scaling with T = 1/b.

    Parameters
    ----------
    exponent : float
        Positive.

    Examples
    --------
    >>> PowerMap(2.0)([[0.75, 0.25]]).round(6).tolist()
    [[0.9, 0.1]]
    """

    exponent: float = 1.0
    preserves_argmax = True
    injective = True

    def __post_init__(self) -> None:
        _check_positive("PowerMap", "exponent", self.exponent)

    def from_log(self, log_p: FloatArray) -> FloatArray:
        """Reported rows for logarithms of true rows; not checked."""
        return _softmax(self.exponent * log_p)


class IdentityMap(PowerMap):
    """Reports the truth: every calibration error is zero.

    Examples
    --------
    >>> IdentityMap()([[0.75, 0.25]]).tolist()
    [[0.75, 0.25]]
    """

    def __init__(self) -> None:
        super().__init__(1.0)

    def from_log(self, log_p: FloatArray) -> FloatArray:
        """True rows from their logarithms; not checked."""
        return np.exp(log_p)

    def __repr__(self) -> str:
        return "IdentityMap()"


class TemperatureMap(PowerMap):
    """Logits divided by a temperature: c = softmax(log p / T), the inverse of temperature scaling.

    T below 1 makes the fake classifier over-confident, above 1 under-confident (003 section 5.1).
    Some software multiplies the logits by what it calls the temperature; here they are divided.

    Parameters
    ----------
    temperature : float
        Positive.

    Examples
    --------
    >>> TemperatureMap(0.5)([[0.75, 0.25]]).round(6).tolist()
    [[0.9, 0.1]]
    """

    def __init__(self, temperature: float) -> None:
        _check_positive("TemperatureMap", "temperature", temperature)
        super().__init__(1 / temperature)

    @property
    def temperature(self) -> float:
        """T, one over the exponent of the power map."""
        return 1 / self.exponent

    def __repr__(self) -> str:
        return f"TemperatureMap({self.temperature!r})"


@dataclass(frozen=True)
class ClassPowerMap(SimplexMap):
    """A power for each class, then renormalised: c_k proportional to p_k^b_k.

    Over-confident for some classes and under-confident for others; the largest component may move,
    so accuracy may fall below that of the truth.

    Parameters
    ----------
    exponents : sequence of float
        Positive, one for each class.

    Examples
    --------
    >>> ClassPowerMap([1.0, 2.0])([[0.5, 0.5]]).round(4).tolist()  # 1/2 against 1/4
    [[0.6667, 0.3333]]
    """

    exponents: tuple[float, ...]
    injective = True

    def __init__(self, exponents: ArrayLike) -> None:
        values = float_array(exponents, caller="ClassPowerMap", param="exponents")
        if values.ndim != 1 or len(values) < 2 or not (np.isfinite(values) & (values > 0)).all():
            hint = "give one positive exponent for each class."
            got = repr(exponents)
            expected = "a list of two or more positive numbers"
            raise invalid("ClassPowerMap", "exponents", expected, got, hint=hint)
        object.__setattr__(self, "exponents", tuple(values.tolist()))

    @property
    def preserves_argmax(self) -> bool:  # type: ignore[override]
        """Only equal exponents are sure to keep the largest component in its place."""
        return len(set(self.exponents)) == 1

    def from_log(self, log_p: FloatArray) -> FloatArray:
        """Reported rows for logarithms of true rows; not checked."""
        if log_p.shape[1] != len(self.exponents):
            hint = "give one exponent for each class."
            got = f"{len(self.exponents)} exponents for {log_p.shape[1]} classes"
            expected = "one for each class"
            raise invalid("ClassPowerMap", "exponents", expected, got, hint=hint)
        return _softmax(np.array(self.exponents) * log_p)


@dataclass(frozen=True)
class TopComponentMap(SimplexMap):
    """A function of the largest component; the others share what is left in proportion.

    Parameters
    ----------
    function : callable
        Takes an array of largest components and returns as many numbers in [0, 1].
    preserves_argmax, injective : bool, default False
        What is known of the map. If the function never lowers its argument the largest component
        stays in its place; otherwise the second may overtake it, as from (0.4, 0.35, 0.25) with
        the square. Figures that need a property are refused without it.

    Examples
    --------
    >>> import numpy as np
    >>> TopComponentMap(np.sqrt)([[0.64, 0.36, 0.0]]).round(3).tolist()
    [[0.8, 0.2, 0.0]]
    """

    function: Callable[[FloatArray], FloatArray]
    preserves_argmax: bool = False
    injective: bool = False

    def from_log(self, log_p: FloatArray) -> FloatArray:
        """Reported rows for logarithms of true rows; not checked."""
        p = np.exp(log_p)
        rows, top = np.arange(len(p)), p.argmax(axis=1)
        largest = p[rows, top]
        mapped = np.asarray(self.function(largest), dtype=np.float64)
        if mapped.shape != largest.shape or not ((mapped >= 0) & (mapped <= 1)).all():
            hint = "it must be vectorised and map [1/K, 1] into [0, 1]."
            got = f"shape {mapped.shape} or values outside [0, 1]"
            expected = "a function from (n,) to n numbers in [0, 1]"
            raise invalid("TopComponentMap", "function", expected, got, hint=hint)
        p[rows, top] = 0.0
        rest = p.sum(axis=1, keepdims=True)
        # A row with all mass on one class has no proportions: the others share alike.
        share = np.divide(p, rest, out=np.full_like(p, 1 / (p.shape[1] - 1)), where=rest > 0)
        share[rows, top] = 0.0
        c = share * (1 - mapped)[:, None]
        c[rows, top] = mapped
        return c


@dataclass(frozen=True)
class CallableMap(SimplexMap):
    """Any function from rows of probabilities to rows of probabilities.

    Parameters
    ----------
    function : callable
        Takes an (n, K) array of probabilities and returns another one; its rows are checked.
    preserves_argmax, injective : bool, default False
        What is known of the function; figures that need a property are refused without it.

    Examples
    --------
    >>> CallableMap(lambda p: 0.5 * p + 0.25)([[0.9, 0.1]]).round(3).tolist()
    [[0.7, 0.3]]
    """

    function: Callable[[FloatArray], FloatArray]
    preserves_argmax: bool = False
    injective: bool = False

    def from_log(self, log_p: FloatArray) -> FloatArray:
        """Reported rows for logarithms of true rows; the answer of the function is checked."""
        c = np.asarray(self.function(np.exp(log_p)), dtype=np.float64)
        if c.shape != log_p.shape:
            hint = "it must return one row of probabilities for each row it is given."
            got = f"shape {c.shape} for {log_p.shape}"
            raise invalid("CallableMap", "function", "one that keeps the shape", got, hint=hint)
        return check_probabilities(c, caller="CallableMap", param="function")


def _check_positive(caller: str, param: str, value: object) -> None:
    if not (is_number(value) and value > 0):  # type: ignore[operator]
        hint = "1 leaves probabilities as they are."
        raise invalid(caller, param, "a positive number", repr(value), hint=hint)


def _softmax(logits: FloatArray) -> FloatArray:
    c = np.exp(logits - logits.max(axis=1, keepdims=True))
    return c / c.sum(axis=1, keepdims=True)
