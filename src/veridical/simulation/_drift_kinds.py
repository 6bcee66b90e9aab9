"""Kinds of drift: what changes, and what stays true."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import cast

import numpy as np

from veridical._core.typing import FloatArray
from veridical._core.validation import check_level, is_number
from veridical.exceptions import invalid
from veridical.simulation._drift_source import Draws, Rows, join
from veridical.simulation._tasks import check_prior


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
        return Rows(rows.y, rows.y_prob, truth, rows.group)


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
        return Rows(rows.y, reported, rows.p_true, rows.group)


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
        return Rows(rows.y, rows.y_prob, rows.p_true, inside)


def _sharpen(p: FloatArray, temperature: float) -> FloatArray:
    """Powers of probabilities, normalised; relative to the largest, so that none vanishes."""
    powers = (p / p.max(axis=1, keepdims=True)) ** temperature
    return powers / powers.sum(axis=1, keepdims=True)
