"""A map of two classes, however many maps it is made of, as one function of one number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from veridical._core.data.schema import ANY, Fields, Number, Numbers, Relations, Together
from veridical._core.formula import (
    Clip,
    Linear,
    Log,
    Logistic,
    Node,
    Nodes,
    Piecewise,
    Quotient,
    is_one_minus,
    minus,
)
from veridical._core.typing import FloatArray, Side
from veridical.calibrators._base.bases import tails_of
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.estimator import fresh
from veridical.calibrators._base.rows import CheckedRows
from veridical.calibrators._base.scales import FARTHEST
from veridical.calibrators._compact.breaks import breaks_of
from veridical.calibrators._compact.pieces import Cubics, Curve, follow, short
from veridical.calibrators._steps.pieces import located
from veridical.calibrators._wrappers.wrapping import WrappingCalibrator, fit_part
from veridical.exceptions import invalid

_LEAST = 1e-300  # probabilities below count as this: log odds up to 691
_NEARLY_ONE = 1 - 2.0**-53  # the largest number below one
_CERTAIN = 800.0  # log odds that are 0 or 1 as probabilities
_FARTHEST = 1e100  # scores beyond are not looked at: their products would overflow
_FARTHEST_ODDS = 1e7  # no polynomial on its piece is larger
_IN_PROBABILITY, _IN_LOG_ODDS = 1e-6, 1e-4
_DIGITS = 1e-10  # of log odds: what rounding a coefficient may cost
_NARROW = 1e-70  # powers of such a width are zero
_CONTINUOUS = 1e-7  # jumps below are none


@dataclass(eq=False, repr=False)
class CompactCalibrator(WrappingCalibrator):
    r"""Any map of two classes as one function of one number: a few cubic polynomials.

    With x the log odds of a prediction (or the logit or score itself) and v the prediction,

    .. math:: \log\frac{c(v)}{1 - c(v)} = a_j + b_j t + c_j t^2 + d_j t^3, \quad t = x - s_j,
              \quad e_{j-1} < v \le e_j

    An average of a dozen maps costs as little as one of them, wherever it is computed: in Python,
    in SQL, in an ONNX graph.

    Parameters
    ----------
    calibrator : Calibrator
        Map of two classes that is fitted, then followed by the polynomials.
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
    edges_ : array of shape (m - 1,)
        Predictions at which a piece ends; they belong to it.
    starts_ : array of shape (m,)
        What is subtracted from x in each piece.
    coefficients_ : array of shape (4, m)
        Constant, linear, quadratic and cubic term of each piece.
    tail_edges_, tail_starts_, tail_coefficients_ : arrays
        The same for what is added beyond log odds of 36.7, where a probability is 1 in double
        precision and only the other column of a pair tells rows apart; no pieces where nothing is.
    limits_ : tuple of two floats
        x beyond is taken for these.
    max_error_ : float
        Largest difference in probability from the map that was followed: measured, plus 5 %.
    max_log_odds_error_ : float
        Largest difference in log odds, likewise.
    classes_ : array of shape (2,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Pieces end where the map jumps or bends, which its formula tells to the last bit, and where a
    cubic would be off by more than 1e-6 in probability or 1e-4 in log odds. Jumps stay where they
    are, to the bit. A map that needs more than 160 pieces loses jumps below 1e-3 in log odds: a
    curve goes through such stairs, at most 5e-4 off. There are at most 600 pieces; a map that needs
    more loses larger jumps too. `max_error_` says what that costs. It is measured at 20 points in
    each piece, at every jump and bend and beside it, and at the ends. A map that never falls does
    not fall as polynomials. Coefficients are rounded to 1e-10 of log odds, so that they are short
    when written down.

    References
    ----------
    .. [1] Fritsch & Carlson (1980), Monotone piecewise cubic interpolation, SIAM Journal on
       Numerical Analysis 17, 238-246, doi 10.1137/0717021.

    Examples
    --------
    >>> from veridical.calibrators import HistogramCalibrator
    >>> p, y = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> map = CompactCalibrator(HistogramCalibrator(n_bins=2)).fit(p, y)  # 2/5 up to 1/2, 4/5 above
    >>> map.predict_proba([0.5, 0.51])[:, 1].round(9).tolist()
    [0.4, 0.8]
    >>> map.edges_.tolist()  # a probability of one has a piece of its own
    [0.5, 0.9999999999999999]
    """

    _fitted = Fields(
        edges_=Numbers("m", low=-ANY, high=ANY, increasing=True),
        starts_=Numbers("m+1", low=-ANY, high=ANY),
        coefficients_=Numbers(4, "m+1"),
        tail_edges_=Numbers("t", low=0, high=FARTHEST, increasing=True),
        tail_starts_=Numbers("s", low=0, high=FARTHEST),
        tail_coefficients_=Numbers(4, "s", low=-FARTHEST, high=FARTHEST),
        limits_=Together((Number(low=-ANY, high=ANY), Number(low=-ANY, high=ANY))),
        max_error_=Number(low=0),
        max_log_odds_error_=Number(low=0),
    )

    calibrator: Calibrator
    edges_: FloatArray = field(init=False, repr=False, compare=False)
    starts_: FloatArray = field(init=False, repr=False, compare=False)
    coefficients_: FloatArray = field(init=False, repr=False, compare=False)
    tail_edges_: FloatArray = field(init=False, repr=False, compare=False)
    tail_starts_: FloatArray = field(init=False, repr=False, compare=False)
    tail_coefficients_: FloatArray = field(init=False, repr=False, compare=False)
    limits_: tuple[float, float] = field(init=False, repr=False, compare=False)
    max_error_: float = field(init=False, repr=False, compare=False)
    max_log_odds_error_: float = field(init=False, repr=False, compare=False)

    @classmethod
    def of_fitted(cls, calibrator: Calibrator, described_by: Calibrator | None = None) -> Self:
        """Follow a map that was fitted elsewhere and knows its classes as 0 and 1.

        `described_by` is the parameter `calibrator` of the result, by default a copy of the map
        that is not fitted.
        """
        given = fresh(calibrator) if described_by is None else described_by
        made = cls(given, input=calibrator.input, weight_type=calibrator.weight_type)
        made.classes_, made.positive_index_ = np.arange(2), 1
        made._follow(calibrator)
        return made

    def _relations(self) -> Relations:
        yield from super()._relations()
        low, high = self.limits_
        yield "limits_", low <= high, "increasing"
        fits = len(self.tail_edges_) == max(len(self.tail_starts_) - 1, 0)
        yield "tail_edges_", fits, "one fewer than pieces"
        first, last = (
            np.append(low, self._places(self.edges_)),
            np.append(self._places(self.edges_), high),
        )
        with np.errstate(over="ignore", invalid="ignore"):
            reach = np.maximum(np.abs(first - self.starts_), np.abs(last - self.starts_))
            sizes = np.abs(self.coefficients_) * reach ** np.arange(4)[:, None]
        sizes[self.coefficients_ == 0] = 0.0
        yield "coefficients_", bool((sizes.sum(axis=0) < _FARTHEST_ODDS).all()), "of log odds"

    def _in_words(self) -> str:
        pieces, what = len(self.starts_), "log odds" if self.input == "probability" else self.input
        return f"Follows a map by {pieces:,} cubic polynomials of the {what}."

    def _places(self, values: FloatArray) -> FloatArray:
        """What polynomials are of, from predictions of the positive class."""
        if self.input == "probability":
            return _odds(np.clip(values, 0.0, 1.0), None)
        return np.clip(values, *self.limits_)

    def _fits_pooled_rows(self, n_columns: int) -> bool:
        return n_columns <= 2 and self._part()._fits_pooled_rows(n_columns)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        if len(rows.classes) > 2:
            hint = "wrap it: `OneVsRestCalibrator(CompactCalibrator(...))`."
            got = f"{len(rows.classes)} classes"
            raise invalid(type(self).__name__, "y_prob", "of two classes", got, hint=hint)
        part = self._part()
        notes = fit_part(part, rows)
        self._follow(part)
        return notes

    def _follow(self, map: Calibrator) -> None:
        """Find the pieces, and measure how far off they are."""
        breaks = breaks_of(map)
        self.limits_ = _limits(map, breaks)
        curve = _curve(map, self.limits_)
        first, last = _cells(curve, breaks, self.input, self.limits_)
        points, runs = follow(curve, first, last)
        cubics = Cubics.on(points, runs, lines=True)
        self.edges_ = points.v[np.append(runs[1:], len(points.v)) - 1, -1][:-1]
        self.starts_, self.coefficients_ = _written(cubics)
        self._follow_tail(map)
        self._measure(map, points.v.ravel(), breaks)

    def _follow_tail(self, map: Calibrator) -> None:
        """Beyond the largest probability below one, only pairs of columns tell rows apart."""
        self.tail_edges_ = self.tail_starts_ = np.empty(0)
        self.tail_coefficients_ = np.empty((4, 0))
        if self.input != "probability":
            return
        points, runs = follow(_tail_curve(map), np.array([_FROM]), np.array([-np.log(_LEAST)]))
        level = float(points.f[0, 0])
        end = float(self._log_odds(np.array([_NEARLY_ONE]), None)[0])
        if 0 < end - level < _CONTINUOUS:  # by rounding: what rose still does
            level = end
        self.edges_ = np.append(self.edges_, _NEARLY_ONE)
        self.starts_ = np.append(self.starts_, 0.0)
        self.coefficients_ = np.column_stack([self.coefficients_, [level, 0.0, 0.0, 0.0]])
        if np.abs(points.f - level).max() > _DIGITS:
            cubics = Cubics.on(points, runs, lines=True)
            self.tail_edges_ = points.x[runs[1:], 0]
            self.tail_starts_, self.tail_coefficients_ = _written(cubics)
            self.tail_coefficients_[0] -= self.tail_coefficients_[0, 0]  # it adds nothing before

    def _measure(self, map: Calibrator, points: FloatArray, breaks: FloatArray) -> None:
        """Largest errors at many predictions, those at edges and beside them included."""
        places = np.concatenate([points, breaks, self.edges_])
        low, high = (0.0, 1.0) if self.input == "probability" else (-_FARTHEST, _FARTHEST)
        ends = [low, high, 5e-324, 1e-310, 1e-200, 1e-17, _NEARLY_ONE]
        beside = [np.nextafter(places, -np.inf), np.nextafter(places, np.inf)]
        places = np.unique(np.clip(np.concatenate([places, *beside, ends]), low, high))
        between = (places[1:] / 2 + places[:-1] / 2)[np.diff(places) > 0]
        places = np.append(places, between)
        own, other = self._combine(places), map.predict_proba(places)
        if self.input == "probability":
            x = np.linspace(_FROM, -np.log(_LEAST), 999)
            pairs = np.column_stack([np.exp(-x), np.ones(len(x))])
            own = np.concatenate([own, self._combine(pairs)])
            other = np.concatenate([other, map.predict_proba(pairs)])
        self.max_error_ = _rounded_up(float(np.abs(own - other).max()))
        with np.errstate(divide="ignore"):
            odds = [np.clip(np.log(p[:, 1]) - np.log(p[:, 0]), -745, 745) for p in (own, other)]
        self.max_log_odds_error_ = _rounded_up(float(np.abs(odds[0] - odds[1]).max()))

    def _combine(self, values: FloatArray) -> FloatArray:
        value, rest = values, None
        if values.ndim == 2:
            if self.input == "probability":
                value, rest = values[:, 1], values[:, 0].astype(np.float64)
            else:
                value = values[:, 1] - values[:, 0]
        odds = self._log_odds(value.astype(np.float64, copy=False), rest)
        p, other = tails_of(odds)
        result = np.empty((len(p), 2))
        result[:, 0], result[:, 1] = other, p
        return result

    def _log_odds(self, value: FloatArray, rest: FloatArray | None) -> FloatArray:
        result = np.empty(len(value))
        powers, tail_matters = self._terms(one_column=rest is None)
        table = np.ascontiguousarray(np.vstack([self.starts_, powers]).T)
        low, high = self.limits_
        for block, index in located(self.edges_, value, "left"):
            x = value[block]
            if self.input == "probability":
                x = _odds(x, None if rest is None else rest[block])
            else:
                x = np.clip(x, low, high)
            beyond = None
            if tail_matters:
                beyond = x
                x = np.minimum(x, _FROM)
            start, *terms = table.take(index, axis=0, mode="clip").T
            t = x - start
            odds = terms[3] * t
            for term in terms[2:0:-1]:
                odds += term
                odds *= t
            odds += terms[0]
            if beyond is not None:
                odds += self._tail(beyond)
            result[block] = odds
        return result

    def _terms(self, *, one_column: bool) -> tuple[FloatArray, bool]:
        """Coefficients, and whether the tail is to be added.

        A single column tells rows apart up to the largest number below one, so that one, which is
        a piece of its own, has the value at the end of the tail.
        """
        if not len(self.tail_starts_) or not one_column:
            return self.coefficients_, bool(len(self.tail_starts_))
        terms = self.coefficients_.copy()
        terms[0, -1] += self._tail(np.array([-np.log(_LEAST)]))[0]
        return terms, False

    def _tail(self, x: FloatArray) -> FloatArray:
        x = np.maximum(x, _FROM)
        index = np.searchsorted(self.tail_edges_, x, "right")
        t, terms = x - self.tail_starts_[index], self.tail_coefficients_[:, index]
        return np.asarray(terms[0] + t * (terms[1] + t * (terms[2] + t * terms[3])))

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        low, high = self.limits_
        if self.input == "probability":
            value: Node = inputs[1]
            x: Node = Log(Quotient(Clip(inputs[1], _LEAST), Clip(inputs[0], _LEAST)))
        else:
            value = minus(inputs[1], inputs[0])
            x = Clip(value, low, high)
        terms, tail_matters = self._terms(one_column=is_one_minus(inputs[0], value))
        near = Clip(x, None, _FROM) if tail_matters else x
        odds = _pieces(near, self.edges_, "left", self.starts_, terms, value)
        if tail_matters:
            far, terms = Clip(x, _FROM), self.tail_coefficients_
            tail = _pieces(far, self.tail_edges_, "right", self.tail_starts_, terms, None)
            odds = Linear(((1.0, odds), (1.0, tail)))
        return (Logistic(Linear(((-1.0, odds),))), Logistic(odds))


def _pieces(
    of: Node, edges: FloatArray, side: Side, starts: FloatArray, terms: FloatArray, by: Node | None
) -> Node:
    """Polynomials between edges; a single one is said twice, as a lookup has an edge at least."""
    if not len(edges):
        edges, starts, terms = np.zeros(1), np.repeat(starts, 2), np.repeat(terms, 2, axis=1)
    return Piecewise(of, edges, side, starts, terms, by)


def _odds(value: FloatArray, rest: FloatArray | None) -> FloatArray:
    odds = np.maximum(value, _LEAST)
    odds /= np.maximum(1 - value if rest is None else rest, _LEAST)
    return np.log(odds, out=odds)


_FROM = float(_odds(np.array([_NEARLY_ONE]), None)[0])


def _curve(map: Calibrator, limits: tuple[float, float]) -> Curve:
    """Log odds of a map as a curve over the log odds of predictions, or over scores."""
    if map.input == "probability":
        from scipy.special import expit

        def place(v: FloatArray) -> tuple[FloatArray, FloatArray]:
            rest = 1 - v
            near = np.where(v >= 0.5, 2.0**-54, 0.0)  # half the distance to the next number
            return _odds(v, rest + near), _odds(v, rest - near)

        def value(v: FloatArray, x: FloatArray) -> FloatArray:
            rest = np.where(v >= 0.5, expit(-x), 1 - v)
            return _log_odds_of(map.predict_proba(np.column_stack([rest, v])))

        return Curve(place, lambda x: np.asarray(expit(x)), value, _tolerance)

    def same(v: FloatArray) -> tuple[FloatArray, FloatArray]:
        near = np.clip(v, *limits)
        return near, near

    return Curve(same, lambda x: x, lambda v, _: _log_odds_of(map.predict_proba(v)), _tolerance)


def _tail_curve(map: Calibrator) -> Curve:
    """The same where the probability is 1 and that of the other class exp(-x)."""

    def value(_: FloatArray, x: FloatArray) -> FloatArray:
        pairs = np.column_stack([np.exp(-x), np.ones(len(x))])
        return _log_odds_of(map.predict_proba(pairs))

    return Curve(lambda x: (x, x), lambda x: x, value, _tolerance)


def _log_odds_of(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.clip(np.log(p[:, 1]) - np.log(p[:, 0]), -_CERTAIN, _CERTAIN)


def _tolerance(odds: FloatArray) -> FloatArray:
    """Difference in log odds that is one of 1e-6 in probability, or 1e-4 if that is less."""
    from scipy.special import expit

    slope = expit(odds) * expit(-odds)
    return np.asarray(np.minimum(_IN_LOG_ODDS, _IN_PROBABILITY / np.maximum(slope, 1e-300)))


def _limits(map: Calibrator, breaks: FloatArray) -> tuple[float, float]:
    """Numbers beyond which the map is level, or says 0 or 1."""
    if map.input == "probability":
        return float(np.log(_LEAST)), float(-np.log(_LEAST))
    if map.input == "logit":
        return -FARTHEST, FARTHEST
    low, high = (float(breaks[0]), float(breaks[-1])) if len(breaks) else (0.0, 0.0)
    return _end(map, low, -1.0), _end(map, high, 1.0)


def _end(map: Calibrator, start: float, sign: float) -> float:
    """Where a map of scores is level or certain, from the last break on."""
    step = max(abs(start), 1.0)
    places = start + sign * step * 2.0 ** np.arange(-1, 1000)
    places = np.append(start, places[np.abs(places) < _FARTHEST])
    odds = _log_odds_of(map.predict_proba(places))
    moving = np.flatnonzero((np.abs(np.diff(odds)) > 0) & (np.abs(odds[:-1]) < 745))
    return float(places[moving[-1] + 1 if len(moving) else 1])


def _cells(
    curve: Curve, breaks: FloatArray, input: str, limits: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Where cells begin and end: at jumps to the last bit, elsewhere at short numbers."""
    low, high = (0.0, _NEARLY_ONE) if input == "probability" else limits
    breaks = breaks[(breaks >= low) & (breaks < high)]
    after = np.nextafter(breaks, np.inf)
    before, beyond = (
        curve.value(breaks, curve.place(breaks)[1]),
        curve.value(after, curve.place(after)[0]),
    )
    smooth = np.abs(beyond - before) < _CONTINUOUS
    if input != "score":
        x = np.concatenate([-(2.0 ** np.arange(9, -1, -1)), [0.0], 2.0 ** np.arange(6)])
        cuts = curve.prediction(x)
        cuts = cuts[(cuts > low) & (cuts < high)]
        near = np.diff(np.concatenate([[low], cuts, [high]]))
        cuts = short(cuts, np.minimum(near[1:], near[:-1]) / 100)
        breaks = np.append(breaks, cuts)
        smooth = np.append(smooth, np.ones(len(cuts), dtype=bool))
    breaks, index = np.unique(breaks, return_index=True)
    smooth = smooth[index]
    gaps = np.diff(np.concatenate([[low], breaks, [high]]))
    near = np.minimum(gaps[1:], gaps[:-1])
    breaks[smooth] = short(breaks[smooth], near[smooth] * 1e-7)
    breaks = np.unique(breaks)
    breaks = breaks[(breaks >= low) & (breaks < high)]
    return np.append(low, np.nextafter(breaks, np.inf)), np.append(breaks, high)


def _rounded_up(error: float) -> float:
    """Two digits of a measured error, with a twentieth added for what lies between the points."""
    return float(f"{1.05 * error:.1e}") if error > 0 else 0.0


def _written(cubics: Cubics) -> tuple[FloatArray, FloatArray]:
    """Starts and coefficients of as few digits as leave log odds within 1e-10."""
    width = cubics.width
    starts = short(cubics.start, width * 1e-3)
    terms = _moved(cubics.coefficients(), starts - cubics.start)
    for power in range(1, 4):
        with np.errstate(over="ignore", divide="ignore"):
            freedom = np.where(width < _NARROW, 0.0, _DIGITS / width**power)
        terms[power] = short(terms[power], freedom)
    terms[0] = short(terms[0], np.full(len(width), _DIGITS))
    _keep_order(cubics, starts, terms)
    return starts, terms


def _keep_order(cubics: Cubics, starts: FloatArray, terms: FloatArray) -> None:
    """Undo what rounding did to the order: pieces that rose together still do."""
    at = np.stack([cubics.start, cubics.start + cubics.width]) - starts
    level = terms[1] + at * (2 * terms[2] + 3 * at * terms[3])  # slopes at both ends
    rising = cubics.ends[1] > cubics.ends[0]
    # Where a slope of zero was rounded below it, the piece is turned by as little.
    for sign, chosen in ((1.0, rising), (-1.0, cubics.ends[1] < cubics.ends[0])):
        low = np.minimum((sign * level).min(axis=0), 0.0)
        small = chosen & (low < 0) & (-low * cubics.width < 1e-8) & cubics.monotone
        terms[1, small] -= sign * 2 * low[small]
    value = terms[0] + at * (terms[1] + at * (terms[2] + at * terms[3]))
    for k in range(1, len(starts)):
        gap = value[1, k - 1] - value[0, k]
        if cubics.ends[0, k] >= cubics.ends[1, k - 1] and 0 < gap < 1e-8:
            up = float(np.ceil((terms[0, k] + gap) / _DIGITS + 1) * _DIGITS)
            value[:, k] += up - terms[0, k]
            terms[0, k] = up


def _moved(terms: FloatArray, by: FloatArray) -> FloatArray:
    """Coefficients of the same polynomials around another place."""
    a, b, c, d = terms
    return np.stack(
        [a + by * (b + by * (c + by * d)), b + by * (2 * c + 3 * by * d), c + 3 * by * d, d]
    )
