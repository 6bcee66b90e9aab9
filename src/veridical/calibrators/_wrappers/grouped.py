"""One map for each group of rows, pulled towards the map of all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np

from veridical._core.data.arrays import to_numpy
from veridical._core.data.groups import Groups, group_rows
from veridical._core.data.options import check_non_negative
from veridical._core.data.schema import Fields, Label, Number, Numbers, Relations, Several, Text
from veridical._core.formula import Formula, Nodes
from veridical._core.typing import Array, ArrayLike, FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.cutoffs import cutoff_of
from veridical.calibrators._base.exporting import formula_of
from veridical.calibrators._base.folds import held_out_masses, row_masses, rows_of_mass
from veridical.calibrators._base.frames import read_columns
from veridical.calibrators._base.nodes import positive_class_last
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import CheckedRows, direction_doubts, positive_last
from veridical.calibrators._base.words import explanation
from veridical.calibrators._wrappers.wrapping import (
    WrappingCalibrator,
    fit_part,
    fit_part_if_possible,
    fresh_part,
    predict_part,
)
from veridical.exceptions import invalid, warn_of
from veridical.results import Cutoff


@dataclass(eq=False, repr=False)
class GroupedCalibrator(WrappingCalibrator):
    r"""A map for each group (site, segment, language), shrunk towards the map of all rows.

    .. math:: c(p \mid g) = \frac{n_g}{n_g + s}\, m_g(p) + \frac{s}{n_g + s}\, m(p)

    :math:`n_g` is the sample size of the group, s the `shrinkage`. A small group gets what all
    rows say, a large one what its own rows say; a group that was not fitted gets m.

    Parameters
    ----------
    calibrator : Calibrator
        What is fitted, once for each group and once for all rows.
    shrinkage : float or "auto", default 100
        Rows of a group at which its own map has half of the weight; 0 for groups on their own.
        "auto": the one of 0, 10, 30, 100, ..., 10,000, and 1e12 for no maps of groups, that is best
        on held-out rows.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as the wrapped calibrator takes them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    pooled_ : Calibrator
        Map of all rows.
    groups_ : list
        Keys of the groups, sorted.
    parts_ : list of calibrators or None
        Map of each group; None where its rows alone cannot be fitted, and the pooled one is used.
    sizes_ : array
        Sample size of each group.
    group_name_ : str
        Column of the groups, if they were named.
    shrinkage_ : float
        What was chosen, for "auto"; 1e12 where the groups' own maps do not help and have no weight.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    The weight is that of credibility theory [1]_, where s is the variance within groups over the
    variance between them. "auto" estimates it: maps are fitted to folds, and log loss on the rows
    left out decides, at five times the work. Averages are of probabilities, so that maps may say 0
    or 1. The average of two calibrated forecasts is under-confident, the more so the less they
    agree [2]_.

    Calibration within each of a few known groups is not that within all their intersections.
    To be saved, keys have to be texts, numbers or booleans. Time: two fits of the map in all.

    References
    ----------
    .. [1] Bühlmann (1967), Experience rating and credibility, ASTIN Bulletin 4, 199-207.
    .. [2] Ranjan & Gneiting (2010), Combining probability forecasts, Journal of the Royal
       Statistical Society B 72, 71-91, doi 10.1111/j.1467-9868.2009.00726.x.

    Examples
    --------
    Group "a" has 4 rows of which 3 are positive, group "b" 4 of which 1 is; all together 1/2.
    With s = 4 both are half-way: 5/8 and 3/8.

    >>> from veridical.calibrators import IsotonicCalibrator
    >>> calibrator = GroupedCalibrator(IsotonicCalibrator(laplace=0), shrinkage=4)
    >>> calibrator = calibrator.fit([0.5] * 8, [1, 1, 1, 0, 1, 0, 0, 0], by=list("aaaabbbb"))
    >>> calibrator.predict_proba([0.5] * 3, by=["a", "b", "c"])[:, 1].tolist()
    [0.625, 0.375, 0.5]
    """

    _fitted = Fields(
        pooled_=Part(),
        groups_=Several(Label(), "g"),
        parts_=Several(Part(none=True), "g"),
        sizes_=Numbers("g", above=0),
        group_name_=Text(optional=True),
        shrinkage_=Number(low=0, optional=True),
    )

    calibrator: Calibrator
    _: KW_ONLY
    shrinkage: float | str = 100.0

    def fit(
        self,
        y_prob: ArrayLike,
        y: ArrayLike | str,
        sample_weight: ArrayLike | str | None = None,
        *,
        prob: str | Sequence[str] | None = None,
        by: ArrayLike | str | None = None,
    ) -> Self:
        """Fit the maps.

        Parameters
        ----------
        y_prob, y, sample_weight, prob
            As for every calibrator; columns of a query are read into memory.
        by : array-like of shape (n,), or the name of a column
            Group of each row; required.

        Returns
        -------
        self
        """
        caller = type(self).__name__
        self._start_fit()
        for name in ("group_name_", "shrinkage_"):
            self.__dict__.pop(name, None)
        columns, group_name = None, by if isinstance(by, str) else None
        if isinstance(y, str):
            y_prob, y, sample_weight, by, _, columns = read_columns(
                y_prob, y, prob, sample_weight, by, caller=caller
            )
        groups = _groups(by, caller)
        rows = self._read_rows(y_prob, y, sample_weight)
        if sample_weight is not None:  # rows of weight zero are gone
            weight = to_numpy(sample_weight, caller=caller, param="sample_weight").reshape(-1)
            _check_length(groups, len(weight), caller)
            groups = Groups(groups.codes[weight != 0], groups.keys)
        _check_length(groups, len(rows.y), caller)
        notes = self._fit_rows(rows) + direction_doubts(
            rows, caller=caller, pos_label=self.pos_label
        )
        self.groups_: list[Any] = []
        self.parts_: list[Calibrator | None] = []
        sizes = []
        for key, members in _members(groups):
            group, part = rows.take(members), self._part()
            found = fit_part_if_possible(part, group)
            self.groups_.append(key)
            self.parts_.append(None if found is None else part)
            sizes.append(group.size)
            notes += found or ()
        self.sizes_ = np.asarray(sizes)
        if self.shrinkage == "auto":
            self.shrinkage_ = _best_shrinkage(
                self._part(), replace(rows, codes=groups.codes[:, None])
            )
        if columns is not None:
            self._remember_columns(columns.prob)
            self.outcome_name_ = columns.y
        if group_name is not None:
            self.group_name_ = group_name
        warn_of(notes)
        return self

    def predict_proba(self, y_prob: ArrayLike, *, by: ArrayLike | None = None) -> FloatArray:
        """Return calibrated probabilities, (n, K) in the order of `classes_`.

        Parameters
        ----------
        y_prob : array-like
            Predictions.
        by : array-like of shape (n,)
            Group of each row; required. A group unknown to `fit` gets the pooled map.
        """
        caller = type(self).__name__
        values = self._checked_values(y_prob, caller=caller)
        groups = _groups(by, caller)
        _check_length(groups, len(values), caller)
        if values.ndim == 2:
            values = positive_last(values, self.positive_index_)
        result = self._combine(values)
        known = {key: index for index, key in enumerate(self.groups_)}
        for key, members in _members(groups):
            index = known.get(key)
            part = None if index is None else self.parts_[index]
            if part is not None:
                size = float(self.sizes_[index])
                share = self._share(size)
                own = part.predict_proba(values[members])
                result[members] = share * own + (1 - share) * result[members]
        return positive_last(result, self.positive_index_)

    def predict(self, y_prob: ArrayLike, *, by: ArrayLike | None = None) -> Array:
        """Return the most probable label of each row; ties go to the first class."""
        return np.asarray(self.classes_)[self.predict_proba(y_prob, by=by).argmax(axis=1)]

    def inverse(self, threshold: float, *, by: Any = None) -> Cutoff:
        """Return the raw score at which the calibrated probability of a group reaches a threshold.

        Parameters
        ----------
        threshold : float in (0, 1)
            Calibrated probability of the positive class.
        by : group key
            Whose cut-off; required. A group unknown to `fit` has that of the pooled map.

        Returns
        -------
        Cutoff
            As for every calibrator.
        """
        self._check_fitted(caller="inverse")
        _groups(None if by is None else [by], type(self).__name__)
        place = self.positive_index_
        return cutoff_of(
            self, threshold, lambda s: self.predict_proba(s, by=[by] * len(s))[:, place]
        )

    def explain(self) -> str:
        """Say in two or three sentences what the map does; figures are of the pooled map."""
        self._check_fitted(caller="explain")
        return explanation(self, self._predict)

    def _in_words(self) -> str:
        own = f"{sum(part is not None for part in self.parts_)} of {len(self.parts_)}"
        words = self.pooled_._in_words().rstrip(".")
        return (
            f"Averages the map of a group ({own} have one) and that of all rows:"
            f" {words[0].lower()}{words[1:]}."
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.shrinkage, str) and self.shrinkage == "auto":
            return
        caller, hint = type(self).__name__, '100 is the default; 0 turns it off, "auto" chooses.'
        expected = 'a number of 0 or more, or "auto"'
        check_non_negative(caller, "shrinkage", self.shrinkage, hint=hint, expected=expected)

    def _relations(self) -> Relations:
        yield from super()._relations()
        chosen = self.shrinkage != "auto" or hasattr(self, "shrinkage_")
        yield "shrinkage_", chosen, "there, as `shrinkage` is auto"

    def _share(self, size: float) -> float:
        """Weight of the own map of a group of this size."""
        shrinkage = self.shrinkage_ if self.shrinkage == "auto" else float(self.shrinkage)
        return 0.0 if shrinkage >= _NONE else size / (size + shrinkage)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        self.pooled_ = self._part()
        return fit_part(self.pooled_, rows)

    def _combine(self, values: FloatArray) -> FloatArray:
        return self.pooled_.predict_proba(values)

    def _part_nodes(self, part: Calibrator, inputs: Nodes) -> Nodes:
        outputs = part._formula(positive_class_last(inputs, self.positive_index_))
        return positive_class_last(outputs, self.positive_index_)


@dataclass(frozen=True)
class GroupFormula:
    """The map of a group: its share of its own formula, and the rest of that of all rows."""

    key: Any
    share: float
    outputs: Nodes


def group_formulas(
    calibrator: GroupedCalibrator, *, one_column: bool, caller: str
) -> tuple[Formula, list[GroupFormula]]:
    """Formula of all rows, which other groups have, and those of groups with a map of their own."""

    def written(part: Calibrator) -> Formula:
        return formula_of(
            calibrator,
            one_column=one_column,
            caller=caller,
            outputs_of=lambda inputs: calibrator._part_nodes(part, inputs),
        )

    groups = zip(calibrator.groups_, calibrator.sizes_.tolist(), calibrator.parts_, strict=True)
    found = [
        GroupFormula(key, calibrator._share(size), written(part).outputs)
        for key, size, part in groups
        if part is not None
    ]
    return written(calibrator.pooled_), found


_NONE = 1e12  # shrinkage of groups without maps of their own
_SHRINKAGES = (_NONE, 10_000.0, 3_000.0, 1_000.0, 300.0, 100.0, 30.0, 10.0, 0.0)
_FOLDS = 5
_LEAST = 1e-15  # of a probability that a map says is zero


def _best_shrinkage(blank: Calibrator, rows: CheckedRows) -> float:
    """Shrinkage of least log loss on held-out rows; `rows.codes` are groups, in one column."""
    masses = row_masses(rows)
    total = np.zeros(len(_SHRINKAGES))
    for held in held_out_masses(rows, _FOLDS):
        kept, rest = rows_of_mass(rows, masses - held), rows_of_mass(rows, held)
        pooled = fresh_part(blank)
        if fit_part_if_possible(pooled, kept) is None:
            return _NONE
        p = predict_part(pooled, rest.values)
        own, size = p.copy(), np.zeros(len(p))
        assert rest.codes is not None
        assert kept.codes is not None
        for group in np.unique(rest.codes[:, 0]).tolist():
            members, part = kept.take(kept.codes[:, 0] == group), fresh_part(blank)
            here = rest.codes[:, 0] == group
            if len(members.y) and fit_part_if_possible(part, members) is not None:
                own[here], size[here] = predict_part(part, rest.values[here]), members.size
        weight = np.ones(len(p)) if rest.weight is None else rest.weight
        places = np.arange(len(p)), rest.y
        for k, shrinkage in enumerate(_SHRINKAGES):
            share = np.zeros(len(p))
            if shrinkage < _NONE:
                share = size / np.maximum(size + shrinkage, 1.0)
            mixed = share * own[places] + (1 - share) * p[places]
            total[k] -= float(weight @ np.log(np.maximum(mixed, _LEAST)))
    return _SHRINKAGES[int(np.argmin(total))]


def _groups(by: ArrayLike | None, caller: str) -> Groups:
    if by is None:
        hint = "pass the group of each row: `by=...`, when fitting and when predicting."
        raise invalid(caller, "by", "given", "None", hint=hint)
    return group_rows([by], caller=caller)


def _check_length(groups: Groups, n: int, caller: str) -> None:
    if len(groups.codes) != n:
        got = f"{len(groups.codes)} keys for {n} rows"
        hint = "pass one group key per row."
        raise invalid(caller, "by", "as long as `y_prob`", got, hint=hint)


def _members(groups: Groups) -> Iterator[tuple[Any, IntArray]]:
    """Key and row numbers of each group that has rows."""
    order = np.argsort(groups.codes, kind="stable")
    starts = np.searchsorted(groups.codes[order], np.arange(len(groups.keys) + 1))
    for index, key in enumerate(groups.keys):
        members = order[starts[index] : starts[index + 1]]
        if members.size:
            yield key, members
