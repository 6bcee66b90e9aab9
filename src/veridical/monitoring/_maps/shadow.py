"""A candidate's trial: it is scored beside the current map on rows that neither has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from veridical._core.typing import FloatArray
from veridical.monitoring._judge.estimates import radius
from veridical.monitoring._maps.rows import ModelColumns, happened
from veridical.monitoring._store.counts import centres
from veridical.monitoring._store.evidence import exp_or_inf
from veridical.results import ShadowStatus

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

MOST_GAIN = 2.0  # nats by which one row may speak for or against a candidate
_LEAST_LOSS = 0.05
_BETS = np.geomspace(5e-3, 0.95, 16)


@dataclass(frozen=True)
class Trial:
    """Sums over the rows of a trial, all that its evidence depends on.

    Attributes
    ----------
    most_loss : nats by which a row may speak against the candidate, fixed when the trial begins
    n_rows : rows
    gain : sum of log p(candidate) - log p(current) of what happened, cut to [-`most_loss`, 2]
    squared : sum of their squares
    uncut : sum without cutting
    n_cut : rows that were cut
    """

    most_loss: float = MOST_GAIN
    n_rows: int = 0
    gain: float = 0.0
    squared: float = 0.0
    uncut: float = 0.0
    n_cut: int = 0

    def scored(self, current: FloatArray, candidate: FloatArray) -> Trial:
        """With more rows, by the probabilities that both maps gave to what happened.

        Examples
        --------
        >>> Trial().scored(np.array([0.5, 0.5]), np.array([1.0, 0.01]))  # log 2; log 0.02 is cut
        Trial(most_loss=2.0, n_rows=2, gain=-1.30..., squared=4.48..., uncut=-3.21..., n_cut=1)
        """
        gain = np.log(candidate) - np.log(current)
        cut = np.clip(gain, -self.most_loss, MOST_GAIN)
        return Trial(
            self.most_loss,
            self.n_rows + len(gain),
            self.gain + float(cut.sum()),
            self.squared + float(cut @ cut),
            self.uncut + float(gain.sum()),
            self.n_cut + int((gain != cut).sum()),
        )

    @property
    def log_e(self) -> float:
        r"""Log of the evidence that the candidate is better than the current map.

        Notes
        -----
        With :math:`X_i` the gain of a row divided by `most_loss`, so that :math:`X_i \ge -1`, and
        :math:`\mu_i` its mean given everything before, the process
        :math:`\exp(\lambda \sum (X_i - \mu_i) - \psi(\lambda) \sum X_i^2)` with
        :math:`\psi(\lambda) = -\log(1 - \lambda) - \lambda` is a supermartingale for every
        :math:`\lambda` in [0, 1) (Howard, Ramdas, McAuliffe & Sekhon 2021, Annals of Statistics
        49, 1055-1080, Theorem 4). The evidence is the mean over fixed :math:`\lambda` of
        :math:`\exp(\lambda \sum X_i - \psi(\lambda) \sum X_i^2)`, which is no larger as long as
        :math:`\sum \mu_i \le 0`. So if the candidate was at no time better on average since the
        trial began, the evidence ever reaches 1 / alpha with probability at most alpha (Ville),
        whatever the stream: rows may depend on each other and the advantage may come and go (the
        weak null of Choe & Ramdas 2023, Operations Research, arXiv 2110.00115). Bets on every
        row (Waudby-Smith & Ramdas 2024, arXiv 2010.09686) would grow faster, but are fair only if
        the candidate is never better, not even for a while.
        """
        total, squared = self.gain / self.most_loss, self.squared / self.most_loss**2
        cost = -np.log1p(-_BETS) - _BETS
        return float(np.logaddexp.reduce(_BETS * total - cost * squared) - np.log(len(_BETS)))

    def limits(self, confidence_level: float) -> tuple[float, float]:
        """Limits of the mean gain over these rows that hold at every look together."""
        mean = self.gain / self.n_rows
        scale = np.array([self.most_loss, MOST_GAIN])  # below, and above by symmetry
        wide = scale * radius(self.squared / scale**2, (1 - confidence_level) / 2) / self.n_rows
        return max(-self.most_loss, mean - float(wide[0])), min(MOST_GAIN, mean + float(wide[1]))


def most_loss(
    current: Calibrator | None, candidate: Calibrator | None, columns: ModelColumns
) -> float:
    """How many nats a row can speak against the candidate, whatever happens; at most 2.

    Of two classes it is the largest loss on a grid of predictions, a twentieth more for what is
    between its points. Maps that move predictions towards the middle lose little on any row, and
    the less can be lost, the more can be bet. Of more classes it is 2.
    """
    if len(columns.labels) > 2:
        return MOST_GAIN
    p = centres()
    before, after = (columns.calibrated(each, p) for each in (current, candidate))
    loss = max(
        float((np.log(happened(before, y)) - np.log(happened(after, y))).max())
        for y in (np.zeros(len(p), dtype=np.intp), np.ones(len(p), dtype=np.intp))
    )
    return min(MOST_GAIN, max(_LEAST_LOSS, 1.05 * loss))


def suffices(trial: Trial, level: float) -> bool:
    """Whether to switch; a candidate that is worse without cutting is not switched to."""
    return bool(trial.log_e >= -np.log(level) and trial.uncut > 0)


def shadow_status(
    version: int, against: int | None, trial: Trial, *, level: float, confidence_level: float
) -> ShadowStatus:
    """What the trial says so far."""
    switch, e_value = suffices(trial, level), exp_or_inf(trial.log_e)
    difference = low = high = uncut = None
    verdict = f"Wait: version {version} has not been tried on any row yet."
    notes = []
    if trial.n_rows:
        smallest, largest = trial.limits(confidence_level)
        low, high = -largest, -smallest
        difference, uncut = -trial.gain / trial.n_rows, -trial.uncut / trial.n_rows
        verdict = (
            f"{'Switch to' if switch else 'Wait with'} version {version}: over {trial.n_rows:,} new"
            f" rows its log loss differs by {difference:+.4f} ({low:+.4f} to {high:+.4f}, negative"
            f" is better); e = {e_value:.4g}, {1 / level:.4g} needed."
        )
    if trial.n_cut:
        notes.append(
            f"{trial.n_cut:,} rows on which the candidate gains more than {MOST_GAIN:g} nats or"
            f" loses more than {trial.most_loss:.2g} count as that much"
        )
        if trial.log_e >= -np.log(level) and not switch:
            notes.append("no switch: without that the candidate is the worse one")
    return ShadowStatus(
        version=version,
        against=against,
        n_rows=trial.n_rows,
        e_value=e_value,
        threshold=1 / level,
        difference=difference,
        low=low,
        high=high,
        uncut=uncut,
        n_cut=trial.n_cut,
        switch=switch,
        verdict=verdict,
        notes=tuple(notes),
    )
