"""Maps that use features of a row beside its predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from veridical._core.data.features import Features, fit_features
from veridical._core.data.schema import Fields, Instance
from veridical._core.formula import Code, Nodes
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.calibrators._base.beside import fit_beside
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.rows import CheckedRows
from veridical.exceptions import invalid
from veridical.results import Cutoff


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureCalibrator(Calibrator):
    """A calibrator that may be given features, `by=`, when fitted and when predicting.

    Every feature becomes a few values (`_core.data.features`): numbers are cut at quantiles, of
    texts the commonest are kept, others are "other", and a missing one is a value of its own.
    """

    _needs_features: ClassVar[bool] = True
    _fitted = Fields(features_=Instance(Features, optional=True))

    features_: Features = field(init=False, repr=False, compare=False)

    def fit(
        self,
        y_prob: Any,
        y: ArrayLike | str,
        sample_weight: ArrayLike | str | None = None,
        *,
        prob: str | Sequence[str] | None = None,
        by: Any = None,
    ) -> Self:
        """Fit the map to predictions, features, and the outcomes that followed.

        Parameters
        ----------
        y_prob, y, sample_weight, prob
            As for every calibrator; with features, columns of a query are read into memory.
        by : frame, mapping, array-like of shape (n,) or (n, m); or names of columns
            Features of each row: numbers, truth values, dates or texts. Columns of an array are
            called x0, x1, ... With `y` the name of a column, names of columns of that frame.

        Returns
        -------
        self
        """
        if by is None:
            return super().fit(y_prob, y, sample_weight, prob=prob)
        fitted: Self = fit_beside(self, y_prob, y, sample_weight, prob, by=by)
        return fitted

    fit.only_reads = True  # type: ignore[attr-defined]

    def _fit_codes(self, by: Any, kept: Array, rows: CheckedRows) -> IntArray:
        """Learn what features are, and return the codes of the rows that were kept."""
        from veridical.frames.inputs import feature_columns

        caller = type(self).__name__
        given = _of_rows(feature_columns(by, caller=caller, param="by"), kept, caller)
        counts = rows.weight if rows.weight_type == "frequency" else None
        n_bins, n_values = self._feature_sizes()
        self.features_ = fit_features(
            given, n_bins=n_bins, n_values=n_values, counts=counts, caller=caller, param="by"
        )
        return self.features_.codes(given, caller=caller, param="by")

    def _start_fit(self) -> None:
        super()._start_fit()
        self.__dict__.pop("features_", None)

    def _fit_rows(self, rows: CheckedRows) -> Notes:
        if rows.codes is None and self._needs_features:
            raise _not_given(type(self).__name__)
        return super()._fit_rows(rows)

    def predict_proba(self, y_prob: ArrayLike, *, by: Any = None) -> FloatArray:
        """Return calibrated probabilities, (n, K) in the order of `classes_`.

        Parameters
        ----------
        y_prob : array-like
            Predictions.
        by : frame, mapping or array-like
            The features it was fitted with, found by name; required if there were any. A value
            unknown to `fit` is "other".
        """
        caller = type(self).__name__
        values = self._checked_values(y_prob, caller=caller)
        if not self._uses_features:
            if by is not None:
                hint = "leave it out, or fit with it."
                raise invalid(caller, "by", "unset: it was fitted without", "features", hint=hint)
            return self._predict(values)
        if by is None:
            raise _not_given(caller)
        return self._predict_by(values, self._codes(by, len(values), caller))

    def _codes(self, by: Any, n: int, caller: str) -> IntArray:
        """Codes of the features of n rows."""
        from veridical.frames.inputs import feature_columns

        given = feature_columns(by, caller=caller, param="by")
        codes = self.features_.codes(given, caller=caller, param="by")
        _check_length(given, n, caller)
        return codes

    def predict(self, y_prob: ArrayLike, *, by: Any = None) -> Array:
        """Return the most probable label of each row; ties go to the first class."""
        return np.asarray(self.classes_)[self.predict_proba(y_prob, by=by).argmax(axis=1)]

    def inverse(self, threshold: float, *, by: Any = None) -> Cutoff:
        """Return the raw score at which the calibrated probability of a row reaches a threshold.

        Parameters
        ----------
        threshold : float in (0, 1)
            Calibrated probability of the positive class.
        by : mapping from names to values, or frame of one row
            Whose cut-off: the features of one row; required if the map uses features.

        Returns
        -------
        Cutoff
            As for every calibrator.
        """
        from veridical.calibrators._base.cutoffs import cutoff_of

        self._check_fitted(caller="inverse")
        if not self._uses_features:
            return cutoff_of(self, threshold)
        if by is None:
            raise _not_given(type(self).__name__)
        one = {k: [v] for k, v in by.items()} if isinstance(by, dict) else by
        codes, place = self._codes(one, 1, "inverse"), self.positive_index_

        def probability(scores: FloatArray) -> FloatArray:
            values = self._checked_values(scores, caller="inverse")
            return self._predict_by(values, np.repeat(codes, len(scores), axis=0))[:, place]

        return cutoff_of(self, threshold, probability)

    def explain(self) -> str:
        """Say in a few sentences what the map does; figures are of rows in no segment."""
        from veridical.calibrators._base.words import explanation

        self._check_fitted(caller="explain")
        return explanation(self, self._predict)

    @property
    def _uses_features(self) -> bool:
        return hasattr(self, "features_")

    def _feature_sizes(self) -> tuple[int, int]:
        """Parts that numbers are cut into, and how many texts are kept."""
        return 4, 10

    def _feature_nodes(self) -> Nodes:
        """Codes of the features, for formulas."""
        return tuple(Code(k) for k in range(len(self.features_))) if self._uses_features else ()

    @abstractmethod
    def _predict_by(self, values: FloatArray, codes: IntArray) -> FloatArray:
        """Return calibrated probabilities (n, K) of checked predictions and codes of features."""


def maps_predictions_alone(calibrator: Calibrator) -> bool:
    """Whether a calibrator needs nothing but predictions, as a part of another one must."""
    kind = type(calibrator).predict_proba
    if kind is FeatureCalibrator.predict_proba:
        needs: bool = calibrator._needs_features or calibrator._uses_features
        return not needs
    return kind is Calibrator.predict_proba


def _not_given(caller: str) -> Exception:
    hint = "pass the features of each row: `by=frame`, when fitting and when predicting."
    return invalid(caller, "by", "given", "None", hint=hint)


def _of_rows(columns: dict[str, Array], kept: Array, caller: str) -> dict[str, Array]:
    _check_length(columns, len(kept), caller)
    return {name: column[kept] for name, column in columns.items()}


def _check_length(columns: dict[str, Array], n: int, caller: str) -> None:
    for name, column in columns.items():
        if len(column) != n:
            got, hint = f"{len(column)} values of {name!r}", "pass the features of each row."
            raise invalid(caller, "by", f"of {n} rows, as `y_prob`", got, hint=hint)
