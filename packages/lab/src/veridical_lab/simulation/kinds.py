"""Kinds of drift, and the sources whose predictions and truth they change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from veridical._core.data.randomness import check_rng
from veridical._core.data.validation import check_level, is_number
from veridical.exceptions import invalid
from veridical.simulation import GaussianMixtureTask
from veridical.simulation.core import Classifier, check_prior, predict
from veridical_lab.arrays import Array, FloatArray, IntArray

N_CHECKED = 4096  # rows drawn to see whether a prior belongs to its source


class KnownRows(Protocol):
    """Labels, reported and true probabilities."""

    @property
    def y(self) -> Array:
        """Labels, (n,)."""

    @property
    def y_prob(self) -> FloatArray:
        """What the classifier reports, (n, K) or (n,)."""

    @property
    def p_true(self) -> FloatArray:
        """What the labels were drawn from, like `y_prob`."""


class DriftSource(Protocol):
    """Draws rows with a known truth: a `FakeClassifier` or `TaskPredictions`."""

    def sample(self, n: int, *, rng: Any = None) -> KnownRows:
        """Draw rows."""


@dataclass(frozen=True, eq=False)
class PredictedSample:
    """Rows of a task with a classifier's answers.

    Attributes
    ----------
    y : (n,) labels
    y_prob : (n, K) what the classifier reports
    p_true : (n, K) true probabilities given the features
    """

    y: Array
    y_prob: FloatArray
    p_true: FloatArray


@dataclass(frozen=True, eq=False)
class TaskPredictions:
    """A classifier at work on a task, as a source of rows.

    Parameters
    ----------
    task : GaussianMixtureTask
        Draws features and labels.
    classifier : callable
        Features (n, d) to probabilities (n, K).

    Examples
    --------
    >>> task = GaussianMixtureTask([-1, 1], [1, 1], [0, 1])
    >>> rows = TaskPredictions(task, task.posterior).sample(3, rng=0)
    >>> bool((rows.y_prob == rows.p_true).all())
    True
    """

    task: GaussianMixtureTask
    classifier: Classifier

    @property
    def prior(self) -> FloatArray:
        """Probabilities of the classes."""
        return self.task.prior

    @property
    def labels(self) -> Array:
        """Labels in class order."""
        return self.task.labels

    def sample(self, n: int, *, rng: Any = None) -> PredictedSample:
        """Draw n independent rows."""
        drawn = self.task.sample(n, rng=rng)
        caller = type(self).__name__
        p = predict(self.classifier, drawn.x, self.task.n_classes, caller=caller)
        return PredictedSample(y=drawn.y, y_prob=p, p_true=drawn.posterior)


class Rows(NamedTuple):
    """Class indices, reported and true probabilities (n, K), and who is in the drifting group."""

    y: IntArray
    y_prob: FloatArray
    p_true: FloatArray
    group: Array

    def take(self, rows: Array) -> Rows:
        """Return some of the rows."""
        return Rows(self.y[rows], self.y_prob[rows], self.p_true[rows], self.group[rows])


def join(parts: list[Rows]) -> Rows:
    """Rows of several parts, one after the other."""
    return Rows(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class Draws:
    """A source in one shape: class indices and matrices, whatever it hands out."""

    source: DriftSource
    labels: Array
    prior: FloatArray | None
    one_column: bool  # hands out (n,), the probability of the second class

    def draw(self, n: int, rng: np.random.Generator) -> Rows:
        """Draw rows without drift."""
        drawn = self.source.sample(n, rng=rng)
        y = np.searchsorted(self.labels, drawn.y)
        return Rows(y, _matrix(drawn.y_prob), _matrix(drawn.p_true), np.ones(n, dtype=bool))


def check_source(source: Any, prior: Any, *, caller: str) -> Draws:
    """Return a source whose shape and, if it is given, prior are known."""
    if not callable(getattr(source, "sample", None)):
        hint = "pass `TaskPredictions(task, classifier)` or a fake classifier."
        raise invalid(caller, "source", "able to `sample`", type(source).__name__, hint=hint)
    rows = source.sample(N_CHECKED, rng=check_rng(0, caller=caller))
    missing = [name for name in ("y", "y_prob", "p_true") if not hasattr(rows, name)]
    if missing:
        hint = "a task alone predicts nothing: pass `TaskPredictions(task, classifier)`."
        got = f"rows without `{missing[0]}`"
        raise invalid(caller, "source", "one of known predictions", got, hint=hint)
    p = _matrix(rows.p_true)
    labels = np.asarray(getattr(source, "labels", np.arange(p.shape[1])))
    given = getattr(source, "prior", None) if prior is None else prior
    if given is not None:
        given = check_prior(given, p.shape[1], caller=caller)
        error = np.sqrt(p.var(axis=0) / len(p)) + 1e-9
        if (np.abs(p.mean(axis=0) - given) > 6 * error).any():
            hint = f"{N_CHECKED:,} rows have mean probabilities {p.mean(axis=0).round(3).tolist()}."
            raise invalid(caller, "prior", "that of the source", f"{given.tolist()}", hint=hint)
    return Draws(source, labels, given, np.ndim(rows.y_prob) == 1)


def _matrix(p: FloatArray) -> FloatArray:
    return np.column_stack([1 - p, p]) if p.ndim == 1 else p


class Drift(ABC):
    """A change of the law of rows, from none (intensity 0) to full (intensity 1)."""

    @abstractmethod
    def check(self, draws: Draws, *, caller: str) -> None:
        """Raise unless the drift fits the source."""

    @abstractmethod
    def draw(self, draws: Draws, n: int, intensity: float, rng: np.random.Generator) -> Rows:
        """Draw rows under the drift."""


@dataclass(frozen=True)
class PriorShift(Drift):
    r"""Classes in other proportions, each class as before: P(Y) changes, P(X | Y) does not.

    Parameters
    ----------
    prior : sequence of K floats
        Probabilities of the classes at full intensity; on the way the prior is
        :math:`\pi_\lambda = (1 - \lambda) \pi_0 + \lambda \pi_1`.

    Notes
    -----
    The classifier does not notice: its probabilities for a row stay. The true ones become

    .. math:: p'_k \propto p_k \, \pi_{\lambda k} / \pi_{0 k},

    exactly, by Bayes' rule, so a calibrated classifier becomes miscalibrated in a known way
    (Saerens et al. 2002, doi 10.1162/089976602753284446). Rows of the source are kept with
    probability proportional to the ratio of their class, which leaves each class as it was: exact
    for any source, at the cost of max ratio times as many rows.

    Examples
    --------
    >>> PriorShift((0.75, 0.25))
    PriorShift(prior=(0.75, 0.25))
    """

    prior: tuple[float, ...]

    def check(self, draws: Draws, *, caller: str) -> None:
        """Both priors must be known."""
        if draws.prior is None:
            hint = "the source does not tell its own; for a Dirichlet it is alpha / sum(alpha)."
            raise invalid(caller, "prior", "given for a prior shift", "None", hint=hint)
        check_prior(self.prior, len(draws.prior), caller=type(self).__name__)

    def draw(self, draws: Draws, n: int, intensity: float, rng: np.random.Generator) -> Rows:
        """Keep rows by their class until there are n, and update what is true of them."""
        before = cast("FloatArray", draws.prior)  # `check` refuses a source without
        target = (1 - intensity) * before + intensity * np.asarray(self.prior)
        ratio = target / before
        chance = ratio / ratio.max()
        parts: list[Rows] = []
        missing = n
        while missing > 0:
            rows = draws.draw(n, rng)
            kept = np.flatnonzero(rng.random(n) < chance[rows.y])[:missing]
            parts.append(rows.take(kept))
            missing -= len(kept)
        rows = join(parts)
        odds = rows.p_true * ratio
        truth = odds / odds.sum(axis=1, keepdims=True)
        return rows._replace(p_true=truth)


@dataclass(frozen=True)
class TemperatureDrift(Drift):
    r"""A classifier that grows over- or under-confident; the rows themselves stay as they were.

    Parameters
    ----------
    temperature : float > 0
        Temperature that temperature scaling would need to undo the drift at full intensity: above
        1 for over-confidence, below for under-confidence. On the way it is
        :math:`t_\lambda = 1 + \lambda (t - 1)`.

    Notes
    -----
    Reported probabilities become :math:`c_k^{t_\lambda} / \sum_j c_j^{t_\lambda}`, that is, logits
    are multiplied by :math:`t_\lambda`. True probabilities do not change.

    Examples
    --------
    >>> TemperatureDrift(1.5)
    TemperatureDrift(temperature=1.5)
    """

    temperature: float

    def __post_init__(self) -> None:
        if not (is_number(self.temperature) and self.temperature > 0):
            hint, got = "1.5 makes a model over-confident.", repr(self.temperature)
            raise invalid(type(self).__name__, "temperature", "a positive number", got, hint=hint)

    def check(self, draws: Draws, *, caller: str) -> None:
        """Fits every source."""

    def draw(self, draws: Draws, n: int, intensity: float, rng: np.random.Generator) -> Rows:
        """Draw rows and sharpen what is reported of them."""
        rows = draws.draw(n, rng)
        reported = _sharpen(rows.y_prob, 1 + intensity * (self.temperature - 1))
        return rows._replace(y_prob=reported)


@dataclass(frozen=True)
class GroupDrift(Drift):
    """A drift of one group of rows only; figures over all rows dilute it.

    Parameters
    ----------
    drift : Drift
        What happens to the group.
    share : float in (0, 1)
        Probability that a row belongs to the group, before and during the drift.

    Examples
    --------
    >>> GroupDrift(TemperatureDrift(2.0), 0.25)
    GroupDrift(drift=TemperatureDrift(temperature=2.0), share=0.25)
    """

    drift: Drift
    share: float

    def __post_init__(self) -> None:
        caller = type(self).__name__
        check_level(caller, self.share, "share")
        if not isinstance(self.drift, Drift) or isinstance(self.drift, GroupDrift):
            hint = "pass a drift such as `TemperatureDrift(1.5)`."
            raise invalid(caller, "drift", "a drift of rows", repr(self.drift), hint=hint)

    def check(self, draws: Draws, *, caller: str) -> None:
        """Fits what the drift of the group fits."""
        self.drift.check(draws, caller=caller)

    def draw(self, draws: Draws, n: int, intensity: float, rng: np.random.Generator) -> Rows:
        """Draw the group under the drift, the others without."""
        inside = rng.random(n) < self.share
        both = join([draws.draw(n, rng), self.drift.draw(draws, n, intensity, rng)])
        rows = both.take(np.where(inside, np.arange(n) + n, np.arange(n)))
        return rows._replace(group=inside)


def _sharpen(p: FloatArray, temperature: float) -> FloatArray:
    """Powers of probabilities, normalised; relative to the largest, so that none vanishes."""
    powers = (p / p.max(axis=1, keepdims=True)) ** temperature
    return powers / powers.sum(axis=1, keepdims=True)
