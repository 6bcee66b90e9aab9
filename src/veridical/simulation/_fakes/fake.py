"""Fake classifiers: probabilities and labels from a distribution, with known calibration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_integer
from veridical._core.data.randomness import check_rng
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.results import ExactValue
from veridical.simulation._fakes import exact
from veridical.simulation._fakes.exact import Meaning, Nodes
from veridical.simulation._fakes.maps import SimplexMap

ACCURACY = Meaning("accuracy", "E[p_argmax(c)]")
CONFIDENCE = Meaning("mean confidence", "E[max c]")
LOG_LOSS = Meaning("log loss", "E[-log c_Y]")
ECE = Meaning("ECE", "E|P(Y = argmax c | max c) - max c|")
CLASSWISE = Meaning("classwise ECE", "mean over k of E|P(Y = k | c_k) - c_k|")
CANONICAL = Meaning("canonical error", "E[total variation of P(Y | c) and c]")


@dataclass(frozen=True, eq=False)
class FakeSample:
    """Rows drawn from a fake classifier.

    Attributes
    ----------
    y : integer array of shape (n,)
        Labels, drawn from `p_true`; column indices 0..K-1.
    y_prob : array of shape (n, K), or (n,) for a binary fake classifier
        What the classifier reports.
    p_true : array of the shape of `y_prob`
        What the labels were drawn from.
    """

    y: IntArray
    y_prob: FloatArray
    p_true: FloatArray

    def __len__(self) -> int:
        return len(self.y)


class FakeClassifier(ABC):
    """Base of fake classifiers: true p from a distribution, y ~ p, reported c = map(p).

    A subclass says how p is drawn (`draw_log_truth`); sampling and exact figures follow. The label
    depends on the features only through p, so p is the truth and a map that keeps the largest
    component in its place leaves accuracy at E[max p] whatever it does to calibration (003
    sections 4 and 6).

    Attributes
    ----------
    map : SimplexMap
        From true to reported probabilities.
    n_classes : int
        Number of classes K.

    Notes
    -----
    The package kyle by the authors of 003 samples in this convention but evaluates exact figures
    in the reverse one (c drawn, P(y | c) = map(c)), so its figures contradict its samples: with
    the power 3 and two classes its samples have accuracy 0.75, its formula gives 0.8914.

    Exact figures need no rows: by quadrature where the subclass has a rule, else by `n_draws`
    draws of p (never of y) with an error; by default a million, fewer for more than 20 classes.
    Figures by draws are the same at every call unless `rng` says otherwise.
    """

    map: SimplexMap

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @abstractmethod
    def draw_log_truth(self, n: int, generator: np.random.Generator) -> FloatArray:
        """Logarithms of `n` true probability vectors, of shape (n, K)."""

    def draw_rows(self, n: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Logarithms of `n` true rows, and what is reported of them, of shape (n, K) each."""
        log_p = self.draw_log_truth(n, generator)
        return log_p, self.map.from_log(log_p)

    @property
    def n_pools(self) -> int | None:
        """Bins of equal mass that rows of a finite distribution are pooled in; None: not at all."""
        return None

    def quadrature_rules(self) -> list[Nodes] | None:
        """Coarse and fine nodes of the distribution of p, all of it if finite, or None."""
        return None

    def sample(self, n: int, *, rng: Any = None) -> FakeSample:
        """Draw rows.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : int, Generator or None
            Source of randomness.

        Returns
        -------
        FakeSample
            Labels, reported probabilities and true probabilities.
        """
        caller = f"{type(self).__name__}.sample"
        generator = check_rng(rng, caller=caller)
        log_p, c = self.draw_rows(check_size(n, caller=caller), generator)
        p = np.exp(log_p)
        return FakeSample(draw_labels(p, generator), c, p)

    def accuracy(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E[p_argmax(c)], the share of rows whose reported class is right; in [0, 1]."""
        return exact.mean_value(self, exact.top_truth, ACCURACY, n_draws=n_draws, rng=rng)

    def mean_confidence(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E[max c]; minus accuracy it is the ECE of an always over-confident classifier."""
        return exact.mean_value(self, exact.largest, CONFIDENCE, n_draws=n_draws, rng=rng)

    def log_loss(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E[-log c_Y], infinite if a row may happen that is reported to be impossible."""
        return exact.mean_value(self, exact.surprise, LOG_LOSS, n_draws=n_draws, rng=rng)

    def expected_calibration_error(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E|P(Y = argmax c | max c) - max c|, the ECE of 003 section 2.1; 0 if calibrated.

        Conditional on the scalar max c, as binned estimators are, so never more than
        E|p_argmax(c) - max c| and equal to it where no confidence is reported both by rows that
        are over-confident and by rows that are under-confident.
        """
        return exact.conditional_value(self, exact.confidence_gap, ECE, n_draws=n_draws, rng=rng)

    def classwise_error(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """Mean over classes of E|P(Y = k | c_k) - c_k|, the cwECE of 003 section 2.1."""
        return exact.conditional_value(self, exact.class_gaps, CLASSWISE, n_draws=n_draws, rng=rng)

    def canonical_error(self, *, n_draws: int | None = None, rng: Any = 0) -> ExactValue:
        """E of the total variation distance of P(Y | c) and c, in [0, 1].

        Needs a map that is injective: then P(Y = k | c) = p_k.
        """
        if not self.map.injective:
            hint = "if no two rows p give the same c, say so: `injective=True`."
            caller = f"{type(self).__name__}.canonical_error"
            raise invalid(caller, "map", "known to be injective", repr(self.map), hint=hint)
        return exact.mean_value(self, exact.total_variation, CANONICAL, n_draws=n_draws, rng=rng)


def draw_labels(p: FloatArray, generator: np.random.Generator) -> IntArray:
    """Draw one class index per row of probabilities; a class of probability zero never comes."""
    cumulative = p.cumsum(axis=1)
    total = cumulative[:, -1]
    # A product that is rounded up to the total would choose a class that does not exist.
    threshold = np.minimum(generator.random(len(p)) * total, np.nextafter(total, 0))
    return (cumulative <= threshold[:, None]).sum(axis=1)


def check_size(n: object, *, caller: str) -> int:
    """Return a positive number of rows."""
    return check_integer(caller, "n", n, hint="say how many rows to draw.")


def check_map(map_: object, *, caller: str) -> None:
    """Raise unless the argument is a simplex map."""
    if not isinstance(map_, SimplexMap):
        hint = "e.g. `PowerMap(3)`; any function enters as `CallableMap(function)`."
        raise invalid(caller, "map", "a simplex map", repr(map_), hint=hint)
