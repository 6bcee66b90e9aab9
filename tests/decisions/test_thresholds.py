"""Thresholds against the identities of 000 section 2.1 and against the costs they balance."""

import numpy as np
import pytest

from veridical import InvalidInputError
from veridical.decisions._costs.thresholds import cost_threshold, prior_threshold


def test_four_to_one_costs_give_the_threshold_of_the_survey():
    assert cost_threshold(4, 1) == 0.8
    assert cost_threshold(1, 4) == 0.2
    assert cost_threshold(3.5, 3.5) == 0.5


def test_four_times_as_many_positives_lower_the_threshold_to_a_fifth():
    assert prior_threshold(0.5, 0.8) == pytest.approx(0.2, rel=1e-15)


@pytest.mark.parametrize(("r", "r_new"), [(1, 4), (0.25, 3), (7, 0.1), (2, 2)])
def test_class_ratios_give_the_formula_of_the_survey(r, r_new):
    assert prior_threshold(r / (1 + r), r_new / (1 + r_new)) == pytest.approx(r / (r + r_new))


def test_the_threshold_balances_expected_costs():
    fp, fn, tp, tn = 7.0, 11.0, 2.0, -1.5
    t = cost_threshold(fp, fn, cost_tp=tp, cost_tn=tn)
    assert t * tp + (1 - t) * fp == pytest.approx(t * fn + (1 - t) * tn, rel=1e-12)


def test_costs_and_priors_combine_like_reweighted_costs():
    # Under label shift a decision by p at prior 0.3 is right for prior 0.6 if errors on positives
    # count (0.6 / 0.3) times as much and errors on negatives (0.4 / 0.7).
    both = prior_threshold(0.3, 0.6, threshold=cost_threshold(5, 2))
    assert both == pytest.approx(cost_threshold(5 * 0.4 / 0.7, 2 * 0.6 / 0.3), rel=1e-12)


def test_a_prior_shift_moves_the_posterior_across_the_threshold_together():
    train, deploy, t = 0.2, 0.7, 0.35
    p = np.linspace(0.001, 0.999, 500)
    shifted = p * deploy / train / (p * deploy / train + (1 - p) * (1 - deploy) / (1 - train))
    assert ((p > prior_threshold(train, deploy, threshold=t)) == (shifted > t)).all()


def test_rows_have_their_own_thresholds():
    assert cost_threshold([1, 4], [1, 1]).tolist() == [0.5, 0.8]
    assert cost_threshold(1, [1, 3]).tolist() == [0.5, 0.25]
    both = prior_threshold(0.5, [0.5, 0.8], threshold=[0.3, 0.8])
    assert both == pytest.approx([0.3, 0.5], rel=1e-12)


def test_extremes_are_thresholds_too():
    assert cost_threshold(0, 1) == 0.0
    assert cost_threshold(1, 0) == 1.0
    assert prior_threshold(0.1, 0.9, threshold=0) == 0.0
    assert prior_threshold(0.1, 0.9, threshold=1.0) == 1.0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((-1, 1), {}, "`cost_fp` must be at least `cost_tn`"),
        ((1, 1), {"cost_tp": 2}, "`cost_fn` must be at least `cost_tp`"),
        ((0, 0), {}, "`cost_fp` must be positive together"),
        ((np.inf, 1), {}, "`cost_fp` must be finite"),
        (("a", 1), {}, "`cost_fp` must be numeric"),
        (([1, 2], [1, 2, 3]), {}, "`cost_fp` must be of the same shape"),
    ],
)
def test_impossible_costs_are_refused(arguments, options, message):
    with pytest.raises(InvalidInputError, match=message):
        cost_threshold(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 0.5), {}, "`train` must be between 0 and 1"),
        ((0.5, 4), {}, "`deploy` must be between 0 and 1.*got 4"),
        ((0.5, 0.5), {"threshold": 1.2}, "`threshold` must be in"),
    ],
)
def test_impossible_priors_are_refused(arguments, options, message):
    with pytest.raises(InvalidInputError, match=message):
        prior_threshold(*arguments, **options)
