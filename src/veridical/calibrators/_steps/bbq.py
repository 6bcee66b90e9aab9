"""Bayesian binning into quantiles: an average of histograms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from veridical._core.data.schema import Fields, Numbers
from veridical._core.data.validation import is_number
from veridical._core.typing import FloatArray, IntArray
from veridical.binning.counts import SortedScores
from veridical.calibrators._base.bases import WeightedOutcomes
from veridical.calibrators._base.scales import BinaryScores
from veridical.calibrators._steps.pieces import mix, pool_rows
from veridical.calibrators._steps.thresholds import StepCalibrator
from veridical.exceptions import invalid

_NEGLIGIBLE = 1e-14  # share of the best model below which a model is left out
_INSIDE = 1e-12  # centres of bins are kept this far from 0 and 1: a prior needs both classes


@dataclass(kw_only=True, eq=False, repr=False)
class BBQCalibrator(StepCalibrator):
    r"""Average of equal-mass histograms of many sizes, weighted by how probable each is.

    Parameters
    ----------
    bin_factor : float, default 10
        Numbers of bins go from :math:`n^{1/3}` divided by this to :math:`n^{1/3}` times this.
    prior_size : float, default 2
        Rows the prior is worth in all, N' of the paper; each bin expects its own centre.
    laplace : float, default 1
        Imagined rows of each class, which keep the map off 0 and 1; 0 turns the guard off (the
        prior alone keeps it off them too, but in small bins not by much).
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; scores are read as logits.
    labels : array-like, optional
        Classes in column order.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    edges_ : array of shape (k - 1,)
        Scores between which the map is constant.
    values_ : array of shape (k,)
        Probabilities.
    n_bins_, model_weights_ : arrays
        Bins of each histogram that counts, and its posterior probability.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    A histogram of B bins, with N_b rows and m_b positives in bin b, has the marginal likelihood
    ([1]_, eq. 2)

    .. math::

        \prod_b \frac{\Gamma(N'/B)}{\Gamma(N_b + N'/B)}
        \frac{\Gamma(m_b + \alpha_b)}{\Gamma(\alpha_b)}
        \frac{\Gamma(N_b - m_b + \beta_b)}{\Gamma(\beta_b)}, \qquad
        \alpha_b = \frac{N'}{B} c_b, \quad \beta_b = \frac{N'}{B} (1 - c_b)

    where :math:`c_b` is the middle of the bin. All numbers of bins are equally probable beforehand.
    A bin's value is its posterior mean, :math:`(m_b + \alpha_b) / (N_b + N'/B)`. Equal scores stay
    together, B is the number of bins that come out. Outside the scores seen the outer bins go on.

    The map need not be monotone. Time O(n log n + n^(2/3) bin_factor^2).

    References
    ----------
    .. [1] Naeini, Cooper & Hauskrecht (2015), AAAI, 2901-2907, doi 10.1609/aaai.v29i1.9602.

    Examples
    --------
    One row can make one bin only, with centre 1/2: (1 + 1) / (1 + 2), and with the guard
    (2/3 + 1) / (1 + 2).

    >>> BBQCalibrator(laplace=0, labels=[0, 1]).fit([0.5], [1]).predict_proba([0.1])[:, 1]
    array([0.66666667])
    >>> BBQCalibrator(labels=[0, 1]).fit([0.5], [1]).predict_proba([0.1])[:, 1]
    array([0.55555556])
    """

    _fitted = Fields(
        n_bins_=Numbers("b", low=1, whole=True, least=1),
        model_weights_=Numbers("b", low=0, high=1, shares=True),
    )

    bin_factor: float = 10.0
    prior_size: float = 2.0

    @property
    def _bins_probabilities(self) -> bool:
        return True

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        super()._check_parameters()
        if not (is_number(self.bin_factor) and 1 <= self.bin_factor <= 1000):
            hint = "10 is the paper's choice."
            got = repr(self.bin_factor)
            raise invalid(caller, "bin_factor", "a number from 1 to 1000", got, hint=hint)
        if not (is_number(self.prior_size) and self.prior_size > 0):
            hint = "2 is the paper's choice."
            raise invalid(caller, "prior_size", "positive", repr(self.prior_size), hint=hint)

    def _fit_map(self, scores: BinaryScores, rows: WeightedOutcomes) -> None:
        pooled = pool_rows(scores.p, rows)
        root = float(np.cbrt(rows.size))
        fewest = max(1, math.floor(root / self.bin_factor + 1e-9))
        most = max(1, math.ceil(root * self.bin_factor - 1e-9))
        most = min(most, len(pooled.value))
        asked = np.arange(min(fewest, most), most + 1)
        last, model = _equal_mass(pooled, asked)
        made, log_likelihood, values = self._histograms(pooled, last, model)
        share = np.exp(log_likelihood - log_likelihood.max())
        share[share < _NEGLIGIBLE] = 0.0
        share /= share.sum()
        kept = share[model] > 0
        ends, average = _average(last[kept], model[kept], values[kept], share)
        self.n_bins_, self.model_weights_ = made[share > 0], share[share > 0]
        self.edges_ = pooled.edges_after(ends)[1:-1]
        self.values_ = mix(average, rows.size, self.laplace)

    def _histograms(
        self, pooled: SortedScores, last: IntArray, model: IntArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Bins and log marginal likelihood of each histogram, and the value of each of its bins."""
        from scipy.special import betaln

        opens = np.concatenate([[True], model[1:] != model[:-1]])
        begin = np.where(opens, 0, np.append(0, last[:-1] + 1))
        weight = pooled.cum_w[last + 1] - pooled.cum_w[begin]
        positive = np.clip(pooled.cum_wy[last + 1] - pooled.cum_wy[begin], 0.0, weight)
        made = np.bincount(model)
        prior = self.prior_size / made[model]
        centre = np.clip(_centres(pooled, begin, last), _INSIDE, 1 - _INSIDE)
        alpha, beta = prior * centre, prior * (1 - centre)
        log_ratio = betaln(positive + alpha, weight - positive + beta) - betaln(alpha, beta)
        total = np.asarray(np.bincount(model, log_ratio), dtype=np.float64)
        return made, total, (positive + alpha) / (weight + prior)


def _equal_mass(pooled: SortedScores, asked: IntArray) -> tuple[IntArray, IntArray]:
    """Last distinct score of each bin of each histogram, and the number of its histogram."""
    cuts = [pooled.equal_mass(n_bins) for n_bins in asked.tolist()]
    model = np.repeat(np.arange(len(cuts)), [len(last) for last in cuts])
    return np.concatenate(cuts), model


def _centres(pooled: SortedScores, begin: IntArray, last: IntArray) -> FloatArray:
    """Middles of bins whose edges lie halfway between scores, the outer ones at 0 and 1."""
    halfway = np.concatenate([[0.0], (pooled.value[:-1] + pooled.value[1:]) / 2, [1.0]])
    return (halfway[begin] + halfway[last + 1]) / 2


def _average(
    last: IntArray, model: IntArray, values: FloatArray, share: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Step function that is the mean of several: where its steps end, and its values."""
    closes = np.concatenate([model[1:] != model[:-1], [True]])
    opens = np.concatenate([[True], closes[:-1]])
    start = float(share[model[opens]] @ values[opens])
    rise = share[model] * np.append(values[1:] - values[:-1], 0.0)
    ends, place = np.unique(last[~closes], return_inverse=True)
    jumps = np.bincount(place, rise[~closes], minlength=len(ends))
    return np.append(ends, last[-1]), np.clip(start + np.append(0.0, np.cumsum(jumps)), 0.0, 1.0)
