"""The parts of a mean score, by recalibrating within groups of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical._core.data.validation import check_option, check_probabilities, float_array
from veridical._core.numeric.pava import IsotonicBlocks, isotonic_blocks, isotonic_fit
from veridical._core.sample import BinarySample, MulticlassSample, Sample, weighted_mean
from veridical._core.typing import (
    ArrayLike,
    BoolArray,
    ColumnNames,
    FloatArray,
    IntArray,
    WeightType,
)
from veridical.binning import Binning, UniformBins
from veridical.exceptions import invalid, warn_of
from veridical.lenses import Canonical, ClasswiseProblem, Problem
from veridical.lenses.reading import RawData
from veridical.results import Decomposition
from veridical.results.library import answers_in_kind
from veridical.scores import ScoringRule, get_rule
from veridical.summaries import Summary, VectorSummary, summarise


@dataclass(frozen=True)
class Parts:
    """Parts of a mean score; see `Decomposition`."""

    score: float
    miscalibration: float
    refinement: float
    uncertainty: float
    within_bin: float = 0.0
    within_bin_variance: float | None = None
    within_bin_covariance: float | None = None


def isotonic_parts(
    sample: BinarySample,
    rule: ScoringRule,
    fit: IsotonicBlocks | None = None,
    score: float | None = None,
) -> Parts:
    """CORP: the recalibrated prediction c is the isotonic fit (Dimitriadis et al. 2021).

    MCB = S(p) - S(c), DSC = S(mean y) - S(c), UNC = S(mean y). Within a block of the fit the
    observed frequency equals c, so S(c) is the mean entropy of c.
    """
    if fit is None:
        fit = isotonic_blocks(sample.pooled.weight, sample.pooled.positive)
    score = rule.mean(sample) if score is None else score
    fitted = np.clip(fit.frequency, 0.0, 1.0)
    refinement = float(fit.weight @ rule.entropy(fitted) / fit.weight.sum())
    uncertainty = float(rule.entropy(_base(sample))[0])
    return Parts(score, max(score - refinement, 0.0), refinement, uncertainty)


def unique_parts(sample: Sample, rule: ScoringRule) -> Parts:
    """Recalibrate by the frequencies among rows with the same prediction (Kull & Flach 2015)."""
    frequency, prediction, share = _group_by_prediction(sample)[:3]
    miscalibration = float(share @ rule.divergence(prediction, frequency))
    refinement = float(share @ rule.entropy(frequency))
    uncertainty = float(rule.entropy(_base(sample))[0])
    return Parts(rule.mean(sample), miscalibration, refinement, uncertainty)


def _group_by_prediction(sample: Sample) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Class frequencies, prediction and share of each distinct prediction, and each row's group."""
    p = sample.p
    if p.ndim == 1:
        values, group = np.unique(p, return_inverse=True)
    else:
        values, group = np.unique(p, axis=0, return_inverse=True)
    group = group.reshape(-1)
    n_groups, w = len(values), sample.weight
    weight = np.bincount(group, weights=w, minlength=n_groups).astype(np.float64)
    if p.ndim == 1:
        hits = sample.y if w is None else w * sample.y
        frequency = np.bincount(group, weights=hits, minlength=n_groups) / weight
    else:
        n_classes = p.shape[1]
        key = group * n_classes + sample.y
        hits = np.bincount(key, weights=w, minlength=n_groups * n_classes)
        frequency = hits.reshape(n_groups, n_classes) / weight[:, None]
    return frequency, values.astype(np.float64), weight / weight.sum(), group


def recalibrate_rows(sample: Sample, method: str, binning: Binning) -> FloatArray:
    """Recalibrated prediction c of every row, as the method of the decomposition defines it."""
    if method == "unique":
        frequency, _, _, group = _group_by_prediction(sample)
        return frequency[group]
    if method == "isotonic":
        assert isinstance(sample, BinarySample)
        return isotonic_fit(sample.pooled).at(sample.p)
    summary = summarise(sample, binning)
    if isinstance(summary, Summary):
        return summary.mean_y[0][summary.partitions[0].assign(sample.p)]
    return summary.mean_y[summary.partition.assign(sample.p)]


def binned_parts(sample: Sample, rule: ScoringRule, binning: Binning) -> Parts:
    """Murphy's decomposition by bins, with what bins hide (Stephenson et al. 2008)."""
    summary = summarise(sample, binning, rules=(rule.name,))
    mean_p, mean_y, share, score = _bin_means(summary, rule)
    miscalibration = float(share @ rule.divergence(mean_p, mean_y))
    refinement = float(share @ rule.entropy(mean_y))
    uncertainty = float(rule.entropy(_base(sample))[0])
    hidden = np.isinf(score) and np.isinf(miscalibration)  # both infinite: nothing left to explain
    within = 0.0 if hidden else score - miscalibration - refinement
    if rule.name != "brier":
        return Parts(score, miscalibration, refinement, uncertainty, within)
    # Mean of sum_k p_k^2 within bins minus that of the bin means: sum of w p - w p (1 - p).
    squares = summary.sum_wp - summary.sum_wpq
    if isinstance(summary, Summary):
        squares = squares[0][summary.occupied[0]]
        total = summary.sum_w[0].sum()
        variance = float(squares.sum() / total - share @ mean_p**2)
    else:
        total = summary.sum_w.sum()
        variance = float(squares.sum() / total - share @ (mean_p**2).sum(axis=1))
    return Parts(
        score, miscalibration, refinement, uncertainty, within, variance, variance - within
    )


def _bin_means(
    summary: Summary | VectorSummary, rule: ScoringRule
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    scores = summary.scores[rule.name]
    if isinstance(summary, Summary):
        held = summary.occupied[0]
        score = float(scores[0].sum() / summary.sum_w[0].sum())
        return summary.mean_p[0, held], summary.mean_y[0, held], summary.share[0, held], score
    score = float(scores.sum() / summary.sum_w.sum())
    return summary.mean_p, summary.mean_y, summary.share, score


def _base(sample: Sample) -> FloatArray:
    """Base rate as a batch of one prediction."""
    if isinstance(sample, BinarySample):
        return np.array([weighted_mean(sample.y, sample.weight)])
    counts = np.bincount(sample.y, weights=sample.weight, minlength=len(sample.classes))
    return (counts / counts.sum())[None, :]


Method = Literal["bins", "isotonic", "unique"]


@answers_in_kind
def decompose(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    y: str | None = None,
    prob: ColumnNames | None = None,
    rule: Literal["brier", "log", "spherical", "zero-one"] = "brier",
    method: Method | None = None,
    lens: Any = None,
    n_bins: Any = 15,
    binning: Binning | None = None,
    posterior: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    weight_type: WeightType = "importance",
) -> Decomposition:
    r"""Split a mean score into miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    y_true, y_prob, y, prob, labels, pos_label, sample_weight
        As in :func:`evaluate`: arrays, or a frame or file with column names.
    rule : {"brier", "log", "spherical", "zero-one"}
        The proper score.
    method : {"isotonic", "bins", "unique"}, optional
        How the recalibrated prediction c is found: by isotonic regression of the outcomes (CORP),
        as the frequency in a bin (Murphy), or as the frequency among rows with the very same
        prediction (Kull & Flach; for predictions with few distinct values). Default "isotonic"
        for a binary problem, "bins" for a vector.
    lens : lens, name or callable, optional
        Default the whole prediction, because a score is one of the whole prediction: the binary
        problem for two classes, the vector for more. Over a classwise lens parts are averaged.
    n_bins, binning
        Bins of method "bins".
    posterior : array-like like `y_prob`, optional
        Known true probabilities given the features; adds epistemic, irreducible and grouping
        loss. Only for the whole prediction.
    weight_type : {"importance", "frequency"}
        What weights mean where the number of bins depends on the sample size.

    Returns
    -------
    Decomposition

    Notes
    -----
    .. math:: \bar S = \underbrace{E\, d(p, c)}_{\text{miscalibration}}
       - \underbrace{E\, d(\bar y, c)}_{\text{discrimination}}
       + \underbrace{H(\bar y)}_{\text{uncertainty}} \; (+ \text{ within-bin terms})

    With c the frequency among equal predictions or the isotonic fit the parts add up exactly.
    With bins they do not, because predictions differ within a bin; the rest is reported as
    `within_bin`, for the Brier score also as within-bin variance minus covariance. Refinement is
    uncertainty minus discrimination, the mean entropy H(c).

    With a posterior q: epistemic loss E d(p, q), irreducible loss E H(q), grouping loss E d(c, q).

    In-sample miscalibration is biased upwards: c is fitted to the same rows.

    References
    ----------
    .. [1] Survey section 3.1; Kull & Flach (2015), doi 10.1007/978-3-319-23528-8_5.
    .. [2] Murphy (1973), doi 10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2.
    .. [3] Dimitriadis, Gneiting & Jordan (2021), doi 10.1073/pnas.2016191118.
    .. [4] Stephenson, Coelho & Jolliffe (2008), doi 10.1175/2007WAF2006116.1.

    Examples
    --------
    Predictions 0.25 and 0.75, right half of the time: all of the score above the base rate's is
    miscalibration.

    >>> print(decompose([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]))
    brier 0.3125 = MCB 0.0625 - DSC 0.0000 + UNC 0.2500  (isotonic, n=4)
    """
    caller = "decompose"
    scoring = get_rule(rule, caller=caller)
    raw = RawData(y_true, y_prob, y=y, prob=prob, labels=labels, pos_label=pos_label)
    data = raw.weighted(sample_weight, weight_type).check(caller=caller)
    sample, chosen, problem, notes, _ = data.through(
        Canonical() if lens is None else lens, caller=caller
    )
    name = chosen.name
    if lens is None and isinstance(problem, BinarySample):
        name = "binary"
    bins = UniformBins(n_bins) if binning is None else binning
    truth: dict[str, float] = {}
    parts, how = _decompose_problem(problem, scoring, method, bins, caller)
    if posterior is not None:
        known = _check_posterior(posterior, sample, problem, data.kept, caller)
        truth = _known_truth(sample, scoring, known, recalibrate_rows(sample, how, bins))
    warn_of(notes, caller=caller)
    definition = {"bins": bins.name, "unique": "unique predictions"}.get(how, how)
    return _record(parts, scoring, how, definition, name, sample.n, **truth)


def decompose_isotonic(
    problem: BinarySample, rule: ScoringRule, *, lens: str, fit: IsotonicBlocks, score: float | None
) -> Decomposition:
    """Decompose a score whose isotonic fit (and perhaps mean) is known already."""
    return _record(
        isotonic_parts(problem, rule, fit, score), rule, "isotonic", "isotonic", lens, problem.n
    )


def _decompose_problem(
    problem: Problem, rule: ScoringRule, method: Method | None, binning: Binning, caller: str
) -> tuple[Parts, str]:
    """Parts of the score of an induced problem, and the method used."""
    default = "bins" if isinstance(problem, MulticlassSample) else "isotonic"
    how: str = default if method is None else method
    check_option(caller, "method", how, ("bins", "isotonic", "unique"))
    if isinstance(problem, MulticlassSample) and how == "isotonic":
        hint = 'use method="bins" or "unique", or a lens such as "confidence" or "classwise".'
        got = f"'isotonic' for {len(problem.classes)} classes"
        raise invalid(caller, "method", "one defined for vectors", got, hint=hint)
    if isinstance(problem, ClasswiseProblem):
        singles = [problem.problem(k) for k in range(problem.n_problems)]
        return _averaged([_parts(single, rule, how, binning) for single in singles]), how
    return _parts(problem, rule, how, binning), how


def _record(
    parts: Parts,
    rule: ScoringRule,
    method: str,
    definition: str,
    lens: str,
    n_samples: int,
    **known_truth: float,
) -> Decomposition:
    return Decomposition(
        score=parts.score,
        miscalibration=parts.miscalibration,
        discrimination=parts.uncertainty - parts.refinement,
        uncertainty=parts.uncertainty,
        refinement=parts.refinement,
        within_bin=parts.within_bin,
        within_bin_variance=parts.within_bin_variance,
        within_bin_covariance=parts.within_bin_covariance,
        rule=rule.name,
        method=method,
        definition=definition,
        lens=lens,
        n_samples=n_samples,
        **known_truth,
    )


def _parts(problem: Sample, rule: ScoringRule, method: str, binning: Binning) -> Parts:
    if method == "unique":
        return unique_parts(problem, rule)
    if method == "bins":
        return binned_parts(problem, rule, binning)
    assert isinstance(problem, BinarySample)
    return isotonic_parts(problem, rule)


def _averaged(parts: list[Parts]) -> Parts:
    """Mean over classes, part by part."""

    def mean(name: str) -> float:
        return float(np.mean([getattr(part, name) for part in parts]))

    optional = {
        name: mean(name)
        for name in ("within_bin_variance", "within_bin_covariance")
        if getattr(parts[0], name) is not None
    }
    names = ("score", "miscalibration", "refinement", "uncertainty", "within_bin")
    return Parts(*(mean(name) for name in names), **optional)


def _known_truth(
    problem: Sample, rule: ScoringRule, posterior: FloatArray, recalibrated: FloatArray
) -> dict[str, float]:
    w = problem.weight
    return {
        "epistemic": weighted_mean(rule.divergence(problem.p, posterior), w),
        "irreducible": weighted_mean(rule.entropy(posterior), w),
        "grouping": weighted_mean(rule.divergence(recalibrated, posterior), w),
    }


def _check_posterior(
    posterior: ArrayLike, sample: Sample, problem: Problem, kept: BoolArray, caller: str
) -> FloatArray:
    """Return the posterior of the rows in the sample, in the layout of its predictions."""
    if problem is not sample:
        hint = "leave `lens` out: the posterior is one of the whole prediction."
        raise invalid(caller, "lens", "unset with a posterior", "a lens", hint=hint)
    values = float_array(posterior, caller=caller, param="posterior").astype(np.float64)
    array = check_probabilities(values, caller=caller, param="posterior")
    if isinstance(sample, BinarySample) and array.ndim == 2 and array.shape[1] == 2:
        array = array[:, 0 if sample.positive_first else 1]
    expected = (len(kept), *sample.p.shape[1:])
    if array.shape != expected:
        hint = "give the true probabilities in the same layout as y_prob."
        got = f"shape {array.shape}"
        raise invalid(caller, "posterior", f"of shape {expected}", got, hint=hint)
    return array[kept]
