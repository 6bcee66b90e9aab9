"""The right calibrator for the data at hand, and calibrators by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import Any, Literal

import numpy as np

import veridical.calibrators as calibrators
from veridical._core.data.options import check_flag
from veridical._core.data.schema import Fields, Instance
from veridical._core.data.validation import check_level, check_option, is_number
from veridical._core.formula import Clip, Nodes
from veridical._core.runtime.threads import one_blas_thread
from veridical._core.typing import FloatArray
from veridical.calibrators import Calibrator, OneVsRestCalibrator
from veridical.calibrators.core import BinaryCalibrator, CheckedRows, FeatureCalibrator, Notes, Part
from veridical.calibrators.judging import JudgingCalibrator, warnings_of, without_copies
from veridical.exceptions import invalid
from veridical.results import Evidence
from veridical.results.pictures import calibration_map
from veridical.selection._auto.candidates import default_candidates, given_candidates
from veridical.selection._auto.choice import choose
from veridical.selection._auto.evidence import evidence_of

_STRATEGIES = ("pool", "select")
_NAMED = 4  # maps that an explanation names
_LOWEST, _HIGHEST = 2.0**-52, 1 - 2.0**-52  # no map that was chosen says 0 or 1


@dataclass(kw_only=True, eq=False, repr=False)
class AutoCalibrator(JudgingCalibrator):
    r"""Combines the maps that suit the data, or leaves the model alone, and shows why.

    A few different, penalised maps are each fitted to folds of the rows and judged on the rows
    left out. ``strategy="pool"`` averages their probabilities with the weights of least held-out
    log loss; ``"select"`` takes one map. The model itself guards both: the less sure it is that the
    result beats it, the more of its own predictions, or of the mildest map, is mixed in.

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
    compact : bool, default True
        Whether each map of the pool is fitted once to all rows and a pool of two classes becomes
        one function, which is shipped as easily as a single map; False keeps every map of every
        fold, 80 and more of them.
    input : {"probability", "logit", "score"}, default "probability"
        What predictions are. Scores have no identity to be left alone with.
    labels : array-like, optional
        Classes in column order; default sorted, or 0..K-1 if all are such integers.
    pos_label : label, optional
        The positive class of two, which a single column is about; default the larger label.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Attributes
    ----------
    evidence_ : Evidence
        The table: held-out log loss and Brier score of each candidate, difference from the
        identity with interval, time, weight. Prints, and has `to_frame()`.
    calibrator_ : Calibrator
        What predictions go through: a `CompactCalibrator` of two classes, with `max_error_`, an
        `AveragedCalibrator` of a few maps for more, one map, or the identity.
    classes_ : array of shape (K,)
        Labels in the order of the columns of `predict_proba`.

    Notes
    -----
    Weights have the least log loss of held-out probabilities of the outcomes, with imagined rows
    that keep them off zero: of two classes 1.5 that beta foretold best, 0.75 for each spline and
    Venn-Abers, and fewer for others; of given `candidates` two in all. Each map is then fitted once
    to all rows: averaging the maps of the folds instead (`compact=False`, up to 50,000 rows) is no
    better on held-out rows. Nothing is random but by the data: folds are dealt by chance, from
    sorted rows, with a seed that the data decide. Of more than 2,000 rows of three classes or more
    only as many folds of five are held out as have 2,000 rows.

    Rows that belong together are named by `groups` in `fit`: folds do not part them, and a gain is
    as sure as so many groups make it. Copies are no new evidence either. If every row occurs a
    multiple of g times, each g of them count as one; if rows of equal predictions agree in their
    outcomes as copies do and independent rows would not, they are kept together; both with a
    `VeridicalWarning`. Equal predictions with outcomes of their own (rounded scores, leaves of
    trees) are ties, and nothing is done to them. In simulations (`evidence/copies.py`) ties are
    never taken for copies. Copies of a few rows among many are not noticed: pass `groups`.

    The gate: the share of the pool is the probability that it beats the model's own predictions, by
    the normal approximation of the mean paired difference in held-out log loss, less 0.9 standard
    errors; or, if that is more, by the deviate of Rao's score test of these predictions against a
    temperature and shifts of the classes, less 2.5; and a quarter at least (0.3 of more classes),
    less where the model leaves next to nothing to chance, unless the result would be worse than the
    model by three standard errors. A quarter costs about a sixteenth of what
    the pool costs where the model is right, and saves nearly half of what it loses where it is
    wrong. The rest goes to what stands by: the model's own predictions and the ensemble of
    temperatures, weighed by held-out log loss with three imagined rows, 2.4 of them for the model
    (2 of more classes). If the result would change the model by less than 1e-5 nats, the model is
    left alone. Given `candidates`, what stands by is the model alone, and it keeps all if the pool
    is worse by one standard error and the test is below 2.5.

    What is shipped is small. Maps are left out one by one as long as the others, weighed anew, say
    the same within 3e-5 nats: half the mean squared relative change of what outcomes are given. Of
    two classes that is done to maps that jump (Venn-Abers, the histogram), within 1e-4 nats and if
    held-out log loss is no worse by 1e-4 either; the others are monotone as a rule, and cost
    nothing in one function. Of three classes or more maps also go, the one that is missed least
    first, until predictions take the time of about three structured matrices of ten classes. Trees
    (three classes or more, 200 rows or more) have to lower held-out log loss by 0.001 nats and by a
    standard error, and so has the one map a class that is tried where there are 10 to 30 rows a
    class.

    A pool of two classes that 600 cubic pieces cannot follow within 0.001 in probability stays a
    pool, and so does one of candidates that are no formula of their inputs.

    No probability is 0 or 1: they lie in [2^-52, 1 - 2^-52]. A model that gives some of these rows
    the probability zero is kept with 1 / (n + 2) of the uniform distribution mixed in, as by
    Laplace's rule: what has not happened in n rows is not impossible.

    The loss of the result in `evidence_` is that of weights, or of a choice, found without the two
    folds they are judged on. Its interval is meant for the gain of the fitted map on new rows: with
    the variance of rows it adds 2 o / n, or o squared if that is less, where o is how much more
    a map seems to gain on its own rows than on others (its parameters over n). In simulations
    (`evidence/gains.py`) 95 % intervals cover the gain of the fitted map in 90 to 100 % of 50 or 60
    samples a cell, from 100 rows on. With fewer than five rows outside the most frequent class
    nothing is claimed.

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

    _fitted = Fields(calibrator_=Part(), evidence_=Instance(Evidence))
    _later = (*JudgingCalibrator._later, "compact")

    strategy: Literal["pool", "select"] = "pool"
    candidates: Mapping[str, Calibrator] | Sequence[Calibrator] | None = None
    max_seconds: float | None = None
    confidence_level: float = 0.95
    compact: bool = True

    def _check_parameters(self) -> None:
        caller = type(self).__name__
        check_option(caller, "strategy", self.strategy, _STRATEGIES)
        check_level(caller, self.confidence_level)
        check_flag(caller, "compact", self.compact)
        if self.candidates is not None:
            given_candidates(self.candidates, caller)
        limit = self.max_seconds
        if limit is not None and not (is_number(limit) and limit > 0):
            hint = "leave it out for no limit."
            raise invalid(caller, "max_seconds", "a positive number", repr(limit), hint=hint)

    def _fit_checked(self, rows: CheckedRows) -> Notes:
        rows, copies = without_copies(rows)
        if self.candidates is None:
            candidates = default_candidates(
                len(rows.classes), rows.units, self.input, self.strategy
            )
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
                compact=self.compact,
            )
        self.calibrator_ = choice.calibrator
        self.evidence_ = evidence_of(
            choice, rows, self.strategy, self.confidence_level, copies=copies
        )
        return choice.notes + warnings_of(copies, rows, type(self).__name__)

    def _combine(self, values: FloatArray) -> FloatArray:
        p = self.calibrator_.predict_proba(values)
        given = np.may_share_memory(p, values)  # the identity returns what it gets
        return np.clip(p, _LOWEST, _HIGHEST, out=None if given else p)

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        return tuple(Clip(p, _LOWEST, _HIGHEST) for p in self.calibrator_._formula(inputs))

    def _repr_html_inner(self) -> str:
        """scikit-learn's form, and once fitted the map and the evidence for it."""
        return self._with_evidence(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same, for notebooks that ask for all forms at once."""
        forms: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in forms:
            forms["text/html"] = self._with_evidence(forms["text/html"])
        return forms

    def _with_evidence(self, form: str) -> str:
        if not hasattr(self, "evidence_"):
            return form
        drawn = ""
        if len(self.classes_) == 2 and self.input == "probability":
            before = np.linspace(0.0, 1.0, 401)
            event = str(self.classes_[1])
            drawn = calibration_map(before, self.predict_proba(before)[:, 1], event=event).to_svg()
        return f"<div>{form}{drawn}{self.evidence_._repr_html_()}</div>"

    def _in_words(self) -> str:
        tried = self.evidence_.candidates[:-1]  # the last is the result
        weights = [(each.weight, each.candidate) for each in tried if each.weight > 0]
        if len(weights) < 2:
            return self.calibrator_._in_words()
        most = sorted(weights, key=lambda each: -each[0])
        listed = ", ".join(f"{weight:.2g} {name}" for weight, name in most[:_NAMED])
        others = f" and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
        return f"Averages the probabilities of {len(most)} maps: {listed}{others}."


ALIASES = {"sigmoid": "platt"}  # the names other libraries know
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


@cache
def calibrator_names() -> dict[str, type[Calibrator] | None]:
    """Every name with its class, in alphabetical order; "auto" has none until it is asked for.

    Names are those of the classes in kebab case: `NearIsotonicCalibrator` is "near-isotonic".
    Calibrators made of others have no name, since they need one to be given.

    Examples
    --------
    >>> calibrator_names()["venn-abers"].__name__
    'VennAbersCalibrator'
    """
    known: dict[str, type[Calibrator] | None] = {"auto": None}
    for public in calibrators.__all__:
        thing = None if public.endswith("Error") else getattr(calibrators, public)
        if _has_a_name(thing):
            known["-".join(_WORDS.findall(public.removesuffix("Calibrator"))).lower()] = thing
    known |= {alias: known[name] for alias, name in ALIASES.items()}
    return dict(sorted(known.items()))


def calibrator_named(
    name: str, n_classes: int = 2, *, caller: str = "calibrator_named", param: str = "name"
) -> Calibrator:
    """Return an unfitted calibrator of that name, for a number of classes.

    Parameters
    ----------
    name : str
        One of :func:`calibrator_names`; case does not matter, and "_" is "-".
    n_classes : int, default 2
        From three classes on, maps of two classes are fitted to each class against the rest.
    caller, param : str
        Whom an error is to name.

    Examples
    --------
    >>> calibrator_named("isotonic")
    IsotonicCalibrator()
    >>> calibrator_named("isotonic", 3)
    OneVsRestCalibrator(calibrator=IsotonicCalibrator())
    >>> calibrator_named("isotonik")
    Traceback (most recent call last):
        ...
    veridical.exceptions.InvalidInputError: calibrator_named: `name` must be one of ...
    Hint: did you mean 'isotonic'?
    """
    known = calibrator_names()
    given = name.lower().replace("_", "-") if isinstance(name, str) else name
    check_option(caller, param, given, known)
    kind = known[given]
    return for_classes(AutoCalibrator() if kind is None else kind(), n_classes)


def for_classes(calibrator: Calibrator, n_classes: int) -> Calibrator:
    """Wrap a map of two classes if there are more; other calibrators are returned as they are."""
    if n_classes <= 2 or not isinstance(calibrator, BinaryCalibrator):
        return calibrator
    own: dict[str, Any] = {"input": calibrator.input, "weight_type": calibrator.weight_type}
    calibrator.input, calibrator.weight_type = "probability", "importance"
    calibrator.labels = calibrator.pos_label = None
    return OneVsRestCalibrator(calibrator, **own)


def _has_a_name(thing: object) -> bool:
    if not (isinstance(thing, type) and issubclass(thing, Calibrator)):
        return False
    if issubclass(thing, FeatureCalibrator) and thing._needs_features:
        return False  # features cannot be named with it
    needed = [p for p in signature(thing).parameters.values() if p.default is p.empty]
    return thing is not Calibrator and not needed
