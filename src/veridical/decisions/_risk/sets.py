"""Sets of classes that contain the right one as often as promised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from veridical._core.data.groups import Groups, group_rows
from veridical._core.data.validation import check_level, check_option, check_sample, kept_rows
from veridical._core.sample import Sample
from veridical._core.typing import ArrayLike, BoolArray, FloatArray
from veridical.decisions._priors.class_numbers import ClassColumns, check_columns, check_priors
from veridical.decisions._risk.answers import exact_limits
from veridical.exceptions import invalid, warn_of
from veridical.results import CoverageRow, SetCoverage

_METHODS = ("lac", "aps")
_ROUNDING = 1e-9  # of a number of rows


@dataclass(kw_only=True)
class PredictionSets:
    r"""Sets of classes that contain the true one with a promised chance (conformal prediction).

    Parameters
    ----------
    method : {"lac", "aps"}, default "lac"
        "lac": every class whose probability is large enough: the smallest sets on average, empty
        where no class is. "aps": classes from the most probable on, until they add up to enough,
        the last one included: never empty, larger, and more even between easy and hard rows.
    level : float, default 0.9
        Share of the sets that contain the class that occurs, over rows like those of `fit`.
    by : {None, "class"}, default None
        "class" keeps the promise for the rows of each class by itself. For groups of rows pass
        their keys to `fit` and `predict`.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.

    Attributes
    ----------
    thresholds_ : array of shape (G, K)
        Largest score with which a class is in the set, for each group (one without groups) and
        class; infinite where rows are too few to leave any class out.
    groups_ : tuple
        Keys of the groups; empty without groups.
    classes_ : array of shape (K,)
        Labels in the order of columns.

    Notes
    -----
    The score of a class is 1 - p ("lac", [1]_) or the sum of all larger probabilities ("aps", [2]_
    without its randomisation: that the most probable class has the score 0 is what keeps sets
    from being empty). Of the n rows of `fit`, the threshold is the
    :math:`\lceil (n + 1)\,\text{level} \rceil`-th smallest score of the class that occurred: the
    set of a new row contains its class with at least that chance, whatever the model, if rows are
    exchangeable. It is a promise on average over rows (and over samples of `fit`), not for each
    row. Sets are small where probabilities are sharp and right: calibrate first, on other rows.

    `priors` says how frequent classes are where sets are used; rows then count by the ratio of
    their class's share to that in `fit` ([3]_). Equal probabilities are in or out together.

    References
    ----------
    .. [1] Sadinle, Lei & Wasserman (2019), Least ambiguous set-valued classifiers with bounded
       error levels, J. Amer. Statist. Assoc. 114, 223-234, doi 10.1080/01621459.2017.1395341.
    .. [2] Romano, Sesia & Candes (2020), Classification with valid and adaptive coverage,
       NeurIPS 33, arXiv 2006.02544.
    .. [3] Podkopaev & Ramdas (2021), Distribution-free uncertainty quantification for
       classification under label shift, UAI, arXiv 2103.03323.

    Examples
    --------
    The classes that occurred had 1 - p of 0.1, 0.2, ..., 0.9. For a level of 0.8 the threshold is
    the eighth of them: classes of 0.2 or more are in the set.

    >>> p = np.arange(1, 10) / 10
    >>> sets = PredictionSets(level=0.8).fit(p, [1] * 9)
    >>> round(float(sets.thresholds_[0, 0]), 9)
    0.8
    >>> sets.predict([0.5, 0.95]).tolist()
    [[True, True], [False, True]]
    """

    method: Literal["lac", "aps"] = "lac"
    level: float = 0.9
    by: Literal["class"] | None = None
    labels: ArrayLike | None = None
    pos_label: Any = None

    def fit(
        self,
        y_prob: ArrayLike,
        y: ArrayLike,
        *,
        by: ArrayLike | None = None,
        priors: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the thresholds on rows that neither model nor calibrator has seen.

        Parameters
        ----------
        y_prob : array-like of shape (n,), (n, 1) or (n, K)
            Calibrated probabilities.
        y : array-like of shape (n,)
            The class that occurred in each row.
        by : array-like of shape (n,), optional
            Keys of groups, for each of which the promise is kept by itself.
        priors : float, list or mapping, optional
            Shares of the classes where sets are used, if they are others than here.
        sample_weight : array-like of shape (n,), optional
            Weights; a new row weighs as much as these do on average.

        Returns
        -------
        PredictionSets
            This object.
        """
        caller = f"{type(self).__name__}.fit"
        level = check_level(caller, self.level, "level")
        check_option(caller, "method", self.method, _METHODS)
        if self.by not in (None, "class"):
            hint = "keys of groups are given to `fit` and `predict`."
            raise invalid(caller, "by", 'None or "class"', repr(self.by), hint=hint)
        sample = self._sample(y_prob, y, sample_weight, caller)
        groups = None if by is None else _groups(by, kept_rows(sample_weight, sample), caller)
        weight = (
            np.ones(sample.n) if sample.weight is None else sample.weight / sample.weight.mean()
        )
        ratio = _ratios(sample, weight, priors, caller)
        weight = weight * ratio[sample.index]
        score = _scores(sample.matrix, self.method)[np.arange(sample.n), sample.index]

        def row(inside: BoolArray) -> list[float]:
            """Threshold of each class from some of the rows."""
            found = []
            for k, own in enumerate(ratio):
                rows = inside & (sample.index == k) if self.by == "class" else inside
                found.append(_quantile(score[rows], weight[rows], float(own), level))
            return found

        keys = [] if groups is None else groups.keys
        parts = [groups.codes == code for code in range(len(keys))] if groups is not None else []
        self.thresholds_ = np.array([row(np.ones(sample.n, dtype=bool)), *map(row, parts)])
        self.groups_ = tuple(keys)
        self.classes_ = np.asarray(sample.columns)
        if np.isinf(self.thresholds_).any():
            least = math.ceil(level / (1 - level) - _ROUNDING)
            whose = " of each class" * (self.by == "class") + " of each group" * bool(keys)
            text = f"sets hold every class where there are fewer than {least} rows{whose}"
            warn_of((text,), caller=caller)
        return self

    def predict(self, y_prob: ArrayLike, *, by: ArrayLike | None = None) -> BoolArray:
        """Which classes are in the set of each row, (n, K) in the order of `classes_`.

        Rows of groups that were not fitted get the thresholds of all rows, for which nothing is
        promised by group.
        """
        columns, limits = self._read(y_prob, by, "predict")
        return np.asarray(_scores(columns.matrix, self.method) <= limits)

    def predict_labels(self, y_prob: ArrayLike, *, by: ArrayLike | None = None) -> list[list[Any]]:
        """The set of each row as labels, the most probable first."""
        columns, limits = self._read(y_prob, by, "predict_labels")
        member = _scores(columns.matrix, self.method) <= limits
        order = np.argsort(-columns.matrix, axis=1, kind="stable")
        names = self.classes_.tolist()
        return [
            [names[k] for k in classes if inside[k]]
            for classes, inside in zip(order, member, strict=True)
        ]

    def coverage(
        self,
        y_prob: ArrayLike,
        y: ArrayLike,
        *,
        by: ArrayLike | None = None,
        confidence_level: float = 0.95,
    ) -> SetCoverage:
        """How often sets contain the class that occurred, on rows that `fit` has not seen.

        Limits are exact ones of shares (Clopper & Pearson), each by itself.
        """
        caller = f"{type(self).__name__}.coverage"
        level = check_level(caller, confidence_level)
        columns, limits = self._read(y_prob, by, "coverage")
        sample = self._sample(y_prob, y, None, caller, self.classes_)
        member = _scores(columns.matrix, self.method) <= limits
        hit = member[np.arange(sample.n), sample.index]
        size = member.sum(axis=1)

        def row(part: Any, rows: BoolArray) -> CoverageRow:
            count, n = int(hit[rows].sum()), int(rows.sum())
            low, high = exact_limits(count, n, level)
            return CoverageRow(
                part=str(part),
                coverage=count / n,
                low=float(low),
                high=float(high),
                size=float(size[rows].mean()),
                n_samples=n,
            )

        every = np.ones(sample.n, dtype=bool)
        classes = [(name, sample.index == k) for k, name in enumerate(sample.columns)]
        groups: list[tuple[Any, BoolArray]] = []
        if by is not None:
            found = _groups(by, every, caller)
            groups = [(key, found.codes == code) for code, key in enumerate(found.keys)]
        return SetCoverage(
            total=row("all", every),
            by_class=tuple(row(name, rows) for name, rows in classes if rows.any()),
            by_group=tuple(row(key, rows) for key, rows in groups),
            empty=float((size == 0).mean()),
            single=float((size == 1).mean()),
            level=float(self.level),
            confidence_level=level,
            method=self.method,
        )

    def _sample(
        self, y_prob: Any, y: Any, sample_weight: Any, caller: str, classes: Any = None
    ) -> Sample:
        return check_sample(
            y,
            y_prob,
            caller=caller,
            labels=self.labels if classes is None else classes,
            pos_label=self.pos_label,
            sample_weight=sample_weight,
            predictions_first=True,
        )

    def _read(self, y_prob: Any, by: Any, method: str) -> tuple[ClassColumns, FloatArray]:
        """Probabilities, and the thresholds of each row, (n, K) or (1, K)."""
        caller = f"{type(self).__name__}.{method}"
        if not hasattr(self, "thresholds_"):
            hint = "call `fit` with rows that the model has not seen."
            raise invalid(caller, type(self).__name__, "fitted", "one that is not", hint=hint)
        columns = check_columns(
            y_prob, labels=self.classes_, pos_label=self.pos_label, caller=caller
        )
        if not self.groups_:
            return columns, self.thresholds_[:1]
        if by is None:
            hint = "pass the group of each row, as to `fit`."
            raise invalid(caller, "by", "given to sets by group", "None", hint=hint)
        groups = _groups(by, np.ones(len(columns.p), dtype=bool), caller)
        known = {key: code + 1 for code, key in enumerate(self.groups_)}
        new = [key for key in groups.keys if key not in known]
        if new:
            text = f"group {new[0]!r} was not fitted: nothing is promised of it by itself"
            warn_of((text,), caller=caller)
        rows = np.array([known.get(key, 0) for key in groups.keys])
        return columns, self.thresholds_[rows[groups.codes]]


def _groups(by: Any, kept: BoolArray, caller: str) -> Groups:
    return group_rows([by], caller=caller).kept(kept, caller)


def _ratios(sample: Sample, weight: FloatArray, priors: Any, caller: str) -> FloatArray:
    """How much more frequent each class is where sets are used than it is here."""
    n_classes = len(sample.columns)
    if priors is None:
        return np.ones(n_classes)
    positive = sample.columns.index(sample.classes[-1])
    columns = ClassColumns(p=sample.matrix, labels=tuple(sample.columns), positive=positive)
    target = check_priors(priors, columns, caller=caller, param="priors")
    share = np.bincount(sample.index, weight, minlength=n_classes) / weight.sum()
    if ((share == 0) & (target > 0)).any():
        hint = "rows of it are needed to know its scores."
        got = f"none of {sample.columns[int(((share == 0) & (target > 0)).argmax())]!r}"
        raise invalid(caller, "y", "of every class that `priors` names", got, hint=hint)
    return np.divide(target, share, out=np.zeros(n_classes), where=share > 0)


def _scores(p: FloatArray, method: str) -> FloatArray:
    """Score of every class, (n, K); the smaller, the earlier a class is in the set."""
    p = p.astype(np.float64)
    if method == "lac":
        return 1 - p
    order = np.argsort(-p, axis=1, kind="stable")
    ranked = np.take_along_axis(p, order, axis=1)
    before = np.cumsum(ranked, axis=1) - ranked
    smaller = ranked[:, 1:] < ranked[:, :-1]
    first = np.maximum.accumulate(np.where(smaller, np.arange(1, p.shape[1]), 0), axis=1)
    first = np.concatenate([np.zeros((len(p), 1), dtype=np.intp), first], axis=1)
    found = np.empty_like(p)  # equal ones have the sum before the first of them
    np.put_along_axis(found, order, np.take_along_axis(before, first, axis=1), axis=1)
    return found


def _quantile(score: FloatArray, weight: FloatArray, own: float, level: float) -> float:
    """Smallest score up to which rows weigh `level` of all and one more row, of weight `own`."""
    order = np.argsort(score, kind="stable")
    reached = np.cumsum(weight[order])
    total = float(reached[-1]) if len(order) else 0.0
    wanted = level * (total + own)
    at = int(np.searchsorted(reached, wanted - _ROUNDING * max(1.0, total)))
    return float(score[order[at]]) if at < len(order) else math.inf
