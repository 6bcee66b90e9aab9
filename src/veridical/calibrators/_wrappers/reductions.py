"""Maps of two classes for several: each class against the rest, by prediction, or the largest."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from veridical._core import formula
from veridical._core.data.options import check_flag
from veridical._core.data.schema import Fields, Numbers, Relations, Several
from veridical._core.data.validation import check_scores, is_number
from veridical._core.sample import weighted_mean
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._base.bases import BinaryCalibrator
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.fitting import fit_rows
from veridical.calibrators._base.nodes import NoFormulaError, both_columns, positive_class_last
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import CheckedRows, top_class, two_columns
from veridical.calibrators._softmax.softmax import row_sums, softmax_in_place
from veridical.calibrators._steps.histogram import HistogramCalibrator
from veridical.calibrators._wrappers.scaling_binning import ScalingBinningCalibrator
from veridical.calibrators._wrappers.wrapping import (
    WrappingCalibrator,
    fit_part,
    fit_part_if_possible,
    predict_part,
)
from veridical.exceptions import invalid

_BINNED = (HistogramCalibrator, ScalingBinningCalibrator)  # few values, whatever the rows are
_NOTICED = 0.01  # of accuracy


@dataclass(eq=False, repr=False)
class ClassConditionalCalibrator(WrappingCalibrator):
    """One map for each predicted class, fitted to the rows with that prediction.

    A model may be over-confident where it says "cat" and too modest where it says "dog"; one map
    for all averages the two. Any calibrator can be wrapped, of the whole vector
    (`TemperatureCalibrator`) or of the top class only (`ConfidenceReducedCalibrator`).

    Parameters
    ----------
    calibrator : Calibrator
        What is fitted, in one copy for each class.
    min_rows : float, default 50
        Classes predicted in fewer rows (effective size) use the map fitted to all rows.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are; the predicted class has the largest of them, the first if several.
        One score of two classes predicts the positive one if it is above 0.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    pooled_ : Calibrator
        Map fitted to all rows.
    parts_ : list of K calibrators or None
        Map of each predicted class; None where the pooled one is used: too few rows, or rows that
        cannot be fitted alone.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    "Class-wise calibration" of [1]_; around `ConfidenceReducedCalibrator` it is top-label
    calibration [2]_. The map jumps where the predicted class changes. Each map has
    only a share of the rows, so its error is larger: worth it if classes differ and there are
    some hundred rows of each. Time: two fits of the map in all, on average.

    References
    ----------
    .. [1] Panchenko, Benmerzoug & de Benito Delgado (2022), Class-wise and reduced calibration
       methods, ICMLA, arXiv 2210.03702.
    .. [2] Gupta & Ramdas (2022), Top-label calibration and multiclass-to-binary reductions, ICLR,
       arXiv 2107.08353.

    Examples
    --------
    Of four rows that say "1" with 0.9 three are right, of four that say "0" two: T is such that
    0.9 becomes 3/4 for the one and 1/2 for the other.

    >>> from veridical.calibrators import TemperatureCalibrator
    >>> calibrator = ClassConditionalCalibrator(TemperatureCalibrator(pseudo_rows=0), min_rows=4)
    >>> calibrator = calibrator.fit([0.9] * 4 + [0.1] * 4, [1, 1, 1, 0, 1, 1, 0, 0])
    >>> calibrator.predict_proba([0.9, 0.1])[:, 1].round(6).tolist()
    [0.75, 0.5]
    """

    _fitted = Fields(pooled_=Part(), parts_=Several(Part(none=True), "K"))

    calibrator: Calibrator
    _: KW_ONLY
    min_rows: float = 50

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_number(self.min_rows) or self.min_rows < 1:
            caller, hint = type(self).__name__, "50 is the default."
            expected = "a number of 1 or more"
            raise invalid(caller, "min_rows", expected, repr(self.min_rows), hint=hint)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        self.pooled_ = self._part()
        notes = fit_part(self.pooled_, rows)
        top = top_class(two_columns(rows.values, self.input), rows.positive)
        self.parts_: list[Calibrator | None] = []
        for k in range(len(rows.classes)):
            chosen = rows.take(top == k)
            enough = len(chosen.y) > 0 and chosen.size * (1 + 1e-12) >= self.min_rows
            part = self._part()
            found = fit_part_if_possible(part, chosen) if enough else None
            self.parts_.append(None if found is None else part)
            notes += found or ()
        return notes

    def _combine(self, values: FloatArray) -> FloatArray:
        matrix = two_columns(values, self.input)
        top = top_class(matrix, self.positive_index_)
        result = np.empty(matrix.shape)
        for k, part in enumerate(self.parts_):
            chosen = top == k
            if chosen.any():
                result[chosen] = (part or self.pooled_).predict_proba(values[chosen])
        return result

    def _in_words(self) -> str:
        kind, own = type(self.calibrator).__name__, sum(part is not None for part in self.parts_)
        others = "" if own == len(self.parts_) else ", and one of all rows for the others"
        return f"Has {own} maps ({kind}), for as many predicted classes of their own{others}."

    def _formula(self, inputs: formula.Nodes) -> formula.Nodes:
        # Keys stay in the order of classes, so that the first of equal ones is chosen there too.
        chosen = positive_class_last(self.parts_, self.positive_index_)
        turned = positive_class_last(inputs, self.positive_index_)
        branches = [(part or self.pooled_)._formula(turned) for part in chosen]
        branches = [positive_class_last(each, self.positive_index_) for each in branches]
        return tuple(
            formula.OfLargest(inputs, tuple(branch[k] for branch in branches))
            for k in range(len(inputs))
        )


def odds_of_class(logits: FloatArray, index: IntArray) -> FloatArray:
    """Return z_k - log sum_{j != k} exp(z_j), with k given for each row.

    Exact where the softmax has saturated: 1 - p is never formed.
    """
    from scipy.special import logsumexp

    others = logits.copy()
    rows = np.arange(len(logits))
    others[rows, index] = -np.inf
    return np.asarray(logits[rows, index] - logsumexp(others, axis=1))


def odds_against_rest(logits: FloatArray) -> FloatArray:
    """Log odds of every class against the others, (n, K). O(n K)."""
    from scipy.special import logsumexp

    log_p = logits - logsumexp(logits, axis=1, keepdims=True)
    top = log_p.argmax(axis=1)
    rows = np.arange(len(logits))
    log_p[rows, top] = -np.inf  # the only class whose 1 - p may vanish; replaced below
    odds = log_p - np.log1p(-np.exp(log_p))
    odds[rows, top] = odds_of_class(logits, top)
    return odds


def _fit_event(
    part: Calibrator, rows: CheckedRows, values: FloatArray, happened: BoolArray
) -> Notes:
    """Fit a binary map to whether something happened; odds made of logits must be finite."""
    if part.input != "probability":
        check_scores(values, caller=type(part).__name__)
    return fit_rows(part, rows.of_event(values, happened))


def _of_positive(part: Calibrator, values: FloatArray) -> FloatArray:
    """Probability of the event that a binary map is about; the other one is not needed."""
    if isinstance(part, BinaryCalibrator) and type(part)._predict is BinaryCalibrator._predict:
        return part._map(part._scores(values))
    return predict_part(part, values)[:, 1]


@dataclass(eq=False, repr=False)
class OneVsRestCalibrator(WrappingCalibrator):
    r"""One binary map a class, fitted to that class against the rest; rows are normalised.

    .. math:: c_k(p) = \frac{m_k(p_k)}{\sum_j m_j(p_j)}

    Makes any binary map usable for K classes. Each class is calibrated before the division, not
    after it, and the K maps do not know of each other. On two classes it is the binary map.

    Parameters
    ----------
    calibrator : Calibrator
        What is fitted, in K copies.
    normalize : bool, default True
        Whether rows are divided by their sum. False returns the m_k themselves: each is the
        probability of its class against the rest, calibrated by itself, and rows of three classes
        or more need not sum to one. They answer K questions of yes and no (`evaluate` one column
        at a time) and are no distribution: other calibrators and `CalibratedClassifier` refuse
        such a part.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Logits become log odds of a class against the rest under a softmax;
        scores, such as those of K separate machines, are taken class by class as they are.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    parts_ : list of K calibrators
        Fitted maps in the order of `classes_`; one map for two classes.
    shares_ : array of shape (K,)
        Share of each class in the fitted rows.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    If every map says 0 there is nothing to normalise. The row then stays as it was predicted; with
    scores, which are no probabilities, it becomes `shares_`. Maps with a guard never say 0.

    Time: K fits of the binary map.

    Warns
    -----
    VeridicalWarning
        If bins lose the order of classes: the most probable class of the fitted rows is right less
        often than before, by .01 and by two standard errors. With more classes than bins of equal
        mass, the last bin of each holds far more rows than its class has, and says the same of
        many: of 100 classes an accuracy of .74 fell to .21. `strategy="uniform"`, a smooth map, or
        `ConfidenceReducedCalibrator` around the histogram keep it.

    References
    ----------
    .. [1] Zadrozny & Elkan (2002), KDD, doi 10.1145/775047.775151.

    Examples
    --------
    Class 0 happens in 1 of 2 rows where 0.8 is said, class 1 in 1 of 2 where 0.2 is said, class 2
    never: 1/2, 1/2 and 0.

    >>> from veridical.calibrators import IsotonicCalibrator
    >>> p, y = [[0.8, 0.2, 0.0], [0.8, 0.2, 0.0]], [0, 1]
    >>> calibrator = OneVsRestCalibrator(IsotonicCalibrator(laplace=0)).fit(p, y)
    >>> calibrator.predict_proba([[0.8, 0.2, 0.0]]).tolist()
    [[0.5, 0.5, 0.0]]

    Class 0 happens in 1 of 2 rows where 0.8 is said, class 1 never where 0.2 is said, class 2 in 1
    of 4 where 0 is said; these three do not sum to one:

    >>> p, y = [[0.8, 0.2, 0.0]] * 2 + [[0.2, 0.8, 0.0]] * 2, [0, 2, 1, 1]
    >>> each = OneVsRestCalibrator(IsotonicCalibrator(laplace=0), normalize=False).fit(p, y)
    >>> each.predict_proba([[0.8, 0.2, 0.0]]).tolist()
    [[0.5, 0.0, 0.25]]
    """

    _later = (*WrappingCalibrator._later, "normalize")
    _fitted = Fields(
        parts_=Several(Part(classes=2), "n"),
        shares_=Numbers("K", low=0, high=1, shares=True),
    )

    calibrator: Calibrator
    _: KW_ONLY
    normalize: bool = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        hint = "False leaves the probability of each class against the rest as it is."
        check_flag(type(self).__name__, "normalize", self.normalize, hint=hint)

    def _relations(self) -> Relations:
        yield from super()._relations()
        wanted = 1 if len(self.classes_) == 2 else len(self.classes_)
        yield "parts_", len(self.parts_) == wanted, f"{wanted} maps of two classes"

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        n_classes = len(rows.classes)
        counts = np.bincount(rows.y, rows.weight, minlength=n_classes)
        self.parts_ = [self._part() for _ in range(1 if n_classes == 2 else n_classes)]
        if n_classes == 2:
            notes = fit_part(self.parts_[0], rows)
        else:
            notes = ()
            columns = self._columns(rows.values).T
            for k, (part, column) in enumerate(zip(self.parts_, columns, strict=True)):
                notes += _fit_event(part, rows, column, rows.y == k)
        self.shares_ = counts / counts.sum()
        return notes + self._doubts(rows)

    def _doubts(self, rows: CheckedRows) -> Notes:
        """A sentence if bins make the most probable class of the fitted rows wrong more often."""
        if len(self.parts_) == 1 or not isinstance(self.parts_[0], _BINNED):
            return ()
        before = (rows.values.argmax(axis=1) == rows.y).astype(np.float64)
        after = (self._combine(rows.values).argmax(axis=1) == rows.y).astype(np.float64)
        fall = weighted_mean(before - after, rows.weight)
        spread = weighted_mean((before - after - fall) ** 2, rows.weight)
        if fall <= max(_NOTICED, 2 * math.sqrt(spread / rows.size)):
            return ()
        was, now = (f"{weighted_mean(each, rows.weight):.3f}" for each in (before, after))
        kind = type(self.calibrator).__name__
        return (
            f"{type(self).__name__}: bins lose the order of {len(self.parts_)} classes: on the "
            f"fitted rows accuracy falls from {was} to {now}. Bins of equal width, a smooth map "
            f"(`BetaCalibrator`) or `ConfidenceReducedCalibrator({kind}())` keep it.",
        )

    def _in_words(self) -> str:
        if len(self.parts_) == 1:
            return self.parts_[0]._in_words()
        kind = type(self.calibrator).__name__
        then = ", and divides rows by their sum" if self.normalize else "; rows need not sum to one"
        return f"Maps each class against the rest ({kind}){then}."

    def _columns(self, values: FloatArray) -> FloatArray:
        return odds_against_rest(values) if self.input == "logit" else values

    def _combine(self, values: FloatArray) -> FloatArray:
        if len(self.parts_) == 1:
            return predict_part(self.parts_[0], values)
        columns = zip(self.parts_, self._columns(values).T, strict=True)
        result = np.empty((len(values), len(self.parts_)))
        for k, (part, column) in enumerate(columns):
            result[:, k] = _of_positive(part, np.ascontiguousarray(column))
        if not self.normalize:
            return result
        sums = row_sums(result)
        empty = sums == 0
        sums[empty] = 1.0
        result /= sums[:, None]
        if empty.any():
            result[empty] = self._as_predicted(values[empty])
        return result

    def _as_predicted(self, values: FloatArray) -> FloatArray:
        if self.input == "score":
            return self.shares_
        if self.input == "logit":
            return softmax_in_place(values.copy())
        p = values.astype(np.float64)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def _combine_nodes(self, inputs: formula.Nodes) -> formula.Nodes:
        if len(self.parts_) == 1:
            return self.parts_[0]._formula(inputs)
        columns = inputs
        if self.input == "logit":
            columns = tuple(
                formula.minus(each, formula.LogSumExp(inputs[:k] + inputs[k + 1 :]))
                for k, each in enumerate(inputs)
            )
        pairs = zip(self.parts_, columns, strict=True)
        parts = tuple(part._formula(both_columns(x, part.input))[1] for part, x in pairs)
        if self.input == "logit" and formula.looks_up(parts):
            # Odds against the rest differ in the last bit between engines; a step needs every bit.
            raise NoFormulaError("steps on logits of several classes (fit it to probabilities)")
        if not self.normalize:
            return parts
        otherwise: formula.Nodes = tuple(formula.Constant(share) for share in self.shares_.tolist())
        if self.input == "logit":
            otherwise = tuple(formula.Softmax(inputs, k) for k in range(len(inputs)))
        elif self.input == "probability":
            otherwise = tuple(formula.Quotient(each, formula.total(inputs)) for each in inputs)
        sum_of_parts = formula.total(parts)
        return tuple(
            formula.Share(part, sum_of_parts, rest)
            for part, rest in zip(parts, otherwise, strict=True)
        )


@dataclass(eq=False, repr=False)
class ConfidenceReducedCalibrator(WrappingCalibrator):
    r"""Calibrates the largest probability as that of being right; the others share what is left.

    With t the predicted class and m a binary map fitted to "the prediction was right",

    .. math:: c_t(p) = m(p_t), \qquad c_j(p) = (1 - m(p_t)) \frac{p_j}{\sum_{k \ne t} p_k}

    All rows fit one binary map, however many classes there are, and what it repairs is what most
    decisions use: the confidence. Errors among the other classes stay.

    Parameters
    ----------
    calibrator : Calibrator
        Map of two classes.
    input : {"probability", "logit"}, default "probability"
        What predictions are. Logits become the log odds of the top class under a softmax.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    part_ : Calibrator
        Fitted map of the confidence.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    "Reduced calibration" of [1]_, whose library gives equal shares to the other classes; here they
    keep their proportions, so their order, and rows sum to one. If the other classes have
    probability 0 they get equal shares. With many classes the reduction is what makes binary maps
    usable at all [2]_.

    The predicted class may change: where the map says 0.3 and another class is left with 0.5, the
    data said that the prediction is mostly wrong there. That class is then not calibrated as a
    top class; a second reduction on new rows would do that.

    Time: one fit of the binary map.

    References
    ----------
    .. [1] Panchenko, Benmerzoug & de Benito Delgado (2022), Class-wise and reduced calibration
       methods, ICMLA, arXiv 2210.03702.
    .. [2] Le Coz, Herbin & Adjed (2024), Confidence calibration of classifiers with many classes,
       NeurIPS, arXiv 2411.02988.

    Examples
    --------
    Rows that say 0.6 are right in 1 of 2 cases; the rest is shared out as 3 : 1.

    >>> from veridical.calibrators import IsotonicCalibrator
    >>> calibrator = ConfidenceReducedCalibrator(IsotonicCalibrator(laplace=0))
    >>> calibrator = calibrator.fit([[0.6, 0.3, 0.1], [0.3, 0.1, 0.6]], [0, 1])
    >>> calibrator.predict_proba([[0.1, 0.6, 0.3]]).round(6).tolist()
    [[0.125, 0.5, 0.375]]
    """

    _inputs = ("probability", "logit")
    _fitted = Fields(part_=Part(classes=2))

    calibrator: Calibrator

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        matrix = two_columns(rows.values, self.input)
        top = top_class(matrix, rows.positive)
        self.part_ = self._part()
        return _fit_event(self.part_, rows, self._confidence(matrix, top), top == rows.y)

    def _in_words(self) -> str:
        words = self.part_._in_words().rstrip(".")
        return (
            f"Of the largest probability: {words[0].lower()}{words[1:]}; the others share the rest."
        )

    def _confidence(self, matrix: FloatArray, top: IntArray) -> FloatArray:
        if self.input == "logit":
            return odds_of_class(matrix, top)
        return matrix[np.arange(len(top)), top]

    def _combine(self, values: FloatArray) -> FloatArray:
        matrix = two_columns(values, self.input)
        top = top_class(matrix, self.positive_index_)
        wrong, right = self.part_.predict_proba(self._confidence(matrix, top)).T
        result = self._shares_of_others(matrix, top) * wrong[:, None]
        result[np.arange(len(top)), top] = right
        return result

    def _shares_of_others(self, matrix: FloatArray, top: IntArray) -> FloatArray:
        """Rows that sum to one, with zero for the top class."""
        shares, rows = matrix.astype(np.float64), np.arange(len(top))
        if self.input == "logit":
            shares[rows, top] = -np.inf
            return softmax_in_place(shares)
        shares[rows, top] = 0.0
        row_sums = shares.sum(axis=1)
        empty = row_sums == 0
        shares[empty], row_sums[empty] = 1.0, matrix.shape[1] - 1
        shares[rows, top] = 0.0
        shares /= row_sums[:, None]
        return shares
