"""What miscalibration costs, in the user's unit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from veridical._core.data.options import check_folds
from veridical._core.sample import BinarySample, Sample, weighted_mean
from veridical._core.typing import ArrayLike, FloatArray, WeightType
from veridical.decisions._costs.expected_cost import (
    checked_decision_rows,
    doubts_of_mean,
    number_of_decisions,
)
from veridical.decisions._costs.matrix import CostTable, choose, outcome_of
from veridical.exceptions import invalid, warn_of
from veridical.inference.intervals import (
    Gains,
    IntervalOptions,
    Support,
    check_interval_options,
    gain_interval,
)
from veridical.lenses.reading import RawData
from veridical.results import MiscalibrationCost
from veridical.results.library import answers_in_kind

if TYPE_CHECKING:
    from veridical.calibrators import Calibrator

_CALLER = "miscalibration_cost"


@answers_in_kind
def miscalibration_cost(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    costs: Any,
    *,
    calibrator: Calibrator | None = None,
    cv: int = 5,
    actions: ArrayLike | None = None,
    abstain_cost: ArrayLike | None = None,
    method: Literal["analytic", "percentile", "basic", "bca"] = "analytic",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: Any = None,
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType = "importance",
) -> MiscalibrationCost:
    r"""Realised cost of a model's decisions minus that of its decisions after recalibration.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label, sample_weight
        As in :func:`brier_score`.
    costs, actions, abstain_cost
        As in :func:`decide`.
    calibrator : Calibrator, optional
        The map; default `BetaCalibrator` for two classes, `StructuredVectorCalibrator` for more.
        `IsotonicCalibrator` can express any monotone map, for more noise.
    cv : int, default 5
        Folds: each row is decided by a map fitted on the others.
    method : {"analytic", "percentile", "basic", "bca"}, default "analytic"
        Of the rows' differences: limits of a bounded mean, which hold for few changed decisions,
        or a bootstrap of the rows.
    n_resamples, rng
        Of a bootstrap.
    confidence_level : float, default 0.95
        Between 0 and 1.
    weight_type : {"importance", "frequency"}
        What weights mean where the sample size matters.

    Returns
    -------
    MiscalibrationCost
        With `estimate` (above 0: recalibration saves), `low`, `high`, `pvalue`, `first` and
        `second` (cost before and after, held out) and `changed`, the share of decisions that
        differ. The estimate is of the map fitted to all rows, so not exactly `first` - `second`.

    Notes
    -----
    .. math:: \tfrac1n \sum_i \bigl(C_{y_i a(p_i)} - C_{y_i a(c^{(-i)}(p_i))}\bigr) +
        \frac{o}{2 k - 1}, \qquad
        o = \tfrac1n \sum_i \bigl(C_{y_i a(c^{(-i)}(p_i))} - C_{y_i a(c(p_i))}\bigr)_+

    with the Bayes decisions a of :func:`decide`, maps :math:`c^{(-i)}` fitted on the other of k
    folds, the map c fitted on all rows, and its optimism o (the sum, if positive). Miscalibration
    costs only where it moves a prediction across a decision boundary, so a large calibration error
    may cost nothing here and a small one much. The cost of Bayes decisions is a proper score
    (without being strictly so), and this is the recalibration gain under it: a lower bound of what
    any map would save, on average, since a fitted map of one family is not the best there is. On a
    calibrated model it is slightly negative.

    The interval is meant for what the map fitted to all rows saves on new ones: with the variance
    of rows it counts the square of the optimism, since every row helps to fit the maps that others
    are judged by. In simulations (`evidence/gains.py`) 95 % intervals cover in 97 to 100 % of
    samples, and p is at most 0.05 in 0 to 3 % of calibrated ones. If no decision changes, the
    estimate is 0 and the limits are those of an event that none of n rows saw.

    Folds follow from the data: the same data give the same figure in any order of rows, and an
    integer frequency weight equals repetition (with costs of rows, as long as rows with the same
    prediction and class have the same costs). Time: `cv` + 1 fits.

    References
    ----------
    Kull & Flach (2015), doi 10.1007/978-3-319-23528-8_5, for losses before and after calibration;
    000 section 2.1 for why calibration makes cost-sensitive decisions right.

    Examples
    --------
    Says 0.7 where 0.5 is right and 0.3 where 0.1 is; false positives cost 3, so that only above
    0.75 an alarm is worth it: nothing changes. If they cost 1.5 (0.6), 0.7 is an alarm that a
    calibrated model would not give: half of the rows pay 1.5 / 2 instead of 1 / 2.

    >>> y = ([1, 0] * 5 + [1] + [0] * 9) * 100
    >>> p = ([0.7] * 10 + [0.3] * 10) * 100
    >>> miscalibration_cost(y, p, (3, 1)).estimate
    0.0
    >>> cost = miscalibration_cost(y, p, (1.5, 1))
    >>> cost.estimate, cost.changed
    (0.125, 0.5)
    """
    options = check_interval_options(method, confidence_level, n_resamples, rng, caller=_CALLER)
    data = RawData(y_true, y_prob, labels=labels, pos_label=pos_label)
    data = data.weighted(sample_weight, weight_type)
    sample, table = checked_decision_rows(
        data, costs, actions=actions, abstain_cost=abstain_cost, caller=_CALLER
    )
    _check_folds(sample, cv)
    map = _check_calibrator(calibrator, sample)
    cost, map_notes = cost_of_miscalibration(sample, table, map, cv, options)
    warn_of(map_notes)
    warn_of(cost.notes, caller=_CALLER)
    return cost


def cost_of_miscalibration(
    sample: Sample, table: CostTable, calibrator: Calibrator, cv: int, options: IntervalOptions
) -> tuple[MiscalibrationCost, tuple[str, ...]]:
    """What recalibration in `cv` folds would have saved on checked rows, and notes of the fits."""
    from veridical.calibrators.core import cross_fitted, fitted_to_itself

    found = cross_fitted(sample, calibrator, cv)
    own = fitted_to_itself(sample, calibrator)[found.rows]
    weights = (found.weight, sample.weight_type)
    part, table = replace(sample.take(found.rows), weight=found.weight), table.take(found.rows)
    before = choose(part, table).action
    after, hindsight = (choose(_with_predictions(part, p), table).action for p in (found.p, own))
    first, second, seen = (
        outcome_of(part, table, action).cost for action in (before, after, hindsight)
    )
    gains = Gains(first - second, first - seen, cv, found.weight, weights[1] == "frequency")
    saved = gain_interval(gains, options, support=_support(table))
    name = type(calibrator).__name__
    cost = MiscalibrationCost(
        **saved._asdict(),
        first=weighted_mean(first, found.weight),
        second=weighted_mean(second, found.weight),
        changed=weighted_mean(before != after, found.weight),
        calibrator=name,
        n_decisions=number_of_decisions(sample),
        notes=tuple(doubts_of_mean(first - second, *weights)),
        estimator="cost",
        definition=f"{table.definition}, {name} cross-fitted in {cv} folds",
        lens="binary" if len(sample.classes) == 2 else "canonical",
        n_samples=sample.n,
        **options.fields,
    )
    return cost, found.notes


def _check_folds(sample: Sample, cv: Any) -> None:
    check_folds(_CALLER, cv)
    if number_of_decisions(sample) < 2 * cv:
        hint, got = "use fewer folds, or more rows.", f"{number_of_decisions(sample):.6g}"
        raise invalid(_CALLER, "y_true", f"of {2 * cv} rows or more for {cv} folds", got, hint=hint)


def _check_calibrator(calibrator: Any, sample: Sample) -> Calibrator:
    from veridical.calibrators import Calibrator

    if calibrator is None:
        return default_calibrator(sample)
    if not isinstance(calibrator, Calibrator) or calibrator.input != "probability":
        hint = "pass a calibrator of probabilities such as `IsotonicCalibrator()`."
        raise invalid(_CALLER, "calibrator", "a calibrator", repr(calibrator), hint=hint)
    return calibrator


def default_calibrator(sample: Sample) -> Calibrator:
    """`BetaCalibrator` for two classes, `StructuredVectorCalibrator` for more."""
    from veridical.calibrators import BetaCalibrator, StructuredVectorCalibrator

    two = isinstance(sample, BinarySample)
    return BetaCalibrator() if two else StructuredVectorCalibrator()


def _with_predictions(sample: Sample, p: FloatArray) -> Sample:
    """The same rows with other predictions (n, K)."""
    if isinstance(sample, BinarySample):
        return replace(sample, p=p[:, 1], pair=p)
    return replace(sample, p=p, confidence=None, right=None)


def _support(table: CostTable) -> Support:
    """The least and the most that another action can save."""
    costs = table.rows(slice(None))
    most = float((costs.max(axis=-1) - costs.min(axis=-1)).max())
    return Support(-most, most)
