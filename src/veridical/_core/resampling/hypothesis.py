r"""Outcomes that a right prediction would have given, where rows are weighted or belong together.

Rows that count alike and are independent have outcomes drawn from the predictions. Two things
change that.

**Weights.** An importance weight says what a row stands for, and the hypothesis is about that:
:math:`E[w (1\{y = k\} - p_k)] = 0` for rows of prediction p. If a row would weigh :math:`w_k` had
its outcome been k, outcomes among the rows as they were sampled have the odds of :math:`p_k / w_k`
(King & Zeng 2001, doi 10.1093/oxfordjournals.pan.a004868, section 4.1), and the weighted residual
of a drawn outcome has the mean zero. With one weight for each label, in all rows or within strata
(see `strata`), this is exact. With any other
weights a row keeps its own for the outcome it has, and would weigh for another as much more as the
rows of that label do, by a factor that gives residuals of like predictions the variance they have:
a wild bootstrap (Liu 1988, doi 10.1214/aos/1176351062) of two points whose one is what was seen, so
that few events stay few and weights that have nothing to do with labels are drawn as they are.

**Groups.** Rows of one group share their outcome's uniform number, each with the chance
:math:`\sqrt\rho` that makes :math:`\rho` of the pairs share it: predictions stay what they are and
residuals of like predictions have the correlation :math:`\rho`, which is that of the data (see
`groups`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.resampling.groups import sharing_of
from veridical._core.resampling.redraw import REDRAWN, Redraw
from veridical._core.resampling.rows import counts_rows, repeated_rows, take_repeated
from veridical._core.resampling.strata import weights_of_labels
from veridical._core.resampling.sums import places_of, sum_of_columns
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.exceptions import invalid

_CELLS = 8  # of like predictions, in which weights are compared
_ROWS = 100  # of a cell, at least
_ROUNDS = 10
_TINY = 1e-12
_ROUNDED = 1e-9  # relative variance of weights that are alike but for rounding
_TOLD = 0.1  # mean variance of a logarithm beyond which nothing is told
_FEW = 0.1  # sum of squared shares of a label's weight, beyond equal ones: few rows decide
_NEAR, _PLACES = 15, 4096  # rows of a label near a prediction, and how often these are looked at
_LEAST = 5  # rows of a label, if there are fewer than those near
_ALIKE = 0.8  # share of rows that weigh what those near them do
_KEPT, _KEPT_VARIANCE = "redraw", "variance of fixed weights"
_CHANCE = 3.0  # how often chance is counted where differences are looked for


def redraw_of(sample: Sample, probabilities: FloatArray | None = None) -> Redraw | None:
    """How outcomes of a sample are drawn; None if from the predictions, row by row and alike.

    `probabilities` are those of the hypothesis, if not the predictions, whose residuals these are
    even so.
    """
    if probabilities is not None:
        made = redraw_of(replace(sample, p=probabilities))
        return None if made is None else replace(made, p=_matrix(sample.take(made.rows)))
    if _KEPT not in sample.kept:
        sample.kept[_KEPT] = _redraw_of(sample)
    found: Redraw | None = sample.kept[_KEPT]
    return found


def _redraw_of(sample: Sample) -> Redraw | None:
    outcomes = sample.size if counts_rows(sample) else sample.n  # copies of a row are a group
    grouped = sample.clusters is not None and outcomes > len(np.unique(sample.clusters)) > 1
    differ = sample.weight is not None and bool((sample.weight != sample.weight[0]).any())
    weighted = differ and not counts_rows(sample)
    if not (grouped or weighted):
        return None
    if weighted and not grouped and isinstance(sample, BinarySample):
        through = _through_classes(sample)
        if through is not None:
            return through
    index: IntArray = np.arange(sample.n)
    repeated = repeated_rows(sample)
    if repeated is not None:
        sample, index = take_repeated(sample, repeated), repeated
    order = _value_order(sample)
    sample, index = sample.take(order), index[order]
    p = _matrix(sample)
    by_label = weighted and sample.weight_type == "importance"
    weight, said = _weights(sample, p) if by_label else (_constant(sample, p), REDRAWN)
    chance = p / weight
    chance /= sum_of_columns(chance)[:, None]
    made = Redraw(p, chance, weight, None, said, index)
    if not grouped:
        return made
    # Groups are numbered by what they hold, not by their names.
    sharing = sharing_of(made, sample.y, _ranks(sample).astype(np.intp))
    beside = f" of level, {sharing.slope:.2g} of slope" if sharing.slope else ""
    if sharing.classes is not None and sharing.classes.any():
        beside = f", up to {sharing.correlation + sharing.classes.max():.2g} of a class"
    words = (
        f"{made.said}, together within {int(sharing.group.max()) + 1:,} groups (correlation"
        f" {sharing.correlation:.2g}{beside})"
    )
    return Redraw(p, made.chance, made.weight, sharing, words, index)


def _through_classes(sample: BinarySample) -> Redraw | None:
    """Classes drawn, of which the problem asks about one a row: what rows weigh goes with these."""
    origin = sample.origin
    if origin is None or not origin.is_of(sample):
        return None
    rows: Sample = origin.sample
    if rows.p.shape[1] == 2:
        p = np.ascontiguousarray(rows.p[:, 1])
        rows = BinarySample(y=rows.y, p=p, weight=rows.weight, strata=rows.strata)
    made = redraw_of(rows)
    if made is None:
        return None
    p = _matrix(sample)[made.rows]
    order = np.argsort(p[:, 1], kind="stable")
    index = made.rows[order]
    event = np.arange(made.p.shape[1]) == origin.event[index][:, None]
    chance, weight = made.chance[order], made.weight[order]
    return Redraw(p[order], chance, weight, None, made.said, index, event)


_LIKE_THOSE_SEEN = "outcomes redrawn with the odds of the sample, weights like those of the label"


def _matrix(sample: Sample) -> FloatArray:
    p = sample.p.astype(np.float64)
    return np.column_stack([1 - p, p]) if isinstance(sample, BinarySample) else p


def _constant(sample: Sample, p: FloatArray) -> FloatArray:
    if sample.weight is None or counts_rows(sample):
        return np.ones_like(p)
    return np.broadcast_to(sample.weight[:, None], p.shape).copy()


def _value_order(sample: Sample) -> IntArray:
    """Rows in an order that does not depend on the one they came in."""
    p = sample.p if sample.p.ndim == 1 else sample.p[:, 0]
    order = sample.order if isinstance(sample, BinarySample) else np.argsort(p)
    ordered = p[order]
    if (ordered[1:] != ordered[:-1]).all():
        return order
    keys: list[FloatArray] = [] if sample.p.ndim == 1 else list(sample.p.T[:0:-1])
    if sample.weight is not None:
        keys.insert(0, sample.weight)
    if sample.clusters is not None:
        keys.insert(0, _ranks(sample))
    if sample.strata is not None:
        keys.insert(0, sample.strata.astype(np.float64))
    keys.insert(0, sample.y.astype(np.float64))
    return np.lexsort((*keys, p))


def _ranks(sample: Sample) -> FloatArray:
    """Rank of the group of each row among groups, by what the groups hold."""
    assert sample.clusters is not None
    codes = np.unique(sample.clusters, return_inverse=True)[1].reshape(-1)
    p = (
        sample.p
        if sample.p.ndim == 1
        else sample.p @ np.sqrt(np.arange(2.0, sample.p.shape[1] + 2))
    )
    p = p.astype(np.float64)
    values = [sample.y * p, sample.y, p * p, p, p > -1]
    if sample.weight is not None:
        values = [sample.weight * p, sample.weight * sample.y, sample.weight, *values]
    order = np.lexsort([np.round(np.bincount(codes, each), 9) for each in values])
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return rank[codes]


def _weights(sample: Sample, p: FloatArray) -> tuple[FloatArray, str]:
    """What a row of each outcome would weigh, and how that is known."""
    assert sample.weight is not None
    known = weights_of_labels(sample, p)
    if known is not None and bool(np.isfinite(known[0]).all()):
        return known
    weight, y, n_classes = sample.weight, sample.y.astype(np.intp), p.shape[1]
    count = np.bincount(y, minlength=n_classes)
    at, local = np.arange(len(y)), np.ones_like(p)
    if n_classes == 2 and (count >= _LEAST).all():
        local = _near_weights(weight, y, p[:, 1])
    rest = weight / local[at, y]
    factor = local * _label_factors(rest / rest.mean(), y, _cells(p), n_classes)
    like = weight[:, None] * factor / factor[at, y][:, None]
    if known is None:
        return like, _LIKE_THOSE_SEEN
    return np.where(np.isfinite(known[0]), known[0], like), known[1]  # labels a stratum lacks


def _near_weights(weight: FloatArray, y: IntArray, p: FloatArray) -> FloatArray:
    """What rows of either label weigh near each prediction, (n, 2), where that is one value.

    Rows are in the order of their predictions.

    Rows that were kept with a chance by label and stretch of predictions have few different weights
    and most of them that of their neighbours of the same label: its median. Else ones, as where
    weights change with every prediction, of which each is the median of those around it.
    """
    near, same = np.ones((len(p), 2)), 0
    for k in (0, 1):
        rows = np.flatnonzero(y == k)
        rows = rows[np.argsort(p[rows], kind="stable")]
        wide = min(_NEAR, len(rows))
        first = np.linspace(0, len(rows) - wide, min(len(rows) - wide + 1, _PLACES))
        window = first.astype(np.intp)[:, None] + np.arange(wide)
        middle = p[rows][window[:, wide // 2]]
        median = np.median(weight[rows][window], axis=1)
        after = places_of(p, middle).clip(1, len(middle) - 1) if len(middle) > 1 else 0
        if len(middle) > 1:
            after = after - (p - middle[after - 1] < middle[after] - p)
        near[:, k] = median[after]
        same += int((weight[rows][1:] == weight[rows][:-1]).sum())
    alike = near[np.arange(len(y)), y] == weight
    return near if min(alike.mean(), same / len(y)) >= _ALIKE else np.ones_like(near)


def _cells(p: FloatArray) -> IntArray:
    """Cells of like predictions, of rows in their order: of the positive class, or by argmax."""
    if p.shape[1] > 2:
        enough = len(p) >= _ROWS * p.shape[1]
        return p.argmax(axis=1) if enough else np.zeros(len(p), dtype=np.intp)
    n_cells = min(max(len(p) // _ROWS, 1), _CELLS)
    first = np.append(True, p[1:, 1] != p[:-1, 1])
    rank = np.maximum.accumulate(np.where(first, np.arange(len(p)), 0))  # of the first of equals
    return (rank * n_cells) // len(p)


def _label_factors(weight: FloatArray, y: IntArray, cell: IntArray, n_classes: int) -> FloatArray:
    """How heavy a row of each label is where another would be, (n, K), up to a factor.

    That is the sum of squares of the weights of the label over their sum: with it, residuals have
    the variance that they have in the data, whatever the law of the weights of each label. First
    of all rows, freed of what is common to cells of like predictions (in turn, as in Deming &
    Stephan 1940, doi 10.1214/aoms/1177731829), then of every cell; each is drawn towards the
    coarser one, and that of all towards one, by as much as chance could have made it.
    """
    part, n_parts = cell * n_classes + y, (int(cell.max()) + 1) * n_classes
    number, first = _power_sums(weight, part, n_parts)[:2].reshape(2, -1, n_classes)
    own = weight / _common(number, first)[cell]
    heavy, noise = np.full(n_classes, float(own @ own / own.sum())), 0.0
    told = _told(_power_sums(weight, y, n_classes), n_classes)
    for each, size in ((y, n_classes), (part, n_parts)):
        coarse, sums = np.tile(heavy, size // n_classes), _power_sums(own, each, size)
        noise = max(noise, _noise(own, each, sums))  # small parts do not show how heavy rows can be
        told = _told(sums, n_classes, told)
        heavy = _drawn_to(coarse, sums, noise, told)
    return heavy.reshape(-1, n_classes)[cell]


def _power_sums(weight: FloatArray, part: IntArray, n_parts: int) -> FloatArray:
    """Numbers of rows, sums of weights and of their squares by part, (3, parts)."""
    powers = (None, weight, np.square(weight))
    sums = [np.bincount(part, each, minlength=n_parts) for each in powers]
    return np.array(sums, dtype=np.float64)


def _common(number: FloatArray, weight: FloatArray) -> FloatArray:
    """What weights of a cell have in common, of numbers and sums of weights, (cells, K)."""
    label, common = np.ones(number.shape[1]), np.ones(len(number))
    for _ in range(_ROUNDS):
        inside = number @ label
        common = np.where(inside > 0, weight.sum(axis=1) / np.where(inside > 0, inside, 1.0), 1.0)
        expected = common @ number
        label = np.where(
            expected > 0, weight.sum(axis=0) / np.where(expected > 0, expected, 1.0), 1.0
        )
    return common


def _noise(weight: FloatArray, part: IntArray, sums: FloatArray) -> float:
    """Variance of the logarithm of a sum of squares of weights, of one row.

    That of w^2 over the square of its mean, which few rows do not tell: that of all parts.
    """
    number, _, second = sums
    scale = np.where(second > 0, second / np.maximum(number, 1.0), 1.0)
    spread = np.square(weight**2 / scale[part] - 1)
    return float(spread.sum()) / max(len(weight) - int((number > 0).sum()), 1)


def _noise_of_sums(sums: FloatArray) -> float:
    """The same of sums alone, as if the weights of every part had a gamma distribution."""
    number, first, second = sums
    wide = np.maximum(number * second / np.where(first > 0, np.square(first), 1.0) - 1, 0.0)
    wide[wide < _ROUNDED] = 0.0
    freedom = np.maximum(number - 1, 0.0)
    of_one = wide * (4 + 10 * wide) / (1 + wide)  # fourth moment over the square of the second
    return float(freedom @ of_one / max(freedom.sum(), 1.0))


def _told(sums: FloatArray, n_classes: int, before: BoolArray | None = None) -> BoolArray:
    """Parts whose weight is not that of a few heavy rows, which one label may have by chance.

    Of labels each by itself; of cells all labels or none, and none if some were not told `before`.
    """
    number, first, second = sums
    shares = np.where(number > 0, second / np.where(number > 0, np.square(first), 1.0), 0.0)
    told = np.asarray(shares - 1 / np.maximum(number, 1.0) <= _FEW)
    if len(number) > n_classes:
        told = np.repeat(told.reshape(-1, n_classes).all(axis=1), n_classes)
        return told if before is None else told & bool(before.all())
    return told if before is None else told & before


def _drawn_to(
    coarse: FloatArray, sums: FloatArray, noise_of_one: float, told: BoolArray
) -> FloatArray:
    """Sum of squares over sum of the weights of every part, drawn towards what is known before.

    By as much as the parts differ less than chance makes them (empirical Bayes, Efron & Morris
    1975, doi 10.1080/01621459.1975.10479864, chance counted more than once to be sure); not at all
    where a few heavy rows decide, of which one more or less makes the difference: of all parts, or
    those not `told`. `sums` are numbers of rows, sums of weights and of their squares by part.
    """
    number, first, second = sums
    some = number > 0
    ratio = np.where(some, second / np.where(some, first, 1.0), coarse)
    noise = noise_of_one / np.maximum(number, 1.0)
    if float(number @ noise) > _TOLD * number.sum():
        return coarse
    some &= told
    apart = np.where(some, np.log(ratio / coarse), 0.0)
    apart -= (number * some) @ apart / max(float(number @ some), 1.0)
    exact = np.where(some, 1 / (noise + _TINY), 0.0)
    differ = float(exact @ (np.square(apart) - _CHANCE * noise) / max(exact.sum(), _TINY))
    share = np.where(some, differ / (differ + noise + _TINY), 0.0) if differ > 0 else 0.0
    return np.asarray(coarse * np.exp(share * apart))


def fixed_variance(made: Redraw, sample: Sample) -> FloatArray:
    """Variance of residuals of independent rows of fixed weights: w^2 p (1 - p), (n, K)."""
    if made is not sample.kept.get(_KEPT):
        return _fixed_variance(made, sample)
    if _KEPT_VARIANCE not in sample.kept:
        sample.kept[_KEPT_VARIANCE] = _fixed_variance(made, sample)
    found: FloatArray = sample.kept[_KEPT_VARIANCE]
    return found


def _fixed_variance(made: Redraw, sample: Sample) -> FloatArray:
    spread = made.p * (1 - made.p)
    if sample.weight is None or counts_rows(sample):  # a row of a whole frequency is there so often
        return spread
    return np.square(sample.weight[made.rows])[:, None] * spread


def design_effect(sample: Sample) -> float:
    """How much larger the variance of the sum of residuals is than that of independent rows.

    These have fixed weights: the sum of w^2 p (1 - p) over rows and classes.
    """
    made = redraw_of(sample)
    if made is None:
        return 1.0
    alone = float(fixed_variance(made, sample).sum())
    wider = 1.0 if made.sharing is None else max(made.sharing.design_effect, 1.0)
    return wider * float(made.variance.sum()) / alone if alone > 0 else wider


def independent_rows(sample: Sample) -> float:
    """Independent rows of one weight that would tell as much of the level."""
    return sample.size / design_effect(sample)


def checked_redraw(sample: Sample, *, null: str, simple: bool, caller: str) -> Redraw | None:
    """How outcomes are drawn if not from the predictions, one by one.

    Raise where rows belong together and nothing may be drawn: a hypothesis that is not `simple`.
    """
    redraw = redraw_of(sample)
    if redraw is None or redraw.sharing is None:
        return redraw
    if null == "asymptotic" or not simple:
        hint = 'use null="auto" and rows the model has not seen: outcomes are redrawn by groups.'
        got = "rows that depend on each other"
        raise invalid(caller, "groups", "unset for a chi-square distribution", got, hint=hint)
    return redraw


def cell_variances(p: FloatArray, sums: FloatArray) -> FloatArray:
    """Variance of the sum of residuals of each cell, of sums of an engine.

    `sums` are numbers of rows, sums of weights and of their squares, (3, m, 2) by outcome. As for
    rows: a row of either label would weigh as much more for the other as the rows of that do, so
    that the variance is p (1 - p) times the sum of w_0 w_1.
    """
    ratio = _cell_ratios(sums)
    return np.asarray(p * (1 - p) * (sums[2] * ratio[:, ::-1] / ratio).sum(axis=1))


def cell_means(p: FloatArray, sums: FloatArray) -> FloatArray:
    """Sum of w p expected before outcomes are known: p times w_0 w_1 / (p w_0 + (1 - p) w_1)."""
    ratio = _cell_ratios(sums)
    average = p * ratio[:, 0] + (1 - p) * ratio[:, 1]
    return np.asarray(p * (sums[1] * ratio[:, ::-1]).sum(axis=1) / average)


def _cell_ratios(sums: FloatArray) -> FloatArray:
    """How heavy a row of either label is in each cell, (m, 2), up to a factor."""
    count = sums[0].sum(axis=1)
    reached = np.cumsum(count)
    n_likes = min(max(int(reached[-1]) // _ROWS, 1), _CELLS)
    likes = np.minimum((reached - count / 2) * n_likes / reached[-1], n_likes - 1).astype(np.intp)
    of_likes = np.zeros((n_likes, 3, 2))
    np.add.at(of_likes, likes, sums.swapaxes(0, 1))
    of_likes = of_likes.swapaxes(0, 1)
    common = _common(of_likes[0], of_likes[1])
    own = of_likes / np.stack([np.ones_like(common), common, np.square(common)])[:, :, None]
    heavy = np.full(2, float(own[2].sum() / own[1].sum()))
    noise, told = 0.0, _told(of_likes.sum(axis=1), 2)
    for part in (own.sum(axis=1), own.reshape(3, -1)):
        noise = max(noise, _noise_of_sums(part))
        told = _told(part, 2, told)
        heavy = _drawn_to(np.tile(heavy, part.shape[1] // 2), part, noise, told)
    return heavy.reshape(-1, 2)[likes]
