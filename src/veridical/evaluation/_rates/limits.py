r"""Prediction-powered estimates of a share, and limits that hold for few labels.

With weights a of labelled rows (they sum to one) and b of the rows a score is averaged over, the
estimate is :math:`\hat\theta = \sum a_i y_i - l (\sum a_i f_i - \sum b_j f_j)`: for labels drawn at
random, the l mean_N(f) + mean_m(y - l f) of Angelopoulos, Duchi & Zrnic (2023, arXiv 2311.01453).
It is a sum of one part a row, so its variance is a sum of squares, over rows or over clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from veridical._core.typing import FloatArray, IntArray
from veridical.curves import binomial_interval
from veridical.evaluation._rates.rows import RateRows

# Rows wholly wrong that are added to the residuals before a gain is believed: with few positives
# the ones a score misses may not be among the labels. Chosen by simulation, see docs/evidence.
UNSEEN = 2.0


class Tuned(NamedTuple):
    """An estimate, how far scores were trusted, its variance, and what labels it is worth."""

    estimate: float
    tuning: float
    variance: float
    worth: float


@dataclass(frozen=True, eq=False)
class Design:
    """How rows came to be labelled.

    Attributes
    ----------
    a : (m,) weights of labelled rows, of sum one
    b : (n,) weights of the rows whose scores are averaged, of sum one (all 0 if there are none)
    strata : (n,) numbers of strata; all 0 without
    clusters : (n,) numbers of clusters, or None
    planned : whether chances or strata of labels are known, and `b` is over all rows
    spread : (m,) by how much residuals of a stratum are stretched, as its mean is estimated
    """

    a: FloatArray
    b: FloatArray
    strata: IntArray
    clusters: IntArray | None
    planned: bool
    spread: FloatArray

    @classmethod
    def of(cls, rows: RateRows) -> Design:
        """Design of rows with a label first."""
        m, n = rows.m, rows.n
        weight = np.ones(n) if rows.weight is None else rows.weight
        planned = rows.label_prob is not None or rows.strata is not None
        strata = np.zeros(n, dtype=np.intp) if rows.strata is None else rows.strata
        count = int(strata.max()) + 1
        share = np.bincount(strata, weight, count) / weight.sum()
        chosen = weight[:m] if rows.label_prob is None else weight[:m] / rows.label_prob
        total = np.bincount(strata[:m], chosen, count)
        a = chosen * share[strata[:m]] / total[strata[:m]]
        b = weight.copy()
        if not planned:
            b[:m] = 0.0
        b = b / b.sum() if b.any() else b
        labelled = np.bincount(strata[:m], minlength=count)[strata[:m]]
        spread = np.ones(m)
        if rows.strata is not None:
            spread = np.sqrt(labelled / np.maximum(labelled - 1, 1))
        return cls(a, b, strata, rows.clusters, planned, spread)

    @property
    def size(self) -> float:
        """Labels of equal weight that tell as much: Kish's 1 / sum a^2."""
        return 1 / float(self.a @ self.a)

    @property
    def plain(self) -> bool:
        """Whether labels are of equal weight, drawn at random, one by one."""
        return not self.planned and self.clusters is None and np.ptp(self.a) < 1e-12 * self.a[0]

    def parts(self, y: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What each row adds to the estimate of y alone, and to the difference of mean scores."""
        m = len(self.a)
        of_y, of_f = np.zeros(len(f)), -self.b * (f - self.b @ f)
        for part, values in ((of_y, y), (of_f, f[:m])):
            mean = self._stratum_means(values)
            part[:m] += self.spread * self.a * (values - mean[self.strata[:m]])
            if self.planned:
                part += self.b * (mean[self.strata] - float(self.a @ values))
        return of_y, of_f

    def _stratum_means(self, values: FloatArray) -> FloatArray:
        strata = self.strata[: len(self.a)]
        count = int(self.strata.max()) + 1
        total = np.bincount(strata, self.a, count)
        sums = np.bincount(strata, self.a * values, count)
        return np.divide(sums, total, out=np.zeros(count), where=total > 0)

    def tuning(self, y: FloatArray, f: FloatArray) -> float:
        """How far to trust scores, from 0 to 1: what makes the variance least."""
        m = len(self.a)
        if self.planned:
            of_y, of_f = self.parts(y, f)
            total = float(of_f @ of_f)
            return float(np.clip(of_y @ of_f / total, 0, 1)) if total > 1e-24 else 0.0
        if not self.b.any():
            return 0.0
        labelled = f[:m] - self.a @ f[:m]
        other = 1 / float(self.b @ self.b)
        # The variance of all scores, of which those of equal weight count alike.
        shares = np.concatenate([self.a * self.size, self.b[m:] * other]) / (self.size + other)
        pooled = float(shares @ (f - shares @ f) ** 2)
        if pooled < 1e-24:
            return 0.0
        covariance = float(self.a @ (labelled * (y - self.a @ y)))
        return float(np.clip(covariance / ((1 + self.size / other) * pooled), 0, 1))

    def variance(self, parts: FloatArray) -> tuple[float, float]:
        """Sum of squares over rows, and over clusters."""
        alone = float(parts @ parts)
        if self.clusters is None:
            return alone, alone
        sums = np.bincount(self.clusters, parts)
        return alone, float(sums @ sums) * self._few_clusters

    @property
    def n_clusters(self) -> int:
        """Clusters with a label, or labelled rows."""
        if self.clusters is None:
            return len(self.a)
        return len(np.unique(self.clusters[: len(self.a)]))

    @property
    def _few_clusters(self) -> float:
        return self.n_clusters / max(self.n_clusters - 1, 1)

    @property
    def cluster_size(self) -> float:
        """Labelled rows a cluster, as far as weights count."""
        if self.clusters is None:
            return 1.0
        sums = np.bincount(self.clusters[: len(self.a)], self.a)
        return float(sums @ sums) * self.size


def tuned_estimate(design: Design, y: FloatArray, f: FloatArray, tuning: float | None) -> Tuned:
    """Estimate with a given tuning, or with the best one, and how many labels it is worth.

    `worth` is the size of the sample of labels alone with the variance of the estimate, as in Korn
    & Graubard (1998, Survey Methodology 24, 193-201), but with unseen rows added to residuals and
    to labels alike: where the score is no help it is the number of labels, whatever they are.
    """
    tuning = design.tuning(y, f) if tuning is None else tuning
    m = len(design.a)
    of_y, of_f = design.parts(y, f)
    alone, clustered = design.variance(of_y - tuning * of_f)
    share = float(design.a @ y)
    estimate = share - tuning * float(design.a @ f[:m] - design.b @ f) if tuning else share
    # The square of the weight that a row of the population has on average: of equal ones, 1 / m^2.
    unseen = UNSEEN * float(design.a @ design.a**2)
    ratio = (alone + unseen) / (share * (1 - share) / design.size + unseen)
    if design.plain:
        ratio = min(ratio, 1.0)
    together = (clustered + unseen * design.cluster_size) / (alone + unseen)
    worth = design.size / (ratio * max(together, 1.0))
    return Tuned(estimate, tuning, clustered, worth)


def exact_limits(
    share: float, size: float, level: float, n_units: int | None
) -> tuple[float, float]:
    """Limits of Clopper & Pearson (1934) for a share of so many labels, which need not be whole.

    `n_units` clusters estimate the variance: their number corrects the size by the quantiles of
    Student's t (Korn & Graubard 1998).
    """
    from scipy.special import ndtri, stdtrit

    tail = (1 - level) / 2
    if n_units is not None:
        size *= float(ndtri(tail) / stdtrit(max(n_units - 1, 1), tail)) ** 2
    share = min(max(share, 0.0), 1.0)
    limits = binomial_interval(
        np.array([share]), np.array([size]), method="clopper-pearson", confidence_level=level
    )
    low, high = (float(limit[0]) for limit in limits)
    return min(low, share), max(high, share)
