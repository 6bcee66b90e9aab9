"""A calibrator that learns from every row, and follows drifts by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from veridical._core.data.schema import Fields, Number, Numbers, Relations
from veridical._core.data.validation import check_probabilities, float_array, is_number
from veridical._core.formula import Clip, Linear, Log, Logistic, Node, Nodes, Quotient, minus
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.nodes import log_softmax_of, positive_class_last, softmax_of
from veridical.calibrators._base.rows import CheckedRows, check_rows, positive_last, two_columns
from veridical.calibrators._base.scales import difference, log_probabilities
from veridical.calibrators._base.words import number
from veridical.calibrators._online.mixture import N_MAPS, Maps, learn_many, learn_two
from veridical.exceptions import invalid

_FLOOR = 1e-12  # predictions are read as no closer to 0 or 1, so that one surprise is not infinite
_FARTHEST = -math.log(_FLOOR)
_ROWS = 1 << 13  # intermediate results stay in the caches
MAP_NAMES = (
    "predictions as they are",
    "a Newton map that forgets nothing",
    "a Newton map that remembers about 1,000 rows",
    "a Newton map that remembers about 250 rows",
    "an online Newton step",
)


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineCalibrator(Calibrator):
    r"""Learns from every row as it comes: a Bayes mixture of five maps that follows drifts.

    .. math:: c_t(p) = \sum_{i=1}^{5} w_{t,i} \, g_{t,i}(p)

    The five are the identity; logistic maps (slope and level of log odds) by Newton's method,
    shrunk to the identity by a ridge of 20 rows, that forget nothing, that discount a row by
    0.999 and by 0.996 with every row that follows; and the online Newton step [1]_. Of K classes,
    maps have one factor of the logarithms of probabilities (an inverse temperature) and a level
    for each class. Weights follow Bayes' rule, and a small share of each is passed on, so that a
    map which was bad for long can come back [2]_.

    Parameters
    ----------
    share : float, default 1e-4
        Largest share of its weight that a map passes on to the others at a row; at row t it is
        min(share, 1 / (t + 1)). 0 never forgives.
    input : {"probability", "logit"}, default "probability"
        What predictions are.
    labels : array-like, optional
        Classes in column order. Streams should name them: the first rows may not have all.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean: importance weights are divided by their running scale; frequencies are
        repetitions if they are whole numbers.

    Attributes
    ----------
    weights_ : array of shape (5,)
        Bayes weights of the maps, in the order above.
    maps_ : array of shape (5, d)
        Slope and level; of K > 2 classes factor and K levels.
    curvature_ : array of shape (4, d, d)
        What all but the identity know of the past.
    n_rows_ : int
        Rows learnt from.
    gain_ : float
        Nats saved so far against predictions as they are: the difference of the log losses of
        what was predicted before each label was known. Negative: it has cost so much.
    most_cost_ : float
        Most nats that it can have cost (see Notes).
    n_late_ : int
        Rows to which `most_cost_` does not apply: learnt from in batches, or weighted.
    classes_ : array of shape (K,)

    Notes
    -----
    **What is guaranteed.** The log loss is mixable, so that for rows whose labels come before the
    next prediction is made the total log loss is at most that of the best of the five maps, hence
    of predictions as they are, plus :math:`\log 5 - \sum_{t \le n} \log(1 - \alpha_t)`,
    :math:`\alpha_t = \min(\text{share}, 1 / (t + 1))`: 2.6 nats in all after 10,000 rows, 7.2 after
    a million, whatever the data. Each switch of the best map at row t adds
    :math:`\log(4 / \alpha_t)`, 10.6 nats [2]_ [3]_. For batches, delayed labels and weighted rows
    no bound is claimed; `gain_` is measured there, too, from what was predicted before the batch.

    **Order matters**, unlike in any other calibrator: rows are a stream, and `fit` learns from
    them in the order given. A query of an engine has no order of rows; use arrays.

    `predict_proba`, saving and exports are of the map as it is now. About 200,000 rows a second
    of two classes and 10,000 of several, on one core. Predictions closer to 0 or 1 than 1e-12 are
    read as that.

    References
    ----------
    .. [1] Gupta & Ramdas (2023), Online Platt scaling with calibeating, ICML, arXiv 2305.00070;
       beta = 0.1, D = 1, started at the identity.
    .. [2] Herbster & Warmuth (1998), Tracking the best expert, Machine Learning 32, 151-178; for
       shares that decrease as 1 / t: Adamskiy, Koolen, Chernov & Vovk (2016), A closer look at
       adaptive regret, Journal of Machine Learning Research 17(23), 1-21.
    .. [3] Vovk (1998), A game of prediction with expert advice, Journal of Computer and System
       Sciences 56, 153-173.

    Examples
    --------
    Before the first label nothing is known, and predictions stay as they are:

    >>> online = OnlineCalibrator(labels=[0, 1])
    >>> online.predict_then_update([0.9], [0]).round(3).tolist()
    [[0.1, 0.9]]
    >>> bool(online.predict_proba([0.9])[0, 1] < 0.9)  # one surprise, a little less sure
    True
    """

    _inputs = ("probability", "logit")
    _fitted = Fields(
        weights_=Numbers(N_MAPS, low=0, shares=True),
        maps_=Numbers(N_MAPS, "d"),
        curvature_=Numbers(N_MAPS - 1, "d", "d"),
        n_rows_=Number(low=0, whole=True),
        n_late_=Number(low=0, whole=True),
        gain_=Number(),
        most_cost_=Number(low=0),
        scale_=Numbers(2, low=0),
    )

    share: float = 1e-4
    weights_: FloatArray = field(init=False, repr=False, compare=False)
    maps_: FloatArray = field(init=False, repr=False, compare=False)
    curvature_: FloatArray = field(init=False, repr=False, compare=False)
    scale_: FloatArray = field(init=False, repr=False, compare=False)
    n_rows_: int = field(init=False, repr=False, compare=False)
    n_late_: int = field(init=False, repr=False, compare=False)
    gain_: float = field(init=False, repr=False, compare=False)
    most_cost_: float = field(init=False, repr=False, compare=False)

    def predict_then_update(
        self, y_prob: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Predict each row, then learn from its label, before the next row is looked at.

        Parameters
        ----------
        y_prob : array-like of shape (n,), (n, 1) or (n, K), or a number
            Predictions of the model, in the order in which they were made.
        y : array-like of shape (n,), or a label
            Labels, each known before the next prediction was made.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        ndarray of shape (n, K)
            What it said of each row before it knew the label.
        """
        return self._learn(self._next_rows(y_prob, y, sample_weight), one_by_one=True)

    def partial_fit(
        self,
        y_prob: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        predicted: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch whose labels became known together, after all its predictions.

        Parameters
        ----------
        y_prob, y, sample_weight
            As in `predict_then_update`.
        predicted : array-like of shape (n, K), optional
            What `predict_proba` said of these rows when they came, where that is long ago: `gain_`
            is measured by it. Default: what the map before the batch says.
        """
        rows = self._next_rows(y_prob, y, sample_weight)
        said = None
        if predicted is not None:
            if len(rows.y) != len(np.atleast_1d(y)):
                hint = "leave out rows of weight zero."
                got, caller = "some of them", type(self).__name__
                raise invalid(caller, "sample_weight", "above zero", got, hint=hint)
            said = self._checked_said(predicted, rows)
        self._learn(rows, one_by_one=False, said=said)
        return self

    @property
    def so_far(self) -> str:
        """What it has saved or cost against predictions as they are, and at most."""
        self._check_fitted(caller="so_far")
        return ledger(self.gain_, self.n_rows_, None if self.n_late_ else self.most_cost_)

    def _check_parameters(self) -> None:
        if not (is_number(self.share) and 0 <= self.share <= 0.5):
            hint = "1e-4 suits most streams."
            got, caller = repr(self.share), type(self).__name__
            raise invalid(caller, "share", "a number from 0 to 0.5", got, hint=hint)

    def _relations(self) -> Relations:
        yield from super()._relations()
        n_classes = len(self.classes_)
        size = 2 if n_classes == 2 else n_classes + 1
        yield "maps_", self.maps_.shape[1] == size, f"{size} numbers a map"
        yield "n_late_", self.n_late_ <= self.n_rows_, "at most n_rows_"

    def _fit_checked(self, rows: CheckedRows) -> Notes | None:
        self._begin(rows)
        self._learn(rows, one_by_one=True)
        return None

    def _next_rows(self, y_prob: Any, y: Any, sample_weight: Any) -> CheckedRows:
        """Rows of one more call, of the classes that are known; the first call begins."""
        if np.ndim(y) == 0:
            y_prob, y = [y_prob], [y]
            sample_weight = None if sample_weight is None else [sample_weight]
        first = not self.__sklearn_is_fitted__()
        if first:
            self._start_fit()
        rows = check_rows(
            y_prob,
            y,
            sample_weight,
            input=self.input,
            labels=self.labels if first else self.classes_.tolist(),
            pos_label=self.pos_label if first else self.positive_label,
            weight_type=self.weight_type,
            caller=type(self).__name__,
        )
        if first:
            self._begin(rows)
            self.classes_, self.positive_index_ = np.asarray(rows.classes), rows.positive
        self.forget()  # fingerprint and range would be those of some rows only
        return rows

    def _begin(self, rows: CheckedRows) -> None:
        """Five identities of equal weight."""
        self._keep(Maps.new(len(rows.classes)))
        self.n_late_, self.gain_, self.scale_ = 0, 0.0, np.zeros(2)

    def _keep(self, maps: Maps) -> None:
        self.weights_, self.maps_, self.curvature_ = maps.weights, maps.theta, maps.curvature
        self.n_rows_, self.most_cost_ = maps.n_rows, maps.bound

    def _maps(self) -> Maps:
        cost = max(self.most_cost_ - math.log(N_MAPS), 0.0)
        return Maps(self.maps_.copy(), self.curvature_.copy(), self.weights_, self.n_rows_, cost)

    def _checked_said(self, predicted: ArrayLike, rows: CheckedRows) -> FloatArray:
        """Earlier predictions, of two classes the positive one last."""
        caller, shape = type(self).__name__, (len(rows.y), len(rows.classes))
        said = float_array(predicted, caller=caller, param="predicted")
        if said.shape != shape:
            hint = "pass what `predict_proba` returned for these rows."
            raise invalid(caller, "predicted", f"of shape {shape}", f"{said.shape}", hint=hint)
        said = check_probabilities(said, caller=caller, rounded=True)
        return positive_last(said, rows.positive) if shape[1] == 2 else said

    def _learn(
        self, rows: CheckedRows, *, one_by_one: bool, said: FloatArray | None = None
    ) -> FloatArray:
        """Predictions made before labels were known, (n, K); the state after the rows is kept.

        `said` are predictions that were made even earlier, by which the gain is measured.
        """
        times, size = self._sizes(rows)
        if times is not None:
            again = np.repeat(np.arange(len(rows.y)), times)
            rows, said = rows.take(again), None if said is None else said[again]
        two = len(rows.classes) == 2
        x = self._predictor(rows.values, positive=1)
        y = rows.y if two else rows.index
        maps, learn = self._maps(), learn_two if two else learn_many
        place = np.arange(len(y))
        before = self._mixed(maps.predict(x), maps.weights) if not one_by_one else None
        if before is None:
            learnt = learn(maps, x, y, size, self.share)
            before = np.column_stack([1 - learnt, learnt]) if two else learnt
        else:
            log_given = _logs(maps.predict(x)[:, place, y])
            learn(maps, x, y, size, None)
            total = log_given.sum(axis=1) if size is None else log_given @ size
            maps.mix(total, share=self.share, rows=len(y))
        as_is = Maps.new(len(rows.classes)).predict(x)[0][place, y]
        gains = _logs((before if said is None else said)[place, y]) - _logs(as_is)
        self.gain_ += float(gains.sum() if size is None else gains @ size)
        in_time = said is None and (one_by_one or len(y) == 1)
        if not in_time or times is not None or size is not None:
            self.n_late_ += len(y)
        self._keep(maps)
        if times is not None:
            before = before[np.cumsum(times) - times]  # what was said before the first repetition
        return positive_last(before, rows.positive) if two else before

    def _sizes(self, rows: CheckedRows) -> tuple[IntArray | None, FloatArray | None]:
        """How often each row counts if weights are repetitions, else how much; None for once."""
        weight = rows.weight
        self.scale_ = self.scale_ + (
            (len(rows.y),) * 2 if weight is None else (weight.sum(), (weight * weight).sum())
        )
        if weight is None or (weight == 1).all():
            return None, None
        if rows.weight_type == "frequency":
            whole = weight.astype(np.intp)
            return (whole, None) if (whole == weight).all() else (None, weight)
        # Importance weights have no unit: the running sum of them is the effective size.
        return None, weight * (self.scale_[0] / self.scale_[1])

    def _predictor(self, values: FloatArray, *, positive: int) -> FloatArray:
        """Log odds of the positive class (n,), or logarithms of K probabilities."""
        values = values.astype(np.float64, copy=False)
        if self.input == "logit":
            if values.ndim == 1 or values.shape[1] == 2:
                return np.clip(difference(values, positive), -_FARTHEST, _FARTHEST)
            logs = values - np.logaddexp.reduce(values, axis=1, keepdims=True)
            return np.maximum(logs, -_FARTHEST)
        if values.ndim == 2 and values.shape[1] > 2:
            return log_probabilities(values, _FLOOR)
        pair = two_columns(values, self.input)
        if values.ndim == 1:
            positive = 1
        floored = np.maximum(pair, _FLOOR)
        return np.log(floored[:, positive] / floored[:, 1 - positive])

    def _mixed(self, given: FloatArray, weights: FloatArray) -> FloatArray:
        return np.einsum("m,mnk->nk", weights, given)

    def _predict(self, values: FloatArray) -> FloatArray:
        maps, result = self._maps(), np.empty((len(values), len(self.classes_)))
        positive = self.positive_index_
        for block in row_blocks(len(values), _ROWS):
            x = self._predictor(values[block], positive=positive)
            mixed = self._mixed(maps.predict(x), maps.weights)
            result[block] = positive_last(mixed, positive) if mixed.shape[1] == 2 else mixed
        return result

    def _formula(self, inputs: Nodes) -> Nodes:
        weights, maps = self.weights_.tolist(), self.maps_.tolist()
        if len(inputs) == 2:
            odds = self._log_odds_node(inputs)
            lines = [Linear(((slope, odds),), level) for slope, level in maps]
            pair = [
                Linear(
                    tuple(
                        (w, Logistic(Linear(((sign, line),))))
                        for w, line in zip(weights, lines, strict=True)
                    )
                )
                for sign in (-1.0, 1.0)
            ]
            return positive_class_last(pair, self.positive_index_)
        logs: Nodes
        if self.input == "logit":
            logs = tuple(Clip(each, -_FARTHEST) for each in log_softmax_of(inputs))
        else:
            logs = tuple(Log(Clip(each, _FLOOR)) for each in inputs)
        parts = []
        for weight, (factor, *levels) in zip(weights, maps, strict=True):
            scores = tuple(
                Linear(((factor, log),), level) for log, level in zip(logs, levels, strict=True)
            )
            parts.append((weight, softmax_of(scores)))
        return tuple(
            Linear(tuple((weight, each[k]) for weight, each in parts)) for k in range(len(inputs))
        )

    def _log_odds_node(self, inputs: Nodes) -> Node:
        positive = self.positive_index_
        if self.input == "logit":
            value = minus(inputs[positive], inputs[1 - positive])
            return Clip(value, -_FARTHEST, _FARTHEST)
        pair = (Clip(inputs[positive], _FLOOR), Clip(inputs[1 - positive], _FLOOR))
        return Log(Quotient(*pair))

    def _in_words(self) -> str:
        order = np.argsort(-self.weights_, kind="stable")
        most = [f"{number(float(self.weights_[i]))} {MAP_NAMES[i]}" for i in order[:2]]
        text = f"Mixes five maps that learn row by row, mostly {' and '.join(most)}"
        return f"{text}; {self.so_far}."


def ledger(gain: float, n_rows: int, bound: float | None) -> str:
    """What was saved or lost, in words.

    Examples
    --------
    >>> ledger(212.3, 20000, 3.3026)
    'saved 212 nats in 20,000 rows, and cannot have cost more than 3.4'
    >>> ledger(-0.4, 500, None)
    'cost 0.4 nats in 500 rows, as measured (labels came in batches or late: no bound holds)'
    """
    what = f"{'saved' if gain >= 0 else 'cost'} {abs(gain):.3g} nats in {n_rows:,} rows"
    if bound is None:
        return f"{what}, as measured (labels came in batches or late: no bound holds)"
    return f"{what}, and cannot have cost more than {math.ceil(bound * 10) / 10:.1f}"


def _logs(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(p)
