"""Boosted trees on top of another map: what no smooth function of each score can repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Any, Self

import numpy as np

from veridical._core.data.options import check_folds, check_integer
from veridical._core.data.schema import ANY, Fields, Number, Numbers, Relations
from veridical._core.data.validation import is_number
from veridical._core.formula import Clip, Linear, Log, Node, Nodes, Trees, step
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.calibrators._base.beside import fit_beside
from veridical.calibrators._base.calibrator import Calibrator, Notes
from veridical.calibrators._base.features import FeatureCalibrator
from veridical.calibrators._base.nodes import softmax_of
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import CheckedRows, positive_last, two_columns
from veridical.calibrators._base.scales import SMALLEST, Shared, smallest_share
from veridical.calibrators._base.words import number
from veridical.calibrators._softmax.softmax import softmax_in_place
from veridical.calibrators._softmax.structured import StructuredMatrixCalibrator
from veridical.calibrators._trees.oblivious import DECIMALS, Tree
from veridical.calibrators._trees.rounds import LEAST, HeldOut, Questions, log_of
from veridical.calibrators._trees.splits import ALONE, Scale
from veridical.calibrators._wrappers.copies import warnings_of, without_copies
from veridical.calibrators._wrappers.together import JudgingCalibrator
from veridical.calibrators._wrappers.wrapping import fit_part, predict_part
from veridical.exceptions import invalid

_DEEPEST = 4
_LARGEST_LEAF = 10.0
_ROWS = 1 << 13  # intermediate results stay in the first-level caches
_MANY_ROWS = 400  # from which tables of several trees are worth making
_BITS = 9  # of such a table
_PARTS = 32  # of a feature that is a number; as many texts are kept


@dataclass(eq=False, repr=False)
class BoostedCalibrator(JudgingCalibrator, FeatureCalibrator):
    r"""Another map, and small trees that add to its scores where held-out rows gain by it.

    .. math:: c(p) = \operatorname{softmax}\Big(\log g(p) + \sum_t v_t[\ell_t(p)]\Big)

    g is the other map, and tree t looks up the vector of the leaf that a few questions lead to:
    whether the probability of a class, or the ratio of two, is above a number. Trees repair what
    no smooth function of each score can: whole vectors that are wrong together, steps, and regions
    in which one class takes from another. Their number is found by cross-validation; where they do
    not help there are none, and the map is g.

    Parameters
    ----------
    calibrator : Calibrator, optional
        g; default `StructuredMatrixCalibrator()`.
    depth : int, default 3
        Questions of a tree, from 1 to 4. All rows are asked the same ones, so that a leaf is a
        number of that many bits.
    max_rounds : int, default 200
        Trees at most; 0 for none.
    learning_rate : float, default 0.2
        Share of a Newton step that a tree takes, above 0 and at most 1. Larger steps need fewer
        trees, which are shipped more cheaply: with 0.4, `max_rounds=60` and `depth=4` most of the
        gain is left.
    cv : int or None, default 5
        Folds by which the number of trees is found. Of more than 2,500 rows only as many are held
        out, fold by fold, as give 2,500. None: `max_rounds` trees whatever they are worth, for
        those who judge them elsewhere; `gain_` is 0 then.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are, as far as g takes them.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    base_ : Calibrator
        g, fitted.
    first_, second_ : int arrays of shape (trees, depth)
        Classes of each question: whether the probability of the first, divided by that of the
        second, is above the threshold; -1 in place of the second: not divided. Of logits, their
        difference, and the logarithm of the probability. Of two classes the second is positive.
    thresholds_ : array of shape (trees, depth)
    leaves_ : array of shape (trees, 2^depth, K)
        What a leaf adds to scores. The first question is the highest bit of its number.
    floor_ : float
        What probabilities are raised to before they are divided; 0 for logits and scores.
    gain_, gain_error_ : float
        What the trees took from the log loss of g on rows held out, in nats a row, and its
        standard error; 0 and 0 where none were tried.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Newton boosting of oblivious trees [1]_ [2]_ on features cut at no more than 32 places, with a
    ridge of five rows on the leaves and at least 20 rows on either side of a question. The gain is
    that of the number of trees that is best on held-out rows. With t its size in standard errors,
    leaves are multiplied by 1 - 1/t^2, and there are none if t <= 1: noise is not shipped. Nothing
    is drawn at random that the data do not decide, and neither the order of rows nor that of
    classes matters. Rows of one of the `groups` given to `fit` are not parted by folds, nor are
    copies of rows, as in `AutoCalibrator`.

    Features are the probabilities of all classes, of three to eight classes also the ratios of all
    pairs, and of two classes that of the positive one. Time O(n K^3) a question for up to eight
    classes and O(n K^2) for more: 1.6 s of one core for 5,000 rows of 5 classes and 172 trees.

    On 28 pairs of data and classifier of 3 to 12 classes and 1,000 rows, log loss was lower than
    that of the matrix below by .026 on average, in 12 of them, and at worst higher by .0009; on 51
    pairs of two classes by .0015, and .0017. On calibrated predictions trees added .0004 nats at
    most for 150 rows and .0001 for 800, means of 20 sets each (`evidence/new_maps.py`).

    Exported, a tree is a nest of CASE for each class in SQL. Large ones belong into ONNX.

    References
    ----------
    .. [1] Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
       Statistics 29, 1189-1232, doi 10.1214/aos/1013203451.
    .. [2] Prokhorenkova, Gusev, Vorobev, Dorogush & Gulin (2018), CatBoost: unbiased boosting with
       categorical features, NeurIPS, arXiv 1706.09516.

    Examples
    --------
    Rows that say 1/2 below and above a score, of which those in the middle never happen:

    >>> import numpy as np
    >>> p = np.tile([0.1, 0.5, 0.9], 100)
    >>> y = np.tile([1, 0, 1], 100)
    >>> BoostedCalibrator().fit(p, y).predict_proba([0.1, 0.5, 0.9])[:, 1].round(1).tolist()
    [1.0, 0.0, 1.0]
    """

    _fitted = Fields(
        base_=Part(),
        first_=Numbers("t", "d", low=0, whole=True),
        second_=Numbers("t", "d", low=ALONE, whole=True),
        thresholds_=Numbers("t", "d", low=-ANY, high=ANY),
        leaves_=Numbers("t", "l", "K", low=-_LARGEST_LEAF, high=_LARGEST_LEAF),
        floor_=Number(low=0, high=1),
        gain_=Number(),
        gain_error_=Number(low=0),
    )

    calibrator: Calibrator | None = None
    _: KW_ONLY
    depth: int = 3
    max_rounds: int = 200
    learning_rate: float = 0.2
    cv: int | None = 5
    _needs_features = False

    def fit(
        self,
        y_prob: Any,
        y: ArrayLike | str,
        sample_weight: ArrayLike | str | None = None,
        *,
        prob: str | Sequence[str] | None = None,
        by: Any = None,
        groups: ArrayLike | str | None = None,
    ) -> Self:
        """Fit trees to predictions, features if there are any, and the outcomes that followed.

        Parameters
        ----------
        y_prob, y, sample_weight, prob
            As for every calibrator; with `by` or `groups`, columns of a query are read into memory.
        by : frame, mapping, array-like of shape (n,) or (n, m), or names of columns; optional
            Features of each row, which trees may ask about beside its predictions.
        groups : array-like of shape (n,), or str, optional
            What each row belongs to; rows of one group are never parted by folds.

        Returns
        -------
        self
        """
        if by is None and groups is None:
            return super().fit(y_prob, y, sample_weight, prob=prob)
        both = {"by": by, "groups": groups}
        fitted: Self = fit_beside(self, y_prob, y, sample_weight, prob, **both)
        return fitted

    fit.only_reads = True  # type: ignore[attr-defined]

    def _feature_sizes(self) -> tuple[int, int]:
        return _PARTS, _PARTS

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        self._check_part(self._given)
        expected = f"an integer from 1 to {_DEEPEST}"
        depth = check_integer(caller, "depth", self.depth, hint="3 is usual.", expected=expected)
        if depth > _DEEPEST:
            raise invalid(caller, "depth", expected, f"{depth}", hint="3 is usual.")
        check_integer(caller, "max_rounds", self.max_rounds, hint="200 is usual.", least=0)
        if self.cv is not None:
            check_folds(caller, self.cv)
        rate = self.learning_rate
        if not (is_number(rate) and 0 < rate <= 1):
            expected, hint = "a number above 0, at most 1", "0.2 is usual."
            raise invalid(caller, "learning_rate", expected, repr(rate), hint=hint)

    @property
    def _given(self) -> Calibrator:
        return StructuredMatrixCalibrator() if self.calibrator is None else self.calibrator

    def _relations(self) -> Relations:
        yield from super()._relations()
        n_classes, depth = len(self.classes_), self.first_.shape[1]
        yield "first_", depth == self.depth, f"of {self.depth} questions a tree"
        n_features = len(self.features_) if self._uses_features else 0
        yield "first_", bool((self.first_ < n_classes + n_features).all()), "classes or features"
        alone = (self.first_ < n_classes) | (self.second_ == ALONE)
        yield "second_", bool(alone.all()), "-1 of features"
        yield "second_", bool((self.second_ < n_classes).all()), "classes"
        yield "second_", bool((self.second_ != self.first_).all()), "other classes than `first_`"
        yield "leaves_", self.leaves_.shape[1] == 2**depth, f"{2**depth} leaves a tree"
        floored = self.input != "probability" or self.floor_ >= SMALLEST
        yield "floor_", floored, f"at least {SMALLEST:g}, so that ratios are finite"

    @property
    def _scale(self) -> Scale:
        return Scale(self.input, self.floor_)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        copies: Notes = ()
        if self.cv is not None:
            rows, copies = without_copies(rows)
            copies = warnings_of(copies, rows, type(self).__name__)
        self.base_ = self._part(self._given)
        notes = fit_part(self.base_, rows) + copies
        values = two_columns(rows.values.astype(np.float64, copy=False), self.input)
        self.floor_ = smallest_share(values) if self.input == "probability" else 0.0
        questions = Questions.of(
            rows, values, self._scale, depth=self.depth, rate=float(self.learning_rate)
        )
        found, shrinkage = HeldOut(self.max_rounds), 1.0
        if self.cv is not None:
            found = questions.held_out(self.base_, self.max_rounds, self.cv)
            shrinkage = found.shrinkage
        self.gain_, self.gain_error_ = found.gain, found.error
        trees = list(islice(questions.trees(self.base_), found.n_trees if shrinkage else 0))
        self._keep(trees, questions, shrinkage)
        return notes

    def _keep(self, trees: list[Tree], questions: Questions, shrinkage: float) -> None:
        """Trees as arrays; those of fewer questions ask their last one again."""
        shape = (len(trees), self.depth)
        self.first_, self.second_ = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
        self.thresholds_ = np.zeros(shape)
        self.leaves_ = np.zeros((len(trees), 2**self.depth, len(questions.rows.classes)))
        for k, tree in enumerate(trees):
            more = self.depth - len(tree.features)
            features = np.append(tree.features, [tree.features[-1]] * more).astype(int)
            cuts = np.append(tree.cuts, [tree.cuts[-1]] * more).astype(int)
            self.first_[k], self.second_[k] = questions.first[features], questions.second[features]
            self.thresholds_[k] = [
                questions.cuts[f][c] for f, c in zip(features.tolist(), cuts.tolist(), strict=True)
            ]
            leaves = np.repeat(tree.leaves, 2**more, axis=0)
            self.leaves_[k] = np.round(shrinkage * leaves, DECIMALS)

    def _combine(self, values: FloatArray) -> FloatArray:
        if self._uses_features and len(self.leaves_):  # what becomes of scores alone
            return predict_part(self.base_, values)
        return self._with_trees(values, None)

    def _predict_sharing(self, values: FloatArray, shared: Shared) -> FloatArray:
        if len(self.classes_) == 2:  # whose order may be another one inside
            return self._predict(values)
        return self._with_trees(values, None, shared)

    def _predict_by(self, values: FloatArray, codes: IntArray) -> FloatArray:
        if values.ndim == 2:
            values = positive_last(values, self.positive_index_)
        return positive_last(self._with_trees(values, codes), self.positive_index_)

    def _with_trees(
        self, values: FloatArray, codes: IntArray | None, shared: Shared | None = None
    ) -> FloatArray:
        p = predict_part(self.base_, values, shared)
        if not len(self.leaves_):
            return p
        scores = log_of(p)
        matrix = two_columns(values.astype(np.float64, copy=False), self.input)
        which, place = self._features()
        add = self._add_one_by_one if len(scores) < _MANY_ROWS else self._add_in_groups
        for block in row_blocks(len(scores), _ROWS):
            own = None if codes is None else codes[block]
            add(scores[block], self._scale.features(matrix[block], which[0], which[1], own), place)
        return softmax_in_place(scores)

    def _add_one_by_one(
        self, scores: FloatArray, features: list[FloatArray], place: IntArray
    ) -> None:
        """Add the leaves of each row: all trees of a row at once."""
        bits = 2 ** np.arange(self.depth - 1, -1, -1)
        trees = np.arange(len(place))
        for score, row in zip(scores, np.transpose(features), strict=True):
            leaf = (row[place] > self.thresholds_) @ bits
            score += self.leaves_[trees, leaf].sum(axis=0)

    def _add_in_groups(
        self, scores: FloatArray, features: list[FloatArray], place: IntArray
    ) -> None:
        """Add the leaves of many rows: a few trees at once, whose leaves are one table."""
        for group, table in self._tables:
            leaf = np.zeros(len(scores), dtype=np.int16)
            for feature, cut in zip(
                place[group].ravel().tolist(), self.thresholds_[group].ravel().tolist(), strict=True
            ):
                leaf <<= 1
                leaf |= features[feature] > cut
            scores += table.take(leaf, axis=0)

    @property
    def _tables(self) -> list[tuple[slice, FloatArray]]:
        """Trees that are looked up together, and what their leaves add up to."""
        at_once, n_classes = max(1, _BITS // self.depth), len(self.classes_)
        found = []
        for group in row_blocks(len(self.leaves_), at_once):
            first, *others = self.leaves_[group]
            table = first
            for leaves in others:
                table = (table[:, None] + leaves).reshape(-1, n_classes)
            found.append((group, table))
        return found

    def _features(self) -> tuple[IntArray, IntArray]:
        """Classes of the features that are asked for, (2, features), and which each question is."""
        pairs = np.stack([self.first_.ravel(), self.second_.ravel()])
        which, place = np.unique(pairs, axis=1, return_inverse=True)
        return which, place.reshape(self.first_.shape)

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        outputs = self.base_._formula(inputs)
        if not len(self.leaves_):
            return outputs
        logs = tuple(Log(Clip(each, LEAST)) for each in outputs)
        which, place = self._features()
        features = tuple(self._scale.nodes(inputs, *which))
        if len(features) == 1:
            added: list[Node] = self._steps(features[0])
        else:
            each = np.ascontiguousarray(np.moveaxis(self.leaves_, 2, 0))
            added = [Trees(features, place, self.thresholds_, own) for own in each]
        pairs = zip(logs, added, strict=True)
        return softmax_of(tuple(Linear(((1.0, log), (1.0, more))) for log, more in pairs))

    def _steps(self, feature: Node) -> list[Node]:
        """Trees of one feature, which together are one step function of it."""
        edges = np.unique(self.thresholds_)
        codes = np.searchsorted(edges, self.thresholds_)
        total = np.zeros((len(edges) + 1, len(self.classes_)))
        for cuts, leaves in zip(codes.tolist(), self.leaves_, strict=True):
            leaf = np.zeros(len(total), dtype=np.intp)
            for cut in cuts:
                leaf = 2 * leaf + (np.arange(len(total)) > cut)
            total += leaves[leaf]
        return [step(feature, edges, np.ascontiguousarray(own)) for own in total.T]

    def _in_words(self) -> str:
        words = self.base_._in_words().rstrip(".")
        if not len(self.leaves_):
            return f"{words}; trees on top did not help rows held out, so there are none."
        took = f", which took {number(self.gain_)} from the log loss of rows held out"
        return (
            f"{words}; then adds {len(self.leaves_)} trees of {self.depth} questions to the scores"
            f"{took if self.gain_ else ''}."
        )
