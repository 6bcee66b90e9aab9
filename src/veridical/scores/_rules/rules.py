"""What a scoring rule is, and the four rules: Brier, logarithmic, spherical, zero-one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from veridical._core.data.validation import check_option, check_sample
from veridical._core.numeric.blocks import map_rows, row_blocks
from veridical._core.sample import BinarySample, Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, IntArray

_MANY = 1 << 16
RULES = ("brier", "log", "spherical", "zero-one")


class ScoringRule(ABC):
    """A loss of one probabilistic prediction and what happened; lower is better.

    A rule knows three functions, for one event (arrays of shape (n,) hold the probability of the
    positive class) and for K classes (arrays of shape (n, K)):

    - the score S(p, y);
    - its entropy, the expected score of q under q: H(q) = E[S(q, y)], y ~ q;
    - its divergence d(p, q) = E[S(p, y)] - H(q), y ~ q: what predicting p instead of q costs.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name of the rule."""

    def per_row(self, sample: Sample) -> FloatArray:
        """Score of each row, float64."""
        if sample.p.ndim == 1:
            return map_rows(self._score_binary, sample.p, sample.y)
        return map_rows(self._score_vector, sample.p, sample.y)

    def mean(self, sample: Sample) -> float:
        """Weighted mean score."""
        if sample.weight is None and sample.n > _MANY:  # row by row it would fill the memory
            blocks = (sample.take(block) for block in row_blocks(sample.n, _MANY))  # type: ignore[arg-type]
            return sum(float(self.per_row(some).sum()) for some in blocks) / sample.n
        return weighted_mean(self.per_row(sample), sample.weight)

    def entropy(self, q: ArrayLike) -> FloatArray:
        """Expected score of predicting q when q is true."""
        q = np.asarray(q, dtype=np.float64)
        return self._entropy_vector(_pair(q) if q.ndim == 1 else q) * self._halved(q)

    def divergence(self, p: ArrayLike, q: ArrayLike) -> FloatArray:
        """Expected extra score of predicting p when q is true; zero for p = q."""
        p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
        if p.ndim == 1:
            return self._divergence_vector(_pair(p), _pair(q)) * self._halved(p)
        return self._divergence_vector(p, q)

    def _halved(self, q: FloatArray) -> float:
        """Scale of the one-event form relative to the two-class form."""
        del q
        return 1.0

    @abstractmethod
    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray: ...

    @abstractmethod
    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray: ...

    @abstractmethod
    def _entropy_vector(self, q: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray: ...


def get_rule(name: str, *, caller: str) -> ScoringRule:
    """Return the rule called `name`."""
    check_option(caller, "rule", name, RULES)
    rules: dict[str, type[ScoringRule]] = {
        "brier": BrierRule,
        "log": LogRule,
        "spherical": SphericalRule,
        "zero-one": ZeroOneRule,
    }
    return rules[name]()


def mean_score(
    caller: str,
    rule: ScoringRule,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> float:
    """Check the data and return the mean score: the body of every one-line score function."""
    sample = check_sample(
        y_true,
        y_prob,
        caller=caller,
        labels=labels,
        pos_label=pos_label,
        sample_weight=sample_weight,
    )
    return rule.mean(sample)


def probability_of_outcome(p: FloatArray, y: IntArray) -> FloatArray:
    """Probability a (n, K) prediction gave to what happened."""
    return np.take_along_axis(p, y[:, None].astype(np.intp, copy=False), axis=1)[:, 0]


def _pair(p: FloatArray) -> FloatArray:
    return np.column_stack([1 - p, p])


class BrierRule(ScoringRule):
    """(p - y)^2 for one event; the sum over classes, in [0, 2], for K classes (survey eq. 1)."""

    name = "brier"

    def _halved(self, q: FloatArray) -> float:
        # The sum over both classes counts (p - y)^2 twice.
        return 0.5 if q.ndim == 1 else 1.0

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return (p - y) ** 2

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        # sum_k (p_k - y_k)^2 = sum_k p_k^2 - 2 p_y + 1
        squares: FloatArray = np.einsum("ij,ij->i", p, p)
        return squares - 2 * probability_of_outcome(p, y) + 1

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return (q * (1 - q)).sum(axis=-1)

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        return ((p - q) ** 2).sum(axis=-1)


def brier_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean Brier score (lower is better).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes, labels of any kind.
    y_prob : array-like of shape (n,), (n, 1) or (n, K)
        Probability of the positive class, or of every class.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : object, optional
        The positive class of a binary problem; default the larger label.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; an integer weight k equals repeating the row k times.

    Returns
    -------
    float
        In [0, 1] for two classes, in [0, 2] for more; 0 is perfect.

    Notes
    -----
    .. math:: \mathrm{BS} = \frac{\sum_i w_i (p_i - y_i)^2}{\sum_i w_i}, \qquad
              \frac{\sum_i w_i \sum_k (p_{ik} - y_{ik})^2}{\sum_i w_i} \text{ for } K > 2

    Strictly proper. The two scales are scikit-learn's ``scale_by_half="auto"``. Time O(n K).

    References
    ----------
    .. [1] Brier (1950), Monthly Weather Review 78, 1-3. Survey (Silva Filho et al. 2023,
       doi 10.1007/s10994-023-06336-7), eq. 1.

    Examples
    --------
    >>> brier_score([0, 1, 1], [0.25, 0.5, 1.0])  # (1/16 + 1/4 + 0) / 3
    0.10416666666666667
    >>> brier_score(["a", "c"], [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], labels=["a", "b", "c"])
    0.25
    """
    return mean_score("brier_score", BrierRule(), y_true, y_prob, labels, pos_label, sample_weight)


class LogRule(ScoringRule):
    """Minus the natural logarithm of the probability given to what happened (survey eq. 2)."""

    name = "log"

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return _minus_log(np.where(y == 1, p, 1 - p))

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        return _minus_log(probability_of_outcome(p, y))

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return (q * _minus_log(np.where(q > 0, q, 1.0))).sum(axis=-1)  # 0 log 0 = 0

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        # Kullback-Leibler of q from p; infinite where p excludes what q allows.
        possible = q > 0
        extra = _minus_log(np.where(possible, p, 1.0)) - _minus_log(np.where(possible, q, 1.0))
        return (q * extra).sum(axis=-1)


def _minus_log(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # log 0 is minus infinity, which is meant
        return 0.0 - np.log(p)


def log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean logarithmic score, also called cross-entropy (lower is better).

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    float
        In [0, inf], in nats; 0 is perfect. Infinite if something happened that was given
        probability zero: nothing is clipped, because how far one clips decides the answer.

    Notes
    -----
    .. math:: \mathrm{LL} = - \frac{\sum_i w_i \ln p_{i, y_i}}{\sum_i w_i}

    Strictly proper and local. Time O(n).

    References
    ----------
    .. [1] Good (1952), J. R. Stat. Soc. B 14, 107-114. Survey eq. 2.

    Examples
    --------
    >>> log_loss([1, 0], [0.5, 0.0])  # ln(2) / 2
    0.34657359027997264
    >>> log_loss([1, 0], [0.0, 0.0])
    inf
    """
    return mean_score("log_loss", LogRule(), y_true, y_prob, labels, pos_label, sample_weight)


class SphericalRule(ScoringRule):
    """One minus the outcome's probability over the length of the probability vector."""

    name = "spherical"

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        rest = 1 - p
        return 1 - np.where(y == 1, p, rest) / np.sqrt(p * p + rest * rest)

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        return 1 - probability_of_outcome(p, y) / _length(p)

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return 1 - _length(q)

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        return _length(q) - (p * q).sum(axis=-1) / _length(p)


def _length(p: FloatArray) -> FloatArray:
    return np.sqrt(np.einsum("...j,...j->...", p, p))


def spherical_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean spherical score, as a loss (lower is better).

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    float
        In [0, 1]; 0 is perfect.

    Notes
    -----
    .. math:: \mathrm{SPH} = 1 - \frac{\sum_i w_i \, p_{i, y_i} / \lVert p_i \rVert_2}{\sum_i w_i}

    Strictly proper. Usually defined as a reward; one minus it is a loss. Time O(n K).

    References
    ----------
    .. [1] Gneiting & Raftery (2007), doi 10.1198/016214506000001437, example 2.

    Examples
    --------
    >>> spherical_score([1, 0], [1.0, 1.0])  # one perfect, one hopeless prediction
    0.5
    """
    return mean_score(
        "spherical_score", SphericalRule(), y_true, y_prob, labels, pos_label, sample_weight
    )


class ZeroOneRule(ScoringRule):
    """Whether the most probable class (first of equals) did not occur. Proper, not strictly."""

    name = "zero-one"

    def per_row(self, sample: Sample) -> FloatArray:
        """Score of each row; a tie of two columns goes to the first of them."""
        if isinstance(sample, BinarySample) and (sample.positive_first or sample.pair is not None):
            return map_rows(self._score_vector, sample.matrix, sample.index)
        return super().per_row(sample)

    def _score_binary(self, p: FloatArray, y: IntArray) -> FloatArray:
        return ((p > 0.5) != (y == 1)).astype(np.float64)

    def _score_vector(self, p: FloatArray, y: IntArray) -> FloatArray:
        return (p.argmax(axis=1) != y).astype(np.float64)

    def _entropy_vector(self, q: FloatArray) -> FloatArray:
        return 1 - q.max(axis=-1)

    def _divergence_vector(self, p: FloatArray, q: FloatArray) -> FloatArray:
        chosen = np.take_along_axis(q, p.argmax(axis=-1)[..., None], axis=-1)[..., 0]
        return q.max(axis=-1) - chosen


def zero_one_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of rows whose most probable class did not occur: one minus accuracy.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.

    Returns
    -------
    float
        In [0, 1]; 0 is perfect. Ties go to the first column (0.5 is not a "yes").

    Notes
    -----
    Proper but not strictly: every prediction with the right most probable class scores the same.

    Examples
    --------
    >>> zero_one_loss([1, 0, 1, 1], [0.9, 0.2, 0.5, 0.6])
    0.25
    """
    return mean_score(
        "zero_one_loss", ZeroOneRule(), y_true, y_prob, labels, pos_label, sample_weight
    )
