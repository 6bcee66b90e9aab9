"""What a calibrator is: a scikit-learn estimator from scores to probabilities."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from veridical._core.data.classes import arranged_as, arranged_names
from veridical._core.data.columns import class_of_one_column, labels_from_columns, names_of
from veridical._core.data.schema import Fields, Instance, Labels, Number, Relations, Text, Together
from veridical._core.data.validation import (
    check_option,
    check_probabilities,
    check_scores,
    float_array,
)
from veridical._core.formula import Nodes
from veridical._core.typing import Array, ArrayLike, FloatArray, WeightType
from veridical.calibrators._base.estimator import Estimator
from veridical.calibrators._base.memory import Fingerprint, overlap_of, take_fingerprint
from veridical.calibrators._base.nodes import NoFormulaError
from veridical.calibrators._base.persistence import decode, encode
from veridical.calibrators._base.rows import (
    CheckedRows,
    check_columns,
    check_rows,
    direction_doubts,
    text_columns,
)
from veridical.calibrators._base.scales import Shared
from veridical.exceptions import invalid, warn_of
from veridical.results import Cutoff

Notes = tuple[str, ...]  # sentences of doubt, each with the name of who has it


@dataclass(kw_only=True, eq=False, repr=False)
class Calibrator(Estimator, ABC):
    """Base of every calibrator; subclasses fit a map and apply it.

    Parameters are the fields of a dataclass, of which every calibrator has the four below.
    Constructors only store them; `fit` checks them. Fitted attributes end in an underscore and are
    all that persistence needs.

    A fitted calibrator keeps a fingerprint of its rows, so that an evaluation on the same rows can
    be noticed (`seen`). `forget` drops it; with `keeps_fingerprint = False`, set before `fit`, none
    is taken.

    Parameters
    ----------
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; some calibrators take fewer kinds.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.
    """

    keeps_fingerprint = True

    _inputs: ClassVar[tuple[str, ...]] = ("probability", "logit", "score")
    _later: ClassVar[tuple[str, ...]] = ("pos_label",)  # parameters that older files do not have
    # What each fitted attribute must be where it is read from a file; those of bases are added.
    _fitted: ClassVar[Fields] = Fields(
        classes_=Labels(),
        positive_index_=Number(low=0, high=1, whole=True),
        fingerprint_=Instance(Fingerprint, optional=True),
        score_range_=Together((Number(), Number()), optional=True),
        fitted_on_=Text(optional=True),
        outcome_name_=Text(optional=True),
        feature_names_in_=Labels(size="c", least=1, text=True, optional=True),
    )

    input: str = "probability"
    labels: Any = None
    pos_label: Any = None
    weight_type: WeightType = "importance"
    fingerprint_: Fingerprint = field(init=False, repr=False, compare=False)
    score_range_: tuple[float, float] = field(init=False, repr=False, compare=False)
    fitted_on_: str = field(init=False, repr=False, compare=False)
    outcome_name_: str = field(init=False, repr=False, compare=False)
    positive_index_: int = field(init=False, repr=False, compare=False)

    def fit(
        self,
        y_prob: Any,
        y: ArrayLike | str,
        sample_weight: ArrayLike | str | None = None,
        *,
        prob: str | Sequence[str] | None = None,
    ) -> Self:
        """Fit the map to predictions and the outcomes that followed.

        Parameters
        ----------
        y_prob : array-like of shape (n,), (n, 1) or (n, K); or frame, or path
            Predictions on rows the model was not trained on: probabilities, logits or scores as
            `input` says. One column is that of the positive class, `pos_label`. Or, with `y` the
            name of a column, a frame of any library, a query of an engine (polars, DuckDB, Spark,
            Dask, Ibis), or a CSV, Parquet or Arrow file.
        y : array-like of shape (n,), or str
            Labels, or their column.
        sample_weight : array-like of shape (n,), or str, optional
            Non-negative weights, or their column.
        prob : str or sequence of str, optional
            Columns of predictions: that of the positive class, or one for each class. Default:
            those whose names leave no doubt. Globs are expanded.

        Returns
        -------
        self

        Warns
        -----
        VeridicalWarning
            If one column is lower, by four standard errors of the mean, where the positive class
            happened: it may be that of the other one ("bad" of "bad" and "good"). Then pass
            ``pos_label="bad"``.

        Notes
        -----
        Frames in memory, and files of less than about a million rows, are read and fitted like
        arrays. Rows of queries and of larger files stay where they are:

        - Two classes, one map: the engine sums up rows in cells no wider than 6e-5 in probability
          and 0.004 in log odds, to which the map is fitted (`fitted_on_` says so). Predictions of
          few decimals lose nothing. Of 200,000 different ones, log odds differed from those of the
          fit in memory by 5e-6 at most for Platt, beta and quadratic maps and temperatures, 2e-4
          for splines, 1e-3 for quantile bins; steps of isotonic maps move by a cell (2e-3 on
          average), and with them the averages of `BBQCalibrator` (1e-2).
        - A temperature of several classes: found from sums that the engine returns, one query for
          each step, as in memory.
        - Vector, matrix, Dirichlet and structured maps of several classes: Newton steps, each from
          one pass that sums up loss, gradient and Hessian where the rows are, to the fit in memory;
          up to 64 classes of a vector, 24 of a matrix, 13 with extended features, in engines that
          let Python work on rows (files, polars, DuckDB, Spark, Dask).
        - All other maps, and logits and scores: fitted to a stratified sample of 200,000 rows, with
          weights that undo the stratification, and a `VeridicalWarning`.

        Calibrators fitted in an engine keep no fingerprint of their rows (`seen`).

        Examples
        --------
        >>> import polars as pl
        >>> from veridical.calibrators import HistogramCalibrator
        >>> frame = pl.DataFrame({"p": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "y": [0, 0, 1, 1, 1, 1]})
        >>> HistogramCalibrator(n_bins=2).fit(frame, "y").predict_proba([0.9]).round(3).tolist()
        [[0.2, 0.8]]
        >>> HistogramCalibrator(n_bins=2).fit(frame.lazy(), y="y", prob="p").fitted_on_
        '6 rows, pooled in 6 cells'
        """
        from veridical.calibrators._base.frames import fit_frame, is_source

        self._start_fit()
        if isinstance(y, str):
            if not is_source(y_prob):
                hint = "pass one label a row, or a frame that has the column."
                got = f"{y!r} with predictions of type {type(y_prob).__name__}"
                raise invalid(type(self).__name__, "y", "labels", got, hint=hint)
            warn_of(fit_frame(self, y_prob, y, prob, sample_weight))
            return self
        if prob is not None:
            hint = "name the column of labels as well: `fit(frame, y=..., prob=...)`."
            raise invalid(
                type(self).__name__, "prob", "unset unless `y` is a column", repr(prob), hint=hint
            )
        notes = self._fit_arrays(y_prob, y, sample_weight)
        names = text_columns(y_prob)
        if names is not None:
            self._remember_columns(names)
        outcome = names_of(y)
        if outcome is not None and len(outcome) == 1 and not outcome[0].isdigit():
            [self.outcome_name_] = outcome
        warn_of(notes)
        return self

    def _fit_arrays(self, y_prob: Any, y: Any, sample_weight: Any) -> Notes:
        rows = self._read_rows(y_prob, y, sample_weight)
        doubts = direction_doubts(rows, caller=type(self).__name__, pos_label=self.pos_label)
        return self._fit_rows(rows) + doubts

    def _read_rows(self, y_prob: Any, y: Any, sample_weight: Any) -> CheckedRows:
        return check_rows(
            y_prob,
            y,
            sample_weight,
            input=self.input,
            labels=self.labels,
            pos_label=self.pos_label,
            weight_type=self.weight_type,
            caller=type(self).__name__,
        )

    def _fit_rows(self, rows: CheckedRows) -> Notes:
        """Fit to checked rows, the core of `fit`: nothing is checked again and nobody is warned."""
        notes = self._fit_checked(rows)
        self._remember(rows)
        return notes or ()

    def _remember(self, rows: CheckedRows) -> None:
        """Keep of the fitted rows their classes and, if asked to, by what they are known again."""
        self.classes_, self.positive_index_ = np.asarray(rows.classes), rows.positive
        if self.keeps_fingerprint:
            values = rows.oriented(self.input)
            self.fingerprint_ = take_fingerprint(values, rows.y)
            if values.ndim == 1:
                self.score_range_ = (float(values.min()), float(values.max()))

    @property
    def positive_label(self) -> Any:
        """The positive class of two, which a single column is about; None of more classes."""
        self._check_fitted(caller="positive_label")
        return self.classes_.tolist()[self.positive_index_] if len(self.classes_) == 2 else None

    def predict_proba(self, y_prob: ArrayLike) -> FloatArray:
        """Return calibrated probabilities, (n, K) in the order of `classes_`."""
        p = self._predict(self._checked_values(y_prob, caller=type(self).__name__))
        if math.isnan(p.sum()):  # never passed on in silence
            rows = np.isnan(p).any(axis=1)
            got = f"NaN at index {int(rows.argmax())} ({int(rows.sum())} of {len(p)} rows)"
            hint = "are scores of the same kind and size as those it was fitted to?"
            raise invalid(
                type(self).__name__, "y_prob", "where the map has a value", got, hint=hint
            )
        return p

    def transform(
        self,
        frame: Any,
        *,
        prob: str | Sequence[str] | None = None,
        names: str | Sequence[str] | None = None,
    ) -> Any:
        """Add calibrated probabilities to a frame as new columns; arrays become (n, K) ones.

        Parameters
        ----------
        frame : frame, or array-like
            A pandas, polars or pyarrow table; or a query that stays one: a polars LazyFrame, a
            DuckDB relation, a PySpark or Dask DataFrame, an Ibis table. No row of a query is read
            here: the map becomes an expression, which its engine computes when it is asked to.
            Of an array, what `predict_proba` makes of it: calibrators can be steps of a
            scikit-learn `Pipeline`.
        prob : str or sequence of str, optional
            Columns of predictions: one for each class in the order of `classes_`, or of two classes
            that of the positive one, `pos_label`. Default: those it was fitted to, else those
            that names leave no doubt about. Globs are expanded.
        names : str or sequence of str, optional
            Names of the new columns. Default: "calibrated" for one column of predictions, the
            probability of the positive class; else "calibrated_CLASS" for each class.

        Returns
        -------
        frame, or array of shape (n, K)
            Of the same kind, with the columns it had and the new ones; of an array, probabilities
            in the order of `classes_`.

        Raises
        ------
        InvalidInputError
            If a new column would overwrite one; if columns do not fit; and, of a query, if the
            calibrator is not a formula of its inputs (see `to_sql`).

        Notes
        -----
        A row that `predict_proba` would refuse (a value missing, NaN or outside [0, 1], a sum that
        is not one) gets a missing value: a query cannot raise an error when it is written down.
        Tables in memory are given what `predict_proba` says; queries agree with it to 1e-12.

        A `Pipeline` of calibrators takes arrays, and `labels`, if the order of columns is not that
        of sorted labels, on every step; `ChainedCalibrator` needs neither and can be saved. A
        calibrator after a classifier is no pipeline: `CalibratedClassifier` fits it to rows that
        the classifier has not seen.

        Examples
        --------
        >>> import polars as pl
        >>> from veridical.calibrators import HistogramCalibrator
        >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
        >>> map = HistogramCalibrator(n_bins=2).fit(p, y)  # 2/5 up to 1/2, 4/5 above
        >>> map.transform(pl.LazyFrame({"p": [0.25, None, 0.75]})).collect()["calibrated"].to_list()
        [0.4, None, 0.8]
        """
        from veridical.calibrators._base.frames import transform_frame

        self._check_fitted(caller="transform")
        return transform_frame(self, frame, prob, names)

    def inverse(self, threshold: float) -> Cutoff:
        """Return the raw score at which the calibrated probability reaches a threshold.

        Parameters
        ----------
        threshold : float in (0, 1)
            Calibrated probability of the positive class, e.g. from `cost_threshold`.

        Returns
        -------
        Cutoff
            With `.score`: rows whose one column, that of the positive class, is at least this are
            those whose calibrated probability is at least the threshold (`.low` and `.high`
            where the map is level there). It says if the threshold is never reached or always.

        Raises
        ------
        InvalidInputError
            Of more than two classes, where no single score decides.

        Notes
        -----
        Found among the floating-point numbers by bisection, so that the cut-off decides as
        `predict_proba` does, row by row, up to the rounding of the map. A map that falls with the
        score gives the largest score instead (`.falling`). Of one that is not monotone it is the
        smallest score from which on the probability stays at least the threshold (`.monotone`),
        as seen at 5,000 scores and at all places where pieces of the map meet.

        Examples
        --------
        Two bins, of 2/5 up to 1/2 and 4/5 above:

        >>> from veridical.calibrators import HistogramCalibrator
        >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
        >>> map = HistogramCalibrator(n_bins=2).fit(p, y)
        >>> print(map.inverse(0.6))
        the probability of 1 is at least 0.6 above a score of 0.5, where it jumps to 0.8
        >>> print(map.inverse(0.9))
        the probability of 1 is at least 0.9 nowhere: the map goes from 0.4 to 0.8
        """
        from veridical.calibrators._base.cutoffs import cutoff_of

        self._check_fitted(caller="inverse")
        return cutoff_of(self, threshold)

    def explain(self) -> str:
        """Say in two or three sentences what the map does.

        Returns
        -------
        str
            What it does, what becomes of low, middle and high predictions and how that treats the
            model, and which scores it has seen, if it remembers.

        Examples
        --------
        Predictions of 0.9 that are right three times out of four: 9^(1/T) = 3, so T = 2.

        >>> from veridical.calibrators import TemperatureCalibrator
        >>> p, y = [0.9] * 4 + [0.1] * 4, [1, 1, 1, 0, 0, 0, 0, 1]
        >>> print(TemperatureCalibrator(pseudo_rows=0).fit(p, y).explain())
        Divides log odds by 2. As the probability of 1, 0.1 becomes 0.25, 0.5 stays 0.5 and 0.9
        becomes 0.75: the model is taken to be over-confident. Nothing was seen below 0.1 or above
        0.9 in 8 rows.
        """
        from veridical.calibrators._base.words import explanation

        self._check_fitted(caller="explain")
        return explanation(self)

    def _in_words(self) -> str:
        """What the map does, in one sentence; with its figures where they say more."""
        return (inspect.getdoc(type(self)) or "").splitlines()[0]

    def predict(self, y_prob: ArrayLike) -> Array:
        """Return the most probable label of each row; ties go to the first class."""
        return np.asarray(self.classes_)[self.predict_proba(y_prob).argmax(axis=1)]

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary; :meth:`from_dict` reads it back unchanged."""
        return encode(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read back what `to_dict` wrote; on a subclass, that class only."""
        found = decode(data)
        if not isinstance(found, cls):
            hint = "use `Calibrator.from_dict` or the class it was written by."
            got = type(found).__name__
            raise invalid("from_dict", "data", f"a {cls.__name__}", got, hint=hint)
        return found

    def seen(self, y_prob: ArrayLike, y: ArrayLike) -> float:
        """Estimate which share of these rows the calibrator was fitted on.

        Parameters
        ----------
        y_prob : array-like
            Predictions as `fit` takes them, before calibration. Copies in single precision are
            known again; rounded ones are not.
        y : array-like of shape (n,)
            Labels.

        Returns
        -------
        float
            Between 0 and 1, corrected for rows that coincide by chance: predictions of few
            different values say little, and if every row has a double the answer is NaN. For more
            than 1,024 fitted rows it rests on about 1,024 n / (number of fitted rows) of the n
            rows shown, and is NaN if that is none.
        """
        return overlap_of(self, y_prob, y, caller="seen").share

    def forget(self) -> None:
        """Drop the fingerprint and the range of the fitted rows; predictions stay as they are."""
        for name in ("fingerprint_", "score_range_"):
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _start_fit(self) -> None:
        check_option(type(self).__name__, "input", self.input, self._inputs)
        self._check_parameters()
        self.forget()
        for name in ("feature_names_in_", "fitted_on_", "outcome_name_"):
            self.__dict__.pop(name, None)

    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    def _relations(self) -> Relations:
        """What holds between fitted attributes: a name, whether it does, and what is expected."""
        names, n_classes = getattr(self, "feature_names_in_", None), len(self.classes_)
        fits = names is None or len(names) == n_classes or (n_classes == 2 and len(names) == 1)
        yield "feature_names_in_", fits, "one name for each class"
        low, high = getattr(self, "score_range_", (0.0, 0.0))
        yield "score_range_", low <= high, "the least and the largest score"

    def _checked_values(self, y_prob: ArrayLike, *, caller: str) -> FloatArray:
        """Predictions of as many classes as were fitted, of shape (n,) or (n, K)."""
        self._check_fitted(caller=caller)
        check_columns(y_prob, caller=caller)
        if self.input == "probability":
            values = float_array(y_prob, caller=caller, param="y_prob")
            values = check_probabilities(values, caller=caller, option="input", rounded=True)
        else:
            values = check_scores(y_prob, caller=caller)
        columns = 2 if values.ndim == 1 else values.shape[1]
        if columns != len(self.classes_):
            hint = f"it was fitted on {len(self.classes_)} classes: {self.classes_.tolist()[:6]}."
            got, expected = f"{columns}", f"of {len(self.classes_)} classes"
            raise invalid(caller, "y_prob", expected, got, hint=hint)
        names, fitted = text_columns(y_prob), getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and values.ndim == 2:
            if set(names) == set(fitted.tolist()):
                return np.ascontiguousarray(values[:, [names.index(name) for name in fitted]])
            if labels_from_columns(names, self.classes_) is None:
                hint = f"pass the columns it was fitted on: {fitted.tolist()[:6]}."
                raise invalid(caller, "y_prob", "of the same columns", f"{names[:6]}", hint=hint)
        self._check_one_column(names_of(y_prob), caller=caller)
        return arranged_as(values, y_prob, self.classes_.tolist(), caller=caller)

    def _check_one_column(self, names: Sequence[str] | None, *, caller: str) -> None:
        """Raise if a single column is named after the class that the map is not about."""
        if names is not None and len(names) == 1 and len(self.classes_) == 2:
            positive = self.positive_label
            classes = self.classes_.tolist()
            class_of_one_column(names[0], classes, positive, positive, caller=caller)

    def _remember_columns(self, names: Sequence[str]) -> None:
        """Keep the names of the columns it was fitted to, in the order of the classes."""
        caller, classes = type(self).__name__, self.classes_.tolist()
        self.feature_names_in_ = np.asarray(arranged_names(names, classes, caller=caller))

    def _check_fitted(self, *, caller: str) -> None:
        if not self.__sklearn_is_fitted__():
            hint = f"call `{type(self).__name__}.fit(y_prob, y)` first."
            error = invalid(caller, "self", "fitted", "a calibrator that is not", hint=hint)
            from veridical.calibrators._base.unfitted import NotFittedError

            raise NotFittedError(str(error))

    @abstractmethod
    def _fit_checked(self, rows: CheckedRows) -> Notes | None:
        """Fit whatever predictions need beside `classes_`; doubts come back as sentences."""

    @abstractmethod
    def _predict(self, values: FloatArray) -> FloatArray:
        """Return calibrated probabilities (n, K) of checked predictions."""

    def _predict_sharing(self, values: FloatArray, shared: Shared) -> FloatArray:
        """Like `_predict`; what several maps of the same values compute is taken from `shared`."""
        return self._predict(values)

    def _formula(self, inputs: Nodes) -> Nodes:
        """Probability of each class as a formula of K inputs; both in the order of `classes_`."""
        raise NoFormulaError(type(self).__name__)
