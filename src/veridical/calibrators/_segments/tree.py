"""A tree of feature values, with a map of its own in each leaf."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from veridical._core.data.features import Feature
from veridical._core.data.options import check_folds, check_integer
from veridical._core.data.schema import Fields, Numbers, Relations
from veridical._core.data.validation import is_number
from veridical._core.formula import Conditions
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.calibrators._base.calibrator import Notes
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._base.words import number
from veridical.calibrators._segments.cross_fitted import HeldOutRows, Path
from veridical.calibrators._segments.growth import Growth, Leaf
from veridical.calibrators._segments.lines import LineCalibrator
from veridical.calibrators._segments.ridge import Scale
from veridical.calibrators._wrappers.wrapping import fit_part
from veridical.exceptions import invalid

_NAMED = 4  # rules that an explanation says


@dataclass(eq=False, repr=False)
class CalibrationTree(LineCalibrator):
    r"""A tree of feature values; each leaf shifts and stretches the log odds of another map.

    .. math:: q_k \propto \exp\big(u_k + b_{\ell(x) k} + a_{\ell(x)} u_k\big),\quad u = \log m(p)

    Splits are made where lines of their own lower the log loss most, and as many as rows held out
    gain by. With m a `PlattCalibrator` every leaf has a Platt map, with a `BetaCalibrator` one of
    the form of beta calibration; both shrunk towards the map of all rows.

    Parameters
    ----------
    calibrator : Calibrator, optional
        m; default `StructuredMatrixCalibrator()`.
    max_leaves : int, default 8
        Leaves at most.
    penalty : float, default 10
        Ridge on offsets and slopes: a leaf of n rows with p near 1/2 keeps n / (n + 4 penalty) of
        its own shift.
    n_bins : int, default 8
        Parts that numbers of more than ten different values are cut into.
    min_rows : int, default 100
        Rows of a leaf at least.
    cv : int, default 5
        Folds by which the number of leaves is found, and m fitted to other rows than those it is
        judged on.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as m takes them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    base_ : Calibrator
        m, fitted to all rows.
    features_ : Features
        How columns of `by` become values.
    allowed_ : int array of shape (leaves, codes of all features)
        1 where a value leads to a leaf.
    offsets_ : array of shape (leaves, K)
        b, of two classes minus and plus half of the shift in log odds.
    slopes_ : array of shape (leaves,)
        a, at least -1: the map rises with m in every leaf.
    sizes_ : array of shape (leaves,)
        Rows of each leaf.
    gain_, gain_error_ : float
        What the leaves took from the log loss of m on rows held out, and its standard error.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Trees of probability calibration are those of [1]_, whose leaves are logistic models grown by
    boosting; here a leaf moves one map along a line, by a ridge. The split that is best by Newton
    steps of both sides is made first; the number of leaves is that of the largest gain on rows left
    out, fold by fold, and one if the gain is within a standard error of nothing. Numbers are split
    at a value, texts into one and the others; what is missing is beyond all values.

    `rules` are the leaves in words, and SQL is one CASE of them. Time O(n) a feature and leaf.

    References
    ----------
    .. [1] Leathart, Frank, Holmes & Pfahringer (2017), Probability calibration trees, ACML,
       PMLR 77, 145-160, arXiv 1808.00111.

    Examples
    --------
    The model says 1/2; in the North 3 of 4 happen, in the South 1 of 4, and log 3 is 1.1:

    >>> import numpy as np
    >>> p, region = np.full(4000, 0.5), np.repeat(["North", "South"], 2000)
    >>> y = np.append(np.tile([1, 1, 1, 0], 500), np.tile([0, 0, 0, 1], 500))
    >>> tree = CalibrationTree(penalty=1).fit(p, y, by={"region": region})
    >>> tree.predict_proba([0.5, 0.5], by={"region": ["North", "South"]})[:, 1].round(2).tolist()
    [0.75, 0.25]
    >>> for rule in tree.rules:
    ...     print(rule)
    region = North (2,000 rows): log odds + 1.1
    region other than North (2,000 rows): log odds - 1.1
    """

    _exclusive = True
    _fitted = Fields(allowed_=Numbers("h", "c", low=0, high=1, whole=True))

    _: KW_ONLY
    max_leaves: int = 8
    penalty: float = 10.0
    n_bins: int = 8
    min_rows: int = 100
    cv: int = 5

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        self._check_part(self._given)
        check_integer(caller, "max_leaves", self.max_leaves, hint="8 is usual.", least=1)
        check_integer(caller, "n_bins", self.n_bins, hint="8 is usual.", least=2)
        check_integer(caller, "min_rows", self.min_rows, hint="100 is usual.", least=1)
        check_folds(caller, self.cv)
        if not (is_number(self.penalty) and 0 < self.penalty < math.inf):
            expected, hint = "a positive number", "10 is usual."
            raise invalid(caller, "penalty", expected, repr(self.penalty), hint=hint)

    def _feature_sizes(self) -> tuple[int, int]:
        return self.n_bins, 10

    def _relations(self) -> Relations:
        yield from super()._relations()
        total = sum(self.features_.n_codes)
        yield "allowed_", self.allowed_.shape[1] == total, f"of {total} codes"
        leaves = [self._of_leaf(k) for k in range(len(self.allowed_))]
        apart = all(
            any(not (a & b).any() for a, b in zip(one, other, strict=True))
            for one, other in combinations(leaves, 2)
        )
        yield "allowed_", apart, "leaves without common rows"
        yield "slopes_", bool((self.slopes_ >= -1).all()), "at least -1"

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        self.base_ = self._part(self._given)
        notes = fit_part(self.base_, rows)
        self.gain_, self.gain_error_ = 0.0, 0.0
        held = HeldOutRows.of(rows, self.base_, self.cv) if self.max_leaves > 1 else None
        leaves: list[Leaf] = []
        if held is not None:
            held = held.pooled(self.features_.n_codes)
            n_leaves, path = self._best_size(held)
            self.gain_, self.gain_error_ = path.gain, path.error
            if path.is_shown:
                every = np.ones(len(held.y), dtype=bool)
                trees = list(self._growth(held, every).trees(n_leaves))
                leaves = trees[-1]
        self._keep(leaves, held, len(rows.classes))
        return notes

    def _growth(self, held: HeldOutRows, kept: BoolArray) -> Growth:
        rows = held.cells(np.zeros(len(held.y), dtype=np.intp))
        scale = Scale.of(rows.scores, rows.weight)
        return Growth(
            rows.take(kept),
            held.codes[kept],
            self.features_,
            scale,
            penalty=float(self.penalty),
            min_rows=self.min_rows,
        )

    def _best_size(self, held: HeldOutRows) -> tuple[int, Path]:
        """Number of leaves of the largest gain on rows left out, and that gain."""
        rows = held.cells(np.zeros(len(held.y), dtype=np.intp))
        scale = Scale.of(rows.scores, rows.weight)
        gains = np.zeros((self.max_leaves + 1, len(held.y)))
        for name in np.unique(held.fold).tolist():
            left = held.fold == name
            own = rows.take(left)
            before = own.losses(np.zeros((1, rows.scores.shape[1])), scale)
            for leaves in self._growth(held, ~left).trees(self.max_leaves):
                place = np.argmax([_inside(leaf, held.codes[left]) for leaf in leaves], axis=0)
                moved = type(own)(own.scores, own.y, own.weight, place)
                after = moved.losses(np.array([leaf.theta for leaf in leaves]), scale)
                gains[len(leaves) :, left] = before - after  # a tree that is whole stays so
        mean = np.average(gains, axis=1, weights=held.weight)
        best = int(np.argmax(mean))
        spread = float(np.average((gains[best] - mean[best]) ** 2, weights=held.weight))
        error = math.sqrt(spread / float(held.weight.sum()))
        return best, Path(0.0, float(mean[best]), error)

    def _keep(self, leaves: list[Leaf], held: HeldOutRows | None, n_classes: int) -> None:
        total = sum(self.features_.n_codes)
        self.allowed_ = np.zeros((len(leaves), total), dtype=int)
        theta: FloatArray = np.zeros((len(leaves), n_classes))
        slopes: FloatArray = np.zeros(len(leaves))
        sizes = np.zeros(len(leaves))
        for k, leaf in enumerate(leaves):
            self.allowed_[k], theta[k] = np.concatenate(leaf.allowed), leaf.theta
            sizes[k] = 0.0 if held is None else held.weight[leaf.rows].sum()
        self.sizes_ = sizes
        offsets = theta
        if held is not None:
            rows = held.cells(np.zeros(len(held.y), dtype=np.intp))
            offsets, slopes = Scale.of(rows.scores, rows.weight).lines(theta)
        self.offsets_, self.slopes_ = offsets, slopes

    def _of_leaf(self, index: int) -> list[BoolArray]:
        """Of each feature, which codes lead to a leaf."""
        ends = np.cumsum(self.features_.n_codes)[:-1]
        return [part > 0 for part in np.split(self.allowed_[index], ends)]

    def _members(self, codes: IntArray) -> Any:
        found = np.ones((len(codes), len(self.allowed_)))
        for k in range(len(self.allowed_)):
            for column, allowed in zip(codes.T, self._of_leaf(k), strict=True):
                found[:, k] *= allowed[column]
        return found

    def _conditions(self) -> tuple[Conditions, ...]:
        return tuple(
            tuple(
                (feature, tuple(np.flatnonzero(allowed).tolist()))
                for feature, allowed in enumerate(self._of_leaf(k))
                if not allowed.all()
            )
            for k in range(len(self.allowed_))
        )

    @property
    def rules(self) -> list[str]:
        """The leaves in words: which rows, how many, and what becomes of their log odds."""
        self._check_fitted(caller="rules")
        features = self.features_.of
        found = []
        for k, conditions in enumerate(self._conditions()):
            words = ", ".join(codes_in_words(features[f], codes) for f, codes in conditions)
            rows = f"{self.sizes_[k]:,.0f} rows"
            found.append(f"{words} ({rows}): {_line_in_words(self.offsets_[k], self.slopes_[k])}")
        return found

    def _in_words(self) -> str:
        words = self.base_._in_words().rstrip(".")
        if not len(self.slopes_):
            return f"{words}; no split by features helped rows held out, so there is none."
        rules = "; ".join(self.rules[:_NAMED])
        more = f"; and {len(self.rules) - _NAMED} more" if len(self.rules) > _NAMED else ""
        return (
            f"{words}; then in {len(self.slopes_)} leaves, which took {number(self.gain_)} from the"
            f" log loss of rows held out: {rules}{more}."
        )


def codes_in_words(feature: Feature, codes: tuple[int, ...]) -> str:
    """Some values of a feature in words.

    Examples
    --------
    >>> age = Feature("age", "number", edges=(29.0, 45.0, 60.0), whole=True)
    >>> codes_in_words(age, (1, 2)), codes_in_words(age, (0, 5))
    ('age 30 to 60', 'age 29 or less or age missing')
    >>> region = Feature("region", "text", values=("East", "South", "West"))
    >>> codes_in_words(region, (0, 2, 3, 4)), codes_in_words(region, (0, 1))
    ('region other than South', 'region = East or South')
    """
    others = [code for code in range(feature.n_codes) if code not in codes]
    if feature.kind in ("text", "truth") and len(others) == 1 and others[0] < feature.n_named:
        return feature.words(others[0]).replace(" = ", " other than ", 1)
    if len(others) == 1 and others[0] == feature.missing:
        return f"{feature.name} not missing"
    named = [code for code in codes if code < feature.n_named]
    rest = [code for code in codes if code >= feature.n_named]
    if feature.edges and feature.missing in rest:
        rest = [feature.missing]  # numbers that are cut have no others
    elif feature.edges:
        rest = []
    texts: list[str] = []
    if named and feature.edges and named[-1] - named[0] == len(named) - 1:
        first, last = named[0], named[-1]
        edges = (*feature.edges[first - 1 : first], *feature.edges[last : last + 1])
        if edges:
            part = Feature(feature.name, feature.kind, edges=edges, whole=feature.whole)
            texts.append(part.words(min(first, 1)))
        else:
            texts.append(f"{feature.name} not missing")
    elif named:
        prefix = f"{feature.name} = "
        texts.append(prefix + " or ".join(feature.words(c).removeprefix(prefix) for c in named))
    return " or ".join([*texts, *map(feature.words, rest)])


def _inside(leaf: Leaf, codes: IntArray) -> BoolArray:
    found = np.ones(len(codes), dtype=bool)
    for column, allowed in zip(codes.T, leaf.allowed, strict=True):
        found &= allowed[column]
    return found


def _line_in_words(offsets: FloatArray, slope: float) -> str:
    """What becomes of log odds; of several classes, how far scores are moved."""
    times = "" if abs(slope) < 5e-4 else f" * {number(1 + slope)}"
    if len(offsets) > 2:
        return f"scores{times} {number(offsets.min())} to {number(offsets.max())} added"
    shift = offsets[1] - offsets[0]
    return f"log odds{times} {'-' if shift < 0 else '+'} {number(abs(shift))}"
