"""Rows of which some have a label and all have scores, read and checked once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veridical._core.data.arrays import NamedArray, missing_values, to_numpy
from veridical._core.data.classes import arranged_as, declared_order
from veridical._core.data.columns import names_of
from veridical._core.data.groups import cluster_codes, group_rows
from veridical._core.data.reading import Reading, conversion_in_words
from veridical._core.data.validation import (
    check_probabilities,
    check_sample,
    check_weight,
    float_array,
    tame_weights,
)
from veridical._core.sample import BinarySample, one_hot
from veridical._core.typing import Array, BoolArray, FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.frames.inputs import gather_inputs
from veridical.frames.tables import column_names, expand_columns, open_table

CALLER = "estimate_rate"


@dataclass(frozen=True, eq=False)
class RateRows:
    """Checked rows: those with a label first.

    Attributes
    ----------
    outcome : (m, C) indicators of the class in question (C = 1) or of all K classes
    score : (n, C) probabilities of the same classes
    classes : labels of the C classes
    weight : (n,) positive weights; None if all count alike
    label_prob : (m,) chance with which each labelled row was chosen; None if at random
    strata, keys : (n,) number of each row's stratum, and what strata are called; None without
    clusters : (n,) number of what each row belongs to; None if rows are independent
    notes : what was done to values
    """

    outcome: FloatArray
    score: FloatArray
    classes: tuple[Any, ...]
    weight: FloatArray | None = None
    label_prob: FloatArray | None = None
    strata: IntArray | None = None
    keys: tuple[Any, ...] = ()
    clusters: IntArray | None = None
    notes: tuple[str, ...] = ()

    @property
    def m(self) -> int:
        """Rows with a label."""
        return len(self.outcome)

    @property
    def n(self) -> int:
        """All rows."""
        return len(self.score)

    @cached_property
    def ranks(self) -> FloatArray:
        """Share of rows with a smaller score, and half of those with the same one, (C, n)."""
        return np.stack([ranks_of(score) for score in self.score.T])


def ranks_of(score: FloatArray) -> FloatArray:
    """Ranks from 0 to 1; equal scores share the middle one."""
    order = np.argsort(score)
    ordered = score[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    counts = np.diff(starts, append=len(score))
    ranks = np.empty(len(score))
    ranks[order] = np.repeat((starts + counts / 2) / len(score), counts)
    return ranks


@dataclass(frozen=True)
class RateInput:
    """What a user gave, see `estimate_rate`."""

    y_true: Any
    y_prob: Any = None
    unlabelled: Any = None
    y: str | None = None
    prob: Any = None
    label_prob: Any = None
    strata: Any = None
    groups: Any = None
    sample_weight: Any = None
    labels: Any = None
    pos_label: Any = None
    scale: Any = "probability"
    missing: Any = "error"

    def read(self) -> RateRows:
        """Read and check all of it."""
        return self._of_table() if self.y_prob is None else self._of_arrays()

    def _of_table(self) -> RateRows:
        if self.unlabelled is not None:
            hint = "rows of the frame without a label are the unlabelled ones."
            raise invalid(CALLER, "unlabelled", "unset for a frame", "a value", hint=hint)
        how = Reading(scale=self.scale, missing=self.missing).checked(caller=CALLER)
        inputs = gather_inputs(
            self.y_true,
            None,
            y=self.y,
            prob=self.prob,
            sample_weight=self.sample_weight,
            by=None,
            groups=self.groups,
            how=how,
            labels=self.labels,
            caller=CALLER,
        )
        beside = {name: self._column(name) for name in ("label_prob", "strata")}
        said = () if inputs.said is None else (inputs.said,)
        return self._checked(
            inputs.y_true, inputs.y_prob, inputs.sample_weight, inputs.groups, beside, how, said
        )

    def _column(self, param: str) -> Any:
        """A column of the frame by its name; other values as they are."""
        given = getattr(self, param)
        if not isinstance(given, str):
            return given
        available = column_names(self.y_true, caller=CALLER, param="y_true")
        name = expand_columns([given], available, caller=CALLER, param=param)[0]
        table = open_table(self.y_true, columns=[name], caller=CALLER, param=param)
        return table.column(name, caller=CALLER, param=param)

    def _of_arrays(self) -> RateRows:
        for param in ("y", "prob"):
            if getattr(self, param) is not None:
                hint = f"pass `{CALLER}(y_true, y_prob, unlabelled)` or a frame."
                got = "both arrays and column names"
                raise invalid(CALLER, param, "unset when arrays are given", got, hint=hint)
        for param in ("label_prob", "strata", "groups", "sample_weight"):
            if isinstance(getattr(self, param), str):
                hint = "arrays have no columns: pass one value per row, or a frame."
                got = repr(getattr(self, param))
                raise invalid(CALLER, param, "one value per row", got, hint=hint)
        how = Reading(scale=self.scale, missing=self.missing).checked(caller=CALLER)
        beside = {"label_prob": self.label_prob, "strata": self.strata}
        return self._checked(self.y_true, self.y_prob, self.sample_weight, self.groups, beside, how)

    def _checked(
        self,
        y_true: Any,
        y_prob: Any,
        sample_weight: Any,
        groups: Any,
        beside: dict[str, Any],
        how: Reading,
        said: tuple[str, ...] = (),
    ) -> RateRows:
        """Labelled rows of what was given, its unlabelled ones, and those given apart."""
        y, p, converted = _labels_and_scores(y_true, y_prob, how)
        known = ~(missing_values(y) | _blank(y))
        p, unscored = _scored(p, how)
        if not known.any():
            hint = "label some rows at random: `plan_labels` says how many."
            raise invalid(CALLER, "y_true", "known for some rows", "no label", hint=hint)
        sample = check_sample(
            NamedArray(y[known], names_of(y_true) or ("y_true",), declared_order(y_true)),
            _named(p[known], names_of(y_prob)),
            caller=CALLER,
            labels=self.labels,
            pos_label=self.pos_label,
            option="scale",
        )
        rest = [_arranged(p[~known], y_prob, sample.columns)]
        apart = self._apart(how, p.ndim)
        if apart is not None:
            apart, more = _scored(apart, how, "unlabelled")
            unscored = np.append(unscored, more)
            rest.append(_arranged(apart, self.unlabelled, sample.columns))
        if isinstance(sample, BinarySample):
            outcome: FloatArray = sample.y[:, None].astype(np.float64)
            rest = [_positive(values, sample) for values in rest]
        else:
            outcome = one_hot(sample)
        score = np.concatenate([sample.p, *rest]).astype(np.float64, copy=False)
        n_given, n_all = len(known), len(known) + (0 if apart is None else len(apart))
        place = np.concatenate(
            [np.flatnonzero(known), np.flatnonzero(~known), np.arange(n_given, n_all)]
        )
        weight = check_weight(sample_weight, n_all, caller=CALLER)
        if unscored.any():
            weight = np.where(unscored, 0.0, 1.0 if weight is None else weight)
            converted.append(f"{unscored.sum():,} of {n_all:,} rows dropped: without a score")
        strata, keys = _strata(beside["strata"], n_all)
        clusters = None
        if groups is not None:
            clusters = cluster_codes(groups, np.ones(n_all, dtype=bool), caller=CALLER)[place]
            clusters = None if clusters.max() + 1 == n_all else clusters
        rows = RateRows(
            outcome,
            score.reshape(n_all, -1),
            sample.classes[1:] if isinstance(sample, BinarySample) else sample.classes,
            None if weight is None else tame_weights(weight)[place],
            _label_prob(beside["label_prob"], known, n_all),
            None if strata is None else strata[place],
            keys,
            clusters,
            (*said, *converted, *sample.notes),
        )
        return _of_positive_weight(rows)

    def _apart(self, how: Reading, ndim: int) -> FloatArray | None:
        """Predictions of the rows that were given apart."""
        if self.unlabelled is None:
            return None
        values = float_array(self.unlabelled, caller=CALLER, param="unlabelled")
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != ndim:
            hint = "pass as many columns as `y_prob` has."
            got = f"shape {values.shape}"
            raise invalid(CALLER, "unlabelled", "of the shape of `y_prob`", got, hint=hint)
        return how.probabilities(values, caller=CALLER, param="unlabelled")


def _labels_and_scores(
    y_true: Any, y_prob: Any, how: Reading
) -> tuple[Array, FloatArray, list[str]]:
    """One label a row, which may be missing, probabilities, and what was done to them."""
    y = to_numpy(y_true, caller=CALLER, param="y_true")
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    p = float_array(y_prob, caller=CALLER, param="y_prob")
    p = p[:, 0] if p.ndim == 2 and p.shape[1] == 1 else p
    if y.ndim == 1 and len(y) != len(p):
        hint = "pass one score per label; scores of rows without a label are `unlabelled`."
        got = f"{len(p)} rows for {len(y)} labels"
        raise invalid(CALLER, "y_prob", "as long as `y_true`", got, hint=hint)
    notes = conversion_in_words(how, p)
    return y, how.probabilities(p, caller=CALLER, param="y_prob"), notes


def _blank(y: Array) -> BoolArray:
    """Labels that are texts without a letter."""
    if y.dtype.kind not in "OUT":
        return np.zeros(len(y), dtype=bool)
    marks = (isinstance(label, str) and not label.strip() for label in y.tolist())
    return np.fromiter(marks, dtype=bool, count=len(y))


def _scored(p: FloatArray, how: Reading, param: str = "y_prob") -> tuple[FloatArray, BoolArray]:
    """Checked probabilities, and which rows have none, if these are to be dropped."""
    absent: BoolArray = np.asarray(np.isnan(p if p.ndim == 2 else p[:, None]).any(axis=1))
    if how.missing == "drop" and absent.any():
        p = p.copy()
        p[absent] = 0.5 if p.ndim == 1 else 1 / p.shape[1]  # such rows will have no weight
    else:
        absent = np.zeros(len(p), dtype=bool)
    return check_probabilities(p, caller=CALLER, param=param, option="scale", rounded=True), absent


def _named(values: FloatArray, names: Any) -> Any:
    return values if names is None else NamedArray(values, names)


def _arranged(values: FloatArray, y_prob: Any, columns: tuple[Any, ...]) -> FloatArray:
    return arranged_as(values, y_prob, columns, caller=CALLER)


def _positive(values: FloatArray, sample: BinarySample) -> FloatArray:
    """Probability of the positive class of two, of one column or of both."""
    return values if values.ndim == 1 else values[:, 0 if sample.positive_first else 1]


def _strata(strata: Any, n: int) -> tuple[IntArray | None, tuple[Any, ...]]:
    if strata is None:
        return None, ()
    groups = group_rows([strata], caller=CALLER)
    if len(groups.codes) != n:
        hint = "pass one key for each row, those of `unlabelled` last."
        got = f"{len(groups.codes)} keys"
        raise invalid(CALLER, "strata", f"of {n} rows", got, hint=hint)
    return groups.codes, tuple(groups.keys)


def _label_prob(given: Any, known: BoolArray, n: int) -> FloatArray | None:
    """Chances of the labelled rows; no row may have had none."""
    if given is None:
        return None
    chance = float_array(given, caller=CALLER, param="label_prob").astype(np.float64)
    if chance.shape not in ((len(known),), (n,), (int(known.sum()),)):
        hint = "pass one chance for each labelled row, or for each row."
        got = f"shape {chance.shape}"
        raise invalid(CALLER, "label_prob", f"of {int(known.sum())} rows", got, hint=hint)
    if len(chance) != int(known.sum()):
        if (chance == 0).any():
            hint = "rows that could never be labelled are no part of what is estimated: drop them."
            got = f"0 for {int((chance == 0).sum())} rows"
            raise invalid(CALLER, "label_prob", "above 0 for every row", got, hint=hint)
        chance = chance[: len(known)][known]
    if not ((chance > 0) & (chance <= 1)).all():
        hint = "pass the chance with which each labelled row was chosen."
        got = f"{chance[~((chance > 0) & (chance <= 1))][0]:.6g}"
        raise invalid(CALLER, "label_prob", "above 0 and at most 1", got, hint=hint)
    return chance


def _of_positive_weight(rows: RateRows) -> RateRows:
    """Rows that count; a weight of zero means that a row is not there."""
    if rows.weight is None or rows.weight.all():
        return rows
    kept = rows.weight > 0
    first = kept[: rows.m]
    if not first.any():
        hint = "give at least one row with a label a positive weight."
        raise invalid(CALLER, "sample_weight", "positive for a labelled row", "0", hint=hint)
    return RateRows(
        rows.outcome[first],
        rows.score[kept],
        rows.classes,
        rows.weight[kept],
        None if rows.label_prob is None else rows.label_prob[first],
        None if rows.strata is None else rows.strata[kept],
        rows.keys,
        None if rows.clusters is None else np.unique(rows.clusters[kept], return_inverse=True)[1],
        rows.notes,
    )
