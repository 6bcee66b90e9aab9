"""The right calibrator for the data at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from veridical._core.threads import one_blas_thread
from veridical._core.typing import FloatArray, WeightType
from veridical._core.validation import check_level, check_option, is_number
from veridical.calibrators import Calibrator
from veridical.calibrators._wrapping import CheckedRows, WrappingCalibrator
from veridical.exceptions import invalid
from veridical.selection._candidates import default_candidates, given_candidates
from veridical.selection._choice import choose
from veridical.selection._evidence import evidence_of

_STRATEGIES = ("pool", "select")


class AutoCalibrator(WrappingCalibrator):
    r"""Combines the maps that suit the data, or leaves the model alone, and shows why.

    A few different, penalised maps are each fitted to folds of the rows and judged on the rows
    left out. ``strategy="pool"`` averages their probabilities with the weights of least held-out
    log loss; ``"select"`` takes one map. The identity guards both: the less sure it is that the
    result beats it, the more of the model's own predictions are mixed in, up to all.

    Parameters
    ----------
    strategy : {"pool", "select"}, default "pool"
        "select" is for those who must deploy one simple map: the simplest whose held-out log loss
        is within one standard error of the best. It costs accuracy: what is chosen is often not
        what is best, and the average of several is better than most.
    candidates : mapping from names to calibrators, or sequence of calibrators, optional
        What is tried, from the simplest to the most flexible. Default: maps that suit the number
        of classes and kind of input; see Notes.
    max_seconds : float, optional
        Candidates are left out that would not be done by then; the first is always tried. The
        result then depends on the speed of the machine.
    confidence_level : float, default 0.95
        Of the intervals in `evidence_`.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Scores have no identity to be left alone with.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    evidence_ : Evidence
        The table: held-out log loss and Brier score of each candidate, difference from the
        identity with interval, time, weight. Prints, and has `to_frame()`.
    calibrator_ : Calibrator
        What predictions go through: an `AveragedCalibrator`, one map, or the identity.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Weights are found by expectation-maximisation on held-out probabilities of the outcomes, with
    five imagined rows that keep them off zero. The flexible maps count by the probability that
    they help. The maps of all folds are kept and averaged (up to 50,000 rows), which
    is better than fitting once to all rows. Nothing is random: folds are dealt from sorted rows.

    The share of the identity is the probability that it is at least as good, by the normal
    approximation of the mean paired difference in held-out log loss, less 10 / sqrt(n) standard
    errors, because that approximation makes too much of few rows. If the pool is worse by a
    standard error or more, the gate is closed and predictions stay as they are. On a model that is
    calibrated already, a result close to the identity is the right answer.

    The held-out loss of the pool is a little optimistic, because its weights were found on the
    same rows; that of a selected map more so.

    References
    ----------
    .. [1] Wolpert (1992), Stacked generalization, Neural Networks 5, 241-259,
       doi 10.1016/S0893-6080(05)80023-1.
    .. [2] van der Laan, Polley & Hubbard (2007), Super learner, doi 10.2202/1544-6115.1309.

    Examples
    --------
    A model that says 0.95 and is right in 4 of 5 cases:

    >>> p, y = [0.95] * 500 + [0.05] * 500, [1, 1, 1, 1, 0] * 100 + [0, 0, 0, 0, 1] * 100
    >>> auto = AutoCalibrator().fit(p, y)
    >>> auto.predict_proba([0.95]).round(2).tolist()
    [[0.2, 0.8]]
    >>> auto.evidence_.candidate("identity").chosen  # its weight rounds to zero
    False
    """

    def __init__(
        self,
        *,
        strategy: Literal["pool", "select"] = "pool",
        candidates: Mapping[str, Calibrator] | Sequence[Calibrator] | None = None,
        max_seconds: float | None = None,
        confidence_level: float = 0.95,
        input: str = "probability",
        labels: Any = None,
        weight_type: WeightType = "importance",
    ) -> None:
        self.strategy = strategy
        self.candidates = candidates
        self.max_seconds = max_seconds
        self.confidence_level = confidence_level
        self.input = input
        self.labels = labels
        self.weight_type = weight_type

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_option(caller, "strategy", self.strategy, _STRATEGIES)
        check_level(caller, self.confidence_level)
        if self.candidates is not None:
            given_candidates(self.candidates, caller)
        limit = self.max_seconds
        if limit is not None and not (is_number(limit) and limit > 0):
            hint = "leave it out for no limit."
            raise invalid(caller, "max_seconds", "a positive number", repr(limit), hint=hint)

    def _fit_checked(self, rows: CheckedRows) -> None:
        if self.candidates is None:
            candidates = default_candidates(len(rows.classes), rows.size, self.input, self.strategy)
        else:
            candidates = given_candidates(self.candidates, type(self).__name__)
            for each in candidates:
                self._part(each.calibrator)
        with one_blas_thread():
            choice = choose(
                candidates,
                rows,
                input=self.input,
                strategy=self.strategy,
                max_seconds=self.max_seconds,
            )
        self.calibrator_ = choice.calibrator
        self.evidence_ = evidence_of(choice, rows, self.strategy, self.confidence_level)

    def _combine(self, values: FloatArray) -> FloatArray:
        return self.calibrator_.predict_proba(values)
