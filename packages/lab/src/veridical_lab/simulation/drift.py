"""Streams of predictions whose calibration changes in a known way, with labels that come late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_option, is_integer, is_number
from veridical.exceptions import invalid
from veridical.simulation.core import check_rows
from veridical_lab.arrays import Array, BoolArray, FloatArray, IntArray
from veridical_lab.simulation.kinds import Drift, DriftSource, check_source

KINDS = ("fixed", "exponential", "geometric")


@dataclass(frozen=True)
class LabelDelay:
    """How long after its prediction the label of a row arrives, independently of all else.

    Parameters
    ----------
    mean : float >= 0, default 0
        Mean delay of the labels that arrive; the unit of time is one batch.
    kind : {"fixed", "exponential", "geometric"}, default "fixed"
        Always the mean; exponential; or a whole number of batches from 0 on.
    never : float in [0, 1), default 0
        Share of labels that never arrive.

    Examples
    --------
    >>> LabelDelay(2.5).draw(2, np.random.default_rng(0))
    array([2.5, 2.5])
    """

    mean: float = 0.0
    kind: str = "fixed"
    never: float = 0.0

    def __post_init__(self) -> None:
        caller = type(self).__name__
        check_option(caller, "kind", self.kind, KINDS)
        if not (is_number(self.mean) and self.mean >= 0):
            hint = "give a mean delay in batches."
            raise invalid(caller, "mean", "zero or more", repr(self.mean), hint=hint)
        if not (is_number(self.never) and 0 <= self.never < 1):
            hint = "give the share of labels that never arrive."
            raise invalid(caller, "never", "in [0, 1)", repr(self.never), hint=hint)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Delays of n rows; infinite for labels that never arrive."""
        if self.kind == "fixed":
            delay = np.full(n, float(self.mean))
        elif self.kind == "exponential":
            delay = rng.exponential(self.mean, n)
        else:
            delay = rng.geometric(1 / (1 + self.mean), n) - 1.0
        return np.where(rng.random(n) < self.never, np.inf, delay)


@dataclass(frozen=True, eq=False)
class DriftBatch:
    """Rows of one unit of time.

    Attributes
    ----------
    index : number of the batch, from 0
    intensity : how much of the drift there is, 0 to 1
    id : (n,) numbers of the rows in the whole stream
    time : (n,) when they were predicted, evenly between `index` and `index` + 1
    label_time : (n,) when their labels arrive; infinite for never
    y_true : (n,) labels
    y_prob : what is reported, of the shape the source hands out
    p_true : true probabilities under the drift, like `y_prob`
    group : (n,) whether the drift concerns the row (all rows unless it is a `GroupDrift`)
    """

    index: int
    intensity: float
    id: IntArray
    time: FloatArray
    label_time: FloatArray
    y_true: Array
    y_prob: FloatArray
    p_true: FloatArray
    group: BoolArray

    def __len__(self) -> int:
        return len(self.y_true)

    def known(self, at: float) -> BoolArray:
        """Which labels have arrived by a time."""
        return self.label_time <= at


class DriftStream:
    r"""Batches of predictions that are stationary until a drift sets in.

    Parameters
    ----------
    source : TaskPredictions, FakeClassifier or the like
        Draws rows without drift: `source.sample(n, rng=...)` with `y`, `y_prob` and `p_true`.
    drift : Drift
        `PriorShift`, `TemperatureDrift` or `GroupDrift` of one of them.
    n_batches, batch_size : int, default 20 and 500
        Rows come in so many batches of so many; one batch is the unit of time.
    start : float, default 10
        When the drift sets in.
    until : float, optional
        When it is complete; in between it grows evenly. Default: `start`, a sudden drift.
    delay : LabelDelay, optional
        When labels arrive. Default: at once.
    prior : sequence of K floats, optional
        Probabilities of the classes in the source, if it does not tell (`source.prior`); only a
        prior shift needs them. They are checked against rows of the source.
    rng : int, Generator or None
        Which stream. It is fixed when the object is made.

    Notes
    -----
    Batch b has intensity :math:`\min(1, \max(0, (b - \mathrm{start}) / (\mathrm{until} -
    \mathrm{start})))`, constant within the batch, and 1 from `until` on. Every batch has random
    numbers of its own, so batches do not depend on how they are iterated; delays have others, so
    they leave the rows alone; and before `start` streams of one seed that differ in `start` or
    `until` are equal.

    Examples
    --------
    >>> from veridical_lab.simulation import TemperatureDrift
    >>> from veridical_lab.simulation import TaskPredictions
    >>> from veridical.simulation import GaussianMixtureTask
    >>> task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    >>> source = TaskPredictions(task, task.posterior)
    >>> stream = DriftStream(source, TemperatureDrift(1.5), n_batches=5, start=1, until=3, rng=0)
    >>> [batch.intensity for batch in stream]
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        source: DriftSource,
        drift: Any,
        *,
        n_batches: int = 20,
        batch_size: int = 500,
        start: float = 10,
        until: float | None = None,
        delay: Any = None,
        prior: Any = None,
        rng: Any = None,
    ) -> None:
        caller = type(self).__name__
        if not isinstance(drift, Drift):
            hint = "pass a drift such as `TemperatureDrift(1.5)`."
            raise invalid(caller, "drift", "a drift", repr(drift), hint=hint)
        if delay is not None and not isinstance(delay, LabelDelay):
            hint = "pass `LabelDelay(mean)`."
            raise invalid(caller, "delay", "a label delay", repr(delay), hint=hint)
        until = start if until is None else until
        if not (is_number(start) and is_number(until) and start <= until):
            hint = "times count batches; give a drift its start and its end."
            got = f"start={start!r}, until={until!r}"
            raise invalid(caller, "until", "a number from `start` on", got, hint=hint)
        self.n_batches = check_rows(n_batches, caller=caller, param="n_batches")
        self.batch_size = check_rows(batch_size, caller=caller, param="batch_size")
        self.start, self.until = float(start), float(until)
        self.drift: Drift = drift
        self.delay = LabelDelay() if delay is None else delay
        self._draws = check_source(source, prior, caller=caller)
        drift.check(self._draws, caller=caller)
        self._entropy = int(check_rng(rng, caller=caller).integers(2**63))

    @property
    def labels(self) -> Array:
        """Labels in class order."""
        return self._draws.labels

    def __len__(self) -> int:
        return self.n_batches

    def __iter__(self) -> Iterator[DriftBatch]:
        for index in range(self.n_batches):
            yield self.batch(index)

    def intensity(self, index: int) -> float:
        """How much of the drift a batch has, 0 to 1."""
        if index >= self.until:
            return 1.0
        if index <= self.start:
            return 0.0
        return (index - self.start) / (self.until - self.start)

    def batch(self, index: int) -> DriftBatch:
        """Any batch, whether or not others were drawn before."""
        if not (is_integer(index) and 0 <= index < self.n_batches):
            hint = "batches are numbered from 0."
            expected = f"an integer from 0 to {self.n_batches - 1}"
            raise invalid("batch", "index", expected, repr(index), hint=hint)
        index, n = int(index), self.batch_size
        rows_rng, delay_rng = (
            np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=(index, part)))
            for part in range(2)
        )
        intensity = self.intensity(index)
        rows = self.drift.draw(self._draws, n, intensity, rows_rng)
        time = index + (np.arange(n) + 0.5) / n
        one = self._draws.one_column
        return DriftBatch(
            index=index,
            intensity=intensity,
            id=index * n + np.arange(n),
            time=time,
            label_time=time + self.delay.draw(n, delay_rng),
            y_true=self.labels[rows.y],
            y_prob=rows.y_prob[:, 1] if one else rows.y_prob,
            p_true=rows.p_true[:, 1] if one else rows.p_true,
            group=rows.group,
        )
