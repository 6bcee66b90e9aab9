"""What a score can be for these predictions, whatever the outcome: the ends of its mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.numeric.blocks import row_blocks
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import FloatArray, IntArray
from veridical.exceptions import invalid
from veridical.inference._intervals.bounded import Masses, Support, masses_of_blocks
from veridical.lenses import ClasswiseProblem, Problem
from veridical.miscalibration import LogScore, ZeroOneLoss
from veridical.miscalibration.core import MeanScore

_MOST_VALUES = 1 << 18  # one more row hardly counts beside so many
_SIDE = 0.25  # of the largest move of predictions: less the other way is nearly none
_MANY_ROWS = 200  # that all move one way: none that is not seen is supposed to move the other
_BEYOND = 0.5  # rows that are supposed to be worse than the end of a log score,
_LEAST, _MOST = 0.01, 0.05  # at least and at most this share of the surprises


def score_support(estimator: MeanScore, problem: Problem, scores: FloatArray) -> Support:
    """Smallest and largest score of a row.

    A bounded score is at most what the worst outcome of a row would have cost. The log score has
    no such limit that would help: a row that gives 1e-20 to an outcome would count for 46. It is
    supposed to stay below the largest score seen and below all but half a row (95 to 99 in 100) of
    the surprises, outcomes other than the most probable, that predictions twice too confident
    would meet among these rows: they are as frequent as the root of their probability.
    """
    losses, chance, copies = _losses(estimator, problem)
    if isinstance(estimator, LogScore):
        return expected_support(losses, chance, scores, copies)
    return _support(losses, scores)


def difference_support(
    estimator: MeanScore, pair: tuple[Problem, Problem], differences: FloatArray
) -> Support:
    """Smallest and largest difference of the scores of two models of the same rows.

    Where one of two binary models is above the other in nearly all of fewer than 200 rows, a row
    not seen may be the other way round: then either end is as far from zero as the farther one. Of
    differences of log scores a surprise is as probable as the more confident model says: what the
    other thinks likely would be no surprise to it, and is seen in the rows.
    """
    (first, one, copies), (second, two, _) = (_losses(estimator, problem) for problem in pair)
    with np.errstate(invalid="ignore"):  # both are infinite: an outcome that none expects
        losses = np.nan_to_num(first - second, nan=0.0, posinf=np.inf, neginf=-np.inf)
    if isinstance(estimator, LogScore):
        return expected_support(losses, np.minimum(one, two), differences, copies)
    if isinstance(estimator, ZeroOneLoss) and not np.array_equal(one, two):
        return Support(-1.0, 1.0)  # other rows may be told apart where none of these is
    ends = _support(losses, differences)
    if one.shape[1] == 2 and copies.sum() < _MANY_ROWS and _one_sided(two[:, 1] - one[:, 1]):
        most = max(map(abs, ends))
        return Support(-most, most)
    return ends


def _one_sided(moved: FloatArray) -> bool:
    up, down = max(float(moved.max()), 0.0), max(-float(moved.min()), 0.0)
    return min(up, down) < _SIDE * max(up, down)


def expected_support(
    losses: FloatArray, chance: FloatArray, seen: FloatArray, copies: FloatArray
) -> Support:
    """Ends of what was seen, of the likely values, and of most of the surprises (see above).

    `losses` and `chance` are the values of every outcome of a row, and how probable it is said to
    be, of shape (n, K). Each row stands for `copies` rows.
    """
    if chance.shape[1] == 2:
        second = chance[:, 1] > chance[:, 0]
        likely, rest = np.where(second, losses[:, ::-1].T, losses.T)
        odds = np.where(second, chance[:, 0], chance[:, 1])
        surprise = (odds > 0) & np.isfinite(rest)
        rest, odds, copies = rest[surprise], odds[surprise], copies[surprise]
    else:
        top = np.zeros(chance.shape, dtype=bool)
        top[np.arange(len(chance)), chance.argmax(axis=1)] = True
        surprising = ~top & (chance > 0) & np.isfinite(losses)
        likely, rest, odds = losses[top], losses[surprising], chance[surprising]
        copies = np.broadcast_to(copies[:, None], chance.shape)[surprising]
    ends = _quantiles(rest, copies * np.sqrt(odds))
    return _support(np.concatenate([likely[np.isfinite(likely)], ends]), seen)


def _support(losses: FloatArray, seen: FloatArray) -> Support:
    return Support(
        min(float(seen.min()), float(losses.min())), max(float(seen.max()), float(losses.max()))
    )


def _quantiles(values: FloatArray, chance: FloatArray) -> FloatArray:
    """Values that nearly all of what is expected stays above, and below."""
    if len(values) == 0:
        return values
    order = np.argsort(values)
    passed = np.cumsum(chance[order])
    tail = np.clip(_BEYOND, _LEAST * passed[-1], _MOST * passed[-1])
    tails = np.array([tail, passed[-1] - tail])
    return values[order][np.searchsorted(passed, tails).clip(max=len(values) - 1)]


def _losses(estimator: MeanScore, problem: Problem) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score of every outcome of each row, its probability, and how many rows it stands for.

    Of many rows, only some are used.
    """
    sample = problem.sample if isinstance(problem, ClasswiseProblem) else problem
    n_classes = 2 if isinstance(sample, BinarySample) else sample.p.shape[1]
    most = max(64, _MOST_VALUES // n_classes**2)
    if sample.n > most:
        sample = sample.take(np.linspace(0, sample.n - 1, most).astype(np.intp))
    chance = sample.p.astype(np.float64)
    if isinstance(sample, BinarySample):
        chance = np.column_stack([1 - chance, chance])
    outcome: list[IntArray] = [np.full(sample.n, k, sample.y.dtype) for k in range(n_classes)]
    if isinstance(problem, ClasswiseProblem):
        several = ClasswiseProblem(sample)  # type: ignore[arg-type]
        parts = [several.problem(k) for k in range(n_classes)]
        missed, met = (
            np.column_stack(
                [estimator.per_row(replace(part, y=np.full_like(part.y, hit))) for part in parts]
            )
            for hit in (0, 1)
        )
        with np.errstate(invalid="ignore"):  # infinite ones are left out below
            losses = (missed.sum(axis=1, keepdims=True) - missed + met) / n_classes
    else:
        losses = np.column_stack([estimator.per_row(replace(sample, y=y)) for y in outcome])
    if sample.weight is None or sample.weight_type == "importance":
        return losses, chance, np.ones(sample.n)
    return losses, chance, sample.weight


def masses_of_many(score: MeanScore, sample: BinarySample) -> tuple[Masses, FloatArray]:
    """Scores of many binary rows of weight one as limits take them, and the two ends of them.

    Given the outcome every score is monotone in the prediction, so its ends are at those of the
    predictions; rows are looked at block by block, and no score is kept.
    """
    pooled = sample.pooled
    held = (pooled.positive > 0, pooled.positive < pooled.weight)
    places = [(each.argmax(), len(each) - 1 - each[::-1].argmax()) for each in held if each.any()]
    outcome = np.repeat([y for y, each in ((1, held[0]), (0, held[1])) if each.any()], 2)
    ends = BinarySample(
        y=outcome.astype(sample.y.dtype),
        p=pooled.value[np.ravel(places)],
        positive_first=sample.positive_first,
    )
    seen = score.per_row(ends)
    lowest, highest = float(seen.min()), float(seen.max())
    blocks = (score.per_row(sample.take(block)) for block in row_blocks(sample.n))  # type: ignore[arg-type]
    return masses_of_blocks(blocks, Support(lowest, highest)), seen


def scores_by_row(
    estimator: MeanScore, problem: Problem, sample: Sample, *, caller: str
) -> FloatArray:
    """Score of each row, in a classwise problem its mean over the classes."""
    if isinstance(problem, ClasswiseProblem):
        each = (estimator.per_row(problem.problem(k)) for k in range(problem.n_problems))
        scores = sum(each, start=np.zeros(sample.n)) / problem.n_problems
    else:
        scores = estimator.per_row(problem).astype(np.float64, copy=False)
    if len(scores) != sample.n:
        hint = "use a lens that keeps the rows."
        got = f"{len(scores)} rows from {sample.n}"
        raise invalid(caller, "lens", "one row for one row", got, hint=hint)
    if not np.isfinite(scores).all():
        number = int((~np.isfinite(scores)).sum())
        hint = "a mean that is infinite has no interval; clip the predictions away from 0 and 1."
        got = f"{number} of {len(scores)} infinite {estimator.name} scores"
        raise invalid(caller, "y_prob", "such that all scores are finite", got, hint=hint)
    return scores
