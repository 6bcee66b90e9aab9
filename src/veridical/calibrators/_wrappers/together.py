"""Calibrators that judge maps on rows held out, and keep rows together that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from veridical._core.typing import ArrayLike
from veridical.calibrators._base.beside import fit_beside
from veridical.calibrators._wrappers.wrapping import WrappingCalibrator


class JudgingCalibrator(WrappingCalibrator):
    """A calibrator that decides by rows it holds out; `fit` takes `groups`."""

    def fit(
        self,
        y_prob: Any,
        y: ArrayLike | str,
        sample_weight: ArrayLike | str | None = None,
        *,
        prob: str | Sequence[str] | None = None,
        groups: ArrayLike | str | None = None,
    ) -> Self:
        """Fit to predictions and the outcomes that followed.

        Parameters
        ----------
        y_prob, y, sample_weight, prob
            As for every calibrator; with `groups`, columns of a query are read into memory.
        groups : array-like of shape (n,), or str, optional
            What each row belongs to (patient, prompt, original of a copy), or its column. Rows of
            one group are never parted by folds, and count as one where it is said how sure a gain
            is. Default: every row for itself, but for copies (see Notes of the class).

        Returns
        -------
        self
        """
        if groups is None:
            return super().fit(y_prob, y, sample_weight, prob=prob)
        fitted: Self = fit_beside(self, y_prob, y, sample_weight, prob, groups=groups)
        return fitted

    fit.only_reads = True  # type: ignore[attr-defined]
