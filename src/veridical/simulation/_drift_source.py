"""Where drifting rows come from: anything that draws predictions together with their truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from veridical._core.randomness import check_rng
from veridical._core.typing import Array, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.simulation._gaussian import GaussianMixtureTask
from veridical.simulation._tasks import Classifier, check_prior, predict

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


class Source(Protocol):
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


@dataclass(frozen=True, eq=False)
class Rows:
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
    return Rows(
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.y_prob for part in parts]),
        np.concatenate([part.p_true for part in parts]),
        np.concatenate([part.group for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Draws:
    """A source in one shape: class indices and matrices, whatever it hands out."""

    source: Source
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
