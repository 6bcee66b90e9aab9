"""The share of a class from many scores and a few labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from veridical._core.data.randomness import check_seed
from veridical._core.data.reading import Missing, Scale
from veridical._core.data.validation import check_level, check_option
from veridical._core.typing import ArrayLike, ColumnNames, FloatArray
from veridical.evaluation._rates.doubts import (
    Transport,
    check_strata,
    check_support,
    random_labels_doubt,
    transport,
)
from veridical.evaluation._rates.hard_judges import rogan_gladen
from veridical.evaluation._rates.limits import Design, Tuned, exact_limits, tuned_estimate
from veridical.evaluation._rates.maps import cross_fitted
from veridical.evaluation._rates.rows import CALLER, RateInput, RateRows
from veridical.exceptions import invalid, warn_of
from veridical.results import ClassRate, RateEstimate
from veridical.results.library import answers_in_kind

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

_METHODS = ("auto", "normal", "labels", "rogan-gladen")
FEWEST = 20  # labels, or clusters of them, from which on scores are used
_HARD = 0.5


@answers_in_kind
def estimate_rate(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    unlabelled: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    calibrator: Calibrator | Literal["auto"] | None = "auto",
    method: Literal["auto", "normal", "labels", "rogan-gladen"] = "auto",
    label_prob: Any = None,
    strata: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    scale: Scale = "probability",
    missing: Missing = "error",
    confidence_level: float = 0.95,
    rng: Any = None,
) -> RateEstimate:
    r"""Estimate which share of rows is really positive, when only some rows have a label.

    A judge (a language model, a classifier, a rule) has scored all rows; people have labelled a
    few. The mean score is wrong by as much as the judge is; labels alone waste the scores. Here the
    labels correct the scores, and limits hold whatever the judge is worth.

    Parameters
    ----------
    y_true : array-like of shape (m,), frame or path
        Labels. Rows whose label is missing (None, NaN, a blank cell) have a score only. Or a frame
        or file with columns `y` and `prob`.
    y_prob : array-like of shape (m,) or (m, K)
        Scores of the same rows as probabilities; a judge that says 0 or 1 is fine.
    unlabelled : array-like of shape (N,) or (N, K), optional
        Scores of further rows without a label.
    y, prob
        Columns of the frame, as in :func:`evaluate`.
    calibrator : "auto", calibrator or None
        Map of the scores, fitted to the labels without the fold of the row. "auto" is a logistic
        regression that is drawn to the base rate, cheap and safe from 20 labels on.
    method : {"auto", "normal", "labels", "rogan-gladen"}
        "auto" is prediction-powered with limits for few labels, and labels alone below 20 of them;
        "normal" has the published limits, for many labels; "labels" ignores scores; "rogan-gladen"
        is for a judge that says yes or no, where labels have other class shares than the rows
        without (see Notes).
    label_prob : array-like or column, optional
        Chance with which each labelled row was chosen, if these differ: of the labelled rows, or
        of all (those of `unlabelled` last). Without it labels are taken as a random sample.
    strata : array-like or column, optional
        Parts within which labels were drawn at random, each of its own share; one key a row, those
        of `unlabelled` last.
    groups : array-like or column, optional
        What rows belong to that depend on each other (prompts, patients), one key a row.
    sample_weight : array-like or column, optional
        Weights of all rows.
    labels, pos_label
        Classes in column order, and the positive one of two (default: the larger).
    scale : {"probability", "percent", "logit", "logprob"}
        What scores are written in.
    missing : {"error", "drop"}
        Whether a row without a score is an error, or dropped and counted.
    confidence_level : float, default 0.95
        Of the limits, of each class by itself.
    rng : seed or generator, optional
        Which rows share a fold; the same rows in any order have the same folds.

    Returns
    -------
    RateEstimate
        With `estimate`, `low` and `high`: numbers for two classes, arrays of shares for more. It
        names its target and how labels are taken to have been drawn.

    Notes
    -----
    With f the mapped score, m labels and N further rows [1]_, [2]_

    .. math:: \hat\theta = l\,\bar f_N + \overline{(y - l f)}_m,\qquad
       l = \mathrm{Cov}_m(y, f) / ((1 + m/N) \mathrm{Var} f)\text{ within }[0, 1].

    **Limits** of "auto" are those of Clopper and Pearson for as many labels as the estimate is
    worth: m times the variance of labels alone over its own, after two rows that are wholly wrong
    were added to both [3]_. A useless score has l = 0, and the exact limits of the labels. In
    simulations with m = 20 to 500, rates of 0.025 to 0.9 and judges that are good, over-confident,
    timid, useless, wrong by group or hard, they held in at least 93 % of 400 samples and were on
    average no wider than those of labels alone (docs, "A language model as a judge").

    **Chances of labels**: with `label_prob` residuals are weighted by their inverse and scores are
    averaged over all rows; with `strata` the estimate is a sum over strata; with `groups` variances
    are of sums by group. Limits are those for the population that all rows come from, and on the
    safe side for these rows themselves.

    **When not**: labels of last month and rows of this one are not one population. If only class
    shares have changed and the judge says yes or no, "rogan-gladen" still holds (it needs the rates
    at which the judge is wrong to be the same); its limits are often three times as wide.

    Refuses where rows without a label have scores that labels do not cover. Time O(n log n).

    References
    ----------
    .. [1] Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-powered inference,
       Science 382, doi 10.1126/science.adi6000.
    .. [2] Angelopoulos, Duchi & Zrnic (2023), PPI++, arXiv 2311.01453.
    .. [3] Korn & Graubard (1998), Confidence intervals for proportions with small expected number
       of positive counts estimated from survey data, Survey Methodology 24, 193-201.

    Examples
    --------
    Nine of 20 labels are positive. The judge says yes to these and to one more row: to half of the
    labelled rows, and to half of 100 further ones. So there is nothing to correct, and yet limits
    are narrower than those of the labels alone.

    >>> y, judge = [1] * 9 + [0] * 11, [1] * 10 + [0] * 10
    >>> found = estimate_rate(y, judge, [1] * 50 + [0] * 50, calibrator=None)
    >>> round(found.estimate, 3), found.rates[0].labels_estimate
    (0.45, 0.45)
    >>> found.high - found.low < found.rates[0].labels_high - found.rates[0].labels_low
    True
    """
    check_option(CALLER, "method", method, _METHODS)
    level = check_level(CALLER, confidence_level)
    seed = check_seed(rng, caller=CALLER)
    given = RateInput(
        y_true,
        y_prob,
        unlabelled,
        y,
        prob,
        label_prob,
        strata,
        groups,
        sample_weight,
        labels,
        pos_label,
        scale,
        missing,
    )
    rows = given.read()
    found = rate_of_rows(rows, calibrator, method, level, seed)
    warn_of((note for note in found.notes if note not in rows.notes), caller=CALLER)
    return found


def rate_of_rows(
    rows: RateRows,
    calibrator: Any = "auto",
    method: str = "auto",
    level: float = 0.95,
    seed: int = 0,
) -> RateEstimate:
    """The estimate for checked rows."""
    if method == "rogan-gladen":
        return _of_hard_judge(rows, level)
    check_strata(rows)
    design = Design.of(rows)
    check_support(rows, design)
    notes = [*rows.notes, *random_labels_doubt(rows, design)]
    used, few = method, design.n_clusters < FEWEST
    if method == "auto":
        used = "labels" if few or rows.n == rows.m else "prediction-powered"
        if few:
            what = "labels" if design.clusters is None else "groups with a label"
            there = f"{design.n_clusters} of the {FEWEST} {what} that scores need"
            notes.append(f"{there}: limits are those of labels alone")
    mapped, words, carried = rows.score, "none", Transport(None, [])
    if used != "labels":
        mapped, words = cross_fitted(rows, calibrator, seed)
        carried = transport(rows, mapped)
    tuned = [
        tuned_estimate(design, rows.outcome[:, c], mapped[:, c], 0.0 if used == "labels" else None)
        for c in range(len(rows.classes))
    ]
    if len(tuned) > 1:
        total = sum(each.estimate for each in tuned)
        tuned = [each._replace(estimate=each.estimate / total) for each in tuned]
    return RateEstimate(
        rates=tuple(
            _class_rate(rows, design, c, each, used, level) for c, each in enumerate(tuned)
        ),
        confidence_level=level,
        method=used,
        map=words,
        target="the population that all of these rows come from",
        design=_design_in_words(rows),
        n_labelled=rows.m,
        n_unlabelled=rows.n - rows.m,
        transport=carried.word,
        notes=(*notes, *carried.notes),
    )


def _class_rate(
    rows: RateRows, design: Design, c: int, tuned: Tuned, used: str, level: float
) -> ClassRate:
    units = None if design.clusters is None else design.n_clusters
    alone = tuned_estimate(design, rows.outcome[:, c], rows.score[:, c], 0.0)
    low, high = exact_limits(tuned.estimate, tuned.worth, level, units)
    if used == "normal":
        low, high = _normal_limits(tuned, level)
    labels_low, labels_high = exact_limits(alone.estimate, alone.worth, level, units)
    return ClassRate(
        label=rows.classes[c],
        estimate=min(max(tuned.estimate, 0.0), 1.0),
        low=low,
        high=high,
        labels_estimate=alone.estimate,
        labels_low=labels_low,
        labels_high=labels_high,
        mean_score=_mean_score(rows, c),
        tuning=tuned.tuning,
        worth=None if used == "normal" else tuned.worth,
    )


def _normal_limits(tuned: Tuned, level: float) -> tuple[float, float]:
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * float(np.sqrt(tuned.variance))
    return max(tuned.estimate - reach, 0.0), min(tuned.estimate + reach, 1.0)


def _mean_score(rows: RateRows, c: int) -> float | None:
    if rows.n == rows.m:
        return None
    weight = None if rows.weight is None else rows.weight[rows.m :]
    return float(np.average(rows.score[rows.m :, c], weights=weight))


def _design_in_words(rows: RateRows) -> str:
    if rows.label_prob is not None:
        words = "drawn with the chances given"
    else:
        words = "taken as a random sample of all rows"
    if rows.strata is not None:
        words += f" of each of {len(rows.keys)} strata"
    if rows.clusters is not None:
        words += ", in groups that belong together"
    return words


def _of_hard_judge(rows: RateRows, level: float) -> RateEstimate:
    given = {
        "label_prob": rows.label_prob,
        "strata": rows.strata,
        "groups": rows.clusters,
        "sample_weight": rows.weight,
    }
    for param, value in given.items():
        if value is not None:
            hint = 'use method="auto".'
            expected = 'unset for method="rogan-gladen"'
            raise invalid(CALLER, param, expected, "a value", hint=hint)
    if rows.score.shape[1] > 1:
        hint = "ask for one class against the others."
        got = f"{rows.score.shape[1]} classes"
        raise invalid(CALLER, "y_prob", 'of two classes for method="rogan-gladen"', got, hint=hint)
    score, y = rows.score[:, 0], rows.outcome[:, 0]
    judged: FloatArray = (score >= _HARD).astype(np.float64)
    notes = list(rows.notes)
    if not np.isin(score, (0, 1)).all():
        notes.append(f"scores of {_HARD} and more are taken as yes")
    found = rogan_gladen(y, judged[: rows.m], judged[rows.m :], level, CALLER)
    share = float(y.mean())
    low, high = exact_limits(share, rows.m, level, None)
    rate = ClassRate(
        label=rows.classes[0],
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        labels_estimate=share,
        labels_low=low,
        labels_high=high,
        mean_score=_mean_score(rows, 0),
        tuning=None,
        worth=None,
    )
    return RateEstimate(
        rates=(rate,),
        confidence_level=level,
        method="rogan-gladen",
        map="none",
        target="the population of the rows without a label",
        design="a random sample within each class; class shares may differ",
        n_labelled=rows.m,
        n_unlabelled=rows.n - rows.m,
        notes=tuple(notes),
    )
