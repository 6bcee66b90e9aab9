"""A release gate: requirements that ask for evidence of calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from veridical._core.data.randomness import check_resamples, check_seed
from veridical._core.data.reading import Missing, Reading, Scale
from veridical._core.data.validation import check_level
from veridical._core.typing import ArrayLike
from veridical.binning import UniformBins
from veridical.evaluation._data.read import DataRequest, searched
from veridical.evaluation._data.source import SampleSource, Source, on_same_rows
from veridical.evaluation._data.sums import notes_on_origin
from veridical.evaluation._gate.figures import baseline_of, read_baseline
from veridical.evaluation._gate.language import SEGMENTS, Rule, read_rule, spelt
from veridical.evaluation._gate.subject import (
    CALLER,
    Options,
    Read,
    Subject,
    check_same,
    rows_to_decide,
    subjects_of,
    subjects_of_evaluation,
)
from veridical.exceptions import InvalidInputError, invalid, warn_of
from veridical.inference.core import DEFAULT_MARGIN
from veridical.lenses.reading import RawData
from veridical.results import Evaluation, GateBaseline, GateCheck, GateResult
from veridical.results.library import answers_in_kind
from veridical.summaries import GridSummary


def doubt_of(rule: Rule) -> str | None:
    """Say why meeting a requirement would not be evidence, or None.

    Examples
    --------
    >>> from veridical.evaluation._gate.language import read_rule
    >>> print(doubt_of(read_rule("cox().pvalue > 0.05", caller="check")))
    'cox().pvalue > 0.05' asks that a test does not reject, which is no evidence of calibration:
    with few rows hardly anything is rejected; require an upper limit ('ece.high < 0.05') or
    'equivalence(0.03).pvalue < 0.05'
    >>> doubt_of(read_rule("ece.high < 0.05", caller="check")) is None
    True
    """
    quantity, less = rule.quantity, rule.wants_less
    doubt = None
    if quantity.name == "calibrated":
        return None
    if quantity.field == "pvalue":
        doubt = _of_pvalue(quantity.name, less=less)
    elif rule.minus is not None:
        doubt = (
            "compares two estimates and takes no account of chance:"
            f" 'difference({quantity.name})' has limits"
        )
    elif quantity.field in ("low", "high") and less == (quantity.field == "low"):
        right = "high" if less else "low"
        doubt = (
            "is the easier to meet the fewer the rows: that nothing speaks against it is no"
            f" evidence for it; require the {right!r} limit"
        )
    return None if doubt is None else f"{rule.text!r} {doubt}"


def of_estimate(rule: Rule) -> str:
    """Say that an estimate with known limits was compared without them."""
    right = "high" if rule.wants_less else "low"
    name = str(rule.quantity).removesuffix(".value")
    return (
        f"{rule.text!r} compares an estimate and takes no account of chance:"
        f" '{name}.{right}' is its limit"
    )


def _of_pvalue(name: str, *, less: bool) -> str | None:
    if name == "equivalence":
        return None if less else "asks that calibration is not shown"
    if name == "difference":
        return "does not say which of the two is better: require a limit, 'high' or 'low'"
    if less:
        return "asks that calibration is rejected"
    return (
        "asks that a test does not reject, which is no evidence of calibration: with few rows"
        " hardly anything is rejected; require an upper limit ('ece.high < 0.05') or"
        " 'equivalence(0.03).pvalue < 0.05'"
    )


_ROWS_A_BIN = 20  # as in `bootstrap_interval`
_DRAWN = ("null_mean", "null_q95", "pvalue")


@answers_in_kind
def check_requirements(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    requirements: str | Sequence[str],
    y: str | None = None,
    prob: str | list[str] | tuple[str, ...] | None = None,
    lens: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    n_bins: Any = 15,
    sample_weight: Any = None,
    by: Any = None,
    by_bins: int = 4,
    features: Any = None,
    min_rows: int = 50,
    groups: Any = None,
    scale: Scale = "probability",
    missing: Missing = "error",
    normalize: bool = False,
    against: Any = None,
    against_prob: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    engine: Literal["auto", "memory", "pushdown"] = "auto",
) -> GateResult:
    """Check predictions against requirements, as a gate before a release.

    Parameters
    ----------
    y_true, y_prob, y, prob, lens, labels, pos_label, n_bins, sample_weight
        As in :func:`evaluate`: arrays, or a frame, query or file with column names, or a summary.
        `y_true` may also be an `Evaluation`, alone; then there are no rows, and so no tests and no
        limits of scores.
    requirements : str or sequence of str
        Each ``figure[.field] < number`` with <, <=, > or >=. Figures are those of `evaluate`, in
        lower case with underscores (``ece``, ``ece_equal_mass``, ``rmsce``, ``brier``, ``log``,
        ``accuracy``, ``auc``, ``slope``, ``intercept``, ``classwise_ece``, ...) or in quotes
        (``"ECE equal-mass"``). Fields: ``value`` (default), ``low``, ``high``, ``null_mean``,
        ``null_q95``, ``pvalue``. Functions: ``equivalence(margin)`` with ``pvalue``, ``high`` and
        ``value``; ``cox()``, ``consistency()``, ``spiegelhalter()``, ``hosmer_lemeshow()``,
        ``t_cal()``, ``kernel()``, ``pearson()`` with ``pvalue`` and ``statistic``;
        ``difference(figure)`` with ``value``, ``low`` and ``high``. ``log - baseline.log < 0.01``
        compares two estimates. ``segments.worst`` with ``high``, ``low`` and ``value`` is the
        largest gap of any segment, with limits for the whole search; that the search finds nothing
        cannot be required, as it shows nothing. ``calibrated`` asks that the joint test of the
        verdict finds nothing and that an error above a margin is excluded (10 % of the base rate,
        or as in ``calibrated(0.03)``). A requirement may start with ``all:`` or ``groups:``.
    by : array-like, column name or list of column names, optional
        Subgroups: every requirement is asked of all rows and of each group, or only of one of
        these if it starts with ``all:`` or ``groups:``.
    features : frame, mapping, array, or column names of a frame or file, optional
        What segments are made of, for ``segments.worst.high < 0.1``: the largest gap of any of
        them (:func:`audit_segments`). Of a frame or file every other column by default, if such a
        requirement is there.
    min_rows : int, default 50
        Fewest rows of such a segment; small ones have wide limits.
    groups : array-like of shape (n,) or column name, optional
        What rows belong to that depend on each other, as in :func:`evaluate`.
    scale, missing, normalize, by_bins
        How values are read, as in :func:`evaluate`.
    against : GateBaseline, Evaluation or path, optional
        Figures of an earlier release, or a JSON file of them.
    against_prob : array-like or column name(s), optional
        Predictions of the earlier model for the same rows, for paired differences.
    confidence_level : float, default 0.95
        Of the limits ``low`` and ``high``: an upper limit of a 95 % interval is exceeded with a
        chance of 2.5 %.
    n_resamples : int, default 1000
        Draws for null levels and tests that draw.
    rng : int, Generator or None
        Seed of those draws. None is a fixed seed here: the same data give the same result.
    engine : {"auto", "memory", "pushdown"}, default "auto"
        Where rows are summed up. "auto" reads them, for limits of scores need rows; "pushdown" lets
        the engine that holds them sum them up, and figures and tests are those of the sums, as
        :func:`evaluate` and :func:`calibration_tests` have them. A summary has no limits of scores
        either, and neither has paired differences.

    Returns
    -------
    GateResult
        `print` it; see `outcome`, `passed`, `checks`, `to_junit`, `to_markdown`, and `measured`,
        which is the baseline of the next release.

    Notes
    -----
    A requirement is met, not met or undecided. One that asks for a limit (``ece.high < 0.05``) is
    met if the limit holds, not met if the opposite limit breaks it too (the lower one is 0.05 or
    more), and else undecided: not shown is not passed. How many rows would decide is told, from
    the limits, which shrink as one over the root of n, or from :func:`required_sample_size`. Only
    figures whose limits hold with few rows and few events can be asked for ``low`` and ``high``:
    scores, their parts and accuracy, AUC, binned errors of the lens, the canonical ECE, smECE, KS,
    slope, intercept, calibration in the large and observed/expected. How often each errs with the
    truth at the limit is measured (``docs/evidence/gate_limits.csv``). Predictions that rank
    backwards fail whatever is asked.

    A test of calibration that does not reject is no evidence of calibration, so such requirements
    (``cox().pvalue > 0.05``) are accepted with a warning. Evidence is an upper limit
    (``ece.high < 0.05``), or the rejection of a hypothesis of miscalibration
    (``equivalence(0.03).pvalue < 0.05``).

    All requirements must be met, in all groups. The chance that a release passes which breaks one
    of them is at most that of this one alone, however many there are: an intersection-union test
    needs no correction [1]_. The price is the other error: the more requirements and groups, the
    likelier a good release fails. Undefined values (None, NaN) are undecided.

    ``difference(figure)`` is new minus old. With `against_prob` it is paired (row by row, see
    :func:`paired_difference`) and exists for ``brier``, ``log``, ``spherical``, ``zero_one``,
    ``accuracy`` and ``squared_rmsce``, the debiased squared calibration error. A stored baseline
    has no rows: the two samples are taken as independent, and limits come from the limits of each
    [2]_; for calibration errors, whose estimates are biased, they are the cautious ones
    ``high - baseline low``. If the rows are the same ones, paired limits are shorter.

    Time: that of :func:`evaluate`, whose verdict is given too, and of the tests named, for all rows
    and once more for all groups together; null levels are drawn only if one is asked for.

    References
    ----------
    .. [1] Berger (1982), Multiparameter hypothesis testing and acceptance sampling, Technometrics
       24, 295-300.
    .. [2] Zou & Donner (2008), doi 10.1002/sim.3095.

    Examples
    --------
    >>> p = [0.25] * 1000 + [0.75] * 1000
    >>> y = [0, 0, 0, 1] * 250 + [1, 1, 1, 0] * 250
    >>> result = check_requirements(y, p, requirements=["ece.high < 0.05", "auc.low > 0.8"])
    >>> result.passed, [check.outcome for check in result.checks]  # auc is 3/4
    (False, ['met', 'not met'])
    >>> few = check_requirements(
    ...     y[:20] + y[-20:], p[:20] + p[-20:], requirements="accuracy.low > 0.7"
    ... )
    >>> few.outcome, few.checks[0].rows  # 0.588 to 0.873: 40 (0.162 / 0.05)^2
    ('undecided', 420)
    """
    rules = _read_rules(requirements)
    level = check_level(CALLER, confidence_level)
    count = check_resamples(n_resamples, caller=CALLER)
    if against is not None and against_prob is not None:
        hint = "compare with figures, or with predictions for the same rows."
        raise invalid(CALLER, "against_prob", "unset with `against`", "both", hint=hint)
    old = None if against is None else read_baseline(against, caller=CALLER)
    about: list[str] = []
    if isinstance(y_true, Evaluation):
        _check_alone(y_prob, by, against_prob)
        subjects = subjects_of_evaluation(y_true, old)
        compared = _in_words(old)
    else:
        UniformBins(n_bins)  # refuses a bad number before anything is measured
        if engine == "auto" and not isinstance(y_true, GridSummary):
            engine = "memory"
        reading = Reading(scale, missing, normalize, by_bins).checked(caller=CALLER)
        data = RawData(
            y_true,
            y_prob,
            y=y,
            prob=prob,
            labels=labels,
            pos_label=pos_label,
            by=by,
            groups=groups,
            features=features,
            reading=reading,
        )
        searches = any(rule.quantity.name == SEGMENTS for rule in rules)
        if searches and y_prob is None and data.features is None:
            data = replace(data, features="*")
        data = searched(data, caller=CALLER)
        request = DataRequest(data.weighted(sample_weight), lens=lens, n_bins=n_bins, caller=CALLER)
        needs_rows = None if against_prob is None else "predictions for the same rows"
        source = request.read(engine, needs_rows=needs_rows)
        earlier = None
        if against_prob is not None:
            other = _earlier(request.data, against_prob, source)
            earlier = replace(request, data=other).rows()
            assert isinstance(source, SampleSource)
            source, earlier = on_same_rows(source, earlier)
        about = notes_on_origin(source, n_bins)
        options = Options(n_bins, level, count, check_seed(rng, caller=CALLER))
        subjects = subjects_of(source, earlier, old, options, count if _draws(rules) else 0)
        if searches:
            subjects[0].search(min_rows)
        compared = "other predictions for the same rows" if earlier else _in_words(old)
    check_same(subjects[0].evaluation, old)
    notes = _doubts(rules, subjects)
    about += _of_groups(subjects)
    checks = (*_reversed(subjects[0]), *_checks(rules, subjects, notes))
    warn_of(notes, caller=CALLER)
    every_row = subjects[0].evaluation
    return GateResult(
        checks=checks,
        measured=baseline_of([(each.group, each.figures) for each in subjects], every_row),
        compared=compared,
        n_samples=every_row.n_samples,
        lens=every_row.lens,
        confidence_level=every_row.confidence_level,
        verdict=every_row.verdict if every_row.verdict.text else None,
        notes=(*about, *notes),
    )


def _earlier(data: RawData, against_prob: Any, source: Source) -> RawData:
    """The same rows with the predictions of the other model."""
    if data.y_prob is not None:
        return replace(data, y_prob=against_prob, prob=None)
    assert isinstance(source, SampleSource)
    names = [against_prob] if isinstance(against_prob, str) else list(against_prob)
    return replace(data, labels=list(source.sample.columns), prob=names)


def _read_rules(requirements: Any) -> list[Rule]:
    texts = [requirements] if isinstance(requirements, str) else requirements
    if not isinstance(texts, Sequence):
        hint = "e.g. requirements=['ece.high < 0.05', 'equivalence(0.03).pvalue < 0.05']."
        got = f"a {type(texts).__name__}"
        raise invalid(CALLER, "requirements", "a list of requirements", got, hint=hint)
    return [read_rule(text, caller=CALLER) for text in texts]


def _says_nothing(rule: Rule, subject: Subject) -> str | None:
    """Say that a constant forecast would meet an upper limit of a calibration error too."""
    evaluation = subject.evaluation
    measured = {spelt(m.name) for m in evaluation.errors if m.lens == evaluation.curve.lens}
    known = rule.quantity.name in measured and rule.wants_less and rule.minus is None
    if not known or rule.limit is None or rule.quantity.field not in ("value", "high"):
        return None
    rate = evaluation.mean_observed
    rarer, forecast = (rate, 0) if rate <= 0.5 else (1 - rate, 1)
    if not rule.holds(rarer):
        return None
    return (
        f"{rule.text!r} says nothing here: the forecast {forecast} meets it too (base rate"
        f" {rarer:.4g}); 'equivalence({DEFAULT_MARGIN}).pvalue < 0.05' asks in proportion"
    )


def _draws(rules: list[Rule]) -> bool:
    """Whether null levels are asked for, which take the time of an evaluation."""
    quantities = [rule.quantity for rule in rules] + [rule.minus for rule in rules if rule.minus]
    return any(q.field in _DRAWN and not q.is_function for q in quantities)


def _checks(rules: list[Rule], subjects: list[Subject], notes: list[str]) -> tuple[GateCheck, ...]:
    """Check every requirement; doubts about requirements, then about tests, go to the notes."""
    checks: list[GateCheck] = []
    doubts: list[str] = []
    for rule in rules:
        if rule.scope == "groups" and len(subjects) == 1:
            hint = "name the groups as `by`."
            raise invalid(CALLER, "by", f"given for {rule.text!r}", "no groups", hint=hint)
        doubt = doubt_of(rule)
        if doubt is None and rule.quantity.field == "value" and rule.minus is None:
            known = rule.quantity.name == "difference"
            if known or subjects[0].limits_known(rule.quantity.name):
                doubt = of_estimate(rule)
        nothing = _says_nothing(rule, subjects[0])
        notes += [each for each in (doubt, nothing) if each is not None]
        asked = {"all": subjects[:1], "groups": subjects[1:]}.get(rule.scope, subjects)
        if rule.quantity.name == SEGMENTS:  # its segments are the groups
            asked = subjects[:1]
        checks += [_check(rule, subject, doubts) for subject in asked]
    notes += [doubt for doubt in dict.fromkeys(doubts) if doubt not in notes]
    return tuple(checks)


def _check(rule: Rule, subject: Subject, doubts: list[str]) -> GateCheck:
    read, reason = Read(None, ""), ""
    try:
        read = subject.read(rule.quantity, rule.minus)
        doubts.extend(read.doubts)
    except InvalidInputError as error:
        if subject.group is None:
            raise
        # What cannot be told of a small group stays open, with a reason; the others are told.
        whose = "" if error.caller == CALLER else f"{error.caller}: "
        what = f"`{error.param}` must be {error.expected}; got {error.got}."
        reason = f"{whose}{what} Hint: {error.hint}"
    if read.value is None and not reason:
        reason = f"no value: {read.definition}"
    outcome, rows = _outcome(rule, read), read.rows
    if outcome == "undecided" and rows is None and rule.limit is not None:
        rows = rows_to_decide(rule.limit, read.centre, read.low, read.high, subject.n)
    return GateCheck(
        requirement=rule.text,
        group=subject.group,
        value=read.value,
        operator=rule.operator,
        limit=read.limit if rule.limit is None else rule.limit,
        outcome=outcome,
        rows=rows if outcome == "undecided" else None,
        n_samples=subject.n,
        definition=read.definition,
        reason=reason,
    )


def _outcome(rule: Rule, read: Read) -> str:
    """Met, not met, or undecided: what is not shown is not met, and what is not refuted neither."""
    if rule.limit is None:
        return read.outcome or "undecided"
    if read.value is None or math.isnan(read.value):
        return "undecided"
    if rule.holds(read.value):
        return "met"
    if not rule.asks_evidence:
        return "not met"
    if read.outcome is not None:
        return read.outcome
    other = read.low if rule.wants_less else read.high
    return "undecided" if other is None or rule.holds(other) else "not met"


def _reversed(subject: Subject) -> list[GateCheck]:
    """A check that nobody wrote: predictions that rank backwards meet nothing."""
    verdict = subject.verdict
    if verdict.kind != "reversed":
        return []
    return [
        GateCheck(
            requirement="ranks the right way",
            value=subject.evaluation.auc,
            operator=">",
            limit=0.5,
            outcome="not met",
            n_samples=subject.n,
            definition=f"AUC; {verdict.headline}",
        )
    ]


def _check_alone(y_prob: Any, by: Any, against_prob: Any) -> None:
    for name, value in (("y_prob", y_prob), ("by", by), ("against_prob", against_prob)):
        if value is not None:
            hint = "an evaluation has no rows; pass outcomes and predictions instead."
            raise invalid(CALLER, name, "unset with an evaluation", "a value", hint=hint)


def _doubts(rules: list[Rule], subjects: list[Subject]) -> list[str]:
    """Doubts about all rows but for figures not asked for, and groups whose bins hold few."""
    asked = {rule.quantity.name for rule in rules}
    unasked = set(subjects[0].figures) - asked
    notes = [
        note
        for note in subjects[0].evaluation.notes
        if spelt(note.partition(":")[0]) not in unasked
    ]
    if not any(name.startswith("rmsce") for name in asked):
        return notes
    short = [each.group for each in subjects[1:] if each.rows_a_bin < _ROWS_A_BIN]
    if subjects[0].rows_a_bin < _ROWS_A_BIN:
        notes.append("with so few rows a bin, upper limits of rare outcomes may be too small")
    elif short:
        notes.append(
            f"{len(short)} of {len(subjects) - 1} groups have fewer than {_ROWS_A_BIN} rows a bin:"
            " their upper limits may be too small where outcomes are rare"
        )
    return notes


def _of_groups(subjects: list[Subject]) -> list[str]:
    if len(subjects) == 1:
        return []
    return [
        f"all {len(subjects) - 1} groups must pass: that needs no correction against passing by"
        " chance, but the more groups, the likelier a good release fails"
    ]


def _in_words(old: GateBaseline | None) -> str:
    if old is None:
        return ""
    return f"{old.n_samples:,} rows, taken as independent of these, version {old.version}"
