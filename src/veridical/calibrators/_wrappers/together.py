"""Calibrators that judge maps on rows held out, and keep rows together that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.groups import cluster_codes
from veridical._core.typing import ArrayLike
from veridical.calibrators._base.frames import read_columns
from veridical.calibrators._base.rows import direction_doubts, text_columns
from veridical.calibrators._wrappers.wrapping import WrappingCalibrator
from veridical.exceptions import warn_of


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
        caller, columns = type(self).__name__, None
        self._start_fit()
        if isinstance(y, str):
            y_prob, y, sample_weight, groups, columns = read_columns(
                y_prob, y, prob, sample_weight, groups, caller=caller, param="groups"
            )
        rows = self._read_rows(y_prob, y, sample_weight)
        kept = np.ones(len(rows.y), dtype=bool)
        if sample_weight is not None:  # rows of weight zero are gone
            kept = to_numpy(sample_weight, caller=caller, param="sample_weight").reshape(-1) != 0
        codes = cluster_codes(groups, kept, caller=caller)
        notes = self._fit_rows(replace(rows, groups=codes))
        notes += direction_doubts(rows, caller=caller, pos_label=self.pos_label)
        names = text_columns(y_prob) if columns is None else columns.prob
        if names is not None:
            self._remember_columns(names)
        if columns is not None:
            self.outcome_name_ = columns.y
        warn_of(notes)
        return self

    fit.only_reads = True  # type: ignore[attr-defined]
