"""A map that is shifted and stretched in the segments of the features that ask for it."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from veridical._core.data.options import check_folds, check_integer
from veridical._core.data.schema import Fields, Number, Numbers, Relations
from veridical._core.data.segments import Segments, cross, find_segments
from veridical._core.data.validation import is_number
from veridical._core.formula import Conditions
from veridical._core.numeric.order import class_order, value_order
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Notes
from veridical.calibrators._base.folds import row_masses
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._base.words import number
from veridical.calibrators._segments.cross_fitted import HeldOutRows, Path, best_penalty, members_of
from veridical.calibrators._segments.joint_test import joint_pvalue
from veridical.calibrators._segments.lines import LineCalibrator
from veridical.calibrators._segments.ridge import CellRows, Ridge, Scale
from veridical.calibrators._wrappers.wrapping import fit_part
from veridical.exceptions import invalid

_DEEPEST = 3
_DEEPER = (10.0, 1.0)  # by how much each further feature makes the penalty of a segment larger
_LEVEL = 0.05
_DRAWS = 199
_MOST_CELLS = 1 << 18  # of which the least slope is found one by one
_NAMED = 3  # segments that an explanation names


@dataclass(eq=False, repr=False)
class SegmentCalibrator(LineCalibrator):
    r"""Another map, shifted and stretched in segments of the features where outcomes ask for it.

    .. math:: q_k \propto \exp\Big(u_k + \sum_{h \ni x} (b_{hk} + a_h u_k)\Big),\quad u = \log m(p)

    m is the other map; segments h are all conjunctions of up to `depth` feature values with enough
    rows. For two classes this is :math:`\operatorname{logit} q = u + \sum_h (b_h + a_h u)` with
    :math:`u = \operatorname{logit} m(p)`. A ridge on a and b, as strong as held-out rows ask for,
    decides how much of a segment's own deviation is kept, and where a joint test of all segments
    finds nothing at 5 % the map is m.

    Parameters
    ----------
    calibrator : Calibrator, optional
        m; default `StructuredMatrixCalibrator()`.
    depth : int, default 2
        Feature values of a segment at most, from 1 to 3.
    penalty : "cv" or float, default "cv"
        Ridge on segments of one feature: a segment of n rows with p near 1/2 keeps n / (n + 4
        penalty) of its own shift. "cv": the one of least log loss on held-out rows; which also
        decide whether each further feature makes it ten times as strong.
    n_bins : int, default 8
        Parts that numbers of more than ten different values are cut into.
    min_rows : int, default 30
        Rows that a segment has at least.
    cv : int, default 5
        Folds by which m is fitted to other rows than those it is judged on.
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
    feature_of_, code_of_ : int arrays of shape (segments, depth)
        Features of each segment, -1 beyond its last, and their codes.
    offsets_ : array of shape (segments, K)
        b, of two classes minus and plus half of the shift in log odds.
    slopes_ : array of shape (segments,)
        a.
    sizes_ : array of shape (segments,)
        Rows of each segment.
    pvalue_ : float
        Of the joint test that m is right in all segments.
    penalty_ : float
        The ridge; 0 where there are no segments.
    gain_, gain_error_ : float
        What segments took from the log loss of m on rows held out, and its standard error.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Within a cell of features the map rises with m: slopes are penalised until 1 + sum of a is not
    negative for any combination of values, also of those that were not seen. The test is
    that of `audit_segments` with 199 draws, on predictions of m for rows it was not fitted to. With
    a penalty given there is no cross-validation, but the test decides all the same.

    Time: `cv` + 1 fits of m, and a pass over the rows for each Newton step; of more than 50,000
    rows of two classes, those of one cell and like score are one.

    References
    ----------
    .. [1] Hébert-Johnson, Kim, Reingold & Rothblum (2018), Multicalibration: calibration for the
       (computationally-identifiable) masses, ICML, arXiv 1711.08513.
    .. [2] Tax, Perini, Linder, Haimovich, Karamshuk, Okati, Vojnovic & Apostolopoulos (2026),
       MCGrad: multicalibration at web scale, KDD, arXiv 2509.19884.

    Examples
    --------
    The model says 1/2; in the North 3 of 4 happen, in the South 1 of 4:

    >>> import numpy as np
    >>> p, region = np.full(4000, 0.5), np.repeat(["North", "South"], 2000)
    >>> y = np.append(np.tile([1, 1, 1, 0], 500), np.tile([0, 0, 0, 1], 500))
    >>> map = SegmentCalibrator().fit(p, y, by={"region": region})
    >>> q = map.predict_proba([0.5, 0.5, 0.5], by={"region": ["North", "South", "East"]})
    >>> q[:, 1].round(2).tolist()
    [0.75, 0.25, 0.5]
    """

    _fitted = Fields(
        feature_of_=Numbers("h", "d", low=-1, whole=True),
        code_of_=Numbers("h", "d", low=-1, whole=True),
        pvalue_=Number(low=0, high=1),
        penalty_=Number(low=0),
    )

    depth: int = 2
    penalty: str | float = "cv"
    _: KW_ONLY
    n_bins: int = 8
    min_rows: int = 30
    cv: int = 5

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        self._check_part(self._given)
        expected = f"an integer from 1 to {_DEEPEST}"
        depth = check_integer(caller, "depth", self.depth, hint="2 is usual.", expected=expected)
        if depth > _DEEPEST:
            raise invalid(caller, "depth", expected, f"{depth}", hint="2 is usual.")
        check_integer(caller, "n_bins", self.n_bins, hint="8 is usual.", least=2)
        check_integer(caller, "min_rows", self.min_rows, hint="30 is usual.", least=1)
        check_folds(caller, self.cv)
        given = self.penalty
        usable = not isinstance(given, str) and is_number(given) and 0 < given < math.inf
        if given != "cv" and not usable:
            hint = 'leave it out for "cv".'
            raise invalid(caller, "penalty", '"cv" or a positive number', repr(given), hint=hint)

    def _feature_sizes(self) -> tuple[int, int]:
        return self.n_bins, 10

    def _relations(self) -> Relations:
        yield from super()._relations()
        n_codes = self.features_.n_codes
        used = self.feature_of_ >= 0
        yield "feature_of_", bool((self.feature_of_ < len(n_codes)).all()), "numbers of features"
        sizes = np.append(n_codes, 0)[self.feature_of_]
        yield "code_of_", bool((self.code_of_ < np.where(used, sizes, 0)).all()), "codes"
        yield "code_of_", bool(((self.code_of_ >= 0) == used).all()), "a code of each feature"
        yield "feature_of_", bool(used.any(axis=1).all()), "at least one feature a segment"

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        assert rows.codes is not None
        self.base_ = self._part(self._given)
        notes = fit_part(self.base_, rows)
        self.pvalue_, self.penalty_, self.gain_, self.gain_error_ = 1.0, 0.0, 0.0, 0.0
        n_codes, n_classes = self.features_.n_codes, len(rows.classes)
        found = cross(rows.codes, n_codes, row_masses(rows))
        segments = find_segments(
            found.codes, found.rows, n_codes, depth=self.depth, min_rows=self.min_rows
        )
        segments = Segments(segments.parts[1:], segments.rows[1:], segments.n_codes)
        held = HeldOutRows.of(rows, self.base_, self.cv) if len(segments) else None
        if held is None:
            self._keep(None, np.zeros((0, n_classes)), np.zeros(0))
            return notes
        cells = cross(held.codes, n_codes)
        members = members_of(segments, cells.codes)
        self.pvalue_ = self._pvalue(held, cells.place, members, rows)
        path = Path()
        held = held.pooled(n_codes)
        cells = cross(held.codes, n_codes)
        members = members_of(segments, cells.codes)
        if self.pvalue_ <= _LEVEL:
            path = self._best_path(held, cells.place, members, segments)
            self.gain_, self.gain_error_ = path.gain, path.error
        if not path.is_shown:
            self._keep(None, np.zeros((0, n_classes)), np.zeros(0))
            return notes
        self.penalty_ = path.penalty
        offsets, slopes = _fitted_lines(held.cells(cells.place), members, path, segments)
        self._keep(segments, offsets, slopes)
        return notes

    def _best_path(
        self, held: HeldOutRows, place: IntArray, members: Any, segments: Segments
    ) -> Path:
        """Penalty by held-out rows; segments of several features are penalised alike, or more."""
        depths = _depths(segments)
        grid = {} if self.penalty == "cv" else {"penalties": (float(self.penalty),)}
        paths = [
            best_penalty(held, place, members, depths, deeper, **grid)
            for deeper in (_DEEPER if depths.max() > 1 else _DEEPER[:1])
        ]
        return max(paths, key=lambda path: path.gain)

    def _pvalue(
        self, held: HeldOutRows, place: IntArray, members: object, rows: CheckedRows
    ) -> float:
        """P-value of the joint test; neither the order of rows nor that of classes matters."""
        y, p, weight = held.y, held.p, held.weight
        order = value_order(p, y, weight)
        order = order[np.argsort(place[order], kind="stable")]
        if rows.weight_type == "frequency" and rows.weight is not None:
            copies = np.rint(weight[order]).astype(int)
            order = np.repeat(order, np.maximum(copies, 1))
            weight = np.ones_like(weight)
        classes: IntArray = np.arange(2)
        if p.shape[1] > 2:
            classes = class_order(p, y, held.weight, p.shape[1])
        return joint_pvalue(
            p[order][:, classes],
            np.argsort(classes)[y[order]],
            weight[order],
            place[order],
            members,
            n_resamples=_DRAWS,
            rng=np.random.default_rng(len(order)),
        )

    def _keep(self, segments: Segments | None, offsets: FloatArray, slopes: FloatArray) -> None:
        """Segments as arrays; of features beyond the last, -1."""
        parts = () if segments is None else segments.parts
        self.feature_of_ = np.full((len(parts), self.depth), -1)
        self.code_of_ = self.feature_of_.copy()
        for k, part in enumerate(parts):
            self.feature_of_[k, : len(part)], self.code_of_[k, : len(part)] = np.transpose(part)
        self.offsets_, self.slopes_ = offsets, slopes
        self.sizes_ = np.zeros(0) if segments is None else segments.rows

    @property
    def _segments(self) -> Segments:
        pairs = zip(self.feature_of_.tolist(), self.code_of_.tolist(), strict=True)
        parts = tuple(
            tuple((f, c) for f, c in zip(features, codes, strict=True) if f >= 0)
            for features, codes in pairs
        )
        return Segments(parts, self.sizes_, tuple(self.features_.n_codes))

    def _members(self, codes: IntArray) -> Any:
        return members_of(self._segments, codes)

    def _conditions(self) -> tuple[Conditions, ...]:
        return tuple(
            tuple((feature, (code,)) for feature, code in part) for part in self._segments.parts
        )

    def _in_words(self) -> str:
        words = self.base_._in_words().rstrip(".")
        if not len(self.slopes_):
            found = f"a joint test of all segments finds nothing (p = {number(self.pvalue_)})"
            if self.pvalue_ <= _LEVEL:
                found = "held-out rows gain nothing by segments"
            return f"{words}; {found}, so every segment gets the same map."
        sizes = np.abs(self.offsets_ - self.offsets_.mean(axis=1, keepdims=True)).max(axis=1)
        most = np.argsort(-sizes * np.sqrt(self.sizes_), kind="stable")[:_NAMED]
        named = "; ".join(self.features_.words(self._segments.parts[k]) for k in most.tolist())
        return (
            f"{words}; then shifts and stretches log odds in {len(self.slopes_)} segments, which"
            f" took {number(self.gain_)} from the log loss of rows held out; most in: {named}."
        )


def _fitted_lines(
    rows: CellRows, members: Any, path: Path, segments: Segments
) -> tuple[FloatArray, FloatArray]:
    """Offsets and slopes of all rows; slopes are penalised until no cell turns the map round."""
    scale = Scale.of(rows.scores, rows.weight)
    ridge = Ridge(rows, members, scale, path.deeper ** (_depths(segments) - 1))
    theta, more = ridge.fit(path.penalty), 1.0
    while more < 1e9:
        offsets, slopes = scale.lines(theta)
        if 1 + _least_slope(segments, slopes) >= 0:
            return offsets, slopes
        more *= 4
        theta = ridge.fit(path.penalty, theta, slopes=more)
    theta[:, -1] = 0.0
    return scale.lines(theta)


def _depths(segments: Segments) -> FloatArray:
    """Number of features of each segment."""
    return np.array([float(len(part)) for part in segments.parts])


def _least_slope(segments: Segments, slopes: FloatArray) -> float:
    """Least sum of slopes over all combinations of codes; a lower bound where they are many."""
    if not (slopes < 0).any():
        return 0.0
    if math.prod(segments.n_codes) > _MOST_CELLS:
        by_set: dict[tuple[int, ...], float] = {}
        for part, slope in zip(segments.parts, slopes.tolist(), strict=True):
            name = tuple(feature for feature, _ in part)
            by_set[name] = min(by_set.get(name, 0.0), slope)
        return sum(by_set.values())
    every = np.indices(segments.n_codes).reshape(len(segments.n_codes), -1).T
    return float((members_of(segments, every) @ slopes).min())
